// Rows under the numbers of their own features, for weights of these alone. Knows no weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/rows.hpp"

namespace surelearn {

/// Some rows of a compressed matrix: entry p of the features is the one that they call p.
template <class Index>
struct OwnFeatures {
    std::vector<std::int64_t> features;  ///< ascending
    std::vector<std::int64_t> start;
    std::vector<Index> index;
};

/// Rows [begin, end) under the numbers of their own features; their order within a row stays.
/// Without starts and indices if most of the features are among them: nothing would be saved.
template <class Index, class Value>
[[nodiscard]] OwnFeatures<Index> own_features(const Matrix<Index, Value>& rows, std::size_t begin,
                                              std::size_t end) {
    std::vector<Index> place(rows.n_features(), 0);
    for (std::size_t i = begin; i < end; ++i) {
        for (const Index j : rows.stored(i).index) place[static_cast<std::size_t>(j)] = 1;
    }
    OwnFeatures<Index> own;
    Index next = 0;
    for (std::size_t j = 0; j < place.size(); ++j) {
        if (place[j] == 0) continue;
        place[j] = next++;
        own.features.push_back(static_cast<std::int64_t>(j));
    }
    if (2 * own.features.size() > rows.n_features()) return own;
    own.start.reserve(end - begin + 1);
    own.index.reserve(rows.begin_of(end) - rows.begin_of(begin));
    own.start.push_back(0);
    for (std::size_t i = begin; i < end; ++i) {
        for (const Index j : rows.stored(i).index) {
            own.index.push_back(place[static_cast<std::size_t>(j)]);
        }
        own.start.push_back(static_cast<std::int64_t>(own.index.size()));
    }
    return own;
}

}  // namespace surelearn
