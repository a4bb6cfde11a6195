// Several numbers in one instruction, each with the bits it would get alone. Knows no algorithm.
#pragma once

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

}  // namespace surelearn
