// Tensor cores: work over the dense rate of the SM, whoever issues it.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/tensor/tensor_core.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/walk.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;
using warptime::model::kernel::Op;

namespace {

Op matrix(hw::InstructionClass cls, int m, int n, int k) {
    Op op;
    op.cls = cls;
    op.dtype = hw::Dtype::bf16;
    op.shape = {m, n, k};
    return op;
}

}  // namespace

TEST_CASE("a warpgroup's wgmma stream runs at the dense rate") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const Op op = matrix(hw::InstructionClass::wgmma, 64, 256, 16);
    CHECK(machine::matrix_flop(op) == 2.0 * 64 * 256 * 16);
    const double cycles = machine::tensor_core_cycles(op, 100.0, 8, gpu).value();
    CHECK(cycles == doctest::Approx(100.0 * 2 * 2 * 64 * 256 * 16 / gpu.tensor.bf16.value()));
    // Published: m64n256k16 every 128 cycles of an SM with 4096 dense FLOP a cycle.
    CHECK(machine::tensor_core_cycles(op, 1.0, 4, gpu).value() == doctest::Approx(128.0).epsilon(0.01));
}

TEST_CASE("mma.sync runs at its share of the dense rate, and takes its overhead each time") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.tensor.mma_sync_fraction = hw::Number(0.5);
    gpu.tensor.mma_sync_overhead = hw::Cycles(0.0);
    const Op op = matrix(hw::InstructionClass::mma_sync, 16, 8, 16);
    const double flop = 10.0 * 4 * 2 * 16 * 8 * 16;
    CHECK(machine::tensor_core_cycles(op, 10.0, 4, gpu).value() ==
          doctest::Approx(flop / (0.5 * gpu.tensor.bf16.value())));
    gpu.tensor.mma_sync_overhead = hw::Cycles(3.0);
    CHECK(machine::tensor_core_cycles(op, 10.0, 4, gpu).value() ==
          doctest::Approx(flop / (0.5 * gpu.tensor.bf16.value()) + 10.0 * 3.0));
}

TEST_CASE("matrix instructions of other shapes: what was measured on the H200") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto cycles = [&](hw::Dtype dtype, std::array<std::int32_t, 3> shape, bool sparse) {
        Op op = matrix(hw::InstructionClass::mma_sync, shape[0], shape[1], shape[2]);
        op.dtype = dtype;
        op.sparse = sparse;
        return warptime::model::kernel::matrix_interval(op, gpu).value();
    };
    using hw::Dtype;
    CHECK(cycles(Dtype::fp16, {16, 8, 16}, false) == doctest::Approx(6.0).epsilon(0.03));
    CHECK(cycles(Dtype::fp16, {16, 8, 8}, false) == doctest::Approx(4.0).epsilon(0.03));
    CHECK(cycles(Dtype::tf32, {16, 8, 8}, false) == doctest::Approx(6.0).epsilon(0.03));
    CHECK(cycles(Dtype::int8, {16, 8, 32}, false) == doctest::Approx(6.0).epsilon(0.03));
    CHECK(cycles(Dtype::int8, {8, 8, 16}, false) == doctest::Approx(4.0).epsilon(0.03));
    CHECK(cycles(Dtype::fp16, {16, 8, 32}, true) == doctest::Approx(8.0).epsilon(0.03));
    CHECK(cycles(Dtype::int8, {16, 8, 64}, true) == doctest::Approx(8.0).epsilon(0.03));
    // Narrow wgmma are not faster than the interval of their class; sparse wide ones take half the time.
    Op narrow = matrix(hw::InstructionClass::wgmma, 64, 8, 16);
    CHECK(machine::tensor_core_cycles(narrow, 1.0, 4, gpu).value() ==
          doctest::Approx(gpu.instructions[hw::InstructionClass::wgmma].interval.value()));
    Op wide = matrix(hw::InstructionClass::wgmma, 64, 256, 32);
    wide.sparse = true;
    CHECK(machine::tensor_core_cycles(wide, 1.0, 4, gpu).value() == doctest::Approx(128.0).epsilon(0.01));
}

TEST_CASE("each element type has its own rate; what has no matrix instruction has none") {
    const auto gpu = hw::load_gpu("h200-sxm");
    using hw::Dtype;
    CHECK(machine::tensor_rate(Dtype::fp16, gpu).value() == gpu.tensor.fp16.value());
    CHECK(machine::tensor_rate(Dtype::fp8, gpu).value() == gpu.tensor.fp8.value());
    CHECK(machine::tensor_rate(Dtype::int8, gpu).value() == gpu.tensor.int8.value());
    CHECK(machine::tensor_rate(Dtype::tf32, gpu).value() == gpu.tensor.tf32.value());
    CHECK(machine::tensor_rate(Dtype::fp64, gpu).value() == gpu.tensor.fp64.value());
    CHECK(machine::tensor_rate(Dtype::fp8, gpu).value() == doctest::Approx(2.0 * gpu.tensor.bf16.value()));
    CHECK(machine::tensor_rate(Dtype::int64, gpu).value() == 0.0);
    CHECK(machine::tensor_rate(Dtype::fp4x2, gpu).value() == 0.0);
}

TEST_CASE("an element of two 4-bit numbers is two products, at the rate of such numbers") {
    const auto gpu = hw::load_gpu("b200");
    Op bytes = matrix(hw::InstructionClass::tcgen05_mma, 128, 256, 32);
    bytes.dtype = hw::Dtype::mxfp8;
    Op pairs = bytes;
    pairs.dtype = hw::Dtype::fp4x2;
    CHECK(machine::matrix_flop(pairs) == 2.0 * machine::matrix_flop(bytes));
    CHECK(warptime::model::kernel::flop_of(pairs) == 2.0 * warptime::model::kernel::flop_of(bytes));
    // Twice the numbers at twice the rate take as long, and read as many bytes.
    CHECK(gpu.tensor.fp4.value() == 2.0 * gpu.tensor.mxfp8.value());
    CHECK(machine::tensor_core_cycles(pairs, 1.0, 4, gpu).value() ==
          machine::tensor_core_cycles(bytes, 1.0, 4, gpu).value());
    CHECK(warptime::model::kernel::wgmma_operand_bytes(pairs) ==
          warptime::model::kernel::wgmma_operand_bytes(bytes));
}
