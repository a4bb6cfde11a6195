// Bindings: full weights in single and double storage.
#include "surelearn/full.hpp"

#include "weights.hpp"

namespace surelearn::bind {

namespace {

template <class T>
using M = Model<Full<T>>;

/// Read-only (columns, features) view of the means; it keeps the model alive.
template <class T>
nb::ndarray<nb::numpy, const T> means(nb::handle self) {
    auto& model = nb::cast<M<T>&>(self);
    const std::size_t sizes[2] = {model.shape().n_columns, model.shape().n_rows()};
    return nb::ndarray<nb::numpy, const T>(model.weights.means(), 2, sizes, self);
}

/// Read-only view of the covariance. Learning goes on in its lower half, so this call brings the
/// upper half up to date.
template <class T>
nb::ndarray<nb::numpy, const T> sigma(nb::handle self) {
    auto& model = nb::cast<M<T>&>(self);
    const T* square = nullptr;
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.write();
        square = model.weights.square();
    }
    const std::size_t sizes[2] = {model.weights.size(), model.weights.size()};
    return nb::ndarray<nb::numpy, const T>(square, 2, sizes, self);
}

/// Mean and covariance of every row's scores, both of one moment.
template <class T>
std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>> joint_moments(
    M<T>& model, const Rows& rows) {
    const std::size_t K = model.shape().n_columns;
    NewArray<double> s({rows.size(), K});
    NewArray<double> c({rows.size(), K, K});
    each_row(model, rows, [&](const auto& row, std::size_t at, std::size_t) {
        mean_scores(model.weights, row, std::span(s.data.get() + at, K));
        model.weights.covariances(row, std::span(c.data.get() + at * K, K * K));
    });
    return {s.give(), c.give()};
}

/// Everything that is learnt, of one moment: means with the sums for averaging, covariance, prior,
/// rounds.
template <class T>
std::tuple<nb::ndarray<nb::numpy, T>, nb::ndarray<nb::numpy, T>, double, std::uint64_t> snapshot(
    M<T>& model) {
    const std::size_t n = model.weights.size();
    const std::size_t parts = model.shape().averaged ? 2 : 1;
    NewArray<T> mu({parts, n});
    NewArray<T> square({n, n});
    double prior = 0.0;
    std::uint64_t rounds = 0;
    {
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        std::copy_n(model.weights.means(), parts * n, mu.data.get());
        model.weights.copy_square(square.data.get());
        prior = model.weights.prior();
        rounds = model.weights.rounds();
    }
    return {mu.give(), square.give(), prior, rounds};
}

template <class T>
using Square = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
void restore(M<T>& model, const Square<T>& mu, const Square<T>& square, std::uint64_t rounds) {
    const std::size_t n = model.weights.size();
    const std::size_t parts = model.shape().averaged ? 2 : 1;
    if (mu.shape(0) != parts || mu.shape(1) != n || square.shape(0) != n || square.shape(1) != n) {
        throw nb::value_error("a snapshot of another shape");
    }
    const nb::gil_scoped_release release;
    const auto lock = model.guard.write();
    std::copy_n(mu.data(), parts * n, model.weights.means());
    model.weights.set_square(square.data());
    model.weights.set_rounds(rounds);
}

template <class T>
void bind_kind(nb::module_& m, const char* name) {
    auto model = bind_model<Full<T>>(m, name, "Gaussian weights with a whole covariance matrix.");
    model.def("means", &means<T>, "View of the means.");
    model.def("sigma", &sigma<T>, "View of the covariance, up to date until more is learnt.");
    model.def("joint_moments", &joint_moments<T>, nb::arg("rows"),
              "Means of the columns' scores and the covariance of every two.");
    model.def(
        "with_columns",
        [](M<T>& self, const std::vector<std::int64_t>& from) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.read();
            return std::make_unique<M<T>>(self.weights.with_columns(from));
        },
        nb::arg("columns"), "The same weights under other columns; -1 makes a new one.");
    model.def("snapshot", &snapshot<T>, "(means and sums, covariance, prior, rounds).");
    model.def("restore", &restore<T>, nb::arg("means").noconvert(), nb::arg("sigma").noconvert(),
              nb::arg("rounds"), "Put a snapshot back.");
    model.def(
        "set_threads",
        [](M<T>& self, std::size_t threads) {
            const nb::gil_scoped_release release;
            const auto lock = self.guard.write();
            self.weights.set_threads(threads);
        },
        nb::arg("threads"), "How many threads a large update may use.");
}

}  // namespace

void bind_full(nb::module_& m) {
    bind_kind<float>(m, "Full32");
    bind_kind<double>(m, "Full64");
}

}  // namespace surelearn::bind
