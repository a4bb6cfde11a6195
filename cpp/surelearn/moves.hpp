// Moves: how far the weights of models have moved from a common start, and one table of all
// of them. Knows runs of numbers only: no models, no classes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/merge.hpp"

namespace surelearn {

/// The layout of a feature's numbers: means of all columns, variances, sums for averaging.
struct RunLayout {
    std::size_t columns;
    bool second_order;
    bool averaged;

    /// The number of sums per weight: moves D, and X and G with variances; then those of the
    /// averaged mean.
    [[nodiscard]] std::size_t n_sums() const noexcept {
        return (second_order ? 3 : 1) + (averaged ? (second_order ? 2 : 1) : 0);
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return columns * (1 + (second_order ? 1 : 0) + (averaged ? 1 : 0));
    }
};

/// Factors that convert stored numbers to those of a margin: `mean` for means, `precision` for
/// inverse variances.
struct Units {
    double mean;
    double precision;
};

/// The number of updates before a model's start, and since.
struct Lifetime {
    double before;
    double since;
};

/// The move of one weight from the start of its model.
template <class T>
struct Move {
    const T* own;    ///< the numbers of its feature
    const T* start;  ///< the same numbers at the start
    RunLayout run;
    std::size_t column;

    [[nodiscard]] bool any() const noexcept {
        for (std::size_t at = column; at < run.size(); at += run.columns) {
            if (own[at] != start[at]) return true;
        }
        return false;
    }

    /// D, then X and G, then the same of the mean over all updates since the start.
    void terms(const Units& units, const Lifetime& life, std::span<double> out) const noexcept {
        const double step = difference(column);
        const double evidence = run.second_order ? units.precision * growth() : 0.0;
        std::size_t n = 0;
        out[n++] = step * units.mean;
        if (run.second_order) {
            out[n++] = out[0] * evidence;
            out[n++] = evidence;
        }
        if (!run.averaged) return;
        const double late = difference(run.size() - run.columns + column);
        const double all = life.before + life.since + 1.0;
        const double average = (step * all - late) / std::max(life.since, 1.0) * units.mean;
        out[n++] = average;
        if (run.second_order) out[n] = average * evidence;
    }

private:
    [[nodiscard]] double difference(std::size_t at) const noexcept {
        return static_cast<double>(own[at]) - static_cast<double>(start[at]);
    }
    [[nodiscard]] double growth() const noexcept {
        const std::size_t at = run.columns + column;
        return 1.0 / static_cast<double>(own[at]) - 1.0 / static_cast<double>(start[at]);
    }
};

/// Combines the moves of one weight in many models.
///
/// A row that moves k weights adds the precision gain g g' along one direction, but a diagonal
/// model keeps only gain g_j^2. Since g g' <= k diag(g^2), the model knows up to k times as much
/// along that direction as its variances say. `tau` is the weight of this evidence relative to the
/// start: 1 adds up the precisions as they are; infinity is the mean of the moves, weighted by
/// evidence.
struct Evidence {
    double tau;
    double prior;   ///< precision of the start
    double growth;  ///< G: precision that all models have added
    double models;  ///< number of models that have moved the weight

    /// The combined move, from the sums D and X.
    [[nodiscard]] double move(double d, double x) const noexcept {
        if (!std::isinf(tau)) return (prior * d + tau * x) / (prior + tau * growth);
        return growth > 0.0 ? x / growth : d / models;
    }

    [[nodiscard]] double precision() const noexcept {
        if (std::isinf(tau)) return prior + growth / models;
        return prior + growth * (prior + tau * growth / models) / (prior + tau * growth);
    }
};

/// Puts what sums come to into the run of a feature, which is at its start.
template <class T>
struct Settling {
    RunLayout run;
    Units units;
    Lifetime life;  ///< of the start, and of all models since
    double tau;

