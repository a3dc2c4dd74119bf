// How far the numbers behind an answer were measured on the GPU that it is about.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::prediction {

/// calibrated: constants fitted to rows of this GPU, under conditions that rows are recorded under, which are
/// those of the whole chip at a clock that nobody has chosen. what_if: a key was changed by a setting.
[[nodiscard]] Status status_of(const hw::Gpu& gpu, const Conditions& conditions);

}  // namespace warptime::model::prediction
