// Path to other SMs of a cluster: bytes over its rate.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/cluster/cluster.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;

TEST_CASE("loads from other CTAs of a cluster take their bytes over the rate of the way") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.shared.cluster_bandwidth = hw::BytesPerCycle(16.0);
    CHECK(warptime::model::machine::cluster_cycles(512.0, gpu).value() == doctest::Approx(32.0));
}
