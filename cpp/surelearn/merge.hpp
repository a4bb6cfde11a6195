// Room 8, merging: sums that come out the same in any order and grouping, and the inverse of a
// covariance. Knows numbers only: which of them are summed, and what for, is told from outside.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace surelearn {

/// A sum of doubles, exact in this sense: it is the same to the bit in whatever order and grouping
/// its terms come together.
///
/// A term is cut into digits of 40 bits at places that are the same for all numbers: digit i
/// counts multiples of 2^(40 (top - i)). A sum keeps whole numbers of them at the first places
/// from the largest that any of its terms has reached. Whole numbers add up exactly, and a place
/// is dropped only once a term has reached far enough beyond it, which some term does in every
/// order. So the digits that are left are those of all terms at the places that are left. With D
/// digits a term loses at most 2^(-40 (D - 1)) of the largest one; 2^22 terms leave room in 63
/// bits.
struct Sum {
    static constexpr int bits = 40;
    static constexpr std::int8_t empty = -128;  ///< the top of a sum without terms

    std::span<std::int64_t> digits;  ///< the most significant first
    std::int8_t& top;

    /// Set to one term, which is finite.
    void set(double x) noexcept {
        std::ranges::fill(digits, 0);
        top = empty;
        if (x == 0.0) return;
        int exponent = 0;
        const double fraction = std::frexp(std::fabs(x), &exponent);
        const auto whole = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
        const int place = floor_of(exponent - 1);
        top = static_cast<std::int8_t>(place);
        // |x| = whole * 2^(exponent - 53); its digits are those of a whole number of last places.
        const int shift = exponent - 53 - bits * (place - static_cast<int>(digits.size()) + 1);
        auto rest = static_cast<unsigned __int128>(whole);
        rest = shift >= 0 ? rest << shift : rest >> -shift;
        for (std::size_t i = digits.size(); i-- > 0; rest >>= bits) {
            const auto digit = static_cast<std::int64_t>(rest & mask);
            digits[i] = x < 0.0 ? -digit : digit;
        }
    }

    /// Add so many times what another sum has.
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

    [[nodiscard]] static constexpr int floor_of(int exponent) noexcept {
        return exponent >= 0 ? exponent / bits : -((-exponent + bits - 1) / bits);
    }
    [[nodiscard]] static constexpr std::size_t distance(std::int8_t high,
                                                        std::int8_t low) noexcept {
        return static_cast<std::size_t>(high - low);
    }
};

/// A symmetric matrix, line after line, in loops over whole lines: no sum of many terms has an
/// order that a compiler or a library could choose.
struct Symmetric {
    std::span<double> entries;
    std::size_t size;

    [[nodiscard]] double* line(std::size_t i) const noexcept { return entries.data() + i * size; }

    /// Cholesky: A = U'U, U above the diagonal in place of A. False where A is not positive
    /// definite as far as doubles can tell.
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

    /// The inverse into `out`, both halves of it, from the factor U: M = U'^-1, A^-1 = M'M. Of this
    /// matrix nothing is left.
    void invert_factor(const Symmetric& out) const noexcept {
        for (std::size_t i = 0; i < size; ++i) {
            // M is below the diagonal, U above it; the diagonal of M goes into `out` for a while.
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
