// Svmlight text: `label [qid:n] index:value ... # comment` to rows. Knows no file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "surelearn/parse.hpp"

namespace surelearn {

/// Rows, with the query of each if they are to be grouped.
template <class T>
struct QueryRows : ParsedRows<T> {
    std::unique_ptr<std::int64_t[]> queries;  ///< nullptr if rows are not grouped

    QueryRows(std::size_t most_rows, std::size_t most_entries, bool grouped)
        : ParsedRows<T>(most_rows, most_entries) {
        if (grouped) queries = std::make_unique_for_overwrite<std::int64_t[]>(most_rows);
    }
};

/// Reads one line after the other. Drops zeros; other entries keep the order of the file.
template <class T>
class SvmlightReader {
public:
    SvmlightReader(QueryRows<T>& rows, bool zero_based) : rows_(rows), first_(zero_based ? 0 : 1) {}

    /// One more than the largest feature, including features of value zero.
    [[nodiscard]] std::int64_t n_features() const noexcept { return n_features_; }

    [[nodiscard]] const char* operator()(const char* p, const char* end, Misread& why) noexcept {
        p = skip_blanks(p);
        if (ends(*p)) return next_line(p, end);
        double label = 0.0;
        const char* after = read_number(p, end, label);
        if (after == nullptr || !closes(*after) || !std::isfinite(label)) return bad_label(p, why);
        after = skip_blanks(after);
        if (rows_.queries != nullptr && ends(*after)) return misread(p, with_query, why);
        if (rows_.queries != nullptr || *after == 'q') {
            after = read_query(after, why);
            if (after == nullptr) return nullptr;
        }
        return read_entries(after, end, label, why);
    }

private:
    static constexpr std::uint64_t index_limit = std::uint64_t{1} << 31;
    static constexpr std::string_view with_query = "qid:number after the label";

    [[nodiscard]] static bool ends(char c) noexcept { return c == '\n' || c == '#'; }
    [[nodiscard]] static bool closes(char c) noexcept { return is_space(c) || c == '#'; }

    [[nodiscard]] static const char* skip_blanks(const char* p) noexcept {
        while (is_space(*p) && *p != '\n') ++p;
        return p;
    }

    [[nodiscard]] static const char* next_line(const char* p, const char* end) noexcept {
        if (*p == '\n') return p + 1;
        return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) +
               1;
    }

    /// Reads `qid:n`. A number that no row keeps may have any size.
    [[nodiscard]] const char* read_query(const char* p, Misread& why) noexcept {
        constexpr std::string_view name = "qid:";
        const char* digits = p;
        for (const char c : name) {
            if (*digits++ != c) return misread(p, "qid:number", why);
        }
        std::uint64_t number = 0;
        const char* const after = parse::read_digits(digits, number);
        if (after == digits || !closes(*after)) return misread(p, "qid:number", why);
        if (rows_.queries != nullptr) {
            if (after - digits > 18) return misread(p, "a qid of at most 18 digits", why);
            rows_.queries[rows_.n_rows] = static_cast<std::int64_t>(number);
        }
        return skip_blanks(after);
    }

    [[nodiscard]] const char* read_entries(const char* p, const char* end, double label,
                                           Misread& why) noexcept {
        std::int32_t* const features = rows_.features.get();
        T* const values = rows_.values.get();
        std::size_t n = rows_.n_entries;
        std::int64_t most = n_features_;
        while (!ends(*p)) {
            const char* const entry = p;
            std::uint64_t index = 0;
            p = parse::read_digits(p, index);
            // Up to 18 digits cannot overflow; `bad_entry` tells what is wrong with longer ones.
            if (*p != ':' || p == entry || p - entry > 18) return bad_entry(entry, why);
            double value = 0.0;
            p = read_number(p + 1, end, value);
            const auto x = static_cast<T>(value);
            if (p == nullptr || !closes(*p) || index - first_ >= index_limit - first_ ||
                !std::isfinite(x)) {
                return bad_entry(entry, why);
            }
            const auto feature = static_cast<std::int64_t>(index - first_);
            features[n] = static_cast<std::int32_t>(feature);
            values[n] = x;
            n += x != T{0} ? 1 : 0;
            most = std::max(most, feature + 1);
            p = skip_blanks(p);
        }
        n_features_ = most;
        rows_.end_row(n, label);
        return next_line(p, end);
    }

    // ---------------------------------------------------------------- what is wrong

    [[gnu::cold]] static const char* misread(const char* p, std::string_view expected,
                                             Misread& why) noexcept {
        const char* end = p;
        while (!closes(*end)) ++end;
        why = {expected, p, end};
        return nullptr;
    }

    [[gnu::cold]] static const char* bad_label(const char* p, Misread& why) noexcept {
        misread(p, "a label", why);
        const std::string_view word(why.at, why.end);
        double label = 0.0;
        const char* const after = read_number(p, p, label);
        if (says_infinite(word) || after == why.end) why.expected = "a finite label";
        if (after != nullptr && *after == ',') why.expected = "one label";
        return nullptr;
    }

    [[gnu::cold]] const char* bad_entry(const char* p, Misread& why) const noexcept {
        misread(p, "index:value", why);
        const std::string_view word(why.at, why.end);
        const std::size_t colon = word.find_first_not_of("0123456789");
        if (colon == 0 || colon == std::string_view::npos || word[colon] != ':') return nullptr;
        const std::string_view value = word.substr(colon + 1);
        double x = 0.0;
        const bool number = !value.empty() && read_number(value.data(), value.data(), x) == why.end;
        if (!number && !says_infinite(value)) return nullptr;
        const std::size_t zeros = std::min(word.find_first_not_of('0'), colon);
        if (zeros == colon && first_ != 0) {
            why.expected = "an index of at least 1";
        } else if (colon - zeros > 10 || index_of(word.substr(zeros)) >= index_limit) {
            why.expected = "an index below 2147483648";
        } else if (!std::isfinite(static_cast<T>(x)) || !number) {
            why.expected = "a finite value";
        } else {
            why.expected = "an index of at most 18 digits";
        }
        return nullptr;
    }

    [[nodiscard]] static std::uint64_t index_of(std::string_view word) noexcept {
        std::uint64_t index = 0;
        (void)parse::read_digits(word.data(), index);
        return index;
    }

    QueryRows<T>& rows_;
    std::uint64_t first_;
    std::int64_t n_features_ = 0;
};

/// The rows of a block, and one more than the largest feature. Grouped rows must have a query.
template <class T>
[[nodiscard]] QueryRows<T> parse_svmlight(std::string_view block, bool zero_based, bool grouped,
                                          bool skip_bad, std::int64_t& n_features) {
    const std::size_t most = count_of(block, [](char c) { return c == ':'; });
    QueryRows<T> rows(most_rows(block), most, grouped);
    SvmlightReader<T> reader(rows, zero_based);
    read_lines(block, skip_bad, rows.bad, reader);
    n_features = reader.n_features();
    return rows;
}

}  // namespace surelearn
