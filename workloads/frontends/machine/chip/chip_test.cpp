// Tests of what compiled kernels see of a chip: the sheet's numbers, and sizes that are refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/chip/chip.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::workloads::frontends::machine {
namespace {

TEST_CASE("a chip has the numbers of its sheet") {
    const hw::Gpu gpu = hw::load_gpu("a100-sxm-80gb");
    const Chip chip = chip_of(gpu);
    CHECK(chip.architecture == 80);
    CHECK(chip.limits.sm_count == 108);
    CHECK(chip.cache.sector == 32);
    CHECK(chip.cache.line == 128);
    CHECK(chip.banks.banks == 32);
    CHECK(chip.banks.bank_bytes == 4);
}

TEST_CASE("the L2's slices together have its rate for lone sectors") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const Chip chip = chip_of(gpu);
    const double all = gpu.l2.bandwidth.value() * gpu.sm.count.value();
    const double rate = chip.l2.slices / chip.l2.interval;
    CHECK(rate * 1.5 * gpu.l2.access_bytes.value() == doctest::Approx(all).epsilon(0.01));
    CHECK(chip.l2.latency == gpu.latency.l2_far.value());
}

TEST_CASE("a setting of the sheet reaches the chip") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    hw::apply_setting(gpu, hw::parse_setting("gpu.sm.count=66"));
    CHECK(chip_of(gpu).limits.sm_count == 66);
    // DRAM brings whole sectors.
    CHECK(chip_of(gpu).cache.granule == 64);
    gpu.dram.access_bytes = hw::Bytes(32.0);
    CHECK(chip_of(gpu).cache.granule == 32);
}

TEST_CASE("sizes that are no powers of two are refused by key") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    gpu.l1.sector = hw::Bytes(48.0);
    try {
        (void)chip_of(gpu);
        FAIL("accepted");
    } catch (const Error& error) {
        CHECK(error.parameter() == "gpu.l1.sector");
        CHECK(error.value() == "48");
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
