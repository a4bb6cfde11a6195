// rw_lock.hpp: readers meet whole blocks only, and no side waits for ever.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "check.hpp"
#include "surelearn/learn.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/rw_lock.hpp"
#include "test_rows.hpp"

namespace surelearn::tests {

namespace rw_locks {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::size_t n_features = 48;
/// Far more than needed, and short enough to show that a thread starved.
constexpr std::chrono::seconds patience{20};

/// A model whose blocks can be seen half done: a block has one row for each feature, and each row
/// moves its own feature by the same step. Between blocks all weights are equal, inside they
/// differ.
struct Shared {
    RwLock guard;
    Diagonal<double> weights{Shape{.n_features = n_features, .intercept = false}};
    Csr<std::int32_t, double> rows{.n_features = n_features};
    std::vector<std::int32_t> y;

    Shared() {
        for (std::size_t j = 0; j < n_features; ++j) {
            rows.add(j, 1.0);
            rows.end_row();
            y.push_back(1);
        }
    }

    void learn_block() {
        auto matrix = rows.matrix();
        if (matrix.inspect()) return;
        const Targets targets{.y = y, .rows = {}, .known = {}};
        const Method probit{
            rules::Probit{1.0}, Projection::precision, {}};  // steps for every row, however sure
        const auto lock = guard.write();
        (void)learn(weights, probit, matrix, targets, 0, n_features);
    }

    /// The rounds seen, or nothing if the state is not one between two blocks.
    [[nodiscard]] std::uint64_t rounds_if_whole() {
        const auto lock = guard.read();
        for (std::size_t j = 1; j < n_features; ++j) {
            if (weights.mean(j, 0) != weights.mean(0, 0)) return half;
            if (weights.sigma(j, 0) != weights.sigma(0, 0)) return half;
        }
        return weights.rounds() % n_features == 0 ? weights.rounds() : half;
    }

    static constexpr std::uint64_t half = ~std::uint64_t{0};
};

[[nodiscard]] inline std::vector<std::thread> start(std::size_t count,
                                                    const std::function<void()>& work) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
    return threads;
}

inline void join(std::vector<std::thread>& threads) {
    for (std::thread& thread : threads) thread.join();
}

/// Busy rather than asleep, as a reader with many rows is.
inline void hold(microseconds time) {
    const auto until = Clock::now() + time;
    while (Clock::now() < until) {
    }
}

}  // namespace rw_locks

inline void readers_see_whole_blocks() {
    constexpr int blocks = 2000;
    rw_locks::Shared shared;
    std::atomic<bool> done{false};
    std::atomic<int> torn{0};
    std::atomic<int> backwards{0};
    std::atomic<int> reads{0};
    auto readers = rw_locks::start(3, [&] {
        std::uint64_t before = 0;
        while (!done) {
            const std::uint64_t rounds = shared.rounds_if_whole();
            if (rounds == rw_locks::Shared::half) {
                ++torn;
            } else {
                if (rounds < before) ++backwards;
                before = rounds;
            }
            ++reads;
        }
    });
    for (int block = 0; block < blocks || reads < 100; ++block) shared.learn_block();
    done = true;
    rw_locks::join(readers);
    CHECK(torn == 0 && backwards == 0);
    CHECK(shared.weights.rounds() >= blocks * rw_locks::n_features);
    CHECK(shared.rounds_if_whole() == shared.weights.rounds());
    CHECK(shared.weights.mean(0, 0) > 0.0);
}

inline void writers_exclude_one_another() {
    constexpr int blocks = 200;
    rw_locks::Shared shared;
    auto writers = rw_locks::start(3, [&] {
        for (int block = 0; block < blocks; ++block) shared.learn_block();
    });
    rw_locks::join(writers);
    CHECK(shared.rounds_if_whole() == 3 * blocks * rw_locks::n_features);
}

inline void readers_share() {
    RwLock guard;
    std::atomic<int> inside{0};
    std::atomic<bool> late{false};
    // Each waits for the other while it holds the lock.
    auto readers = rw_locks::start(2, [&] {
        const auto lock = guard.read();
        ++inside;
        const auto until = rw_locks::Clock::now() + rw_locks::patience;
        while (inside < 2 && !late) {
            if (rw_locks::Clock::now() > until) late = true;
        }
    });
    rw_locks::join(readers);
    CHECK(!late);
}

/// Some thread is always reading: each reader comes back at once and stays a while.
inline void readers_do_not_starve_the_writer() {
    constexpr int blocks = 50;
    rw_locks::Shared shared;
    std::atomic<bool> done{false};
    const auto until = rw_locks::Clock::now() + rw_locks::patience;
    auto readers = rw_locks::start(4, [&] {
        while (!done && rw_locks::Clock::now() < until) {
            const auto lock = shared.guard.read();
            rw_locks::hold(rw_locks::microseconds(300));
        }
    });
    for (int block = 0; block < blocks; ++block) shared.learn_block();
    done = true;
    rw_locks::join(readers);
    CHECK(rw_locks::Clock::now() < until);
}

