// Merging: sums that do not depend on order or grouping, and the inverse of a covariance.
// Knows numbers only: no models, no classes.
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
        for (std::size_t i = 2; i < D; ++i) x = x * 0x1p40 + static_cast<double>(digits[i]);
        return scaled(x, bits * (top - static_cast<int>(D) + 1));
    }

private:
    friend struct ShortSum;

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

    /// x * 2^power; `ldexp` is a call of the library, so powers that are normal numbers do without.
    [[nodiscard]] static double scaled(double x, int power) noexcept {
        if (power < -1022 || power > 1023) return std::ldexp(x, power);
        return x * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
    }

    [[nodiscard]] static constexpr int floor_of(int exponent) noexcept {
        return exponent >= 0 ? exponent / bits : -((-exponent + bits - 1) / bits);
    }
    [[nodiscard]] static constexpr std::size_t distance(std::int8_t high,
                                                        std::int8_t low) noexcept {
        return static_cast<std::size_t>(high - low);
    }
};

/// A sum of two digits that stays in registers; the same digits as those of `Sum`.
struct ShortSum {
    std::int64_t high = 0;
    std::int64_t low = 0;
    int top = Sum::empty;

    /// Of one finite term.
    [[nodiscard]] static ShortSum of(double x) noexcept {
        if (x == 0.0) return {};
        const auto [whole, exponent] = Sum::parts_of(std::fabs(x));
        const int place = Sum::floor_of(exponent - 1);
        // The last bit of `whole` is 12 below to 27 above the last position.
        const int shift = exponent - 53 - Sum::bits * (place - 1);
        const auto rest = (static_cast<unsigned __int128>(whole) << (shift + 12)) >> 12;
        const auto high = static_cast<std::int64_t>(static_cast<std::uint64_t>(rest >> Sum::bits));
        const auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(rest) & Sum::mask);
        return x < 0.0 ? ShortSum{-high, -low, place} : ShortSum{high, low, place};
    }

    void add(const ShortSum& other) noexcept {
        const int highest = std::max(top, other.top);
        const ShortSum a = down_from(highest);
        const ShortSum b = other.down_from(highest);
        *this = {a.high + b.high, a.low + b.low, highest};
    }

    [[nodiscard]] double value() const noexcept {
        if (top == Sum::empty) return 0.0;
        const auto whole = (static_cast<__int128>(high) << Sum::bits) + low;
        return Sum::scaled(static_cast<double>(whole), Sum::bits * (top - 1));
    }

private:
    /// The same sum, its first digit in a higher place.
    [[nodiscard]] ShortSum down_from(int highest) const noexcept {
        const int by = highest - top;
        return {by == 0 ? high : 0, by == 0 ? low : by == 1 ? high : 0, highest};
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
