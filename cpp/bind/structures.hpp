// A pass over structures of any kind for Python, block by block under the lock of the model.
#pragma once

#include <algorithm>

#include "surelearn/structured.hpp"
#include "weights.hpp"

namespace surelearn::bind {

/// Learns structures [range.begin, range.end) of the order, `block` of them between two looks at
/// Ctrl-C. `done` is kept up to date with
/// (structures, mistakes, updates), also when Ctrl-C ends it. Tells whether one was refused.
template <class T, class P>
bool learn_structures(Model<Diagonal<T>>& model, P& pass, const RowRange& range,
                      const Writable<std::uint64_t>& done, std::size_t block = 256) {
    const nb::gil_scoped_release release;
    for (std::size_t at = range.begin; at < range.end;) {
        const Tally part = [&] {
            const auto lock = model.guard.write();
            return pass.run(at, std::min(range.end, at + block));
        }();
        done.data()[0] += part.end - at;
        done.data()[1] += part.mistakes;
        done.data()[2] += part.updates;
        at = part.end;
        if (part.refused) return true;
        stop_if_interrupted();
    }
    return false;
}

}  // namespace surelearn::bind
