// Row parts: rows put together from parts, one for each column of a table. Knows no tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/row_builder.hpp"

namespace surelearn {

/// A part of each of some compressed rows. Its features are moved by `offset`, its values are
/// multiplied by `weight`.
template <class Value>
struct RowPart {
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> index;
    std::span<const Value> value;
    std::int32_t offset = 0;
    double weight = 1.0;
};

/// Rows with the features of all parts, ascending; values of one feature are summed in the order of
/// the parts.
template <class Value>
class RowJoiner {
public:
    [[nodiscard]] CountRows<Value> join(std::span<const RowPart<Value>> parts, std::size_t n_rows) {
        CountRows<Value> rows;
        std::size_t size = 0;
        for (const auto& part : parts) size += part.index.size();
        rows.features.reserve(size);
        rows.values.reserve(size);
        rows.ends.reserve(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) {
            entries_.clear();
            for (const auto& part : parts) add(part, i);
            if (!std::ranges::is_sorted(entries_, {}, &Entry::first)) {
                std::ranges::stable_sort(entries_, {}, &Entry::first);
            }
            close(rows);
        }
        return rows;
    }

private:
    using Entry = std::pair<std::int32_t, Value>;

    void add(const RowPart<Value>& part, std::size_t i) {
        const auto begin = static_cast<std::size_t>(part.start[i]);
        const auto end = static_cast<std::size_t>(part.start[i + 1]);
        for (std::size_t p = begin; p < end; ++p) {
            const auto x = static_cast<Value>(static_cast<double>(part.value[p]) * part.weight);
            entries_.emplace_back(part.index[p] + part.offset, x);
        }
    }

    void close(CountRows<Value>& rows) const {
        const std::size_t first = rows.features.size();
        for (const auto& [feature, x] : entries_) {
            if (rows.features.size() > first && rows.features.back() == feature) {
                rows.values.back() += x;
            } else {
                rows.features.push_back(feature);
                rows.values.push_back(x);
            }
        }
        rows.ends.push_back(static_cast<std::int64_t>(rows.features.size()));
    }

    std::vector<Entry> entries_;
};

}  // namespace surelearn
