// The types of the two factors of a matrix product, as its instruction names them.
// SPDX-License-Identifier: Apache-2.0
//
// Ignores products of 4-bit and 1-bit numbers, which are refused. As nvdisasm 13 prints them: the letter in
// front of the opcode says which types there are.
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/matrices.hpp"

namespace warptime::workloads::frontends::machine {

struct FactorTypes {
    MatrixElement a = MatrixElement::f16;
    MatrixElement b = MatrixElement::f16;
};

/// HMMA and HGMMA name one type for both factors, BF16 or TF32, or none for fp16. QMMA, QGMMA (E4M3, E5M2),
/// IMMA and IGMMA (S8, U8) name the type of A, then that of B. Refuses anything else.
[[nodiscard]] FactorTypes factor_types(const Decoder& decoder);

}  // namespace warptime::workloads::frontends::machine
