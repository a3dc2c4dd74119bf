// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

namespace warptime::validate::microbench {

TEST_CASE("a chase through shared memory takes its latency a step") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    const auto engine = model::analytical::make_engine();
    const Family* family = find_family("microbench_latency", "chase_shared");
    REQUIRE(family != nullptr);
    const Probe probe = family->make({{"working_set", "4096"}}, gpu);
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    const Value value = predict(probe, "cycles_per_instruction", *engine, gpu, warm);
    // One issue slot beside the latency.
    CHECK(value.value == doctest::Approx(gpu.latency.shared.value()).epsilon(0.25));
    CHECK(value.low < value.value);
    CHECK_THROWS_AS((void)predict(probe, "furlongs", *engine, gpu, warm), Error);
    CHECK_THROWS_AS((void)family->make({}, gpu), Error);
    CHECK_THROWS_AS((void)family->make({{"working_set", "many"}}, gpu), Error);
}

}  // namespace warptime::validate::microbench
