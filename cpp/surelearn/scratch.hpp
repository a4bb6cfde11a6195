// Working memory of a pass over rows, not part of the model. Knows no algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "surelearn/column_updates.hpp"
#include "surelearn/decode.hpp"
#include "surelearn/exact.hpp"
#include "surelearn/lane_transaction.hpp"
#include "surelearn/transaction.hpp"
#include "surelearn/types.hpp"
#include "surelearn/weights.hpp"

namespace surelearn::detail {

/// Working memory for weights that hold classes.
template <Weights W>
struct TransactionOf {};
template <Weights W>
    requires W::holds_classes
struct TransactionOf<W> {
    Transaction<W> transaction;
};

/// Working memory for weights whose columns are moved side by side.
template <Weights W>
struct LanesOf {};
template <class T>
struct LanesOf<Diagonal<T>> {
    LaneTransaction<T> lanes;
};

/// Working memory of a pass.
template <Weights W, class M>
struct Scratch : TransactionOf<W>, LanesOf<W> {
    typename M::Buffer row;
    typename W::Work work;
    std::vector<double> shares;
    std::vector<double> scores;
    std::vector<double> averaged;
    std::vector<std::size_t> rivals;
    std::vector<Side> sides;
    std::vector<double> start;
    exact::Problem problem;
    ColumnSteps steps;
    Problems problems;
    std::vector<std::int8_t> signs;      ///< for each label, +1 if the row has it
    std::vector<std::int32_t> arrivals;  ///< labels that no row had before
};

/// Working memory for weights that hold coded problems.
template <Weights W>
struct ColumnUpdatesOf {};
template <Weights W>
    requires W::holds_coded_problems
struct ColumnUpdatesOf<W> {
    ColumnUpdates<typename W::Number> updates;
};

}  // namespace surelearn::detail
