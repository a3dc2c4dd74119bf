// One call from an operation to its prediction, through any engine: lower, choose, sum the steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "model/prediction/tile_groups.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/lower.hpp"
#include "workloads/operation.hpp"

#include <memory>

namespace warptime::workloads {

struct GemmRequest;

/// Keeps scratch and program between calls of one thread, so that many rows cost no allocation.
class Predictor {
  public:
    /// `chooser` scores what a library might launch, where the operation leaves that open; null: `engine`. A
    /// slow engine is given a fast one, and both then predict the same launch. All must outlive this, and
    /// stay as they are.
    Predictor(const model::prediction::Engine& engine, const hw::Gpu<double>& gpu,
              const model::prediction::Engine* chooser = nullptr);
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;
    [[nodiscard]] model::prediction::Estimate<double> evaluate(
        const Operation& operation, const model::prediction::Conditions& conditions);
    /// The same from numbers; see gemm_request.hpp about what it throws.
    [[nodiscard]] model::prediction::Estimate<double> evaluate(
        const GemmRequest& request, const model::prediction::Conditions& conditions);
    [[nodiscard]] model::prediction::Prediction explain(const Operation& operation,
                                                        const model::prediction::Conditions& conditions);
    [[nodiscard]] const hw::Gpu<double>& gpu() const { return *gpu_; }
    /// The program that the last call lowered to.
    [[nodiscard]] const model::kernel::Program& program() const { return *last_; }

  private:
    struct Kept;

    /// Refers to `conditions`; for one choice among candidates.
    [[nodiscard]] Score score_under(const model::prediction::Conditions& conditions);
    void lower(const Operation& operation, const model::prediction::Conditions& conditions);

    libraries::Libraries libraries_;
    const model::prediction::Engine* engine_;
    const hw::Gpu<double>* gpu_;
    const model::prediction::Engine* chooser_;
    const model::prediction::GroupsTiles* bounds_;  ///< of `chooser_`, if it has any
    std::unique_ptr<model::prediction::Scratch> scratch_;
    std::unique_ptr<model::prediction::Scratch> choosing_;
    model::kernel::Program program_;
    std::unique_ptr<Kept> kept_;  ///< null where `engine_` keeps nothing
    const model::kernel::Program* last_;
};

}  // namespace warptime::workloads
