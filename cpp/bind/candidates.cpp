// Groups of candidates for Python: passes with diagonal weights, leads, covariances, crossed rows.
#include "surelearn/candidates.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <limits>

#include "structures.hpp"
#include "surelearn/crossing.hpp"
#include "surelearn/parallel_for.hpp"

namespace surelearn::bind {

namespace {

/// Bounds of groups must ascend within the rows.
void check_groups(const Rows& rows, const Vector<std::int64_t>& bounds) {
    const auto ends = view(bounds);
    const auto n = static_cast<std::int64_t>(rows.size());
    if (ends.empty() || ends.front() < 0 || ends.back() > n || !std::ranges::is_sorted(ends)) {
        throw nb::value_error("bounds do not fit the rows");
    }
}

/// f(groups) for rows that fit the weights, which must be one column.
template <class T, class F>
auto with_groups(const Model<Diagonal<T>>& model, const Rows& rows,
                 const Vector<std::int64_t>& bounds, const F& f) {
    check_width(model, rows);
    check_groups(rows, bounds);
    if (model.shape().n_columns != 1 || model.shape().intercept) {
        throw nb::value_error("weights must have one column and no intercept");
    }
    return std::visit(
        [&]<class Index, class Value>(const Matrix<Index, Value>& matrix) {
            if (matrix.dense()) throw nb::value_error("rows must be CSR");
            return f(CandidateGroups<Index, Value>{matrix, view(bounds)});
        },
        rows.matrix);
}

/// As of rows; a scheme without k means all wrong candidates.
[[nodiscard]] Method method_for_groups(const AnyRule& rule, Scheme scheme, bool covariance) {
    if (scheme.k == 0) scheme.k = std::numeric_limits<std::size_t>::max() - 1;
    return method_of(rule, scheme, covariance);
}

template <class T>
bool learn_groups(Model<Diagonal<T>>& model, const AnyRule& rule, const Scheme& scheme,
                  bool covariance, const Rows& rows, const Vector<std::int64_t>& bounds,
                  const Vector<double>& cost, bool all_right,
                  const std::optional<Vector<double>>& weight,
                  const std::optional<Vector<std::int64_t>>& order, std::size_t begin,
                  std::size_t end, const Writable<std::uint64_t>& done) {
    if (cost.shape(0) != rows.size()) throw nb::value_error("cost does not fit the rows");
    const Method method = method_for_groups(rule, scheme, covariance);
    const Examples examples{view(weight), view(order)};
    return with_groups(model, rows, bounds,
                       [&]<class Index, class Value>(CandidateGroups<Index, Value> groups) {
                           groups.cost = view(cost);
                           groups.all_right = all_right;
                           using Decoder = CandidateDecoder<T, Index, Value>;
                           StructuredPass<T, Decoder> pass(model.weights, method, groups, examples);
                           return learn_structures(model, pass, {begin, end}, done);
                       });
}

/// Best and next best candidate of every group, the margin between them and its variance.
template <class T>
auto group_leads(Model<Diagonal<T>>& model, const Rows& rows, const Vector<std::int64_t>& bounds,
                 std::size_t threads) {
    const std::size_t n = bounds.shape(0) == 0 ? 0 : bounds.shape(0) - 1;
    NewArray<std::int64_t> best({n}), next({n});
    NewArray<double> gap({n}), v({n});
    with_groups(model, rows, bounds, [&](const auto& groups) {
        for (std::size_t i = 0; i < n; ++i) {  // a group of one leads without end
            const RowRange range = groups.rows_of(i);
            best.data[i] = range.size() == 0 ? -1 : static_cast<std::int64_t>(range.begin);
            next.data[i] = -1;
            gap.data[i] = std::numeric_limits<double>::infinity();
            v.data[i] = 0.0;
        }
        const auto keep = [&](std::size_t i, const CandidateLead& lead) {
            best.data[i] = static_cast<std::int64_t>(lead.best);
            next.data[i] = static_cast<std::int64_t>(lead.next);
            gap.data[i] = lead.gap.m;
            v.data[i] = lead.gap.v;
        };
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        parallel_for(n, threads, [&](std::size_t begin, std::size_t end) {
            each_lead(model.weights, groups, {begin, end}, keep);
        });
    });
    return std::tuple{best.give(), next.give(), gap.give(), v.give()};
}

/// The covariances of the scores of each group, one square after the other.
template <class T>
nb::ndarray<nb::numpy, double> group_covariances(Model<Diagonal<T>>& model, const Rows& rows,
                                                 const Vector<std::int64_t>& bounds,
                                                 std::size_t threads) {
    return with_groups(model, rows, bounds, [&](const auto& groups) {
        std::vector<std::size_t> first(groups.size() + 1, 0);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::size_t n = groups.rows_of(i).size();
            first[i + 1] = first[i] + n * n;
        }
        NewArray<double> C({first.back()});
        const nb::gil_scoped_release release;
        const auto lock = model.guard.read();
        parallel_for(groups.size(), threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                score_covariances(model.weights, groups, i,
                                  {C.data.get() + first[i], first[i + 1] - first[i]});
            }
        });
        const nb::gil_scoped_acquire acquire;
        return C.give();
    });
}

