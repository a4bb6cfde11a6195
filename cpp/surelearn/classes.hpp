// Rows as structures: an answer is a class. Two classes share one column, the margin of the second.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surelearn/label_costs.hpp"
#include "surelearn/log_sum_exp.hpp"
#include "surelearn/rows.hpp"
#include "surelearn/structured.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// Compressed rows with a label each.
template <class Index, class Value>
struct LabelledRows {
    const Matrix<Index, Value>& matrix;
    std::span<const std::int32_t> y;
    bool intercept = true;
    std::span<const double> cost{};  ///< in C order: [right, wrong]; empty: 1 if wrong

    [[nodiscard]] std::size_t size() const noexcept { return matrix.size(); }
    [[nodiscard]] const Matrix<Index, Value>& features() const noexcept { return matrix; }
};

template <class Reader, class Index, class Value>
class ClassDecoder {
public:
    using Data = LabelledRows<Index, Value>;
    using Answer = std::int32_t;
    using Truth = std::int32_t;

    template <class W>
        requires std::constructible_from<Reader, const W&>
    ClassDecoder(const W& weights, const Data& rows) : reader_(weights), rows_(rows) {
        scores_.resize(std::max<std::size_t>(2, reader_.n_columns()));
    }

    [[nodiscard]] bool empty(std::size_t) const noexcept { return false; }
    [[nodiscard]] Truth truth(std::size_t i) const noexcept { return rows_.y[i]; }
    [[nodiscard]] std::size_t n_classes() const noexcept { return scores_.size(); }
    [[nodiscard]] std::span<const double> scores() const noexcept { return scores_; }

    void load(std::size_t i, Means means) {
        reader_.use(means);
        load(i);
    }
    void load(std::size_t i) {
        const auto s = columns();
        reader_.sum(rows_.matrix, {i, std::min(i + 1, rows_.size() - 1)}, s);
        if (rows_.intercept) reader_.add(rows_.matrix.n_features(), 1.0, s);
        if (is_margin()) scores_[0] = 0.0;
    }

    void best(Answer& answer) const noexcept {
        answer = static_cast<Answer>(std::ranges::max_element(scores_) - scores_.begin());
    }
    void augment_loss(Truth y) noexcept { costs().add(y, scores_); }
    [[nodiscard]] double distance(Truth y, Answer z) const noexcept {
        return costs().of(y, static_cast<std::size_t>(z));
    }
    [[nodiscard]] double score(Truth y) const noexcept {
        return scores_[static_cast<std::size_t>(y)];
    }
    /// The intercept is the last row of the table.
    [[nodiscard]] RowRange own_rows() const noexcept {
        const std::size_t last = rows_.matrix.n_features();
        return {last, last + (rows_.intercept ? 1 : 0)};
    }
    [[nodiscard]] std::size_t first_feature() const noexcept { return 0; }
    [[nodiscard]] RowRange rows(std::size_t i) const noexcept { return {i, i + 1}; }
    void changed() noexcept {}
    [[nodiscard]] Reader& reader() noexcept { return reader_; }

    void add_answer(double c, Truth y, const Parts& parts) const {
        if (!is_margin()) {
            add_part(static_cast<std::size_t>(y), c, parts);
        } else if (y == 1) {
            add_part(0, c, parts);
        }
    }
    double add_expectation(double c, const Parts& parts) {
        const double log_z = find_probabilities();
        each_column([&](std::size_t k, double p) { add_part(k, c * p, parts); });
        return log_z;
    }
    void add_variance(double c, const Parts& parts) {
        find_probabilities();
        each_column([&](std::size_t k, double p) { add_part(k, c * p * (1.0 - p), parts); });
    }

private:
    [[nodiscard]] LabelCosts costs() const noexcept { return {rows_.cost, scores_.size()}; }
    [[nodiscard]] bool is_margin() const noexcept { return reader_.n_columns() == 1; }
    /// Where the reader writes; with one column, the score of the second class.
    [[nodiscard]] std::span<double> columns() noexcept {
        return std::span(scores_).subspan(is_margin() ? 1 : 0);
    }
    static void add_part(std::size_t k, double c, const Parts& parts) {
        parts.rows[k] += c;
        if (!parts.own.empty()) parts.own[k] += c;
    }
    template <class F>
    void each_column(const F& f) const {
        if (is_margin()) return f(0, p_[1]);
        for (std::size_t k = 0; k < p_.size(); ++k) f(k, p_[k]);
    }
    /// Finds the probabilities of classes; log Z.
    double find_probabilities() {
        p_.assign(scores_.begin(), scores_.end());
        return detail::softmax(p_);
    }

    Reader reader_;
    const Data& rows_;
    std::vector<double> scores_;
    std::vector<double> p_;
};

}  // namespace surelearn
