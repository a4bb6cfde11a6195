// Arrays: reads the rows of a caller's matrix in place. Knows nothing of weights or rules.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "surelearn/column_units.hpp"
#include "surelearn/simd.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// What is wrong with a matrix, and where.
struct Fault {
    enum class Kind { none, not_finite, bad_index, bad_start };
    Kind kind = Kind::none;
    std::size_t row = 0;

    explicit operator bool() const noexcept { return kind != Kind::none; }
};

/// What all values of some rows have in common.
struct Values {
    double least = 0.0;    ///< the smallest |x|
    double largest = 0.0;  ///< the largest |x|; NaN if one is
    bool unit = true;      ///< whether all are 1

    [[nodiscard]] bool finite() const noexcept { return std::isfinite(largest); }
};

/// Looks at all values once. Absolute values compare as their bits do, and those of NaN are above
/// all others; with whole numbers the loop has no order that the compiler must keep.
template <class Value>
void survey(std::span<const Value> values, Values& found) noexcept {
    widen([=, &found]() SURELEARN_INLINED {
        using Bits = std::conditional_t<sizeof(Value) == 4, std::int32_t, std::int64_t>;
        constexpr Bits magnitude = std::numeric_limits<Bits>::max();
        const Value* const x = values.data();
        Bits least = magnitude;
        Bits largest = 0;
        Bits differences = 0;
        for (std::size_t p = 0; p < values.size(); ++p) {
            const Bits bits = std::bit_cast<Bits>(x[p]);
            const Bits size = bits & magnitude;
            least = std::min(least, size);
            largest = std::max(largest, size);
            differences |= bits ^ std::bit_cast<Bits>(Value{1});
        }
        found = {std::bit_cast<Value>(least), std::bit_cast<Value>(largest), differences == 0};
    });
}

/// How many numbers are not above their predecessor.
template <class Index>
void count_falls(std::span<const Index> index, std::size_t& found) noexcept {
    widen([=, &found]() SURELEARN_INLINED {
        constexpr std::size_t block = std::size_t{1} << 12;  // its count fits an Index
        found = 0;
        for (std::size_t begin = 1; begin < index.size(); begin += block) {
            const std::size_t end = std::min(index.size(), begin + block);
            const Index* const at = index.data();
            Index falls = 0;
            for (std::size_t p = begin; p < end; ++p) falls += at[p] <= at[p - 1] ? 1 : 0;
            found += static_cast<std::size_t>(falls);
        }
    });
}

/// A buffer for the entries of one dense row.
template <class Index, class Value>
struct RowBuffer {
    std::vector<Index> index;
    std::vector<Value> value;
};

/// Rows in compressed (CSR) or dense form. Both give the same row: ascending indices, duplicates
/// summed, no zeros. So sums run in the same order and give the same model. A compressed matrix in
/// this form is read in place; any other is tidied once, in a copy.
template <class Index, class Value>
class Matrix {
public:
    using RowView = Row<Index, Value>;
    using Buffer = RowBuffer<Index, Value>;

    Matrix(std::span<const std::int64_t> start, std::span<const Index> index,
           std::span<const Value> value, std::size_t n_features)
        : start_(start), index_(index), value_(value), n_features_(n_features) {}

    Matrix(std::span<const Value> dense, std::size_t n_features, std::size_t n_rows)
        : value_(dense), n_features_(n_features), dense_rows_(n_rows) {}

    /// The rows of a sound matrix of floats, converted one by one as they are read: code that is
    /// compiled for rows of doubles reads both.
    template <std::same_as<float> Narrow>
        requires std::same_as<Value, double>
    explicit Matrix(const Matrix<Index, Narrow>& rows)
        : start_(rows.start_),
          index_(rows.index_),
          floats_(rows.value_),
          n_features_(rows.n_features_),
          dense_rows_(rows.dense_rows_),
          largest_(rows.largest_),
          unit_(rows.unit_),
          units_(rows.units_),
          copy_(rows.copy_) {}

