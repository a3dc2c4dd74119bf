// What the L2 keeps of some bytes, against its two ends.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/kept_since.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using warptime::model::machine::kept_share;
using warptime::model::machine::lost_between;

TEST_CASE("bytes stay while a partition holds them, and are gone when the L2 has been filled") {
    const auto gpu = warptime::hw::load_gpu("h100-sxm");
    const double capacity = gpu.l2.capacity.value();
    CHECK(kept_share(0.0, gpu) == 1.0);
    CHECK(kept_share(16.8e6, gpu) == 1.0);
    const double surely = capacity * gpu.l2.usable.value() / gpu.l2.partitions.value();
    CHECK(kept_share(surely, gpu) == doctest::Approx(1.0));
    CHECK(kept_share((surely + capacity) / 2.0, gpu) == doctest::Approx(0.5));
    CHECK(kept_share(capacity, gpu) == 0.0);
    CHECK(kept_share(2.0 * capacity, gpu) == 0.0);
}

TEST_CASE("an L2 of one partition has no copies and keeps what nearly fills it") {
    auto gpu = warptime::hw::load_gpu("l40s");
    gpu.dram.ecc = warptime::hw::Number(0.0);
    REQUIRE(gpu.l2.partitions.value() == 1.0);
    const double capacity = gpu.l2.capacity.value();
    CHECK(kept_share(0.95 * capacity, gpu) == 1.0);
    const double beyond = 1.05 * capacity - capacity * gpu.l2.partition_usable.value();
    CHECK(kept_share(1.05 * capacity, gpu) ==
          doctest::Approx(1.0 - (gpu.cache.ways.value() + 1.0) * beyond / (1.05 * capacity)));
    CHECK(kept_share(1.05 * capacity, gpu) > 0.5);
    CHECK(kept_share(1.3 * capacity, gpu) == 0.0);
}

TEST_CASE("launches between push out what comes with them, and none push out nothing") {
    const auto gpu = warptime::hw::load_gpu("h100-sxm");
    const double capacity = gpu.l2.capacity.value();
    CHECK(lost_between(0.0, 2.0 * capacity, gpu) == 0.0);
    CHECK(lost_between(0.1 * capacity, 0.1 * capacity, gpu) == 0.0);
    CHECK(lost_between(0.6 * capacity, 0.1 * capacity, gpu) ==
          doctest::Approx(1.0 - kept_share(0.7 * capacity, gpu)));
    CHECK(lost_between(capacity, 1.0, gpu) == 1.0);
}
