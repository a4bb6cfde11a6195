// Rooms 3 and 6, diagonal weights: one mean and one variance for each feature and class.
// Knows rows and steps; knows neither which rule made the step nor which label is right.
//
// Feature-major: feature j owns one run of memory [mu_1..mu_K, sigma_1..sigma_K, q_1..q_K], the
// variances only for second-order rules, the sums q only when averaging. A sparse row then touches
// one place for each feature. All arithmetic is in double; T is how the numbers are kept.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/lanes.hpp"
#include "surelearn/table.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// The numbers an update has overwritten, so that it can be taken back.
template <class T>
struct Journal {
    struct Entry {
        T mu;
        T sigma;
    };
    std::vector<Entry> entries;

    void reserve(std::size_t count) {
        if (entries.size() < count) entries.resize(count);
    }
};

template <class T>
class Diagonal {
public:
    using Work = Journal<T>;
    static constexpr bool fetches_ahead = true;
    /// A projected step does not meet the constraint it was made for.
    static constexpr bool meets_one_constraint = false;
    /// Once every variance is below this, weights of a rule free of scale are rescaled.
    static constexpr double least_in_range = sizeof(T) == 4 ? 1e-15 : 1e-100;

    explicit Diagonal(const Shape& shape)
        : shape_(shape), stride_(shape.stride()), table_(product(shape.n_rows(), shape.stride())) {
        if (table_.size() == 0) return;
        std::fill_n(table_.data(), shape.stride(), T{0});
        if (shape.second_order) {
            std::fill_n(table_.data() + shape.n_columns, shape.n_columns,
                        static_cast<T>(shape.prior));
        }
        table_.repeat(shape.stride());
    }

    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
    void set_rounds(std::uint64_t rounds) noexcept { rounds_ = rounds; }

    [[nodiscard]] std::size_t bytes() const noexcept { return table_.size() * sizeof(T); }

    [[nodiscard]] T* cell(std::size_t j) noexcept { return table_.data() + j * stride_; }
    [[nodiscard]] const T* cell(std::size_t j) const noexcept {
        return table_.data() + j * stride_;
    }

    /// Asks memory for the runs of a row's features [begin, end). Into the second-level cache: the
    /// first level has too few places for requests under way. Inlined by force: gcc takes a
    /// function that only prefetches for one without effect.
    template <class R>
    [[gnu::always_inline]] void prefetch(const R& row, std::size_t begin,
                                         std::size_t end) const noexcept {
        constexpr std::size_t line = 64 / sizeof(T);
        for (std::size_t p = begin; p < std::min(end, row.size()); ++p) {
            const T* const at = cell(row.feature(p));
            for (std::size_t k = 0; k < stride_; k += line) {
                __builtin_prefetch(at + k, 0, 2);
            }
        }
    }

    /// Mean and variance of the only column's margin: m = mu.x, v = sum_j sigma_j x_j^2. Between
    /// the features of this row, memory is asked for those of the row `ahead`.
    template <class R>
    [[nodiscard]] Moments margin(const R& row, const R& ahead = {}) const noexcept {
        return shape_.second_order ? margin_of<true>(row, ahead) : margin_of<false>(row, ahead);
    }

    /// The same for g = sign x.
    template <class R>
    [[nodiscard]] Moments moments(const R& row, const std::array<Side, 1>& g, const R& ahead,
                                  Work&) const noexcept {
        const Moments found = margin(row, ahead);
        return {g[0].sign * found.m, found.v};
    }

    /// The mean score of every column; `s` has one place for each. `ahead` as for `margin`.
    template <class R>
    void scores(const R& row, std::span<double> s, const R& ahead = {}) const noexcept {
        moments(row, s, {}, {}, ahead);
    }

