// The limits of an SM are read from a GPU's keys, key by key, for any scalar type.
// SPDX-License-Identifier: Apache-2.0
#include "model/occupancy/sm_limits.hpp"

#include <doctest/doctest.h>

namespace {

using warptime::hw::Bytes;
using warptime::hw::Number;

/// The keys that limits_of reads, each with a value of its own.
template <class S>
warptime::hw::Gpu<S> chip() {
    warptime::hw::Gpu<S> gpu;
    gpu.sm.count = Number<S>(132.0);
    gpu.sm.sub_partitions = Number<S>(4.0);
    gpu.sm.threads_max = Number<S>(2048.0);
    gpu.sm.ctas_max = Number<S>(32.0);
    gpu.sm.registers = Number<S>(65536.0);
    gpu.sm.registers_per_thread_max = Number<S>(255.0);
    gpu.sm.register_allocation_unit = Number<S>(256.0);
    gpu.sm.named_barriers = Number<S>(64.0);
    gpu.cta.threads_max = Number<S>(1024.0);
    gpu.shared.per_cta_default = Bytes<S>(49152.0);
    gpu.shared.per_cta_optin = Bytes<S>(232448.0);
    gpu.shared.reserved_per_cta = Bytes<S>(1024.0);
    gpu.shared.allocation_granularity = Bytes<S>(128.0);
    gpu.shared.carveouts = {Bytes<S>(0.0), Bytes<S>(8192.0), Bytes<S>(233472.0)};
    return gpu;
}

}  // namespace

TEST_CASE_TEMPLATE("limits of a chip", S, double, warptime::hw::Dual<2>) {
    using namespace warptime::model::occupancy;
    const SmLimits limits = limits_of(chip<S>());
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
