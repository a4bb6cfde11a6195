// What the batch losses of all kinds of examples share for Python: value, gradient and curvature,
// stochastic steps and Frank-Wolfe. No arithmetic.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

#include "surelearn/descent.hpp"
#include "surelearn/frank_wolfe.hpp"
#include "surelearn/likelihood.hpp"
#include "weights.hpp"

namespace surelearn::bind {

using Costs = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] inline std::vector<double> weights_of(const std::optional<Vector<double>>& weight,
                                                    std::size_t n) {
    if (!weight) return {};
    if (weight->shape(0) != n) throw nb::value_error("weight does not fit the examples");
    return copied(*weight);
}

[[nodiscard]] inline std::span<const double> costs_of(const std::optional<Costs>& cost,
                                                      std::size_t n_labels) {
    if (!cost) return {};
    if (cost->shape(0) != n_labels || cost->shape(1) != n_labels) {
        throw nb::value_error("cost does not fit the labels");
    }
    return {cost->data(), cost->size()};
}

/// The loss of examples, and the memory that it needs from one evaluation to the next.
template <class E>
class AnyLoss {
public:
    template <class... Args>
    AnyLoss(const std::optional<Vector<double>>& weight,
            const std::optional<Vector<std::int64_t>>& offsets,
            const std::optional<Vector<std::int32_t>>& labels, Args&&... args)
        : examples_(std::forward<Args>(args)...),
          weight_(weights_of(weight, examples_.data.size())) {
        if (offsets && labels) {
            offsets_ = copied(*offsets);
            labels_ = copied(*labels);
            check_cells();
        }
        cells_ = {examples_.table_rows(), examples_.n_columns, offsets_, labels_};
        loss_.emplace(examples_.data, weight_, cells_);
    }

    [[nodiscard]] std::size_t n_weights() const { return cells_.size(); }

    double log_loss(const Vector<double>& w, const Writable<double>& gradient,
                    std::size_t threads) {
        check_size(w.shape(0));
        check_size(gradient.shape(0));
        const nb::gil_scoped_release release;
        return loss_->log_loss(bind::view(w), {gradient.data(), gradient.shape(0)}, threads);
    }

    void curvature(const Vector<double>& w, const Writable<double>& out, std::size_t threads) {
        check_size(w.shape(0));
        check_size(out.shape(0));
        const nb::gil_scoped_release release;
        loss_->curvature(bind::view(w), {out.data(), out.shape(0)}, threads);
    }

    double hinge_loss(const Vector<double>& w, const std::optional<Costs>& cost,
                      std::size_t threads) {
        check_size(w.shape(0));
        examples_.data.cost = costs_of(cost, examples_.n_labels);
        const nb::gil_scoped_release release;
        return loss_->hinge_loss(bind::view(w), threads);
    }

    void descend(const std::string& kind, const std::optional<Costs>& cost,
                 const Writable<double>& w, const Writable<double>& average,
                 const Writable<double>& state, const Vector<std::int64_t>& order, double l2) {
        check_size(w.shape(0));
        check_size(average.shape(0));
        if (state.shape(0) != 2) throw nb::value_error("state must be (t, first step size)");
        examples_.data.cost = costs_of(cost, examples_.n_labels);
        const Loss loss = kind == "log" ? Loss::log : Loss::hinge;
        const nb::gil_scoped_release release;
        DescentState now{state.data()[0], state.data()[1]};
        Descent<typename E::template Decoder<FlatWeights>> descent(
            examples_.data, cells_, {w.data(), w.shape(0)}, {average.data(), average.shape(0)},
            l2 / static_cast<double>(examples_.data.size()), E::free_own && loss == Loss::log);
        std::size_t done = 0;
        for (const std::int64_t place : bind::view(order)) {
            const auto i = static_cast<std::size_t>(place);
            const double c = weight_.empty() ? 1.0 : weight_[i];
            descent.step(loss, i, c, now);
            if (++done % 1024 == 0) stop_if_interrupted();
        }
        descent.settle();
        state.data()[0] = now.t;
    }

private:
    void check_size(std::size_t n) const {
        if (n != cells_.size()) throw nb::value_error("w does not fit the loss");
    }
    void check_cells() const {
        const bool fits = offsets_.size() == examples_.table_rows() + 1 && offsets_.front() == 0 &&
                          offsets_.back() == static_cast<std::int64_t>(labels_.size()) &&
                          std::ranges::is_sorted(offsets_);
        const auto n = static_cast<std::int32_t>(examples_.n_labels);
        const auto inside = [&](std::int32_t k) { return k >= 0 && k < n; };
        constexpr std::int32_t most = 1 << 16;  // packed cells have columns of 16 bits
        if (!fits || n > most || !std::ranges::all_of(labels_, inside)) {
            throw nb::value_error("cells do not fit the table");
        }
    }

