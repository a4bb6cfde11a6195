// A range cut into parts that run side by side. Knows no algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace surelearn {

/// f(begin, end) for `threads` parts of [0, n). A thread costs some 20 microseconds to start: worth
/// it where a part takes ten times as long. What f does with one element may not depend on another.
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
            break;  // the system has no thread left: what remains is done here
        }
    }
    f(begin, n);
}

}  // namespace surelearn
