// Bindings: label probabilities of arrays of means and variances.
#include "surelearn/probability.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "surelearn/deciding.hpp"
#include "surelearn/log_probability.hpp"
#include "surelearn/temperature.hpp"

namespace surelearn::bind {

namespace {

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] std::span<const double> row(const Scores& scores, std::size_t i) {
    return {scores.data() + i * scores.shape(1), scores.shape(1)};
}

void same_shape(const Scores& mean, const Scores& variance) {
    if (mean.shape(0) != variance.shape(0) || mean.shape(1) != variance.shape(1)) {
        throw nb::value_error("mean and variance differ in shape");
    }
}

/// Checks that there is the number of a column for each row.
void check_places(const Vector<std::int64_t>& y, std::size_t n_rows, std::size_t n_columns) {
    if (y.shape(0) != n_rows) throw nb::value_error("y must have an entry for each row");
    for (const std::int64_t label : view(y)) {
        if (label < 0 || static_cast<std::size_t>(label) >= n_columns) {
            throw nb::value_error("y must hold numbers of columns");
        }
    }
}

template <class Method>
void fill(const Scores& mean, const Scores& variance, double* p) {
    const nb::gil_scoped_release release;
    Method method;
    for (std::size_t i = 0; i < mean.shape(0); ++i) {
        method(row(mean, i), row(variance, i), {p + i * mean.shape(1), mean.shape(1)});
    }
}

nb::ndarray<nb::numpy, double> label_probabilities(const Scores& mean, const Scores& variance,
                                                   bool log) {
    same_shape(mean, variance);
    NewArray<double> p({mean.shape(0), mean.shape(1)});
    if (log) {
        fill<LogProbabilities>(mean, variance, p.data.get());
    } else {
        fill<LabelProbabilities>(mean, variance, p.data.get());
    }
    return p.give();
}

nb::ndarray<nb::numpy, double> log_probability_of(const Scores& mean, const Scores& variance,
                                                  const Vector<std::int64_t>& y) {
    same_shape(mean, variance);
    check_places(y, mean.shape(0), mean.shape(1));
    NewArray<double> log_p({mean.shape(0)});
    {
        const nb::gil_scoped_release release;
        LogProbabilities method;
        for (std::size_t i = 0; i < mean.shape(0); ++i) {
            log_p.data[i] =
                method.of(row(mean, i), row(variance, i), static_cast<std::size_t>(view(y)[i]));
        }
    }
    return log_p.give();
}

/// (log tau, curvature of the loss there)
std::pair<double, double> followed_temperature(const Scores& scores, const Vector<std::int64_t>& y,
                                               double factor, double start, double precision) {
    check_places(y, scores.shape(0), std::max<std::size_t>(2, scores.shape(1)));
    const nb::gil_scoped_release release;
    TemperatureLoss loss({scores.data(), scores.size()}, view(y), factor);
    const double t = FollowedTemperature(loss, start, precision).minimum();
    return {t, loss.curvature_near(t)};
}

/// The answer of least cost of each row of probabilities.
nb::ndarray<nb::numpy, std::int64_t> least_costs(const Scores& p, const Vector<double>& usual,
                                                 const Vector<std::int64_t>& label,
                                                 const Vector<std::int64_t>& answer,
                                                 const Vector<double>& more) {
    if (usual.shape(0) == 0) throw nb::value_error("usual must have an answer");
    check_places(label, more.shape(0), p.shape(1));
    check_places(answer, more.shape(0), usual.shape(0));
    NewArray<std::int64_t> found({p.shape(0)});
    {
        const nb::gil_scoped_release release;
        const AnswerCosts costs{view(usual), view(label), view(answer), view(more)};
        std::vector<double> expected(usual.shape(0));
        for (std::size_t i = 0; i < p.shape(0); ++i) {
            found.data[i] = static_cast<std::int64_t>(least_cost(row(p, i), costs, expected));
        }
    }
    return found.give();
}

nb::ndarray<nb::numpy, double> sharp_log_odds_of(const Scores& p,
                                                 const Vector<std::int64_t>& best) {
    check_places(best, p.shape(0), p.shape(1));
    NewArray<double> found({p.shape(0)});
    {
        const nb::gil_scoped_release release;
        for (std::size_t i = 0; i < p.shape(0); ++i) {
            found.data[i] = sharp_log_odds(row(p, i), static_cast<std::size_t>(view(best)[i]));
        }
    }
    return found.give();
}

/// The place of the largest number of each row.
nb::ndarray<nb::numpy, std::int64_t> first_largest_of(const Scores& x) {
    if (x.shape(1) == 0) throw nb::value_error("x must have a column");
    NewArray<std::int64_t> found({x.shape(0)});
    {
        const nb::gil_scoped_release release;
        for (std::size_t i = 0; i < x.shape(0); ++i) {
            found.data[i] = static_cast<std::int64_t>(first_largest(row(x, i)));
        }
    }
    return found.give();
}

/// (where the set of each row ends, the places of all labels in them)
std::pair<nb::ndarray<nb::numpy, std::int64_t>, nb::ndarray<nb::numpy, std::int64_t>> label_sets(
    const Scores& p, bool cumulative, const Vector<double>& limits, double penalty,
    std::size_t n_free, bool always_the_best, const std::optional<Vector<std::int64_t>>& sizes) {
    const std::size_t n = p.shape(0), n_labels = p.shape(1);
    if (limits.shape(0) != 1 && limits.shape(0) != n_labels) {
        throw nb::value_error("limits must have one entry or one for each label");
    }
    const auto fits = [&](std::int64_t size) {
        return size >= 0 && static_cast<std::size_t>(size) <= n_labels;
    };
    if (sizes && (sizes->shape(0) != n || !std::ranges::all_of(view(*sizes), fits))) {
        throw nb::value_error("sizes must have a number of labels for each row");
    }
    NewArray<std::int64_t> ends({n});
    std::vector<std::int64_t> places;
    {
        const nb::gil_scoped_release release;
        SetFinder sets({cumulative, penalty, n_free}, view(limits), always_the_best);
        for (std::size_t i = 0; i < n; ++i) {
            const auto size = sizes ? static_cast<std::size_t>(view(*sizes)[i]) : n_labels;
            sets.find(row(p, i).first(size), places);
            ends.data[i] = static_cast<std::int64_t>(places.size());
        }
    }
    NewArray<std::int64_t> all({places.size()});
    std::ranges::copy(places, all.data.get());
    return {ends.give(), all.give()};
}

using Labels = nb::typed<nb::tuple, nb::any, nb::ellipsis>;

/// The sets of `label_sets` as tuples of labels; rows that have the same one label share a tuple.
nb::typed<nb::list, Labels> label_tuples(const Labels& labels, const Vector<std::int64_t>& ends,
                                         const Vector<std::int64_t>& places) {
    const auto label = [&](std::int64_t place) {
        if (place < 0 || static_cast<std::size_t>(place) >= labels.size()) {
            throw nb::index_error("place out of range");
        }
        return static_cast<std::size_t>(place);
    };
    const auto tuple_of = [&](std::span<const std::int64_t> own) {
        const auto size = static_cast<Py_ssize_t>(own.size());
        auto made = nb::steal<nb::object>(PyTuple_New(size));
        if (!made) throw nb::python_error();
        for (Py_ssize_t i = 0; i < size; ++i) {
            const nb::object each = labels[label(own[static_cast<std::size_t>(i)])];
            PyTuple_SET_ITEM(made.ptr(), i, each.inc_ref().ptr());
        }
        return made;
    };
    auto sets =
        nb::steal<nb::typed<nb::list, Labels>>(PyList_New(static_cast<Py_ssize_t>(ends.shape(0))));
    if (!sets) throw nb::python_error();
    std::vector<nb::object> alone(labels.size());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.shape(0); ++i) {
        const auto end = static_cast<std::size_t>(view(ends)[i]);
        if (end < begin || end > places.shape(0)) throw nb::index_error("end out of range");
        const auto own = view(places).subspan(begin, end - begin);
        nb::object made;
        if (own.size() == 1) {
            nb::object& known = alone[label(own[0])];
            if (!known) known = tuple_of(own);
            made = known;
        } else {
            made = tuple_of(own);
        }
        PyList_SET_ITEM(sets.ptr(), static_cast<Py_ssize_t>(i), made.release().ptr());
        begin = end;
    }
    return sets;
}

}  // namespace

