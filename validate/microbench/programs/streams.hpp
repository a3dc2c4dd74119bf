// The part of bandwidth_in_flight whose bytes go through registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/microbench/programs/probe.hpp"

namespace warptime::validate::microbench {

/// way=load, store or copy of the op `move`.
[[nodiscard]] Probe plain_move(const Parameters& p);

}  // namespace warptime::validate::microbench