    [[nodiscard]] bool dense() const noexcept { return start_.empty(); }
    [[nodiscard]] std::size_t n_features() const noexcept { return n_features_; }
    [[nodiscard]] std::size_t size() const noexcept {
        return dense() ? dense_rows_ : start_.size() - 1;
    }

    /// Checks every number once, and tidies a compressed matrix if needed. Call it, and find no
    /// fault, before `row`.
    [[nodiscard]] Fault inspect() {
        if (dense()) return inspect_dense();
        if (Fault fault = inspect_starts()) return fault;
        if (looks_tidy()) return {};
        if (Fault fault = inspect_rows()) return fault;
        return tidy_up();
    }

    /// Row i: a compressed row in place; a dense row in `buffer`, valid until that is reused.
    [[nodiscard]] Row<Index, Value> row(std::size_t i, RowBuffer<Index, Value>& buffer) const {
        if (dense()) {
            floats_.empty() ? compress(value_, i, buffer) : compress(floats_, i, buffer);
            return {buffer.index, buffer.value, largest_};
        }
        auto row = stored(i);
        if (!floats_.empty()) {
            const auto narrow = floats_.subspan(begin_of(i), row.size());
            buffer.value.assign(narrow.begin(), narrow.end());
            row.value = buffer.value;
        }
        return row;
    }

    /// The stored entries of a compressed row, for looking ahead; features alone where the values
    /// are converted.
    [[nodiscard]] Row<Index, Value> stored(std::size_t i) const noexcept {
        const auto begin = static_cast<std::size_t>(start_[i]);
        const auto count = static_cast<std::size_t>(start_[i + 1]) - begin;
        const auto value = value_.empty() ? value_ : value_.subspan(begin, count);
        return {index_.subspan(begin, count), value, largest_, unit_};
    }

    /// All values of a dense row as they were given.
    [[nodiscard]] std::span<const Value> values(std::size_t i) const noexcept {
        return dense_row(value_, i);
    }

    /// Where the entries of a compressed row begin among those of all.
    [[nodiscard]] std::size_t begin_of(std::size_t i) const noexcept {
        return static_cast<std::size_t>(start_[i]);
    }

    /// The number of entries of all compressed rows.
    [[nodiscard]] std::size_t n_entries() const noexcept {
        return dense() ? 0 : static_cast<std::size_t>(start_.back());
    }

    /// The same compressed rows with other values, none of which may be 0.
    [[nodiscard]] Matrix with_values(std::span<const Value> value) const {
        Matrix other = *this;
        other.value_ = value;
        other.keep(other.all_values());
        return other;
    }

    /// The same sound rows in other units. Dense ones are converted one by one as they are read,
    /// others once, in a copy; sets `fault` where a value leaves the range of its type.
    [[nodiscard]] Matrix in_units(std::shared_ptr<const ColumnUnits> units, Fault& fault) const {
        if (!dense())
            return units->whole ? filled().in_units(std::move(units), fault)
                                : converted(*units, fault);
        Matrix other = *this;
        other.units_ = std::move(units);
        other.unit_ = false;
        other.largest_ = 0.0;
        for (std::size_t i = 0; i < size(); ++i) {
            const auto values = dense_row(value_, i);
            double largest = 0.0;
            for (std::size_t j = 0; j < n_features_; ++j) {
                const auto z = static_cast<Value>(other.units_->of(values[j], j));
                largest = std::max(largest, std::fabs(static_cast<double>(z)));
            }
            if (!std::isfinite(largest)) fault = {Fault::Kind::not_finite, i};
            other.largest_ = std::max(other.largest_, largest);
        }
        return other;
    }

