// Chains: Viterbi paths of a sequence, and sums over all paths. Knows scores only.
//
//     score(y) = sum_t U[t, y_t] + sum_{t >= 1} A_t[y_{t-1}, y_t]
//
// The first and last U include the scores of starting and ending with a label; loss augmentation
// adds the cost of a wrong tag to U as well. The first label wins a tie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "surelearn/log_sum_exp.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

using Path = std::vector<std::int32_t>;

/// Tokens [begin, end) of a sequence.
struct TokenRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

namespace detail {

/// to[j] = max_i from[i] + a[i, j] for `width` columns, a multiple of four. Takes sixteen columns
/// at a time if possible: the maxima of different columns do not wait for each other.
inline void best_step(const double* from, const double* a, std::size_t n, std::size_t width,
                      double* to) noexcept {
    widen([=]() SURELEARN_INLINED {
        constexpr double none = -std::numeric_limits<double>::infinity();
        const auto sweep = [&]<std::size_t N>(std::size_t j, std::integral_constant<std::size_t, N>)
                               __attribute__((always_inline)) {
                                   Four best[N];
                                   for (Four& b : best) b = Four{none, none, none, none};
                                   for (std::size_t i = 0; i < n; ++i) {
                                       for (std::size_t k = 0; k < N; ++k) {
                                           Four c;
                                           load(a + i * width + j, Run{4 * k}, c);
                                           c += from[i];
                                           best[k] = c > best[k] ? c : best[k];
                                       }
                                   }
                                   for (std::size_t k = 0; k < N; ++k)
                                       store(best[k], Run{4 * k}, to + j);
                               };
        std::size_t j = 0;
        for (; j + 16 <= width; j += 16) sweep(j, std::integral_constant<std::size_t, 4>{});
        for (; j + 8 <= width; j += 8) sweep(j, std::integral_constant<std::size_t, 2>{});
        for (; j < width; j += 4) sweep(j, std::integral_constant<std::size_t, 1>{});
    });
}

/// The first i with the largest a[i] + b[i], for i < `width`, a multiple of four.
inline std::size_t best_sum(const double* a, const double* b, std::size_t width) noexcept {
    return widen([=]() SURELEARN_INLINED {
        constexpr double none = -std::numeric_limits<double>::infinity();
        Four best{none, none, none, none};
        for (std::size_t i = 0; i < width; i += 4) {
            Four x, y;
            load(a, Run{i}, x);
            load(b, Run{i}, y);
            x += y;
            best = x > best ? x : best;
        }
        const double most = std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
        for (std::size_t i = 0; i < width; ++i) {
            if (a[i] + b[i] == most) return i;
        }
        return std::size_t{0};
    });
}

/// 0 s is 0 for a finite s and NaN otherwise: a sum without branches.
[[nodiscard]] inline bool all_finite(std::span<const double> scores) noexcept {
    double sum = 0.0;
    for (const double s : scores) sum += 0.0 * s;
    return sum == 0.0;
}

/// to[j] = log sum_i exp(from[i] + a[i, j]).
inline void sum_step(const double* from, const double* a, std::size_t n, std::size_t width,
                     double* to) noexcept {
    best_step(from, a, n, width, to);
    for (std::size_t j = 0; j < n; ++j) {
        if (!(to[j] > -std::numeric_limits<double>::infinity())) continue;
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += exp(from[i] + a[i * width + j] - to[j]);
        to[j] += log(sum);
    }
}

}  // namespace detail

