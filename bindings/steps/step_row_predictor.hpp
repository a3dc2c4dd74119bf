// Predictions of recorded steps from their captures, beside those of all other rows.
// Ignores: hosts that were disturbed. Wall times are of steps back to back, so that the host runs ahead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/steps/step_prediction.hpp"
#include "validate/engine_predictor.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::steps {

class StepRowPredictor : public validate::RowPredictor {
  public:
    /// `others` predicts all rows that are no steps, and outlives this object. `captures` has a file
    /// NAME.json.gz for each step.
    StepRowPredictor(validate::EngineRowPredictor& others, std::filesystem::path captures)
        : others_(&others), captures_(std::move(captures)) {}

    [[nodiscard]] std::string name() const override { return others_->name(); }
    /// Of a step: the sum of its kernels, or the longer of the device's span and the host's time.
    [[nodiscard]] validate::RowPrediction predict(const validate::RecordedRow& row) override;
    [[nodiscard]] std::vector<std::pair<std::string, double>> counters(
        const validate::RecordedRow& row) override {
        return others_->counters(row);
    }
    [[nodiscard]] validate::ConstantCount constants(
        std::string_view gpu, std::span<const validate::RecordedRow* const> rows) override {
        return others_->constants(gpu, rows);
    }

  private:
    [[nodiscard]] const StepPrediction& step_of(const validate::RecordedRow& row);

    validate::EngineRowPredictor* others_;
    std::filesystem::path captures_;
    /// By GPU, name and launching: a step has a row for its sum and one for its wall time.
    std::map<std::string, StepPrediction> answers_;
};

/// The captures that stand beside a folder of recorded rows.
[[nodiscard]] std::filesystem::path captures_beside(const std::filesystem::path& recorded);

}  // namespace warptime::steps
