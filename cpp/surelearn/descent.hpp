// Batch losses by stochastic (sub)gradient steps, one example at a time. Knows no kind of
// structure.
//
//     w <- (1 - eta_t l) w - eta_t grad loss_i(w),   eta_t = 1 / (1/eta_0 + l t)
//
// for the mean of loss_i(w) + l/2 |w|^2: the lecture's sub-gradient method (Pegasos) with steps
// that begin at eta_0. The result is the average of all w with weights proportional to t
// (Lacoste-Julien, Schmidt & Bach 2012). Both vectors are kept as scalars times sparse changes, so
// that a step costs the features of one example.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "surelearn/cells.hpp"
#include "surelearn/structured.hpp"

namespace surelearn {

enum class Loss { log, hinge };

/// What a descent knows from pass to pass.
struct DescentState {
    double t = 0.0;
    double eta = 1.0;  ///< eta_0
};

template <PartDecoder D>
class Descent {
public:
    /// `penalty` is l. Own rows are not penalised if `free_own`.
    Descent(const typename D::Data& data, const Cells& cells, std::span<double> w,
            std::span<double> average, double penalty, bool free_own)
        : data_(data),
          cells_(cells),
          w_(w),
          average_(average),
          penalty_(penalty),
          free_own_(free_own),
          decoder_(FlatWeights(cells, w), data) {}

    /// One step with example i of weight c.
    void step(Loss loss, std::size_t i, double c, DescentState& state) {
        const double eta = 1.0 / (1.0 / state.eta + penalty_ * state.t);
        if (!decoder_.empty(i)) {
            find_parts(loss, i, c);
            shrink(1.0 - eta * penalty_);
            move(i, -eta);
        }
        state.t += 1.0;
        mix(2.0 / (state.t + 1.0));
        if (scale_ < 1e-6 || own_share_ < 1e-6) settle();
    }

    /// Writes out both vectors.
    void settle() {
        for (std::size_t e = 0; e < w_.size(); ++e) {
            average_[e] = own_share_ * average_[e] + share_ * w_[e];
            w_[e] *= scale_;
        }
        scale_ = own_share_ = 1.0;
        share_ = 0.0;
    }

private:
    void find_parts(Loss loss, std::size_t i, double c) {
        decoder_.reader().set_scale(scale_);
        decoder_.changed();
        decoder_.load(i);
        const std::size_t K = cells_.n_columns;
        rows_.assign(decoder_.rows(i).size() * K, 0.0);
        own_.assign(decoder_.own_rows().size() * K, 0.0);
        const Parts parts{rows_, own_};
        const auto y = decoder_.truth(i);
        if (loss == Loss::log) {
            decoder_.add_expectation(c, parts);
        } else {
            decoder_.augment_loss(y);
            decoder_.best(answer_);
            decoder_.add_answer(c, answer_, parts);
        }
        decoder_.add_answer(-c, y, parts);
    }

    void shrink(double factor) {
        scale_ *= factor;
        if (!free_own_) return;
        const RowRange own = decoder_.own_rows();
        const std::size_t end = own.size() == 0 ? 0 : cells_.end(own.end - 1);
        for (std::size_t e = cells_.begin(own.begin); e < end; ++e)
            change(e, w_[e] / factor - w_[e]);
    }

    void move(std::size_t i, double eta) {
        const std::size_t K = cells_.n_columns;
        const RowRange rows = decoder_.rows(i);
        const RowRange own = decoder_.own_rows();
        const double rate = eta / scale_;
        for (std::size_t r = rows.begin; r < rows.end; ++r) {
            const double* const parts = rows_.data() + (r - rows.begin) * K;
            const auto row = data_.features().stored(r);
            for (std::size_t p = 0; p < row.size(); ++p) {
                add(decoder_.first_feature() + row.feature(p), rate * row.x(p), parts);
            }
        }
        for (std::size_t j = own.begin; j < own.end; ++j) {
            add(j, rate, own_.data() + (j - own.begin) * K);
        }
    }

    void add(std::size_t j, double rate, const double* parts) {
        for (std::size_t e = cells_.begin(j); e < cells_.end(j); ++e) {
            const double part = parts[cells_.column(e)];
            if (part != 0.0) change(e, rate * part);
        }
    }

    /// Changes w without changing the average.
    void change(std::size_t e, double by) noexcept {
        w_[e] += by;
        average_[e] -= share_ / own_share_ * by;
    }

    /// average <- (1 - rho) average + rho w.
    void mix(double rho) {
        if (rho >= 1.0) {  // the first step
            settle();
            std::ranges::copy(w_, average_.begin());
            return;
        }
        own_share_ *= 1.0 - rho;
        share_ = (1.0 - rho) * share_ + rho * scale_;
    }

    const typename D::Data& data_;
    Cells cells_;
    std::span<double> w_;        ///< w = scale w_
    std::span<double> average_;  ///< average = own_share average_ + share w_
    double penalty_;
    bool free_own_;
    D decoder_;
    double scale_ = 1.0;
    double share_ = 0.0;
    double own_share_ = 1.0;
    typename D::Answer answer_{};
    std::vector<double> rows_;
    std::vector<double> own_;
};

}  // namespace surelearn
