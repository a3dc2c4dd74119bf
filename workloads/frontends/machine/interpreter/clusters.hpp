// Barriers of a cluster, and the election of a lane.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"

namespace warptime::workloads::frontends::machine {

void decode_cluster_arrive(Decoder& decoder, Instruction& instruction);  ///< UCGABAR_ARV
void decode_cluster_wait(Decoder& decoder, Instruction& instruction);    ///< UCGABAR_WAIT
void decode_elect(Decoder& decoder, Instruction& instruction);           ///< ELECT

}  // namespace warptime::workloads::frontends::machine
