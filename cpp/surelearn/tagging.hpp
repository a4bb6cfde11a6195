// Sequences of tokens as structures, with a chain as their decoder.
//
// All weights of a tagger are in one table with a column per label. Its first rows belong to the
// chain: start, end, and for each pair feature p and previous label i the row 2 + p K + i, whose
// column j is the weight of the transition from i to j. Pair feature 0 has the value 1 in every
// transition. The token features follow. So Psi(x, y) touches cells of one table, and merging,
// saving and averaging need not know chains.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/chain.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/sparse_difference.hpp"
#include "surelearn/structured.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// Sequences of tokens: sequence i has the rows [bounds[i], bounds[i + 1]) of both matrices.
template <class Index, class Value>
struct Sequences {
    const Matrix<Index, Value>& tokens;
    const Matrix<Index, Value>& pairs;  ///< pair features of each token, without the constant
    std::span<const std::int64_t> bounds;
    std::span<const std::int32_t> y{};  ///< label of each token; empty if unknown

    [[nodiscard]] std::size_t size() const noexcept { return bounds.size() - 1; }
    [[nodiscard]] std::size_t begin(std::size_t i) const noexcept {
        return static_cast<std::size_t>(bounds[i]);
    }
    [[nodiscard]] std::size_t length(std::size_t i) const noexcept {
        return static_cast<std::size_t>(bounds[i + 1] - bounds[i]);
    }
};

/// The rows of the chain in the table.
struct ChainLayout {
    std::size_t n_labels;
    std::size_t n_pairs;  ///< without the constant one

    static constexpr std::size_t start = 0;
    static constexpr std::size_t end = 1;
    [[nodiscard]] std::size_t step(std::size_t pair, std::size_t before) const noexcept {
        return 2 + pair * n_labels + before;
    }
    /// Number of rows before the first token feature.
    [[nodiscard]] std::size_t tokens() const noexcept { return step(n_pairs + 1, 0); }
};

namespace detail {

/// A row whose features are shifted to their rows of the table.
template <class R>
struct Shifted {
    R row{};
    std::size_t by = 0;

    [[nodiscard]] std::size_t size() const noexcept { return row.size(); }
    [[nodiscard]] std::size_t feature(std::size_t p) const noexcept { return row.feature(p) + by; }
    [[nodiscard]] double x(std::size_t p) const noexcept { return row.x(p); }
};

/// Computes the scores of a chain from weights and features, and g from two paths.
template <class T, class Index, class Value>
class ChainFeatures {
public:
    ChainFeatures(const Diagonal<T>& weights, const Sequences<Index, Value>& sequences)
        : weights_(weights),
          sequences_(sequences),
          layout_{weights.shape().n_columns, sequences.pairs.n_features()} {}

    /// The scores of sequence i, with the averaged or the current means.
    void load(std::size_t i, bool averaged, Chain& chain) const {
        const std::size_t length = sequences_.length(i);
        const bool steps_differ = has_pairs();
        chain.reset(length, layout_.n_labels, steps_differ);
        if (length == 0) return;
        for (std::size_t t = 0; t < length; ++t) {
            const auto ahead = t + 1 < length ? token(i, t + 1) : token(i, t);
            read(token(i, t), ahead, averaged, chain.unary(t));
        }
        add_row(ChainLayout::start, 1.0, averaged, chain.unary(0));
        add_row(ChainLayout::end, 1.0, averaged, chain.unary(length - 1));
        for (std::size_t t = 1; t < (steps_differ ? length : std::min<std::size_t>(length, 2));
             ++t) {
            each_pair(i, t, [&](std::size_t pair, double x) {
                for (std::size_t before = 0; before < layout_.n_labels; ++before) {
                    add_row(layout_.step(pair, before), x, averaged, chain.step(t, before));
                }
            });
        }
    }

