// Runs the parts of a range in parallel. Knows no algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace surelearn {

/// f(begin, end) for `threads` parts of [0, n). Starting a thread takes some 20 microseconds, so a
/// part should take ten times as long. Elements must be independent of each other.
template <class F>
void parallel_for(std::size_t n, std::size_t threads, F&& f) {
    const std::size_t parts = std::max<std::size_t>(1, std::min(n, threads));
    std::vector<std::jthread> others;
    others.reserve(parts - 1);
    std::size_t begin = 0;
    for (std::size_t part = 1; part < parts; ++part) {
        const std::size_t end = n * part / parts;
        try {
            others.emplace_back([&f, begin, end] { f(begin, end); });
            begin = end;
        } catch (const std::system_error&) {
            break;  // the system has no thread left: do the rest in this one
        }
    }
    f(begin, n);
}

}  // namespace surelearn
