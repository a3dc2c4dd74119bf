// Arithmetic pipes: busy cycles give back the rate that the sheet states.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/arithmetic.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <string>

namespace hw = warptime::hw;
using warptime::model::machine::arithmetic_cycles;

TEST_CASE("an SM full of fused multiply-adds reaches its lanes") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        const std::string& id = sheet.id;
        const auto gpu = hw::load_gpu(id);
        const auto& cost = gpu.instructions[hw::InstructionClass::fma_f32];
        const double instructions = 1e6;
        const double cycles = arithmetic_cycles(instructions, 16, 1, cost, gpu).value();
        CHECK_MESSAGE(instructions * 32.0 / cycles == doctest::Approx(gpu.fp32.lanes.value()), id);
    }
}

TEST_CASE("fewer warps than sub-partitions leave pipes idle") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto& cost = gpu.instructions[hw::InstructionClass::mufu];
    const double all = arithmetic_cycles(120.0, 4, 1, cost, gpu).value();
    CHECK(arithmetic_cycles(120.0, 1, 1, cost, gpu).value() == doctest::Approx(4.0 * all));
    CHECK(arithmetic_cycles(120.0, 2, 1, cost, gpu).value() == doctest::Approx(2.0 * all));
    CHECK(arithmetic_cycles(120.0, 64, 1, cost, gpu).value() == doctest::Approx(all));
}

TEST_CASE("CTAs of an SM fill its sub-partitions together") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto& cost = gpu.instructions[hw::InstructionClass::mufu];
    const double all = arithmetic_cycles(120.0, 4, 1, cost, gpu).value();
    // Two CTAs of two warps use all four sub-partitions; a third CTA doubles the load of two sub-partitions.
    CHECK(arithmetic_cycles(120.0, 2, 2, cost, gpu).value() == doctest::Approx(all));
    CHECK(arithmetic_cycles(120.0, 2, 3, cost, gpu).value() == doctest::Approx(all * 4.0 / 3.0));
    CHECK(arithmetic_cycles(120.0, 6, 1, cost, gpu).value() == doctest::Approx(all * 4.0 / 3.0));
    CHECK(arithmetic_cycles(120.0, 1, 32, cost, gpu).value() == doctest::Approx(all));
}

TEST_CASE("twice the lanes halve the busy cycles") {
    auto gpu = hw::load_gpu("h200-sxm");
    const auto before = arithmetic_cycles(1000.0, 8, 1, gpu.instructions[hw::InstructionClass::fma_f32], gpu);
    gpu.fp32.lanes = gpu.fp32.lanes * 2.0;
    hw::resolve_instructions(gpu);
    const auto after = arithmetic_cycles(1000.0, 8, 1, gpu.instructions[hw::InstructionClass::fma_f32], gpu);
    CHECK(after.value() == doctest::Approx(before.value() / 2.0));
}