    /// g = Psi(x, y) - Psi(x, other), without common parts; the paths differ only within `apart`.
    void difference(std::size_t i, std::span<const std::int32_t> y,
                    std::span<const std::int32_t> other, TokenRange apart,
                    SparseDifference<T>& g) const {
        g.clear();
        const std::size_t last = y.size() - 1;
        const auto both = [&](std::size_t feature, std::size_t t, double x) {
            g.add(feature, static_cast<std::size_t>(y[t]), x);
            g.add(feature, static_cast<std::size_t>(other[t]), -x);
        };
        if (y[0] != other[0]) both(ChainLayout::start, 0, 1.0);
        if (y[last] != other[last]) both(ChainLayout::end, last, 1.0);
        // One token more: the transition out of the last differing token differs as well.
        for (std::size_t t = apart.begin; t < std::min(apart.end + 1, y.size()); ++t) {
            if (y[t] != other[t]) {
                const auto row = token(i, t);
                for (std::size_t p = 0; p < row.size(); ++p) both(row.feature(p), t, row.x(p));
            }
            if (t == 0 || (y[t] == other[t] && y[t - 1] == other[t - 1])) continue;
            each_pair(i, t, [&](std::size_t pair, double x) {
                add_step(pair, y, t, x, g);
                add_step(pair, other, t, -x, g);
            });
        }
        g.settle();
    }

private:
    [[nodiscard]] bool has_pairs() const noexcept { return layout_.n_pairs > 0; }

    [[nodiscard]] auto token(std::size_t i, std::size_t t) const noexcept {
        return Shifted<Row<Index, Value>>{sequences_.tokens.stored(sequences_.begin(i) + t),
                                          layout_.tokens()};
    }

    /// Prefetches the weights of the token `ahead` meanwhile. With q the sums for averaging and c
    /// the rounds, sum (mu - q / c) x is computed as sum mu x - (sum q x) / c: one division per
    /// label instead of one per weight.
    template <class R>
    void read(const R& row, const R& ahead, bool averaged, std::span<double> s) const {
        fetch(ahead, 0);
        if (averaged) fetch(ahead, weights_.average_at());
        sum_part(weights_, row, 0, s);
        if (!averaged) return;
        sums_.resize(s.size());
        sum_part(weights_, row, weights_.average_at(), sums_);
        const double c = rounds();
        for (std::size_t k = 0; k < s.size(); ++k) s[k] -= sums_[k] / c;
    }

    /// Prefetches only the part that is read: most tokens need nothing else.
    template <class R>
    [[gnu::always_inline]] void fetch(const R& row, std::size_t part) const noexcept {
        constexpr std::size_t line = 64 / sizeof(T);
        for (std::size_t p = 0; p < row.size(); ++p) {
            const T* const at = weights_.cell(row.feature(p)) + part;
            for (std::size_t k = 0; k < layout_.n_labels; k += line)
                __builtin_prefetch(at + k, 0, 2);
            __builtin_prefetch(at + layout_.n_labels - 1, 0, 2);
        }
    }

    void add_row(std::size_t j, double x, bool averaged, std::span<double> s) const noexcept {
        const T* const at = weights_.cell(j);
        if (!averaged) {
            for (std::size_t k = 0; k < s.size(); ++k) s[k] += at[k] * x;
            return;
        }
        const T* const q = at + weights_.average_at();
        const double c = rounds();
        for (std::size_t k = 0; k < s.size(); ++k) s[k] += average_of(at[k], q[k], c) * x;
    }

    [[nodiscard]] double rounds() const noexcept {
        return static_cast<double>(weights_.rounds() + 1);
    }

    /// f(pair feature, value) for the transition to token t; the constant feature comes first.
    template <class F>
    void each_pair(std::size_t i, std::size_t t, const F& f) const {
        f(std::size_t{0}, 1.0);
        if (!has_pairs()) return;
        const auto row = sequences_.pairs.stored(sequences_.begin(i) + t);
        for (std::size_t p = 0; p < row.size(); ++p) f(row.feature(p) + 1, row.x(p));
    }

    void add_step(std::size_t pair, std::span<const std::int32_t> path, std::size_t t, double x,
                  SparseDifference<T>& g) const {
        g.add(layout_.step(pair, static_cast<std::size_t>(path[t - 1])),
              static_cast<std::size_t>(path[t]), x);
    }

    const Diagonal<T>& weights_;
    const Sequences<Index, Value>& sequences_;
    ChainLayout layout_;
    mutable std::vector<double> sums_;
};

}  // namespace detail

/// A sequence as a structure: an answer is a path of labels.
template <class T, class Index, class Value>
class ChainDecoder {
public:
    using Data = Sequences<Index, Value>;
    using Answer = Path;
    using Truth = std::span<const std::int32_t>;

    ChainDecoder(const Diagonal<T>& weights, const Data& sequences)
        : averages_(weights.shape().averaged),
          sequences_(sequences),
          features_(weights, sequences) {}

