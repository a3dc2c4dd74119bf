// Whether the numbers behind an answer were measured on the GPU in question.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/evidence.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::prediction {

/// calibrated: constants are fitted to rows of this GPU, and the launch has the conditions of recorded rows.
/// These conditions are the whole chip, at a clock that the user has not chosen. Kernels of the same workload
/// are among the rows. what_if: a setting has changed a key. Rows that many workloads share are no such rows:
/// no GPU has both fitted constants and rows of that kind.
[[nodiscard]] Status status_of(const hw::Gpu& gpu, const Conditions& conditions, kernel::Evidence evidence);

/// The same for a known status by GPU and conditions, `known`.
[[nodiscard]] constexpr Status status_of(Status known, kernel::Evidence evidence) {
    return known == Status::calibrated && evidence != kernel::Evidence::own ? Status::extrapolated : known;
}

}  // namespace warptime::model::prediction
