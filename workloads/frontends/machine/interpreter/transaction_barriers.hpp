// Barriers in shared memory that count threads and bytes (mbarrier).
// SPDX-License-Identifier: Apache-2.0
//
// The 64-bit word, read off the code that compilers make to set it up (sm_90, CUDA 13.0): bits 1 to 20 hold
// 2^20 less the threads that each phase expects, bits 21 to 42 the bytes that are on their way, bits 43 to 62
// 2^20 less the threads that are still to arrive, bit 63 the parity of the phase.
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/warp.hpp"

#include <cstdint>

namespace warptime::workloads::frontends::machine {

/// The word after `threads` have arrived and `bytes` more are (or, negative, are no longer) on their way. The
/// phase ends when neither threads nor bytes are missing.
[[nodiscard]] std::uint64_t after_arrival(std::uint64_t word, std::uint32_t threads, std::int64_t bytes);

/// `bytes` have come for the barrier at the address in the shared memory of the cluster.
void complete_bytes(Warp& warp, const Instruction& instruction, std::uint32_t address, std::int64_t bytes);

void decode_transaction_barrier(Decoder& decoder, Instruction& instruction);  ///< SYNCS
void decode_copies_arrive(Decoder& decoder, Instruction& instruction);        ///< ARRIVES

}  // namespace warptime::workloads::frontends::machine
