// Batch losses over anything with a PartDecoder: value, gradient and curvature. Knows no kind of
// structure.
//
//     log loss   sum_i weight_i (log Z_i - w . Psi(x_i, y_i)),  gradient  E[Psi] - Psi(x, y)
//     hinge      sum_i weight_i max_z (Delta(y_i, z) + w . Psi(x_i, z)) - w . Psi(x_i, y_i)
//
// Examples are split into slices, and every sum has a fixed order: the number of threads changes no
// bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "surelearn/by_feature.hpp"
#include "surelearn/cells.hpp"
#include "surelearn/column_sums.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/structured.hpp"

namespace surelearn {

/// `D<Reader>` is the decoder of examples with a reader of scores.
template <template <class> class D>
    requires PartDecoder<D<FlatWeights>> && PartDecoder<D<PackedReader>>
class BatchLoss {
public:
    using Data = typename D<FlatWeights>::Data;

    /// Empty weights: all 1.
    BatchLoss(const Data& data, std::span<const double> weight, const Cells& cells)
        : data_(data), weight_(weight), cells_(cells) {
        if (cells.all()) {
            features_.emplace(data.features());
        } else {
            const FlatWeights none(cells, {});
            packed_.emplace(cells, data.features(), D<FlatWeights>(none, data).first_feature());
        }
    }

    [[nodiscard]] double log_loss(std::span<const double> w, std::span<double> gradient,
                                  std::size_t threads) {
        const auto log_loss = [](auto& decoder, double c, auto y, const Parts& parts) {
            const double score = decoder.score(y);
            const double log_z = decoder.add_expectation(c, parts);
            decoder.add_answer(-c, y, parts);
            return c * (log_z - score);
        };
        return sum(w, gradient, threads, Power::one, log_loss);
    }

    /// The diagonal of the Hessian of the log loss.
    void curvature(std::span<const double> w, std::span<double> out, std::size_t threads) {
        sum(w, out, threads, Power::two, [](auto& decoder, double c, auto, const Parts& parts) {
            decoder.add_variance(c, parts);
            return 0.0;
        });
    }

    [[nodiscard]] double hinge_loss(std::span<const double> w, std::size_t threads) const {
        const FlatWeights weights(cells_, w);
        const auto hinge = [](auto& decoder, double c, auto y, auto, auto) {
            const double own = decoder.score(y);
            typename D<FlatWeights>::Answer rival{};
            decoder.augment_loss(y);
            decoder.best(rival);
            return c * std::max(0.0, decoder.score(rival) - own);
        };
        return over_examples<FlatWeights>(weights, threads, n_slices, hinge);
    }

private:
    /// Examples are summed in so many slices, whatever the number of threads. Each slice of listed
    /// cells has sums of its own, so there are fewer.
    static constexpr std::size_t n_slices = 32;
    static constexpr std::size_t n_listed_slices = 4;
    /// The power of feature values: one in gradients, two in curvatures.
    enum class Power { one, two };

    /// Sums f(decoder, weight, y, parts) over all examples, and the parts over all cells.
    template <class F>
    double sum(std::span<const double> w, std::span<double> out, std::size_t threads, Power power,
               const F& f) {
        return cells_.all() ? sum_all(w, out, threads, power, f)
                            : sum_listed(w, out, threads, power, f);
    }

    /// The sum of f(decoder, weight, y, example, slice) over all examples.
    template <class Reader, class Weights, class F>
    double over_examples(const Weights& weights, std::size_t threads, std::size_t slices,
                         const F& f) const {
        std::vector<double> values(slices, 0.0);
        parallel_for(slices, threads, [&](std::size_t first, std::size_t last) {
            D<Reader> decoder(weights, data_);
            for (std::size_t s = first; s < last; ++s) {
                const std::size_t end = data_.size() * (s + 1) / slices;
                for (std::size_t i = data_.size() * s / slices; i < end; ++i) {
                    if (decoder.empty(i)) continue;
                    decoder.load(i);
                    const double c = weight_.empty() ? 1.0 : weight_[i];
                    values[s] += f(decoder, c, decoder.truth(i), i, s);
                }
            }
        });
        return std::accumulate(values.begin(), values.end(), 0.0);
    }

