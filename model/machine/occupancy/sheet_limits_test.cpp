// Limits on every sheet equal those of its compute capability in the table of the occupancy tests.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/machine/occupancy/occupancy_chips_test.hpp"
#include "model/machine/occupancy/sm_limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace hw = warptime::hw;
using namespace warptime::model::machine;

TEST_CASE("every sheet has the limits of its compute capability") {
    // The recorded cases of occupancy_cases.csv were drawn from the chips of chips(), so 10.3 stands apart.
    const auto drawn = test::chips();
    std::vector<test::Chip> known(drawn.begin(), drawn.end());
    known.push_back(
        test::chip(10, 3, 2048, 32, 128, 227, 1, 64, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}));
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        const auto chip = std::find_if(known.begin(), known.end(), [&gpu](const test::Chip& candidate) {
            return candidate.major == gpu.compute_major && candidate.minor == gpu.compute_minor;
        });
        REQUIRE(chip != known.end());
        const SmLimits& expected = chip->limits;
        const SmLimits limits = limits_of(gpu);
        CHECK(limits.sub_partitions == expected.sub_partitions);
        CHECK(limits.threads_per_cta == expected.threads_per_cta);
        CHECK(limits.threads == expected.threads);
        CHECK(limits.ctas == expected.ctas);
        CHECK(limits.registers == expected.registers);
        CHECK(limits.register_unit == expected.register_unit);
        CHECK(limits.barriers == expected.barriers);
        CHECK(limits.shared_default == expected.shared_default);
        CHECK(limits.shared_optin == expected.shared_optin);
        CHECK(limits.shared_reserved == expected.shared_reserved);
        CHECK(limits.shared_unit == expected.shared_unit);
        CHECK(limits.carveouts == expected.carveouts);
        CHECK(limits.carveout_count == expected.carveout_count);
    }
}
