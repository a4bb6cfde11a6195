// Templates: columns of words, or bags of named values, to sparse rows. Knows no labels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "surelearn/dictionary.hpp"
#include "surelearn/hash.hpp"
#include "surelearn/row_builder.hpp"

namespace surelearn {

/// Sequences of tokens, each of a word in every column. A word is kept once; tokens have its
/// number.
struct Words {
    Words() = default;
    Words(Words&&) = default;
    Words& operator=(Words&&) = default;

    std::vector<std::int64_t> bounds{0};  ///< tokens of sequence i: from bounds[i] to bounds[i + 1]
    std::vector<Dictionary> distinct;     ///< words of each column
    std::vector<std::vector<std::int32_t>> ids;  ///< of each column, of each token
};

/// Sequences of tokens, each with some names and their values.
struct Bags {
    Bags() = default;
    Bags(Bags&&) = default;
    Bags& operator=(Bags&&) = default;

    std::vector<std::int64_t> bounds{0};
    Dictionary distinct;
    std::vector<std::int64_t> ends;  ///< of each token in the two below
    std::vector<std::int32_t> ids;
    std::vector<double> values;
};

/// What a template sees of a column: the words themselves, or something made of each.
struct View {
    std::size_t column = 0;
    std::vector<std::int32_t> of_word;  ///< number of what was made of each word
    Strings texts;                      ///< of each number, as it stands in names
};

/// A view of the token that is `offset` further on.
struct Part {
    std::size_t view = 0;
    std::int32_t offset = 0;

