// A fuzzer for the readers of lines: kept files, changed at random, must give rows that keep the
// laws, and the same rows however the lines are cut into blocks. Meant to run under sanitizers.
//
//   fuzz_parse svmlight|vw seconds corpus_folder [seed]
//
// An input that fails is written into the folder, where every later run begins with it.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "surelearn/svmlight.hpp"
#include "surelearn/vw.hpp"

#if !SURELEARN_OWN_NEW
#include <sanitizer/common_interface_defs.h>
#endif

namespace surelearn::tests {

std::size_t allocations() noexcept { return 0; }

namespace {

using Bytes = std::vector<char>;  // as large as its text, so that a byte too far is seen
using Random = std::mt19937_64;

// ------------------------------------------------------------------ what is kept of a failure

std::filesystem::path folder;
Bytes current;

/// Called before the process ends, whoever ends it.
void keep_current() {
    const std::size_t name = std::hash<std::string_view>{}({current.data(), current.size()});
    const auto path = folder / ("found-" + std::to_string(name));
    std::ofstream(path, std::ios::binary)
        .write(current.data(), static_cast<std::streamsize>(current.size()));
    std::fprintf(stderr, "FAILED: the %zu bytes of this input are now %s\n", current.size(),
                 path.c_str());
}

void watch() {
    std::signal(SIGABRT, [](int) {
        keep_current();
        std::_Exit(1);
    });
#if !SURELEARN_OWN_NEW
    __sanitizer_set_death_callback(keep_current);
#endif
}

void law(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "FAILED: %s\n", what);
    keep_current();
    std::_Exit(1);
}

// ------------------------------------------------------------------ readers

/// How a block is read.
struct Options {
    bool svmlight = true;
    bool grouped = false;  ///< svmlight with queries, or label-dependent text
    bool single = true;    ///< float32
    bool zero_based = false;
    bool signs = true;
    std::uint32_t n_features = 1;
};

/// All that a reader tells, bits in the place of numbers so that it can be compared.
struct Told {
    std::vector<std::size_t> sizes;  ///< of rows
    std::vector<std::int32_t> features;
    std::vector<std::uint64_t> values;
    std::vector<std::uint64_t> labels;
    std::vector<std::uint64_t> weights;
    std::vector<std::int64_t> groups;  ///< queries, or numbers of groups from 0
    std::vector<std::int64_t> names;
    std::vector<bool> shared;
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::string>> bad;
    std::int64_t n_features = 0;

    [[nodiscard]] bool operator==(const Told&) const = default;

    /// Adds what was told of the block behind this one.
    void append(const Told& next, std::size_t line, std::size_t byte) {
        const auto add = [](auto& to, const auto& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        add(sizes, next.sizes);
        add(features, next.features);
        add(values, next.values);
        add(labels, next.labels);
        add(weights, next.weights);
        add(names, next.names);
        add(shared, next.shared);
        // Groups of candidates are counted from 0 in each block; queries have no names.
        const std::int64_t before = next.names.empty() || groups.empty() ? 0 : groups.back() + 1;
        for (const std::int64_t group : next.groups) groups.push_back(group + before);
        for (const auto& [at, column, begin, size, expected] : next.bad) {
            bad.emplace_back(at + line, column, begin + byte, size, expected);
        }
        n_features = std::max(n_features, next.n_features);
    }
};

template <class T>
void tell(const ParsedRows<T>& rows, Told& told) {
    law(rows.starts[0] == 0, "the first row starts at 0");
    law(rows.starts[rows.n_rows] == static_cast<std::int64_t>(rows.n_entries), "the last row ends");
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        law(rows.starts[i] <= rows.starts[i + 1], "starts do not fall");
        told.sizes.push_back(static_cast<std::size_t>(rows.starts[i + 1] - rows.starts[i]));
        told.labels.push_back(std::bit_cast<std::uint64_t>(rows.labels[i]));
    }
    for (std::size_t p = 0; p < rows.n_entries; ++p) {
        const T x = rows.values[p];
        law(std::isfinite(x) && x != T{0}, "values are finite and not zero");
        law(rows.features[p] >= 0 && rows.features[p] < told.n_features, "features are in range");
        told.features.push_back(rows.features[p]);
        told.values.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(x)));
    }
    for (const BadLine& bad : rows.bad) {
        told.bad.emplace_back(bad.line, bad.column, bad.begin, bad.size, bad.expected);
    }
}

template <class T>
[[nodiscard]] Told read_svmlight(std::string_view block, const Options& how, bool skip_bad) {
    Told told;
    const auto rows =
        parse_svmlight<T>(block, how.zero_based, how.grouped, skip_bad, told.n_features);
    tell(rows, told);
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        law(std::isfinite(rows.labels[i]), "labels");
        if (!how.grouped) continue;
        law(rows.queries[i] >= 0, "queries are not negative");
        told.groups.push_back(rows.queries[i]);
    }
    return told;
}

