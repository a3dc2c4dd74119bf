// Trips and branches of warps that differ: means as described, one slowest warp, trips that wait.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/warp_choice.hpp"

#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::model;
using namespace warptime::model::simulation;

namespace {

kernel::Kernel kernel_of(const std::string& body, const std::string& tokens = "") {
    return kernel::parse_text("kernel \"k\"\n  cta 128 1 1\n" + tokens + "  role \"r\" warps=4\n" + body +
                              "  end\nend\n");
}

/// Trips of a loop by warps of each pace, by many seeds.
double mean_trips(const kernel::Kernel& kernel, Pace pace, double warps = 4.0) {
    const LoopKinds kinds(kernel);
    const Cut cut;
    bool turned = false;
    double sum = 0.0;
    constexpr int seeds = 4000;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const WarpChoice choice{&kinds, &cut, pace, warps, scattered(seed), &turned};
        sum += static_cast<double>(choice.passes(kernel, kernel.nodes[0], {}).trips);
    }
    return sum / seeds;
}

}  // namespace

TEST_CASE("shares of turns add up to the mean, turn after turn") {
    for (const double mean : {0.0, 0.3, 0.97, 1.0, 2.25}) {
        std::int64_t sum = 0;
        for (std::int64_t turn = 0; turn < 1000; ++turn) {
            sum += share_of_turn(mean, 0.4, turn);
            CHECK(std::abs(static_cast<double>(sum) - mean * static_cast<double>(turn + 1)) < 3.0);
        }
    }
}

TEST_CASE("one warp does what the slowest does, and the others share the rest of the mean") {
    const kernel::Kernel kernel =
        kernel_of("    loop mean=2.5 slowest_of_cta=7 slowest_of_grid=40\n      op 0 fma_f32\n    end\n");
    CHECK(mean_trips(kernel, Pace::slowest_of_grid) == 40.0);
    CHECK(mean_trips(kernel, Pace::slowest_of_cta) == 7.0);
    CHECK(mean_trips(kernel, Pace::others) == doctest::Approx((4.0 * 2.5 - 7.0) / 3.0).epsilon(0.02));
}

TEST_CASE("the slowest of the grid does no less than the slowest of a CTA, and a warp alone what all do") {
    const kernel::Kernel both =
        kernel_of("    loop mean=2.5 slowest_of_cta=7 slowest_of_grid=5\n      op 0 fma_f32\n    end\n");
    CHECK(mean_trips(both, Pace::slowest_of_grid) == 7.0);
    CHECK(mean_trips(both, Pace::others, 1.0) == doctest::Approx(2.5).epsilon(0.02));
    // The others do nothing where the slowest does all.
    const kernel::Kernel one =
        kernel_of("    loop mean=2 slowest_of_cta=9 slowest_of_grid=9\n      op 0 fma_f32\n    end\n");
    CHECK(mean_trips(one, Pace::others) == 0.0);
}

TEST_CASE("a branch of which the slowest of the grid alone is known is like any other for the rest") {
    const auto taken = [](const std::string& slowest, Pace pace) {
        const kernel::Kernel kernel =
            kernel_of("    branch warps_taking=0.25" + slowest + "\n      op 0 fma_f32\n    end\n");
        const LoopKinds kinds(kernel);
        const Cut cut;
        bool turned = false;
        int count = 0;
        for (std::uint64_t seed = 0; seed < 4000; ++seed) {
            const WarpChoice choice{&kinds, &cut, pace, 4.0, scattered(seed), &turned};
            count += choice.takes(kernel, kernel.nodes[0], {}) ? 1 : 0;
        }
        return count;
    };
    CHECK(taken(" slowest_of_grid=1", Pace::slowest_of_grid) == 4000);
    CHECK(taken(" slowest_of_grid=0", Pace::slowest_of_grid) == 0);
    const int others = taken("", Pace::others);
    CHECK(others == doctest::Approx(1000).epsilon(0.1));
    for (const Pace pace : {Pace::others, Pace::slowest_of_cta}) {
        CHECK(taken(" slowest_of_grid=1", pace) == others);
    }
    CHECK(taken("", Pace::slowest_of_grid) == others);
    // The slowest of a CTA of four warps takes what all take together.
    const std::string of_cta = " slowest_of_cta=1 slowest_of_grid=1";
    CHECK(taken(of_cta, Pace::slowest_of_cta) == 4000);
    CHECK(taken(of_cta, Pace::others) == 0);
}

TEST_CASE("warps that meet in a loop go round as often") {
    const kernel::Kernel kernel = kernel_of(
        "    loop mean=2.5 slowest_of_cta=7 slowest_of_grid=40\n      op 0 fma_f32\n      signal t\n"
        "      wait t\n    end\n",
        "  token \"t\" kind=named_barrier arrivals=4\n");
    CHECK(mean_trips(kernel, Pace::slowest_of_grid) == mean_trips(kernel, Pace::others));
}

