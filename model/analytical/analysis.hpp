// Works out the time of one kernel and all that explains it. Ignores: what each law lists.
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

/// What the stages remember of kernels before, on one GPU, which must stay as it is.
struct KeptStages {
    BodyStage body;
    RecentSharedReads problem;
};

/// All stages of a kernel; `body` is its number, if it has one. Throws Error when the kernel cannot run on
/// the GPU. No allocation otherwise, once `kept` has been used.
[[nodiscard]] Analysis analyse(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                               const prediction::Conditions& conditions, KeptStages* kept = nullptr,
                               prediction::BodyNumber body = prediction::unknown_body);

/// Makes `a`, the analysis of a kernel on that GPU under those conditions, that of the same kernel with
/// another group in its schedule, which changes what CTAs find in L2 and nothing of what one does.
void regroup(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
             Analysis& a, KeptStages* kept = nullptr);

}  // namespace warptime::model::analytical