    /// The same, and the variances of those in the quads in the places of these, while a feature is
    /// at hand.
    template <class R>
    SURELEARN_WIDEN void moments(const R& row, std::span<double> s, std::span<double> v,
                                 std::span<const Quad> quads, const R& ahead) const noexcept {
        const bool alike = !shape_.second_order && !v.empty();
        const Quads some(alike ? std::span<const Quad>{} : quads);
        std::ranges::fill(s, 0.0);
        std::ranges::fill(v, alike ? length(row) : 0.0);
        const auto at = [&](std::size_t p) { return cell(row.feature(p)); };
        const std::size_t n = row.size();
        std::size_t p = 0;
        for (; p + 4 <= n; p += 4) {
            prefetch(ahead, p, p + 4);
            const std::array x{row.x(p), row.x(p + 1), row.x(p + 2), row.x(p + 3)};
            add<4>({at(p), at(p + 1), at(p + 2), at(p + 3)}, x, s, v, some);
        }
        prefetch(ahead, p, ahead.size());
        for (; p < n; ++p) add<1>({at(p)}, {row.x(p)}, s, v, some);
        if (shape_.intercept) add<1>({cell(shape_.n_features)}, {1.0}, s, v, some);
    }

    /// The mean score of every column with the averaged means.
    template <class R>
    SURELEARN_WIDEN void averaged_scores(const R& row, std::span<double> s) const noexcept {
        std::ranges::fill(s, 0.0);
        const auto rounds = static_cast<double>(rounds_ + 1);
        shape_.each_feature(row, [&](std::size_t j, double x) {
            const T* const at = cell(j);
            const T* const q = at + average_at();
            for (std::size_t k = 0; k < s.size(); ++k) s[k] += (at[k] - q[k] / rounds) * x;
        });
    }

