// One aligned block of numbers, on large pages if the system has them: a sparse row touches
// addresses all over it, and with small pages a third of the time goes into address translation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace surelearn {

/// a * b; throws if memory for so many numbers cannot exist.
[[nodiscard]] inline std::size_t product(std::size_t a, std::size_t b) {
    if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) throw std::bad_alloc();
    return a * b;
}

/// A table of uninitialised numbers: clearing it first would take as long as filling it.
template <class T>
class Table {
public:
    Table() = default;
    explicit Table(std::size_t size) : size_(size) {
        if (size == 0) return;
        constexpr std::size_t large_page = std::size_t{1} << 21;
        if (size > (std::numeric_limits<std::size_t>::max() - large_page) / sizeof(T)) {
            throw std::bad_alloc();
        }
        const std::size_t bytes = size * sizeof(T);
        const std::size_t alignment = bytes >= large_page ? large_page : 64;
        const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
        void* block = std::aligned_alloc(alignment, whole);
        if (block == nullptr) throw std::bad_alloc();
        data_.reset(static_cast<T*>(block));
#if defined(__linux__)
        // Advice only: the block works without it.
        if (bytes >= large_page) (void)madvise(block, whole, MADV_HUGEPAGE);
#endif
    }

    /// Fills the table with copies of its first `period` numbers, from a piece that stays in the
    /// cache: each number of the table is written once and none is read back.
    void repeat(std::size_t period) noexcept {
        const std::size_t piece =
            period * std::max<std::size_t>(1, (std::size_t{1} << 13) / period);
        for (std::size_t filled = period; filled < size_;) {
            const std::size_t count = std::min({filled, piece, size_ - filled});
            std::copy_n(data(), count, data() + filled);
            filled += count;
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept { return data_.get(); }
    [[nodiscard]] const T* data() const noexcept { return data_.get(); }

private:
    struct Free {
        void operator()(T* block) const noexcept { std::free(block); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace surelearn
