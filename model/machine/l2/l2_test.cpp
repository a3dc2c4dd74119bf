// L2 slices: visits by partitions, GPCs of unequal size, and the total rate.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;

TEST_CASE("a sector homed at random passes 2 - 1 / partitions slices") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.partitions = hw::Number(1.0);
    CHECK(machine::slice_visits(gpu) == 1.0);
    gpu.l2.partitions = hw::Number(2.0);
    CHECK(machine::slice_visits(gpu) == 1.5);
    gpu.l2.partitions = hw::Number(4.0);
    CHECK(machine::slice_visits(gpu) == 1.75);
}

TEST_CASE("neighbours merge what both read and nothing else") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.tpc.sms = hw::Number(2.0);
    CHECK(machine::unmerged_share(0.0, gpu) == doctest::Approx(0.5));
    CHECK(machine::unmerged_share(1.0, gpu) == doctest::Approx(1.0));
    CHECK(machine::unmerged_share(0.5, gpu) == doctest::Approx(0.75));
    gpu.tpc.sms = hw::Number(1.0);
    CHECK(machine::unmerged_share(0.0, gpu) == doctest::Approx(1.0));
}

TEST_CASE("the largest cluster of SMs is the last with an equal share") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(machine::slowest_group(gpu) == doctest::Approx(18.0 * 8.0 / 132.0));
    auto alone = gpu;
    alone.gpc.count = hw::Number(1.0);
    CHECK(machine::slowest_group(alone) == 1.0);
}

TEST_CASE("lines that all SMs copy are served one by one, few of them hardly faster than many") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto cycles = [&gpu](double rows, double bytes) {
        return machine::hot_line_cycles(3200.0, rows * bytes, bytes, gpu).value();
    };
    // Some 30 lines a cycle for 16 rows, and 40 for 64 rows.
    CHECK(3200.0 / cycles(16.0, 128.0) == doctest::Approx(30.0).epsilon(0.1));
    CHECK(3200.0 / cycles(64.0, 128.0) == doctest::Approx(42.0).epsilon(0.1));
    // Half of each line read a step: as many lines, and a fifth more a cycle.
    CHECK(cycles(16.0, 128.0) / cycles(16.0, 64.0) == doctest::Approx(1.24).epsilon(0.02));
    // A slice serves one sector of a line as it serves l2.access_bytes, sooner than half a line.
    CHECK(cycles(16.0, 32.0) == cycles(16.0, gpu.l2.access_bytes.value()));
    CHECK(cycles(16.0, 32.0) < cycles(16.0, 64.0));
    CHECK(cycles(0.0, 128.0) == 0.0);
}

TEST_CASE("the slices' rate is stated per SM of the whole chip") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.bandwidth = hw::BytesPerCycle(40.0);
    gpu.sm.count = hw::Number(100.0);
    CHECK(machine::l2_cycles(hw::Bytes(8e6), gpu).value() == doctest::Approx(2000.0));
}

TEST_CASE("stores overlap the crossings of reads only where both go on together") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.partitions = hw::Number(2.0);
    const hw::Bytes read(3e6);
    const double once = machine::l2_cycles(read, gpu).value();
    const hw::Cycles stores(10.0 * once);
    CHECK(machine::read_and_stored_cycles(read, stores, false, gpu).value() == doctest::Approx(11.5 * once));
    CHECK(machine::read_and_stored_cycles(read, stores, true, gpu).value() == doctest::Approx(11.0 * once));
    CHECK(machine::read_and_stored_cycles(read, {}, true, gpu).value() == doctest::Approx(1.5 * once));
}
