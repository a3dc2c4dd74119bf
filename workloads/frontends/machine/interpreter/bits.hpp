// Logic on registers and predicates: look-up tables of three inputs, shifts, permutations of bytes, counts of
// bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"

namespace warptime::workloads::frontends::machine {

void decode_logic(Decoder& decoder, Instruction& instruction);                   ///< LOP3
void decode_predicate_logic(Decoder& decoder, Instruction& instruction);         ///< PLOP3
void decode_shift(Decoder& decoder, Instruction& instruction);                   ///< SHF
void decode_permute(Decoder& decoder, Instruction& instruction);                 ///< PRMT
void decode_count_bits(Decoder& decoder, Instruction& instruction);              ///< POPC
void decode_find_leading(Decoder& decoder, Instruction& instruction);            ///< FLO
void decode_reverse(Decoder& decoder, Instruction& instruction);                 ///< BREV
void decode_bit_mask(Decoder& decoder, Instruction& instruction);                ///< BMSK
void decode_sign_extend(Decoder& decoder, Instruction& instruction);             ///< SGXT
void decode_predicates_to_register(Decoder& decoder, Instruction& instruction);  ///< P2R
void decode_register_to_predicates(Decoder& decoder, Instruction& instruction);  ///< R2P

}  // namespace warptime::workloads::frontends::machine
