// One pass over structures: anything with a Decoder. The rules and weights are those of rows. Knows
// no kind of structure.
//
// To add a kind of structure, write a decoder in a new header; this pass learns it.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <vector>

#include "surelearn/constraints.hpp"
#include "surelearn/diagonal.hpp"
#include "surelearn/round.hpp"
#include "surelearn/rules.hpp"
#include "surelearn/sparse_difference.hpp"
#include "surelearn/types.hpp"

namespace surelearn {

/// Which means to score with: the current ones, for learning, or those for prediction, which are
/// averaged if averaging is on.
enum class Means { present, predicting };

/// What a pass needs from a kind of structure: the answers to one example at a time, each with the
/// score mu . Psi(x, answer), for weights of type T. It is built from the weights and the data of
/// the examples; `truth` is the right answer y in the form of the data.
///
/// - empty(i): example i has no answer to choose; it counts as learnt, without a round.
/// - load(i, means): the scores of example i. All that follows is about the example loaded last.
/// - finite(): whether its scores are finite. If not, the example is refused.
/// - best(answer): the answer with the largest score; the first one wins a tie.
/// - same(y, answer): whether the answer is right.
/// - best_other(y, answer): the best answer other than y, given the best; false if there is none.
/// - k_best(k): the k best answers, or as many as there are, best first.
/// - augment_loss(y): adds distance(y, answer) to every score, until the next `load`.
/// - distance(y, answer): how wrong the answer is; 0 for y.
/// - difference(y, answer, g): g = Psi(x, y) - Psi(x, answer).
/// - graded: several answers may be right, and a wrong one is weighed by its distance where
///   the rule asks for no margin.
template <class D, class T>
concept Decoder =
    std::constructible_from<D, const Diagonal<T>&, const typename D::Data&> &&
    std::default_initializable<typename D::Answer> &&
    requires(D& decoder, const D& loaded, std::size_t i, typename D::Truth y,
             typename D::Answer& out, const typename D::Answer& answer, SparseDifference<T>& g) {
        { loaded.empty(i) } -> std::same_as<bool>;
        { loaded.truth(i) } -> std::same_as<typename D::Truth>;
        decoder.load(i, Means::present);
        { loaded.finite() } -> std::same_as<bool>;
        decoder.best(out);
        { loaded.same(y, answer) } -> std::same_as<bool>;
        { decoder.best_other(y, out) } -> std::same_as<bool>;
        { decoder.k_best(std::size_t{1}) } -> std::ranges::input_range;
        decoder.augment_loss(y);
        { loaded.distance(y, answer) } -> std::same_as<double>;
        loaded.difference(y, answer, g);
        { D::graded } -> std::convertible_to<bool>;
    };

/// Rows [begin, end) of a matrix or table.
struct RowRange {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

/// A number for each part that the answers to one example can have: `rows` for each of its feature
/// rows and each column, `own` for each cell of the table that belongs to no feature row.
struct Parts {
    std::span<double> rows;
    std::span<double> own;
};

/// A decoder for batch losses. Psi(x, answer) is a sum of parts: a feature row in a column, or a
/// cell of the decoder's own, such as a transition.
///
/// - rows(i): the feature rows of example i; own_rows(): the table rows without features;
///   first_feature(): the table row of feature 0.
/// - score(y): the score of an answer.
/// - add_answer(c, y, parts): adds c times the parts of an answer.
/// - add_expectation(c, parts): adds c times the expected parts under Pr[answer] proportional to
///   exp(score); returns log Z.
/// - add_variance(c, parts): adds c times the variance of each part.
/// - changed(): weights have changed since the last example.
template <class D>
concept PartDecoder = requires(D& decoder, const D& loaded, std::size_t i, typename D::Truth y,
                               typename D::Answer& answer, const Parts& parts) {
    { loaded.rows(i) } -> std::same_as<RowRange>;
    { loaded.own_rows() } -> std::same_as<RowRange>;
    { loaded.first_feature() } -> std::same_as<std::size_t>;
    decoder.load(i);
    decoder.changed();
    { loaded.score(y) } -> std::same_as<double>;
    loaded.add_answer(1.0, y, parts);
    { decoder.add_expectation(1.0, parts) } -> std::same_as<double>;
    decoder.add_variance(1.0, parts);
    decoder.augment_loss(y);
    decoder.best(answer);
};

/// Learns structures one by one.
///
/// A rule that asks for a margin sees the best answer after its distance from y is added to its
/// score, and must reach a margin of that distance (Taskar, Guestrin & Koller 2003). Other rules
/// see the best wrong answer, which is the second best if the best is right; a rule that learns
/// from mistakes only then sees nothing.
template <class T, Decoder<T> D>
class StructuredPass {
public:
    StructuredPass(Diagonal<T>& weights, const Method& method, const typename D::Data& data,
                   const Examples& examples)
        : weights_(weights),
          method_(method),
          examples_(examples),
          decoder_(weights, data),
          augments_(asks_of(method.rule) == Asks::margin),
          mistakes_only_(learns_from_mistakes_only(method.rule)) {}

