// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::validate::microbench {

TEST_CASE("local memory: loads that fit hit the L1, stores go on to the L2") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    const auto engine = model::analytical::make_engine();
    const Family* family = find_family("microbench_local_memory", "local_access");
    REQUIRE(family != nullptr);
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    const auto cycles = [&](const char* way, int words, int sms) {
        const Probe probe = family->make(
            {{"way", way}, {"words", std::to_string(words)}, {"warps", "16"}, {"sms", std::to_string(sms)}},
            gpu);
        return predict(probe, "region_cycles", *engine, gpu, warm).value;
    };
    CHECK(cycles("load", 64, 132) < 2.0);
    CHECK(cycles("load", 512, 132) > 2.0 * cycles("load", 64, 132));
    CHECK(cycles("store", 64, 33) == doctest::Approx(4.0).epsilon(0.2));
    CHECK(cycles("store", 64, 132) > 1.3 * cycles("store", 64, 33));
    CHECK_THROWS_AS((void)family->make({{"way", "load"}}, gpu), Error);
}

}  // namespace warptime::validate::microbench
