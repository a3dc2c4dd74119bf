// Works out the time of one kernel and all figures that explain the time.
// Ignores: what each law lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/analysed_kernel.hpp"
#include "model/analytical/body_stage.hpp"
#include "model/analytical/shared_reads.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::analytical {

/// What the stages remember of earlier kernels, on one GPU that must stay as it is.
struct KeptStages {
    BodyStage body;
    RecentSharedReads problem;
};

/// Runs all stages of a kernel. `body` is the kernel's number, if it has one. Throws Error when the kernel
/// cannot run on the GPU. Otherwise allocates nothing once `kept` has been used.
[[nodiscard]] Analysis analyse(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                               const prediction::Conditions& conditions, KeptStages* kept = nullptr,
                               prediction::BodyNumber body = prediction::unknown_body);

/// Updates `a` after a change of the group in the kernel's schedule; GPU and conditions stay. A group changes
/// which lines CTAs find in the L2, but no work of a CTA.
void regroup(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
             Analysis& a, KeptStages* kept = nullptr);

}  // namespace warptime::model::analytical
