// The analytical engine's stages and explanation behind the common interface.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/engine.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/band.hpp"
#include "model/analytical/explain.hpp"
#include "model/analytical/least_time.hpp"
#include "model/analytical/memory_step.hpp"
#include "model/prediction/board.hpp"

namespace warptime::model::analytical {

namespace {

using prediction::Conditions;
using prediction::Estimate;
using prediction::Prediction;

class Stages final : public prediction::Stages {
  public:
    explicit Stages(const hw::Gpu& gpu) : gpu_(gpu) {}

    [[nodiscard]] Estimate evaluate(const kernel::Program& program, const kernel::Step& step,
                                    const Conditions& conditions, prediction::BodyNumber body) override {
        switch (step.kind) {
            case kernel::StepKind::kernel: {
                KeptStages* kept = body == prediction::unknown_body ? nullptr : &kept_;
                const kernel::Kernel& kernel = program.kernels[step.payload];
                return estimate_of(analyse(kernel, gpu_, conditions, kept, body), kernel, gpu_);
            }
            case kernel::StepKind::memset: {
                const auto t = memset_time(program.memsets[step.payload], gpu_, conditions);
                return with_band(t.time.value(), limiter_of(t), gpu_);
            }
            case kernel::StepKind::exchange:
                return exchange_estimate(program.exchanges[step.payload]);
            case kernel::StepKind::memcpy:
                break;
        }
        const auto t = memcpy_time(program.memcpys[step.payload], gpu_, conditions);
        return with_band(t.time.value(), limiter_of(t), gpu_);
    }

    [[nodiscard]] double least_time(const kernel::Kernel& kernel, const Conditions& conditions, double limit,
                                    prediction::BodyNumber body) override {
        if (body == prediction::unknown_body) {
            return analytical::least_time(kernel, gpu_, conditions, limit).value();
        }
        const LeastWork& work = least_work_.of(kernel, body, gpu_);
        return analytical::least_time(work, sizes_of(kernel, work), gpu_, conditions, limit).value();
    }
    [[nodiscard]] double least_time_of(prediction::BodyNumber body, const prediction::LaunchSizes& sizes,
                                       const Conditions& conditions, double limit) override {
        const LeastWork* work = least_work_.find(body);
        return work == nullptr ? 0.0 : analytical::least_time(*work, sizes, gpu_, conditions, limit).value();
    }

    void evaluate_groups(kernel::Program& program, std::span<const std::int64_t> groups,
                         const Conditions& conditions, std::span<Estimate> estimates) override {
        if (groups.empty()) return;
        kernel::Kernel& kernel = program.kernels.front();
        kernel.schedule.group = groups[0];
        Analysis a = analyse(kernel, gpu_, conditions, &kept_);
        estimates[0] = estimate_of(a, kernel, gpu_);
        for (std::size_t i = 1; i < groups.size(); ++i) {
            kernel.schedule.group = groups[i];
            regroup(kernel, gpu_, conditions, a, &kept_);
            estimates[i] = estimate_of(a, kernel, gpu_);
        }
    }

  private:
    const hw::Gpu& gpu_;
    KeptStages kept_;
    KeptLeastWork least_work_;
};

class Engine final : public prediction::Engine {
  public:
    [[nodiscard]] std::string_view name() const override { return "analytical"; }
    [[nodiscard]] std::unique_ptr<prediction::Stages> make_stages(const hw::Gpu& gpu) const override {
        return std::make_unique<Stages>(gpu);
    }
    [[nodiscard]] Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                     const hw::Gpu& gpu, const Conditions& conditions) const override {
        return step.kind == kernel::StepKind::kernel
                   ? explain_kernel(program.kernels[step.payload], gpu, conditions)
                   : explain_memory_step(program, step, gpu, conditions);
    }
};

}  // namespace

std::unique_ptr<prediction::Engine> make_engine() {
    return prediction::on_board(std::make_unique<Engine>());
}

}  // namespace warptime::model::analytical
