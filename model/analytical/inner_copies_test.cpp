// Pipelines of copies inside of a loop: closed forms, and trips that are followed one by one.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/inner_copies.hpp"

#include "model/kernel/text.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace warptime::model;
using namespace warptime::model::analytical;
using warptime::hw::Cycles;

namespace {

constexpr double latency = 700.0;

/// What a warp does in a trip, `at` cycles after it has begun: a group goes out, or all but `lag` are waited
/// for.
struct Step {
    double at = 0.0;
    bool waits = false;
    int lag = 0;
};

CopyGroups noted(const std::vector<Step>& steps) {
    CopyGroups groups;
    for (const Step& step : steps) {
        if (step.waits) {
            groups.wait(step.lag, Cycles(step.at));
        } else {
            groups.copied(Cycles(step.at), Cycles(latency), Cycles{});
            groups.commit(Cycles(step.at));
        }
    }
    return groups;
}

/// Independent derivation: `trips` trips one after another, each wait until its groups are there. The mean
/// time of the later half.
double followed(const std::vector<Step>& steps, double alone, int trips) {
    std::vector<double> arrived;
    const int first = trips / 2;
    double now = 0.0, half = 0.0;
    for (int trip = 0; trip < trips; ++trip) {
        double begun = now;
        for (const Step& step : steps) {
            if (!step.waits) {
                arrived.push_back(begun + step.at + latency);
                continue;
            }
            const int needed = static_cast<int>(arrived.size()) - step.lag;
            if (needed < 1) continue;
            const double there = *std::max_element(arrived.begin(), arrived.begin() + needed);
            begun += std::max(0.0, there - (begun + step.at));
        }
        now = begun + alone;
        if (trip + 1 == first) half = now;
    }
    return (now - half) / (trips - first);
}

/// Two loops, one in the other; which of them copies and waits is to be filled in.
kernel::Kernel nested(const std::string& outer, const std::string& inner, const std::string& behind) {
    return kernel::parse_text(
        "kernel \"k\"\n  grid 132 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=132\n"
        "  buffer \"b\" dtype=int8 extent=1048576\n"
        "  token \"copies\" kind=async_group scope=warp depth=3\n"
        "  role \"r\" warps=4\n    loop trips={9}\n" +
        outer + "      loop trips={8}\n" + inner + "      end\n" + behind + "    end\n  end\nend\n");
}

kernel::Id awaited(const kernel::Kernel& kernel) {
    const std::size_t loop = kernel.roles[0].first_node;
    return awaited_inside(kernel, loop + 1, kernel.nodes[loop].end);
}

}  // namespace

TEST_CASE("a trip takes its ring from a wait to the copies behind it, by the trips that these run ahead") {
    // The wait leaves one or two groups under way; its trip's group goes out 40 cycles later.
    for (const int ahead : {1, 2, 3}) {
        CAPTURE(ahead);
        const CopyGroups groups = noted({{10.0, true, ahead - 1}, {50.0, false, 0}});
        const double ring = (40.0 + latency) / ahead;
        CHECK(groups.period(Cycles(100.0)).value() == doctest::Approx(ring));
        CHECK(groups.period(Cycles(1000.0)).value() == 1000.0);
    }
    // A wait for the trip's own group makes the trip longer.
    const CopyGroups own = noted({{10.0, false, 0}, {60.0, true, 0}});
    CHECK(own.period(Cycles(100.0)).value() == doctest::Approx(100.0 + latency - 50.0));
    CHECK(CopyGroups{}.period(Cycles(100.0)).value() == 100.0);
}

