// Diagonal weights: one mean and one variance for each feature and class.
// Knows rows and steps, not rules or right labels. Sides and scores are indexed by label, quads by
// column of the table. All arithmetic is in double; T is the storage type.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/column_sums.hpp"
#include "surelearn/gaussian.hpp"
#include "surelearn/gaussian_pairs.hpp"
#include "surelearn/journal.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weight_table.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

template <class T>
class Diagonal : public WeightTable<T> {
public:
    using Base = WeightTable<T>;
    using Base::average_at, Base::capacity, Base::cell, Base::column, Base::order, Base::rounds;
    using SomeRow = Row<std::int32_t, float>;
    using Number = T;
    using Work = Journal<T>;
    static constexpr bool fetches_ahead = true;
    static constexpr bool holds_coded_problems = true;
    static constexpr bool holds_classes = true;
    static constexpr bool bounds_variance = false;
    static constexpr bool touches_all_weights = false;
    /// A projected step does not meet its constraint exactly.
    static constexpr bool meets_one_constraint = false;
    /// A scale-free rule rescales its weights once every variance is below this.
    static constexpr double least_in_range = sizeof(T) == 4 ? 1e-15 : 1e-100;
    /// The scores of so many columns are summed in registers.
    static constexpr std::size_t columns_in_registers = 20;

    explicit Diagonal(const Shape& shape) : Base(shape) {}
    explicit Diagonal(Base table) : Base(std::move(table)) {}

    /// Prefetches the weights of a row's features [begin, end) into the second-level cache: the
    /// first level allows too few outstanding requests. Force-inlined, since gcc removes calls of a
    /// function that only prefetches.
    template <class R>
    [[gnu::always_inline]] void prefetch(const R& row, std::size_t begin,
                                         std::size_t end) const noexcept {
        constexpr std::size_t line = 64 / sizeof(T);
        const std::size_t stride = this->stride();
        const std::size_t last = std::min(end, row.size());
        if (stride == 2) {  // the pairs of two classes, in a shorter loop
            for (std::size_t p = begin; p < last; ++p) {
                __builtin_prefetch(pairs().at(row.feature(p)), 0, 2);
            }
            return;
        }
        for (std::size_t p = begin; p < last; ++p) {
            const T* const at = cell(row.feature(p));
            for (std::size_t k = 0; k < stride; k += line) {
                __builtin_prefetch(at + k, 0, 2);
            }
        }
    }

    /// Mean and variance of the margin of the only column: m = mu.x, v = sum_j sigma_j x_j^2.
    /// Prefetches the weights of the row `ahead` between the features of this one.
    template <class R>
    [[nodiscard]] Moments margin(const R& row, const R& ahead = {}) const noexcept {
        if (!shape_.second_order) return margin_of<false>(row, ahead);
        if (shape_.averaged) return margin_of<true>(row, ahead);
        Moments sums;
        with_values(row, [&](const auto& x) { sum_pairs(pairs(), x, ahead.features(), sums); });
        return sums;
    }

    /// The same for g = sign x.
    template <class R>
    [[nodiscard]] Moments moments(const R& row, const std::array<Side, 1>& g, const R& ahead,
                                  Work&) const noexcept {
        const Moments unsigned_margin = margin(row, ahead);
        return {g[0].sign * unsigned_margin.m, unsigned_margin.v};
    }

    /// The mean score of each column into `s`. `ahead` as for `margin`.
    template <class R>
    void scores(const R& row, std::span<double> s, const R& ahead = {}) const noexcept {
        if (s.size() > columns_in_registers) return moments(row, s, {}, {}, ahead);
        std::size_t sent = 0;  // if there are several sweeps, the first sends all requests
        const auto at = [&](std::size_t p) __attribute__((always_inline)) {
            if (p == sent) prefetch(ahead, p, ++sent);
            return cell(row.feature(p));
        };
        with_values(row, [&](const auto& x) { sum_columns(at, x, s); });
        prefetch(ahead, sent, ahead.size());
        if (shape_.intercept) {
            const T* const last = cell(shape_.n_features);
            for (std::size_t b = 0; b < s.size(); ++b) s[b] += last[b];
        }
        order().sort(s);
    }

