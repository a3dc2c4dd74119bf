// Copies that the copy engine makes for a whole CTA: lines of bytes, and boxes of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"

namespace warptime::workloads::frontends::machine {

void decode_bulk_copy(Decoder& decoder, Instruction& instruction);    ///< UBLKCP, UBLKRED
void decode_tensor_copy(Decoder& decoder, Instruction& instruction);  ///< UTMALDG, UTMASTG, UTMAREDG

}  // namespace warptime::workloads::frontends::machine