/// The scores of one sequence and its decoding. Keeps its memory between sequences.
class Chain {
public:
    /// Allocates a sequence; write its scores with `unary` and `step`.
    void reset(std::size_t length, std::size_t n_labels, bool steps_differ) {
        length_ = length;
        n_labels_ = n_labels;
        width_ = (n_labels + 3) / 4 * 4;
        n_steps_ = length < 2 ? 0 : steps_differ ? length - 1 : 1;
        constexpr double none = -std::numeric_limits<double>::infinity();
        // Padding after the last label fills up a group of four and never wins.
        unary_.assign(length * width_, none);
        steps_.assign(n_steps_ * n_labels * width_, 0.0);
        transposed_at_ = 0;
    }

    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] std::size_t n_labels() const noexcept { return n_labels_; }
    /// The number of labels with padding.
    [[nodiscard]] std::size_t width() const noexcept { return width_; }
    /// The number of transition matrices: 1 if all transitions are the same, 0 if there is none.
    [[nodiscard]] std::size_t n_steps() const noexcept { return n_steps_; }

    /// U[t].
    [[nodiscard]] std::span<double> unary(std::size_t t) noexcept {
        return {unary_.data() + t * width_, n_labels_};
    }
    [[nodiscard]] std::span<const double> unary(std::size_t t) const noexcept {
        return {unary_.data() + t * width_, n_labels_};
    }
    /// A_t[i], t >= 1: scores of the transition from t - 1 to t.
    [[nodiscard]] std::span<double> step(std::size_t t, std::size_t i) noexcept {
        return {steps_.data() + (at(t) * n_labels_ + i) * width_, n_labels_};
    }
    [[nodiscard]] std::span<const double> step(std::size_t t, std::size_t i) const noexcept {
        return {steps_.data() + (at(t) * n_labels_ + i) * width_, n_labels_};
    }

    /// Whether all label scores are finite. Transition scores show up in the margin of a path.
    [[nodiscard]] bool has_finite_labels() const noexcept {
        for (std::size_t t = 0; t < length_; ++t) {
            if (!detail::all_finite(unary(t))) return false;
        }
        return true;
    }

    /// Multiplies all scores by c: the ranking of paths stays, their probabilities change.
    void scale(double c) noexcept {
        for (double& s : unary_) s *= c;
        for (double& s : steps_) s *= c;
        transposed_at_ = 0;
    }

    [[nodiscard]] double score(std::span<const std::int32_t> path) const noexcept {
        double sum = 0.0;
        for (std::size_t t = 0; t < length_; ++t) {
            sum += unary(t)[label(path, t)];
            if (t > 0) sum += step(t, label(path, t - 1))[label(path, t)];
        }
        return sum;
    }

    /// Viterbi: the path with the largest score.
    void best(Path& path) {
        look_forward();
        path.resize(length_);
        if (length_ == 0) return;
        path.back() = first_best(forward(length_ - 1));
        trace_back(path, length_ - 1);
    }

    /// The best path other than y; false if there is no other. Call `best` first and pass its path
    /// in `other`.
    ///
    /// If y is the best path, the second best differs from it somewhere: it is the best path
    /// through some (t, j) with j != y_t. The best score through (t, j) is forward + backward.
    [[nodiscard]] bool best_other(std::span<const std::int32_t> y, Path& other) {
        if (!std::ranges::equal(y, other)) return true;
        look_back();
        double most = -std::numeric_limits<double>::infinity();
        std::pair<std::size_t, std::size_t> place{0, n_labels_};
        for (std::size_t t = 0; t < length_; ++t) {
            for (std::size_t j = 0; j < n_labels_; ++j) {
                const double s = forward(t)[j] + backward(t)[j];
                if (j == label(y, t) || !(s > most)) continue;
                most = s;
                place = {t, j};
            }
        }
        if (place.second == n_labels_) return false;
        through(place.first, place.second, other);
        return true;
    }

    /// The best path with a label other than path[t] at t, and the range where the two differ
    /// (empty if K = 1). `path` is the best of all; pass it in `other` as well, and call
    /// `look_back` first. Once the two paths meet again they stay together, so that the work for
    /// all t is linear in the length, not quadratic.
    [[nodiscard]] TokenRange best_without(std::span<const std::int32_t> path, std::size_t t,
                                          Path& other) {
        std::size_t most = n_labels_;
        const auto s = [&](std::size_t j) { return forward(t)[j] + backward(t)[j]; };
        for (std::size_t j = 0; j < n_labels_; ++j) {
            if (j == label(path, t)) continue;
            if (most == n_labels_ || s(j) > s(most)) most = j;
        }
        if (most == n_labels_) return {t, t};
        other[t] = static_cast<std::int32_t>(most);
        std::size_t begin = t;
        while (begin > 0 && (other[begin - 1] = before(other, begin)) != path[begin - 1]) --begin;
        std::size_t end = t + 1;
        while (end < length_ && (other[end] = after(other, end - 1)) != path[end]) ++end;
        return {begin, end};
    }

    /// The k best paths, or as many as there are, best first.
    [[nodiscard]] std::vector<Path> k_best(std::size_t k) {
        if (length_ == 0) return {Path{}};
        std::vector<std::vector<Entry>> cells(length_ * n_labels_);
        for (std::size_t j = 0; j < n_labels_; ++j) cells[j] = {{unary(0)[j], 0, 0}};
        for (std::size_t t = 1; t < length_; ++t) {
            const std::span before(cells.data() + (t - 1) * n_labels_, n_labels_);
            for (std::size_t j = 0; j < n_labels_; ++j) {
                auto& cell = cells[t * n_labels_ + j];
                cell = best_entries(before, k, [&](std::size_t i) { return step(t, i)[j]; });
                for (Entry& entry : cell) entry.score += unary(t)[j];
            }
        }
        const std::span last(cells.data() + (length_ - 1) * n_labels_, n_labels_);
        std::vector<Path> paths;
        for (Entry end : best_entries(last, k, [](std::size_t) { return 0.0; })) {
            Path path(length_);
            for (std::size_t t = length_; t-- > 0;) {
                path[t] = static_cast<std::int32_t>(end.label);
                end = cells[t * n_labels_ + end.label][end.rank];
            }
            paths.push_back(std::move(path));
        }
        return paths;
    }

    /// log sum_y exp(score(y)). Computes the sums that `sample` reads.
    double log_partition() {
        sweep_forward(detail::sum_step);
        return length_ == 0 ? 0.0 : detail::log_sum_exp(forward(length_ - 1));
    }

    /// p[t, j] = Pr[y_t = j], for Pr[y] proportional to exp(score(y)).
    void marginals(std::span<double> p) {
        sweep_forward(detail::sum_step);
        sweep_back(detail::sum_step);
        for (std::size_t t = 0; t < length_; ++t) {
            const auto out = p.subspan(t * n_labels_, n_labels_);
            for (std::size_t j = 0; j < n_labels_; ++j) out[j] = forward(t)[j] + backward(t)[j];
            detail::softmax(out);
        }
    }

    /// p[t, i, j] = Pr[y_t = i, y_{t+1} = j]; `marginals` must have been called.
    void pair_marginals(std::span<double> p) const noexcept {
        for (std::size_t t = 1; t < length_; ++t) {
            const auto out = p.subspan((t - 1) * n_labels_ * n_labels_, n_labels_ * n_labels_);
            for (std::size_t i = 0; i < n_labels_; ++i) {
                for (std::size_t j = 0; j < n_labels_; ++j) {
                    out[i * n_labels_ + j] =
                        forward(t - 1)[i] + step(t, i)[j] + unary(t)[j] + backward(t)[j];
                }
            }
            detail::softmax(out);
        }
    }

    /// A path drawn from Pr[y], from its end to its start; uniform[t] in [0, 1) decides y_t.
    /// `log_partition` must have been called.
    void sample(std::span<const double> uniform, std::span<std::int32_t> path) {
        std::vector<double>& s = scratch_;
        s.resize(n_labels_);
        for (std::size_t t = length_; t-- > 0;) {
            for (std::size_t i = 0; i < n_labels_; ++i) {
                s[i] = forward(t)[i];
                if (t + 1 < length_) s[i] += step(t + 1, i)[label(path, t + 1)];
            }
            const double whole = detail::log_sum_exp(s);
            double left = uniform[t];
            std::size_t j = 0;
            while (j + 1 < n_labels_ && (left -= detail::exp(s[j] - whole)) >= 0.0) ++j;
            path[t] = static_cast<std::int32_t>(j);
        }
    }

    /// backward[t, i]: the best score after label i at t. `best_without` reads it and the results
    /// of `best`.
    void look_back() { sweep_back(detail::best_step); }