template <class T>
[[nodiscard]] Told read_vw(std::string_view block, const Options& how, bool skip_bad) {
    Told told;
    told.n_features = how.n_features;
    const auto rows = parse_vw<WeightedRows<T>>(block, how.n_features, how.signs, skip_bad);
    tell(rows, told);
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        law(!std::isinf(rows.labels[i]), "labels are not infinite");
        law(std::isfinite(rows.weights[i]) && rows.weights[i] >= 0.0, "weights are finite");
        law(rows.weighted || rows.weights[i] == 1.0, "weights are told");
        told.weights.push_back(std::bit_cast<std::uint64_t>(rows.weights[i]));
        for (auto p = rows.starts[i] + 1; p < rows.starts[i + 1]; ++p) {
            law(rows.features[p - 1] < rows.features[p], "features ascend");
        }
    }
    return told;
}

template <class T>
[[nodiscard]] Told read_candidates(std::string_view block, const Options& how, bool skip_bad) {
    Told told;
    told.n_features = how.n_features;
    const auto rows = parse_vw<CandidateRows<T>>(block, how.n_features, how.signs, skip_bad);
    tell(rows, told);
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        law(!std::isinf(rows.labels[i]), "costs are not infinite");
        law(rows.names[i] >= -1, "names are not negative");
        const std::int64_t step = rows.groups[i] - (i == 0 ? -1 : rows.groups[i - 1]);
        law(step == 1 || (i > 0 && step == 0), "groups are counted");
        law(!rows.shared[i] || step == 1, "shared features come first");
        told.groups.push_back(rows.groups[i]);
        told.names.push_back(rows.names[i]);
        told.shared.push_back(rows.shared[i]);
    }
    return told;
}

[[nodiscard]] Told read(std::string_view block, const Options& how, bool skip_bad) {
    const Bytes own(block.begin(), block.end());
    const std::string_view text(own.data(), own.size());
    if (how.svmlight) {
        return how.single ? read_svmlight<float>(text, how, skip_bad)
                          : read_svmlight<double>(text, how, skip_bad);
    }
    if (how.grouped) {
        return how.single ? read_candidates<float>(text, how, skip_bad)
                          : read_candidates<double>(text, how, skip_bad);
    }
    return how.single ? read_vw<float>(text, how, skip_bad) : read_vw<double>(text, how, skip_bad);
}

// ------------------------------------------------------------------ laws

void check_bad_lines(std::string_view block, const Told& told) {
    for (std::size_t i = 0; i < told.bad.size(); ++i) {
        const auto& [line, column, begin, size, expected] = told.bad[i];
        law(i == 0 || std::get<0>(told.bad[i - 1]) < line, "bad lines ascend");
        law(begin + size <= block.size() && size > 0, "what was found is in the block");
        law(!expected.empty(), "something was expected");
        const auto before = block.substr(0, begin);
        law(count_of(before, [](char c) { return c == '\n'; }) == line, "the line is counted");
        law(begin - (before.rfind('\n') + 1) == column, "the column is counted");
    }
}

/// Without leaving out, a reader stops at the first bad line and tells the rows before it.
void check_stop(std::string_view block, const Options& how, const Told& all) {
    const Told stopped = read(block, how, false);
    law(stopped.bad.empty() == all.bad.empty(), "a bad line is told either way");
    if (all.bad.empty()) {
        law(stopped == all, "without bad lines nothing is left out");
        return;
    }
    law(stopped.bad.size() == 1 && stopped.bad[0] == all.bad[0], "the first bad line is told");
    const auto first = block.substr(0, std::get<2>(all.bad[0]));
    Told before = read(block.substr(0, first.rfind('\n') + 1), how, false);
    before.bad = stopped.bad;
    law(stopped == before, "the rows before a bad line are told");
}

/// Whether a text may be cut: groups of candidates behind a blank line only.
[[nodiscard]] bool may_cut(std::string_view text, const Options& how) {
    if (how.svmlight || !how.grouped) return true;
    text.remove_suffix(1);
    const std::string_view line = text.substr(text.rfind('\n') + 1);
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Any cut behind a newline gives the same rows.
void check_cuts(std::string_view block, const Options& how, const Told& all, Random& random) {
    Told told;
    if (!how.svmlight) told.n_features = how.n_features;
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < block.size();) {
        std::size_t end = begin;
        do {
            end = std::min(block.find('\n', end), block.size() - 1) + 1;
        } while (end < block.size() && (!may_cut(block.substr(0, end), how) || random() % 2 == 0));
        const std::string_view piece = block.substr(begin, end - begin);
        told.append(read(piece, how, true), line, begin);
        line += count_of(piece, [](char c) { return c == '\n'; });
        begin = end;
    }
    law(told == all, "blocks give the rows of the whole");
}

/// Checks an input; what came of it in a few words, so that something new can be told.
[[nodiscard]] std::string check(const Options& how, Random& random) {
    const std::string_view block(current.data(), current.size());
    const Told all = read(block, how, true);
    check_bad_lines(block, all);
    check_stop(block, how, all);
    check_cuts(block, how, all, random);
    std::set<std::string> kinds;
    for (const auto& bad : all.bad) kinds.insert(std::get<4>(bad));
    std::string told = std::to_string(std::bit_width(all.sizes.size())) + ' ' +
                       std::to_string(std::bit_width(all.features.size()));
    for (const std::string& kind : kinds) told += ' ' + kind;
    return told;
}