    [[nodiscard]] bool empty(std::size_t i) const noexcept { return sequences_.length(i) == 0; }
    [[nodiscard]] Truth truth(std::size_t i) const noexcept {
        return sequences_.y.subspan(sequences_.begin(i), sequences_.length(i));
    }

    void load(std::size_t i, Means means) {
        example_ = i;
        features_.load(i, means == Means::predicting && averages_, chain_);
    }
    [[nodiscard]] Chain& chain() noexcept { return chain_; }
    [[nodiscard]] bool finite() const noexcept { return chain_.has_finite_labels(); }

    void best(Path& path) { chain_.best(path); }
    [[nodiscard]] bool same(Truth y, const Path& path) const noexcept {
        return std::ranges::equal(y, path);
    }
    [[nodiscard]] bool best_other(Truth y, Path& path) { return chain_.best_other(y, path); }
    [[nodiscard]] std::vector<Path> k_best(std::size_t k) { return chain_.k_best(k); }

    /// Adds the cost of 1 for each wrong tag to its score.
    void augment_loss(Truth y) noexcept {
        for (std::size_t t = 0; t < y.size(); ++t) {
            const auto s = chain_.unary(t);
            for (std::size_t j = 0; j < s.size(); ++j) {
                if (j != static_cast<std::size_t>(y[t])) s[j] += 1.0;
            }
        }
    }
    /// The number of wrong tags.
    [[nodiscard]] double distance(Truth y, const Path& path) const noexcept {
        std::size_t count = 0;
        for (std::size_t t = 0; t < y.size(); ++t) count += y[t] != path[t] ? 1 : 0;
        return static_cast<double>(count);
    }

    void difference(Truth y, const Path& path, SparseDifference<T>& g) const {
        difference(y, path, {0, y.size()}, g);
    }
    /// The same for paths that differ only within `apart`.
    void difference(Truth y, const Path& path, TokenRange apart, SparseDifference<T>& g) const {
        features_.difference(example_, y, path, apart, g);
    }

    [[nodiscard]] double log_partition() { return chain_.log_partition(); }
    /// [token, label].
    void marginals(std::vector<double>& p) {
        p.resize(chain_.length() * chain_.n_labels());
        chain_.marginals(p);
    }

private:
    bool averages_;
    const Data& sequences_;
    detail::ChainFeatures<T, Index, Value> features_;
    std::size_t example_ = 0;
    Chain chain_;
};

static_assert(SummingDecoder<ChainDecoder<float, std::int32_t, float>, float>);

/// Learns sequences one by one.
template <class T, class Index, class Value>
using TagPass = StructuredPass<T, ChainDecoder<T, Index, Value>>;

/// The tags of sequence i by the largest mean score.
template <class T, class Index, class Value>
class Tagger {
public:
    Tagger(const Diagonal<T>& weights, const Sequences<Index, Value>& sequences)
        : weights_(weights), decoder_(weights, sequences) {}

    /// Scores of a sequence, by the means that predictions use.
    [[nodiscard]] Chain& chain(std::size_t i) {
        decoder_.load(i, Means::predicting);
        return decoder_.chain();
    }

    void tag(std::size_t i, std::span<std::int32_t> out) {
        chain(i).best(path_);
        std::ranges::copy(path_, out.begin());
    }

    /// Also the lead of each tag over the best path without it: mean and variance of
    /// g = Psi(x, best) - Psi(x, that path).
    void tag(std::size_t i, std::span<std::int32_t> out, std::span<Moments> lead) {
        tag(i, out);
        decoder_.chain().look_back();
        other_ = path_;
        for (std::size_t t = 0; t < out.size(); ++t) {
            lead[t] = {std::numeric_limits<double>::infinity(), 0.0};
            const TokenRange apart = decoder_.chain().best_without(out, t, other_);
            if (apart.begin == apart.end) continue;
            decoder_.difference(out, other_, apart, g_);
            lead[t] = g_.averaged_moments(weights_);
            const auto same = out.subspan(apart.begin, apart.end - apart.begin);
            std::ranges::copy(same, other_.data() + apart.begin);
        }
    }

private:
    const Diagonal<T>& weights_;
    ChainDecoder<T, Index, Value> decoder_;
    Path path_;
    Path other_;
    SparseDifference<T> g_;
};

}  // namespace surelearn
