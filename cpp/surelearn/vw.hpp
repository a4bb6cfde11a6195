// Vowpal Wabbit text: `[label [importance [base]]] ['tag]|namespace[:scale] feature[:value]
// ... |namespace ...` to hashed rows, and `[label[:cost]] ['tag]|...` to groups of candidates.
// Knows no file.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "surelearn/hash.hpp"
#include "surelearn/parse.hpp"
#include "surelearn/row_builder.hpp"

namespace surelearn {

// ------------------------------------------------------------------ before the first bar

namespace vw {

/// Whether the word is a number from end to end.
[[nodiscard]] inline bool read_whole(std::string_view word, double& value) noexcept {
    return read_number(word.data(), word.data(), value) == word.end();
}

inline bool expect(bool sound, std::string_view word, std::string_view expected,
                   Misread& why) noexcept {
    if (!sound) why = {expected, word.begin(), word.end()};
    return sound;
}

}  // namespace vw

/// Rows of lines `[label [importance [base]]] |...`.
template <class T>
struct WeightedRows : ParsedRows<T> {
    static constexpr std::size_t most_words = 3;
    static constexpr std::string_view too_many = "'|' after label, importance and base";

    std::unique_ptr<double[]> weights;
    bool weighted = false;  ///< whether any row states its importance

    WeightedRows(std::size_t most_rows, std::size_t most_entries)
        : ParsedRows<T>(most_rows, most_entries),
          weights(std::make_unique_for_overwrite<double[]>(most_rows)) {}

    void blank_line() noexcept {}

    /// Reads the words of the next row; no number where a line has no label.
    [[nodiscard]] bool read_label(std::span<const std::string_view> words, Misread& why) {
        label_ = std::numeric_limits<double>::quiet_NaN();
        weights[this->n_rows] = 1.0;
        states_weight_ = words.size() > 1;
        if (words.empty()) return true;
        const std::size_t more = words[0].find_first_of(":,");
        const bool several = more != std::string_view::npos && is_digit(words[0].front());
        if (several) return vw::expect(false, words[0], "one label", why);
        const bool number = says_infinite(words[0]) || vw::read_whole(words[0], label_);
        return vw::expect(number, words[0], "a label", why) &&
               vw::expect(std::isfinite(label_), words[0], "a finite label", why) &&
               read_importance(words.subspan(1), why);
    }

    void end_line(std::size_t n) noexcept {
        weighted |= states_weight_;
        this->end_row(n, label_);
    }

private:
    [[nodiscard]] bool read_importance(std::span<const std::string_view> words, Misread& why) {
        if (words.empty()) return true;
        double& weight = weights[this->n_rows];
        const bool sound =
            vw::read_whole(words[0], weight) && std::isfinite(weight) && weight >= 0.0;
        if (!vw::expect(sound, words[0], "an importance of at least 0", why)) return false;
        double base = 0.0;
        return words.size() == 1 ||
               vw::expect(vw::read_whole(words[1], base) && std::isfinite(base), words[1],
                          "a number as base", why);
    }

    double label_ = 0.0;
    bool states_weight_ = false;
};

/// Rows of lines `[label[:cost]] |...` in groups, with a blank line between two groups. A row is a
/// candidate, or holds what all candidates share: `shared |...`, the first line of its group.
template <class T>
struct CandidateRows : ParsedRows<T> {
    static constexpr std::size_t most_words = 1;
    static constexpr std::string_view too_many = "'|' after label:cost";

    std::unique_ptr<std::int64_t[]> names;   ///< label of each candidate, -1 where it has none
    std::unique_ptr<std::int64_t[]> groups;  ///< number of the row's group, from 0
    std::unique_ptr<bool[]> shared;

    CandidateRows(std::size_t most_rows, std::size_t most_entries)
        : ParsedRows<T>(most_rows, most_entries),
          names(std::make_unique_for_overwrite<std::int64_t[]>(most_rows)),
          groups(std::make_unique_for_overwrite<std::int64_t[]>(most_rows)),
          shared(std::make_unique_for_overwrite<bool[]>(most_rows)) {}

    void blank_line() noexcept {
        if (this->n_rows != group_begin_) ++group_;
        group_begin_ = this->n_rows;
    }

    /// Reads the word of the next row; no number where a candidate has no cost.
    [[nodiscard]] bool read_label(std::span<const std::string_view> words, Misread& why) {
        const std::size_t row = this->n_rows;
        cost_ = std::numeric_limits<double>::quiet_NaN();
        names[row] = -1;
        groups[row] = group_;
        shared[row] = !words.empty() && (words[0] == "shared" || words[0] == "***shared***");
        if (words.empty()) return true;
        if (!shared[row]) return read_cost(words[0], why);
        return vw::expect(row == group_begin_, words[0], "'shared' in the first line of a group",
                          why);
    }

