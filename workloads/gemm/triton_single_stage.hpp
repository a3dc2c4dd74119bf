// Triton's loops of one stage (num_stages=1), which copy nothing ahead.
// A trip loads its stage into registers, 16 bytes a lane, stores it to shared memory and multiplies it. ptxas
// gives such a loop few registers for loads in flight: enough for all of A and a quarter of B, at least one
// load. Each further load of B waits for the registers of an earlier load.
// Ignores: larger tiles keep up to twice as many loads in flight.
// Source: SASS of 18 such loops (Triton 3.6, sm_90), as turns_of_loads() says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Whether the loop has one stage and aligned rows.
[[nodiscard]] bool loads_stage_in_turns(const Config& config);

/// Round trips to memory for which a trip waits in turn, with `loads_of_a` and `loads_of_b` loads a lane. Up
/// to three loads go together (all five such loops). More loads go as the registers allow. Loads of A + B in
/// the SASS and their turns: 1 + 4: 3 turns; 1 + 16: 5; 4 + 4, 4 + 2 and 8 + 2: 2; 8 + 32: 3 or 4. Two loops
/// differ: 8 + 8: 1, and 4 + 2 in a tile of 128x64x32: 1.
[[nodiscard]] std::int64_t turns_of_loads(std::int64_t loads_of_a, std::int64_t loads_of_b);

}  // namespace warptime::workloads::gemm
