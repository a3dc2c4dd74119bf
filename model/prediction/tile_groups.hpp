// What an engine may do besides: predict one kernel under several groupings of its tiles, looking at its body
// once, and one kernel after the other, looking once at what they have in common. Tuners try every tile with
// several groups, stages and numbers of warps; nothing but the traffic depends on the first, and little of
// the traffic on the others. And say at once that a kernel cannot be among the fastest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/engine.hpp"
#include "model/prediction/prediction.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace warptime::model::prediction {

/// An Engine that is also one of these (dynamic_cast tells) answers as its `evaluate` would, bit for bit.
class GroupsTiles {
  public:
    GroupsTiles() = default;
    GroupsTiles(const GroupsTiles&) = delete;
    GroupsTiles& operator=(const GroupsTiles&) = delete;
    virtual ~GroupsTiles() = default;

    /// Seconds that `evaluate` of the kernel does not fall below, at a small part of its cost.
    [[nodiscard]] virtual double least_time(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
                                            const Conditions& conditions) const = 0;

    /// What one ranking keeps from kernel to kernel.
    [[nodiscard]] virtual std::unique_ptr<Scratch> make_ranking_scratch() const = 0;

    /// The kernel with its schedule's group as each of `groups` in turn, which the last one stays. Both spans
    /// have the same length. `ranking`: from make_ranking_scratch, for this GPU, unchanged, and these
    /// conditions alone. Throws as evaluate does.
    virtual void evaluate_groups(kernel::Kernel& kernel, std::span<const std::int64_t> groups,
                                 const hw::Gpu<double>& gpu, const Conditions& conditions, Scratch& ranking,
                                 std::span<Estimate<double>> estimates) const = 0;
};

}  // namespace warptime::model::prediction