    void end_line(std::size_t n) noexcept { this->end_row(n, cost_); }

private:
    [[nodiscard]] bool read_cost(std::string_view word, Misread& why) {
        const std::string_view name = word.substr(0, word.find(':'));
        std::uint64_t number = 0;
        const bool whole = !name.empty() && name.size() <= 18 &&
                           parse::read_digits(name.data(), number) == name.end();
        if (!vw::expect(whole, word, "label:cost with a whole number as label", why)) {
            return false;
        }
        names[this->n_rows] = static_cast<std::int64_t>(number);
        if (name.size() == word.size()) return true;
        const std::string_view cost = word.substr(name.size() + 1);
        const bool is_number =
            says_infinite(cost) || (!cost.empty() && vw::read_whole(cost, cost_));
        return vw::expect(is_number, word, "label:cost", why) &&
               vw::expect(std::isfinite(cost_), word, "a finite cost", why);
    }

    double cost_ = 0.0;
    std::int64_t group_ = 0;
    std::size_t group_begin_ = 0;  ///< first row of the group
};

// ------------------------------------------------------------------ lines

/// Features of one line before they are a row: names, and what they are worth.
class VwFeatures {
public:
    explicit VwFeatures(std::uint32_t n_features, bool signs)
        : n_features_(n_features), signs_(signs), sort_(n_features) {}

    void clear() noexcept {
        n_bytes_ = 0;
        ends_.clear();
        values_.clear();
    }

    /// Names that follow belong to a namespace; to none if it is empty.
    void open(std::string_view space) {
        space_.assign(space);
        if (!space.empty()) space_ += '^';
    }

    /// A feature, or one of a category: `city:paris` is `city^paris`.
    void add(std::string_view name, std::string_view category, double value) {
        keep(space_);
        keep(name);
        if (!category.empty()) {
            keep("^");
            keep(category);
        }
        ends_.push_back(n_bytes_);
        values_.push_back(value);
    }

    /// Sums by feature, ascending, without zeros, from place n of two arrays on. Gives the place
    /// behind them, or `refused` if a sum is not finite.
    template <class T>
    [[nodiscard]] std::size_t write(std::int32_t* features, T* values, std::size_t n) {
        hash();
        sort_(keys_);
        for (auto key = keys_.begin(); key != keys_.end();) {
            const HashKey feature = *key >> 32;
            double sum = 0.0;
            for (; key != keys_.end() && *key >> 32 == feature; ++key) {
                sum += values_[static_cast<std::uint32_t>(*key)];
            }
            const auto x = static_cast<T>(sum);
            if (!std::isfinite(x)) return refused;
            if (x == T{0}) continue;
            features[n] = static_cast<std::int32_t>(feature);
            values[n++] = x;
        }
        return n;
    }

    static constexpr std::size_t refused = std::numeric_limits<std::size_t>::max();

private:
    void keep(std::string_view part) {
        const std::size_t size = n_bytes_ + part.size();
        if (names_.size() < size + hash_padding) names_.resize(2 * size + hash_padding);
        std::copy(part.begin(), part.end(), names_.begin() + static_cast<std::ptrdiff_t>(n_bytes_));
        n_bytes_ = size;
    }

    /// A key for each name. All of them at the end: bytes just written cannot be read as words
    /// without waiting for them.
    void hash() {
        keys_.resize(ends_.size());
        const std::array<double, 2> signs{1.0, signs_ ? -1.0 : 1.0};  // as often one as the other
        std::size_t begin = 0;
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            const std::int32_t h = murmur3(names_.data() + begin, ends_[i] - begin);
            keys_[i] = HashKey{bucket(h, n_features_)} << 32 | i;
            values_[i] *= signs[h < 0];
            begin = ends_[i];
        }
    }

    std::uint32_t n_features_;
    bool signs_;
    KeySort sort_;
    std::string space_;
    std::vector<char> names_ = std::vector<char>(hash_padding);
    std::size_t n_bytes_ = 0;  ///< of names that are there
    std::vector<std::size_t> ends_;
    std::vector<double> values_;
    std::vector<HashKey> keys_;
};

/// Reads one line after the other.
template <class Rows>
class VwReader {
public:
    VwReader(Rows& rows, std::uint32_t n_features, bool signs)
        : rows_(rows), features_(n_features, signs) {}

    [[nodiscard]] const char* operator()(const char* p, const char* end, Misread& why) {
        end_ = end;
        const char* const begin = p = skip_blanks(p);
        if (*p == '\n') {
            rows_.blank_line();
            return p + 1;
        }
        while (*p != '|' && *p != '\n') ++p;
        if (*p == '\n') return misread(begin, p, "'|' before the features", why);
        if (!read_label({begin, p}, why)) return nullptr;
        const char* const bar = p;
        features_.clear();
        while (*p == '|') {
            p = read_namespace(p + 1, why);
            if (p == nullptr) return nullptr;
        }
        const std::size_t n =
            features_.write(rows_.features.get(), rows_.values.get(), rows_.n_entries);
        if (n == features_.refused) return misread(bar, p, "features of finite sums", why);
        rows_.end_line(n);
        return p + 1;
    }

private:
    /// What ends a name: blanks, the next namespace, a value, the line.
    static constexpr auto stops = [] {
        std::array<bool, 256> table{};
        for (const char c : {' ', '\t', '\r', '\n', '|', ':'}) {
            table[static_cast<unsigned char>(c)] = true;
        }
        return table;
    }();

