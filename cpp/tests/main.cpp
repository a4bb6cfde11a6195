// The C++ tests: what only C++ can show. Built with and without sanitizers; see tests/sanitize.
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>

#include "check.hpp"
#include "test_batch.hpp"
#include "test_bounds.hpp"
#include "test_candidates.hpp"
#include "test_chain.hpp"
#include "test_column_units.hpp"
#include "test_covariance.hpp"
#include "test_custom.hpp"
#include "test_deciding.hpp"
#include "test_decode.hpp"
#include "test_diagonal.hpp"
#include "test_document_counts.hpp"
#include "test_dual.hpp"
#include "test_forms.hpp"
#include "test_full.hpp"
#include "test_gaussian.hpp"
#include "test_graph.hpp"
#include "test_growth.hpp"
#include "test_hashing.hpp"
#include "test_lanes.hpp"
#include "test_learn.hpp"
#include "test_merge.hpp"
#include "test_normal.hpp"
#include "test_parse.hpp"
#include "test_probability.hpp"
#include "test_rows.hpp"
#include "test_rules.hpp"
#include "test_rw_lock.hpp"
#include "test_shards.hpp"
#include "test_structured.hpp"
#include "test_templates.hpp"
#include "test_top_two.hpp"

namespace {

std::atomic<std::size_t> calls_of_new{0};

}  // namespace

#if SURELEARN_OWN_NEW

// The other forms of new and delete end in these. Not inlined: gcc would see malloc meet delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    calls_of_new.fetch_add(1, std::memory_order_relaxed);
    if (void* const block = std::malloc(size == 0 ? 1 : size)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

#endif

namespace surelearn::tests {

std::size_t allocations() noexcept { return calls_of_new.load(std::memory_order_relaxed); }

namespace {

struct Count {
    int passed = 0;
    int failed = 0;
};

void run(std::span<const Test> tests, Count& count) {
    for (const Test& test : tests) {
        failures = 0;
        try {
            test.run();
        } catch (const std::exception& error) {
            failed(__FILE__, __LINE__, error.what(), 0.0);
        }
        ++(failures == 0 ? count.passed : count.failed);
        if (failures != 0) std::printf("FAILED %s: %d checks\n", test.name, failures);
    }
}

}  // namespace

}  // namespace surelearn::tests

int main() {
    using namespace surelearn::tests;
    Count count;
    run(normal_tests, count);
    run(rules_tests, count);
    run(probability_tests, count);
    run(rows_tests, count);
    run(column_units_tests, count);
    run(document_counts_tests, count);
    run(parse_tests, count);
    run(hashing_tests, count);
    run(gaussian_tests, count);
    run(diagonal_tests, count);
    run(deciding_tests, count);
    run(decode_tests, count);
    run(bounds_tests, count);
    run(forms_tests, count);
    run(growth_tests, count);
    run(covariance_tests, count);
    run(full_tests, count);
    run(dual_tests, count);
    run(lanes_tests, count);
    run(learn_tests, count);
    run(top_two_tests, count);
    run(custom_tests, count);
    run(rw_lock_tests, count);
    run(merge_tests, count);
    run(shards_tests, count);
    run(templates_tests, count);
    run(structured_tests, count);
    run(candidates_tests, count);
    run(chain_tests, count);
    run(batch_tests, count);
    run(graph_tests, count);
    std::printf("%d passed, %d failed\n", count.passed, count.failed);
    return count.failed == 0 ? 0 : 1;
}
