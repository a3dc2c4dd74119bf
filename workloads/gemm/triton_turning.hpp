// Operands that Triton's lanes transpose on their way into shared memory.
// wgmma reads types of other than two bytes along K only. An operand along M or N is therefore stored
// crosswise. With four bytes (tf32), each element is an asynchronous copy of its own, stages ahead. With one
// byte, the trip that multiplies a stage loads it, 16 bytes a lane. It stores byte by byte, into a single
// place. Without wgmma, bytes are read one by one instead.
// Ignores: how shared memory is swizzled, except for the remaining conflicts. No A along M was compiled. The
// model transposes such an A as a B along N, but does not read it byte by byte.
// Source: TTGIR and SASS of Triton 3.6 (sm_90) for six tiles of int8 and tf32; shared bytes of triton_int8.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Notes which operands are transposed, once the instruction and the copies are known.
void note_turned_operands(const Problem& problem, Config& config);

/// Whether the trip that multiplies an operand transposes it, byte by byte.
[[nodiscard]] bool turned_in_its_trip(const Config& config, bool is_a);
/// Whether this holds for A or B.
[[nodiscard]] bool turned_in_its_trip(const Config& config);

/// Whether the trip that multiplies an operand also loads each of its elements (Triton). The operand's lanes
/// then move less than an asynchronous copy needs, while the other operand is copied.
[[nodiscard]] bool loaded_in_its_trip(const Config& config, bool is_a);

/// Adds the stores of `elements` elements a lane that lanes transpose, after the op `behind`. For copies
/// (`behind` is mk::no_id) only their conflicts are added.
void add_turned_stores(Parts& parts, bool is_a, std::int64_t elements, model::kernel::Id behind);

/// Single bytes of B that a lane reads for a trip's products by mma.sync; 0: ldmatrix reads B.
[[nodiscard]] std::int64_t bytes_read_singly(const Problem& problem, const Config& config,
                                             std::int64_t warp_n);

}  // namespace warptime::workloads::gemm
