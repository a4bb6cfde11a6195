// Sequences and labels from Python's arrays, checked; shared by the passes and the batch losses.
#pragma once

#include <algorithm>

#include "surelearn/tagging.hpp"
#include "weights.hpp"

namespace surelearn::bind {

/// Features of tokens always come like this.
using Tokens = Matrix<std::int32_t, float>;

[[nodiscard]] inline const Tokens& tokens_of(const Rows& rows) {
    const auto* tokens = std::get_if<Tokens>(&rows.matrix);
    if (tokens == nullptr || tokens->dense()) throw nb::value_error("tokens must be CSR");
    return *tokens;
}

/// Sequences whose rows are in the matrices.
[[nodiscard]] inline Sequences<std::int32_t, float> sequences_of(
    const Rows& tokens, const Rows& pairs, const Vector<std::int64_t>& bounds) {
    const Sequences<std::int32_t, float> sequences{tokens_of(tokens), tokens_of(pairs),
                                                   view(bounds)};
    const auto n = static_cast<std::int64_t>(sequences.tokens.size());
    if (sequences.pairs.size() != sequences.tokens.size() || bounds.shape(0) == 0 ||
        sequences.bounds.front() != 0 || sequences.bounds.back() != n ||
        !std::ranges::is_sorted(sequences.bounds)) {
        throw nb::value_error("bounds do not fit the tokens");
    }
    return sequences;
}

template <class T>
void check_fits(const Model<Diagonal<T>>& model, const Sequences<std::int32_t, float>& sequences) {
    const ChainLayout layout{model.weights.shape().n_columns, sequences.pairs.n_features()};
    if (!model.weights.order().is_sorted()) throw nb::value_error("labels must lie in order");
    if (layout.tokens() + sequences.tokens.n_features() > model.weights.shape().n_features) {
        throw nb::value_error("tokens do not fit the weights");
    }
}

/// One label below `n_labels` for each of n records.
[[nodiscard]] inline std::span<const std::int32_t> labels_of(const Vector<std::int32_t>& y,
                                                             std::size_t n, std::size_t n_labels) {
    const auto labels = view(y);
    const auto inside = [&](std::int32_t k) {
        return k >= 0 && static_cast<std::size_t>(k) < n_labels;
    };
    if (labels.size() != n || !std::ranges::all_of(labels, inside)) {
        throw nb::value_error("y does not fit the rows");
    }
    return labels;
}

}  // namespace surelearn::bind
