// Occupancy hints: together they allow one more CTA, and no larger value would.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/occupancy_hint.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace machine = warptime::model::machine;
using warptime::reports::hints_for_one_more;
using warptime::reports::OccupancyHint;

namespace {

void change(machine::CtaResources& cta, const std::string& resource, std::int64_t value) {
    if (resource == "threads") {
        cta.threads = static_cast<int>(value);
    } else if (resource == "registers") {
        cta.registers_per_thread = static_cast<int>(value);
    } else if (resource == "shared_bytes") {
        cta.dynamic_shared = value;
    } else {
        cta.named_barriers = static_cast<int>(value);
    }
}

}  // namespace

TEST_CASE("all hints together let in one more CTA, and each is as large as it can be") {
    const machine::SmLimits limits = machine::limits_of(warptime::hw::load_gpu("h200-sxm"));
    CHECK(rc::check([&limits] {
        machine::CtaResources cta;
        cta.threads = *rc::gen::inRange(1, 1025);
        cta.registers_per_thread = *rc::gen::inRange(16, 65);
        cta.dynamic_shared = *rc::gen::inRange<std::int64_t>(0, 200000);
        cta.named_barriers = *rc::gen::inRange(0, 17);
        const int now = machine::occupancy(cta, limits).ctas_per_sm;
        RC_PRE(now > 0);
        const std::vector<OccupancyHint> hints = hints_for_one_more(cta, limits);
        RC_ASSERT(!hints.empty());
        machine::CtaResources changed = cta;
        for (const OccupancyHint& hint : hints) {
            if (!hint.largest) {
                return;  // no value suffices, so one more CTA is impossible
            }
            RC_ASSERT(*hint.largest < hint.given);
            change(changed, hint.resource, *hint.largest);
        }
        RC_ASSERT(machine::occupancy(changed, limits).ctas_per_sm > now);
        for (const OccupancyHint& hint : hints) {
            machine::CtaResources more = changed;
            change(more, hint.resource, *hint.largest + 1);
            RC_ASSERT(machine::occupancy(more, limits).ctas_per_sm <= now);
        }
    }));
}

TEST_CASE("two resources that bind alike are both named") {
    const machine::SmLimits limits = machine::limits_of(warptime::hw::load_gpu("h200-sxm"));
    machine::CtaResources cta;
    cta.threads = 256;
    cta.registers_per_thread = 128;
    cta.dynamic_shared = 98304;
    const std::vector<OccupancyHint> hints = hints_for_one_more(cta, limits);
    REQUIRE(hints.size() == 2);
    CHECK(hints[0].resource == "registers");
    CHECK(hints[0].largest == 80);  // 65536 / (3 x 256) = 85, allocated per warp in steps of 8 per thread
    CHECK(hints[1].resource == "shared_bytes");
    CHECK(hints[1].largest == 228 * 1024 / 3 / 128 * 128 - 1024);
}

TEST_CASE("the limit of resident CTAs cannot be lifted") {
    const machine::SmLimits limits = machine::limits_of(warptime::hw::load_gpu("h200-sxm"));
    machine::CtaResources cta;
    cta.threads = 32;
    cta.registers_per_thread = 16;
    const std::vector<OccupancyHint> hints = hints_for_one_more(cta, limits);
    REQUIRE_FALSE(hints.empty());
    CHECK(hints.front().resource == "ctas");
    CHECK_FALSE(hints.front().largest.has_value());
}
