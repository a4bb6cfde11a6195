// A covariance matrix A: products A x, and rank-one parts that are subtracted. Knows no weights.
//
// Learning reads and writes the lower half only. A part to subtract is put off until the next
// product: one sweep then reads and writes every number once for both. All arithmetic is in double,
// T is the storage type. Sums run in the order of x, so neither threads nor the width of vectors
// change a bit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/lines.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/table.hpp"

namespace surelearn {

namespace detail {

/// Four rows i of A and n columns j, all left of the diagonal:
///
///     a_ij -= f_i f_j, rounded to T,    s_i += a_ij x_j,    s_j += a_ij x_i.
///
/// Pointers with an i begin at the first row, the others at the first column; n is a multiple of 4.
template <bool subtracts, class T>
void sweep_panel(const std::array<T*, 4>& a, std::size_t n, const double* f, const double* x,
                 double* s, const double* f_i, const double* x_i, double* s_i) noexcept {
    widen([=, &a]() SURELEARN_INLINED {
        // Local copies: no write to `a` or `s` can alias them, so the compiler keeps them in
        // registers.
        Four x_rows[4], f_rows[4], sums;
        for (std::size_t r = 0; r < 4; ++r) {
            x_rows[r] = Four{x_i[r], x_i[r], x_i[r], x_i[r]};
            if constexpr (subtracts) f_rows[r] = Four{f_i[r], f_i[r], f_i[r], f_i[r]};
        }
        load(s_i, Run{0}, sums);
        for (std::size_t j = 0; j < n; j += 4) {
            Four w[4], f_columns, s_columns;
            if constexpr (subtracts) load(f, Run{j}, f_columns);
            load(s, Run{j}, s_columns);
            for (std::size_t r = 0; r < 4; ++r) {
                load(a[r], Run{j}, w[r]);
                if constexpr (subtracts) {
                    w[r] -= f_columns * f_rows[r];
                    store_rounded(w[r], a[r] + j);
                }
                s_columns += w[r] * x_rows[r];
            }
            store(s_columns, Run{j}, s);
            transpose(w);  // w[c] are now the four rows of column j + c
            for (std::size_t c = 0; c < 4; ++c) sums += w[c] * x[j + c];
        }
        store(sums, Run{0}, s_i);
    });
}

/// Entry of a sparse vector.
struct VectorEntry {
    std::size_t index;
    double value;
};

/// The same for columns [begin, end) of one row, up to the diagonal. `x` lists the entries there.
template <class T>
void sweep_row(T* a, std::size_t i, std::size_t begin, std::size_t end, const double* f,
               std::span<const VectorEntry> x, double x_i, double* s) noexcept {
    widen([=]() SURELEARN_INLINED {
        if (f != nullptr) {
            const double f_i = f[i];
#pragma GCC ivdep
            for (std::size_t j = begin; j < end; ++j) a[j] = static_cast<T>(a[j] - f[j] * f_i);
        }
        for (const auto& [j, value] : x) s[i] += a[j] * value;
        if (x_i == 0.0) return;
        const std::size_t last = std::min(end, i);  // the diagonal counts once
#pragma GCC ivdep
        for (std::size_t j = begin; j < last; ++j) s[j] += a[j] * x_i;
    });
}

/// One sweep through the lower half: A -= f f' and s += A x for ascending entries of x.
template <class T>
class LowerHalfSweep {
public:
    /// If `f` is null, nothing is subtracted.
    LowerHalfSweep(T* a, std::size_t size, const double* f, std::span<const VectorEntry> x,
                   double* s)
        : a_(a), size_(size), f_(f), entries_(x), s_(s), x_(size, 0.0), before_(size + 1, 0) {
        for (const auto& [i, value] : x) {
            x_[i] = value;
            ++before_[i + 1];
        }
        for (std::size_t i = 0; i < size; ++i) before_[i + 1] += before_[i];
    }

    /// A tile adds to the sums of its rows and of its columns. It waits for the tiles left of it
    /// and above it, so that every sum gets its numbers in order. Blocks of rows are taken from the
    /// top: the one above is done, or another thread is at it.
    void run(std::size_t threads) {
        const std::size_t blocks = (size_ + rows_together - 1) / rows_together;
        std::atomic<std::size_t> next{0};
        std::vector<std::atomic<std::uint32_t>> done(blocks);  // tiles of each block
        parallel_for(threads, threads, [&](std::size_t, std::size_t) {
            for (std::size_t b = next.fetch_add(1); b < blocks; b = next.fetch_add(1)) {
                for (std::uint32_t t = 0; t < tiles_in(b); ++t) {
                    if (b > 0 && t < tiles_in(b - 1)) wait_for(done[b - 1], t);
                    tile(b * rows_together, t * columns_together);
                    done[b].store(t + 1, std::memory_order_release);
                    done[b].notify_all();
                }
            }
        });
    }

private:
    // A tile is small enough for the second-level cache and large enough to be worth waiting for.
    static constexpr std::size_t rows_together = 64;
    static constexpr std::size_t columns_together = 256;

