// How Triton's compiler treats a product whose rows it cannot know to be aligned.
// Every element of a stage is loaded by itself and stored to shared memory by itself. Every element has its
// own pointer, in a register, or in local memory where registers do not suffice. An aligned operand keeps
// stages that are copied ahead. The other operand then has a single stage, which its own trip loads. Its
// loads stand after the wait for the copies and before the products; the next copies wait for the products.
// Ignores: spills outside of the loop, and whether M is a multiple of 16. (Tiles of 128x128x32 with four
// warps spill a third then.)
// Source: SASS of 115 such kernels, and of 164 with one such operand (bf16; Triton 3.6, sm_90), by least
// squares. Each function gives its error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/gemm/triton_instructions.hpp"

namespace warptime::workloads::gemm {

/// Whether the loop gathers single elements of one operand or both (triton_alignment.hpp).
[[nodiscard]] bool gathers_as_triton(const Config& config);

/// Whether the loop gathers one operand and copies stages of the other ahead.
[[nodiscard]] bool gathers_beside_copies(const Config& config);

/// Elements of a stage that a lane fetches one by one.
[[nodiscard]] int gathered_by_lane(const Config& config);

/// Registers of a thread.
[[nodiscard]] int gather_registers(const Config& config);

/// The registers where a tenth less than `wanted` lets one more CTA fit into the `of_sm` registers of an SM.
/// The compiler then manages with fewer: 56, 80, 128 and the like, in 20 of the 41 kernels of mma.sync.
[[nodiscard]] int registers_with_room(int wanted, const Config& config, int of_sm);

/// Words that a warp moves to and from local memory in each trip.
struct Spills {
    int words = 0;  ///< of a thread, moved in the loop
    int loads = 0, stores = 0;
    int rounds = 0;  ///< times that the warp waits for loads before there are registers for more
};
[[nodiscard]] Spills gather_spills(const Config& config);

/// Bytes of shared memory: all stages of a copied operand and one of a gathered operand. All of 822 recorded
/// kernels that gather one operand agree. At least the tile of results, which is transposed there.
[[nodiscard]] std::int64_t gather_shared_bytes(const Problem& problem, const Config& config);

/// Adds the loads of a trip, or its stores; adds nothing without spills. Call `add_spill_buffer` first.
void add_spill_buffer(Parts& parts);
void add_spill_loads(Parts& parts);
void add_spill_stores(Parts& parts);

/// Instructions of a warp that are neither loads, stores nor products.
[[nodiscard]] TritonInstructions gather_instructions(const Config& config);

}  // namespace warptime::workloads::gemm
