// Chains: sums over all paths with scaled probabilities instead of logarithms, for many
// sequences with the same transitions. Knows scores only.
//
//     E = exp(A),  e_t = exp(U_t),  a_t = (a_{t-1} E) e_t / c_t,  b_t = E (e_{t+1} b_{t+1}) /
//     c_{t+1}
//
// with c_t such that a_t sums to one (Rabiner 1989, sec. V.A). Then a_t b_t are the probabilities
// of labels and sum_t log c_t is log Z. It takes one exp per score, not one per pair of labels.
// Scores that differ by hundreds can make a sum zero; `sweep` then returns false, and the caller
// takes `Chain`, which works with logarithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "surelearn/chain.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

namespace detail {

/// x[i] = exp(x[i]) for `width` numbers <= 0, a multiple of four. As `exp`, but without branches:
/// what is below the smallest normal number becomes zero.
inline void exp_all(double* x, std::size_t width) noexcept {
    widen([=]() SURELEARN_INLINED {
        constexpr double least = -708.0;
        constexpr double inverse_ln2 = 1.4426950408889634;
        constexpr double ln2_high = 6.93147180369123816490e-01;
        constexpr double ln2_low = 1.90821492927058770002e-10;
        constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
        for (std::size_t i = 0; i < width; i += 4) {
            Four y;
            load(x, Run{i}, y);
            const FourMask tiny = !(y > least);
            y = y > least ? y : Four{least, least, least, least};
            const Four shifted = y * inverse_ln2 + shift;
            const Four k = shifted - shift;
            const Four r = (y - k * ln2_high) - k * ln2_low;
            Four sum = Four{} + 1.0 / 6227020800;
            for (const double c :
                 {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                  1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0, 1.0}) {
                sum = sum * r + c;
            }
            // The low bits of `shifted` hold k as an integer: 2^k from its exponent bits.
            const FourBits power = ((FourBits)shifted + 1023u) << 52;
            sum = sum * (Four)power;
            sum = tiny ? Four{} : sum;
            store(sum, Run{i}, x);
        }
    });
}

/// to[j] = sum_i from[i] e[i, j] for `width` columns, a multiple of four.
inline void multiply(const double* from, const double* e, std::size_t n, std::size_t width,
                     double* to) noexcept {
    widen([=]() SURELEARN_INLINED {
        const auto sweep = [&]<std::size_t N>(std::size_t j, std::integral_constant<std::size_t, N>)
                               __attribute__((always_inline)) {
                                   Four sum[N];
                                   for (Four& one : sum) one = Four{0.0, 0.0, 0.0, 0.0};
                                   for (std::size_t i = 0; i < n; ++i) {
                                       for (std::size_t k = 0; k < N; ++k) {
                                           Four c;
                                           load(e + i * width + j, Run{4 * k}, c);
                                           sum[k] += c * from[i];
                                       }
                                   }
                                   for (std::size_t k = 0; k < N; ++k)
                                       store(sum[k], Run{4 * k}, to + j);
                               };
        std::size_t j = 0;
        for (; j + 24 <= width; j += 24) sweep(j, std::integral_constant<std::size_t, 6>{});
        for (; j + 8 <= width; j += 8) sweep(j, std::integral_constant<std::size_t, 2>{});
        for (; j < width; j += 4) sweep(j, std::integral_constant<std::size_t, 1>{});
    });
}

/// to[i, j] += a[i] h[j] + a'[i] h'[j], for two tokens at once: the sums are read and written once.
inline void add_outer(const double* a, const double* h, std::size_t tokens, std::size_t n,
                      std::size_t width, double* to) noexcept {
    widen([=]() SURELEARN_INLINED {
        const bool two = tokens == 2;
        for (std::size_t i = 0; i < n; ++i) {
            double* const row = to + i * width;
            for (std::size_t j = 0; j < width; j += 4) {
                Four x, y;
                load(row, Run{j}, x);
                load(h, Run{j}, y);
                x += y * a[i];
                if (two) {
                    load(h, Run{width + j}, y);
                    x += y * a[width + i];
                }
                store(x, Run{j}, row);
            }
        }
    });
}

[[nodiscard, gnu::always_inline]] inline double sum_of(const Four& x) noexcept {
    return (x[0] + x[1]) + (x[2] + x[3]);
}

/// to[j] = from[j] minus the largest of them, which is returned. Padding is -infinity.
inline double below_largest(const double* from, std::size_t width, double* to) noexcept {
    return widen([=]() SURELEARN_INLINED {
        constexpr double none = -std::numeric_limits<double>::infinity();
        Four best{none, none, none, none};
        for (std::size_t j = 0; j < width; j += 4) {
            Four x;
            load(from, Run{j}, x);
            best = x > best ? x : best;
        }
        const double most = std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
        for (std::size_t j = 0; j < width; ++j) to[j] = from[j] - most;
        return most;
    });
}

/// x[j] *= y[j]; the sum of the products.
inline double times(double* x, const double* y, std::size_t width) noexcept {
    return widen([=]() SURELEARN_INLINED {
        Four sum{0.0, 0.0, 0.0, 0.0};
        for (std::size_t j = 0; j < width; j += 4) {
            Four p, q;
            load(x, Run{j}, p);
            load(y, Run{j}, q);
            p *= q;
            sum += p;
            store(p, Run{j}, x);
        }
        return sum_of(sum);
    });
}

inline void scale(double* x, double c, std::size_t width) noexcept {
    widen([=]() SURELEARN_INLINED {
        for (std::size_t j = 0; j < width; ++j) x[j] *= c;
    });
}

/// p[j] = a[j] b[j] and h[j] = u[j] b[j] c; the sum of p.
inline double join(const double* a, const double* b, const double* u, double c, std::size_t width,
                   double* p, double* h) noexcept {
    return widen([=]() SURELEARN_INLINED {
        Four sum{0.0, 0.0, 0.0, 0.0};
        for (std::size_t j = 0; j < width; j += 4) {
            Four x, y, z;
            load(a, Run{j}, x);
            load(b, Run{j}, y);
            load(u, Run{j}, z);
            x *= y;
            z = z * y * c;
            sum += x;
            store(x, Run{j}, p);
            store(z, Run{j}, h);
        }
        return sum_of(sum);
    });
}

}  // namespace detail