TEST_CASE("periods are those of trips that are followed one by one") {
    CHECK(rc::check("one wait, any number of groups", [] {
        const auto groups = *rc::gen::inRange(1, 4);
        const auto before = *rc::gen::inRange(0, groups + 1);
        std::vector<Step> steps;
        double at = 0.0;
        for (int i = 0; i <= groups; ++i) {
            at += *rc::gen::inRange(1, 60);
            if (i == before) {
                // Groups of this trip, of the trip before, and of earlier ones.
                steps.push_back({at, true, *rc::gen::inRange(0, 3 * groups)});
                at += 1.0;
            }
            if (i < groups) steps.push_back({at, false, 0});
        }
        const double alone = at + *rc::gen::inRange(0, 600);
        const double period = noted(steps).period(Cycles(alone)).value();
        RC_ASSERT(period == doctest::Approx(followed(steps, alone, 240)).epsilon(1e-6));
    }));
}

TEST_CASE("stalls of a trip add up, and what goes out behind one goes out later") {
    CHECK(rc::check("waits for groups of the same trip", [] {
        std::vector<Step> steps;
        double at = 0.0;
        int gone = 0;
        const auto count = *rc::gen::inRange(2, 9);
        for (int i = 0; i < count; ++i) {
            at += *rc::gen::inRange(1, 400);
            const bool waits = gone > 0 && *rc::gen::arbitrary<bool>();
            steps.push_back({at, waits, waits ? *rc::gen::inRange(0, gone) : 0});
            if (!waits) ++gone;
        }
        const double alone = at + *rc::gen::inRange(0, 600);
        const double period = noted(steps).period(Cycles(alone)).value();
        RC_ASSERT(period == doctest::Approx(followed(steps, alone, 20)).epsilon(1e-9));
    }));
}

TEST_CASE("the first trip waits for what went out before the loop") {
    const CopyGroups before = noted({{100.0, false, 0}, {130.0, false, 0}});
    // Of two groups before, the first trip's wait leaves the last one under way.
    const CopyGroups body = noted({{10.0, true, 1}, {20.0, false, 0}});
    CHECK(before.fill(body, Cycles(150.0)).value() == doctest::Approx(100.0 + latency - 160.0));
    CHECK(before.fill(body, Cycles(900.0)).value() == 0.0);
    const CopyGroups all = noted({{10.0, true, 0}});
    CHECK(before.fill(all, Cycles(150.0)).value() == doctest::Approx(130.0 + latency - 160.0));
    CHECK(CopyGroups{}.fill(body, Cycles(150.0)).value() == 0.0);
    // Bytes that come in later than others hold the group up.
    CopyGroups large;
    large.copied(Cycles(10.0), Cycles(latency), Cycles(50.0));
    large.copied(Cycles(20.0), Cycles(latency), Cycles(60.0));
    large.commit(Cycles(30.0));
    CHECK(large.fill(all, Cycles(0.0)).value() == doctest::Approx(20.0 + latency + 110.0 - 10.0));
}

TEST_CASE("waits inside of an inner loop, or for some and then all groups of copies, make a pipeline of it") {
    const std::string copy =
        "      op {} cp_async\n        access read b contiguous bytes=16 cache=cg\n"
        "      op {} cp_async_commit\n      signal copies on=issue\n";
    const auto copied = [&](int first) {
        std::string text = copy;
        for (int i = 0; i < 2; ++i) text.replace(text.find("{}"), 2, std::to_string(first + i));
        return text;
    };
    const std::string wait = "      wait copies lag=1\n";
    const auto add = [](int id) { return "      op " + std::to_string(id) + " add_s32\n"; };
    CHECK(awaited(nested(copied(0), wait + copied(2), "")) == 0);
    CHECK(awaited(nested(copied(0) + wait, add(2), "      wait copies\n")) == 0);
    // The loop around waits once in each trip, or nobody copies by lanes.
    CHECK(awaited(nested(copied(0) + wait, add(2), "")) == kernel::no_id);
    CHECK(awaited(nested(copied(0), add(2), wait)) == kernel::no_id);
    const std::string product =
        "      op 0 wgmma shape=64,64,16\n      op 1 wgmma_commit\n"
        "      signal copies on=issue\n";
    CHECK(awaited(nested(product, wait + add(2), "")) == kernel::no_id);
}
