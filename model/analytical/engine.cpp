// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/engine.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/band.hpp"
#include "model/analytical/explain.hpp"
#include "model/analytical/kept_items.hpp"
#include "model/analytical/least_time.hpp"
#include "model/analytical/memory_step.hpp"
#include "model/analytical/shared_reads.hpp"
#include "model/prediction/kept_bodies.hpp"
#include "model/prediction/tile_groups.hpp"

namespace warptime::model::analytical {

namespace {

using prediction::Conditions;
using prediction::Estimate;
using prediction::Prediction;
using prediction::Scratch;

Estimate<double> estimate_of(const Analysis<double>& a, const hw::Gpu<double>& gpu) {
    return with_band(a.time.value(), a.limiter,
                     band_class_of(a.limiter, a.item.loads_itself, a.item.uses_tensor), gpu);
}

struct RankingScratch final : Scratch {
    RecentSharedReads shared_reads;
};

struct KeepingScratch final : Scratch {
    KeptItems items;
    RecentSharedReads shared_reads;
};

/// The closed forms keep all their state on the stack, so the scratch is empty but where kernels share facts.
class Engine final : public prediction::Engine,
                     public prediction::GroupsTiles,
                     public prediction::KeepsBodies {
  public:
    [[nodiscard]] std::string_view name() const override { return "analytical"; }
    [[nodiscard]] std::unique_ptr<Scratch> make_scratch() const override {
        return std::make_unique<Scratch>();
    }

    [[nodiscard]] Estimate<double> evaluate(const kernel::Program& program, const kernel::Step& step,
                                            const hw::Gpu<double>& gpu, const Conditions& conditions,
                                            Scratch& /*scratch*/) const override {
        switch (step.kind) {
            case kernel::StepKind::kernel:
                return estimate_of(analyse(program.kernels[step.payload], gpu, conditions), gpu);
            case kernel::StepKind::memset: {
                const auto t = memset_time(program.memsets[step.payload], gpu, conditions);
                return with_band(t.time.value(), limiter_of(t), gpu);
            }
            case kernel::StepKind::memcpy:
                break;
        }
        const auto t = memcpy_time(program.memcpys[step.payload], gpu, conditions);
        return with_band(t.time.value(), limiter_of(t), gpu);
    }

    [[nodiscard]] double least_time(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                                    const Conditions& conditions) const override {
        return analytical::least_time(kernel, gpu, conditions).value();
    }
    [[nodiscard]] std::unique_ptr<Scratch> make_ranking_scratch() const override {
        return std::make_unique<RankingScratch>();
    }
    void evaluate_groups(kernel::Kernel& kernel, std::span<const std::int64_t> groups,
                         const hw::Gpu<double>& gpu, const Conditions& conditions, Scratch& ranking,
                         std::span<Estimate<double>> estimates) const override {
        if (groups.empty()) return;
        RecentSharedReads* recent = &static_cast<RankingScratch&>(ranking).shared_reads;
        kernel.schedule.group = groups[0];
        Analysis<double> a = analyse(kernel, gpu, conditions, {.reads = recent});
        estimates[0] = estimate_of(a, gpu);
        for (std::size_t i = 1; i < groups.size(); ++i) {
            kernel.schedule.group = groups[i];
            regroup(kernel, gpu, conditions, a, recent);
            estimates[i] = estimate_of(a, gpu);
        }
    }

    [[nodiscard]] std::unique_ptr<Scratch> make_keeping_scratch() const override {
        return std::make_unique<KeepingScratch>();
    }
    [[nodiscard]] Estimate<double> evaluate_kept(const kernel::Kernel& kernel, prediction::BodyNumber body,
                                                 const hw::Gpu<double>& gpu, const Conditions& conditions,
                                                 Scratch& keeping) const override {
        auto& kept = static_cast<KeepingScratch&>(keeping);
        const Known known{.reads = &kept.shared_reads, .items = &kept.items, .body = body};
        return estimate_of(analyse(kernel, gpu, conditions, known), gpu);
    }

    [[nodiscard]] Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                     const hw::Gpu<double>& gpu,
                                     const Conditions& conditions) const override {
        return step.kind == kernel::StepKind::kernel
                   ? explain_kernel(program.kernels[step.payload], gpu, conditions)
                   : explain_memory_step(program, step, gpu, conditions);
    }
};

}  // namespace

std::unique_ptr<prediction::Engine> make_engine() {
    return std::make_unique<Engine>();
}

}  // namespace warptime::model::analytical
