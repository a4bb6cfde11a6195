// Rarity: in how many documents each feature occurs, and rows weighed by it. Knows no text.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

#include "surelearn/normal.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/row_builder.hpp"
#include "surelearn/rows.hpp"

namespace surelearn {

/// A stretch of features that are weighed by rarity and brought to a length of their own, which is
/// then multiplied by `weight`: a column of texts. Values outside of all stretches stay.
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
    double weight = 1.0;
};

/// The documents counted so far, and those of each feature. A row is a document; its features are
/// distinct.
class DocumentCounts {
public:
    explicit DocumentCounts(std::size_t n_features)
        : n_features_(n_features),
          // Cleared by the system, page by page, where it is touched.
          documents_(static_cast<std::uint32_t*>(
              std::calloc(std::max<std::size_t>(1, n_features), sizeof(std::uint32_t)))) {
        if (documents_ == nullptr) throw std::bad_alloc();
    }

    [[nodiscard]] std::size_t n_features() const noexcept { return n_features_; }
    [[nodiscard]] std::uint64_t n() const noexcept { return n_; }
    [[nodiscard]] std::span<const std::uint32_t> documents() const noexcept {
        return {documents_.get(), n_features_};
    }

    /// Counts all rows; throws std::length_error, and counts none, where the counters would end.
    template <class Index, class Value>
    void count(const Matrix<Index, Value>& rows) {
        make_room(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) count_row(rows.stored(i));
    }

    /// The opposite of `count` for the rows from `first` on.
    template <class Index, class Value>
    void forget(const Matrix<Index, Value>& rows, std::size_t first = 0) noexcept {
        for (std::size_t i = first; i < rows.size(); ++i) {
            const auto row = rows.stored(i);
            for (std::size_t p = 0; p < row.size(); ++p) --documents_.get()[row.feature(p)];
            --n_;
        }
    }

    /// Adds documents that were counted elsewhere.
    void add(std::uint64_t n, std::span<const std::int64_t> features,
             std::span<const std::int64_t> counts) {
        make_room(n);
        for (std::size_t i = 0; i < features.size(); ++i) {
            const auto feature = static_cast<std::size_t>(features[i]);
            documents_.get()[feature] += static_cast<std::uint32_t>(counts[i]);
        }
        n_ += n;
    }

    /// Every value times 1 + log((1 + n) / (1 + documents of its feature)), and each row brought to
    /// a length, by the counts as they are. `out` may be the values themselves.
    template <class Index, class Value>
    void weigh(const Matrix<Index, Value>& rows, Counting::Norm norm, std::size_t threads,
               std::span<Value> out) const {
        const auto counted = [&](std::size_t feature) { return documents_.get()[feature]; };
        parallel_for(rows.size(), threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                weigh_row(rows.stored(i), counted, norm, out.subspan(rows.begin_of(i)));
            }
        });
    }

    /// Each row is counted, and then weighed by the counts up to and including itself, so it does
    /// not matter how rows are cut into calls.
    template <class Index, class Value>
    void count_and_weigh(const Matrix<Index, Value>& rows, Counting::Norm norm,
                         std::span<Value> out) {
        make_room(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ++n_;
            // One visit of each counter does both.
            const auto counted = [&](std::size_t feature) { return ++documents_.get()[feature]; };
            weigh_row(rows.stored(i), counted, norm, out.subspan(rows.begin_of(i)));
        }
    }

    /// As `weigh`, but each of these stretches of features, ascending, for itself.
    template <class Index, class Value>
    void weigh_spans(const Matrix<Index, Value>& rows, std::span<const TextSpan> texts,
                     std::span<Value> out) const {
        const auto counted = [&](std::size_t feature) { return documents_.get()[feature]; };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            weigh_stretches(rows.stored(i), counted, texts, out.subspan(rows.begin_of(i)));
        }
    }

    /// As `count_and_weigh`, but each of these stretches of features, ascending, for itself. All
    /// features are counted, so that `forget` takes them back.
    template <class Index, class Value>
    void count_and_weigh_spans(const Matrix<Index, Value>& rows, std::span<const TextSpan> texts,
                               std::span<Value> out) {
        make_room(rows.size());
        const auto counted = [&](std::size_t feature) { return documents_.get()[feature]; };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            count_row(rows.stored(i));
            weigh_stretches(rows.stored(i), counted, texts, out.subspan(rows.begin_of(i)));
        }
    }

    /// The factor of a feature.
    [[nodiscard]] double idf(std::size_t feature) const noexcept {
        return 1.0 + log_of(n_ + 1) - log_of(std::uint64_t{documents_.get()[feature]} + 1);
    }

