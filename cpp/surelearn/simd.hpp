// Several numbers in one instruction, each with the bits it would get alone. Knows no algorithm.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#if defined(__x86_64__)
#define SURELEARN_HAS_TWO_WIDTHS 1
#else
#define SURELEARN_HAS_TWO_WIDTHS 0
#endif

/// After the parameters of a lambda for `widen` (a compiler may not inline it otherwise).
#define SURELEARN_INLINED __attribute__((always_inline))

namespace surelearn {

namespace detail {

#if SURELEARN_HAS_TWO_WIDTHS
/// Whether this processor has AVX2; SURELEARN_WIDE=0 in the environment says that it has not.
inline const bool wide = [] {
    __builtin_cpu_init();
    const char* const wanted = std::getenv("SURELEARN_WIDE");
    return __builtin_cpu_supports("avx2") && (wanted == nullptr || wanted[0] != '0');
}();

/// The only functions with instructions of AVX2. They copy the loop: what it captured by value
/// cannot be reached from elsewhere, so the compiler keeps it in registers. The copy is made here,
/// number by number: callers would make it in larger pieces than they have just written, for which
/// processors wait.
template <class Loop>
__attribute__((target("avx2"), noinline)) auto run_wide(const Loop& given) noexcept {
    const Loop loop = given;
    return loop();
}
template <class Loop>
__attribute__((noinline)) auto run_narrow(const Loop& given) noexcept {
    const Loop loop = given;
    return loop();
}
#endif

}  // namespace detail

/// Whether the loops of `widen` run with AVX2.
[[nodiscard]] inline bool is_wide() noexcept {
#if SURELEARN_HAS_TWO_WIDTHS
    return detail::wide;
#else
    return false;
#endif
}

/// Runs a loop that is compiled twice, once for AVX2: a factor of 1.2 with 20 classes. The loops
/// work element by element, so both give the same bits. Give it a lambda with SURELEARN_INLINED
/// that captures references by reference and values by value.
///
/// One branch that is always predicted takes the place of `target_clones`: gcc 13 and 14 fail on
/// clones of templates, and neither musl, macOS nor sanitizers can choose clones while loading. No
/// file is compiled with -mavx2 as a whole, so no function that others share can hold instructions
/// that an older processor lacks.
template <class Loop>
[[gnu::always_inline]] inline auto widen(const Loop& loop) noexcept {
#if SURELEARN_HAS_TWO_WIDTHS
    return detail::wide ? detail::run_wide(loop) : detail::run_narrow(loop);
#else
    return loop();
#endif
}

/// Two doubles computed together; each gets the bits it would get alone.
using DoublePair = double __attribute__((vector_size(16)));
using TwoMask = std::int64_t __attribute__((vector_size(16)));

/// Four doubles: one instruction with AVX2, two without. Pass them by reference, since the calling
/// convention for values depends on the processor.
using Four = double __attribute__((vector_size(32), aligned(16)));
using FourBits = std::uint64_t __attribute__((vector_size(32), aligned(16)));
using FourMask = std::int64_t __attribute__((vector_size(32), aligned(16)));
using FourFloats = float __attribute__((vector_size(16)));

namespace detail {
template <std::size_t N>
struct NumbersOf;
template <>
struct NumbersOf<1> {
    using Numbers = double;
    using Mask = bool;
};
template <>
struct NumbersOf<2> {
    using Numbers = DoublePair;
    using Mask = TwoMask;
};
template <>
struct NumbersOf<4> {
    using Numbers = Four;
    using Mask = FourMask;
};
}  // namespace detail

/// N doubles, and the type of their comparison. Never let a template deduce them: it would lose the
/// alignment.
template <std::size_t N>
using Numbers = typename detail::NumbersOf<N>::Numbers;
template <std::size_t N>
using Mask = typename detail::NumbersOf<N>::Mask;

/// Four numbers at positions[0..3], as double. Element by element: gcc makes one instruction of
/// this, but four of __builtin_convertvector.
template <class T, class Positions>
[[gnu::always_inline]] inline void load(const T* at, const Positions& positions, Four& x) noexcept {
    x = Four{at[positions[0]], at[positions[1]], at[positions[2]], at[positions[3]]};
}
template <class T, class Positions>
[[gnu::always_inline]] inline void store(const Four& x, const Positions& positions,
                                         T* at) noexcept {
    for (std::size_t i = 0; i < 4; ++i) at[positions[i]] = static_cast<T>(x[i]);
}

/// Consecutive positions.
struct Run {
    std::size_t first;
    [[gnu::always_inline]] std::size_t operator[](std::size_t i) const noexcept {
        return first + i;
    }
};

/// Rounds four numbers to T and stores them. Of floats all are converted at once.
template <class T>
[[gnu::always_inline]] inline void store_rounded(Four& x, T* at) noexcept {
    if constexpr (sizeof(T) == 4) {
        const auto all = __builtin_convertvector(x, FourFloats);
        std::memcpy(at, &all, sizeof all);
        x = Four{all[0], all[1], all[2], all[3]};
    } else {
        store(x, Run{0}, at);
    }
}

/// Two neighbouring numbers at each of two addresses, as double. Of floats both are moved at once.
template <class T>
[[gnu::always_inline]] inline void load_pairs(const T* a, const T* b, Four& x) noexcept {
    if constexpr (sizeof(T) == 4) {
        std::int64_t first, second;
        std::memcpy(&first, a, 8);
        std::memcpy(&second, b, 8);
        const auto all = std::bit_cast<FourFloats>(TwoMask{first, second});
        x = Four{all[0], all[1], all[2], all[3]};
    } else {
        x = Four{a[0], a[1], b[0], b[1]};
    }
}
template <class T>
[[gnu::always_inline]] inline void store_pairs(const Four& x, T* a, T* b) noexcept {
    if constexpr (sizeof(T) == 4) {
        const FourFloats all{static_cast<float>(x[0]), static_cast<float>(x[1]),
                             static_cast<float>(x[2]), static_cast<float>(x[3])};
        const auto pairs = std::bit_cast<TwoMask>(all);
        const std::int64_t first = pairs[0], second = pairs[1];
        std::memcpy(a, &first, 8);
        std::memcpy(b, &second, 8);
    } else {
        a[0] = x[0];
        a[1] = x[1];
        b[0] = x[2];
        b[1] = x[3];
    }
}

/// (a0 a1 a2 a3), (b0 b1 b2 b3) -> (a0 b0 a2 b2), (a1 b1 a3 b3): parts the two numbers of four
/// pairs, and joins them again. A shuffle of whole vectors: of single elements gcc makes more.
[[gnu::always_inline]] inline void transpose_pairs(Four& a, Four& b) noexcept {
    const Four first = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    b = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    a = first;
}

/// Number c of row r becomes number r of row c.
[[gnu::always_inline]] inline void transpose(Four (&rows)[4]) noexcept {
    const auto swap_halves = [](Four& a, Four& b) __attribute__((always_inline)) {
        const Four first = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        b = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        a = first;
    };
    transpose_pairs(rows[0], rows[1]);
    transpose_pairs(rows[2], rows[3]);
    swap_halves(rows[0], rows[2]);
    swap_halves(rows[1], rows[3]);
}

/// `a` if all bits of the mask are set, `b` if none is. By bit operations, since compilers do not
/// vectorise a loop with a choice between doubles.
[[nodiscard]] inline double chosen(std::uint64_t mask, double a, double b) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(a) & mask;
    return std::bit_cast<double>(bits | (std::bit_cast<std::uint64_t>(b) & ~mask));
}