private:
    struct Entry {
        double score;
        std::size_t label;  ///< the previous label
        std::size_t rank;   ///< rank among the paths that end there
    };

    [[nodiscard]] static std::size_t label(std::span<const std::int32_t> path,
                                           std::size_t t) noexcept {
        return static_cast<std::size_t>(path[t]);
    }
    [[nodiscard]] std::size_t at(std::size_t t) const noexcept { return n_steps_ == 1 ? 0 : t - 1; }
    [[nodiscard]] std::span<const double> forward(std::size_t t) const noexcept {
        return {forward_.data() + t * width_, n_labels_};
    }
    [[nodiscard]] std::span<const double> backward(std::size_t t) const noexcept {
        return {backward_.data() + t * width_, n_labels_};
    }

    void look_forward() { sweep_forward(detail::best_step); }

    /// forward[t, j]: the maximum (or sum) over all paths that end with label j at t.
    template <class Recursion>
    void sweep_forward(const Recursion& recursion) {
        forward_.resize(length_ * width_);
        if (length_ > 0) std::copy_n(unary_.data(), width_, forward_.data());
        for (std::size_t t = 1; t < length_; ++t) {
            double* const to = forward_.data() + t * width_;
            recursion(to - width_, step(t, 0).data(), n_labels_, width_, to);
            for (std::size_t j = 0; j < width_; ++j) to[j] += unary_[t * width_ + j];
        }
    }

    /// backward[t, i]: the maximum (or sum) over all continuations of label i at t.
    template <class Recursion>
    void sweep_back(const Recursion& recursion) {
        backward_.resize(length_ * width_);
        if (length_ == 0) return;
        std::fill_n(backward_.data() + (length_ - 1) * width_, width_, 0.0);
        for (std::size_t t = length_ - 1; t > 0; --t) {
            transpose(t);
            double* const from = backward_.data() + t * width_;
            recursion(follow(t), transposed_.data(), n_labels_, width_, from - width_);
        }
    }

    /// The score of each label at t plus the best (or sum) of what can follow it.
    [[nodiscard]] const double* follow(std::size_t t) {
        scratch_.resize(width_);
        const double* const u = unary_.data() + t * width_;
        const double* const after = backward_.data() + t * width_;
        for (std::size_t j = 0; j < width_; ++j) scratch_[j] = u[j] + after[j];
        return scratch_.data();
    }

    /// transposed[j, i] = A_t[i, j].
    void transpose(std::size_t t) {
        if (transposed_at_ == at(t) + 1) return;
        transposed_at_ = at(t) + 1;
        transposed_.assign(n_labels_ * width_, 0.0);
        for (std::size_t i = 0; i < n_labels_; ++i) {
            const auto from = step(t, i);
            for (std::size_t j = 0; j < n_labels_; ++j) transposed_[j * width_ + i] = from[j];
        }
    }

    [[nodiscard]] static std::int32_t first_best(std::span<const double> s) noexcept {
        return static_cast<std::int32_t>(std::ranges::max_element(s) - s.begin());
    }

    /// The label at t - 1 on the best path with path[t] at t. There are no back pointers: searching
    /// again along one path is less work than storing them for all.
    [[nodiscard]] std::int32_t before(const Path& path, std::size_t t) {
        const double* const from = forward_.data() + (t - 1) * width_;
        return static_cast<std::int32_t>(
            detail::best_sum(from, steps_to(t, label(path, t)), width_));
    }

    /// The label at t + 1 on the best path with path[t] at t.
    [[nodiscard]] std::int32_t after(const Path& path, std::size_t t) {
        const double* const taken = step(t + 1, label(path, t)).data();
        return static_cast<std::int32_t>(detail::best_sum(taken, follow(t + 1), width_));
    }

    void trace_back(Path& path, std::size_t t) {
        for (; t > 0; --t) path[t - 1] = before(path, t);
    }

    /// A_t[., j]. If all transitions are the same, the transposed matrix is kept for the next call.
    [[nodiscard]] const double* steps_to(std::size_t t, std::size_t j) {
        if (n_steps_ == 1) {
            transpose(t);
            return transposed_.data() + j * width_;
        }
        scratch_.resize(width_);
        for (std::size_t i = 0; i < n_labels_; ++i) scratch_[i] = step(t, i)[j];
        return scratch_.data();
    }

    /// The best path through label j at t.
    void through(std::size_t t, std::size_t j, Path& path) {
        path.resize(length_);
        path[t] = static_cast<std::int32_t>(j);
        trace_back(path, t);
        for (; t + 1 < length_; ++t) path[t + 1] = after(path, t);
    }

    /// The k best continuations of sorted cells; ties by label and rank.
    template <class Cost>
    [[nodiscard]] static std::vector<Entry> best_entries(std::span<const std::vector<Entry>> before,
                                                         std::size_t k, const Cost& cost) {
        std::vector<Entry> kept;
        for (std::size_t i = 0; i < before.size(); ++i) {
            for (std::size_t rank = 0; rank < before[i].size(); ++rank) {
                const Entry entry{before[i][rank].score + cost(i), i, rank};
                if (kept.size() == k && !(entry.score > kept.back().score)) break;
                const auto place =
                    std::ranges::upper_bound(kept, entry.score, std::greater{}, &Entry::score);
                kept.insert(place, entry);
                if (kept.size() > k) kept.pop_back();
            }
        }
        return kept;
    }

    std::size_t length_ = 0;
    std::size_t n_labels_ = 0;
    std::size_t width_ = 0;
    std::size_t n_steps_ = 0;
    std::size_t transposed_at_ = 0;  ///< 1 + index of the transposed transition; 0: none
    std::vector<double> unary_;
    std::vector<double> steps_;
    std::vector<double> forward_;
    std::vector<double> backward_;
    std::vector<double> transposed_;
    std::vector<double> scratch_;
};

}  // namespace surelearn