    /// The rows [begin, end), in place.
    [[nodiscard]] Matrix part(std::size_t begin, std::size_t end) const {
        Matrix other = *this;
        if (dense()) {
            other.value_ = value_.subspan(begin * n_features_, (end - begin) * n_features_);
            other.dense_rows_ = end - begin;
            return other;
        }
        auto copy = std::make_shared<Copy>();
        const auto start = start_.subspan(begin, end - begin + 1);
        for (const std::int64_t at : start) copy->start.push_back(at - start.front());
        other.start_ = copy->start;
        other.index_ = index_.subspan(begin_of(begin));
        other.value_ = value_.subspan(begin_of(begin));
        copy->shared = copy_;
        other.copy_ = std::move(copy);
        return other;
    }

    /// Copies of some rows, in the order of these numbers.
    [[nodiscard]] Matrix take(std::span<const std::int64_t> rows) const {
        auto copy = std::make_shared<Copy>();
        if (!dense()) copy->start.push_back(0);
        for (const std::int64_t number : rows) {
            const auto i = static_cast<std::size_t>(number);
            const auto value = dense() ? dense_row(value_, i) : stored(i).value;
            copy->value.insert(copy->value.end(), value.begin(), value.end());
            if (dense()) continue;
            const auto index = stored(i).index;
            copy->index.insert(copy->index.end(), index.begin(), index.end());
            copy->start.push_back(static_cast<std::int64_t>(copy->index.size()));
        }
        Matrix other = *this;
        other.start_ = copy->start;
        other.index_ = copy->index;
        other.value_ = copy->value;
        other.dense_rows_ = dense() ? rows.size() : 0;
        other.copy_ = std::move(copy);
        return other;
    }

    /// Compressed rows from `first` on under other numbers of features, in the same order.
    [[nodiscard]] Matrix renumbered(std::size_t first, std::span<const std::int64_t> start,
                                    std::span<const Index> index, std::size_t n_features) const {
        Matrix other = *this;
        other.start_ = start;
        other.index_ = index;
        other.value_ = value_.subspan(begin_of(first), index.size());
        other.n_features_ = n_features;
        return other;
    }

    /// Prefetches a compressed row into the second-level cache. Force-inlined, since gcc removes
    /// calls of a function that only prefetches.
    [[gnu::always_inline]] void prefetch(std::size_t i) const noexcept {
        const auto row = stored(i);
        for (std::size_t p = 0; p < row.size(); p += 64 / sizeof(Index)) {
            __builtin_prefetch(row.index.data() + p, 0, 2);
        }
        for (std::size_t p = 0; p < row.value.size() && !unit_; p += 64 / sizeof(Value)) {
            __builtin_prefetch(row.value.data() + p, 0, 2);
        }
    }

private:
    template <class OtherIndex, class OtherValue>
    friend class Matrix;

    [[nodiscard]] Fault inspect_starts() const noexcept {
        if (start_[0] != 0) return {Fault::Kind::bad_start, 0};
        for (std::size_t i = 0; i + 1 < start_.size(); ++i) {
            if (start_[i + 1] < start_[i]) return {Fault::Kind::bad_start, i};
        }
        const auto end = static_cast<std::size_t>(start_.back());
        if (end > index_.size() || end > value_.size()) {
            return {Fault::Kind::bad_start, start_.size() - 2};
        }
        return {};
    }

    template <class T>
    [[nodiscard]] std::span<const T> dense_row(std::span<const T> all,
                                               std::size_t i) const noexcept {
        return all.subspan(i * n_features_, n_features_);
    }

    [[nodiscard]] Values all_values() const noexcept {
        Values values;
        survey(value_.first(dense() ? value_.size() : n_entries()), values);
        return values;
    }
    void keep(const Values& values) noexcept {
        largest_ = values.largest;
        unit_ = values.unit && !dense();
    }

