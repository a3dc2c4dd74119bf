// Atomic operations on global and shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"

namespace warptime::workloads::frontends::machine {

/// ATOM, ATOMG, ATOMS, RED, REDG.
void decode_atomic(Decoder& decoder, Instruction& instruction);

}  // namespace warptime::workloads::frontends::machine