/// Up to four columns that are computed together. If there are fewer, the last one is repeated: its
/// numbers are computed and written again.
struct Quad {
    std::array<std::uint32_t, 4> column;
    std::uint32_t count;
    std::uint32_t first;  ///< position of its numbers among those of a round

    [[nodiscard]] bool follow() const noexcept { return count == 4 && column[3] - column[0] == 3; }
};

/// Quads with consecutive columns, and the others. They need two loops: in a single loop gcc
/// optimises neither kind.
struct Quads {
    std::span<const Quad> near;
    std::span<const Quad> apart;

    /// Quads with consecutive columns must come first.
    explicit Quads(std::span<const Quad> quads) noexcept {
        std::size_t n = 0;
        while (n < quads.size() && quads[n].follow()) ++n;
        near = quads.first(n);
        apart = quads.subspan(n);
    }

    [[nodiscard]] bool empty() const noexcept { return near.empty() && apart.empty(); }

    /// f(positions of the columns, positions of their numbers) for every quad.
    template <class F>
    [[gnu::always_inline]] void visit(const F& f) const {
        for (const Quad& quad : near) f(Run{quad.column[0]}, Run{quad.first});
        for (const Quad& quad : apart) f(quad.column, Run{quad.first});
    }
};

/// Four sums; each adds the products of N features in order.
template <class T, std::size_t N, class From, class To>
[[gnu::always_inline]] inline void add_products(const std::array<const T*, N>& at,
                                                const std::array<double, N>& x, const From& from,
                                                const To& to, double* sums) noexcept {
    Four sum, w;
    load(sums, to, sum);
    for (std::size_t i = 0; i < N; ++i) {
        load(at[i], from, w);
        sum += w * x[i];
    }
    store(sum, to, sums);
}

/// sums[k] += at[0][k] x[0], then at[1][k] x[1], ... for all k < n, with the same bits as one
/// product after the other.
template <class T, std::size_t N>
[[gnu::always_inline]] inline void add_products(const std::array<const T*, N>& at,
                                                const std::array<double, N>& x, double* sums,
                                                std::size_t n) noexcept {
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4) add_products(at, x, Run{k}, Run{k}, sums);
    for (; k < n; ++k) {
        for (std::size_t i = 0; i < N; ++i) sums[k] += at[i][k] * x[i];
    }
}

/// The same for the columns in quads; each column's sum is at the position of its numbers.
template <class T, std::size_t N>
[[gnu::always_inline]] inline void add_quads(const Quads& quads, const std::array<const T*, N>& at,
                                             const std::array<double, N>& x,
                                             double* sums) noexcept {
    quads.visit([&](const auto& from, const Run& to)
                    __attribute__((always_inline)) { add_products(at, x, from, to, sums); });
}

}  // namespace surelearn
