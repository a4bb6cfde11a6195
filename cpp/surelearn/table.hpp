// One block of numbers, aligned and on large pages where the system has them: a sparse row touches
// places all over it, and with small pages most of the time goes into looking their addresses up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace surelearn {

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
        // Advice only: where it is refused the block works all the same.
        if (bytes >= large_page) (void)madvise(block, whole, MADV_HUGEPAGE);
#endif
        std::uninitialized_value_construct_n(data_.get(), size);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept { return data_.get(); }
    [[nodiscard]] const T* data() const noexcept { return data_.get(); }
    [[nodiscard]] std::span<const T> view() const noexcept { return {data_.get(), size_}; }

private:
    struct Free {
        void operator()(T* block) const noexcept { std::free(block); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace surelearn
