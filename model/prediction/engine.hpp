// The one interface of both engines; everything outside model/ sees engines only through it.
// A prediction has three stages. `body` is the work of a CTA in its trips. `problem` adds sizes, schedule and
// caches. `time` gives the makespan at the clock that the load leaves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "model/prediction/prediction.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace warptime::model::prediction {

/// What a problem's sizes change of a launch, for lower bounds.
struct LaunchSizes {
    std::int64_t items = 1;
    std::int64_t iterations = 1;  ///< k-iterations of a typical item
    std::int64_t ctas = 1;
    bool one_per_cta = true;                ///< each CTA takes one item
    std::array<std::int64_t, 2> pitches{};  ///< bytes between rows of the first buffers; 0: not known
    std::array<std::int64_t, 2> rows{};     ///< of the first buffers; 0: not known
    double read_bytes = 0.0;                ///< distinct ones that all items read at least; 0: not known
    double written_bytes = 0.0;             ///< that all items store at least; 0: not known
    std::int64_t stored_pitch = 0;          ///< bytes between rows of what is stored; 0: not known
};

/// The stages of one engine on one GPU, for one thread. The caller keeps the stages as long as their memory
/// helps. The body stage remembers numbered bodies. The problem stage remembers results that tiles of one
/// problem share. The memory is bounded. Answers do not depend on the memory; kernels without a body number
/// leave nothing there.
class Stages {
  public:
    Stages() = default;
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;
    virtual ~Stages() = default;

    /// Time, band and limiter of one step, through all stages. `body`: number of the kernel's body. No
    /// allocation once a body is known.
    [[nodiscard]] virtual Estimate evaluate(const kernel::Program& program, const kernel::Step& step,
                                            const Conditions& conditions, BodyNumber body = unknown_body) = 0;

    /// Seconds that `evaluate` does not fall below for the kernel, or at least `limit`, in which case
    /// `evaluate` is not below `limit`. `body`: as there.
    [[nodiscard]] virtual double least_time(const kernel::Kernel& /*kernel*/,
                                            const Conditions& /*conditions*/, double /*limit*/,
                                            BodyNumber /*body*/ = unknown_body) {
        return 0.0;
    }
    /// The same for a body that these stages have seen, without its description; 0 for other bodies.
    [[nodiscard]] virtual double least_time_of(BodyNumber /*body*/, const LaunchSizes& /*sizes*/,
                                               const Conditions& /*conditions*/, double /*limit*/) {
        return 0.0;
    }

    /// Evaluates a program of one kernel with each of `groups` as its schedule's group, in turn. The body
    /// stage runs once, the later stages for each group. The kernel keeps the last group. Both spans have the
    /// same length.
    virtual void evaluate_groups(kernel::Program& program, std::span<const std::int64_t> groups,
                                 const Conditions& conditions, std::span<Estimate> estimates) {
        for (std::size_t i = 0; i < groups.size(); ++i) {
            program.kernels.front().schedule.group = groups[i];
            estimates[i] = evaluate(program, program.steps.front(), conditions);
        }
    }
};

/// An engine predicts one step at a time; a program is the sum of its steps (model/system).
class Engine {
  public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// `gpu` must outlive the stages, and must not change once the stages remember a body or compare groups.
    [[nodiscard]] virtual std::unique_ptr<Stages> make_stages(const hw::Gpu& gpu) const = 0;
    /// The full answer; its time equals evaluate's bit for bit.
    [[nodiscard]] virtual Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                             const hw::Gpu& gpu, const Conditions& conditions) const = 0;
};

}  // namespace warptime::model::prediction
