// Graphs: messages between the nodes of a factor graph. Knows scores only.
//
//     score(y) = sum_v U_v[y_v] + sum_{edges (a, b)} A_ab[y_a, y_b]
//     message a -> b:  m[j] = op_i U_a[i] + sum_{c != b} m_{c -> a}[i] + A_ab[i, j]
//
// with op the maximum or the log of the sum of exponentials. Two sweeps are exact on a forest. With
// cycles messages are sent again, those first whose input has changed most (residual schedule,
// Elidan, McGraw & Koller 2006; the change of the input bounds the residual, so that no message is
// computed in vain: Sutton & McCallum 2007), each mixed with its old value (damping).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "surelearn/graph_scores.hpp"
#include "surelearn/log_sum_exp.hpp"
#include "surelearn/normal.hpp"
#include "surelearn/urgency_queue.hpp"

namespace surelearn {

/// How messages are sent in a graph with cycles.
struct Propagation {
    double damping = 0.0;           ///< share of the old message in the new one
    double tol = 1e-6;              ///< the largest change of a message that is none
    std::size_t max_sweeps = 1000;  ///< messages sent, in units of all messages
    void (*pause)() = nullptr;      ///< called now and then; may throw
};

/// How far the messages have settled.
struct Convergence {
    double residual = 0.0;  ///< the change of the message that would change most
    double sweeps = 0.0;    ///< messages sent, in units of all messages
};

/// The scores of one graph and its messages. Keeps its memory between graphs.
class Graph : public GraphScores {
public:
    enum class Kind { max, sum };

    /// As `GraphScores::reset`; write the scores, then call `solve`.
    void reset(std::span<const std::int64_t> sizes, std::span<const std::int32_t> ends,
               std::span<const std::int64_t> table_at, std::size_t n_cells) {
        GraphScores::reset(sizes, ends, table_at, n_cells);
        message_at_.assign(1, 0);
        std::size_t most = 0;
        for (std::size_t v = 0; v < n_nodes(); ++v) most = std::max(most, size(v));
        for (std::size_t h = 0; h < topology_.n_halves(); ++h) {
            message_at_.push_back(message_at_.back() + size(topology_.target(h)));
        }
        input_.resize(most);
        output_.resize(most);
        exps_.resize(most);
    }

    /// Sends messages until they have settled. A forest needs no more than two sweeps.
    Convergence solve(Kind kind, const Propagation& how) {
        kind_ = kind;
        messages_.assign(message_at_.back(), 0.0);
        if (kind == Kind::sum) exponentiate_tables();
        sweep(Direction::up);
        swept_down_ = gathered_ = false;
        if (topology_.is_forest()) return {};
        sweep_down();
        return settle(how);
    }

    /// b_v[j] = U_v[j] + the messages to v: with maxima the score of the best labelling with this
    /// label, with sums the log of its share, up to a constant of the node.
    void belief(std::size_t v, std::span<double> b) {
        gather();
        std::ranges::copy(std::span(beliefs_).subspan(label_at_[v], size(v)), b.begin());
    }

    /// The labelling with the largest score, exact in a forest; the first label wins a tie. Nodes
    /// get their labels in order, so that they fit those of their neighbours. With cycles, labels
    /// then change as long as one alone can raise the score.
    void best(Labelling& y) const {
        y.resize(n_nodes());
        std::vector<double>& s = decoding_;
        for (const std::size_t v : topology_.order()) {
            s.resize(size(v));
            conditional(v, y, [&](std::size_t w) { return topology_.before(w, v); }, s);
            y[v] = first_best(s);
        }
        if (!topology_.is_forest()) climb(y);
    }