/// Pairs of labels at each place, or summed over all places.
enum class Pairs { apart, together };

class ChainSums {
public:
    /// The transitions have changed: read them again at the next `sweep`.
    void forget_steps() noexcept { n_read_ = 0; }

    /// Forward and backward; false if a sum vanished. Padding of a chain's scores is -infinity.
    [[nodiscard]] bool sweep(const Chain& chain) {
        length_ = chain.length();
        n_ = chain.n_labels();
        width_ = chain.width();
        if (length_ == 0) return true;
        read_steps(chain);
        exponentiate(chain);
        return forward() && backward();
    }

    [[nodiscard]] double log_partition() const noexcept { return log_z_; }

    /// Pr[y_t = j] for all j; padded with zeros.
    [[nodiscard]] std::span<const double> marginals(std::size_t t) const noexcept {
        return {p_.data() + t * width_, n_};
    }

    /// f(t, i, probabilities of (i, j) at (t - 1, t) for all j), for all t and i. If all
    /// transitions are the same and wanted together: once per i, with t = 1 and the sums over t.
    template <class F>
    void each_pair(Pairs pairs, const F& f) {
        if (length_ < 2) return;
        const bool same = n_steps_ == 1 && pairs == Pairs::together;
        pair_.resize(width_);
        if (same) {
            outer_.assign(n_ * width_, 0.0);
            for (std::size_t t = 1; t < length_; t += 2) {
                const std::size_t tokens = t + 1 < length_ ? 2 : 1;
                detail::add_outer(at(a_, t - 1), at(h_, t), tokens, n_, width_, outer_.data());
            }
        }
        for (std::size_t t = 1; t < (same ? 2 : length_); ++t) {
            for (std::size_t i = 0; i < n_; ++i) {
                const double* const e = steps(t) + i * width_;
                for (std::size_t j = 0; j < width_; ++j) {
                    pair_[j] =
                        e[j] * (same ? outer_[i * width_ + j] : at(a_, t - 1)[i] * at(h_, t)[j]);
                }
                f(t, i, std::span<const double>(pair_.data(), n_));
            }
        }
    }

private:
    [[nodiscard]] const double* at(const std::vector<double>& v, std::size_t t) const noexcept {
        return v.data() + t * width_;
    }
    [[nodiscard]] double* at(std::vector<double>& v, std::size_t t) const noexcept {
        return v.data() + t * width_;
    }
    /// E_t, for t >= 1; and its transposed.
    [[nodiscard]] std::size_t step_at(std::size_t t) const noexcept {
        return (n_steps_ == 1 ? 0 : t - 1) * n_ * width_;
    }
    [[nodiscard]] const double* steps(std::size_t t) const noexcept {
        return e_.data() + step_at(t);
    }
    [[nodiscard]] const double* transposed(std::size_t t) const noexcept {
        return transposed_.data() + step_at(t);
    }
    [[nodiscard]] double step_shift(std::size_t t) const noexcept {
        return shift_[n_steps_ == 1 ? 0 : t - 1];
    }

