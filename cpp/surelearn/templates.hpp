// Room 1, templates: columns of words, or bags of named values, to sparse rows. Knows no labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "surelearn/counts.hpp"
#include "surelearn/dictionary.hpp"
#include "surelearn/hash.hpp"

namespace surelearn {

/// Sequences of tokens, each of a word in every column. A word is kept once; tokens have its
/// number.
struct Words {
    std::vector<std::int64_t> bounds{0};  ///< tokens of sequence i: from bounds[i] to bounds[i + 1]
    std::vector<Dictionary> distinct;     ///< words of each column
    std::vector<std::vector<std::int32_t>> ids;  ///< of each column, of each token
};

/// Sequences of tokens, each with some names and their values.
struct Bags {
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

    /// The feature of a name; it is lengthened for a while and then as it was.
    [[nodiscard]] Numbered operator()(std::string& name) const {
        if (names_ != nullptr) return {grows_ ? names_->add(name) : names_->find(name), 1};
        const std::size_t size = name.size();
        name.append(hash_padding, '\0');
        const std::int32_t hash = murmur3(name.data(), size);
        name.resize(size);
        const auto feature = static_cast<std::int32_t>(bucket(hash, n_features_));
        return {feature, hash < 0 ? -1.0F : 1.0F};
    }

private:
    Dictionary* names_ = nullptr;
    bool grows_ = false;
    std::uint32_t n_features_ = 0;
};

/// Adds rows, features ascending and those of one number summed.
class RowMaker {
public:
    explicit RowMaker(CountRows<float>& rows) : rows_(&rows) {}

    void add(Numbered to, double value) {
        if (to.feature == no_number) return;
        keys_.push_back(HashKey{static_cast<std::uint32_t>(to.feature)} << 32 | values_.size());
        values_.push_back(to.sign * value);
    }

    void end_row() {
        sort();
        for (std::size_t i = 0; i < keys_.size();) {
            const HashKey feature = keys_[i] >> 32;
            double sum = 0;
            for (; i < keys_.size() && keys_[i] >> 32 == feature; ++i) {
                sum += values_[static_cast<std::uint32_t>(keys_[i])];
            }
            rows_->features.push_back(static_cast<std::int32_t>(feature));
            rows_->values.push_back(static_cast<float>(sum));
        }
        rows_->ends.push_back(static_cast<std::int64_t>(rows_->features.size()));
        keys_.clear();
        values_.clear();
    }

private:
    static constexpr std::size_t few = 40;

    void sort() noexcept {
        if (keys_.size() > few) {
            std::ranges::sort(keys_);
            return;
        }
        for (std::size_t i = 1; i < keys_.size(); ++i) {
            const HashKey key = keys_[i];
            std::size_t at = i;
            for (; at > 0 && keys_[at - 1] > key; --at) keys_[at] = keys_[at - 1];
            keys_[at] = key;
        }
    }

    CountRows<float>* rows_;
    std::vector<HashKey> keys_;
    std::vector<double> values_;
};

/// The features that templates make of words. A name is put together and looked up once for each
/// combination of values; from then on numbers of values lead to it.
class Extractor {
public:
    Extractor(const Words& words, std::span<const View> views, std::span<const Template> templates,
              const Numbering& numbering)
        : words_(&words), views_(views), templates_(templates), numbering_(numbering) {
        for (const Template& one : templates) made_.push_back(prepared(one));
    }

    /// Adds a row for each token. With `steps` first tokens have none: no step leads to them.
    void run(bool steps, CountRows<float>& rows) {
        rows.ends.reserve(rows.ends.size() + n_tokens());
        rows.features.reserve(n_tokens() * templates_.size());
        rows.values.reserve(n_tokens() * templates_.size());
        RowMaker maker(rows);
        for (std::size_t i = 0; i + 1 < words_->bounds.size(); ++i) {
            begin_ = words_->bounds[i];
            end_ = words_->bounds[i + 1];
            for (std::int64_t t = begin_; t < end_; ++t) {
                for (std::size_t k = 0; k < made_.size() && !(steps && t == begin_); ++k) {
                    maker.add(feature(k, t), 1);
                }
                maker.end_row();
            }
        }
    }

private:
    /// What is known of one template's values so far.
    struct Made {
        std::vector<PairDictionary> joins;  ///< of the first two parts, of that and the third, ...
        std::vector<Numbered> features;     ///< by number of value
        std::vector<bool> known;
    };

