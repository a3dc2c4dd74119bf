// SPDX-License-Identifier: Apache-2.0
#include "workloads/predict.hpp"

#include "model/prediction/kept_bodies.hpp"
#include "model/system/program.hpp"
#include "workloads/gemm/kept_lowerings.hpp"
#include "workloads/gemm_request.hpp"

#include <cmath>
#include <limits>

namespace warptime::workloads {

/// What requests that give their tile leave for further ones.
struct Predictor::Kept {
    const model::prediction::KeepsBodies& bodies;
    std::unique_ptr<model::prediction::Scratch> scratch;
    gemm::KeptLowerings lowerings;

    [[nodiscard]] static std::unique_ptr<Kept> of(const model::prediction::Engine& engine,
                                                  const hw::Gpu<double>& gpu) {
        const auto* bodies = dynamic_cast<const model::prediction::KeepsBodies*>(&engine);
        if (bodies == nullptr) return nullptr;
        return std::unique_ptr<Kept>(
            new Kept{*bodies, bodies->make_keeping_scratch(), gemm::KeptLowerings(gpu)});
    }
};

Predictor::Predictor(const model::prediction::Engine& engine, const hw::Gpu<double>& gpu,
                     const model::prediction::Engine* chooser)
    : libraries_(libraries::load_libraries()),
      engine_(&engine),
      gpu_(&gpu),
      chooser_(chooser == nullptr ? &engine : chooser),
      bounds_(dynamic_cast<const model::prediction::GroupsTiles*>(chooser_)),
      scratch_(engine.make_scratch()),
      choosing_(chooser_->make_scratch()),
      kept_(Kept::of(engine, gpu)),
      last_(&program_) {}

Predictor::~Predictor() = default;

Score Predictor::score_under(const model::prediction::Conditions& conditions) {
    return [this, &conditions](const model::kernel::Program& candidate, double limit) {
        // Some candidates are slower than the best so far by what keeps an SM busy at least.
        if (bounds_ != nullptr && std::isfinite(limit) && candidate.kernel_count > 0 &&
            !(bounds_->least_time(candidate.kernels.front(), *gpu_, conditions) < limit)) {
            return std::numeric_limits<double>::infinity();
        }
        return model::system::evaluate(candidate, *chooser_, *gpu_, conditions, *choosing_).time;
    };
}

void Predictor::lower(const Operation& operation, const model::prediction::Conditions& conditions) {
    last_ = &program_;
    workloads::lower(operation, libraries_, *gpu_, score_under(conditions), program_);
}

model::prediction::Estimate<double> Predictor::evaluate(const Operation& operation,
                                                        const model::prediction::Conditions& conditions) {
    lower(operation, conditions);
    return model::system::evaluate(program_, *engine_, *gpu_, conditions, *scratch_);
}

model::prediction::Estimate<double> Predictor::evaluate(const GemmRequest& request,
                                                        const model::prediction::Conditions& conditions) {
    if (request.config && kept_ != nullptr) {
        check_sizes(request, *gpu_);
        const auto lowered = kept_->lowerings.lower(request.problem, ordered_config(request));
        last_ = &lowered.program;
        return model::system::evaluate_kept(lowered.program, lowered.body, *engine_, kept_->bodies, *gpu_,
                                            conditions, *kept_->scratch);
    }
    last_ = &program_;
    lower_gemm(request, libraries_, *gpu_, score_under(conditions), program_);
    return model::system::evaluate(program_, *engine_, *gpu_, conditions, *scratch_);
}

model::prediction::Prediction Predictor::explain(const Operation& operation,
                                                 const model::prediction::Conditions& conditions) {
    lower(operation, conditions);
    return model::system::explain(program_, *engine_, *gpu_, conditions);
}

}  // namespace warptime::workloads