    /// s[j] = the best score with label j of node v, given the labels of those neighbours for which
    /// `given(node)` holds, up to a constant.
    template <class F>
    void conditional(std::size_t v, std::span<const std::int32_t> y, const F& given,
                     std::span<double> s) const {
        sum_input(v, s, [&](std::size_t h) { return !given(topology_.target(h)); });
        for (const std::size_t h : topology_.out(v)) {
            const std::size_t w = topology_.target(h);
            if (!given(w)) continue;
            for (std::size_t j = 0; j < s.size(); ++j) s[j] += pair(h, j, label(y, w));
        }
    }

    /// log of the sum of exp(score) over all labellings, after `solve` with sums: Bethe's
    /// approximation (Yedidia, Freeman & Weiss 2005), exact in a forest.
    [[nodiscard]] double log_partition() {
        double sum = 0.0;
        for (std::size_t v = 0; v < n_nodes(); ++v) {
            const auto b = std::span(input_).first(size(v));
            belief(v, b);
            const double whole = detail::log_sum_exp(b);
            if (!std::isfinite(whole)) return whole;
            sum += (1.0 - static_cast<double>(topology_.out(v).size())) * whole;
        }
        for (std::size_t e = 0; e < n_edges(); ++e) sum += detail::log_sum_exp(pair_beliefs(e));
        return sum;
    }

    /// p[j] = Pr[y_v = j], for Pr[y] proportional to exp(score(y)).
    void marginals(std::size_t v, std::span<double> p) {
        belief(v, p);
        normalise(p);
    }

    /// Pr[y_a = i, y_b = j] for the two nodes of edge e; valid until the next call.
    [[nodiscard]] std::span<const double> pair_marginals(std::size_t e) {
        pair_beliefs(e);
        normalise(pairs_);
        return pairs_;
    }

    [[nodiscard]] static std::int32_t first_best(std::span<const double> s) noexcept {
        return static_cast<std::int32_t>(std::ranges::max_element(s) - s.begin());
    }

private:
    /// Gives each node its best label in turn, given all others, until none changes.
    void climb(Labelling& y) const {
        constexpr int most = 100;  // sweeps: each change raises the score by more than rounding
        std::vector<double>& s = decoding_;
        bool moved = true;
        for (int sweep = 0; moved && sweep < most; ++sweep) {
            moved = false;
            for (std::size_t v = 0; v < n_nodes(); ++v) {
                s.resize(size(v));
                conditional(v, y, always, s);
                const std::int32_t j = first_best(s);
                const double gain = s[static_cast<std::size_t>(j)] - s[label(y, v)];
                if (!(gain > 1e-12)) continue;
                y[v] = j;
                moved = true;
            }
        }
    }

    enum class Direction { up, down };
    static constexpr std::size_t few = 8;  ///< neighbours of a node that is no hub
    static constexpr auto always = [](std::size_t) { return true; };

    [[nodiscard]] std::span<double> message(std::size_t h) noexcept {
        return std::span(messages_).subspan(message_at_[h], message_at_[h + 1] - message_at_[h]);
    }
    [[nodiscard]] std::span<const double> message(std::size_t h) const noexcept {
        return std::span(messages_).subspan(message_at_[h], message_at_[h + 1] - message_at_[h]);
    }

    /// s = U_v + the messages to v along the half edges out of v for which `taken` holds.
    template <class F>
    void sum_input(std::size_t v, std::span<double> s, const F& taken) const {
        std::ranges::copy(unary(v), s.begin());
        for (const std::size_t h : topology_.out(v)) {
            if (!taken(h)) continue;
            const auto m = message(h ^ 1);
            for (std::size_t j = 0; j < s.size(); ++j) s[j] += m[j];
        }
    }