    StructuredPass(const StructuredPass&) = delete;
    StructuredPass& operator=(const StructuredPass&) = delete;

    /// Learns examples [begin, end) of the order.
    [[nodiscard]] Tally run(std::size_t begin, std::size_t end) {
        Tally tally{.end = begin};
        while (tally.end < end && !tally.refused) {
            tally.refused = !learn(examples_.at(tally.end), tally);
            if (!tally.refused) ++tally.end;
        }
        return tally;
    }

private:
    using Answer = typename D::Answer;
    using Truth = typename D::Truth;

    [[nodiscard]] bool learn(std::size_t i, Tally& tally) {
        if (decoder_.empty(i)) return true;
        decoder_.load(i, Means::present);
        if (!decoder_.finite()) return false;
        const Truth y = decoder_.truth(i);
        decoder_.best(answer_);
        const bool mistaken = !decoder_.same(y, answer_);
        const Outcome outcome =
            mistakes_only_ && !mistaken ? Outcome::unmoved : move(y, examples_.weight_of(i));
        return close_round(weights_, method_, {outcome, mistaken}, {}, tally);
    }

    /// Updates by the scheme, given the best answer.
    [[nodiscard]] Outcome move(const Truth& y, double weight) {
        if (augments_) decoder_.augment_loss(y);
        g_.forget();
        return method_.scheme.kind == Scheme::Kind::single ? against_best(y, weight)
                                                           : against_several(y, weight);
    }

    [[nodiscard]] Outcome against_best(const Truth& y, double weight) {
        if (augments_ && !D::graded) {
            decoder_.best(answer_);
            if (decoder_.same(y, answer_)) return Outcome::unmoved;
        } else if (!decoder_.best_other(y, answer_)) {
            return Outcome::unmoved;
        }
        return against(y, answer_, weight);
    }

    /// Learns against the k best wrong answers, ranked at the start of the round, one after the
    /// other. If one is refused, nothing changes.
    [[nodiscard]] Outcome against_several(const Truth& y, double weight) {
        Outcome whole = Outcome::unmoved;
        std::size_t left = method_.scheme.k;
        for (const Answer& rival : decoder_.k_best(left + 1)) {
            if (left == 0) break;
            if (decoder_.same(y, rival)) continue;
            --left;
            const Outcome outcome = against(y, rival, weight);
            if (outcome == Outcome::moved) whole = outcome;
            if (outcome != Outcome::refused) continue;
            g_.take_back(weights_);
            return outcome;
        }
        return whole;
    }

    [[nodiscard]] Outcome against(const Truth& y, const Answer& rival, double weight) {
        decoder_.difference(y, rival, g_);
        const Moments margin = g_.moments(weights_);
        const double cost = augments_ ? decoder_.distance(y, rival) : 1.0;
        if (D::graded && !augments_) weight *= decoder_.distance(y, rival);
        const auto gather = [&] { return g_.shares(weights_, shares_); };
        const Step step = costed_step(method_.rule, cost, margin, weight, gather);
        if (!finite(margin) || !finite(step)) return Outcome::refused;
        if (!step.moves()) return Outcome::unmoved;
        const bool done = g_.update(weights_, step, margin.v, method_.projection);
        return done ? Outcome::moved : Outcome::refused;
    }

    Diagonal<T>& weights_;
    const Method& method_;
    const Examples& examples_;
    D decoder_;
    bool augments_;
    bool mistakes_only_;
    Answer answer_{};
    SparseDifference<T> g_;
    std::vector<double> shares_;
};

}  // namespace surelearn
