// Activity of a launch for its power: busy cycles of each part of the chip, and bytes of DRAM.
// Ignores: registers, instruction fetch and the copy engines; the energy of instructions includes theirs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

namespace warptime::model::machine {

/// Busy cycles of the average SM of the whole chip: 1 000 cycles on half of the SMs count 500.
struct Activity {
    double issue = 0.0, fp32 = 0.0, fp64 = 0.0, integer = 0.0;
    /// at the dense rate of `tensor_dtype`, whatever instruction feeds the tensor cores
    double tensor = 0.0;
    hw::Dtype tensor_dtype = hw::Dtype::bf16;
    double shared = 0.0;  ///< at shared memory's full bandwidth
    double l2 = 0.0;      ///< at the L2's full bandwidth
    hw::Bytes dram{};
    prediction::OperandData data = prediction::OperandData::random;
};

}  // namespace warptime::model::machine