    void apply(T* own, std::size_t column, std::span<const double> sums,
               double models) const noexcept {
        const std::size_t late = run.size() - run.columns + column;
        const auto start = static_cast<double>(own[column]);
        const double before = run.averaged ? static_cast<double>(own[late]) : 0.0;
        double step = sums[0] / models;
        double average = run.averaged ? sums[run.n_sums() - 1] / models : 0.0;
        if (run.second_order) {
            T& variance = own[run.columns + column];
            const double prior = units.precision / static_cast<double>(variance);
            const Evidence all{tau, prior, sums[2], models};
            step = all.move(sums[0], sums[1]);
            if (run.averaged) average = all.move(sums[3], sums[4]);
            // A precision that has no inverse in this type: the least variance there is.
            variance = std::max(static_cast<T>(units.precision / all.precision()),
                                std::numeric_limits<T>::denorm_min());
        }
        own[column] = static_cast<T>(start + step / units.mean);
        if (!run.averaged) return;
        const double rounds = life.before + life.since + 1.0;
        const double moved = static_cast<double>(own[column]) - start;
        own[late] = static_cast<T>(moved * rounds + before - average / units.mean * life.since);
    }
};

/// The features that one model has moved, ascending, and their runs.
template <class T>
struct MovedRuns {
    std::span<const std::int64_t> features;
    const T* cells;
    const T* start;          ///< where the runs started
    std::size_t start_step;  ///< from one start to the next; 0: all runs started from the same
    Units units;
    Lifetime life;
};

/// Merges the moves of a few models feature by feature, with the bits of sums of two digits.
template <class T>
class MovesMerger {
public:
    MovesMerger(std::span<const MovedRuns<T>> models, const Settling<T>& settling)
        : models_(models), settling_(settling) {}

    /// Settles the features in [begin, end). `run_of(feature)` is a run that is at the start. False
    /// if a number does not fit in T.
    template <class RunOf>
    [[nodiscard]] bool run(std::int64_t begin, std::int64_t end, const RunOf& run_of) const {
        std::vector<std::size_t> next;
        for (const auto& model : models_) next.push_back(place_of(model, begin));
        std::vector<Run> runs(models_.size());
        bool finite = true;
        for (;;) {
            const std::int64_t feature = first(next, end);
            if (feature == end) return finite;
            const std::size_t n = take(feature, next, runs);
            T* const own = run_of(static_cast<std::size_t>(feature));
            for (std::size_t k = 0; k < settling_.run.columns; ++k) {
                settle(own, k, std::span(runs).first(n));
            }
            for (std::size_t i = 0; i < settling_.run.size(); ++i) finite &= std::isfinite(own[i]);
        }
    }

private:
    static constexpr std::size_t most_sums = 5;

    struct Run {
        const MovedRuns<T>* model;
        const T* own;
        const T* start;
    };

    [[nodiscard]] static std::size_t place_of(const MovedRuns<T>& model, std::int64_t feature) {
        const auto at = std::ranges::lower_bound(model.features, feature);
        return static_cast<std::size_t>(at - model.features.begin());
    }

    /// The least feature that is not settled yet, `end` if there is none.
    [[nodiscard]] std::int64_t first(std::span<const std::size_t> next,
                                     std::int64_t end) const noexcept {
        std::int64_t least = end;
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto features = models_[i].features;
            if (next[i] < features.size()) least = std::min(least, features[next[i]]);
        }
        return least;
    }

    /// The runs of models that have moved a feature, and their number.
    [[nodiscard]] std::size_t take(std::int64_t feature, std::span<std::size_t> next,
                                   std::span<Run> runs) const noexcept {
        std::size_t n = 0;
        for (std::size_t i = 0; i < next.size(); ++i) {
            const MovedRuns<T>& model = models_[i];
            const std::size_t at = next[i];
            if (at == model.features.size() || model.features[at] != feature) continue;
            const T* const own = model.cells + at * settling_.run.size();
            runs[n++] = {&model, own, model.start + at * model.start_step};
            ++next[i];
        }
        return n;
    }

    void settle(T* own, std::size_t column, std::span<const Run> runs) const noexcept {
        const RunLayout& run = settling_.run;
        const std::size_t S = run.n_sums();
        std::array<ShortSum, most_sums> sums;
        std::array<double, most_sums> terms{};
        int count = 0;
        for (const auto& [model, moved, start] : runs) {
            const Move<T> move{moved, start, run, column};
            if (!move.any()) continue;
            ++count;
            move.terms(model->units, model->life, terms);
            for (std::size_t s = 0; s < S; ++s) sums[s].add(ShortSum::of(terms[s]));
        }
        if (count == 0) return;
        for (std::size_t s = 0; s < S; ++s) terms[s] = sums[s].value();
        settling_.apply(own, column, terms, count);
    }

    std::span<const MovedRuns<T>> models_;
    const Settling<T>& settling_;
};

}  // namespace surelearn