    /// All cells: first each example, which writes the coefficients of its rows, then each feature,
    /// which sums those of the rows that have it. No cell is summed by two threads.
    template <class F>
    double sum_all(std::span<const double> w, std::span<double> out, std::size_t threads,
                   Power power, const F& f) {
        const std::size_t K = cells_.n_columns;
        const FlatWeights weights(cells_, w);
        const D<FlatWeights> layout(weights, data_);
        const RowRange own_rows = layout.own_rows();
        coefficients_.assign(data_.features().size() * K, 0.0);
        sums_.assign(n_slices, std::vector<double>(own_rows.size() * K, 0.0));
        const auto one = [&](auto& decoder, double c, auto y, std::size_t i, std::size_t s) {
            const RowRange rows = decoder.rows(i);
            const Parts parts{std::span(coefficients_).subspan(rows.begin * K, rows.size() * K),
                              sums_[s]};
            return f(decoder, c, y, parts);
        };
        const double value = over_examples<FlatWeights>(weights, threads, n_slices, one);
        add_slices();
        std::ranges::copy(sums_[0], out.begin() + static_cast<std::ptrdiff_t>(own_rows.begin * K));
        parallel_for(n_slices, threads, [&](std::size_t first, std::size_t last) {
            const std::size_t end = features_->cut(last, n_slices);
            for (std::size_t j = features_->cut(first, n_slices); j < end; ++j) {
                sum_feature(j, power, out.subspan((layout.first_feature() + j) * K, K));
            }
        });
        return value;
    }

    void sum_feature(std::size_t j, Power power, std::span<double> out) const {
        const ByFeature::Column column = features_->column(j);
        const auto at = [&](std::size_t p) {
            return coefficients_.data() + column.row[p] * cells_.n_columns;
        };
        if (power == Power::one) return sum_columns(at, column, out);
        sum_columns(at, Squared{column}, out);
    }

    struct Squared {
        const ByFeature::Column& column;
        [[nodiscard]] std::size_t size() const noexcept { return column.size(); }
        [[nodiscard]] double x(std::size_t p) const noexcept { return column.x(p) * column.x(p); }
    };

    /// Listed cells: each example adds to the sums of its slice at once. Their numbers fit into the
    /// cache, which the coefficients of all rows would not.
    template <class F>
    double sum_listed(std::span<const double> w, std::span<double> out, std::size_t threads,
                      Power power, const F& f) {
        const std::size_t K = cells_.n_columns;
        packed_->load(w);
        const RowRange own_rows = D<PackedReader>(*packed_, data_).own_rows();
        sums_.resize(n_listed_slices);
        for (auto& sums : sums_) sums.assign(packed_->size(), 0.0);
        std::vector<std::vector<double>> own(n_listed_slices,
                                             std::vector<double>(own_rows.size() * K, 0.0));
        std::vector<std::vector<double>> rows(n_listed_slices);
        const auto one = [&](auto& decoder, double c, auto y, std::size_t i, std::size_t s) {
            rows[s].assign(decoder.rows(i).size() * K, 0.0);
            const double value = f(decoder, c, y, Parts{rows[s], own[s]});
            scatter(decoder.rows(i), power, rows[s], sums_[s]);
            return value;
        };
        const double value = over_examples<PackedReader>(*packed_, threads, n_listed_slices, one);
        for (std::size_t s = 0; s < n_listed_slices; ++s) {
            for (std::size_t j = own_rows.begin; j < own_rows.end; ++j) {
                const auto from = std::span<const double>(own[s]);
                packed_->scatter(j, from.subspan((j - own_rows.begin) * K, K), sums_[s]);
            }
        }
        add_slices();
        packed_->unload(sums_[0], out);
        return value;
    }

    void scatter(const RowRange& rows, Power power, std::span<const double> coefficients,
                 std::span<double> sums) const {
        const std::size_t K = cells_.n_columns;
        const auto add = [&](const auto& f) {
            for (std::size_t r = rows.begin; r < rows.end; ++r) {
                packed_->scatter_row(r, coefficients.subspan((r - rows.begin) * K, K), f, sums);
            }
        };
        if (power == Power::one) return add([](double x) { return x; });
        add([](double x) { return x * x; });
    }

    /// Adds the sums of all slices to those of the first.
    void add_slices() {
        for (std::size_t s = 1; s < sums_.size(); ++s) {
            for (std::size_t e = 0; e < sums_[0].size(); ++e) sums_[0][e] += sums_[s][e];
        }
    }

    const Data& data_;
    std::span<const double> weight_;
    Cells cells_;
    std::optional<ByFeature> features_;
    std::optional<PackedCells> packed_;
    std::vector<double> coefficients_;       ///< [row, column]
    std::vector<std::vector<double>> sums_;  ///< of each slice
};

}  // namespace surelearn