    [[nodiscard]] std::size_t n_tokens() const {
        return static_cast<std::size_t>(words_->bounds.back());
    }

    /// How many values a part could have: those of its view, then the marks beyond the end.
    [[nodiscard]] std::uint64_t n_values(const Part& part) const {
        return views_[part.view].texts.size() + static_cast<std::uint64_t>(std::abs(part.offset));
    }

    [[nodiscard]] Made prepared(const Template& one) const {
        Made made;
        const std::uint64_t tokens = n_tokens();
        std::uint64_t n = one.parts.empty() ? 1 : n_values(one.parts[0]);
        for (std::size_t i = 1; i < one.parts.size(); ++i) {
            const std::uint64_t n_next = n_values(one.parts[i]);
            made.joins.emplace_back(n, n_next, 4 * tokens);
            n = std::min(n * n_next, tokens);  // as many are met at most
        }
        made.features.resize(n);
        made.known.resize(n);
        return made;
    }

    [[nodiscard]] std::uint32_t value(const Part& part, std::int64_t t) const {
        const View& view = views_[part.view];
        const std::int64_t at = t + part.offset;
        const auto beyond = static_cast<std::uint32_t>(view.texts.size());
        if (at < begin_) return beyond + static_cast<std::uint32_t>(begin_ - at - 1);
        if (at >= end_) return beyond + static_cast<std::uint32_t>(at - end_);
        const std::int32_t word = words_->ids[view.column][static_cast<std::size_t>(at)];
        return static_cast<std::uint32_t>(view.of_word[static_cast<std::size_t>(word)]);
    }

    [[nodiscard]] Numbered feature(std::size_t k, std::int64_t t) {
        const std::span<const Part> parts = templates_[k].parts;
        Made& made = made_[k];
        std::uint32_t number = parts.empty() ? 0 : value(parts[0], t);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            number = made.joins[i - 1].add(number, value(parts[i], t));
        }
        if (!made.known[number]) {
            name_of(templates_[k], t);
            made.features[number] = numbering_(name_);
            made.known[number] = true;
        }
        return made.features[number];
    }

    void name_of(const Template& one, std::int64_t t) {
        name_ = one.text;
        char between = '=';
        for (const Part& part : one.parts) {
            name_ += between;
            append(part, t);
            between = '|';
        }
    }

    void append(const Part& part, std::int64_t t) {
        const std::uint32_t number = value(part, t);
        const Strings& texts = views_[part.view].texts;
        if (number < texts.size()) {
            name_ += texts[number];
            return;
        }
        name_ += part.offset < 0 ? "<s-" : "</s+";
        name_ += std::to_string(number - texts.size() + 1);
        name_ += '>';
    }

    const Words* words_;
    std::span<const View> views_;
    std::span<const Template> templates_;
    Numbering numbering_;
    std::vector<Made> made_;
    std::int64_t begin_ = 0;  ///< of the sequence at hand
    std::int64_t end_ = 0;
    std::string name_;
};

/// The features of tokens that bring their own.
inline void number_bags(const Bags& bags, const Numbering& numbering, CountRows<float>& rows) {
    std::vector<Numbered> features(bags.distinct.size());
    std::vector<bool> known(features.size());
    std::string name;
    RowMaker maker(rows);
    std::size_t i = 0;
    for (const std::int64_t end : bags.ends) {
        for (; i < static_cast<std::size_t>(end); ++i) {
            const auto id = static_cast<std::size_t>(bags.ids[i]);
            if (!known[id]) {
                name = bags.distinct.names()[id];
                features[id] = numbering(name);
                known[id] = true;
            }
            maker.add(features[id], bags.values[i]);
        }
        maker.end_row();
    }
}

}  // namespace surelearn
