// Shared memory: bytes over the banks' rate, and the operands of a wgmma.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/shared.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;

TEST_CASE("a warp's 128 bytes are one pass of 32 banks of 4 bytes") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(machine::shared_cycles(128.0, gpu).value() == doctest::Approx(1.0));
    CHECK(machine::shared_cycles(128.0 * 77.0, gpu).value() == doctest::Approx(77.0));
}

TEST_CASE("a wgmma reads B, and A unless that comes from registers") {
    warptime::model::kernel::Op op;
    op.cls = hw::InstructionClass::wgmma;
    op.dtype = hw::Dtype::bf16;
    op.shape = {64, 256, 16};
    op.shared_operand = true;
    CHECK(machine::wgmma_operand_bytes(op) == 64.0 * 16 * 2 + 256.0 * 16 * 2);
    op.shared_operand = false;
    CHECK(machine::wgmma_operand_bytes(op) == 256.0 * 16 * 2);
    op.dtype = hw::Dtype::fp8;
    op.shape = {64, 128, 32};
    CHECK(machine::wgmma_operand_bytes(op) == 128.0 * 32);
}

TEST_CASE("with a full N the operands of a wgmma take no longer than its arithmetic") {
    // m64n256k16: 128 tensor-core cycles, a quarter of the SM each, hide the 80 passes.
    const auto gpu = hw::load_gpu("h200-sxm");
    warptime::model::kernel::Op op;
    op.dtype = hw::Dtype::bf16;
    op.shape = {64, 256, 16};
    op.shared_operand = true;
    const double passes = machine::shared_cycles(machine::wgmma_operand_bytes(op), gpu).value();
    const double tensor = 2.0 * 64 * 256 * 16 / gpu.tensor.bf16.value();
    CHECK(passes < tensor);
}
