// Chains for Python: paths of plain scores, and passes over sequences with diagonal weights.
#include "surelearn/tagging.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "sequences.hpp"
#include "structures.hpp"
#include "surelearn/parallel_for.hpp"
#include "weights.hpp"

namespace surelearn::bind {

namespace {

using Matrix2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// The chain of U of shape (T, K) and A of shape (1 or T - 1, K, K).
std::unique_ptr<Chain> chain_of(const Matrix2& U, const Matrix3& A) {
    const std::size_t T = U.shape(0);
    const std::size_t K = U.shape(1);
    const bool differ = A.shape(0) != 1;
    if (K == 0 || A.shape(1) != K || A.shape(2) != K || (differ && A.shape(0) + 1 != T)) {
        throw nb::value_error("A does not fit U");
    }
    auto chain = std::make_unique<Chain>();
    chain->reset(T, K, differ);
    for (std::size_t t = 0; t < T; ++t) std::copy_n(U.data() + t * K, K, chain->unary(t).data());
    const std::size_t steps = T < 2 ? 0 : A.shape(0);
    for (std::size_t t = 0; t < steps; ++t) {
        for (std::size_t i = 0; i < K; ++i) {
            std::copy_n(A.data() + (t * K + i) * K, K, chain->step(t + 1, i).data());
        }
    }
    return chain;
}

nb::ndarray<nb::numpy, std::int32_t> as_array(const std::vector<Path>& paths, std::size_t T) {
    NewArray<std::int32_t> out({paths.size(), T});
    for (std::size_t p = 0; p < paths.size(); ++p) {
        std::ranges::copy(paths[p], out.data.get() + p * T);
    }
    return out.give();
}

void bind_chain(nb::module_& m) {
    nb::class_<Chain> chain(m, "Chain", "Label paths of one sequence.");
    chain.def(nb::new_(&chain_of), nb::arg("U").noconvert(), nb::arg("A").noconvert());
    chain.def(
        "k_best",
        [](Chain& self, std::size_t k) { return as_array(self.k_best(k), self.length()); },
        nb::arg("k"), "The k best paths, best first.");
    chain.def(
        "best",
        [](Chain& self) {
            std::vector<Path> paths(1);
            self.best(paths[0]);
            return as_array(paths, self.length());
        },
        "The best path.");
    chain.def(
        "best_other",
        [](Chain& self, const Vector<std::int32_t>& y) {
            std::vector<Path> paths(1);
            self.best(paths[0]);
            if (!self.best_other(view(y), paths[0])) paths.clear();
            return as_array(paths, self.length());
        },
        nb::arg("y").noconvert(), "The best path that is not y, or none.");
    chain.def("log_partition", &Chain::log_partition, "log sum over all paths of exp(score).");
    chain.def(
        "marginals",
        [](Chain& self, bool pairs) {
            const std::size_t T = self.length();
            const std::size_t K = self.n_labels();
            NewArray<double> single({T, K});
            self.marginals({single.data.get(), T * K});
            if (!pairs) return single.give();
            const std::size_t steps = T < 2 ? 0 : T - 1;
            NewArray<double> both({steps, K, K});
            self.pair_marginals({both.data.get(), steps * K * K});
            return both.give();
        },
        nb::arg("pairs"), "Probability of each label, or of each two in a row.");
    chain.def(
        "sample",
        [](Chain& self, const Matrix2& uniform) {
            const std::size_t T = self.length();
            if (uniform.shape(1) != T) throw nb::value_error("a number for each token expected");
            NewArray<std::int32_t> out({uniform.shape(0), T});
            self.log_partition();
            for (std::size_t n = 0; n < uniform.shape(0); ++n) {
                self.sample({uniform.data() + n * T, T}, {out.data.get() + n * T, T});
            }
            return out.give();
        },
        nb::arg("uniform").noconvert(), "One path for each row of numbers in [0, 1).");
}

/// Sequences whose features are in the weights.
template <class T>
Sequences<std::int32_t, float> sequences_of(const Model<Diagonal<T>>& model, const Rows& tokens,
                                            const Rows& pairs, const Vector<std::int64_t>& bounds) {
    const auto sequences = sequences_of(tokens, pairs, bounds);
    check_fits(model, sequences);
    return sequences;
}

template <class T>
bool learn_sequences(Model<Diagonal<T>>& model, const AnyRule& rule, const Scheme& scheme,
                     bool covariance, const Rows& tokens, const Rows& pairs,
                     const Vector<std::int64_t>& bounds, const Vector<std::int32_t>& y,
                     const std::optional<Vector<double>>& weight,
                     const std::optional<Vector<std::int64_t>>& order, std::size_t begin,
                     std::size_t end, const Writable<std::uint64_t>& done) {
    auto sequences = sequences_of(model, tokens, pairs, bounds);
    sequences.y = labels_of(y, sequences.tokens.size(), model.weights.shape().n_columns);
    const Method method = method_of(rule, scheme, covariance);
    const Examples examples{view(weight), view(order)};
    TagPass<T, std::int32_t, float> pass(model.weights, method, sequences, examples);
    return learn_structures(model, pass, {begin, end}, done);
}

/// f(tagger, sequence) for all sequences, in so many threads.
template <class T, class F>
void each_sequence(Model<Diagonal<T>>& model, const Sequences<std::int32_t, float>& sequences,
                   std::size_t threads, const F& f) {
    const nb::gil_scoped_release release;
    const auto lock = model.guard.read();
    parallel_for(sequences.size(), threads, [&](std::size_t begin, std::size_t end) {
        Tagger<T, std::int32_t, float> tagger(model.weights, sequences);
        for (std::size_t i = begin; i < end; ++i) f(tagger, i);
    });
}

template <class T>
nb::ndarray<nb::numpy, std::int32_t> tag(Model<Diagonal<T>>& model, const Rows& tokens,
                                         const Rows& pairs, const Vector<std::int64_t>& bounds,
                                         std::size_t threads) {
    const auto sequences = sequences_of(model, tokens, pairs, bounds);
    NewArray<std::int32_t> out({sequences.tokens.size()});
    each_sequence(model, sequences, threads, [&](auto& tagger, std::size_t i) {
        tagger.tag(i, {out.data.get() + sequences.begin(i), sequences.length(i)});
    });
    return out.give();
}

template <class T>
std::tuple<nb::ndarray<nb::numpy, std::int32_t>, nb::ndarray<nb::numpy, double>,
           nb::ndarray<nb::numpy, double>>
leads(Model<Diagonal<T>>& model, const Rows& tokens, const Rows& pairs,
      const Vector<std::int64_t>& bounds, std::size_t threads) {
    const auto sequences = sequences_of(model, tokens, pairs, bounds);
    const std::size_t n = sequences.tokens.size();
    NewArray<std::int32_t> tags({n});
    NewArray<double> mean({n});
    NewArray<double> variance({n});
    each_sequence(model, sequences, threads, [&](auto& tagger, std::size_t i) {
        const std::size_t first = sequences.begin(i);
        std::vector<Moments> lead(sequences.length(i));
        tagger.tag(i, {tags.data.get() + first, lead.size()}, lead);
        for (std::size_t t = 0; t < lead.size(); ++t) {
            mean.data[first + t] = lead[t].m;
            variance.data[first + t] = lead[t].v;
        }
    });
    return {tags.give(), mean.give(), variance.give()};
}

template <class T>
nb::ndarray<nb::numpy, double> tag_marginals(Model<Diagonal<T>>& model, const Rows& tokens,
                                             const Rows& pairs, const Vector<std::int64_t>& bounds,
                                             double temperature, std::size_t threads) {
    const auto sequences = sequences_of(model, tokens, pairs, bounds);
    const std::size_t K = model.weights.shape().n_columns;
    NewArray<double> p({sequences.tokens.size(), K});
    each_sequence(model, sequences, threads, [&](auto& tagger, std::size_t i) {
        Chain& chain = tagger.chain(i);
        chain.scale(1.0 / temperature);
        chain.marginals({p.data.get() + sequences.begin(i) * K, sequences.length(i) * K});
    });
    return p.give();
}

/// The scores of one sequence: U, and A as one matrix or one for each step.
template <class T>
std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>> chain_scores(
    Model<Diagonal<T>>& model, const Rows& tokens, const Rows& pairs,
    const Vector<std::int64_t>& bounds) {
    const auto sequences = sequences_of(model, tokens, pairs, bounds);
    if (sequences.size() != 1) throw nb::value_error("one sequence expected");
    const std::size_t n = sequences.length(0);
    const std::size_t K = model.weights.shape().n_columns;
    const std::size_t steps = n < 2 ? 0 : sequences.pairs.n_features() > 0 ? n - 1 : 1;
    NewArray<double> U({n, K});
    NewArray<double> A({steps, K, K});
    each_sequence(model, sequences, 1, [&](auto& tagger, std::size_t i) {
        const Chain& chain = tagger.chain(i);
        for (std::size_t t = 0; t < n; ++t) {
            std::ranges::copy(chain.unary(t), U.data.get() + t * K);
        }
        for (std::size_t t = 0; t < steps; ++t) {
            for (std::size_t k = 0; k < K; ++k) {
                std::ranges::copy(chain.step(t + 1, k), A.data.get() + (t * K + k) * K);
            }
        }
    });
    return {U.give(), A.give()};
}

template <class T>
std::unique_ptr<Model<Diagonal<T>>> with_other_features(Model<Diagonal<T>>& model,
                                                        const Vector<std::int64_t>& from) {
    if (model.shape().intercept) throw nb::value_error("weights must have no intercept");
    for (const std::int64_t j : bind::view(from)) {
        if (j >= 0 && static_cast<std::size_t>(j) >= model.shape().n_features) {
            throw nb::index_error("feature out of range");
        }
    }
    const nb::gil_scoped_release release;
    const auto lock = model.guard.read();
    return std::make_unique<Model<Diagonal<T>>>(model.weights.with_features(bind::view(from)));
}

template <class T>
void bind_kind(nb::module_& m) {
    m.def("with_features", &with_other_features<T>, nb::arg("weights"),
          nb::arg("features").noconvert(), "The same weights under other features; -1: a new one.");
    m.def(
        "learn_sequences", &learn_sequences<T>, nb::arg("weights"), nb::arg("rule"),
        nb::arg("scheme"), nb::arg("covariance"), nb::arg("tokens"), nb::arg("pairs"),
        nb::arg("bounds").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weight").noconvert().none(), nb::arg("order").noconvert().none(), nb::arg("begin"),
        nb::arg("end"), nb::arg("done").noconvert(),
        "Learn sequences [begin, end), counting (sequences, mistakes, updates); was one refused?");
    m.def("tag", &tag<T>, nb::arg("weights"), nb::arg("tokens"), nb::arg("pairs"),
          nb::arg("bounds").noconvert(), nb::arg("threads"), "The best label of every token.");
    m.def("leads", &leads<T>, nb::arg("weights"), nb::arg("tokens"), nb::arg("pairs"),
          nb::arg("bounds").noconvert(), nb::arg("threads"),
          "Labels, and mean and variance of their lead over the best path with another.");
    m.def("tag_marginals", &tag_marginals<T>, nb::arg("weights"), nb::arg("tokens"),
          nb::arg("pairs"), nb::arg("bounds").noconvert(), nb::arg("temperature"),
          nb::arg("threads"), "Probability of every label of every token.");
    m.def("chain_scores", &chain_scores<T>, nb::arg("weights"), nb::arg("tokens"), nb::arg("pairs"),
          nb::arg("bounds").noconvert(), "U and A of one sequence.");
}

}  // namespace

void bind_tagging(nb::module_& m) {
    bind_chain(m);
    bind_kind<float>(m);
    bind_kind<double>(m);
}

}  // namespace surelearn::bind
