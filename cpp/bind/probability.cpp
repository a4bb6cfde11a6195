// Bindings: label probabilities of arrays of means and variances.
#include "surelearn/probability.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
}

}  // namespace surelearn::bind
