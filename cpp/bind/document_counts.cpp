// Bindings: document counts, and rows weighed by them.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "bind.hpp"
#include "surelearn/document_counts.hpp"
#include "surelearn/rw_lock.hpp"

namespace surelearn::bind {

namespace {

/// Counts that some threads read while one counts.
struct Documents {
    DocumentCounts counts;
    RwLock lock;

    explicit Documents(std::size_t n_features) : counts(n_features) {}
};

[[nodiscard]] Counting::Norm norm_of(int norm) { return static_cast<Counting::Norm>(norm); }

template <class Index, class Value>
void count(Documents& self, const Vector<Index>& start, const Vector<Index>& index,
           const Vector<Value>& value) {
    const nb::gil_scoped_release release;
    std::vector<std::int64_t> own_start;
    const auto starts = as(start, own_start);
    const auto lock = self.lock.write();
    self.counts.count(
        Matrix<Index, Value>(starts, view(index), view(value), self.counts.n_features()));
}

/// An array whose numbers are replaced.
template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Calls `f` with the rows and where their weighed values go, while no row is counted.
template <class Index, class Value, class F>
void in_place(Documents& self, const Vector<Index>& start, const Vector<Index>& index,
              const Writable<Value>& value, F&& f) {
    const nb::gil_scoped_release release;
    std::vector<std::int64_t> own_start;
    const auto starts = as(start, own_start);
    const auto lock = self.lock.read();
    const std::span<Value> values(value.data(), value.shape(0));
    f(Matrix<Index, Value>(starts, view(index), values, self.counts.n_features()), values);
}

template <class Index, class Value>
void weigh(Documents& self, const Vector<Index>& start, const Vector<Index>& index,
           const Writable<Value>& value, int norm, std::size_t threads) {
    in_place(self, start, index, value, [&](const auto& rows, auto values) {
        self.counts.weigh(rows, norm_of(norm), threads, values);
    });
}

/// The same rows with the values that `fill` makes; the new ones keep all arrays alive.
template <class F>
[[nodiscard]] std::unique_ptr<Rows> with_values(const Rows& rows, F&& fill) {
    return std::visit(
        [&]<class Index, class Value>(const Matrix<Index, Value>& matrix) {
            if (matrix.dense()) throw nb::value_error("rows must be compressed to be weighed");
            NewArray<Value> out({matrix.n_entries()});
            const std::span<Value> values(out.data.get(), matrix.n_entries());
            {
                const nb::gil_scoped_release release;
                fill(matrix, values);
            }
            auto made = std::make_unique<Rows>(matrix.with_values(values));
            made->owners = rows.owners;
            made->own = rows.own;
            made->owners.push_back(nb::cast(out.give()));
            return made;
        },
        rows.matrix);
}

[[nodiscard]] std::unique_ptr<Rows> count_and_weigh_rows(Documents& self, const Rows& rows,
                                                         int norm) {
    return with_values(rows, [&](const auto& matrix, auto out) {
        const auto lock = self.lock.write();
        self.counts.count_and_weigh(matrix, norm_of(norm), out);
    });
}

[[nodiscard]] std::unique_ptr<Rows> weigh_rows(Documents& self, const Rows& rows, int norm) {
    return with_values(rows, [&](const auto& matrix, auto out) {
        const auto lock = self.lock.read();
        self.counts.weigh(matrix, norm_of(norm), 1, out);
    });
}

/// (begin, end, weight) of columns of texts.
using Spans = std::vector<std::tuple<std::size_t, std::size_t, double>>;

[[nodiscard]] std::vector<TextSpan> spans_of(const Spans& given) {
    std::vector<TextSpan> spans;
    spans.reserve(given.size());
    for (const auto& [begin, end, weight] : given) spans.push_back({begin, end, weight});
    return spans;
}

[[nodiscard]] std::unique_ptr<Rows> weigh_spans(Documents& self, const Rows& rows,
                                                const Spans& texts, bool counting) {
    const std::vector<TextSpan> spans = spans_of(texts);
    return with_values(rows, [&](const auto& matrix, auto out) {
        if (counting) {
            const auto lock = self.lock.write();
            self.counts.count_and_weigh_spans(matrix, std::span(spans), out);
        } else {
            const auto lock = self.lock.read();
            self.counts.weigh_spans(matrix, std::span(spans), out);
        }
    });
}

template <class Index, class Value>
void weigh_spans_in_place(Documents& self, const Vector<Index>& start, const Vector<Index>& index,
                          const Writable<Value>& value, const Spans& texts) {
    const std::vector<TextSpan> spans = spans_of(texts);
    in_place(self, start, index, value, [&](const auto& rows, auto values) {
        self.counts.weigh_spans(rows, std::span(spans), values);
    });
}

void forget_rows(Documents& self, const Rows& rows, std::size_t first) {
    const nb::gil_scoped_release release;
    const auto lock = self.lock.write();
    std::visit([&](const auto& matrix) { self.counts.forget(matrix, first); }, rows.matrix);
}

/// (documents, features that occur, documents of each), one consistent snapshot.
[[nodiscard]] auto state_of(Documents& self) {
    std::vector<std::int64_t> features;
    std::vector<std::int64_t> counts;
    std::uint64_t n = 0;
    {
        const nb::gil_scoped_release release;
        const auto lock = self.lock.read();
        const auto documents = self.counts.documents();
        for (std::size_t j = 0; j < documents.size(); ++j) {
            if (documents[j] == 0) continue;
            features.push_back(static_cast<std::int64_t>(j));
            counts.push_back(documents[j]);
        }
        n = self.counts.n();
    }
    return std::tuple(n, give(std::move(features)), give(std::move(counts)));
}

void add(Documents& self, std::uint64_t n, const Vector<std::int64_t>& features,
         const Vector<std::int64_t>& counts) {
    const auto limit = self.counts.n_features();
    for (const std::int64_t feature : view(features)) {
        if (feature < 0 || static_cast<std::uint64_t>(feature) >= limit) {
            throw nb::index_error("documents must be of known features");
        }
    }
    if (features.shape(0) != counts.shape(0)) throw nb::value_error("a count for each feature");
    const nb::gil_scoped_release release;
    const auto lock = self.lock.write();
    self.counts.add(n, view(features), view(counts));
}

[[nodiscard]] auto idf_of(Documents& self) {
    NewArray<double> out({self.counts.n_features()});
    {
        const nb::gil_scoped_release release;
        const auto lock = self.lock.read();
        for (std::size_t j = 0; j < self.counts.n_features(); ++j) out.data[j] = self.counts.idf(j);
    }
    return out.give();
}

}  // namespace

void bind_document_counts(nb::module_& m) {
    nb::class_<Documents> documents(m, "DocumentCounts",
                                    "In how many documents each feature occurs.");
    documents.def(nb::init<std::size_t>(), nb::arg("n_features"));
    const auto arrays = [&]<class Index, class Value>() {
        documents.def("count", &count<Index, Value>, nb::arg("start").noconvert(),
                      nb::arg("index").noconvert(), nb::arg("value").noconvert(),
                      "Count rows with distinct features.");
        documents.def("weigh", &weigh<Index, Value>, nb::arg("start").noconvert(),
                      nb::arg("index").noconvert(), nb::arg("value").noconvert(), nb::arg("norm"),
                      nb::arg("threads"),
                      "Weigh the values of rows in place, by the counts so far.");
        documents.def("weigh_spans_in_place", &weigh_spans_in_place<Index, Value>,
                      nb::arg("start").noconvert(), nb::arg("index").noconvert(),
                      nb::arg("value").noconvert(), nb::arg("texts"),
                      "Weigh each of these stretches of features in place, by the counts so far.");
    };
    arrays.operator()<std::int32_t, float>();
    arrays.operator()<std::int32_t, double>();
    arrays.operator()<std::int64_t, float>();
    arrays.operator()<std::int64_t, double>();
    documents
        .def("count_and_weigh_rows", &count_and_weigh_rows, nb::arg("rows"), nb::arg("norm"),
             "Each row, counted and then weighed by the counts up to and including it.")
        .def("weigh_rows", &weigh_rows, nb::arg("rows"), nb::arg("norm"),
             "All rows, weighed by the counts so far.")
        .def("weigh_spans", &weigh_spans, nb::arg("rows"), nb::arg("texts"), nb::arg("counting"),
             "Rows with each (begin, end, weight) of features weighed for itself; with `counting` "
             "each row is counted first.")
        .def("forget_rows", &forget_rows, nb::arg("rows"), nb::arg("first"),
             "Undo the counts of the rows from `first` on.")
        .def("add", &add, nb::arg("n"), nb::arg("features").noconvert(),
             nb::arg("counts").noconvert(), "Add what `state` of others has returned.")
        .def("state", &state_of, "(documents, features that occur, documents of each)")
        .def("idf", &idf_of, "The factor of each feature.")
        .def_prop_ro("n",
                     [](Documents& self) {
                         const nb::gil_scoped_release release;
                         const auto lock = self.lock.read();
                         return self.counts.n();
                     })
        .def_prop_ro("n_features", [](const Documents& self) { return self.counts.n_features(); });
}

}  // namespace surelearn::bind
