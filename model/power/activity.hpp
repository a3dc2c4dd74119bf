// What a launch keeps busy: the cycles of each part of the chip, and the bytes of DRAM, that power is made
// of. Ignores: registers, instruction fetch and the copy engines, whose energy is in that of the
// instructions. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::power {

/// Busy cycles are of the average SM of the whole chip, so that 1 000 cycles on half of the SMs count 500.
template <class S>
struct Activity {
    S resident{};  ///< share of the SMs that have a CTA
    S issue{}, fp32{}, fp64{}, integer{};
    S tensor{};  ///< at the dense rate of `tensor_dtype`, whatever instruction feeds it
    hw::Dtype tensor_dtype = hw::Dtype::bf16;
    S shared{};  ///< at its full bandwidth
    S l2{};      ///< at the L2's full bandwidth
    hw::Bytes<S> dram{};
    prediction::OperandData data = prediction::OperandData::random;
};

}  // namespace warptime::model::power
