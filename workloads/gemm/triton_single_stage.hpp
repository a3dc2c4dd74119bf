// Triton's loops of one stage (num_stages=1): nothing is copied ahead; a trip loads its stage into registers,
// 16 bytes a lane, stores it to shared memory and multiplies it. ptxas gives such a loop few registers for
// what is under way: all of A, and of B a quarter, at least one; each further load of B waits for the
// registers of one before. Ignores: that larger tiles keep up to twice as many. Source: SASS of 18 such loops
// (Triton 3.6, sm_90), as turns_of_loads() says. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Whether the loop is such a one, and its rows aligned.
[[nodiscard]] bool loads_stage_in_turns(const Config& config);

/// Round trips to memory that a trip waits for, one after the other, by the loads of a lane of A and of B. Up
/// to three loads go together (all five such loops); else as the registers allow (1 and 4 loads: 3, 1 and 16:
/// 5, 4 and 4, 4 and 2, 8 and 2: 2, 8 and 32: 3 or 4; but 8 and 8: 1, and 4 and 2 of a tile of 128x64x32: 1).
[[nodiscard]] std::int64_t turns_of_loads(std::int64_t loads_of_a, std::int64_t loads_of_b);

}  // namespace warptime::workloads::gemm
