// SM limits are read from a GPU's keys, key by key.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/sm_limits.hpp"

#include <doctest/doctest.h>

namespace {

using warptime::hw::Bytes;
using warptime::hw::Number;

/// A GPU whose keys, as limits_of reads them, all have different values.
warptime::hw::Gpu chip() {
    warptime::hw::Gpu gpu;
    gpu.sm.count = Number(132.0);
    gpu.sm.sub_partitions = Number(4.0);
    gpu.sm.threads_max = Number(2048.0);
    gpu.sm.ctas_max = Number(32.0);
    gpu.sm.registers = Number(65536.0);
    gpu.sm.registers_per_thread_max = Number(255.0);
    gpu.sm.register_allocation_unit = Number(256.0);
    gpu.sm.named_barriers = Number(64.0);
    gpu.cta.threads_max = Number(1024.0);
    gpu.shared.per_cta_default = Bytes(49152.0);
    gpu.shared.per_cta_optin = Bytes(232448.0);
    gpu.shared.reserved_per_cta = Bytes(1024.0);
    gpu.shared.allocation_granularity = Bytes(128.0);
    gpu.shared.carveouts = {Bytes(0.0), Bytes(8192.0), Bytes(233472.0)};
    return gpu;
}

}  // namespace

TEST_CASE("limits of a chip") {
    using namespace warptime::model::machine;
    const SmLimits limits = limits_of(chip());
    CHECK(limits.sm_count == 132);
    CHECK(limits.sub_partitions == 4);
    CHECK(limits.threads == 2048);
    CHECK(limits.threads_per_cta == 1024);
    CHECK(limits.ctas == 32);
    CHECK(limits.registers == 65536);
    CHECK(limits.registers_per_thread == 255);
    CHECK(limits.register_unit == 256);
    CHECK(limits.barriers == 64);
    CHECK(limits.shared_default == 49152);
    CHECK(limits.shared_optin == 232448);
    CHECK(limits.shared_reserved == 1024);
    CHECK(limits.shared_unit == 128);
    CHECK(limits.carveout_count == 3);
    CHECK(limits.shared_capacity() == 233472);
}
