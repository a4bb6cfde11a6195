// A fair lock for many readers or one writer: neither kind can starve the other. It survives a
// fork while it is held: the child does not wait for threads that it does not have.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace surelearn {

/// The number of forks since the core was loaded.
[[nodiscard]] inline std::uint64_t forks() noexcept {
    static std::atomic<std::uint64_t> count{0};
#if __has_include(<pthread.h>)
    [[maybe_unused]] static const int watched =
        ::pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
#endif
    return count.load(std::memory_order_relaxed);
}

/// Another thread was changing a model when the process was forked, so it is inconsistent here.
class HalfDone : public std::runtime_error {
public:
    HalfDone()
        : std::runtime_error(
              "a model must be at rest when a process is forked, got one that another thread was "
              "changing. Load it from a file here, or start processes with 'spawn'.") {}
};

class RwLock {
    /// The locks of one process: a lock held at a fork stays held in the child for ever.
    struct Locks {
        std::uint64_t forks = surelearn::forks();
        bool half_done = false;
        std::atomic<bool> written{false};  ///< whether a writer holds the lock
        std::mutex turnstile;
        std::shared_mutex mutex;
    };

public:
    class Writer {
    public:
        explicit Writer(RwLock& guard) : Writer(guard.here()) {}
        Writer(const Writer&) = delete;
        Writer& operator=(const Writer&) = delete;
        ~Writer() {
            locks_.written.store(false, std::memory_order_relaxed);
            locks_.mutex.unlock();
        }

    private:
        explicit Writer(Locks& locks) : locks_(locks) {
            const std::scoped_lock turn(locks_.turnstile);
            locks_.mutex.lock();
            locks_.written.store(true, std::memory_order_relaxed);
        }

        Locks& locks_;
    };

    RwLock() = default;
    RwLock(const RwLock&) = delete;
    RwLock& operator=(const RwLock&) = delete;
    ~RwLock() {
        if (locks_ != &first_) delete locks_.load();
    }

    /// A waiting thread holds the turnstile, so all later threads queue behind it. Without it, a
    /// steady flow of readers starves the writer on common systems.
    [[nodiscard]] std::shared_lock<std::shared_mutex> read() {
        Locks& locks = here();
        const std::scoped_lock turn(locks.turnstile);
        return std::shared_lock(locks.mutex);
    }

    [[nodiscard]] Writer write() { return Writer(*this); }

private:
    /// The locks of this process.
    [[nodiscard]] Locks& here() {
        Locks* locks = locks_.load(std::memory_order_acquire);
        if (locks->forks != surelearn::forks()) locks = renewed(locks);
        if (locks->half_done) throw HalfDone();
        return *locks;
    }

    /// New locks after a fork. The old ones may be held, so they are left alone. If two threads of
    /// the child arrive at once, both use the locks of the first.
    [[nodiscard]] Locks* renewed(Locks* old) {
        auto made = std::make_unique<Locks>();
        made->half_done = old->half_done || old->written.load(std::memory_order_relaxed);
        if (!locks_.compare_exchange_strong(old, made.get(), std::memory_order_acq_rel)) return old;
        return made.release();
    }

    Locks first_;
    std::atomic<Locks*> locks_{&first_};
};

}  // namespace surelearn