    [[nodiscard]] static bool is_blank(char c) noexcept {
        return c == ' ' || c == '\t' || c == '\r';
    }
    [[nodiscard]] static bool closes(char c) noexcept {
        return is_blank(c) || c == '|' || c == '\n';
    }
    [[nodiscard]] static const char* skip_blanks(const char* p) noexcept {
        while (is_blank(*p)) ++p;
        return p;
    }
    [[nodiscard]] static std::string_view name_at(const char* p) noexcept {
        const char* end = p;
        while (!stops[static_cast<unsigned char>(*end)]) ++end;
        return {p, end};
    }

    // ---------------------------------------------------------------- before the bar

    /// Words between spaces; the last is a tag if it touches the bar or opens with a quote.
    [[nodiscard]] bool read_label(std::string_view text, Misread& why) {
        std::array<std::string_view, Rows::most_words + 1> words;
        std::size_t n = 0;
        for (const char* p = text.data(); p != text.end();) {
            const char* const end = std::find(p, text.end(), ' ');
            if (p == end) {
                ++p;
                continue;
            }
            if (n == words.size()) return too_many(words.back(), why);
            words[n++] = {p, end};
            p = end;
        }
        if (n > 0 && (words[n - 1].end() == text.end() || words[n - 1].front() == '\'')) --n;
        if (n == words.size()) return too_many(words.back(), why);
        return rows_.read_label({words.data(), n}, why);
    }

    static bool too_many(std::string_view word, Misread& why) noexcept {
        return vw::expect(false, word, Rows::too_many, why);
    }

    // ---------------------------------------------------------------- behind a bar

    [[nodiscard]] const char* read_namespace(const char* p, Misread& why) {
        const std::string_view space = name_at(p);
        double scale = 1.0;
        const char* after = space.end();
        if (*after == ':') {
            after = space.empty() ? nullptr : read_number(after + 1, end_, scale);
            if (after == nullptr || !closes(*after)) return bad_word(p, named_space, why);
            if (!std::isfinite(scale)) return bad_word(p, "a finite scale", why);
        }
        features_.open(space);
        for (p = skip_blanks(after); *p != '|' && *p != '\n'; p = skip_blanks(p)) {
            p = read_feature(p, scale, why);
            if (p == nullptr) return nullptr;
        }
        return p;
    }

    [[nodiscard]] const char* read_feature(const char* p, double scale, Misread& why) {
        const std::string_view name = name_at(p);
        const char* after = name.end();
        if (*after != ':') {
            features_.add(name, {}, scale);
            return after;
        }
        if (name.empty()) return bad_word(p, "a name before ':'", why);
        double value = 0.0;
        const char* const end = read_number(after + 1, end_, value);
        if (end != nullptr && closes(*end) && std::isfinite(value)) {
            features_.add(name, {}, scale * value);
            return end;
        }
        return read_category(p, name, why);
    }

    /// A word in the place of the value: a feature of its own, and as in Vowpal Wabbit not scaled.
    [[nodiscard, gnu::noinline]] const char* read_category(const char* p, std::string_view name,
                                                           Misread& why) {
        const std::string_view word = name_at(name.end() + 1);
        const bool number = word.find_first_of("+-.0123456789") == 0;
        const bool alone = !word.empty() && *word.end() != ':';
        double value = 0.0;
        if (alone && (says_infinite(word) || (number && vw::read_whole(word, value)))) {
            return bad_word(p, "a finite value", why);
        }
        if (!alone || number) return bad_word(p, named_feature, why);
        features_.add(name, word, 1.0);
        return word.end();
    }

    static constexpr std::string_view named_space = "namespace or namespace:scale";
    static constexpr std::string_view named_feature = "feature or feature:value";

    // ---------------------------------------------------------------- what is wrong

    [[gnu::cold]] static const char* misread(const char* p, const char* end,
                                             std::string_view expected, Misread& why) noexcept {
        why = {expected, p, end};
        return nullptr;
    }

    [[gnu::cold]] static const char* bad_word(const char* p, std::string_view expected,
                                              Misread& why) noexcept {
        const char* end = p;
        while (!closes(*end)) ++end;
        return misread(p, end, expected, why);
    }

    Rows& rows_;
    VwFeatures features_;
    const char* end_ = nullptr;  ///< bytes are there up to it
};

/// The rows of a block: `WeightedRows`, or `CandidateRows` of the label-dependent format.
template <class Rows>
[[nodiscard]] Rows parse_vw(std::string_view block, std::uint32_t n_features, bool signs,
                            bool skip_bad) {
    // A feature stands behind a blank, of which none is larger than a space.
    const auto small = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    const std::size_t most = count_of(block, small);
    Rows rows(most_rows(block), most);
    VwReader<Rows> reader(rows, n_features, signs);
    read_lines(block, skip_bad, rows.bad, reader);
    return rows;
}

}  // namespace surelearn