    /// The variance of g, which has two sides; without variances sigma is the identity.
    template <class R>
    [[nodiscard]] double variance(const R& row, const std::array<Side, 2>& g,
                                  Work&) const noexcept {
        std::array<double, 2> v{};
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (std::size_t i = 0; i < 2; ++i) v[i] += sigma(j, g[i].column) * (x * x);
        });
        return v[0] + v[1];
    }

    /// The variance of every column's score.
    template <class R>
    void variances(const R& row, std::span<double> v) const noexcept {
        std::ranges::fill(v, 0.0);
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (std::size_t k = 0; k < v.size(); ++k) v[k] += sigma(j, k) * (x * x);
        });
    }

    /// The shares a_j = sigma_j g_j^2 of every weight that g touches.
    template <std::size_t N, class R>
    [[nodiscard]] std::span<const double> shares(const R& row, const std::array<Side, N>& sides,
                                                 double, std::vector<double>& out) const {
        out.clear();
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (const Side& side : sides) out.push_back(sigma(j, side.column) * (x * x));
        });
        return out;
    }

    /// mu += alpha sigma g, and sigma^-1 += gain g g' less what the projection drops. g has sign *
    /// x in the column of each side and v is its variance. If a variance would become zero or any
    /// number not finite, nothing changes and the answer is false.
    template <std::size_t N, class R>
    [[nodiscard]] bool update(const R& row, const std::array<Side, N>& sides, const Step& step,
                              double v, Projection projection, Journal<T>& journal) {
        journal.reserve((row.size() + 2) * N);
        bool sound = false;
        if (!shape_.second_order) {
            sound = move_means(row, sides, step.alpha, journal);
        } else if (projection == Projection::precision) {
            const auto shrink = [gain = step.gain](auto s, auto a) { return s / (1.0 + gain * a); };
            sound = move_gaussians(row, sides, step.alpha, shrink, journal);
        } else {
            // s (1 - beta a) with beta = gain / (1 + gain v), written so that it cannot cancel to
            // zero (v >= a holds in floating point too) nor round above s.
            const auto shrink = [gain = step.gain, v](auto s, auto a) {
                return s * ((1.0 + gain * (v - a)) / (1.0 + gain * v));
            };
            sound = move_gaussians(row, sides, step.alpha, shrink, journal);
        }
        if (sound && shape_.averaged) {
            sound = average_is_finite(row, sides, journal);
            if (sound) add_to_average(row, sides, journal);
        }
        if (!sound) take_back(row, sides, journal);
        return sound;
    }

    /// Where the sums for averaging begin in a feature's run.
    [[nodiscard]] std::size_t average_at() const noexcept {
        return (shape_.parts() - 1) * shape_.n_columns;
    }

    void end_round() noexcept { ++rounds_; }

    /// For rules that are free of scale: when every variance has fallen out of the safe range,
    /// multiply sigma by c^2 and mu by c, c a power of two so that no bit is lost. Columns of
    /// classes that are not known yet do not count (`known` empty: all are).
    void keep_in_range(std::span<const std::uint8_t> known = {}) noexcept {
        const std::size_t count = shape_.n_rows() * shape_.n_columns;
        // Variances only fall, so those before the witness need no second look.
        while (witness_ < count) {
            const std::size_t k = witness_ % shape_.n_columns;
            const bool counts = known.empty() || known[k] != 0;
            if (counts && sigma(witness_ / shape_.n_columns, k) >= least_in_range) return;
            ++witness_;
        }
        witness_ = 0;
        if (count > 0) rescale(known);
    }

    /// A class has become known: its variances count from now on.
    void look_again() noexcept { witness_ = 0; }

    /// Mean of one weight: the average over all rounds where averaging is on.
    [[nodiscard]] double mean(std::size_t j, std::size_t k) const noexcept {
        const double mu = cell(j)[k];
        if (!shape_.averaged) return mu;
        const double q = cell(j)[average_at() + k];
        return mu - q / static_cast<double>(rounds_ + 1);
    }

    /// Variance of one weight; 1 where only means are kept.
    [[nodiscard]] double sigma(std::size_t j, std::size_t k) const noexcept {
        return shape_.second_order ? static_cast<double>(cell(j)[shape_.n_columns + k]) : 1.0;
    }

    /// Does feature j still have its starting values, to the bit?
    [[nodiscard]] bool untouched(std::size_t j) const noexcept {
        const std::size_t K = shape_.n_columns;
        const auto prior = static_cast<T>(shape_.prior);
        const T* const at = cell(j);
        for (std::size_t k = 0; k < shape_.stride(); ++k) {
            const bool variance = shape_.second_order && k >= K && k < 2 * K;
            if (variance ? at[k] != prior : (at[k] != T{0} || std::signbit(at[k]))) return false;
        }
        return true;
    }

    /// The same weights under other columns: column k of the result is column from[k] of this one,
    /// or a new class at its prior where from[k] is negative.
    [[nodiscard]] Diagonal with_columns(std::span<const std::int64_t> from) const {
        Shape shape = shape_;
        shape.n_columns = from.size();
        Diagonal result(shape);
        result.rounds_ = rounds_;
        for (std::size_t j = 0; j < shape.n_rows(); ++j) {
            for (std::size_t k = 0; k < from.size(); ++k) {
                if (from[k] < 0) continue;
                const T* const old = cell(j) + from[k];
                for (std::size_t part = 0; part < shape.parts(); ++part) {
                    result.cell(j)[part * from.size() + k] = old[part * shape_.n_columns];
                }
            }
        }
        return result;
    }

    /// The one vector of two classes as two blocks: mean -mu/2 and +mu/2, variance sigma/2 each,
    /// which leaves their margin and its variance as they were. The prior halves with them.
    [[nodiscard]] Diagonal split() const { return both_sides(T{0.5}); }

    /// The one vector as each class sees it: mean -mu and +mu, variance sigma both. Two problems of
    /// a reduction, where `split` makes two parts of one.
    [[nodiscard]] Diagonal mirrored() const { return both_sides(T{1}); }