TEST_CASE("a branch is taken by its share of the warps") {
    const kernel::Kernel kernel = kernel_of("    branch warps_taking=0.3\n      op 0 fma_f32\n    end\n");
    const LoopKinds kinds(kernel);
    const Cut cut;
    bool turned = false;
    int taken = 0;
    for (std::uint64_t seed = 0; seed < 10000; ++seed) {
        const WarpChoice choice{&kinds, &cut, Pace::others, 4.0, scattered(seed), &turned};
        taken += choice.takes(kernel, kernel.nodes[0], {}) ? 1 : 0;
    }
    CHECK(taken == doctest::Approx(3000).epsilon(0.05));
}

TEST_CASE("a trip waits for the one before where the description does not say what goes from trip to trip") {
    const auto serial = [](const std::string& body, const std::string& tokens = "") {
        const kernel::Kernel kernel = kernel_of("    loop trips={9}\n" + body + "    end\n", tokens);
        return LoopKinds(kernel).serial(kernel.nodes[0]);
    };
    CHECK(serial("      op 0 fma_f32\n"));
    CHECK_FALSE(serial("      op 0 fma_f32 deps=0:1\n"));
    // The fifth dep stands apart from the first four.
    std::string many;
    for (int i = 0; i < 4; ++i) many += "      op " + std::to_string(i) + " add_f32\n";
    CHECK(serial(many + "      op 4 add_f32 deps=0,1,2,3\n"));
    CHECK_FALSE(serial(many + "      op 4 add_f32 deps=0,1,2,3,4:1\n"));
    const std::string barrier = "  token \"t\" kind=named_barrier arrivals=4\n";
    CHECK(serial("      op 0 fma_f32\n      signal t\n      wait t\n", barrier));
    const std::string stage = "  token \"t\" kind=mbarrier arrivals=4\n";
    CHECK_FALSE(serial("      op 0 fma_f32\n      signal t\n      wait t\n", stage));
}

TEST_CASE("branches side by side are taken by the same warps, by the others, or by chance") {
    const auto body = [](const std::string& one, const std::string& other) {
        return kernel_of("    branch warps_taking=" + one +
                         "\n      op 0 fma_f32\n    end\n    branch warps_taking=" + other +
                         "\n      op 1 fma_f32\n    end\n");
    };
    struct Counted {
        int both = 0, none = 0;
    };
    const auto count = [](const kernel::Kernel& kernel) {
        const LoopKinds kinds(kernel);
        const Cut cut;
        bool turned = false;
        Counted counted;
        for (std::uint64_t seed = 0; seed < 1000; ++seed) {
            const WarpChoice choice{&kinds, &cut, Pace::others, 4.0, scattered(seed), &turned};
            const bool first = choice.takes(kernel, kernel.nodes[0], {});
            const bool second = choice.takes(kernel, kernel.nodes[2], {});
            counted.both += first && second ? 1 : 0;
            counted.none += !first && !second ? 1 : 0;
        }
        return counted;
    };
    const Counted contrary = count(body("0.25", "0.75"));
    CHECK(contrary.both == 0);
    CHECK(contrary.none == 0);
    const Counted same = count(body("0.5 slowest_of_grid=1", "0.5 slowest_of_grid=1"));
    CHECK(same.both + same.none == 1000);
    CHECK(same.both == doctest::Approx(500).epsilon(0.1));
    const Counted unlike = count(body("0.5 slowest_of_grid=0", "0.5 slowest_of_grid=1"));
    CHECK(unlike.both + unlike.none == 0);
    const Counted chance = count(body("0.5", "0.25"));
    CHECK(chance.both == doctest::Approx(125).epsilon(0.3));
}

TEST_CASE("a CTA takes the trips of its place, whatever the mean and the slowest") {
    const kernel::Kernel kernel = kernel_of(
        "    loop mean=5.5 max_over_lanes=10 max_over_warps=10 trips={1 + tile.0} slowest_of_cta=6 "
        "slowest_of_grid=10\n      op 0 fma_f32\n    end\n");
    const LoopKinds kinds(kernel);
    const Cut cut;
    bool turned = false;
    for (const Pace pace : {Pace::others, Pace::slowest_of_cta, Pace::slowest_of_grid}) {
        for (std::int64_t tile = 0; tile < 10; ++tile) {
            kernel::WorkItem item;
            item.tile = {tile, 0, 0, 0};
            const WarpChoice choice{&kinds, &cut, pace, 4.0, scattered(7), &turned};
            CHECK(choice.passes(kernel, kernel.nodes[0], kernel::coordinates_of(item)).trips == 1 + tile);
        }
    }
}
