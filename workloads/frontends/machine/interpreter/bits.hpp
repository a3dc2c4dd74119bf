// Logic on registers and predicates: look-up tables of three inputs, shifts, permutations of bytes, counts of
// bits. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace warptime::workloads::frontends::machine {

/// The lanes whose byte is 0xff, of bytes that are 0xff or 0.
[[nodiscard]] inline Mask mask_of_bytes(const std::array<std::uint8_t, lanes_per_warp>& bytes) {
    static_assert(std::endian::native == std::endian::little);
    Mask mask = 0;
    for (unsigned i = 0; i < 4; ++i) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, bytes.data() + std::size_t{8} * i, sizeof eight);
        // Gathers the lowest bit of each of the eight bytes into the uppermost byte.
        const std::uint64_t gathered = ((eight & 0x0101'0101'0101'0101ULL) * 0x0102'0408'1020'4080ULL) >> 56U;
        mask |= static_cast<Mask>(gathered) << (8U * i);
    }
    return mask;
}

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
