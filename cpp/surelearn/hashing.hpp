// From texts to rows: n-grams, their hashes, their counts. Combines the other headers.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "surelearn/hash_many.hpp"
#include "surelearn/names.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/row_builder.hpp"
#include "surelearn/text.hpp"

namespace surelearn {

/// No text: all can be encoded.
inline constexpr std::size_t no_text = std::numeric_limits<std::size_t>::max();

/// Reserves memory for as many features as texts of this length commonly have. Unused pages cost
/// nothing, while growing would copy everything.
template <class T>
void reserve(std::span<const Text> texts, const Analysis& analysis, CountRows<T>& rows) {
    std::size_t size = 0;
    for (const Text& text : texts) size += text.size;
    const std::size_t sizes = std::min<std::size_t>(analysis.most - analysis.least + 1, 4);
    rows.ends.reserve(texts.size() + 1);
    rows.features.reserve(sizes * size / 6);
    rows.values.reserve(sizes * size / 6);
}

/// Hashes texts; its buffers are kept from text to text.
template <class T>
class TextHasher {
public:
    TextHasher(const Analysis& analysis, const Counting& counting)
        : grams_(analysis), builder_(counting) {}

    /// Adds the rows of some texts, in order. Stops at a text that cannot be encoded, and returns
    /// its index.
    [[nodiscard]] std::size_t add(std::span<const Text> texts, CountRows<T>& rows, Names* names) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto ngrams = grams_.of(texts[i]);
            if (!ngrams) return i;
            hashes_.resize(ngrams->size());
            murmur3_all(grams_.bytes(), *ngrams, hashes_.data());
            builder_.add(hashes_, rows);
            if (names == nullptr) continue;
            names->meet(builder_.keys(), hashes_, [&](std::size_t k) {
                const ByteSpan at = (*ngrams)[k];
                return std::string_view(grams_.bytes() + at.begin, at.size());
            });
        }
        return no_text;
    }

private:
    Grams grams_;
    RowBuilder<T> builder_;
    std::vector<std::int32_t> hashes_;
};

/// The rows of some texts after those that are there; as `TextHasher::add`.
template <class T>
[[nodiscard]] std::size_t hash_texts(std::span<const Text> texts, const Analysis& analysis,
                                     const Counting& counting, CountRows<T>& rows, Names* names) {
    return TextHasher<T>(analysis, counting).add(texts, rows, names);
}

/// The rows of chunks of texts, in order. Threads copy the rows they have made at the same time,
/// each to its own place.
template <class T>
class RowsInOrder {
public:
    /// Adds to `all`, which must have memory for the ends of all rows.
    explicit RowsInOrder(CountRows<T>& all) : all_(all) {}

    /// Adds the rows of a chunk once all chunks before it have their place. Before the next one
    /// gets its place, f() runs.
    template <class F>
    void add(std::size_t chunk, const CountRows<T>& rows, F&& f) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return chunk == next_; });
        const std::size_t first = all_.values.size();
        make_room(first + rows.values.size(), lock);
        std::int64_t* const ends = extended(all_.ends, rows.ends.size());
        std::int32_t* const features = extended(all_.features, rows.features.size());
        T* const values = extended(all_.values, rows.values.size());
        f();
        ++next_;
        ++copying_;
        lock.unlock();
        changed_.notify_all();
        std::ranges::transform(rows.ends, ends, [&](std::int64_t end) {
            return static_cast<std::int64_t>(first) + end;
        });
        std::ranges::copy(rows.features, features);
        std::ranges::copy(rows.values, values);
        lock.lock();
        if (--copying_ == 0) changed_.notify_all();
    }

private:
    /// Waits for threads that copy, if what is there has to move.
    void make_room(std::size_t size, std::unique_lock<std::mutex>& lock) {
        if (size <= std::min(all_.features.capacity(), all_.values.capacity())) return;
        changed_.wait(lock, [&] { return copying_ == 0; });
    }

    template <class U>
    [[nodiscard]] static U* extended(UnwrittenVector<U>& vector, std::size_t n) {
        vector.resize(vector.size() + n);
        return vector.data() + vector.size() - n;
    }

    CountRows<T>& all_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t next_ = 0;     ///< chunk
    std::size_t copying_ = 0;  ///< threads
};

/// The ends of chunks of texts. A chunk is large enough to be worth its turn, and its rows are
/// small enough to stay in the cache until they are copied.
[[nodiscard]] inline std::vector<std::size_t> chunks_of(std::span<const Text> texts) {
    constexpr std::size_t large = std::size_t{1} << 17;
    std::vector<std::size_t> ends;
    std::size_t size = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        size += texts[i].size;
        if (size < large && i + 1 < texts.size()) continue;
        ends.push_back(i + 1);
        size = 0;
    }
    return ends;
}

/// Hashes texts in several threads, and gathers the rows and names of chunks in order.
template <class T>
class ThreadedHashing {
public:
    ThreadedHashing(std::span<const Text> texts, const Analysis& analysis, const Counting& counting,
                    CountRows<T>& rows, Names* names)
        : texts_(texts),
          analysis_(analysis),
          counting_(counting),
          ends_(chunks_of(texts)),
          all_(rows),
          names_(names) {}

    /// As `TextHasher::add`.
    [[nodiscard]] std::size_t run(std::size_t threads) {
        const std::size_t n = std::min(threads, ends_.size());
        parallel_for(n, n, [&](std::size_t, std::size_t) { work(); });
        if (failed_ == no_text) {
            for (const Names& later : met_) names_->absorb(later);
        }
        return failed_;
    }

private:
    void work() {
        TextHasher<T> hasher(analysis_, counting_);
        CountRows<T> rows;
        for (std::size_t c = next_++; c < ends_.size(); c = next_++) {
            const std::size_t begin = c == 0 ? 0 : ends_[c - 1];
            std::optional<Names> met;
            if (names_ != nullptr) met.emplace(names_->known());
            rows.clear();
            const auto chunk = texts_.subspan(begin, ends_[c] - begin);
            const std::size_t failed = hasher.add(chunk, rows, met ? &*met : nullptr);
            all_.add(c, rows, [&] {
                if (failed != no_text) failed_ = std::min(failed_, begin + failed);
                if (met) meet(std::move(*met));
            });
        }
    }

    /// Names are absorbed only if every text could be read. Words always can.
    void meet(Names&& met) {
        if (analysis_.unit == Analysis::Unit::word) {
            names_->absorb(met);
        } else {
            met_.push_back(std::move(met));
        }
    }

    std::span<const Text> texts_;
    const Analysis& analysis_;
    const Counting& counting_;
    std::vector<std::size_t> ends_;  ///< of chunks
    std::atomic<std::size_t> next_ = 0;
    RowsInOrder<T> all_;
    Names* names_;
    std::vector<Names> met_;
    std::size_t failed_ = no_text;
};

/// The rows of all texts; as `TextHasher::add`, but if a text cannot be encoded, no name is kept.
template <class T>
[[nodiscard]] std::size_t hash_all(std::span<const Text> texts, const Analysis& analysis,
                                   const Counting& counting, std::size_t threads,
                                   CountRows<T>& rows, Names* names) {
    reserve(texts, analysis, rows);
    const bool is_simple = names == nullptr || analysis.unit == Analysis::Unit::word;
    if (threads == 1 && is_simple) return hash_texts(texts, analysis, counting, rows, names);
    return ThreadedHashing<T>(texts, analysis, counting, rows, names).run(threads);
}

}  // namespace surelearn
