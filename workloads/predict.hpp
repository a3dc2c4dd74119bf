// One call from an operation to its prediction, through any engine: lower, choose, sum the steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/registry/registry.hpp"

#include <memory>
#include <vector>

namespace warptime::workloads {

/// Keeps stages and program between calls of one thread, so that many rows cost no allocation.
class Predictor {
  public:
    /// `chooser` scores what a library might launch, where the operation leaves that open; null: `engine`. A
    /// slow engine is given a fast one, and both then predict the same launch. All must outlive this, and
    /// stay as they are.
    Predictor(const model::prediction::Engine& engine, const hw::Gpu& gpu,
              const model::prediction::Engine* chooser = nullptr);
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;
    [[nodiscard]] model::prediction::Estimate evaluate(const Operation& operation,
                                                       const model::prediction::Conditions& conditions);
    /// The same from a request that the operator's record has read. Throws Error for a refusal, without the
    /// wording that the operation's text allows.
    [[nodiscard]] model::prediction::Estimate evaluate(const OperatorInfo& info, const Request& request,
                                                       const model::prediction::Conditions& conditions);
    [[nodiscard]] model::prediction::Prediction explain(const Operation& operation,
                                                        const model::prediction::Conditions& conditions);
    [[nodiscard]] const hw::Gpu& gpu() const { return *gpu_; }
    [[nodiscard]] const libraries::Libraries& libraries() const { return libraries_; }
    /// The program that the last call lowered to.
    [[nodiscard]] const model::kernel::Program& program() const { return *last_; }

  private:
    struct KnownBodies;

    /// Refers to `conditions`; for one choice among candidates.
    [[nodiscard]] choice::Score score_under(const model::prediction::Conditions& conditions);
    /// Null where the operator's requests share no bodies.
    [[nodiscard]] KnownBodies* bodies_of(const OperatorInfo& info);
    void lower(const Operation& operation, const model::prediction::Conditions& conditions);

    libraries::Libraries libraries_;
    const model::prediction::Engine* engine_;
    const hw::Gpu* gpu_;
    std::unique_ptr<model::prediction::Stages> stages_;    ///< of `engine_`
    std::unique_ptr<model::prediction::Stages> choosing_;  ///< of the chooser
    model::kernel::Program program_;
    std::vector<std::unique_ptr<KnownBodies>> bodies_;  ///< one an operator
    const model::kernel::Program* last_;
};

}  // namespace warptime::workloads
