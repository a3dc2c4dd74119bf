// SPDX-License-Identifier: Apache-2.0
#include "workloads/predict.hpp"

#include "model/system/program.hpp"
#include "workloads/gemm_request.hpp"

namespace warptime::workloads {

Predictor::Predictor(const model::prediction::Engine& engine, const hw::Gpu<double>& gpu,
                     const model::prediction::Engine* chooser)
    : libraries_(libraries::load_libraries()),
      engine_(&engine),
      gpu_(&gpu),
      chooser_(chooser == nullptr ? &engine : chooser),
      scratch_(engine.make_scratch()),
      choosing_(chooser_->make_scratch()) {}

Score Predictor::score_under(const model::prediction::Conditions& conditions) {
    return [this, &conditions](const model::kernel::Program& candidate) {
        return model::system::evaluate(candidate, *chooser_, *gpu_, conditions, *choosing_).time;
    };
}

void Predictor::lower(const Operation& operation, const model::prediction::Conditions& conditions) {
    workloads::lower(operation, libraries_, *gpu_, score_under(conditions), program_);
}

model::prediction::Estimate<double> Predictor::evaluate(const Operation& operation,
                                                        const model::prediction::Conditions& conditions) {
    lower(operation, conditions);
    return model::system::evaluate(program_, *engine_, *gpu_, conditions, *scratch_);
}

model::prediction::Estimate<double> Predictor::evaluate(const GemmRequest& request,
                                                        const model::prediction::Conditions& conditions) {
    lower_gemm(request, libraries_, *gpu_, score_under(conditions), program_);
    return model::system::evaluate(program_, *engine_, *gpu_, conditions, *scratch_);
}

model::prediction::Prediction Predictor::explain(const Operation& operation,
                                                 const model::prediction::Conditions& conditions) {
    lower(operation, conditions);
    return model::system::explain(program_, *engine_, *gpu_, conditions);
}

}  // namespace warptime::workloads
