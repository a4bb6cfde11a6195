// Dual weights: the Gaussian of full weights over the features of a kernel, as sums
// over support points. Knows kernel values and steps; knows neither kernels nor rules.
//
// With phi(x) the features of the kernel (Crammer, Dredze & Pereira 2008, theorem 2):
//
//     mu = sum_p nu_p phi(x_p),    sigma = a I + sum_pq Pi_pq phi(x_p) phi(x_q)'.
//
// Pi is negative semidefinite: sigma^-1 = I / a + sum_p gain_p phi(x_p) phi(x_p)', where gain_p is
// the sum of all gains of point p, and -Pi = a^2 (diag(gain)^-1 + a K)^-1 with K the kernel of the
// points. A point's part of the Gaussian is a factor of its own, exp(c_p w.phi - gain_p
// (w.phi)^2 / 2), and can be taken out again.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "surelearn/gaussian.hpp"
#include "surelearn/lines.hpp"
#include "surelearn/parallel_for.hpp"
#include "surelearn/table.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn {

/// A row x by its kernel values.
struct KernelRow {
    std::span<const double> values{};         ///< k(x, candidate), for the candidates of a block
    std::span<const std::int64_t> columns{};  ///< for each point, its place among the candidates
    double norm = 0.0;                        ///< k(x, x)
    std::int64_t own = 0;                     ///< the point that x is

    [[nodiscard]] double with(std::int64_t point) const noexcept {
        return values[static_cast<std::size_t>(columns[static_cast<std::size_t>(point)])];
    }
};

/// Rows with their kernel values: all rows of a block have the same candidates.
struct KernelBlock {
    using RowView = KernelRow;
    struct Buffer {};

    std::span<const double> values;  ///< [row, candidate]
    std::span<const double> norms;
    std::span<const std::int64_t> own;
    std::span<const std::int64_t> columns;

    [[nodiscard]] std::size_t size() const noexcept { return own.size(); }
    [[nodiscard]] KernelRow row(std::size_t i, Buffer&) const noexcept {
        const std::size_t n = values.size() / size();
        return {values.subspan(i * n, n), columns, norms[i], own[i]};
    }
};

/// The factor exp(c w.phi(x) - gain (w.phi(x))^2 / 2) of a support point in the Gaussian.
struct Site {
    double c = 0.0;
    double gain = 0.0;
};

class Dual {
public:
    using Number = double;
    using SomeRow = KernelRow;
    struct Work {
        std::vector<double> k;  ///< kernel values of the row with the support points
        std::vector<double> s;  ///< Pi k
        double m = 0.0;         ///< mu.phi(x)
        double v = 0.0;         ///< variance as summed; rounding may make it negative
    };
    static constexpr bool fetches_ahead = false;
    static constexpr bool holds_classes = false;
    static constexpr bool holds_coded_problems = false;
    static constexpr bool touches_all_weights = true;
    static constexpr bool meets_one_constraint = true;
    static constexpr bool bounds_variance = true;