    [[nodiscard]] bool operator==(const Part&) const = default;
};

/// One feature for each token: `text=part|part`; without parts: `text`.
struct Template {
    std::string text;
    std::vector<Part> parts;
};

/// Whether a word reads like the mark of a place beyond the ends of its sequence.
[[nodiscard]] inline bool is_like_mark(std::string_view word) noexcept {
    if (word.starts_with("</s+")) {
        word.remove_prefix(4);
    } else if (word.starts_with("<s-")) {
        word.remove_prefix(3);
    } else {
        return false;
    }
    if (!word.ends_with('>')) return false;
    word.remove_suffix(1);
    return word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A value as it stands in names: no two lists of values have the same names.
[[nodiscard]] inline std::string escaped(std::string_view value) {
    std::string text;
    if (is_like_mark(value)) text += '\\';
    for (const char c : value) {
        if (c == '\\' || c == '|') text += '\\';
        text += c;
    }
    return text;
}

/// In place of a feature whose name has not been met.
inline constexpr std::int32_t not_met = -2;

/// A name's place in a row, and what its value is multiplied by.
struct Numbered {
    std::int32_t feature = no_number;  ///< none: the name is not known
    float sign = 1;
};

/// Names to features: by a dictionary, which grows or not, or by their hashes.
class Numbering {
public:
    Numbering(Dictionary& names, bool grows) : names_(&names), grows_(grows) {}
    explicit Numbering(std::uint32_t n_features) : n_features_(n_features) {}

    /// What `operator()` will need for a name; memory is asked for it.
    [[nodiscard]] std::uint32_t expect(std::string_view name) const noexcept {
        if (names_ == nullptr) return 0;
        const std::uint32_t key = key_of(name);
        __builtin_prefetch(names_->where(key));
        return key;
    }

    /// The feature of a name, which has `hash_padding` bytes of anything behind it.
    [[nodiscard]] Numbered operator()(std::string_view name, std::uint32_t key) const {
        if (names_ != nullptr)
            return {grows_ ? names_->add(name, key) : names_->find(name, key), 1};
        const std::int32_t hash = murmur3(name.data(), name.size());
        const auto feature = static_cast<std::int32_t>(bucket(hash, n_features_));
        return {feature, hash < 0 ? -1.0F : 1.0F};
    }

private:
    Dictionary* names_ = nullptr;
    bool grows_ = false;
    std::uint32_t n_features_ = 0;
};

/// Names that were met and wait for their features: memory is asked for what is known of many of
/// them before the first is looked up.
class Waiting {
public:
    explicit Waiting(const Numbering& numbering) : numbering_(numbering) {}

    /// A name whose feature goes there.
    void add(std::string_view name, Numbered& to) {
        to.feature = no_number;  // met
        entries_.push_back({text_.size(), name.size(), numbering_.expect(name), &to});
        text_.append(name);
    }

    void settle() {
        text_.append(hash_padding, '\0');
        for (const Entry& entry : entries_) {
            const std::string_view name(text_.data() + entry.begin, entry.size);
            *entry.to = numbering_(name, entry.key);
        }
        entries_.clear();
        text_.clear();
    }

private:
    struct Entry {
        std::size_t begin;
        std::size_t size;
        std::uint32_t key;
        Numbered* to;
    };

    Numbering numbering_;
    std::vector<Entry> entries_;
    std::string text_;
};

/// Adds rows, features ascending and those of one number summed.
class RowMaker {
public:
    explicit RowMaker(CountRows<float>& rows) : rows_(&rows) {}

    void add(Numbered to, double value) {
        if (to.feature == no_number) return;
        features_.push_back(to.feature);
        values_.push_back(to.sign * value);
    }

    void end_row() {
        if (!add_distinct()) add_summed();
        rows_->ends.push_back(static_cast<std::int64_t>(rows_->features.size()));
        features_.clear();
        values_.clear();
    }

private:
    static constexpr std::size_t few = 64;
    static constexpr std::size_t lanes = 8;

    /// Puts each feature where the number of smaller ones says; false, and nothing put, if there
    /// are many or two are the same. Counting has no branch that could be guessed wrong.
    [[nodiscard]] bool add_distinct() {
        const std::size_t n = features_.size();
        if (n > few) return false;
        const std::size_t whole = (n + lanes - 1) / lanes * lanes;
        std::array<std::int32_t, few> all;
        std::array<std::int32_t, few> ranks;
        std::fill_n(all.begin(), whole, -1);
        std::fill_n(ranks.begin(), whole, 0);
        std::ranges::copy(features_, all.begin());
        for (std::size_t j = 0; j < n; ++j) {
            const std::int32_t one = features_[j];
            for (std::size_t i = 0; i < whole; ++i) ranks[i] += one < all[i] ? 1 : 0;
        }
        std::size_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::size_t>(ranks[i]);
        if (2 * sum + n != n * n) return false;  // two of a kind have the same rank
        const std::size_t first = rows_->features.size();
        rows_->features.resize(first + n);
        rows_->values.resize(first + n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = first + static_cast<std::size_t>(ranks[i]);
            rows_->features[at] = features_[i];
            rows_->values[at] = static_cast<float>(values_[i]);
        }
        return true;
    }

    /// Any features; sums run in the order of arrival.
    void add_summed() {
        keys_.clear();
        for (std::size_t i = 0; i < features_.size(); ++i) {
            keys_.push_back(HashKey{static_cast<std::uint32_t>(features_[i])} << 32 | i);
        }
        std::ranges::sort(keys_);
        for (std::size_t i = 0; i < keys_.size();) {
            const HashKey feature = keys_[i] >> 32;
            double sum = 0;
            for (; i < keys_.size() && keys_[i] >> 32 == feature; ++i) {
                sum += values_[static_cast<std::uint32_t>(keys_[i])];
            }
            rows_->features.push_back(static_cast<std::int32_t>(feature));
            rows_->values.push_back(static_cast<float>(sum));
        }
    }

    CountRows<float>* rows_;
    std::vector<std::int32_t> features_;  ///< of the row at hand, as they arrived
    std::vector<double> values_;
    std::vector<HashKey> keys_;
};

/// The features that templates make of words. A name is put together and looked up once for each
/// combination of values; from then on numbers of values lead to it.
///
/// Some sequences are worked through at a time, template by template, so that memory is asked for
/// much at once; names are numbered token by token, so that it does not matter which sequences came
/// together.
class Extractor {
public:
    Extractor(const Words& words, std::span<const View> views, std::span<const Template> templates,
              const Numbering& numbering)
        : words_(&words), views_(views), templates_(templates), waiting_(numbering) {
        for (const Template& one : templates) made_.push_back(prepared(one));
        values_.resize(parts_.size());
    }

    /// Adds a row for each token. With `steps` first tokens have none: no step leads to them.
    void run(bool steps, CountRows<float>& rows) {
        rows.ends.reserve(rows.ends.size() + n_tokens());
        rows.features.reserve(n_tokens() * templates_.size());
        rows.values.reserve(n_tokens() * templates_.size());
        RowMaker maker(rows);
        const std::size_t n = words_->bounds.size() - 1;
        for (std::size_t first = 0; first < n;) {
            std::size_t last = first + 1;
            while (last < n && bound(last + 1) - bound(first) <= block) ++last;
            look_at(first, last);
            const auto meets = [&](Numbered& feature, std::size_t k, std::size_t place) {
                if (feature.feature == not_met) waiting_.add(name_of(k, place), feature);
            };
            for (std::size_t i = first; i < last; ++i) visit(i, steps, meets, [] {});
            waiting_.settle();
            const auto adds = [&](const Numbered& feature, auto, auto) { maker.add(feature, 1); };
            for (; first < last; ++first) visit(first, steps, adds, [&] { maker.end_row(); });
        }
    }

private:
    static constexpr std::int64_t block = 128;  ///< tokens

    /// What is known of one template's values so far.
    struct Made {
        std::vector<std::size_t> parts;      ///< places among all
        std::vector<PairDictionary> joins;   ///< of the first two parts, of that and the third, ...
        std::vector<Numbered> features;      ///< by number of value
        std::vector<std::uint32_t> numbers;  ///< of the values of the tokens at hand
    };

    [[nodiscard]] std::int64_t bound(std::size_t i) const { return words_->bounds[i]; }
    [[nodiscard]] std::uint64_t n_tokens() const {
        return static_cast<std::uint64_t>(words_->bounds.back());
    }

    /// How many values a part could have: those of its view, then the marks beyond the end.
    [[nodiscard]] std::uint64_t n_values(const Part& part) const {
        return views_[part.view].texts.size() + static_cast<std::uint64_t>(std::abs(part.offset));
    }

    [[nodiscard]] Made prepared(const Template& one) {
        Made made;
        std::uint64_t n = one.parts.empty() ? 1 : n_values(one.parts[0]);
        for (std::size_t i = 0; i < one.parts.size(); ++i) {
            const auto same = std::ranges::find(parts_, one.parts[i]);
            made.parts.push_back(static_cast<std::size_t>(same - parts_.begin()));
            if (same == parts_.end()) parts_.push_back(one.parts[i]);
            if (i == 0) continue;
            const std::uint64_t n_next = n_values(one.parts[i]);
            made.joins.emplace_back(n, n_next, 4 * n_tokens());
            n = std::min(n * n_next, n_tokens());  // as many are met at most
        }
        made.features.resize(n, {not_met, 1});
        return made;
    }

    /// Numbers the values of all templates in some sequences.
    void look_at(std::size_t first, std::size_t last) {
        begin_ = bound(first);
        const auto size = static_cast<std::size_t>(bound(last) - begin_);
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            values_[p].clear();
            for (std::size_t i = first; i < last; ++i) add_values(parts_[p], i, values_[p]);
        }
        for (Made& made : made_) {
            made.numbers.assign(size, 0);
            if (!made.parts.empty())
                std::ranges::copy(values_[made.parts[0]], made.numbers.begin());
            for (std::size_t i = 1; i < made.parts.size(); ++i) {
                made.joins[i - 1].add(made.numbers, values_[made.parts[i]]);
            }
            for (const std::uint32_t number : made.numbers) {
                __builtin_prefetch(&made.features[number]);
            }
        }
    }

    /// Numbers of what a part sees from each token of a sequence.
    void add_values(const Part& part, std::size_t sequence,
                    std::vector<std::uint32_t>& values) const {
        const View& view = views_[part.view];
        const auto beyond = static_cast<std::int64_t>(view.texts.size());
        const std::int64_t end = bound(sequence + 1) - bound(sequence);
        const std::int32_t* const words = words_->ids[view.column].data() + bound(sequence);
        for (std::int64_t at = part.offset; at < end + part.offset; ++at) {
            const bool inside = at >= 0 && at < end;
            const std::int64_t number = inside ? view.of_word[static_cast<std::size_t>(words[at])]
                                               : beyond + (at < 0 ? -at - 1 : at - end);
            values.push_back(static_cast<std::uint32_t>(number));
        }
    }

    /// Calls `with` for each feature of each token of a sequence, and `end` after each token.
    template <class With, class End>
    void visit(std::size_t sequence, bool steps, With&& with, End&& end) {
        for (std::int64_t t = bound(sequence); t < bound(sequence + 1); ++t) {
            const auto place = static_cast<std::size_t>(t - begin_);
            const bool none = steps && t == bound(sequence);
            for (std::size_t k = 0; k < made_.size() && !none; ++k) {
                with(made_[k].features[made_[k].numbers[place]], k, place);
            }
            end();
        }
    }

    [[nodiscard]] std::string_view name_of(std::size_t k, std::size_t place) {
        name_ = templates_[k].text;
        char between = '=';
        for (const std::size_t p : made_[k].parts) {
            name_ += between;
            append(parts_[p], values_[p][place]);
            between = '|';
        }
        return name_;
    }

    void append(const Part& part, std::uint32_t value) {
        const Strings& texts = views_[part.view].texts;
        if (value < texts.size()) {
            name_ += texts[value];
            return;
        }
        name_ += part.offset < 0 ? "<s-" : "</s+";
        name_ += std::to_string(value - texts.size() + 1);
        name_ += '>';
    }

    const Words* words_;
    std::span<const View> views_;
    std::span<const Template> templates_;
    Waiting waiting_;
    std::vector<Part> parts_;  ///< of all templates, each once
    std::vector<Made> made_;
    std::int64_t begin_ = 0;                          ///< of the tokens at hand
    std::vector<std::vector<std::uint32_t>> values_;  ///< of each part, of each of them
    std::string name_;
};

/// The features of tokens that bring their own.
inline void number_bags(const Bags& bags, const Numbering& numbering, CountRows<float>& rows) {
    std::vector<Numbered> features(bags.distinct.size());
    Waiting waiting(numbering);  // names are kept as they arrived
    for (std::size_t i = 0; i < features.size(); ++i) {
        waiting.add(bags.distinct.names()[i], features[i]);
        if (i % 256 == 255) waiting.settle();
    }
    waiting.settle();
    RowMaker maker(rows);
    std::size_t i = 0;
    for (const std::int64_t end : bags.ends) {
        for (; i < static_cast<std::size_t>(end); ++i) {
            maker.add(features[static_cast<std::size_t>(bags.ids[i])], bags.values[i]);
        }
        maker.end_row();
    }
}

}  // namespace surelearn
