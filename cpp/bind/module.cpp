// The extension module: one function for each room.
#include "bind.hpp"

NB_MODULE(_core, m) {
    // A signal may end Python while threads still hold models: what a command says at its end must
    // not be followed by a list of them.
    nanobind::set_leak_warnings(false);
    m.doc() = "The native core of surelearn. Trusts its caller; checks are in surelearn._check.";
    m.def("is_wide", &surelearn::is_wide, "Whether loops run with AVX2.");
    surelearn::bind::bind_rows(m);
    surelearn::bind::bind_rules(m);
    surelearn::bind::bind_constraints(m);
    surelearn::bind::bind_diagonal32(m);
    surelearn::bind::bind_diagonal64(m);
    surelearn::bind::bind_full(m);
    surelearn::bind::bind_dual(m);
    surelearn::bind::bind_probability(m);
    surelearn::bind::bind_text(m);
    surelearn::bind::bind_document_counts(m);
    surelearn::bind::bind_read(m);
    surelearn::bind::bind_merge(m);
    surelearn::bind::bind_shards(m);
    surelearn::bind::bind_tagging(m);
    surelearn::bind::bind_sequences(m);
    surelearn::bind::bind_batch(m);
    surelearn::bind::bind_candidates(m);
    surelearn::bind::bind_graph(m);
    surelearn::bind::bind_graph_learning(m);
    surelearn::bind::bind_graph_batch(m);
}