    /// Sends a message along each half edge that leads up or down in the order.
    void sweep(Direction direction) {
        const auto order = topology_.order();
        for (std::size_t at = 0; at < order.size(); ++at) {
            const bool up = direction == Direction::up;
            const std::size_t v = order[up ? order.size() - 1 - at : at];
            send(v, [&](std::size_t h) { return topology_.before(topology_.target(h), v) == up; });
        }
    }
    /// The beliefs of all nodes, once the messages have settled.
    void gather() {
        sweep_down();
        if (gathered_) return;
        beliefs_.resize(unary_.size());
        for (std::size_t v = 0; v < n_nodes(); ++v) {
            const auto b = std::span(beliefs_).subspan(label_at_[v], size(v));
            sum_input(v, b, always);
        }
        gathered_ = true;
    }
    void sweep_down() {
        if (swept_down_) return;
        sweep(Direction::down);
        swept_down_ = true;
    }

    /// Sends messages from v along these half edges.
    template <class F>
    void send(std::size_t v, const F& along) {
        each_output(v, along, [&](std::size_t h) {
            std::ranges::copy(std::span(output_).first(message(h).size()), message(h).begin());
        });
    }

    /// f(half edge) with the output for each of these half edges out of v.
    template <class A, class F>
    void each_output(std::size_t v, const A& along, const F& f) {
        const auto total = total_of(v);
        for (const std::size_t h : topology_.out(v)) {
            if (!along(h)) continue;
            find_input(h, total);
            find_output(h);
            f(h);
        }
    }

    /// The sum of all messages to v, if it has many neighbours: less the message from one of them
    /// it is the input of the message to that one. Otherwise a node would cost the square of its
    /// neighbours.
    [[nodiscard]] std::span<const double> total_of(std::size_t v) {
        if (!is_hub(v)) return {};
        totals_.resize(size(v));
        sum_input(v, totals_, always);
        return totals_;
    }

    void find_input(std::size_t h, std::span<const double> total) {
        if (total.empty() || !subtract(total, message(h ^ 1))) find_input(h);
    }

    /// input = total - m; false if that cannot be told.
    [[nodiscard]] bool subtract(std::span<const double> total, std::span<const double> m) noexcept {
        bool finite = true;
        for (std::size_t i = 0; i < total.size(); ++i) {
            finite = finite && std::isfinite(total[i]);
            input_[i] = total[i] - m[i];
        }
        return finite;
    }

    void find_input(std::size_t h) {
        const std::size_t v = topology_.source(h);
        sum_input(v, std::span(input_).first(size(v)), [&](std::size_t o) { return o != h; });
    }

    /// output = the message along h for the input; its largest number is 0.
    void find_output(std::size_t h) {
        const std::size_t L = size(topology_.target(h));
        if (kind_ == Kind::max) {
            maximise(h, L);
        } else {
            sum_up(h, L);
        }
        const auto out = std::span(output_).first(L);
        const double most = detail::largest(out);
        if (!std::isfinite(most)) return;
        for (double& s : out) s -= most;
    }

    void maximise(std::size_t h, std::size_t L) noexcept {
        const std::size_t K = size(topology_.source(h));
        const double* const table = tables_.data() + table_at_[h / 2];
        constexpr double none = -std::numeric_limits<double>::infinity();
        if (h % 2 == 0) {
            std::fill_n(output_.begin(), L, none);
            for (std::size_t i = 0; i < K; ++i) {
                for (std::size_t j = 0; j < L; ++j) {
                    output_[j] = std::max(output_[j], input_[i] + table[i * L + j]);
                }
            }
            return;
        }
        for (std::size_t j = 0; j < L; ++j) {
            double most = none;
            for (std::size_t i = 0; i < K; ++i) most = std::max(most, input_[i] + table[j * K + i]);
            output_[j] = most;
        }
    }

