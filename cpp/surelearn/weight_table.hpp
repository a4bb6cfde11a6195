// The storage of diagonal weights: feature j has one run of memory [mu_1..mu_K, sigma_1..sigma_K,
// q_1..q_K]; variances only for second-order rules, sums q only with averaging. So a sparse row
// touches one address per feature. Knows neither rows nor steps.
//
// A run may have spare columns, which already hold the prior: a new class takes the next one
// without copying. So columns are in order of arrival, and a ColumnOrder maps them to labels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "surelearn/bounds.hpp"
#include "surelearn/column_order.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/table.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

template <class T>
class WeightTable {
public:
    explicit WeightTable(const Shape& shape) : WeightTable(shape, shape.n_columns) {
        if (table().size() == 0) return;
        for (std::size_t part = 0; part < shape.parts(); ++part) {
            std::fill_n(data_ + part * capacity_, capacity_, start(part));
        }
        table().repeat(stride_);
        memory_->bounds = Bounds<T>::of_prior(prior());
        memory_->n_checked = 0;
    }

    WeightTable(WeightTable&&) noexcept = default;
    WeightTable& operator=(WeightTable&&) noexcept = default;

    /// The dimensions; the prior is the initial one.
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// Variance of a weight that no row has touched.
    [[nodiscard]] double prior() const noexcept { return memory_->prior; }
    [[nodiscard]] std::uint64_t rounds() const noexcept { return memory_->rounds; }
    void set_rounds(std::uint64_t rounds) noexcept { memory_->rounds = rounds; }
    void end_round() noexcept { ++memory_->rounds; }
    [[nodiscard]] std::size_t bytes() const noexcept { return memory_->table.size() * sizeof(T); }

    /// The run of feature j: column b of part p is number p * capacity() + b.
    [[nodiscard]] T* cell(std::size_t j) noexcept { return data_ + j * stride_; }
    [[nodiscard]] const T* cell(std::size_t j) const noexcept { return data_ + j * stride_; }
    /// The number of columns including spare ones; a single column has no spare ones.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
    /// The offset of the sums for averaging in a run.
    [[nodiscard]] std::size_t average_at() const noexcept {
        return (shape_.parts() - 1) * capacity_;
    }

    /// Counts a step on features of which no |x| is above `x`. False if it may fail; then it must
    /// be checked weight by weight.
    [[nodiscard]] bool grow_safely(const Step& step, double x) noexcept {
        const double most = std::max(x, 1.0);  // the intercept's is 1
        if (memory_->bounds.grow(step, most)) return true;
        // Bounds that were exceeded may be loose: measuring costs about as much as so many steps.
        if (++memory_->n_checked <= table().size()) return false;
        measure_bounds();
        return memory_->bounds.grow(step, most);
    }
    /// Call it after writing weights otherwise than by counted steps.
    void forget_bounds() noexcept {
        memory_->bounds = Bounds<T>::unknown();
        memory_->n_checked = table().size();
    }
    [[nodiscard]] const Bounds<T>& bounds() const noexcept { return memory_->bounds; }
    /// Call it where the bounds of what was written are known.
    void set_bounds(const Bounds<T>& bounds) noexcept {
        memory_->bounds = bounds;
        memory_->n_checked = bounds.known() ? 0 : table().size();
    }

    /// Goes on where another table of the same columns is: row i as its row features[i], or all
    /// rows without features. Both without spare columns.
    void take_over(const WeightTable& other,
                   const std::optional<std::span<const std::int64_t>>& features) noexcept {
        if (!features) std::copy_n(other.data_, memory_->table.size(), data_);
        for (std::size_t i = 0; features && i < features->size(); ++i) {
            std::copy_n(other.cell(static_cast<std::size_t>((*features)[i])), stride_, cell(i));
        }
        memory_->prior = other.prior();
        memory_->rounds = other.rounds();
        memory_->witness = 0;
        set_bounds(other.bounds());
    }

    /// The mapping between labels and columns.
    [[nodiscard]] const ColumnOrder& order() const noexcept { return order_; }
    [[nodiscard]] std::size_t column(std::size_t label) const noexcept {
        return order_.column(label);
    }

    /// Whether feature j still has its initial values, to the bit.
    [[nodiscard]] bool untouched(std::size_t j) const noexcept {
        Bits changed = 0;
        for (std::size_t part = 0; part < shape_.parts(); ++part) {
            const T* const at = cell(j) + part * capacity_;
            const auto first = std::bit_cast<Bits>(start(part));
            for (std::size_t b = 0; b < shape_.n_columns; ++b) {
                changed |= std::bit_cast<Bits>(at[b]) ^ first;
            }
        }
        return changed == 0;
    }