    /// Checks the usual case in a few loops over the whole arrays, without a loop over rows.
    [[nodiscard]] bool looks_tidy() noexcept {
        const auto end = n_entries();
        if (end == 0) return true;
        const Values values = all_values();
        if (!values.finite() || values.least == 0.0) return false;
        keep(values);
        // Indices may decrease only where a row begins; then each row's first and last bound it.
        std::size_t falls = 0;
        count_falls(index_.first(end), falls);
        for (std::size_t i = 0; i < size(); ++i) {
            const auto row = stored(i).index;
            if (row.empty()) continue;
            const auto first = static_cast<std::size_t>(start_[i]);
            if (first > 0 && row.front() <= index_[first - 1]) --falls;
            if (row.front() < 0 || static_cast<std::uint64_t>(row.back()) >= n_features_) {
                return false;
            }
        }
        return falls == 0;
    }

    [[nodiscard]] Fault inspect_dense() {
        const Values values = all_values();
        if (!values.finite()) return inspect_rows();
        keep(values);
        return {};
    }

    [[nodiscard]] Fault inspect_rows() const {
        for (std::size_t i = 0; i < size(); ++i) {
            const auto values = dense() ? dense_row(value_, i) : stored(i).value;
            const auto indices = dense() ? std::span<const Index>{} : stored(i).index;
            if (!finite(values)) return {Fault::Kind::not_finite, i};
            for (const Index j : indices) {
                const bool inside = j >= 0 && static_cast<std::uint64_t>(j) < n_features_;
                if (!inside) return {Fault::Kind::bad_index, i};
            }
        }
        return {};
    }

    [[nodiscard]] static bool finite(std::span<const Value> values) {
        return std::ranges::all_of(values, [](Value x) { return std::isfinite(x); });
    }

    template <class T>
    void compress(std::span<const T> all, std::size_t i, RowBuffer<Index, Value>& out) const {
        out.index.clear();
        out.value.clear();
        const auto values = dense_row(all, i);
        if (units_) {
            compress_units(values, out);
            return;
        }
        for (std::size_t j = 0; j < values.size(); ++j) {
            if (values[j] == T{0}) continue;
            out.index.push_back(static_cast<Index>(j));
            out.value.push_back(static_cast<Value>(values[j]));
        }
    }

    /// A value of type T is rounded to it in either type of rows.
    template <class T>
    void compress_units(std::span<const T> values, RowBuffer<Index, Value>& out) const {
        for (std::size_t j = 0; j < values.size(); ++j) {
            const auto z = static_cast<T>(units_->of(values[j], j));
            if (z == T{0}) continue;
            out.index.push_back(static_cast<Index>(j));
            out.value.push_back(static_cast<Value>(z));
        }
    }

    /// Compressed rows as dense ones.
    [[nodiscard]] Matrix filled() const {
        auto copy = std::make_shared<Copy>();
        copy->value.resize(size() * n_features_);
        for (std::size_t i = 0; i < size(); ++i) {
            const auto row = stored(i);
            for (std::size_t p = 0; p < row.size(); ++p) {
                copy->value[i * n_features_ + row.feature(p)] = row.value[p];
            }
        }
        Matrix other(std::span<const Value>(copy->value), n_features_, size());
        other.copy_ = std::move(copy);
        return other;
    }

    /// Compressed rows whose stored values are in other units.
    [[nodiscard]] Matrix converted(const ColumnUnits& units, Fault& fault) const {
        auto copy = std::make_shared<Copy>();
        copy->value.assign(value_.begin(),
                           value_.begin() + static_cast<std::ptrdiff_t>(n_entries()));
        for (std::size_t p = 0; p < copy->value.size(); ++p) {
            const auto j = static_cast<std::size_t>(index_[p]);
            if (j < units.factor.size()) {
                copy->value[p] = static_cast<Value>(units.of(copy->value[p], j));
            }
        }
        Matrix other = *this;
        other.value_ = copy->value;
        copy->shared = copy_;
        other.copy_ = std::move(copy);
        fault = other.inspect();  // what is 0 now is dropped
        return other;
    }

