// Sequences of tokens as structures, with a chain as their decoder.
//
// All weights of a tagger are in one table with a column per label. Its first rows belong to the
// chain: start, end, and for each pair feature p and previous label i the row 2 + p K + i, whose
// column j is the weight of the transition from i to j. Pair feature 0 has the value 1 in every
// transition. The token features follow. So Psi(x, y) touches cells of one table, and merging,
// saving and averaging need not know chains.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/cells.hpp"
#include "surelearn/chain.hpp"
#include "surelearn/chain_sums.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/label_costs.hpp"
#include "surelearn/mean_reader.hpp"
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
    std::span<const double> cost{};     ///< in C order: [right, wrong] tag; empty: 1 if wrong

    [[nodiscard]] std::size_t size() const noexcept { return bounds.size() - 1; }
    [[nodiscard]] const Matrix<Index, Value>& features() const noexcept { return tokens; }
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

/// Computes the scores of a chain from what a reader of weights gives, and the features of paths.
template <class Reader, class Index, class Value>
class ChainFeatures {
public:
    using T = typename Reader::Number;

    ChainFeatures(Reader reader, const Sequences<Index, Value>& sequences)
        : reader_(std::move(reader)),
          sequences_(sequences),
          layout_{reader_.n_columns(), sequences.pairs.n_features()} {}

    [[nodiscard]] const ChainLayout& layout() const noexcept { return layout_; }
    [[nodiscard]] Reader& reader() noexcept { return reader_; }
    [[nodiscard]] bool has_pairs() const noexcept { return layout_.n_pairs > 0; }

    /// The scores of sequence i.
    void load(std::size_t i, Chain& chain) {
        const std::size_t length = sequences_.length(i);
        const bool steps_differ = has_pairs();
        chain.reset(length, layout_.n_labels, steps_differ);
        if (length == 0) return;
        for (std::size_t t = 0; t < length; ++t) {
            const std::size_t r = sequences_.begin(i) + t;
            const std::size_t ahead = t + 1 < length ? r + 1 : r;
            reader_.sum(sequences_.tokens, {r, ahead, layout_.tokens()}, chain.unary(t));
        }
        reader_.add(ChainLayout::start, 1.0, chain.unary(0));
        reader_.add(ChainLayout::end, 1.0, chain.unary(length - 1));
        for (std::size_t t = 1; t < (steps_differ ? length : std::min<std::size_t>(length, 2));
             ++t) {
            each_pair(i, t, [&](std::size_t pair, double x) {
                for (std::size_t before = 0; before < layout_.n_labels; ++before) {
                    reader_.add(layout_.step(pair, before), x, chain.step(t, before));
                }
            });
        }
    }

    /// f(pair feature, value) for the transition to token t; the constant feature comes first.
    template <class F>
    void each_pair(std::size_t i, std::size_t t, const F& f) const {
        f(std::size_t{0}, 1.0);
        if (!has_pairs()) return;
        const auto row = sequences_.pairs.stored(sequences_.begin(i) + t);
        for (std::size_t p = 0; p < row.size(); ++p) f(row.feature(p) + 1, row.x(p));
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
    [[nodiscard]] auto token(std::size_t i, std::size_t t) const noexcept {
        return Shifted<Row<Index, Value>>{sequences_.tokens.stored(sequences_.begin(i) + t),
                                          layout_.tokens()};
    }

    void add_step(std::size_t pair, std::span<const std::int32_t> path, std::size_t t, double x,
                  SparseDifference<T>& g) const {
        g.add(layout_.step(pair, static_cast<std::size_t>(path[t - 1])),
              static_cast<std::size_t>(path[t]), x);
    }

    Reader reader_;
    const Sequences<Index, Value>& sequences_;
    ChainLayout layout_;
};

}  // namespace detail

/// A sequence as a structure: an answer is a path of labels. `Reader` gives the scores of rows,
/// from diagonal weights or from the vector of a batch loss.
template <class Reader, class Index, class Value>
class ChainDecoder {
public:
    using Data = Sequences<Index, Value>;
    using Answer = Path;
    using Truth = std::span<const std::int32_t>;
    static constexpr bool graded = false;
    using T = typename Reader::Number;

    template <class W>
        requires std::constructible_from<Reader, const W&>
    ChainDecoder(const W& weights, const Data& sequences)
        : sequences_(sequences), features_(Reader(weights), sequences) {}