    /// The same, and in the same loop the variances of the columns in the quads, in their order.
    template <class R>
    void moments(const R& row, std::span<double> s, std::span<double> v,
                 std::span<const Quad> quads, const R& ahead) const noexcept {
        with_values(row,
                    [&](const auto& x) { sum_moments<false>(x, s, v, quads, ahead.features()); });
        order().sort(s);
    }
    /// Only the columns in the quads: means and variances in their order.
    template <class R>
    void moments_of(std::span<const Quad> quads, const R& row, std::span<double> s,
                    std::span<double> v, const R& ahead) const noexcept {
        with_values(row,
                    [&](const auto& x) { sum_moments<true>(x, s, v, quads, ahead.features()); });
    }

    /// The mean score of every column with the averaged means.
    template <class R>
    void averaged_scores(const R& row, std::span<double> s) const noexcept {
        widen([=, this, &row]() SURELEARN_INLINED {
            std::ranges::fill(s, 0.0);
            const auto c = static_cast<double>(rounds() + 1);
            shape_.each_feature(row, [&](std::size_t j, double x) {
                const T* const at = cell(j);
                const T* const q = at + average_at();
                for (std::size_t b = 0; b < s.size(); ++b) s[b] += average_of(at[b], q[b], c) * x;
            });
            order().sort(s);
        });
    }

    /// The variance of g, which has two sides; first-order weights have sigma = I.
    template <class R>
    [[nodiscard]] double variance(const R& row, const std::array<Side, 2>& g,
                                  Work&) const noexcept {
        const auto sides = in_columns(g);
        DoublePair v{};
        const auto add = [&](std::size_t j, double x) {
            v += DoublePair{stored_sigma(j, sides[0].column), stored_sigma(j, sides[1].column)} *
                 (x * x);
        };
        with_values(row, [&](const auto& entries) { shape_.each_feature(entries, add); });
        return v[0] + v[1];
    }

    /// The variance of every column's score.
    template <class R>
    void variances(const R& row, std::span<double> v) const noexcept {
        std::ranges::fill(v, 0.0);
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (std::size_t b = 0; b < v.size(); ++b) v[b] += stored_sigma(j, b) * (x * x);
        });
        order().sort(v);
    }

    /// The contributions a_j = sigma_j g_j^2 of all weights that g touches.
    template <std::size_t N, class R>
    [[nodiscard]] std::span<const double> shares(const R& row, const std::array<Side, N>& g, double,
                                                 std::vector<double>& out) const {
        const auto sides = in_columns(g);
        out.clear();
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (const Side& side : sides) out.push_back(stored_sigma(j, side.column) * (x * x));
        });
        return out;
    }

    /// mu += alpha sigma g, and sigma^-1 += gain g g' without what the projection drops. g has sign
    /// * x in the column of each side, and v is its variance. If a variance would become zero or a
    /// number not finite, nothing changes and it returns false. `ahead` as for `margin`.
    template <std::size_t N, class R>
    [[nodiscard]] bool update(const R& row, const std::array<Side, N>& g, const Step& step,
                              double v, Projection projection, Journal<T>& journal,
                              const R& ahead = {}) {
        const auto sides = in_columns(g);
        const bool safe = this->grow_safely(step, row.largest);
        if (safe && shape_.second_order && !shape_.averaged) {
            with_shrink(projection, step.gain, v, [&](const auto& shrink) {
                move_surely(row, sides, step.alpha, shrink, ahead);
            });
            return true;
        }
        prefetch(ahead, 0, ahead.size());
        journal.reserve((row.size() + 2) * N);
        bool sound = false;
        if (!shape_.second_order) {
            sound = move_means(row, sides, step.alpha, journal);
        } else {
            sound = with_shrink(projection, step.gain, v, [&](const auto& shrink) {
                return move_gaussians(row, sides, step.alpha, shrink, journal);
            });
        }
        if (sound && shape_.averaged) {
            sound = average_is_finite(row, sides, journal);
            if (sound) add_to_average(row, sides, journal);
        }
        if (!sound) take_back(row, sides, journal);
        return sound;
    }

    /// For scale-free rules: when every variance has fallen below the safe range, multiplies sigma
    /// by c^2 and mu by c, with c a power of two so that no bit is lost. Columns of classes that
    /// are not known yet do not count (`known` empty: all are known).
    void keep_in_range(std::span<const std::uint8_t> known = {}) noexcept {
        const std::size_t count = shape_.n_rows() * capacity();
        // Variances only fall, so those before the witness need not be checked again.
        for (std::size_t& witness = this->memory().witness; witness < count; ++witness) {
            const std::size_t b = witness % capacity();
            if (this->counts(known, b) && stored_sigma(witness / capacity(), b) >= least_in_range)
                return;
        }
        look_again();
        if (count > 0) rescale(known);
    }

    /// Call it when a class becomes known: its variances count from now on.
    void look_again() noexcept { this->memory().witness = 0; }

    /// Mean of one weight; with averaging, the average over all rounds.
    [[nodiscard]] double mean(std::size_t j, std::size_t k) const noexcept {
        const T* const at = cell(j) + column(k);
        const auto c = static_cast<double>(rounds() + 1);
        return shape_.averaged ? average_of(at[0], at[average_at()], c) : at[0];
    }

    /// Variance of one weight; 1 for first-order weights.
    [[nodiscard]] double sigma(std::size_t j, std::size_t k) const noexcept {
        return stored_sigma(j, column(k));
    }

    [[nodiscard]] Diagonal with_columns(std::span<const std::int64_t> from,
                                        std::size_t room = 0) const {
        return Diagonal(Base::with_columns(from, room));
    }
    [[nodiscard]] std::optional<Diagonal> extended(std::span<const std::int64_t> from) {
        auto table = Base::extended(from);
        if (!table) return std::nullopt;
        return Diagonal(*std::move(table));
    }
    [[nodiscard]] Diagonal with_features(std::span<const std::int64_t> from) const {
        return Diagonal(Base::with_features(from));
    }

    /// The one vector of two classes as two blocks: means -mu/2 and +mu/2, variance sigma/2 each.
    /// The margin and its variance do not change. The prior is halved as well.
    [[nodiscard]] Diagonal split() const { return Diagonal(this->both_sides(T{0.5})); }

    /// The one vector as two problems of a reduction: means -mu and +mu, variance sigma each.
    /// (`split` makes two parts of one problem.)
    [[nodiscard]] Diagonal mirrored() const { return Diagonal(this->both_sides(T{1})); }

