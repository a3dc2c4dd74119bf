// What Triton's compiler makes of a product whose rows it cannot know to be aligned: every element of a stage
// is loaded by itself, stored to shared memory by itself, and has a pointer of its own that stays in
// registers, or in local memory where those do not suffice. Where one operand is aligned, its stages are
// copied ahead, and the other's single one is loaded by the trip that multiplies it: behind the wait for the
// copies, before the products, for which the next copies wait. Ignores: whether M is a
// multiple of 16 (128x128x32 with four warps spills a third then), and what is spilled outside of the loop.
// Source: SASS of 115 such kernels, and of 164 of one operand (bf16; Triton 3.6, sm_90), by least squares;
// each function says how far off. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/gemm/triton_instructions.hpp"

namespace warptime::workloads::gemm {

/// Whether the loop is such a one, for one operand or both (triton_alignment.hpp).
[[nodiscard]] bool gathers_as_triton(const Config& config);

/// Whether it gathers one operand and copies stages of the other ahead.
[[nodiscard]] bool gathers_beside_copies(const Config& config);

/// Elements of a stage that a lane fetches one by one.
[[nodiscard]] int gathered_by_lane(const Config& config);

/// Registers of a thread.
[[nodiscard]] int gather_registers(const Config& config);

/// The same where the compiler does with a tenth less than `wanted` so that a CTA more fits into the `of_sm`
/// registers of an SM: 56, 80, 128 and the like, of 20 of the 41 kernels of mma.sync.
[[nodiscard]] int registers_with_room(int wanted, const Config& config, int of_sm);

/// What a warp moves from and to local memory in each trip.
struct Spills {
    int words = 0;  ///< of a thread, that are moved in the loop
    int loads = 0, stores = 0;
    int rounds = 0;  ///< times that the warp waits for loads before there are registers for more
};
[[nodiscard]] Spills gather_spills(const Config& config);

/// Bytes of shared memory: the stages of what is copied and one of what is gathered (all of 822 recorded
/// kernels that gather one operand), or the tile of results that is turned in it.
[[nodiscard]] std::int64_t gather_shared_bytes(const Problem& problem, const Config& config);

/// Adds the loads of a trip, or its stores; nothing where nothing is spilled. `add_spill_buffer` comes first.
void add_spill_buffer(Parts& parts);
void add_spill_loads(Parts& parts);
void add_spill_stores(Parts& parts);

/// Instructions of a warp that are no loads, stores or products.
[[nodiscard]] TritonInstructions gather_instructions(const Config& config);

}  // namespace warptime::workloads::gemm
