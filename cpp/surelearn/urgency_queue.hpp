// A queue of numbers, the most urgent first. Knows nothing of what they number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace surelearn {

/// Numbers by the power of two of their urgency: the most urgent first. Equally urgent ones go by
/// number, those that wait now before those that come: neighbours in memory are met together.
class UrgencyQueue {
public:
    void reset(std::size_t n, double least) {
        least_ = least;
        queued_.assign(n, -1);
        for (Bucket& bucket : buckets_) bucket.clear();
        top_ = -1;
    }

    /// Notes the urgency of h; nothing if it is below the least.
    void push(std::size_t h, double urgency) {
        if (!(urgency > least_)) return;
        const int bucket = std::min(std::ilogb(urgency / least_), n_buckets - 1);
        if (bucket <= queued_[h]) return;
        queued_[h] = static_cast<std::int8_t>(bucket);
        buckets_[static_cast<std::size_t>(bucket)].numbers.push_back(h);
        top_ = std::max(top_, bucket);
    }

    /// The next number; false if there is none.
    [[nodiscard]] bool pop(std::size_t& h) {
        for (; top_ >= 0; --top_) {
            Bucket& bucket = buckets_[static_cast<std::size_t>(top_)];
            while (bucket.head < bucket.numbers.size()) {
                if (bucket.head == bucket.sorted) bucket.sort();
                h = bucket.numbers[bucket.head++];
                if (queued_[h] != top_) continue;  // has become more urgent since
                queued_[h] = -1;
                return true;
            }
            bucket.clear();
        }
        return false;
    }

private:
    static constexpr int n_buckets = 64;
    struct Bucket {
        std::vector<std::size_t> numbers;
        std::size_t head = 0;
        std::size_t sorted = 0;  ///< end of those in order

        void clear() noexcept {
            numbers.clear();
            head = sorted = 0;
        }
        void sort() {
            std::sort(numbers.begin() + static_cast<std::ptrdiff_t>(head), numbers.end());
            sorted = numbers.size();
        }
    };

    double least_ = 0.0;
    std::vector<std::int8_t> queued_;  ///< the bucket of each number, -1: in none
    std::array<Bucket, n_buckets> buckets_;
    int top_ = -1;
};

}  // namespace surelearn
