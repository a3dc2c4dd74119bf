// The interface through which the scoreboard asks for predictions, of an engine or of a test's stand-in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::validate {

/// A row's predicted time with its 80 % band, or the reason for no prediction. For a microbenchmark it is the
/// row's quantity, in the row's unit.
struct RowPrediction {
    double time_us = 0.0, low_us = 0.0, high_us = 0.0;
    std::string limiter;
    std::string error;  ///< not empty: refused
};

/// Number of constants behind the predictions of some rows of a GPU.
struct ConstantCount {
    int fitted = 0;     ///< of the chip, from its own calibration
    int inherited = 0;  ///< of the chip, from a sibling's
    int compiler = 0;   ///< of compilers' data
    int library = 0;    ///< of libraries' data
    int learned = 0;    ///< of trees learned from a library's launches
};

class RowPredictor {
  public:
    RowPredictor() = default;
    RowPredictor(const RowPredictor&) = delete;
    RowPredictor& operator=(const RowPredictor&) = delete;
    virtual ~RowPredictor() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    /// Never throws warptime::Error, because a refusal is an answer.
    [[nodiscard]] virtual RowPrediction predict(const RecordedRow& row) = 0;
    /// Counters of the row's case under Nsight Compute's names and base units; empty when refused.
    [[nodiscard]] virtual std::vector<std::pair<std::string, double>> counters(const RecordedRow& row) = 0;
    [[nodiscard]] virtual ConstantCount constants(std::string_view gpu,
                                                  std::span<const RecordedRow* const> rows) = 0;
};

}  // namespace warptime::validate
