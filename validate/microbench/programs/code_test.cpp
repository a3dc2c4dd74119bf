// Closed forms of the probes of long code: an issue slot an instruction, or the rate of the cache.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace warptime::validate::microbench {

TEST_CASE(
    "a straight line runs at the rate at which its text comes, shared by the warps of a sub-partition") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const Family* family = find_family("microbench_straight_line", "straight_line");
    REQUIRE(family != nullptr);
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    for (const auto& [bytes, fetch] : {std::pair{"16640", 0.0},
                                       {"66560", gpu.code.far_interval.value()},
                                       {"266240", gpu.code.l2_interval.value()}}) {
        for (const int warps : {1, 2, 4}) {
            const Probe probe = family->make(
                {{"code_bytes", bytes}, {"warps_per_subpartition", std::to_string(warps)}, {"chains", "4"}},
                gpu);
            CHECK_NOTHROW(model::kernel::check(probe.program.kernels[0]));
            const double found =
                predict(probe, "cycles_per_instruction", *model::analytical::make_engine(), gpu, warm).value;
            // With more than two warps, the warps of a sub-partition drift apart. Then each group fetches
            // again from the next cache.
            const double groups = bytes == std::string("66560") && warps > 2 ? warps / 2.0 : 1.0;
            CHECK(found == doctest::Approx(std::max(1.0, groups * fetch / warps)).epsilon(0.05));
        }
    }
}

TEST_CASE("a launch finds the beginning of a long line in the instruction cache") {
    const auto gpu = hw::load_gpu("h200-sxm");
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    const auto cycles = [&](const char* op) {
        const Probe probe =
            find_family("microbench_straight_line", op)
                ->make({{"code_bytes", "399360"}, {"warps_per_subpartition", "1"}, {"chains", "4"}}, gpu);
        return predict(probe, "cycles_per_instruction", *model::analytical::make_engine(), gpu, warm).value;
    };
    CHECK(cycles("straight_line_first") < 0.95 * cycles("straight_line"));
    CHECK(cycles("straight_line_first") > 0.8 * cycles("straight_line"));
}

}  // namespace warptime::validate::microbench
