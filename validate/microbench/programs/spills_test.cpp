// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::validate::microbench {

TEST_CASE("spilled values cost what their stores take of the L2, and nothing where nothing is spilled") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    const auto engine = model::analytical::make_engine();
    const Family* family = find_family("microbench_spill", "spill");
    REQUIRE(family != nullptr);
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    const auto cycles = [&](int live, int bytes, int warps) {
        const Probe probe = family->make({{"live", std::to_string(live)},
                                          {"local_bytes", std::to_string(bytes)},
                                          {"registers", "32"},
                                          {"warps", std::to_string(warps)}},
                                         gpu);
        model::kernel::check(probe.program.kernels.front());
        return predict(probe, "region_cycles", *engine, gpu, warm).value;
    };
    CHECK(cycles(16, 0, 1) < 40.0);
    CHECK(cycles(24, 8, 4) < 2.0 * cycles(16, 0, 4));
    // 54 values of four warps, 128 bytes each.
    const double stores = 54.0 * 4.0 * 128.0 / gpu.l2.ingest_bandwidth.value();
    CHECK(cycles(64, 400, 4) == doctest::Approx(stores).epsilon(0.05));
    CHECK(cycles(64, 400, 8) == doctest::Approx(2.0 * stores).epsilon(0.05));
    // One warp waits for its own loads and stores.
    CHECK(cycles(64, 400, 1) > 0.3 * stores);
    CHECK_THROWS_AS((void)family->make({{"live", "8"}}, gpu), Error);
}

}  // namespace warptime::validate::microbench