    [[nodiscard]] std::size_t tiles_in(std::size_t block) const noexcept {
        const std::size_t end = std::min(size_, (block + 1) * rows_together);
        return (end + columns_together - 1) / columns_together;
    }

    static void wait_for(const std::atomic<std::uint32_t>& done, std::uint32_t tile) noexcept {
        std::uint32_t seen = done.load(std::memory_order_acquire);
        for (; seen <= tile; seen = done.load(std::memory_order_acquire)) done.wait(seen);
    }

    void tile(std::size_t top, std::size_t left) noexcept {
        const std::size_t bottom = std::min(size_, top + rows_together);
        const std::size_t right = std::min(bottom, left + columns_together);
        const std::size_t count = before_[bottom] - before_[top] + before_[right] - before_[left];
        if (f_ == nullptr && count == 0) return;
        const bool dense = count * 4 >= bottom - top + right - left;
        std::size_t i = top;
        for (; dense && i + 4 <= bottom; i += 4) sweep_four(i, left, right);
        for (; i < bottom; ++i) sweep_one(i, left, std::min(right, i + 1));
    }

    void sweep_four(std::size_t i, std::size_t left, std::size_t right) noexcept {
        const std::size_t n = std::min(right, i) - left;
        const std::array<T*, 4> rows{row(i) + left, row(i + 1) + left, row(i + 2) + left,
                                     row(i + 3) + left};
        if (f_ == nullptr) {
            sweep_panel<false>(rows, n, f_, &x_[left], s_ + left, f_, &x_[i], s_ + i);
        } else {
            sweep_panel<true>(rows, n, f_ + left, &x_[left], s_ + left, f_ + i, &x_[i], s_ + i);
        }
        for (std::size_t r = i; i < right && r < i + 4; ++r) sweep_one(r, i, r + 1);
    }

    void sweep_one(std::size_t i, std::size_t begin, std::size_t end) noexcept {
        const auto x = entries_.subspan(before_[begin], before_[end] - before_[begin]);
        sweep_row(row(i), i, begin, end, f_, x, x_[i], s_);
    }

    [[nodiscard]] T* row(std::size_t i) const noexcept { return a_ + i * size_; }

    T* a_;
    std::size_t size_;
    const double* f_;
    std::span<const VectorEntry> entries_;
    double* s_;
    std::vector<double> x_;            ///< x with its zeros
    std::vector<std::size_t> before_;  ///< number of entries before each index
};

/// Copies the lower half of a square to its upper half, block by block.
template <class T>
void mirror(T* a, std::size_t size) noexcept {
    constexpr std::size_t block = 32;
    for (std::size_t top = 0; top < size; top += block) {
        for (std::size_t left = 0; left <= top; left += block) {
            for (std::size_t i = top; i < std::min(size, top + block); ++i) {
                for (std::size_t j = left; j < std::min(i, left + block); ++j) {
                    a[j * size + i] = a[i * size + j];
                }
            }
        }
    }
}

}  // namespace detail

template <class T>
class Covariance {
public:
    using Entry = detail::VectorEntry;

    /// Zeros.
    explicit Covariance(std::size_t size) : size_(size), table_(product(size, size)) {
        std::fill_n(table_.data(), table_.size(), T{0});
    }

    /// How many threads a sweep may use; the result does not depend on it.
    void set_threads(std::size_t threads) noexcept { threads_ = threads; }
    [[nodiscard]] std::size_t threads() const noexcept { return threads_; }

    /// The bytes that an update reads and writes.
    [[nodiscard]] std::size_t bytes() const noexcept { return table_.size() * sizeof(T) / 2; }

    /// Number (i, j), of either half.
    [[nodiscard]] T operator()(std::size_t i, std::size_t j) const noexcept {
        const auto [column, row] = std::minmax(i, j);
        const T a = at(row, column);
        if (put_off_.empty()) return a;
        return static_cast<T>(a - put_off_[column] * put_off_[row]);
    }

    /// Sets numbers (i, j) and (j, i).
    void set(std::size_t i, std::size_t j, T value) noexcept { at(i, j) = at(j, i) = value; }

    /// Every number becomes f of it.
    template <class F>
    void replace(const F& f) {
        settle();
        std::transform(table_.data(), table_.data() + table_.size(), table_.data(), f);
    }