private:
    [[nodiscard]] Diagonal both_sides(T share) const {
        Shape shape = shape_;
        shape.n_columns = 2;
        if (shape.second_order) shape.prior *= static_cast<double>(share);
        Diagonal result(shape);
        result.rounds_ = rounds_;
        for (std::size_t j = 0; j < shape.n_rows(); ++j) {
            for (std::size_t part = 0; part < shape.parts(); ++part) {
                const bool variance = shape.second_order && part == 1;
                T own = cell(j)[part] * share;
                // The least number there is has no half, and a variance may not be zero.
                if (variance) own = std::max(own, std::numeric_limits<T>::denorm_min());
                result.cell(j)[2 * part] = variance ? own : T{0} - own;
                result.cell(j)[2 * part + 1] = own;
            }
        }
        return result;
    }

    /// |x|^2 with the intercept: the variance of every score where only means are kept.
    template <class R>
    [[nodiscard]] double length(const R& row) const noexcept {
        double sum = 0.0;
        shape_.each_feature(row, [&](std::size_t, double x) { sum += x * x; });
        return sum;
    }

    /// The part of N features in all means, and in the variances of the quads.
    template <std::size_t N>
    [[gnu::always_inline]] static void add(std::array<const T*, N> at, std::array<double, N> x,
                                           std::span<double> s, std::span<double> v,
                                           const Quads& quads) noexcept {
        const std::size_t K = s.size();
        add_products(at, x, s.data(), K);
        if (quads.empty()) return;
        for (std::size_t i = 0; i < N; ++i) at[i] += K;
        for (std::size_t i = 0; i < N; ++i) x[i] *= x[i];
        quads.visit([&](const auto& from, const Run& to) __attribute__((always_inline)) {
            add_products(at, x, from, to, v.data());
        });
    }

    /// Mean and variance go side by side, even and odd features in turn: the additions of one sum
    /// need not wait for those of the other.
    template <bool second_order, class R>
    [[nodiscard]] Moments margin_of(const R& row, const R& ahead) const noexcept {
        Two even{};
        Two odd{};
        const auto term = [&](std::size_t j, double x) {
            const T* const at = cell(j);
            return Two{at[0], second_order ? at[1] : T{1}} * Two{x, x * x};
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
        const Two sum = even + odd;
        return {sum[0], sum[1]};
    }

    [[nodiscard]] static bool finite(T x) noexcept {
        return std::fabs(x) <= std::numeric_limits<T>::max();
    }

    /// Two weights a turn: the two sides of one feature, or two features of the only side.
    template <std::size_t N, class R, class Shrink>
    SURELEARN_WIDEN [[nodiscard]] bool move_gaussians(const R& row,
                                                      const std::array<Side, N>& sides,
                                                      double alpha, const Shrink& shrink,
                                                      Journal<T>& journal) {
        static_assert(N == 1 || N == 2);
        const std::size_t K = N == 1 ? 1 : shape_.n_columns;
        const Two signed_alpha{alpha * sides[0].sign, alpha * sides[N - 1].sign};
        auto* old = journal.entries.data();
        TwoBits sound{-1, -1};
        constexpr double least = least_kept<T>;
        constexpr double most = least_lost<T>;
        const auto move = [&](T* a, T* b, Two x) {
            const Two s{a[K], b[K]};
            const Two mu = Two{a[0], b[0]} + signed_alpha * s * x;
            const Two sigma = shrink(s, s * (x * x));
            // Will they be positive and finite once rounded to T?
            sound &= (sigma > least) & (mu < most) & (mu > -most);
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
                move(cell(j) + sides[0].column, cell(j) + sides[1].column, Two{x, x});
            });
        } else {
            const std::size_t n = row.size() + (shape_.intercept ? 1 : 0);
            for (std::size_t p = 0; p < n; p += 2) {
                // A single last feature goes twice: the same numbers, written twice.
                const std::size_t q = p + 1 < n ? p + 1 : p;
                const bool both = q < row.size();
                T* const a = cell(p < row.size() ? row.feature(p) : shape_.n_features);
                T* const b = cell(both ? row.feature(q) : shape_.n_features);
                move(a, b, Two{p < row.size() ? row.x(p) : 1.0, both ? row.x(q) : 1.0});
            }
        }
        return sound[0] != 0 && sound[1] != 0;
    }

    template <std::size_t N, class R>
    [[nodiscard]] bool move_means(const R& row, const std::array<Side, N>& sides, double alpha,
                                  Journal<T>& journal) {
        bool sound = true;
        auto* old = journal.entries.data();
        shape_.each_feature(row, [&](std::size_t j, double x) {
            for (const Side& side : sides) {
                T& mu = cell(j)[side.column];
                *old++ = {mu, T{1}};
                mu = static_cast<T>(mu + alpha * side.sign * x);
                sound &= finite(mu);
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
                if (shape_.second_order) cell(j)[shape_.n_columns + side.column] = old->sigma;
                ++old;
            }
        });
    }

    /// Freund & Schapire 1999, cheap form: q += c (change of mu), c = 1 in the first round; the
    /// mean of all vectors is then mu - q / c. The change is the one stored, not the one wanted.
    /// Calls f(place of q, its new value).
    template <std::size_t N, class R, class F>
    void each_average(const R& row, const std::array<Side, N>& sides, const Journal<T>& journal,
                      F&& f) {
        const auto c = static_cast<double>(rounds_ + 1);
        const auto* old = journal.entries.data();
        shape_.each_feature(row, [&](std::size_t j, double) {
            for (const Side& side : sides) {
                const double change = static_cast<double>(cell(j)[side.column]) - old->mu;
                T& q = cell(j)[average_at() + side.column];
                f(q, static_cast<T>(q + c * change));
                ++old;
            }
        });
    }

    template <std::size_t N, class R>
    [[nodiscard]] bool average_is_finite(const R& row, const std::array<Side, N>& sides,
                                         const Journal<T>& journal) {
        bool sound = true;
        each_average(row, sides, journal, [&](T&, T value) { sound &= finite(value); });
        return sound;
    }

    template <std::size_t N, class R>
    void add_to_average(const R& row, const std::array<Side, N>& sides, const Journal<T>& journal) {
        each_average(row, sides, journal, [](T& q, T value) { q = value; });
    }

    void rescale(std::span<const std::uint8_t> known) noexcept {
        const std::size_t K = shape_.n_columns;
        const auto counts = [&](std::size_t k) { return known.empty() || known[k] != 0; };
        double largest_mu = 0.0;
        double largest_sigma = 0.0;
        for (std::size_t j = 0; j < shape_.n_rows(); ++j) {
            for (std::size_t k = 0; k < K; ++k) {
                for (std::size_t part = 0; part < shape_.parts(); ++part) {
                    double& most = part == 1 ? largest_sigma : largest_mu;
                    const double x = std::fabs(static_cast<double>(cell(j)[part * K + k]));
                    if (counts(k)) most = std::max(most, x);
                }
            }
        }
        const int power = -std::ilogb(largest_sigma) / 2;  // c = 2^power brings sigma back to 1
        // Where the means have no room to grow the variances are left to fall, in the end to an
        // update that is refused. The prior stops growing where T has no larger number: a class
        // that comes then is as unsure as it can be.
        constexpr double room = 1e-3 * static_cast<double>(std::numeric_limits<T>::max());
        if (std::ldexp(largest_mu, power) > room) return;
        shape_.prior = std::min(std::ldexp(shape_.prior, 2 * power), room);
        for (std::size_t j = 0; j < shape_.n_rows(); ++j) {
            for (std::size_t k = 0; k < K; ++k) {
                for (std::size_t part = 0; part < shape_.parts(); ++part) {
                    T& x = cell(j)[part * K + k];
                    x = std::ldexp(x, part == 1 ? 2 * power : power);
                }
                if (!counts(k)) cell(j)[K + k] = static_cast<T>(shape_.prior);
            }
        }
    }

    Shape shape_;
    std::size_t stride_;
    Table<T> table_;
    std::uint64_t rounds_ = 0;
    std::size_t witness_ = 0;
};

}  // namespace surelearn