private:
    /// Common words have large counts: few of them, so that the processor's cache holds what is
    /// read.
    static constexpr std::size_t most_logs = std::size_t{1} << 20;

    /// Makes sure that more documents can be counted, and that their logarithms are in the table.
    void make_room(std::uint64_t more) {
        if (more > std::numeric_limits<std::uint32_t>::max() - n_) {
            throw std::length_error("documents must be fewer than 2**32 to be counted");
        }
        const auto wanted =
            static_cast<std::size_t>(std::min<std::uint64_t>(n_ + more + 2, most_logs));
        if (wanted > logs_.capacity()) logs_.reserve(std::max(wanted, 2 * logs_.capacity()));
        while (logs_.size() < wanted) {
            logs_.push_back(detail::log(static_cast<double>(logs_.size())));
        }
    }

    template <class Index, class Value>
    void count_row(const Row<Index, Value>& row) noexcept {
        for (std::size_t p = 0; p < row.size(); ++p) {
            assert(row.feature(p) < n_features_);
            ++documents_.get()[row.feature(p)];
        }
        ++n_;
    }

    /// `counted` gives the documents of a feature.
    template <class Index, class Value, class F>
    void weigh_row(const Row<Index, Value>& row, F&& counted, Counting::Norm norm,
                   std::span<Value> out) const noexcept {
        const double all = 1.0 + log_of(n_ + 1);
        out = out.first(row.size());
        for (std::size_t p = 0; p < row.size(); ++p) {
            assert(row.feature(p) < n_features_);
            const double own = log_of(std::uint64_t{counted(row.feature(p))} + 1);
            out[p] = static_cast<Value>(row.x(p) * (all - own));
        }
        normalise(out, norm);
    }

    template <class Index, class Value, class F>
    void weigh_stretches(const Row<Index, Value>& row, F&& counted, std::span<const TextSpan> texts,
                         std::span<Value> out) const noexcept {
        std::size_t p = 0;
        for (const TextSpan& text : texts) {
            for (; p < row.size() && row.feature(p) < text.begin; ++p) out[p] = row.value[p];
            std::size_t end = p;
            while (end < row.size() && row.feature(end) < text.end) ++end;
            const Row<Index, Value> own{row.index.subspan(p, end - p),
                                        row.value.subspan(p, end - p)};
            const auto weighed = out.subspan(p, end - p);
            weigh_row(own, counted, Counting::Norm::l2, weighed);
            for (Value& x : weighed) {
                x = static_cast<Value>(static_cast<double>(x) * text.weight);
            }
            p = end;
        }
        for (; p < row.size(); ++p) out[p] = row.value[p];
    }

    /// From a table where it can be: a logarithm takes as long as hashing a word.
    [[nodiscard]] double log_of(std::uint64_t k) const noexcept {
        return k < logs_.size() ? logs_[k] : detail::log(static_cast<double>(k));
    }

    struct Free {
        void operator()(std::uint32_t* block) const noexcept { std::free(block); }
    };

    std::size_t n_features_;
    std::unique_ptr<std::uint32_t, Free> documents_;
    std::uint64_t n_ = 0;
    std::vector<double> logs_{-std::numeric_limits<double>::infinity(), 0.0};  ///< of 0, 1, 2, ...
};

}  // namespace surelearn