    /// By the exponentials of the table: one exponential for each label instead of one for each
    /// pair. A sum that may have lost digits below the smallest numbers is computed in logs.
    void sum_up(std::size_t h, std::size_t L) noexcept {
        const std::size_t K = size(topology_.source(h));
        const double* const table = exp_tables_.data() + table_at_[h / 2];
        const double most = detail::largest(std::span(input_).first(K));
        if (!std::isfinite(most)) {
            std::fill_n(output_.begin(), L, most);
            return;
        }
        for (std::size_t i = 0; i < K; ++i) exps_[i] = detail::exp(input_[i] - most);
        if (h % 2 == 0) {
            std::fill_n(output_.begin(), L, 0.0);
            for (std::size_t i = 0; i < K; ++i) {
                for (std::size_t j = 0; j < L; ++j) output_[j] += exps_[i] * table[i * L + j];
            }
        } else {
            for (std::size_t j = 0; j < L; ++j) {
                double sum = 0.0;
                for (std::size_t i = 0; i < K; ++i) sum += exps_[i] * table[j * K + i];
                output_[j] = sum;
            }
        }
        constexpr double least = 1e-250;
        const double peak = peaks_[h / 2];
        for (std::size_t j = 0; j < L; ++j) {
            if (output_[j] > least) {
                output_[j] = detail::log(output_[j]) + peak;
                continue;
            }
            for (std::size_t i = 0; i < K; ++i) exps_[i] = input_[i] - most + pair(h, i, j);
            output_[j] = detail::log_sum_exp(std::span(exps_).first(K));
            for (std::size_t i = 0; i < K; ++i) exps_[i] = detail::exp(input_[i] - most);
        }
    }

    void exponentiate_tables() {
        exp_tables_.resize(tables_.size());
        peaks_.resize(n_edges());
        const double* last = nullptr;
        for (std::size_t e = 0; e < n_edges(); ++e) {
            const double* const table = tables_.data() + table_at_[e];
            if (table == last) {  // most often all edges share one
                peaks_[e] = peaks_[e - 1];
                continue;
            }
            last = table;
            const std::size_t cells = size(topology_.source(2 * e)) * size(topology_.target(2 * e));
            const double peak = detail::largest({table, cells});
            peaks_[e] = std::isfinite(peak) ? peak : 0.0;
            for (std::size_t c = 0; c < cells; ++c) {
                exp_tables_[static_cast<std::size_t>(table_at_[e]) + c] =
                    detail::exp(table[c] - peaks_[e]);
            }
        }
    }

    /// Sends the messages again whose input has changed, until none changes by more than `tol`.
    Convergence settle(const Propagation& how) {
        const std::size_t n = topology_.n_halves();
        const std::size_t budget = n * how.max_sweeps;
        constexpr std::size_t patience = 1 << 16;
        std::size_t sent = n;
        std::size_t asked = sent;
        queue_.reset(n + n_nodes(), 0.5 * how.tol);
        double residual = measure();
        for (std::size_t number = 0; sent < budget && residual > how.tol;) {
            if (queue_.pop(number)) {
                sent += resend(number, how.damping);
            } else {
                residual = measure();
            }
            if (how.pause == nullptr || sent < asked + patience) continue;
            how.pause();
            asked = sent;
        }
        if (sent >= budget) residual = measure();
        return {residual, static_cast<double>(sent) / static_cast<double>(n)};
    }

    [[nodiscard]] bool is_hub(std::size_t v) const noexcept {
        return topology_.out(v).size() > few;
    }
    /// The number of a message in the queue: all messages of a hub have one, after those of the
    /// half edges, and are sent together.
    [[nodiscard]] std::size_t number_of(std::size_t h) const noexcept {
        const std::size_t v = topology_.source(h);
        return is_hub(v) ? topology_.n_halves() + v : h;
    }
    void raise(std::size_t number, double urgency) {
        urgency_[number] = urgency;
        queue_.push(number, urgency);
    }

    /// The largest change that sending a message again would make; queues them all.
    double measure() {
        urgency_.assign(topology_.n_halves() + n_nodes(), 0.0);
        double most = 0.0;
        for (std::size_t v = 0; v < n_nodes(); ++v) {
            each_output(v, always, [&](std::size_t h) {
                const double residual = change(h);
                raise(number_of(h), std::max(urgency_[number_of(h)], residual));
                most = std::max(most, residual);
            });
        }
        return most;
    }

