// Weights of one column without averaging: the pairs (mu, sigma) of a row, four
// numbers at a time. Knows neither steps that fail nor how weights are kept.
#pragma once

#include <array>
#include <cstddef>

#include "surelearn/gaussian.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// The pairs of all features, feature after feature.
template <class T>
struct GaussianPairs {
    T* first;
    std::size_t n_features;  ///< without the intercept, which is the last pair
    bool intercept;

    [[nodiscard]] T* at(std::size_t j) const noexcept { return first + 2 * j; }
};

namespace detail {

/// Requests the pairs of coming features, one after the other.
template <class T, class A>
class Requests {
public:
    [[gnu::always_inline]] Requests(const GaussianPairs<T>& pairs, const A& ahead) noexcept
        : pairs_(pairs), ahead_(ahead) {}

    /// Whether two are left.
    [[nodiscard, gnu::always_inline]] bool two_left() const noexcept {
        return next_ + 2 <= ahead_.size();
    }
    [[gnu::always_inline]] void send_two() noexcept {
        send();
        send();
    }
    [[gnu::always_inline]] void send_rest() noexcept {
        while (next_ < ahead_.size()) send();
    }

private:
    /// Into the second-level cache: the first level allows too few outstanding requests.
    [[gnu::always_inline]] void send() noexcept {
        __builtin_prefetch(pairs_.at(ahead_.feature(next_++)), 0, 2);
    }

    const GaussianPairs<T>& pairs_;
    const A& ahead_;
    std::size_t next_ = 0;
};

}  // namespace detail

/// Mean and variance of the margin, m = mu.x and v = sum_j sigma_j x_j^2. Even and odd features are
/// summed separately: additions to one sum do not wait for the other. Requests the pairs of the
/// features `ahead` meanwhile.
template <class T, class R, class A>
void sum_pairs(const GaussianPairs<const T>& pairs, const R& row, const A& ahead,
               Moments& margin) noexcept {
    widen([=, &pairs, &row, &ahead, &margin]() SURELEARN_INLINED {
        detail::Requests<const T, A> requests(pairs, ahead);
        Four sums{};  // m and v of even features, then of odd ones
        const auto add_two = [&](std::size_t p) __attribute__((always_inline)) {
            const double x = row.x(p);
            const double z = row.x(p + 1);
            Four w;
            load_pairs(pairs.at(row.feature(p)), pairs.at(row.feature(p + 1)), w);
            sums += w * Four{x, x * x, z, z * z};
        };
        const std::size_t n = row.size();
        std::size_t p = 0;
        for (; p + 4 <= n && requests.two_left(); p += 4) {
            requests.send_two();
            add_two(p);
            add_two(p + 2);
        }
        requests.send_rest();
        for (; p + 2 <= n; p += 2) add_two(p);
        DoublePair even{sums[0], sums[1]};
        DoublePair odd{sums[2], sums[3]};
        const auto term = [&](const T* at, double x) __attribute__((always_inline)) {
            return DoublePair{at[0], at[1]} * DoublePair{x, x * x};
        };
        if (p < n) even += term(pairs.at(row.feature(p)), row.x(p));
        if (pairs.intercept) odd += term(pairs.at(pairs.n_features), 1.0);
        const DoublePair sum = even + odd;
        margin = {sum[0], sum[1]};
    });
}

/// mu += alpha sigma x, and the shrink of sigma, for every feature of a row. No number may leave
/// the range of T. `ahead` as above.
template <class T, class R, class A, class Shrink>
void move_pairs(const GaussianPairs<T>& pairs, const R& row, double alpha, const Shrink& shrink,
                const A& ahead) noexcept {
    widen([=, &pairs, &row, &shrink, &ahead]() SURELEARN_INLINED {
        detail::Requests<T, A> requests(pairs, ahead);
        const Four alphas{alpha, alpha, alpha, alpha};
        // The first, third, second and fourth of four features.
        const auto move = [&](const std::array<T*, 4>& at, const Four& x)
                              __attribute__((always_inline)) {
                                  Four mu, sigma;
                                  load_pairs(at[0], at[1], mu);
                                  load_pairs(at[2], at[3], sigma);
                                  transpose_pairs(mu, sigma);
                                  move_mean<4>(mu, alphas, sigma, x);
                                  shrink(sigma, sigma * (x * x));
                                  transpose_pairs(mu, sigma);
                                  store_pairs(mu, at[0], at[1]);
                                  store_pairs(sigma, at[2], at[3]);
                              };
        const auto move_four = [&](std::size_t p) __attribute__((always_inline)) {
            const auto at = [&](std::size_t i) { return pairs.at(row.feature(p + i)); };
            move({at(0), at(1), at(2), at(3)},
                 Four{row.x(p), row.x(p + 2), row.x(p + 1), row.x(p + 3)});
        };
        const std::size_t n = row.size();
        std::size_t p = 0;
        for (; p + 4 <= n && requests.two_left(); p += 4) {
            requests.send_two();
            move_four(p);
        }
        requests.send_rest();
        for (; p + 4 <= n; p += 4) move_four(p);
        const std::size_t count = n + (pairs.intercept ? 1 : 0);
        if (p == count) return;
        // Where fewer than four are left, the last is repeated: the same numbers are written again.
        std::array<T*, 4> at;
        std::array<double, 4> x;
        for (std::size_t i = 0; i < 4; ++i, p += p + 1 < count ? 1 : 0) {
            at[i] = pairs.at(p < n ? row.feature(p) : pairs.n_features);
            x[i] = p < n ? row.x(p) : 1.0;
        }
        move(at, Four{x[0], x[2], x[1], x[3]});
    });
}

}  // namespace surelearn
