// Several numbers in one instruction, each with the bits it would get alone. Knows no algorithm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Two versions of a function, one for processors with AVX2, chosen when the program is loaded;
// worth 1.2x with 20 classes. The loops in them work element by element, so both give the same
// bits. Sanitizers are not ready yet when the choice is made.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SURELEARN_WIDEN __attribute__((target_clones("avx2", "default")))
#else
#define SURELEARN_WIDEN
#endif

namespace surelearn {

/// Two doubles that go through arithmetic together; each gets the bits it would get alone.
using Two = double __attribute__((vector_size(16)));
using TwoBits = std::int64_t __attribute__((vector_size(16)));

/// Four of them: one instruction with AVX2, two without. Handed on by reference, since how they
/// travel by value depends on the processor.
using Four = double __attribute__((vector_size(32), aligned(16)));
using FourBits = std::uint64_t __attribute__((vector_size(32), aligned(16)));

/// One number or four: a loop over many is written once and goes by either. Structs, since a
/// template takes no bare vector type. Four are named one by one: gcc makes one instruction of that
/// and four of __builtin_convertvector.
struct One {
    static constexpr std::size_t lanes = 1;
    using Number = double;

    template <class T>
    [[gnu::always_inline]] static void load(const T* at, double& x) noexcept {
        x = static_cast<double>(*at);
    }
    template <class T>
    [[gnu::always_inline]] static void store(double x, T* at) noexcept {
        *at = static_cast<T>(x);
    }
};

struct Wide {
    static constexpr std::size_t lanes = 4;
    using Number = Four;

    template <class T>
    [[gnu::always_inline]] static void load(const T* at, Four& x) noexcept {
        x = Four{at[0], at[1], at[2], at[3]};
    }
    template <class T>
    [[gnu::always_inline]] static void store(const Four& x, T* at) noexcept {
        for (std::size_t i = 0; i < lanes; ++i) at[i] = static_cast<T>(x[i]);
    }
};

/// f(lanes, k) for all k from begin up to end: by fours, then one by one.
template <class F>
[[gnu::always_inline]] inline void by_lanes(std::size_t begin, std::size_t end, const F& f) {
    std::size_t k = begin;
    for (; k + Wide::lanes <= end; k += Wide::lanes) f(Wide{}, k);
    for (; k < end; ++k) f(One{}, k);
}

/// sums[k] += at[0][k] x[0], then at[1][k] x[1], ...: for all k from begin up to end, with the bits
/// of one product after the other.
template <class T, std::size_t N>
[[gnu::always_inline]] inline void add_products(const std::array<const T*, N>& at,
                                                const std::array<double, N>& x, std::size_t begin,
                                                std::size_t end, double* sums) noexcept {
    const auto add = [&]<class L>(L, std::size_t k) __attribute__((always_inline)) {
        typename L::Number sum, w;
        L::load(sums + k, sum);
        for (std::size_t i = 0; i < N; ++i) {
            L::load(at[i] + k, w);
            sum += w * x[i];
        }
        L::store(sum, sums + k);
    };
    by_lanes(begin, end, add);
}

}  // namespace surelearn