    /// The features that are not untouched, ascending, into `out`, which has room for all; returns
    /// their number. Without a branch, which the processor would foretell wrongly.
    [[nodiscard]] std::size_t find_touched(std::int64_t* out) const noexcept {
        std::size_t n = 0;
        for (std::size_t j = 0; j < shape_.n_rows(); ++j) {
            out[n] = static_cast<std::int64_t>(j);
            n += untouched(j) ? 0 : 1;
        }
        return n;
    }

    /// The shape().stride() numbers of feature j, in the order of labels, without spare columns.
    void copy_run(std::size_t j, T* out) const noexcept {
        for (std::size_t part = 0; part < shape_.parts(); ++part) {
            const T* const at = cell(j) + part * capacity_;
            for (std::size_t k = 0; k < shape_.n_columns; ++k) *out++ = at[column(k)];
        }
    }

    /// The same weights with other columns: column k of the result is column from[k] of this table,
    /// or a new class at the prior if from[k] is negative. Reserves `capacity` columns.
    [[nodiscard]] WeightTable with_columns(std::span<const std::int64_t> from,
                                           std::size_t capacity = 0) const {
        Shape shape = shape_;
        shape.n_columns = from.size();
        shape.prior = prior();
        WeightTable result(shape, std::max(capacity, from.size()));
        result.set_rounds(rounds());
        std::vector<std::int64_t> columns(from.begin(), from.end());
        for (std::int64_t& k : columns) {
            if (k >= 0) k = static_cast<std::int64_t>(column(static_cast<std::size_t>(k)));
        }
        for (std::size_t j = 0; j < shape.n_rows(); ++j) {
            for (std::size_t part = 0; part < shape.parts(); ++part) {
                const T* const old = cell(j) + part * capacity_;
                T* out = result.cell(j) + part * result.capacity_;
                const T first = start(part);
                for (const std::int64_t b : columns) *out++ = b < 0 ? first : old[b];
                std::fill_n(out, result.capacity_ - columns.size(), first);
            }
        }
        return result;
    }

    /// The same weights with new columns from the spare ones, in the same memory: nothing is
    /// copied, and updates of one table show in the other. None if there are too few spare columns,
    /// or if `from` drops or moves a column.
    [[nodiscard]] std::optional<WeightTable> extended(std::span<const std::int64_t> from) {
        std::size_t taken = shape_.n_columns;
        if (from.size() > capacity_ || memory_->n_columns != taken) return std::nullopt;
        std::vector<std::uint32_t> columns;
        std::int64_t next = 0;
        for (const std::int64_t k : from) {
            if (k >= 0 && k != next++) return std::nullopt;
            const std::size_t b = k < 0 ? taken++ : column(static_cast<std::size_t>(k));
            columns.push_back(static_cast<std::uint32_t>(b));
        }
        if (taken != from.size()) return std::nullopt;
        memory_->n_columns = taken;
        memory_->witness = 0;
        return WeightTable(*this, ColumnOrder(std::move(columns)), taken);
    }

    /// The capacity for so many columns: it grows so that a stream of new classes copies each
    /// column a few times at most.
    [[nodiscard]] std::size_t room_for(std::size_t n_columns) const noexcept {
        return std::max(n_columns, capacity_ + capacity_ / 2);
    }

    /// The one column of two classes as two: mean -mu and +mu, variance sigma, all times `share`.
    [[nodiscard]] WeightTable both_sides(T share) const {
        Shape shape = shape_;
        shape.n_columns = 2;
        shape.prior = prior();
        if (shape.second_order) shape.prior *= static_cast<double>(share);
        WeightTable result(shape, 2);
        result.set_rounds(rounds());
        for (std::size_t j = 0; j < shape.n_rows(); ++j) {
            for (std::size_t part = 0; part < shape.parts(); ++part) {
                const bool variance = shape.second_order && part == 1;
                T own = cell(j)[part] * share;
                // Half of the smallest number rounds to zero, which a variance must not be.
                if (variance) own = std::max(own, std::numeric_limits<T>::denorm_min());
                result.cell(j)[2 * part] = variance ? own : T{0} - own;
                result.cell(j)[2 * part + 1] = own;
            }
        }
        return result;
    }