    /// `budget`: the most support points; 0: any number.
    explicit Dual(const Shape& shape, std::size_t budget = 0) : shape_(shape), budget_(budget) {}

    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] double prior() const noexcept { return shape_.prior; }
    [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
    void set_rounds(std::uint64_t rounds) noexcept { rounds_ = rounds; }
    void set_threads(std::size_t threads) noexcept { threads_ = threads; }
    [[nodiscard]] std::size_t bytes() const noexcept { return pi_.size() * sizeof(double); }

    /// Number of support points.
    [[nodiscard]] std::size_t size() const noexcept { return points_.size(); }
    [[nodiscard]] std::span<const std::int64_t> points() const noexcept { return points_; }
    [[nodiscard]] std::span<const double> nu() const noexcept { return nu_; }
    [[nodiscard]] std::span<const Site> sites() const noexcept { return sites_; }
    /// Pi has lines of so many numbers.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::span<const double> line(std::size_t p) const noexcept {
        return {pi_.data() + p * capacity_, shape_.second_order ? size() : 0};
    }

    /// Gives every support point the number that `numbers` has for its old one.
    void renumber(std::span<const std::int64_t> numbers) noexcept {
        for (std::int64_t& p : points_) p = numbers[static_cast<std::size_t>(p)];
    }

    /// Adds a support point with these numbers, `line` being its line of Pi up to itself or longer.
    void restore(std::int64_t point, double nu, const Site& site, std::span<const double> line) {
        const std::size_t p = append(point);
        nu_[p] = nu;
        sites_[p] = site;
        if (!shape_.second_order) return;
        for (std::size_t q = 0; q <= p; ++q) at(p, q) = at(q, p) = line[q];
    }

    [[nodiscard]] Dual copy() const {
        Dual other(shape_, budget_);
        other.set_rounds(rounds_);
        other.set_threads(threads_);
        if (shape_.second_order) other.widen(size());
        for (std::size_t p = 0; p < size(); ++p) {
            other.restore(points_[p], nu_[p], sites_[p], line(p));
        }
        return other;
    }

    /// mu.phi(x).
    [[nodiscard]] double score(const KernelRow& row) const noexcept {
        double m = 0.0;
        for (std::size_t p = 0; p < size(); ++p) m += nu_[p] * row.with(points_[p]);
        return m;
    }

    /// The mean of the margin of g = sign phi(x), and the variance of an untouched row, which
    /// learning only lowers. `work` keeps the kernel values for `moments`.
    [[nodiscard]] Moments bound(const KernelRow& row, const std::array<Side, 1>& g,
                                Work& work) const {
        work.k.resize(size());
        work.m = 0.0;
        for (std::size_t p = 0; p < size(); ++p) {
            work.k[p] = row.with(points_[p]);
            work.m += nu_[p] * work.k[p];
        }
        return {g[0].sign * work.m, prior() * row.norm};
    }

    /// Mean and variance of the margin, after `bound` for the same row: v = a k(x, x) + k' Pi k,
    /// but not below its rounding error.
    [[nodiscard]] Moments moments(const KernelRow& row, const std::array<Side, 1>& g,
                                  const KernelRow&, Work& work) const {
        work.v = prior() * row.norm;
        if (shape_.second_order) {
            multiply(work.k, work.s);
            for (std::size_t p = 0; p < size(); ++p) work.v += work.k[p] * work.s[p];
        }
        return {g[0].sign * work.m, std::max(work.v, floor(row))};
    }

    /// The contributions to v that a rule may ask for; nothing is dropped, so there is only one.
    [[nodiscard]] std::span<const double> shares(const KernelRow&, const std::array<Side, 1>&,
                                                 double v, std::vector<double>& out) const {
        out.assign(1, v);
        return out;
    }

    /// With t = Pi k + a e_x, the coordinates of sigma phi(x): nu += alpha sign t and
    /// Pi -= beta t t'. Then x is a support point; beyond the budget one is removed. If a number
    /// would not be finite, or if v is lost in rounding, nothing changes and it returns false.
    [[nodiscard]] bool update(const KernelRow& row, const std::array<Side, 1>& g, const Step& step,
                              double v, Projection, Work& work) {
        if (!(work.v > floor(row))) return false;
        auto& t = work.s;
        if (!shape_.second_order) t.assign(size(), 0.0);
        const std::size_t own = place_of(row.own);
        if (own == t.size()) t.push_back(0.0);
        t[own] += prior();
        const double alpha = g[0].sign * step.alpha;
        const double root = std::sqrt(beta_of(step.gain, v));
        // sigma'^-1 mu' = sigma^-1 mu + c phi(x), by mu' = mu + alpha sigma phi(x).
        const double c = alpha * (1.0 + step.gain * v) + step.gain * work.m;
        if (!std::isfinite(c) || !is_valid(t, alpha, root)) return false;
        if (own == size()) (void)append(row.own);
        for (std::size_t p = 0; p < size(); ++p) nu_[p] += alpha * t[p];
        sites_[own].c += c;
        sites_[own].gain += step.gain;
        if (root > 0.0) subtract(t, root);
        if (budget_ > 0 && size() > budget_) remove(dispensable());
        return true;
    }

    /// Scale-free rules shrink sigma without end, but v = a k(x, x) + k' Pi k is lost in rounding
    /// long before its scale matters.
    void keep_in_range(std::span<const std::uint8_t> = {}) noexcept {}
    void look_again() noexcept {}
    void end_round() noexcept { ++rounds_; }

    /// Takes the factor of point p out of the Gaussian: Pi and nu become their Schur complements,
    ///
    ///     Pi_qr - Pi_qp Pi_pr / Pi_pp,    nu_q - Pi_qp nu_p / Pi_pp.
    ///
    /// The precision loses gain_p phi(x_p) phi(x_p)' and nothing else, so sigma stays positive
    /// definite and no variance falls.
    void remove(std::size_t p) {
        const double own = shape_.second_order ? at(p, p) : 0.0;
        if (own < 0.0) {
            const std::vector<double> column(line(p).begin(), line(p).end());
            const double root = std::sqrt(-1.0 / own);
            const double share = nu_[p] / own;
            for (std::size_t q = 0; q < size(); ++q) nu_[q] -= column[q] * share;
            subtract(column, root, -1.0);
        }
        drop(p);
    }