void check_numbers(const Vector<std::int64_t>& numbers, const Rows& rows) {
    const auto inside = [&](std::int64_t i) {
        return i >= 0 && static_cast<std::size_t>(i) < rows.size();
    };
    if (!std::ranges::all_of(view(numbers), inside)) throw nb::index_error("row out of range");
}

/// The products of row left_of[p] and row right_of[p] for every p: starts, features and values.
auto cross_rows(const Rows& left, const Rows& right, const Vector<std::int64_t>& left_of,
                const Vector<std::int64_t>& right_of, std::size_t n_features, bool hashed) {
    check_numbers(left_of, left);
    check_numbers(right_of, right);
    if (left_of.shape(0) != right_of.shape(0)) throw nb::value_error("a row for each row expected");
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
    if (n_features == 0 || n_features > most) throw nb::value_error("n_features out of range");
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> features;
    std::vector<float> values;
    const auto cross = [&](const auto& x, const auto& z) {
        if (x.dense() || z.dense()) throw nb::value_error("rows must be CSR");
        const PairPlaces place{n_features, z.n_features(), hashed};
        if (!hashed && x.n_features() * z.n_features() != n_features) {
            throw nb::value_error("n_features must be the product");
        }
        CrossedRow row(place);
        for (std::size_t p = 0; p < left_of.shape(0); ++p) {
            const auto a = x.stored(static_cast<std::size_t>(left_of.data()[p]));
            const auto b = z.stored(static_cast<std::size_t>(right_of.data()[p]));
            for (const auto& [feature, value] : row.cross(a, b)) {
                features.push_back(static_cast<std::int32_t>(feature));
                values.push_back(static_cast<float>(value));
            }
            starts.push_back(static_cast<std::int64_t>(features.size()));
        }
    };
    {
        const nb::gil_scoped_release release;
        std::visit(cross, left.matrix, right.matrix);
    }
    return std::tuple{give(std::move(starts)), give(std::move(features)), give(std::move(values))};
}

template <class T>
void bind_kind(nb::module_& m) {
    m.def("learn_groups", &learn_groups<T>, nb::arg("weights"), nb::arg("rule"), nb::arg("scheme"),
          nb::arg("covariance"), nb::arg("rows"), nb::arg("bounds").noconvert(),
          nb::arg("cost").noconvert(), nb::arg("all_right"), nb::arg("weight").noconvert().none(),
          nb::arg("order").noconvert().none(), nb::arg("begin"), nb::arg("end"),
          nb::arg("done").noconvert(),
          "Learn groups [begin, end), counting (groups, mistakes, updates); was one refused?");
    m.def("group_leads", &group_leads<T>, nb::arg("weights"), nb::arg("rows"),
          nb::arg("bounds").noconvert(), nb::arg("threads"),
          "(best row, next best, margin between them, its variance) of every group.");
    m.def("group_covariances", &group_covariances<T>, nb::arg("weights"), nb::arg("rows"),
          nb::arg("bounds").noconvert(), nb::arg("threads"),
          "Covariances of the scores of every group, one square after the other.");
}

}  // namespace

void bind_candidates(nb::module_& m) {
    bind_kind<float>(m);
    bind_kind<double>(m);
    m.def("cross_rows", &cross_rows, nb::arg("left"), nb::arg("right"),
          nb::arg("left_of").noconvert(), nb::arg("right_of").noconvert(), nb::arg("n_features"),
          nb::arg("hashed"), "Products of the features of two rows: starts, features, values.");
}

}  // namespace surelearn::bind