    /// s = A x; each number is summed in the order of the entries. Subtracts what was put off.
    void multiply(std::span<const Entry> x, double* s) const {
        std::fill_n(s, size_, 0.0);
        if (is_square_ && put_off_.empty() && x.size() * 4 < size_) return add_rows(x, s);
        while (!x.empty()) {
            const auto descends = [](const Entry& a, const Entry& b) { return a.index >= b.index; };
            const auto last = std::ranges::adjacent_find(x, descends);
            const auto count = static_cast<std::size_t>(last - x.begin());
            const std::size_t ascending = std::min(x.size(), count + 1);
            sweep(x.first(ascending), s);
            x = x.subspan(ascending);
        }
    }

    /// A -= sum_f f f', rounded once. A single f with many numbers is put off.
    void subtract(const std::vector<std::vector<double>>& factors) {
        settle();
        std::vector<std::size_t> touched;
        for (std::size_t i = 0; i < size_; ++i) {
            const auto moved = [i](const auto& factor) { return factor[i] != 0.0; };
            if (std::ranges::any_of(factors, moved)) touched.push_back(i);
        }
        if (touched.size() * 4 < size_) return subtract_few(factors, touched);
        if (factors.size() == 1) {
            put_off_ = factors[0];
            return;
        }
        is_square_ = false;
        // Long rows and short ones together, so that threads get parts of one size.
        parallel_for((size_ + 1) / 2, threads_for(size_ / 2 * size_),
                     [&](std::size_t begin, std::size_t end) {
                         std::vector<double> sum;
                         for (; begin < end; ++begin) {
                             subtract_row(size_ - 1 - begin, factors, sum);
                             if (2 * begin + 1 < size_) subtract_row(begin, factors, sum);
                         }
                     });
    }

    /// Subtracts what was put off. Call it before others may read A.
    void settle() const {
        if (!put_off_.empty()) sweep({}, nullptr);
    }

    /// All numbers, row after row; valid until A changes.
    [[nodiscard]] const T* square() {
        settle();
        if (!is_square_) detail::mirror(table_.data(), size_);
        is_square_ = true;
        return table_.data();
    }
    void copy_square(T* to) const {
        std::copy_n(table_.data(), table_.size(), to);
        if (!is_square_) detail::mirror(to, size_);
    }
    void assign_square(const T* from) {
        put_off_.clear();
        std::copy_n(from, table_.size(), table_.data());
        is_square_ = true;
    }

private:
    [[nodiscard]] T& at(std::size_t i, std::size_t j) const noexcept {
        return table_.data()[i * size_ + j];
    }

    void sweep(std::span<const Entry> x, double* s) const {
        const bool subtracts = !put_off_.empty();
        const double* const f = subtracts ? put_off_.data() : nullptr;
        const std::size_t numbers = (subtracts ? size_ / 2 : x.size()) * size_;
        detail::LowerHalfSweep<T>(table_.data(), size_, f, x, s).run(threads_for(numbers));
        if (!subtracts) return;  // many may multiply at a time, and write nothing
        is_square_ = false;
        put_off_.clear();
    }

    /// The number of threads worth starting for so many numbers.
    [[nodiscard]] std::size_t threads_for(std::size_t numbers) const noexcept {
        constexpr std::size_t worth_a_thread = std::size_t{1} << 20;
        return std::clamp<std::size_t>(numbers * sizeof(T) / worth_a_thread, 1, threads_);
    }

    /// s += A x by whole rows of both halves, for few entries.
    void add_rows(std::span<const Entry> x, double* s) const {
        parallel_for(size_, threads_for(x.size() * size_), [&](std::size_t begin, std::size_t end) {
            const auto row = [&](std::size_t p) -> const T* { return &at(x[p].index, begin); };
            const auto value = [&](std::size_t p) { return x[p].value; };
            add_lines(x.size(), row, value, std::span(s + begin, end - begin));
        });
    }

    void subtract_few(const std::vector<std::vector<double>>& factors,
                      std::span<const std::size_t> touched) {
        for (const std::size_t i : touched) {
            for (const std::size_t j : touched) {
                if (j > i) break;
                double sum = 0.0;
                for (const auto& factor : factors) sum += factor[j] * factor[i];
                at(i, j) = static_cast<T>(at(i, j) - sum);
                if (is_square_) at(j, i) = at(i, j);
            }
        }
    }

    void subtract_row(std::size_t i, const std::vector<std::vector<double>>& factors,
                      std::vector<double>& sum) {
        sum.assign(i + 1, 0.0);
        for (const auto& factor : factors) add_line(factor.data(), factor[i], sum.data(), i + 1);
        subtract_line(sum.data(), 1.0, &at(i, 0), i + 1);
    }

    std::size_t size_;
    std::size_t threads_ = 1;
    // Subtracting what was put off changes no number that others can see, so a product is const.
    mutable Table<T> table_;
    mutable std::vector<double> put_off_;  ///< f, if f f' is still to be subtracted
    mutable bool is_square_ = true;        ///< whether the upper half is up to date
};

}  // namespace surelearn