private:
    [[nodiscard]] double& at(std::size_t p, std::size_t q) noexcept {
        return pi_.data()[p * capacity_ + q];
    }

    [[nodiscard]] std::size_t place_of(std::int64_t point) const noexcept {
        return static_cast<std::size_t>(std::ranges::find(points_, point) - points_.begin());
    }

    /// The rounding error of v: a smaller value says nothing about the variance.
    [[nodiscard]] double floor(const KernelRow& row) const noexcept {
        return std::numeric_limits<double>::epsilon() * prior() * row.norm;
    }

    [[nodiscard]] std::size_t threads_for() const noexcept {
        constexpr std::size_t worth_a_thread = std::size_t{1} << 20;
        return std::clamp<std::size_t>(size() * size() * sizeof(double) / worth_a_thread, 1,
                                       threads_);
    }

    /// s = Pi k.
    void multiply(std::span<const double> k, std::vector<double>& s) const {
        s.assign(size(), 0.0);
        parallel_for(size(), threads_for(), [&](std::size_t begin, std::size_t end) {
            const auto line_of = [&](std::size_t p) { return pi_.data() + p * capacity_ + begin; };
            const auto factor_of = [&](std::size_t p) { return k[p]; };
            add_lines(size(), line_of, factor_of, std::span(s).subspan(begin, end - begin));
        });
    }

    /// Pi -= sign (root t)(root t)', which keeps it symmetric to the bit.
    void subtract(std::span<const double> t, double root, double sign = 1.0) {
        std::vector<double> c(t.begin(), t.end());
        for (double& x : c) x *= root;
        parallel_for(size(), threads_for(), [&](std::size_t p, std::size_t end) {
            for (; p < end; ++p) subtract_line(c.data(), sign * c[p], &at(p, 0), size());
        });
    }

    [[nodiscard]] bool is_valid(std::span<const double> t, double alpha, double root) const {
        const double most = std::sqrt(std::numeric_limits<double>::max());
        bool sound = true;
        for (std::size_t p = 0; p < t.size(); ++p) {
            const double before = p < size() ? nu_[p] : 0.0;
            check_mean<double>(before + alpha * t[p], sound);
            sound &= std::fabs(root * t[p]) < most;
        }
        return sound;
    }

    /// A new support point without any part in the Gaussian.
    std::size_t append(std::int64_t point) {
        const std::size_t p = size();
        if (shape_.second_order && p == capacity_) grow();
        points_.push_back(point);
        nu_.push_back(0.0);
        sites_.push_back({});
        if (!shape_.second_order) return p;
        for (std::size_t q = 0; q <= p; ++q) at(p, q) = at(q, p) = 0.0;
        return p;
    }

    void grow() {
        const std::size_t wanted = std::max<std::size_t>(16, capacity_ + capacity_ / 2);
        const std::size_t most = budget_ > 0 ? budget_ + 1 : wanted;
        widen(std::max(std::min(wanted, most), capacity_ + 1));
    }

    /// Gives Pi lines of so many numbers.
    void widen(std::size_t capacity) {
        Table<double> larger(product(capacity, capacity));
        for (std::size_t p = 0; p < size(); ++p) {
            std::ranges::copy(line(p), larger.data() + p * capacity);
        }
        pi_ = std::move(larger);
        capacity_ = capacity;
    }

    /// The point whose label the others are surest of: one that they predict, or, if they are twice
    /// as sure, one that contradicts them. To keep all that contradict would be to collect
    /// mislabelled points until they outweigh the rest. Without a covariance: the oldest point.
    [[nodiscard]] std::size_t dispensable() const noexcept {
        if (!shape_.second_order) return 0;
        std::size_t found = 0;
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t p = 0; p < size(); ++p) {
            const double sureness = sureness_without(p);
            if (!(sureness > most)) continue;
            most = sureness;
            found = p;
        }
        return found;
    }

    /// How sure the others are of point p, in standard deviations: |m| / sqrt(v) of its score once
    /// its factor is taken out, half of it if m is on the other side than c_p / gain_p, the score
    /// that the factor asks for. a^2 / -Pi_pp is v plus the variance 1 / gain_p of the factor, and
    /// nu_p is a times the residual over that sum, so
    ///
    ///     m = c_p / gain_p - a nu_p / -Pi_pp,    v = a^2 / -Pi_pp - 1 / gain_p.
    ///
    /// A point without a part in the covariance is not missed: infinity.
    [[nodiscard]] double sureness_without(std::size_t p) const noexcept {
        const double own = -line(p)[p];
        const Site& site = sites_[p];
        if (!(own > 0.0 && site.gain > 0.0)) return std::numeric_limits<double>::infinity();
        const double m = site.c / site.gain - prior() * nu_[p] / own;
        const double spread = prior() * prior() / own;
        const double blur = std::numeric_limits<double>::epsilon() * spread;
        const double sureness = std::fabs(m) / std::sqrt(std::max(spread - 1.0 / site.gain, blur));
        return m * site.c > 0.0 ? sureness : sureness / 2.0;
    }

    /// Forgets point p. With a covariance, the last point takes its place; without, all points
    /// stay in the order of their age.
    void drop(std::size_t p) {
        const auto place = static_cast<std::ptrdiff_t>(p);
        const auto forget = [&](auto& numbers) {
            if (shape_.second_order) {
                numbers[p] = numbers.back();
                numbers.pop_back();
            } else {
                numbers.erase(numbers.begin() + place);
            }
        };
        const std::size_t last = size() - 1;
        for (std::size_t q = 0; shape_.second_order && p != last && q < last; ++q) {
            at(p, q) = at(q, p) = q == p ? at(last, last) : at(last, q);
        }
        forget(points_);
        forget(nu_);
        forget(sites_);
    }

    Shape shape_;
    std::size_t budget_;
    std::vector<std::int64_t> points_;
    std::vector<double> nu_;
    std::vector<Site> sites_;
    Table<double> pi_;  ///< lines of `capacity_` numbers; both halves, so that lines are contiguous
    std::size_t capacity_ = 0;
    std::uint64_t rounds_ = 0;
    std::size_t threads_ = 1;
};

static_assert(Weights<Dual>);

}  // namespace surelearn
