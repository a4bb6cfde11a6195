// Bindings: shards that go on from one base, and are merged into it.
#include "surelearn/shards.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "surelearn/diagonal.hpp"
#include "surelearn/parallel_for.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

template <class T>
using Runs = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Features = std::optional<Vector<std::int64_t>>;

template <class T>
void check_plain(const Model<Diagonal<T>>& model) {
    if (model.weights.stride() != model.shape().stride() || !model.weights.order().is_sorted()) {
        throw nb::value_error("weights without spare columns expected");
    }
}

/// Features must ascend and be among those of the base; None: all of them.
template <class T>
void check_features(const Features& features, std::size_t n_runs, const Model<Diagonal<T>>& base) {
    const std::size_t n = base.shape().n_rows();
    if ((features ? features->shape(0) : n) != n_runs) {
        throw nb::value_error("runs do not fit the features");
    }
    const auto known = view(features);
    const auto falls = [](std::int64_t a, std::int64_t b) { return a >= b; };
    if (known.empty()) return;
    const bool inside = known.front() >= 0 && static_cast<std::size_t>(known.back()) < n;
    if (!inside || std::ranges::adjacent_find(known, falls) != known.end()) {
        throw nb::index_error("features must ascend within the weights");
    }
}

/// A read-only view of the runs of all features, which keeps the model alive, and the updates.
template <class T>
std::pair<nb::ndarray<nb::numpy, const T>, std::uint64_t> runs(
    nb::handle_t<Model<Diagonal<T>>> self) {
    auto& model = nb::cast<Model<Diagonal<T>>&>(self);
    check_plain(model);
    const std::size_t sizes[2] = {model.shape().n_rows(), model.shape().stride()};
    return {nb::ndarray<nb::numpy, const T>(model.weights.cell(0), 2, sizes, self),
            model.weights.rounds()};
}

/// Puts a shard, whose features are these of the base, where the base is.
template <class T>
void go_on_from(Model<Diagonal<T>>& shard, Model<Diagonal<T>>& base, const Features& features) {
    check_plain(shard);
    check_plain(base);
    if (shard.shape().stride() != base.shape().stride()) throw nb::value_error("other columns");
    check_features(features, shard.shape().n_rows(), base);
    const nb::gil_scoped_release release;
    const auto lock = shard.guard.write();
    const auto other = base.guard.read();
    std::optional<std::span<const std::int64_t>> known;
    if (features) known = bind::view(*features);
    shard.weights.take_over(base.weights, known);
}

template <class T>
using ShardView = std::tuple<Features, Runs<T>, double>;

/// Merges shards, in their order, into the base that they went on from. Do all numbers fit?
template <class T>
bool merge_shards(Model<Diagonal<T>>& base, const std::vector<ShardView<T>>& shards, double tau,
                  std::size_t threads) {
    check_plain(base);
    const Shape& shape = base.shape();
    std::vector<ShardRuns<T>> parts;
    double since = 0.0;
    for (const auto& [features, cells, updates] : shards) {
        if (cells.shape(1) != shape.stride()) throw nb::value_error("runs of another size");
        check_features(features, cells.shape(0), base);
        parts.push_back({view(features), cells.data(), !features, updates});
        since += updates;
    }
    const nb::gil_scoped_release release;
    const auto lock = base.guard.write();
    const auto before = static_cast<double>(base.weights.rounds());
    const ShardMerger<T> merger(parts, {shape.n_columns, shape.second_order, shape.averaged},
                                {before, since}, tau);
    std::mutex mutex;
    bool fit = true;
    Bounds<T> bounds = base.weights.bounds();
    parallel_for(shape.n_rows(), threads, [&](std::size_t begin, std::size_t end) {
        Bounds<T> own = base.weights.bounds();
        const bool fits = merger.merge(base.weights.cell(0), begin, end, own);
        const std::scoped_lock held(mutex);
        fit = fit && fits;
        bounds.include(own);
    });
    base.weights.set_bounds(bounds);
    base.weights.set_rounds(static_cast<std::uint64_t>(before + since));
    return fit;
}

template <class T>
void bind_kind(nb::module_& m) {
    m.def("runs", &runs<T>, nb::arg("weights"), "(view of the runs of all features, updates).");
    m.def("go_on_from", &go_on_from<T>, nb::arg("shard"), nb::arg("base"),
          nb::arg("features").noconvert().none(),
          "Put a shard, whose features are these of the base, where the base is.");
    m.def("merge_shards", &merge_shards<T>, nb::arg("base"), nb::arg("shards"), nb::arg("tau"),
          nb::arg("threads"),
          "Merge shards, (features, runs, updates) each, in their order; do all numbers fit?");
}

}  // namespace

void bind_shards(nb::module_& m) {
    bind_kind<float>(m);
    bind_kind<double>(m);
}

}  // namespace surelearn::bind
