// Whether the numbers behind an answer were measured on the GPU in question.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::prediction {

/// calibrated: constants are fitted to rows of this GPU, and the launch has the conditions of recorded rows.
/// These conditions are the whole chip, at a clock that the user has not chosen. what_if: a setting has
/// changed a key.
[[nodiscard]] Status status_of(const hw::Gpu& gpu, const Conditions& conditions);

}  // namespace warptime::model::prediction
