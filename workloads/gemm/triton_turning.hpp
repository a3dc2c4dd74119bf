// Operands that Triton's lanes turn on their way into shared memory: wgmma reads types of other than two
// bytes along K only, so that what lies along M or N is stored crosswise. Of four bytes (tf32), each element
// is an asynchronous copy of its own, stages ahead; of one byte, the trip that multiplies a stage loads it,
// 16 bytes a lane, and stores byte by byte into the one place there is. Without wgmma, bytes are read one by
// one instead. Ignores: how shared memory is swizzled beyond the conflicts that are left, and that A along M
// was not compiled: it is taken to be turned as B along N is, but not read byte by byte. Source: TTGIR and
// SASS of Triton 3.6 (sm_90) for six tiles of int8 and tf32; shared bytes of triton_int8.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Notes which operands are turned, once the instruction and the copies are known.
void note_turned_operands(const Problem& problem, Config& config);

/// Whether an operand is turned by the trip that multiplies it, byte by byte.
[[nodiscard]] bool turned_in_its_trip(const Config& config, bool is_a);
/// Either of them.
[[nodiscard]] bool turned_in_its_trip(const Config& config);

/// Whether an operand's rows leave its lanes less than an asynchronous copy takes, while the other's are
/// copied: each of its elements is loaded in the trip that multiplies it (Triton).
[[nodiscard]] bool loaded_in_its_trip(const Config& config, bool is_a);

/// Adds the stores of `elements` elements a lane that lanes turn, `behind` what brought them; for copies
/// (`behind` is mk::no_id) only what they wait for one another.
void add_turned_stores(Parts& parts, bool is_a, std::int64_t elements, model::kernel::Id behind);

/// Single bytes that a lane reads of B for the products of a trip by mma.sync; 0: ldmatrix reads them.
[[nodiscard]] std::int64_t bytes_read_singly(const Problem& problem, const Config& config,
                                             std::int64_t warp_n);

}  // namespace warptime::workloads::gemm