    [[nodiscard]] bool empty(std::size_t i) const noexcept { return sequences_.length(i) == 0; }
    [[nodiscard]] Truth truth(std::size_t i) const noexcept {
        return sequences_.y.subspan(sequences_.begin(i), sequences_.length(i));
    }

    void load(std::size_t i, Means means) {
        features_.reader().use(means);
        load(i);
    }
    void load(std::size_t i) {
        example_ = i;
        features_.load(i, chain_);
        if (features_.has_pairs()) changed();  // each sequence has its own transitions
    }
    [[nodiscard]] Chain& chain() noexcept { return chain_; }
    [[nodiscard]] bool finite() const noexcept { return chain_.has_finite_labels(); }

    void best(Path& path) { chain_.best(path); }
    [[nodiscard]] bool same(Truth y, const Path& path) const noexcept {
        return std::ranges::equal(y, path);
    }
    [[nodiscard]] bool best_other(Truth y, Path& path) { return chain_.best_other(y, path); }
    [[nodiscard]] std::vector<Path> k_best(std::size_t k) { return chain_.k_best(k); }

    /// Adds the cost of each wrong tag to its score.
    void augment_loss(Truth y) noexcept {
        for (std::size_t t = 0; t < y.size(); ++t) costs().add(y[t], chain_.unary(t));
    }
    /// The sum of the costs of wrong tags.
    [[nodiscard]] double distance(Truth y, const Path& path) const noexcept {
        return costs().between(y, path);
    }

    void difference(Truth y, const Path& path, SparseDifference<T>& g) const {
        difference(y, path, {0, y.size()}, g);
    }
    /// The same for paths that differ only within `apart`.
    void difference(Truth y, const Path& path, TokenRange apart, SparseDifference<T>& g) const {
        features_.difference(example_, y, path, apart, g);
    }

    [[nodiscard]] double score(Truth y) const noexcept { return chain_.score(y); }
    /// [token, label].
    void marginals(std::vector<double>& p) {
        p.resize(chain_.length() * chain_.n_labels());
        chain_.marginals(p);
    }

    // -------------------------------------------------------------- batch losses

    /// The rows of the table that no token feature has: start, end and transitions come first.
    [[nodiscard]] RowRange own_rows() const noexcept { return {0, features_.layout().tokens()}; }
    [[nodiscard]] std::size_t first_feature() const noexcept { return features_.layout().tokens(); }
    /// The token rows of sequence i.
    [[nodiscard]] RowRange rows(std::size_t i) const noexcept {
        return {sequences_.begin(i), sequences_.begin(i) + sequences_.length(i)};
    }
    /// Call this if weights have changed since the last sequence.
    void changed() noexcept { sums_.forget_steps(); }
    [[nodiscard]] Reader& reader() noexcept { return features_.reader(); }

    /// parts += c times the parts of a path.
    void add_answer(double c, Truth y, const Parts& parts) const {
        const std::size_t K = chain_.n_labels();
        const auto own = [&](std::size_t row, std::int32_t j) -> double& {
            return parts.own[row * K + static_cast<std::size_t>(j)];
        };
        for (std::size_t t = 0; t < y.size(); ++t) {
            parts.rows[t * K + static_cast<std::size_t>(y[t])] += c;
            if (t == 0) continue;
            features_.each_pair(example_, t, [&](std::size_t pair, double x) {
                own(features_.layout().step(pair, static_cast<std::size_t>(y[t - 1])), y[t]) +=
                    c * x;
            });
        }
        own(ChainLayout::start, y[0]) += c;
        own(ChainLayout::end, y[y.size() - 1]) += c;
    }

    /// parts += c times their expectation, for Pr[y] proportional to exp(score(y)); log Z.
    double add_expectation(double c, const Parts& parts) {
        const double log_z = sum_paths();
        add_probabilities([c](double p, double x) { return c * p * x; }, parts, Pairs::together);
        return log_z;
    }

    /// parts += c times their variances, as if the tokens were independent of each other.
    void add_variance(double c, const Parts& parts) {
        sum_paths();
        // Rounding may leave a marginal just above 1.
        const auto variance = [c](double p, double x) {
            return c * p * std::max(0.0, 1.0 - p) * x * x;
        };
        add_probabilities(variance, parts, Pairs::apart);
    }

private:
    [[nodiscard]] LabelCosts costs() const noexcept { return {sequences_.cost, chain_.n_labels()}; }