    E examples_;
    std::vector<double> weight_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> labels_;
    Cells cells_;
    std::optional<BatchLoss<E::template Decoder>> loss_;
};

/// Frank-Wolfe on weights of Python's, which stay under their lock.
template <class E, class Solver>
class AnyFrankWolfe {
public:
    template <class... Args>
    AnyFrankWolfe(Model<Diagonal<double>>& model, const Vector<double>& bound,
                  const std::optional<Costs>& cost, Args&&... args)
        : model_(model), examples_(std::forward<Args>(args)...), bound_(copied(bound)) {
        const auto costs = costs_of(cost, examples_.n_labels);
        costs_.assign(costs.begin(), costs.end());
        examples_.data.cost = costs_;
        const Shape& shape = model.shape();
        const bool fits = shape.n_columns == examples_.n_columns &&
                          examples_.table_rows() <= shape.n_rows() && !shape.averaged &&
                          model.weights.order().is_sorted();
        if (!fits) throw nb::value_error("weights do not fit the examples");
        if (bound_.size() != examples_.data.size())
            throw nb::value_error("one bound each expected");
        solver_.emplace(model.weights, examples_.data, bound_);
    }

    void visit(const Vector<std::int64_t>& order) {
        const nb::gil_scoped_release release;
        constexpr std::size_t block = 256;
        const auto all = bind::view(order);
        for (std::size_t at = 0; at < all.size(); at += block) {
            {
                const auto lock = model_.guard.write();
                for (const std::int64_t i : all.subspan(at, std::min(block, all.size() - at))) {
                    solver_->visit(static_cast<std::size_t>(i));
                }
            }
            stop_if_interrupted();
        }
    }

    std::pair<double, double> values() {
        const nb::gil_scoped_release release;
        const auto lock = model_.guard.read();
        const HingeSums sums = solver_->sums();
        return {sums.hinge, sums.linear};
    }

private:
    Model<Diagonal<double>>& model_;
    E examples_;
    std::vector<double> bound_;
    std::vector<double> costs_;
    std::optional<Solver> solver_;
};

template <class E>
void bind_loss(nb::class_<AnyLoss<E>>& loss) {
    using L = AnyLoss<E>;
    loss.def_prop_ro("n_weights", &L::n_weights);
    loss.def("log_loss", &L::log_loss, nb::arg("w").noconvert(), nb::arg("gradient").noconvert(),
             nb::arg("threads"), "The log loss of all examples; writes its gradient.");
    loss.def("curvature", &L::curvature, nb::arg("w").noconvert(), nb::arg("out").noconvert(),
             nb::arg("threads"), "Write the diagonal of the Hessian of the log loss.");
    loss.def("hinge_loss", &L::hinge_loss, nb::arg("w").noconvert(),
             nb::arg("cost").noconvert().none(), nb::arg("threads"),
             "The generalised hinge loss of all examples.");
    loss.def("descend", &L::descend, nb::arg("kind"), nb::arg("cost").noconvert().none(),
             nb::arg("w").noconvert(), nb::arg("average").noconvert(), nb::arg("state").noconvert(),
             nb::arg("order").noconvert(), nb::arg("l2"),
             "One stochastic pass; changes w, its average and the state (t, first step size).");
}

template <class S>
void bind_frank_wolfe(nb::class_<S>& solver) {
    solver.def("visit", &S::visit, nb::arg("order").noconvert(),
               "Visit these examples; moves the means of the weights.");
    solver.def("values", &S::values, "(sum of hinge losses, linear part of the dual).");
}

}  // namespace surelearn::bind
