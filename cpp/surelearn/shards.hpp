// Shards: weights that went on from one base, merged into it in the order of the shards. The order
// is known, so plain sums of doubles are the same for any number of threads. Knows runs of numbers
// only: neither rows nor classes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "surelearn/bounds.hpp"
#include "surelearn/moves.hpp"
#include "surelearn/simd.hpp"

namespace surelearn {

/// The weights of a shard.
template <class T>
struct ShardRuns {
    std::span<const std::int64_t> features;  ///< ascending; empty with `every`
    const T* cells;                          ///< their runs
    bool every;                              ///< whether there is a run for each feature
    double since;                            ///< updates since the base

    /// The place of the first feature that is not below j.
    [[nodiscard]] std::size_t place_of(std::size_t j) const {
        if (every) return j;
        const auto at = std::ranges::lower_bound(features, static_cast<std::int64_t>(j));
        return static_cast<std::size_t>(at - features.begin());
    }
};

/// Merges the moves of shards by `Evidence`, feature by feature.
template <class T>
class ShardMerger {
public:
    ShardMerger(std::span<const ShardRuns<T>> shards, const RunLayout& run, const Lifetime& life,
                double tau)
        : shards_(shards), run_(run), settling_{run, {1.0, 1.0}, life, tau} {}

    /// Merges features [begin, end) into their runs in `base`. False if a number does not fit in T.
    [[nodiscard]] bool merge(T* base, std::size_t begin, std::size_t end, Bounds<T>& bounds) const {
        std::vector<std::size_t> next;
        for (const auto& shard : shards_) next.push_back(shard.place_of(begin));
        Extent extent;
        if (run_.second_order && !run_.averaged && run_.columns == 1) {
            merge_pairs(base, begin, end, next, extent);
        } else {
            merge_runs(base, begin, end, next, extent);
        }
        extent.into(bounds);
        return extent.finite();
    }

private:
    /// The largest mean, and the least and largest variance that were written.
    struct Extent {
        Four mean{};
        Four least{most, most, most, most};
        Four largest{};
        bool sound = true;

        static constexpr double most = std::numeric_limits<double>::max();

        [[gnu::always_inline]] void add(const Four& mu, const Four& sigma) noexcept {
            const Four size = mu < 0.0 ? -mu : mu;
            mean = (size > mean) | (size != size) ? size : mean;
            least = sigma < least ? sigma : least;
            largest = sigma > largest ? sigma : largest;
        }
        [[nodiscard]] bool finite() const noexcept {
            bool all = sound;
            for (std::size_t i = 0; i < 4; ++i) all &= std::isfinite(mean[i]);
            return all;
        }
        void into(Bounds<T>& bounds) const noexcept {
            for (std::size_t i = 0; i < 4; ++i) {
                if (largest[i] == 0.0) continue;
                bounds.include(mean[i], least[i]);
                bounds.include(mean[i], largest[i]);
            }
        }
    };

    /// What is summed of the moves of four weights.
    struct Sums {
        Four moves{};
        Four pulls{};
        Four growth{};
        Four count{};
    };

    /// The sums of neighbouring features, which stay in the first cache: each shard's runs are read
    /// at once.
    struct Block {
        static constexpr std::size_t size = 1024;

        std::array<double, size> moves;
        std::array<double, size> pulls;
        std::array<double, size> growth;
        std::array<double, size> count;
    };

    /// Weights of one column, with variances and without averages.
    void merge_pairs(T* base, std::size_t begin, std::size_t end, std::span<std::size_t> next,
                     Extent& extent) const {
        const auto block = std::make_unique<Block>();
        for (std::size_t first = begin; first < end; first += Block::size) {
            const std::size_t last = std::min(first + Block::size, end);
            *block = {};
            for (std::size_t i = 0; i < shards_.size(); ++i) {
                next[i] = sum_pairs(shards_[i], next[i], last, base, first, *block);
            }
            settle_pairs(base, first, last, *block, extent);
        }
    }

    /// Adds the moves of a shard's runs from `p` to feature `last`; the place after them.
    [[nodiscard]] std::size_t sum_pairs(const ShardRuns<T>& shard, std::size_t p, std::size_t last,
                                        const T* base, std::size_t first, Block& block) const {
        const std::size_t n = shard.every ? last : shard.features.size();
        for (; p < n; ++p) {
            const std::size_t j = shard.every ? p : static_cast<std::size_t>(shard.features[p]);
            if (j >= last) break;
            const double m = shard.cells[2 * p];
            const double s = shard.cells[2 * p + 1];
            const double mu = base[2 * j];
            const double sigma = base[2 * j + 1];
            const double step = m - mu;
            const double growth = 1.0 / s - 1.0 / sigma;
            const std::size_t q = j - first;
            block.moves[q] += step;
            block.pulls[q] += step * growth;
            block.growth[q] += growth;
            block.count[q] += m != mu || s != sigma ? 1.0 : 0.0;
        }
        return p;
    }

