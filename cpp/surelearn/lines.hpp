// Sums over the lines of a matrix, in vector code. Each element is summed in the order of the
// lines, so neither threads nor the width of vectors change a bit. Knows no weights.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "surelearn/simd.hpp"

namespace surelearn {

namespace detail {

/// Lines processed together: the sums are read and written once for all of them.
inline constexpr std::size_t lines_together = 8;

/// out += sum_i x_i line_i.
template <class T>
void add_eight_lines(const T* const* lines, const double* x, double* out, std::size_t n) noexcept {
    widen([=]() SURELEARN_INLINED {
        // Local copies: no write to `out` can alias them, so the compiler keeps them in registers.
        const T *a = lines[0], *b = lines[1], *c = lines[2], *d = lines[3];
        const T *e = lines[4], *f = lines[5], *g = lines[6], *h = lines[7];
        const double xa = x[0], xb = x[1], xc = x[2], xd = x[3];
        const double xe = x[4], xf = x[5], xg = x[6], xh = x[7];
#pragma GCC ivdep
        for (std::size_t j = 0; j < n; ++j) {
            out[j] = out[j] + a[j] * xa + b[j] * xb + c[j] * xc + d[j] * xd + e[j] * xe +
                     f[j] * xf + g[j] * xg + h[j] * xh;
        }
    });
}

}  // namespace detail

/// out += x line.
template <class T>
void add_line(const T* line, double x, double* out, std::size_t n) noexcept {
    widen([=]() SURELEARN_INLINED {
#pragma GCC ivdep
        for (std::size_t j = 0; j < n; ++j) out[j] = out[j] + line[j] * x;
    });
}

/// line -= x factor, rounded to T.
template <class T>
void subtract_line(const double* factor, double x, T* line, std::size_t n) noexcept {
    widen([=]() SURELEARN_INLINED {
#pragma GCC ivdep
        for (std::size_t j = 0; j < n; ++j) line[j] = static_cast<T>(line[j] - factor[j] * x);
    });
}

/// out += sum_p factor(p) line(p) for p < count.
template <class LineOf, class FactorOf>
void add_lines(std::size_t count, const LineOf& line, const FactorOf& factor,
               std::span<double> out) noexcept {
    constexpr std::size_t together = detail::lines_together;
    std::size_t p = 0;
    for (; p + together <= count; p += together) {
        std::array<decltype(line(p)), together> lines;
        std::array<double, together> x;
        for (std::size_t q = 0; q < together; ++q) {
            lines[q] = line(p + q);
            x[q] = factor(p + q);
        }
        detail::add_eight_lines(lines.data(), x.data(), out.data(), out.size());
    }
    for (; p < count; ++p) add_line(line(p), factor(p), out.data(), out.size());
}

}  // namespace surelearn
