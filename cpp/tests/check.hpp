// What every test here needs: CHECK, and bits to compare. No framework.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

namespace surelearn::tests {

struct Test {
    const char* name;
    void (*run)();
};

/// Failed checks of the test that is running. Checks belong to the main thread; other threads
/// count their findings in atomics of their own.
inline int failures = 0;

inline void failed(const char* file, int line, const char* what, double got) {
    constexpr int shown = 5;  // of one test: a wrong law fails at thousands of points
    if (++failures <= shown) std::printf("%s:%d: %s, got %.17g\n", file, line, what, got);
}

// A sanitizer brings its own operator new, which must stay: it sees more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SURELEARN_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SURELEARN_OWN_NEW 0
#endif
#endif
#ifndef SURELEARN_OWN_NEW
#define SURELEARN_OWN_NEW 1
#endif

/// Calls of operator new so far, counted in main.cpp; always 0 under a sanitizer.
[[nodiscard]] std::size_t allocations() noexcept;

/// Distance relative to what is wanted; infinite if either is NaN and the other is not.
[[nodiscard]] inline double relative(double got, long double want) noexcept {
    if (std::isnan(got) && std::isnan(want)) return 0.0;
    if (static_cast<long double>(got) == want) return 0.0;
    const auto distance = static_cast<double>(std::fabs((got - want) / want));
    return std::isnan(distance) ? HUGE_VAL : distance;
}

/// The bytes of a run of numbers: -0 differs from 0 and NaN equals itself.
template <class T>
void append_bytes(std::vector<unsigned char>& out, const T* data, std::size_t count) {
    if (count == 0) return;
    const std::size_t old = out.size();
    out.resize(old + count * sizeof(T));
    std::memcpy(out.data() + old, data, count * sizeof(T));
}

}  // namespace surelearn::tests

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) ::surelearn::tests::failed(__FILE__, __LINE__, #condition, 0.0); \
    } while (false)

/// Also shows the number that was too large; NaN fails.
#define CHECK_AT_MOST(number, bound)                                                        \
    do {                                                                                    \
        const double number_ = (number);                                                    \
        if (!(number_ <= (bound))) {                                                        \
            ::surelearn::tests::failed(__FILE__, __LINE__, #number " <= " #bound, number_); \
        }                                                                                   \
    } while (false)