    /// Four neighbouring features at a time.
    void settle_pairs(T* base, std::size_t first, std::size_t last, const Block& block,
                      Extent& extent) const {
        const double tau = settling_.tau;
        widen([=, &block, &extent]() SURELEARN_INLINED {
            for (std::size_t j = first; j < last; j += 4) {
                const Run at{j - first};
                Sums sums;
                load(block.count.data(), at, sums.count);
                if (!any(sums.count)) continue;
                load(block.moves.data(), at, sums.moves);
                load(block.pulls.data(), at, sums.pulls);
                load(block.growth.data(), at, sums.growth);
                std::array<T*, 4> own;
                for (std::size_t q = 0; q < 4; ++q) own[q] = base + 2 * std::min(j + q, last - 1);
                Four mu{}, sigma{};
                load_pairs<T>(own[0], own[2], mu);
                load_pairs<T>(own[1], own[3], sigma);
                transpose_pairs(mu, sigma);
                move(sums, tau, mu, sigma);
                round(mu, sigma, extent);
                for (std::size_t q = 0; q < std::min<std::size_t>(4, last - j); ++q) {
                    own[q][0] = static_cast<T>(mu[q]);
                    own[q][1] = static_cast<T>(sigma[q]);
                }
            }
        });
    }

    /// All columns of a feature with variances and without averages, four at a time. Where fewer
    /// are left the last one is repeated: its numbers are computed and written again.
    void settle_columns(T* base, std::span<const T* const> own, Extent& extent) const {
        const std::size_t K = run_.columns;
        const double tau = settling_.tau;
        widen([=, &extent]() SURELEARN_INLINED {
            std::size_t k = 0;
            for (; k + 4 <= K; k += 4) {
                const auto still = [&](const T* run) {
                    return same(run + k, base + k) && same(run + K + k, base + K + k);
                };
                settle_four(base, own, Run{k}, Run{K + k}, tau, still, extent);
            }
            if (k == K) return;
            std::array<std::size_t, 4> means, variances;
            for (std::size_t i = 0; i < 4; ++i) {
                means[i] = std::min(k + i, K - 1);
                variances[i] = K + means[i];
            }
            settle_four(base, own, means, variances, tau, [](const T*) { return false; }, extent);
        });
    }

    /// Four columns; a shard that is `still` adds nothing.
    template <class Positions, class Still>
    [[gnu::always_inline]] static void settle_four(T* base, std::span<const T* const> own,
                                                   const Positions& means,
                                                   const Positions& variances, double tau,
                                                   const Still& still, Extent& extent) noexcept {
        Four mu{}, sigma{}, m{}, s{};
        Sums sums;
        for (const T* const run : own) {
            if (still(run)) continue;
            load(base, means, mu);
            load(base, variances, sigma);
            load(run, means, m);
            load(run, variances, s);
            add(mu, sigma, m, s, sums);
        }
        if (!any(sums.count)) return;
        move(sums, tau, mu, sigma);
        round(mu, sigma, extent);
        store(mu, means, base);
        store(sigma, variances, base);
    }

    [[gnu::always_inline]] static bool any(const Four& count) noexcept {
        return count[0] + count[1] + count[2] + count[3] > 0.0;
    }

    [[gnu::always_inline]] void prefetch(const T* run) const noexcept {
        for (std::size_t k = 0; k < run_.size(); k += 64 / sizeof(T)) {
            __builtin_prefetch(run + k, 1, 2);
        }
    }

    /// Feature by feature.
    void merge_runs(T* base, std::size_t begin, std::size_t end, std::span<std::size_t> next,
                    Extent& extent) const {
        constexpr std::size_t block = 4096;
        constexpr std::size_t ahead = 8;
        std::vector<std::size_t> found;
        std::vector<const T*> own(shards_.size());
        std::vector<double> since(shards_.size());
        for (std::size_t first = begin; first < end; first += block) {
            find(first, std::min(first + block, end), next, found);
            for (std::size_t p = 0; p < found.size(); ++p) {
                if (p + ahead < found.size()) prefetch(base + found[p + ahead] * run_.size());
                const std::size_t j = found[p];
                std::size_t n = 0;
                for (std::size_t i = 0; i < shards_.size(); ++i) {
                    if ((own[n] = take(i, j, next)) != nullptr) since[n++] = shards_[i].since;
                }
                T* const start = base + j * run_.size();
                if (run_.second_order && !run_.averaged) {
                    settle_columns(start, std::span(own).first(n), extent);
                } else {
                    settle_any(start, std::span(own).first(n), since, extent);
                }
            }
        }
    }

