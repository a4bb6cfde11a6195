// Working memory of an update of diagonal weights. Knows no algorithm.
#pragma once

#include <cstddef>
#include <vector>

namespace surelearn {

/// The numbers that an update has overwritten, for undoing it.
template <class T>
struct Journal {
    struct Entry {
        T mu;
        T sigma;
    };
    std::vector<Entry> entries;

    void reserve(std::size_t count) {
        if (entries.size() < count) entries.resize(count);
    }
};

}  // namespace surelearn
