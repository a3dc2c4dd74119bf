// Barriers of a CTA: bar.sync, bar.arrive and bar.red by the number of the barrier.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/warp.hpp"

namespace warptime::workloads::frontends::machine {

/// Threads of the CTA have exited: phases that expect all threads may be complete now.
void threads_left(Cta& cta, int threads);

void decode_barrier(Decoder& decoder, Instruction& instruction);         ///< BAR
void decode_barrier_result(Decoder& decoder, Instruction& instruction);  ///< B2R

}  // namespace warptime::workloads::frontends::machine
