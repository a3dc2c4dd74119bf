// One question of a what-if: an operation on a GPU, and its answer with the program that it was lowered to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/engine.hpp"
#include "workloads/operator/operation.hpp"

#include <functional>

namespace warptime::advice {

/// All that a prediction depends on. The engines and the GPU must outlive the question.
struct Question {
    workloads::Operation operation;
    const hw::Gpu* gpu = nullptr;
    model::prediction::Conditions conditions;
    const model::prediction::Engine* engine = nullptr;
    const model::prediction::Engine* chooser = nullptr;  ///< of the library's kernels
};

struct Answer {
    model::prediction::Prediction prediction;
    model::kernel::Program program;
};

/// A change of the kernels of a program. Returns whether it changed any; throws Error where it cannot.
using Edit = std::function<bool(model::kernel::Program&, const hw::Gpu&)>;

/// The answer to the question as it is.
[[nodiscard]] Answer ask(const Question& question);

/// The prediction of a program that a change has made of another; checks the program first. Throws Error for
/// a kernel that cannot run, naming the limit.
[[nodiscard]] model::prediction::Prediction predict_program(const model::kernel::Program& program,
                                                            const Question& question);

}  // namespace warptime::advice