private:
    using Base::shape_;

    template <std::size_t N>
    [[nodiscard]] std::array<Side, N> in_columns(std::array<Side, N> g) const noexcept {
        for (Side& side : g) side.column = column(side.column);
        return g;
    }

    /// The variance in a column of the table.
    [[nodiscard]] double stored_sigma(std::size_t j, std::size_t b) const noexcept {
        return shape_.second_order ? static_cast<double>(cell(j)[capacity() + b]) : 1.0;
    }

    /// |x|^2 with the intercept: the variance of every score of first-order weights.
    template <class R>
    [[nodiscard]] double length(const R& row) const noexcept {
        double sum = 0.0;
        shape_.each_feature(row, [&](std::size_t, double x) { sum += x * x; });
        return sum;
    }

    /// The moments of all columns in the order of the table, or only of those in the quads.
    template <bool some, class R, class A>
    void sum_moments(const R& row, std::span<double> s, std::span<double> v,
                     std::span<const Quad> quads, const A& ahead) const noexcept {
        widen([=, this, &row, &ahead]() SURELEARN_INLINED {
            const bool alike = !shape_.second_order && !v.empty();
            const Quads means(some ? quads : std::span<const Quad>{});
            const Quads variances(alike ? std::span<const Quad>{} : quads);
            std::ranges::fill(s, 0.0);
            std::ranges::fill(v, alike ? length(row) : 0.0);
            // Adds the contributions of a few features.
            const auto add = [&]<std::size_t N>(std::array<const T*, N> at, std::array<double, N> x)
                                 __attribute__((always_inline)) {
                                     if constexpr (!some) add_products(at, x, s.data(), s.size());
                                     add_quads(means, at, x, s.data());
                                     if (variances.empty()) return;
                                     for (std::size_t i = 0; i < N; ++i) at[i] += capacity();
                                     for (std::size_t i = 0; i < N; ++i) x[i] *= x[i];
                                     add_quads(variances, at, x, v.data());
                                 };
            const auto at = [&](std::size_t p) { return cell(row.feature(p)); };
            const std::size_t n = row.size();
            std::size_t p = 0;
            for (; p + 4 <= n; p += 4) {
                prefetch(ahead, p, p + 4);
                add(std::array{at(p), at(p + 1), at(p + 2), at(p + 3)},
                    std::array{row.x(p), row.x(p + 1), row.x(p + 2), row.x(p + 3)});
            }
            prefetch(ahead, p, ahead.size());
            for (; p < n; ++p) add(std::array{at(p)}, std::array{row.x(p)});
            if (shape_.intercept) add(std::array{cell(shape_.n_features)}, std::array{1.0});
        });
    }

    /// Sums even and odd features separately: additions to one sum do not wait for the other.
    template <bool second_order, class R>
    [[nodiscard]] Moments margin_of(const R& row, const R& ahead) const noexcept {
        DoublePair even{}, odd{};
        const auto term = [&](std::size_t j, double x) {
            const T* const at = cell(j);
            return DoublePair{at[0], second_order ? at[1] : T{1}} * DoublePair{x, x * x};
        };
        const auto add_two = [&](std::size_t p) {
            even += term(row.feature(p), row.x(p));
            odd += term(row.feature(p + 1), row.x(p + 1));
        };
        const std::size_t n = row.size();
        const std::size_t shared = std::min(n, ahead.size());
        std::size_t p = 0;
        for (; p + 2 <= shared; p += 2) {
            __builtin_prefetch(cell(ahead.feature(p)), 0, 2);
            __builtin_prefetch(cell(ahead.feature(p + 1)), 0, 2);
            add_two(p);
        }
        prefetch(ahead, p, ahead.size());
        for (; p + 2 <= n; p += 2) add_two(p);
        if (p < n) even += term(row.feature(p), row.x(p));
        if (shape_.intercept) odd += term(shape_.n_features, 1.0);
        const DoublePair sum = even + odd;
        return {sum[0], sum[1]};
    }

    [[nodiscard]] GaussianPairs<const T> pairs() const noexcept {
        return {cell(0), shape_.n_features, shape_.intercept};
    }
    [[nodiscard]] GaussianPairs<T> pairs() noexcept {
        return {cell(0), shape_.n_features, shape_.intercept};
    }

    /// The update where none can fail.
    template <class R, class Shrink>
    void move_surely(const R& row, const std::array<Side, 1>& sides, double alpha,
                     const Shrink& shrink, const R& ahead) noexcept {
        with_values(row, [&](const auto& x) {
            move_pairs(pairs(), x, alpha * sides[0].sign, shrink, ahead.features());
        });
    }
    template <class R, class Shrink>
    void move_surely(const R& row, const std::array<Side, 2>& sides, double alpha,
                     const Shrink& shrink, const R& ahead) noexcept {
        const auto move = [&](const auto& entries) {
            const auto at = [&](std::size_t p)
                                __attribute__((always_inline)) { return cell(entries.feature(p)); };
            move_columns(at, entries, sides, capacity(), alpha, shrink);
        };
        prefetch(ahead, 0, ahead.size());
        with_values(row, move);
        if (shape_.intercept) move(Intercept{shape_.n_features});
    }

    /// Two weights at a time: both sides of one feature, or two features of the only side.
    template <std::size_t N, class R, class Shrink>
    [[nodiscard]] bool move_gaussians(const R& row, const std::array<Side, N>& sides, double alpha,
                                      const Shrink& shrink, Journal<T>& journal) {
        return widen([=, this, &row, &sides, &shrink, &journal]() SURELEARN_INLINED {
            static_assert(N == 1 || N == 2);
            const std::size_t K = N == 1 ? 1 : capacity();
            const DoublePair signed_alpha{alpha * sides[0].sign, alpha * sides[N - 1].sign};
            auto* old = journal.entries.data();
            TwoMask sound{-1, -1};
            const auto move = [&](T* a, T* b, DoublePair x) {
                DoublePair mu{a[0], b[0]};
                DoublePair sigma{a[K], b[K]};
                move_mean<2>(mu, signed_alpha, sigma, x);
                shrink(sigma, sigma * (x * x));
                check_mean<T, 2>(mu, sound);
                check_variance<T, 2>(sigma, sound);
                old[0] = {a[0], a[K]};
                old[1] = {b[0], b[K]};
                old += 2;
                a[0] = static_cast<T>(mu[0]);
                a[K] = static_cast<T>(sigma[0]);
                b[0] = static_cast<T>(mu[1]);
                b[K] = static_cast<T>(sigma[1]);
            };
            if constexpr (N == 2) {
                shape_.each_feature(row, [&](std::size_t j, double x) {
                    move(cell(j) + sides[0].column, cell(j) + sides[1].column, DoublePair{x, x});
                });
            } else {
                const std::size_t n = row.size() + (shape_.intercept ? 1 : 0);
                for (std::size_t p = 0; p < n; p += 2) {
                    // A single last feature is processed twice: the same numbers are written twice.
                    const std::size_t q = p + 1 < n ? p + 1 : p;
                    const bool both = q < row.size();
                    T* const a = cell(p < row.size() ? row.feature(p) : shape_.n_features);
                    T* const b = cell(both ? row.feature(q) : shape_.n_features);
                    move(a, b, DoublePair{p < row.size() ? row.x(p) : 1.0, both ? row.x(q) : 1.0});
                }
            }
            return sound[0] != 0 && sound[1] != 0;
        });
    }

    template <std::size_t N, class R>
    [[nodiscard]] bool move_means(const R& row, const std::array<Side, N>& sides, double alpha,
                                  Journal<T>& journal) {
        bool sound = true;
        auto* old = journal.entries.data();
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (const Side& side : sides) {
                T& kept = cell(j)[side.column];
                *old++ = {kept, T{1}};
                double mu = kept;
                move_mean(mu, alpha * side.sign, 1.0, x);
                check_mean<T>(mu, sound);
                kept = static_cast<T>(mu);
            }
        });
        return sound;
    }

    template <std::size_t N, class R>
    void take_back(const R& row, const std::array<Side, N>& sides, const Journal<T>& journal) {
        const auto* old = journal.entries.data();
        shape_.each_feature(row, [&](std::size_t j, double) {
            for (const Side& side : sides) {
                cell(j)[side.column] = old->mu;
                if (shape_.second_order) cell(j)[capacity() + side.column] = old->sigma;
                ++old;
            }
        });
    }

    /// f(sum for averaging, its new value) for each weight that g has moved.
    template <std::size_t N, class R, class F>
    void each_average(const R& row, const std::array<Side, N>& sides, const Journal<T>& journal,
                      F&& f) {
        const auto c = static_cast<double>(rounds() + 1);
        const auto* old = journal.entries.data();
        shape_.each_feature(row, [&](std::size_t j, double) {
            for (const Side& side : sides) {
                T& q = cell(j)[average_at() + side.column];
                f(q, average_after(q, c, cell(j)[side.column], old->mu));
                ++old;
            }
        });
    }

    template <std::size_t N, class R>
    [[nodiscard]] bool average_is_finite(const R& row, const std::array<Side, N>& sides,
                                         const Journal<T>& journal) {
        bool sound = true;
        each_average(row, sides, journal, [&](T&, double sum) { check_mean<T>(sum, sound); });
        return sound;
    }

    template <std::size_t N, class R>
    void add_to_average(const R& row, const std::array<Side, N>& sides, const Journal<T>& journal) {
        each_average(row, sides, journal, [](T& q, double sum) { q = static_cast<T>(sum); });
    }

    void rescale(std::span<const std::uint8_t> known) noexcept {
        double largest_mu = 0.0;
        double largest_sigma = 0.0;
        this->each_number([&](T& number, bool variance, std::size_t b) {
            double& most = variance ? largest_sigma : largest_mu;
            if (this->counts(known, b)) most = std::max<double>(most, std::fabs(number));
        });
        const int power = -std::ilogb(largest_sigma) / 2;  // c = 2^power brings sigma back to 1
        // If the means would overflow, variances go on falling until an update is refused. The
        // prior is capped: a class that arrives later is as unsure as T allows.
        constexpr double room = 1e-3 * static_cast<double>(std::numeric_limits<T>::max());
        if (std::ldexp(largest_mu, power) > room) return;
        double& prior = this->memory().prior;
        prior = std::min(std::ldexp(prior, 2 * power), room);
        this->each_number([&](T& number, bool variance, std::size_t b) {
            number = std::ldexp(number, variance ? 2 * power : power);
            if (variance && !this->counts(known, b)) number = static_cast<T>(prior);
        });
        this->measure_bounds();
    }
};

static_assert(Weights<Diagonal<float>> && Weights<Diagonal<double>>);

}  // namespace surelearn