    struct Copy {
        std::vector<std::int64_t> start;
        std::vector<Index> index;
        std::vector<Value> value;
        std::shared_ptr<const void> shared{};  ///< what else is read, if it is not the caller's
    };

    /// Sorts every row, sums duplicates and drops zeros, in a copy that is read from now on.
    [[nodiscard]] Fault tidy_up() {
        auto copy = std::make_shared<Copy>();
        copy->start.reserve(start_.size());
        copy->index.reserve(index_.size());
        copy->value.reserve(value_.size());
        copy->start.push_back(0);
        std::vector<std::uint64_t> keys;
        std::vector<std::uint64_t> other;
        for (std::size_t i = 0; i < size(); ++i) {
            sort_and_sum(stored(i), keys, other, *copy);
            const auto begin = static_cast<std::size_t>(copy->start.back());
            // A sum of duplicates may overflow.
            if (!finite(std::span<const Value>(copy->value).subspan(begin))) {
                return {Fault::Kind::not_finite, i};
            }
            copy->start.push_back(static_cast<std::int64_t>(copy->index.size()));
        }
        start_ = copy->start;
        index_ = copy->index;
        value_ = copy->value;
        copy_ = std::move(copy);
        keep(all_values());
        return {};
    }

    /// Sorts keys whose low `bits` ascend already. Long rows use a radix sort: a comparison sort
    /// mispredicts every second branch and takes 1.5 to 5 times as long.
    static void sort(std::vector<std::uint64_t>& keys, unsigned bits,
                     std::vector<std::uint64_t>& other) {
        if (keys.size() < 48) {
            std::ranges::sort(keys);
            return;
        }
        const std::uint64_t most = std::ranges::max(keys);
        other.resize(keys.size());
        for (unsigned shift = bits; shift < 64 && most >> shift != 0; shift += 8) {
            const auto digit = [&](std::uint64_t key) { return key >> shift & 255; };
            std::array<std::uint32_t, 257> first{};
            for (const std::uint64_t key : keys) ++first[digit(key) + 1];
            for (std::size_t d = 0; d < 256; ++d) first[d + 1] += first[d];
            for (const std::uint64_t key : keys) other[first[digit(key)]++] = key;
            keys.swap(other);
        }
    }

    /// Sorts feature and position as one number, then sums duplicates.
    void sort_and_sum(const Row<Index, Value>& row, std::vector<std::uint64_t>& keys,
                      std::vector<std::uint64_t>& other, Copy& out) const {
        const auto bits = static_cast<unsigned>(std::bit_width(row.size()));
        if (bits + static_cast<unsigned>(std::bit_width(n_features_)) > 64U)
            throw std::length_error("row too long");
        keys.clear();
        for (std::size_t p = 0; p < row.size(); ++p) {
            keys.push_back(std::uint64_t{row.feature(p)} << bits | p);
        }
        sort(keys, bits, other);
        const std::uint64_t place = (std::uint64_t{1} << bits) - 1;
        for (auto at = keys.begin(); at != keys.end();) {
            const std::uint64_t j = *at >> bits;
            double sum = 0.0;
            for (; at != keys.end() && *at >> bits == j; ++at) sum += row.x(*at & place);
            const auto value = static_cast<Value>(sum);
            if (value == Value{0}) continue;
            out.index.push_back(static_cast<Index>(j));
            out.value.push_back(value);
        }
    }

    std::span<const std::int64_t> start_;
    std::span<const Index> index_;
    std::span<const Value> value_;
    std::span<const float> floats_;  ///< in place of values
    std::size_t n_features_ = 0;
    std::size_t dense_rows_ = 0;
    double largest_ = std::numeric_limits<double>::infinity();  ///< no |x| is above it
    bool unit_ = false;                                         ///< every x is 1
    std::shared_ptr<const ColumnUnits>
        units_;                         ///< of dense rows; none: values are read as they are
    std::shared_ptr<const void> copy_;  ///< what is read, if it is not the caller's
};

}  // namespace surelearn
