// Several columns of a table: their sums over a row, and the update of two of them.
// Knows neither steps that fail nor how weights are kept.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "surelearn/gaussian.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// s[k] = sum_p x_p at(p)[k] for all k < K. The sums of up to 20 columns stay in registers from the
/// first feature to the last. If K is not a multiple of four, the last group of four begins
/// earlier: some columns get the same sum twice.
template <class At, class R>
void sum_columns(const At& at, const R& row, std::span<double> s) noexcept {
    widen([=, &at, &row]() SURELEARN_INLINED {
        const std::size_t K = s.size();
        const auto sweep = [&]<std::size_t N>(std::size_t k, std::integral_constant<std::size_t, N>)
                               __attribute__((always_inline)) {
                                   Four sum[N];
                                   for (Four& one : sum) one = Four{0.0, 0.0, 0.0, 0.0};
                                   for (std::size_t p = 0; p < row.size(); ++p) {
                                       const auto* const from = at(p) + k;
                                       const double x = row.x(p);
                                       for (std::size_t n = 0; n < N; ++n) {
                                           Four w;
                                           load(from, Run{4 * n}, w);
                                           sum[n] += w * x;
                                       }
                                   }
                                   for (std::size_t n = 0; n < N; ++n)
                                       store(sum[n], Run{4 * n}, s.data() + k);
                               };
        std::size_t k = 0;
        for (; k + 20 <= K; k += 20) sweep(k, std::integral_constant<std::size_t, 5>{});
        for (; k + 8 <= K; k += 8) sweep(k, std::integral_constant<std::size_t, 2>{});
        for (; k + 4 <= K; k += 4) sweep(k, std::integral_constant<std::size_t, 1>{});
        if (k == K) return;
        if (K >= 4) return sweep(K - 4, std::integral_constant<std::size_t, 1>{});
        for (; k < K; ++k) {
            s[k] = 0.0;
            for (std::size_t p = 0; p < row.size(); ++p) s[k] += at(p)[k] * row.x(p);
        }
    });
}

/// mu += alpha sigma x, and the shrink of sigma, in two columns for every feature of a row: two
/// features at a time. `at(p)` has the numbers of feature p, its variances `part` numbers later. No
/// number may leave the range of T.
template <class At, class R, class Shrink>
void move_columns(const At& at, const R& row, const std::array<Side, 2>& sides, std::size_t part,
                  double alpha, const Shrink& shrink) noexcept {
    widen([=, &at, &row, &sides, &shrink]() SURELEARN_INLINED {
        const double first = alpha * sides[0].sign;
        const double second = alpha * sides[1].sign;
        const Four alphas{first, second, first, second};
        const std::size_t c = sides[0].column;
        const std::size_t d = sides[1].column;
        const auto move = [&](auto* a, auto* b, const Four& x) __attribute__((always_inline)) {
            using T = std::remove_pointer_t<decltype(a)>;
            Four mu{a[c], a[d], b[c], b[d]};
            Four sigma{a[part + c], a[part + d], b[part + c], b[part + d]};
            move_mean<4>(mu, alphas, sigma, x);
            shrink(sigma, sigma * (x * x));
            const auto put = [&](T* to, std::size_t i) __attribute__((always_inline)) {
                to[c] = static_cast<T>(mu[i]);
                to[d] = static_cast<T>(mu[i + 1]);
                to[part + c] = static_cast<T>(sigma[i]);
                to[part + d] = static_cast<T>(sigma[i + 1]);
            };
            put(a, 0);
            put(b, 2);
        };
        const std::size_t n = row.size();
        std::size_t p = 0;
        for (; p + 2 <= n; p += 2) {
            const double x = row.x(p);
            const double z = row.x(p + 1);
            move(at(p), at(p + 1), Four{x, x, z, z});
        }
        if (p < n) {  // the last one twice: the same numbers are written again
            const double x = row.x(p);
            move(at(p), at(p), Four{x, x, x, x});
        }
    });
}

}  // namespace surelearn
