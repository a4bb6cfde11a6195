// Room 8, merging: sums that do not depend on order or grouping, the moves of models from their
// start, and the inverse of a covariance. Knows numbers only: no models, no classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace surelearn {

/// A reproducible sum of doubles: the same to the bit for any order and grouping of its terms.
///
/// A term is split into digits of 40 bits at fixed positions: digit i counts multiples of
/// 2^(40 (top - i)). A sum keeps D integers, for the D positions from the top of its largest term
/// down. Integers add up exactly. A position is dropped only when a larger term moves the top, and
/// the largest term is the same in every order. So the kept digits are those of all terms at the
/// kept positions. A term loses at most 2^(-40 (D - 1)) of the largest one, and 2^22 terms fit in
/// 63 bits.
struct Sum {
    static constexpr int bits = 40;
    static constexpr std::int8_t empty = -128;  ///< the top of a sum without terms

    std::span<std::int64_t> digits;  ///< the most significant first
    std::int8_t& top;

    /// Sets the sum to one finite term.
    void set(double x) noexcept {
        std::ranges::fill(digits, 0);
        top = empty;
        if (x == 0.0) return;
        const auto [whole, exponent] = parts_of(std::fabs(x));
        const int place = floor_of(exponent - 1);
        top = static_cast<std::int8_t>(place);
        // |x| = whole * 2^(exponent - 53): shift it to a multiple of the last position.
        const int shift = exponent - 53 - bits * (place - static_cast<int>(digits.size()) + 1);
        auto rest = static_cast<unsigned __int128>(whole);
        rest = shift >= 0 ? rest << shift : rest >> -shift;
        for (std::size_t i = digits.size(); i-- > 0; rest >>= bits) {
            const auto digit = static_cast<std::int64_t>(rest & mask);
            digits[i] = x < 0.0 ? -digit : digit;
        }
    }

    /// Adds a multiple of another sum.
    void add(std::span<const std::int64_t> other, std::int8_t other_top,
             std::int64_t times) noexcept {
        if (other_top == empty || times == 0) return;
        if (top == empty) top = other_top;
        if (other_top > top) {
            const std::size_t by = std::min<std::size_t>(distance(other_top, top), digits.size());
            std::shift_right(digits.begin(), digits.end(), static_cast<std::ptrdiff_t>(by));
            std::fill_n(digits.begin(), by, 0);
            top = other_top;
        }
        const std::size_t by = distance(top, other_top);
        for (std::size_t i = by; i < digits.size(); ++i) digits[i] += times * other[i - by];
    }

    /// The sum as a double, rounded once or, with three digits, twice.
    [[nodiscard]] static double value(std::span<const std::int64_t> digits,
                                      std::int8_t top) noexcept {
        if (top == empty) return 0.0;
        const std::size_t D = digits.size();
        const auto leading = (static_cast<__int128>(digits[0]) << bits) + digits[1];
        double x = static_cast<double>(leading);
        for (std::size_t i = 2; i < D; ++i)
            x = std::ldexp(x, bits) + static_cast<double>(digits[i]);
        return std::ldexp(x, bits * (top - static_cast<int>(D) + 1));
    }

private:
    static constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;

    struct Parts {
        std::uint64_t whole;  ///< of 53 bits
        int exponent;         ///< x = whole * 2^(exponent - 53)
    };

    /// A positive number taken apart; `frexp` is a call of the library, so normal ones do without.
    [[nodiscard]] static Parts parts_of(double x) noexcept {
        constexpr std::uint64_t hidden = std::uint64_t{1} << 52;
        if (x >= std::numeric_limits<double>::min()) {
            const auto raw = std::bit_cast<std::uint64_t>(x);
            return {(raw & (hidden - 1)) | hidden, static_cast<int>(raw >> 52) - 1022};
        }
        int exponent = 0;
        const double fraction = std::frexp(x, &exponent);
        return {static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent};
    }

    [[nodiscard]] static constexpr int floor_of(int exponent) noexcept {
        return exponent >= 0 ? exponent / bits : -((-exponent + bits - 1) / bits);
    }
    [[nodiscard]] static constexpr std::size_t distance(std::int8_t high,
                                                        std::int8_t low) noexcept {
        return static_cast<std::size_t>(high - low);
    }
};

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

/// A symmetric matrix, stored by lines. All loops run over whole lines: neither a compiler nor a
/// library can choose the order of a sum, so the result is the same everywhere.
struct Symmetric {
    std::span<double> entries;
    std::size_t size;

    [[nodiscard]] double* line(std::size_t i) const noexcept { return entries.data() + i * size; }

    /// Cholesky: A = U'U; U replaces A above the diagonal. False if A is not positive definite in
    /// double precision.
    [[nodiscard]] bool factor() const noexcept {
        for (std::size_t k = 0; k < size; ++k) {
            double* const u = line(k);
            if (!(u[k] > 0.0) || !std::isfinite(u[k])) return false;
            const double root = std::sqrt(u[k]);
            for (std::size_t j = k; j < size; ++j) u[j] /= root;
            for (std::size_t i = k + 1; i < size; ++i) {
                if (u[i] != 0.0) subtract(line(i), u[i], u, i, size);
            }
        }
        return true;
    }

    /// Writes the inverse, both halves, to `out` from the factor U: M = U'^-1, A^-1 = M'M. This
    /// matrix is overwritten.
    void invert_factor(const Symmetric& out) const noexcept {
        for (std::size_t i = 0; i < size; ++i) {
            // M is below the diagonal, U above it; `out` holds the diagonal of M meanwhile.
            double* const m = line(i);
            std::fill_n(m, i, 0.0);
            const double pivot = m[i];
            for (std::size_t k = 0; k < i; ++k) {
                const double u = line(k)[i];
                if (u == 0.0) continue;
                subtract(m, u, line(k), 0, k);
                m[k] -= u * out.line(k)[k];
            }
            for (std::size_t j = 0; j < i; ++j) m[j] /= pivot;
            out.line(i)[i] = 1.0 / pivot;
        }
        for (std::size_t k = 0; k < size; ++k) line(k)[k] = out.line(k)[k];
        std::ranges::fill(out.entries, 0.0);
        for (std::size_t k = 0; k < size; ++k) {
            const double* const m = line(k);
            for (std::size_t i = 0; i <= k; ++i) {
                if (m[i] != 0.0) subtract(out.line(i), -m[i], m, i, k + 1);
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < i; ++j) out.line(i)[j] = out.line(j)[i];
        }
    }

    /// A x.
    void apply(std::span<const double> x, std::span<double> out) const noexcept {
        std::ranges::fill(out, 0.0);
        for (std::size_t i = 0; i < size; ++i) subtract(out.data(), -x[i], line(i), 0, size);
    }

private:
    static void subtract(double* to, double factor, const double* from, std::size_t begin,
                         std::size_t end) noexcept {
        for (std::size_t j = begin; j < end; ++j) to[j] -= factor * from[j];
    }
};

}  // namespace surelearn