    /// The features of [begin, end) that shards have; `next` stays.
    void find(std::size_t begin, std::size_t end, std::span<const std::size_t> next,
              std::vector<std::size_t>& found) const {
        found.clear();
        std::array<std::uint64_t, 4096 / 64> marks{};
        for (std::size_t i = 0; i < shards_.size(); ++i) {
            if (shards_[i].every) {
                marks.fill(~std::uint64_t{0});
                break;
            }
            const auto features = shards_[i].features;
            for (std::size_t p = next[i]; p < features.size(); ++p) {
                const auto j = static_cast<std::size_t>(features[p]);
                if (j >= end) break;
                marks[(j - begin) / 64] |= std::uint64_t{1} << ((j - begin) % 64);
            }
        }
        for (std::size_t w = 0; w < marks.size(); ++w) {
            for (std::uint64_t left = marks[w]; left != 0; left &= left - 1) {
                const std::size_t j =
                    begin + 64 * w + static_cast<std::size_t>(std::countr_zero(left));
                if (j < end) found.push_back(j);
            }
        }
    }

    /// The run of feature j in shard i, from which `next` goes on; null: it has none.
    [[gnu::always_inline]] const T* take(std::size_t i, std::size_t j,
                                         std::span<std::size_t> next) const noexcept {
        const ShardRuns<T>& shard = shards_[i];
        if (shard.every) return shard.cells + j * run_.size();
        std::size_t& at = next[i];
        const bool here =
            at < shard.features.size() && static_cast<std::size_t>(shard.features[at]) == j;
        if (!here) return nullptr;
        return shard.cells + at++ * run_.size();
    }

    /// One column after the other, whatever is stored.
    void settle_any(T* base, std::span<const T* const> own, std::span<const double> since,
                    Extent& extent) const {
        const std::size_t S = run_.n_sums();
        for (std::size_t k = 0; k < run_.columns; ++k) {
            std::array<double, 5> sums{};
            std::array<double, 5> terms{};
            int count = 0;
            for (std::size_t i = 0; i < own.size(); ++i) {
                const Move<T> move{own[i], base, run_, k};
                if (!move.any()) continue;
                ++count;
                move.terms(settling_.units, {settling_.life.before, since[i]}, terms);
                for (std::size_t s = 0; s < S; ++s) sums[s] += terms[s];
            }
            if (count > 0) settling_.apply(base, k, sums, count);
        }
        for (std::size_t i = 0; i < run_.size(); ++i) extent.sound &= std::isfinite(base[i]);
        for (std::size_t k = 0; k < run_.columns; ++k) {
            const double mu = base[k];
            const double sigma = run_.second_order ? base[run_.columns + k] : 1.0;
            extent.add(Four{mu, mu, mu, mu}, Four{sigma, sigma, sigma, sigma});
        }
    }

    /// Whether four numbers have the same bits.
    [[gnu::always_inline]] static bool same(const T* a, const T* b) noexcept {
        return std::memcmp(a, b, 4 * sizeof(T)) == 0;
    }

    /// Adds the terms of `Move`; a weight that is where the base is adds zeros.
    [[gnu::always_inline]] static void add(const Four& mu, const Four& sigma, const Four& m,
                                           const Four& s, Sums& sums) noexcept {
        const Four step = m - mu;
        const Four growth = 1.0 / s - 1.0 / sigma;
        sums.moves += step;
        sums.pulls += step * growth;
        sums.growth += growth;
        sums.count += (m != mu) | (s != sigma) ? Four{1.0, 1.0, 1.0, 1.0} : Four{};
    }

    /// What `Settling` does, of four weights.
    [[gnu::always_inline]] static void move(const Sums& sums, double tau, Four& mu,
                                            Four& sigma) noexcept {
        const Four one{1.0, 1.0, 1.0, 1.0};
        const FourMask moved = sums.count > 0.0;
        const Four models = moved ? sums.count : one;
        const Four prior = 1.0 / sigma;
        Four step, precision;
        if (std::isinf(tau)) {
            const FourMask grown = sums.growth > 0.0;
            step = (grown ? sums.pulls : sums.moves) / (grown ? sums.growth : models);
            precision = prior + sums.growth / models;
        } else {
            const Four all = prior + tau * sums.growth;
            step = (prior * sums.moves + tau * sums.pulls) / all;
            precision = prior + sums.growth * (prior + tau * sums.growth / models) / all;
        }
        mu = moved ? mu + step : mu;
        sigma = moved ? 1.0 / precision : sigma;
    }

    /// Element by element gcc 12 drops the conversion where it vectorises.
    [[gnu::always_inline]] static void to_stored(Four& x) noexcept {
        if constexpr (sizeof(T) == 4) {
            const auto all = __builtin_convertvector(x, FourFloats);
            x = Four{all[0], all[1], all[2], all[3]};
        }
    }

    /// To what is stored. A precision that has no inverse in T: the least variance there is.
    [[gnu::always_inline]] static void round(Four& mu, Four& sigma, Extent& extent) noexcept {
        constexpr auto least = static_cast<double>(std::numeric_limits<T>::denorm_min());
        to_stored(mu);
        to_stored(sigma);
        sigma = sigma > least ? sigma : Four{least, least, least, least};
        extent.add(mu, sigma);
    }

    std::span<const ShardRuns<T>> shards_;
    RunLayout run_;
    Settling<T> settling_;
};

}  // namespace surelearn
