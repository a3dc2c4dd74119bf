// Recorded rows as something to fit to, through an engine.
// Each row is lowered once a round and then evaluated often.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/engine.hpp"
#include "validate/fit.hpp"
#include "validate/recorded_rows.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace warptime::validate {

/// The splits whose rows are taken. Constants are fitted on `fit_only`; bands may also see development rows.
enum class RowsTaken : std::uint8_t { fit_only, fit_and_development };

/// A row chosen for a fit, with its present prediction.
struct FitRowEstimate {
    const RecordedRow* row = nullptr;  ///< among the rows that the model was made from
    double measured_us = 0.0;
    model::prediction::Estimate estimate;  ///< time 0: refused
};

/// First recordings of predictable rows of one GPU. GPU and engine must outlive this object. Both closures of
/// `model` refer to this object.
class EngineFitModel {
  public:
    /// `suites` empty: all. Throws Error for a suite that is not recorded for this GPU.
    EngineFitModel(const RecordedRows& rows, const model::prediction::Engine& engine, const hw::Gpu& gpu,
                   const std::vector<std::string>& suites, RowsTaken taken);
    EngineFitModel(const EngineFitModel&) = delete;
    EngineFitModel& operator=(const EngineFitModel&) = delete;
    ~EngineFitModel();

    [[nodiscard]] FitModel model();
    [[nodiscard]] std::vector<FitRowEstimate> estimates();
    [[nodiscard]] std::size_t size() const;
    /// Why rows were refused at the last choice, each reason once.
    [[nodiscard]] const std::vector<std::string>& refusals() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace warptime::validate
