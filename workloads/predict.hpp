// Predicts an operation with any engine in one call: lower, choose, sum the steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/registry/registry.hpp"

#include <memory>
#include <span>
#include <vector>

namespace warptime::workloads {

/// Keeps stages and program between calls of one thread, so that many rows cause no allocation.
class Predictor {
  public:
    /// `chooser` scores the kernels that a library might launch, where the operation leaves the choice open;
    /// null: `engine`. A slow engine gets a fast chooser, and both engines then predict the same launch. All
    /// arguments must outlive this object and must not change.
    Predictor(const model::prediction::Engine& engine, const hw::Gpu& gpu,
              const model::prediction::Engine* chooser = nullptr);
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;
    [[nodiscard]] model::prediction::Estimate evaluate(const Operation& operation,
                                                       const model::prediction::Conditions& conditions);
    /// Predicts a request that the operator's record has read. Throws Error for a refusal; its wording does
    /// not use the operation's text.
    [[nodiscard]] model::prediction::Estimate evaluate(const OperatorInfo& info, const Request& request,
                                                       const model::prediction::Conditions& conditions);
    /// As `evaluate`, with those operands in the L2, as far as they fit, that are read and have one of these
    /// sizes in bytes. All others, code, descriptors and copies of the driver are as the conditions say.
    [[nodiscard]] model::prediction::Estimate evaluate_found(const Operation& operation,
                                                             const model::prediction::Conditions& conditions,
                                                             std::span<const double> sizes);
    [[nodiscard]] model::prediction::Prediction explain(const Operation& operation,
                                                        const model::prediction::Conditions& conditions);
    [[nodiscard]] const hw::Gpu& gpu() const { return *gpu_; }
    [[nodiscard]] const libraries::Libraries& libraries() const { return *libraries_; }
    /// The program of the last call, until the next one.
    [[nodiscard]] const model::kernel::Program& program();

  private:
    struct KnownBodies;

    /// Scores candidates of one choice; the score refers to `conditions`.
    [[nodiscard]] choice::Score score_under(const model::prediction::Conditions& conditions);
    /// Bodies of an operator; null where its requests share no bodies.
    [[nodiscard]] KnownBodies* bodies_of(const OperatorInfo& info);
    void lower(const Operation& operation, const model::prediction::Conditions& conditions);

    const libraries::Libraries* libraries_;  ///< of the whole program
    const model::prediction::Engine* engine_;
    const hw::Gpu* gpu_;
    std::unique_ptr<model::prediction::Stages> stages_;    ///< of `engine_`
    std::unique_ptr<model::prediction::Stages> choosing_;  ///< of the chooser
    bool same_engine_;                                     ///< the chooser is `engine_`
    /// Of the candidates that the score was asked for, in the order of its calls.
    std::vector<model::prediction::Estimate> scored_;
    choice::ChoiceMemory choice_memory_;  ///< numbers the bodies that `choosing_` knows
    model::kernel::Program program_;
    std::vector<std::unique_ptr<KnownBodies>> bodies_;  ///< one for each operator
    const model::kernel::Program* last_;
    /// Operator and choice of the last call, while nobody has asked for its program.
    const OperatorInfo* chosen_info_ = nullptr;
    std::unique_ptr<Request> chosen_;
};

}  // namespace warptime::workloads