    /// E and its transposed, divided by the largest entry.
    void read_steps(const Chain& chain) {
        if (length_ < 2 || (n_read_ == 1 && chain.n_steps() == 1)) return;
        n_read_ = n_steps_ = chain.n_steps();
        e_.resize(n_steps_ * n_ * width_);
        transposed_.assign(n_steps_ * n_ * width_, 0.0);
        shift_.resize(n_steps_);
        for (std::size_t t = 1; t <= n_steps_; ++t) {
            double* const e = e_.data() + step_at(t);
            double most = -std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < n_; ++i) {
                const auto row = chain.step(t, i);
                most = std::max(most, *std::ranges::max_element(row));
            }
            for (std::size_t i = 0; i < n_; ++i) {
                const auto row = chain.step(t, i);
                for (std::size_t j = 0; j < width_; ++j) {
                    e[i * width_ + j] = j < n_ ? row[j] - most : -800.0;
                }
            }
            detail::exp_all(e, n_ * width_);
            for (std::size_t i = 0; i < n_; ++i) {
                for (std::size_t j = 0; j < n_; ++j) {
                    transposed_[step_at(t) + j * width_ + i] = e[i * width_ + j];
                }
            }
            shift_[t - 1] = most;
        }
    }

    void exponentiate(const Chain& chain) {
        u_.resize(length_ * width_);
        log_z_ = 0.0;
        for (std::size_t t = 0; t < length_; ++t) {
            log_z_ += detail::below_largest(chain.unary(t).data(), width_, at(u_, t));
        }
        detail::exp_all(u_.data(), length_ * width_);
    }

    [[nodiscard]] bool forward() {
        a_.resize(length_ * width_);
        inverse_.resize(length_);
        for (std::size_t t = 0; t < length_; ++t) {
            double* const to = at(a_, t);
            const double* const e = at(u_, t);
            if (t == 0) {
                std::fill_n(to, width_, 1.0);
            } else {
                detail::multiply(to - width_, steps(t), n_, width_, to);
                log_z_ += step_shift(t);
            }
            const double sum = detail::times(to, e, width_);
            if (!(sum > least) || !std::isfinite(sum)) return false;
            const double inverse = 1.0 / sum;
            detail::scale(to, inverse, width_);
            inverse_[t] = inverse;
            log_z_ += detail::log(sum);
        }
        return true;
    }

    /// h_t = e_t b_t / c_t, and p_t = a_t b_t.
    [[nodiscard]] bool backward() {
        h_.resize(length_ * width_);
        p_.resize(length_ * width_);
        b_.assign(width_, 1.0);
        for (std::size_t t = length_; t-- > 0;) {
            const double sum = detail::join(at(a_, t), b_.data(), at(u_, t), inverse_[t], width_,
                                            at(p_, t), at(h_, t));
            if (!(std::abs(sum - 1.0) < 1e-6)) return false;
            if (t > 0) detail::multiply(at(h_, t), transposed(t), n_, width_, b_.data());
        }
        return true;
    }

    /// Sums below this have lost terms that count.
    static constexpr double least = 1e-250;

    std::size_t length_ = 0;
    std::size_t n_ = 0;
    std::size_t width_ = 0;
    std::size_t n_steps_ = 0;
    std::size_t n_read_ = 0;  ///< transitions that have been read; 0: none
    double log_z_ = 0.0;
    std::vector<double> e_;
    std::vector<double> transposed_;
    std::vector<double> shift_;
    std::vector<double> u_;
    std::vector<double> a_;
    std::vector<double> b_;
    std::vector<double> h_;
    std::vector<double> p_;
    std::vector<double> inverse_;  ///< 1 / c_t
    std::vector<double> outer_;
    std::vector<double> pair_;
};

}  // namespace surelearn