    /// Computes the probabilities of labels and pairs; log Z.
    double sum_paths() {
        scaled_ = sums_.sweep(chain_);
        if (scaled_) return sums_.log_partition();
        const double log_z = chain_.log_partition();
        marginals(single_);
        const std::size_t K = chain_.n_labels();
        pairs_.resize(chain_.length() < 2 ? 0 : (chain_.length() - 1) * K * K);
        chain_.pair_marginals(pairs_);
        return log_z;
    }

    [[nodiscard]] std::span<const double> of_token(std::size_t t) const noexcept {
        const std::size_t K = chain_.n_labels();
        return scaled_ ? sums_.marginals(t) : std::span(single_).subspan(t * K, K);
    }

    /// Adds value(probability, feature value) of every part.
    template <class F>
    void add_probabilities(const F& value, const Parts& parts, Pairs pairs) {
        const std::size_t K = chain_.n_labels();
        const std::size_t length = chain_.length();
        const auto add = [&](std::span<const double> p, double x, double* to) {
            for (std::size_t j = 0; j < K; ++j) to[j] += value(p[j], x);
        };
        for (std::size_t t = 0; t < length; ++t) {
            add(of_token(t), 1.0, parts.rows.data() + t * K);
        }
        if (length == 0) return;
        add(of_token(0), 1.0, parts.own.data() + ChainLayout::start * K);
        add(of_token(length - 1), 1.0, parts.own.data() + ChainLayout::end * K);
        each_pair(pairs, [&](std::size_t t, std::size_t i, std::span<const double> p) {
            features_.each_pair(example_, t, [&](std::size_t pair, double x) {
                add(p, x, parts.own.data() + features_.layout().step(pair, i) * K);
            });
        });
    }

    template <class F>
    void each_pair(Pairs pairs, const F& f) {
        if (scaled_) return sums_.each_pair(pairs, f);
        const std::size_t K = chain_.n_labels();
        for (std::size_t t = 1; t < chain_.length(); ++t) {
            for (std::size_t i = 0; i < K; ++i) {
                f(t, i, std::span<const double>(pairs_).subspan(((t - 1) * K + i) * K, K));
            }
        }
    }

    const Data& sequences_;
    detail::ChainFeatures<Reader, Index, Value> features_;
    std::size_t example_ = 0;
    Chain chain_;
    ChainSums sums_;
    bool scaled_ = false;
    std::vector<double> single_;
    std::vector<double> pairs_;
};

template <class T, class Index, class Value>
using OnlineChain = ChainDecoder<MeanReader<T>, Index, Value>;

static_assert(Decoder<OnlineChain<float, std::int32_t, float>, float>);

/// The cells that occur in labelled sequences: each feature with the labels of its tokens, and each
/// start, end and transition.
template <class Index, class Value>
[[nodiscard]] LabelSets observed(const Sequences<Index, Value>& sequences, std::size_t n_labels) {
    const ChainLayout layout{n_labels, sequences.pairs.n_features()};
    LabelSets sets(layout.tokens() + sequences.tokens.n_features(), n_labels);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        const std::size_t length = sequences.length(i);
        const auto y = sequences.y.subspan(sequences.begin(i), length);
        for (std::size_t t = 0; t < length; ++t) {
            const auto row = sequences.tokens.stored(sequences.begin(i) + t);
            for (std::size_t p = 0; p < row.size(); ++p) {
                sets.add(layout.tokens() + row.feature(p), y[t]);
            }
            if (t == 0) continue;
            const auto before = static_cast<std::size_t>(y[t - 1]);
            sets.add(layout.step(0, before), y[t]);
            const auto pairs = sequences.pairs.stored(sequences.begin(i) + t);
            for (std::size_t p = 0; p < pairs.size(); ++p) {
                sets.add(layout.step(pairs.feature(p) + 1, before), y[t]);
            }
        }
        if (length == 0) continue;
        sets.add(ChainLayout::start, y.front());
        sets.add(ChainLayout::end, y.back());
    }
    return sets;
}

/// Learns sequences one by one.
template <class T, class Index, class Value>
using TagPass = StructuredPass<T, OnlineChain<T, Index, Value>>;

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
    OnlineChain<T, Index, Value> decoder_;
    Path path_;
    Path other_;
    SparseDifference<T> g_;
};

}  // namespace surelearn