inline void writers_do_not_starve_the_readers() {
    constexpr int wanted = 50;
    rw_locks::Shared shared;
    std::atomic<int> waiting{3};
    const auto until = rw_locks::Clock::now() + rw_locks::patience;
    auto writers = rw_locks::start(2, [&] {
        while (waiting > 0 && rw_locks::Clock::now() < until) {
            const auto lock = shared.guard.write();
            rw_locks::hold(rw_locks::microseconds(300));
        }
    });
    auto readers = rw_locks::start(3, [&] {
        for (int i = 0; i < wanted; ++i) (void)shared.rounds_if_whole();
        --waiting;
    });
    rw_locks::join(readers);
    rw_locks::join(writers);
    CHECK(rw_locks::Clock::now() < until);
}

namespace rw_locks {

/// Whether `work` does in a child what it should, without waiting for ever.
[[nodiscard]] inline bool in_child(const std::function<bool()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(static_cast<unsigned>(patience.count()));
        ::_exit(work() ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[nodiscard]] inline bool refuses(RwLock& guard) {
    int refused = 0;
    try {
        (void)guard.read();
    } catch (const HalfDone&) {
        ++refused;
    }
    try {
        (void)guard.write();
    } catch (const HalfDone&) {
        ++refused;
    }
    return refused == 2;
}

[[nodiscard]] inline bool works(RwLock& guard) {
    (void)guard.read();
    (void)guard.write();
    return !refuses(guard);
}

/// Forks while `hold` is inside the guard in another thread, which stays there till `work` is over.
[[nodiscard]] inline bool while_held(const std::function<void(const std::function<void()>&)>& hold,
                                     const std::function<bool()>& work) {
    std::atomic<bool> inside{false};
    std::atomic<bool> done{false};
    std::thread other([&] {
        hold([&] {
            inside = true;
            while (!done) std::this_thread::yield();
        });
    });
    while (!inside) std::this_thread::yield();
    const bool ok = in_child(work);
    done = true;
    other.join();
    return ok;
}

}  // namespace rw_locks

inline void a_child_refuses_what_was_being_written() {
    RwLock guard;
    const auto hold = [&](const auto& wait) {
        const auto lock = guard.write();
        wait();
    };
    CHECK(rw_locks::while_held(hold, [&] { return rw_locks::refuses(guard); }));
    // Its own children have it half done, too, and the parent has it whole.
    CHECK(rw_locks::while_held(hold, [&] {
        return rw_locks::in_child([&] { return rw_locks::refuses(guard); }) &&
               rw_locks::refuses(guard);
    }));
    CHECK(rw_locks::works(guard));
}

inline void a_child_does_not_wait_for_readers_of_its_parent() {
    RwLock guard;
    const auto hold = [&](const auto& wait) {
        const auto lock = guard.read();
        wait();
    };
    CHECK(rw_locks::while_held(hold, [&] { return rw_locks::works(guard); }));
    CHECK(rw_locks::works(guard));
}

/// A writer that waits holds the turnstile.
inline void a_child_does_not_wait_for_who_waits_in_its_parent() {
    RwLock guard;
    std::atomic<bool> waits{false};
    const auto hold = [&](const auto& wait) {
        Threads writer(1);  // is waited for when the lock is free again
        const auto lock = guard.read();
        writer.start([&] {
            waits = true;
            (void)guard.write();
        });
        while (!waits) std::this_thread::yield();
        rw_locks::hold(rw_locks::microseconds(20'000));
        wait();
    };
    CHECK(rw_locks::while_held(hold, [&] { return rw_locks::works(guard); }));
    CHECK(rw_locks::works(guard));
}

inline constexpr std::array rw_lock_tests{
    Test{"readers see whole blocks", readers_see_whole_blocks},
    Test{"writers exclude one another", writers_exclude_one_another},
    Test{"readers share", readers_share},
    Test{"readers do not starve the writer", readers_do_not_starve_the_writer},
    Test{"writers do not starve the readers", writers_do_not_starve_the_readers},
    Test{"a child refuses what was being written", a_child_refuses_what_was_being_written},
    Test{"a child does not wait for readers of its parent",
         a_child_does_not_wait_for_readers_of_its_parent},
    Test{"a child does not wait for who waits in its parent",
         a_child_does_not_wait_for_who_waits_in_its_parent},
};

}  // namespace surelearn::tests
