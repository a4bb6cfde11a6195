// Runs the parts of a range in parallel. Knows no algorithm.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace surelearn {

/// Threads that are waited for at the end, also where an exception ends the scope. In place of
/// std::jthread, which the C++ library of macOS does not have.
class Threads {
public:
    explicit Threads(std::size_t most) { threads_.reserve(most); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    ~Threads() {
        for (std::thread& thread : threads_) thread.join();
    }

    template <class F>
    void start(F&& f) {
        threads_.emplace_back(std::forward<F>(f));
    }

private:
    std::vector<std::thread> threads_;
};

/// f(begin, end) for `threads` parts of [0, n). Starting a thread takes some 20 microseconds, so a
/// part should take ten times as long. Elements must be independent of each other. The first
/// exception of a part, such as std::bad_alloc, is thrown once all parts have ended.
template <class F>
void parallel_for(std::size_t n, std::size_t threads, F&& f) {
    const std::size_t parts = std::max<std::size_t>(1, std::min(n, threads));
    std::exception_ptr failure;
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    const auto guarded = [&](std::size_t begin, std::size_t end) noexcept {
        try {
            f(begin, end);
        } catch (...) {  // out of a thread it would end the process
            if (!failed.test_and_set()) failure = std::current_exception();
        }
    };
    {
        Threads others(parts - 1);
        std::size_t begin = 0;
        for (std::size_t part = 1; part < parts; ++part) {
            const std::size_t end = n * part / parts;
            try {
                others.start([&guarded, begin, end] { guarded(begin, end); });
                begin = end;
            } catch (const std::system_error&) {
                break;  // the system has no thread left: do the rest in this one
            }
        }
        guarded(begin, n);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace surelearn