void bind_probability(nb::module_& m) {
    m.def("label_probabilities", &label_probabilities, nb::arg("mean").noconvert(),
          nb::arg("variance").noconvert(), nb::arg("log"),
          "Probability, or its log, that each of K independent normal scores is the largest.");
    m.def("log_probability_of", &log_probability_of, nb::arg("mean").noconvert(),
          nb::arg("variance").noconvert(), nb::arg("y").noconvert(),
          "Log probability that the score in column y of each row is the largest.");
    m.def("followed_temperature", &followed_temperature, nb::arg("scores").noconvert(),
          nb::arg("y").noconvert(), nb::arg("factor"), nb::arg("start"), nb::arg("precision"),
          "(log of the temperature that the rows move to, curvature of their loss there)");
    m.def("least_costs", &least_costs, nb::arg("p").noconvert(), nb::arg("usual").noconvert(),
          nb::arg("label").noconvert(), nb::arg("answer").noconvert(), nb::arg("more").noconvert(),
          "The answer of least expected cost of each row of probabilities; ties: the first.");
    m.def("sharp_log_odds_of", &sharp_log_odds_of, nb::arg("p").noconvert(),
          nb::arg("best").noconvert(),
          "Log odds of one label of each row, if probabilities were twice as sharp.");
    m.def("first_largest_of", &first_largest_of, nb::arg("x").noconvert(),
          "Place of the largest number of each row; ties: the first.");
    m.def("label_sets", &label_sets, nb::arg("p").noconvert(), nb::arg("cumulative"),
          nb::arg("limits").noconvert(), nb::arg("penalty"), nb::arg("n_free"),
          nb::arg("always_the_best"), nb::arg("sizes").noconvert().none(),
          "(ends, places) of the labels of each row that fit, most probable first.");
    m.def("label_tuples", &label_tuples, nb::arg("labels"), nb::arg("ends").noconvert(),
          nb::arg("places").noconvert(), "A tuple of labels for each set of `label_sets`.");
}

}  // namespace surelearn::bind