    /// Sends the messages of a number of the queue again; returns how many.
    std::size_t resend(std::size_t number, double damping) {
        urgency_[number] = 0.0;
        if (number >= topology_.n_halves()) {
            const std::size_t v = number - topology_.n_halves();
            each_output(v, always, [&](std::size_t h) { mix(h, damping); });
            return topology_.out(v).size();
        }
        find_input(number);
        find_output(number);
        mix(number, damping);
        return 1;
    }

    /// Mixes the output into the message along h, and notes whose input has changed by that.
    void mix(std::size_t h, double damping) {
        const double residual = change(h);
        const auto m = message(h);
        for (std::size_t j = 0; j < m.size(); ++j) {
            // Infinite numbers stay as they are: their difference would be none.
            m[j] = damping == 0.0 || !std::isfinite(m[j])
                       ? output_[j]
                       : (1.0 - damping) * output_[j] + damping * m[j];
        }
        raise(number_of(h), std::max(urgency_[number_of(h)], damping * residual));
        const double moved = (1.0 - damping) * residual;
        const std::size_t v = topology_.target(h);
        if (is_hub(v)) {
            const std::size_t number = topology_.n_halves() + v;
            return raise(number, urgency_[number] + moved);
        }
        for (const std::size_t o : topology_.out(v)) {
            if (o != (h ^ 1)) raise(o, urgency_[o] + moved);
        }
    }

    /// The largest difference between the output and the message along h.
    [[nodiscard]] double change(std::size_t h) const noexcept {
        const auto m = message(h);
        double most = 0.0;
        for (std::size_t j = 0; j < m.size(); ++j) {
            if (output_[j] != m[j]) most = std::max(most, std::fabs(output_[j] - m[j]));
        }
        return most;
    }

    void find_settled_input(std::size_t h) {
        const std::size_t v = topology_.source(h);
        const auto belief = std::span<const double>(beliefs_).subspan(label_at_[v], size(v));
        find_input(h, is_hub(v) ? belief : std::span<const double>{});
    }

    /// Scores of all pairs of labels of edge e, with the messages to both nodes.
    std::span<const double> pair_beliefs(std::size_t e) {
        gather();
        const std::size_t h = 2 * e;
        const std::size_t K = size(topology_.source(h));
        const std::size_t L = size(topology_.target(h));
        find_settled_input(h);
        pairs_.resize(K * L);
        for (std::size_t i = 0; i < K; ++i) {
            for (std::size_t j = 0; j < L; ++j) pairs_[i * L + j] = input_[i] + pair(h, i, j);
        }
        find_settled_input(h ^ 1);
        for (std::size_t i = 0; i < K; ++i) {
            for (std::size_t j = 0; j < L; ++j) pairs_[i * L + j] += input_[j];
        }
        return pairs_;
    }

    /// Beliefs as probabilities. They are divided by their sum, and not shifted by its log: near
    /// 1e15 that has no digits left behind the point.
    static void normalise(std::span<double> p) noexcept {
        if (std::isfinite(detail::log_sum_exp(p))) {
            detail::softmax(p);
        } else {
            std::ranges::fill(p, 0.0);
        }
    }

    std::vector<std::size_t> message_at_{0};
    std::vector<double> exp_tables_;  ///< exp(table - its peak)
    std::vector<double> peaks_;       ///< of the table of each edge
    std::vector<double> messages_;
    std::vector<double> urgency_;
    UrgencyQueue queue_;
    Kind kind_ = Kind::max;
    bool swept_down_ = false;
    bool gathered_ = false;
    std::vector<double> beliefs_;
    std::vector<double> input_;
    std::vector<double> output_;
    std::vector<double> exps_;
    std::vector<double> totals_;
    std::vector<double> pairs_;
    mutable std::vector<double> decoding_;
};

}  // namespace surelearn