// ------------------------------------------------------------------ inputs

constexpr std::array<std::string_view, 47> words{"\n",
                                                 "\r\n",
                                                 " ",
                                                 "\t",
                                                 "#",
                                                 ":",
                                                 "|",
                                                 ",",
                                                 "'",
                                                 "^",
                                                 std::string_view("\0", 1),
                                                 "0",
                                                 "1",
                                                 "-1",
                                                 "+1",
                                                 "1:",
                                                 ":1",
                                                 " 1:1",
                                                 " 0:1",
                                                 "qid:",
                                                 "qid:3",
                                                 " 2147483647:1",
                                                 " 2147483648:1",
                                                 "1e5",
                                                 "e",
                                                 "E+",
                                                 ".",
                                                 "1e400",
                                                 "1e-400",
                                                 "4.9e-324",
                                                 "1.7976931348623157e308",
                                                 "3.4028235e38",
                                                 "3.5e38",
                                                 "9007199254740993",
                                                 "18446744073709551616",
                                                 "0.1000000000000000055511151231257827",
                                                 "inf",
                                                 "nan",
                                                 "-",
                                                 " |f",
                                                 "|f:2",
                                                 " a:b",
                                                 "\xef\xbb\xbf",
                                                 "1 |f a b:2\n",
                                                 "shared ",
                                                 "1:0 |",
                                                 "\n\n"};

[[nodiscard]] std::size_t below(std::size_t n, Random& random) { return random() % n; }

/// One change: a byte, a word put in, a piece left out, doubled, or taken from another input.
void change(Bytes& bytes, const std::vector<Bytes>& corpus, Random& random) {
    const std::size_t at = below(bytes.size() + 1, random);
    const std::size_t size = below(std::min<std::size_t>(bytes.size() - at, 40) + 1, random);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = place + static_cast<std::ptrdiff_t>(size);
    const std::string_view word = words[below(words.size(), random)];
    const Bytes piece(place, end);
    switch (below(6, random)) {
        case 0:
            if (at < bytes.size()) bytes[at] = static_cast<char>(random());
            break;
        case 1:
            bytes.insert(place, word.begin(), word.end());
            break;
        case 2:
            bytes.erase(place, end);
            break;
        case 3:
            bytes.insert(place, piece.begin(), piece.end());
            break;
        case 4:
            bytes.insert(bytes.erase(place, end), word.begin(), word.end());
            break;
        default:
            const Bytes& other = corpus[below(corpus.size(), random)];
            const std::size_t from = below(other.size() + 1, random);
            const std::size_t n = below(std::min<std::size_t>(other.size() - from, 80) + 1, random);
            const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
            bytes.insert(place, first, first + static_cast<std::ptrdiff_t>(n));
    }
    if (bytes.size() > 800) bytes.resize(below(800, random));  // many small rather than few large
}

[[nodiscard]] Options any_options(bool svmlight, Random& random) {
    constexpr std::array<std::uint32_t, 5> sizes{1, 2, 7, 1U << 20, 0x7fffffff};
    const std::uint64_t bits = random();
    return {svmlight,        (bits & 8) != 0, (bits & 1) != 0,
            (bits & 2) != 0, (bits & 4) != 0, sizes[(bits >> 8) % 5]};
}

[[nodiscard]] std::vector<Bytes> kept() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry);
    std::ranges::sort(paths);
    std::vector<Bytes> corpus;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return corpus;
}

void run(bool svmlight, double seconds, Random& random) {
    std::vector<Bytes> corpus = kept();
    const std::size_t n_kept = corpus.size();
    law(n_kept > 0, "the folder has inputs");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < 64 * n_kept; ++i) {
        current = corpus[i % n_kept];
        seen.insert(check(any_options(svmlight, random), random));
    }
    std::size_t n = 64 * n_kept;
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    for (; Clock::now() < until; ++n) {
        current = corpus[below(corpus.size(), random)];
        do change(current, corpus, random);
        while (random() % 4 != 0);
        // Inputs that led to something new are worth changing further.
        if (seen.insert(check(any_options(svmlight, random), random)).second) {
            corpus.push_back(current);
        }
    }
    std::printf("%zu inputs from %zu kept files, %zu outcomes: passed\n", n, n_kept, seen.size());
}

}  // namespace

}  // namespace surelearn::tests

int main(int argc, char** argv) {
    using namespace surelearn::tests;
    const std::string_view format = argc > 1 ? argv[1] : "";
    if (argc < 4 || (format != "svmlight" && format != "vw")) {
        std::fprintf(stderr, "fuzz_parse svmlight|vw seconds corpus_folder [seed]\n");
        return 2;
    }
    folder = argv[3];
    const std::uint64_t seed =
        argc > 4 ? std::strtoull(argv[4], nullptr, 10) : std::uint64_t{std::random_device{}()};
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    Random random(seed);
    watch();
    run(format == "svmlight", std::atof(argv[2]), random);
}
