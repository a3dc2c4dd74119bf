// A kernel on a GPU: residency by hand, and SMs that clusters leave idle.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/placement.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/machine/occupancy/sm_limits.hpp"

#include <doctest/doctest.h>

#include <array>

namespace machine = warptime::model::machine;

namespace {

/// 65536 registers of an SM / (256 x 128): two CTAs.
warptime::model::kernel::Kernel two_an_sm() {
    warptime::model::kernel::Kernel kernel;
    kernel.cta = {256, 1, 1};
    kernel.registers_per_thread = 128;
    return kernel;
}

}  // namespace

TEST_CASE("residency follows the kernel's own resources") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    warptime::model::kernel::Kernel kernel = two_an_sm();
    CHECK(machine::residency(kernel, machine::limits_of(gpu)).ctas_per_sm == 2);
    kernel.dynamic_shared = 200 * 1024;
    CHECK(machine::residency(kernel, machine::limits_of(gpu)).ctas_per_sm == 1);
    kernel.dynamic_shared = 300 * 1024;
    CHECK_THROWS_WITH_AS((void)machine::residency(kernel, machine::limits_of(gpu)),
                         doctest::Contains("shared_bytes"), warptime::Error);
}

TEST_CASE("as many items are at work as the chip has room for, and no more than there are") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    warptime::model::kernel::Kernel kernel = two_an_sm();
    kernel.schedule.tiles = {100, 1, 1, 1};
    CHECK(machine::items_at_work(kernel, gpu) == 100.0);
    kernel.schedule.tiles = {1000, 1, 1, 1};
    CHECK(machine::items_at_work(kernel, gpu) == 2.0 * gpu.sm.count.value());
}

TEST_CASE("clusters reach the SMs of the recorded groups") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    // What cudaOccupancyMaxActiveClusters and the largest grids of a library say of this chip.
    CHECK(machine::clusters_at_once(gpu, 2, 1) == 66);
    CHECK(machine::clusters_at_once(gpu, 4, 1) == 30);
    CHECK(machine::clusters_at_once(gpu, 8, 1) == 15);
    // By hand, in four groups of 2 SMs, one of 8, five of 16 and two of 18.
    CHECK(machine::clusters_at_once(gpu, 1, 3) == 132 * 3);
    CHECK(machine::clusters_at_once(gpu, 3, 1) == 2 + 5 * 5 + 2 * 6);
    CHECK(machine::clusters_at_once(gpu, 4, 2) == 4 + 5 * 8 + 2 * 9);
    CHECK(machine::clusters_at_once(gpu, 16, 1) == 5 + 2);
    CHECK(machine::clusters_at_once(gpu, 16, 2) == 5 * 2 + 2 * 2);
    CHECK(machine::clusters_at_once(gpu, 32, 1) == 0);
    CHECK(machine::clusters_at_once(gpu, 2, 0) == 0);
    CHECK(machine::reachable_sms(gpu, 3, 132) == 39 * 3);
    CHECK(machine::reachable_sms(gpu, 4, 132, 2) == 62 * 4 / 2);
    CHECK(machine::reachable_sms(gpu, 1, 132) == 132);
    CHECK(machine::reachable_sms(gpu, 2, 132) == 132);
    CHECK(machine::reachable_sms(gpu, 4, 132) == 120);
    CHECK(machine::reachable_sms(gpu, 4, 60) == 60);
    CHECK(machine::reachable_sms(gpu, 32, 132) == 132);  // no group holds such a cluster
}

TEST_CASE("without recorded groups, GPCs share the TPCs evenly") {
    using warptime::hw::Number;
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.cluster.groups.assign(1, Number(0.0));
    // 66 TPCs among 8 GPCs: six of 16 SMs and two of 18.
    CHECK(machine::clusters_at_once(gpu, 2, 1) == 66);
    CHECK(machine::clusters_at_once(gpu, 4, 1) == 6 * 4 + 2 * 4);
    CHECK(machine::clusters_at_once(gpu, 6, 1) == 6 * 2 + 2 * 3);
    CHECK(machine::clusters_at_once(gpu, 6, 2) == 6 * 5 + 2 * 6);
    CHECK(machine::clusters_at_once(gpu, 18, 1) == 2);
    CHECK(machine::reachable_sms(gpu, 8, 132) == 128);
}

TEST_CASE("clusters pack into groups of SMs that are no smaller than they are") {
    // Worked by hand for SMs in groups of 18, 16, 8 and 2.
    using warptime::hw::Number;
    const std::array<Number, 4> groups{Number(2.0), Number(8.0), Number(16.0), Number(18.0)};
    CHECK(machine::clusters_in_groups(groups, 2, 1) == 1 + 4 + 8 + 9);
    CHECK(machine::clusters_in_groups(groups, 3, 1) == 2 + 5 + 6);
    CHECK(machine::clusters_in_groups(groups, 16, 1) == 1 + 1);
    // Two CTAs an SM: the group of 8 has room for 16 CTAs, but for no cluster of more than 8.
    CHECK(machine::clusters_in_groups(groups, 8, 2) == 2 + 4 + 4);
    CHECK(machine::clusters_in_groups(groups, 16, 2) == 2 + 2);
}
