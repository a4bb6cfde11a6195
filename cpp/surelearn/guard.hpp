// Many readers or one writer, and neither kind can keep the other out for ever.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace surelearn {

class Guard {
public:
    /// Whoever waits holds the turnstile, so the next comer of either kind queues behind it.
    /// Without it a steady flow of readers starves the writer on common systems.
    [[nodiscard]] std::shared_lock<std::shared_mutex> read() {
        const std::scoped_lock turn(turnstile_);
        return std::shared_lock(mutex_);
    }

    [[nodiscard]] std::unique_lock<std::shared_mutex> write() {
        const std::scoped_lock turn(turnstile_);
        return std::unique_lock(mutex_);
    }

private:
    std::mutex turnstile_;
    std::shared_mutex mutex_;
};

}  // namespace surelearn