    /// Puts the columns of several tables, which have learnt the same rows, side by side into this
    /// one; it has as many, in the order of their labels, and has learnt nothing.
    void put_columns(std::span<const WeightTable* const> tables, std::size_t threads) {
        parallel_for(shape_.n_rows(), threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) {
                for (std::size_t part = 0; part < shape_.parts(); ++part) {
                    T* out = cell(j) + part * capacity_;
                    for (const WeightTable* table : tables) {
                        const T* const at = table->cell(j) + part * table->capacity_;
                        out = std::copy_n(at, table->shape_.n_columns, out);
                    }
                }
            }
        });
        set_rounds(tables.front()->rounds());
        forget_bounds();
    }

    /// The same weights with other features: feature j of the result is feature from[j] of these,
    /// or a new one at the prior if from[j] is negative. Without intercept.
    [[nodiscard]] WeightTable with_features(std::span<const std::int64_t> from) const {
        Shape shape = shape_;
        shape.n_features = from.size();
        shape.prior = prior();
        WeightTable result(shape);
        result.set_rounds(rounds());
        for (std::size_t j = 0; j < from.size(); ++j) {
            if (from[j] >= 0) copy_run(static_cast<std::size_t>(from[j]), result.cell(j));
        }
        return result;
    }

protected:
    /// State shared by all tables in the same memory.
    struct Memory {
        Memory(std::size_t size, const Shape& shape)
            : table(size), n_columns(shape.n_columns), prior(shape.prior), n_checked(size) {}

        Table<T> table;
        std::size_t n_columns;  ///< columns in use; the others hold the prior
        double prior;
        std::uint64_t rounds = 0;
        std::size_t witness = 0;  ///< see Diagonal::keep_in_range
        Bounds<T> bounds = Bounds<T>::unknown();
        std::size_t n_checked;  ///< steps since the bounds were exceeded
    };

    [[nodiscard]] Memory& memory() noexcept { return *memory_; }
    [[nodiscard]] const Memory& memory() const noexcept { return *memory_; }

    /// The initial value of the numbers of a part.
    [[nodiscard]] T start(std::size_t part) const noexcept {
        return shape_.second_order && part == 1 ? static_cast<T>(prior()) : T{0};
    }

    /// Finds the bounds of the numbers as they are.
    void measure_bounds() noexcept {
        Bounds<T> bounds = Bounds<T>::of_prior(shape_.second_order ? prior() : 1.0);
        for (std::size_t j = 0; j < shape_.n_rows(); ++j) {
            const T* const at = cell(j);
            for (std::size_t b = 0; b < capacity_; ++b) {
                bounds.include(at[b], shape_.second_order ? at[capacity_ + b] : T{1});
            }
        }
        memory_->bounds = bounds;
        memory_->n_checked = 0;
    }

    /// Whether column b belongs to a known class. Columns beyond ours belong to another table in
    /// the same memory, which knows them.
    [[nodiscard]] bool counts(std::span<const std::uint8_t> known, std::size_t b) const noexcept {
        if (b >= shape_.n_columns) return b < memory_->n_columns;
        return known.empty() || known[order_.label(b)] != 0;
    }

    /// f(number, whether it is a variance, its column) for all numbers of second-order weights.
    template <class F>
    void each_number(const F& f) noexcept {
        for (std::size_t j = 0; j < shape_.n_rows(); ++j) {
            for (std::size_t part = 0; part < shape_.parts(); ++part) {
                T* const at = cell(j) + part * capacity();
                for (std::size_t b = 0; b < capacity(); ++b) f(at[b], part == 1, b);
            }
        }
    }

    Shape shape_;

private:
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

    /// An uninitialised table.
    WeightTable(const Shape& shape, std::size_t capacity)
        : shape_(shape),
          capacity_(capacity),
          stride_(product(shape.parts(), capacity)),
          memory_(std::make_shared<Memory>(product(shape.n_rows(), stride_), shape)),
          data_(memory_->table.data()) {}

    /// A table over the first columns of another table's memory, with a separate order.
    WeightTable(const WeightTable& other, ColumnOrder order, std::size_t n_columns)
        : shape_(other.shape_),
          capacity_(other.capacity_),
          stride_(other.stride_),
          memory_(other.memory_),
          data_(other.data_),
          order_(std::move(order)) {
        shape_.n_columns = n_columns;
    }

    [[nodiscard]] Table<T>& table() noexcept { return memory_->table; }

    std::size_t capacity_;
    std::size_t stride_;
    std::shared_ptr<Memory> memory_;
    T* data_;
    ColumnOrder order_;
};

}  // namespace surelearn
