// What the L2 keeps of some bytes, against its two ends.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/kept_since.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using warptime::model::machine::kept_share;

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
