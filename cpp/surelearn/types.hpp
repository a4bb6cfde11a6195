// Types shared by all rooms: a step of a rule, a view of one sparse row, the shape of weights.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

namespace surelearn {

/// The step of a rule: mu += alpha sigma g, sigma^-1 += gain g g'.
struct Step {
    double alpha = 0.0;
    double gain = 0.0;

    [[nodiscard]] constexpr bool moves() const noexcept { return alpha != 0.0 || gain != 0.0; }
};

/// A function of the caller, which must outlive this. Code that takes one is compiled once and not
/// for every function.
template <class Signature>
class FunctionRef;
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
public:
    template <class F>
        requires(!std::same_as<F, FunctionRef>)
    FunctionRef(const F& f) noexcept  // NOLINT: as a parameter, it takes the place of any function
        : f_(&f), call_([](const void* g, Args... args) -> Result {
              return (*static_cast<const F*>(g))(args...);
          }) {}

    Result operator()(Args... args) const { return call_(f_, args...); }

private:
    const void* f_;
    Result (*call_)(const void*, Args...);
};

/// Which off-diagonal part an update drops: that of the new precision or of the new covariance.
enum class Projection { precision, covariance };

/// The dimensions of weights.
struct Shape {
    std::size_t n_features = 0;  ///< without the intercept
    std::size_t n_columns = 1;   ///< 1 for two classes, otherwise the number of classes
    bool intercept = true;       ///< a last feature that is 1 in every row
    bool second_order = true;
    bool averaged = false;
    double prior = 1.0;  ///< variance of an untouched weight

    [[nodiscard]] std::size_t n_rows() const noexcept { return n_features + (intercept ? 1 : 0); }
    [[nodiscard]] std::size_t parts() const noexcept {
        return std::size_t{1} + (second_order ? 1 : 0) + (averaged ? 1 : 0);
    }
    [[nodiscard]] std::size_t stride() const noexcept { return parts() * n_columns; }

    /// f(feature, x) for every entry of the row, then for the intercept. There is a single call, so
    /// that f is inlined and its captures stay in registers.
    template <class R, class F>
    void each_feature(const R& row, F&& f) const {
        const std::size_t n = row.size() + (intercept ? 1 : 0);
        for (std::size_t p = 0; p < n; ++p) {
            const bool entry = p < row.size();
            f(entry ? row.feature(p) : n_features, entry ? row.x(p) : 1.0);
        }
    }
};

/// Mean and variance of a margin.
struct Moments {
    double m = 0.0;
    double v = 0.0;
};

/// The slack of a passive-aggressive rule.
struct Slack {
    double most;   ///< largest alpha
    double ridge;  ///< added to |g|^2
};

/// One block of g: its column and its sign.
struct Side {
    std::size_t column;
    double sign;
};

/// The features of a row, each with the value 1.
template <class Index>
struct UnitRow {
    std::span<const Index> index;

    [[nodiscard]] std::size_t size() const noexcept { return index.size(); }
    [[nodiscard]] std::size_t feature(std::size_t p) const noexcept {
        return static_cast<std::size_t>(index[p]);
    }
    [[nodiscard]] double x(std::size_t) const noexcept { return 1.0; }
};

/// One row x: indices ascending and distinct, values finite and not zero.
template <class Index, class Value>
struct Row {
    std::span<const Index> index;
    std::span<const Value> value;
    double largest = std::numeric_limits<double>::infinity();  ///< no |x| is above it
    bool unit = false;                                         ///< every x is 1

    [[nodiscard]] UnitRow<Index> features() const noexcept { return {index}; }
    /// Entries [begin, end).
    [[nodiscard]] Row part(std::size_t begin, std::size_t end) const noexcept {
        const std::size_t count = end - begin;
        return {index.subspan(begin, count), value.subspan(begin, count), largest, unit};
    }
    [[nodiscard]] std::size_t size() const noexcept { return index.size(); }
    [[nodiscard]] std::size_t feature(std::size_t p) const noexcept {
        return static_cast<std::size_t>(index[p]);
    }
    [[nodiscard]] double x(std::size_t p) const noexcept { return static_cast<double>(value[p]); }
};

/// The intercept as a row of one entry, the feature after all others.
struct Intercept {
    std::size_t n_features;

    [[nodiscard]] static std::size_t size() noexcept { return 1; }
    [[nodiscard]] std::size_t feature(std::size_t) const noexcept { return n_features; }
    [[nodiscard]] static double x(std::size_t) noexcept { return 1.0; }
};

/// f(row), with a type of row that reads no values if all are 1.
template <class Index, class Value, class F>
[[gnu::always_inline]] inline decltype(auto) with_values(const Row<Index, Value>& row, const F& f) {
    return row.unit ? f(UnitRow<Index>{row.index}) : f(row);
}

/// A row whose features are shifted to their rows of the table.
template <class R>
struct Shifted {
    R row{};
    std::size_t by = 0;

    [[nodiscard]] std::size_t size() const noexcept { return row.size(); }
    [[nodiscard]] std::size_t feature(std::size_t p) const noexcept { return row.feature(p) + by; }
    [[nodiscard]] double x(std::size_t p) const noexcept { return row.x(p); }
};
template <class R>  // Clang before version 17 does not find this one itself
Shifted(R, std::size_t) -> Shifted<R>;

/// A feature row to read: its number, the next one to prefetch, and the table row of feature 0.
struct RowPlace {
    std::size_t row;
    std::size_t ahead;
    std::size_t first = 0;
};

}  // namespace surelearn
