// Parts of long kernels: what is run stands for all of it, and short kernels run whole.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/cut.hpp"

#include "hw/error.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <set>
#include <string>

using namespace warptime::model;
using namespace warptime::model::simulation;

namespace {

kernel::Kernel kernel_of(int ctas, int trips, const std::string& schedule = "one_per_cta") {
    return kernel::parse_text("kernel \"k\"\n  grid " + std::to_string(ctas) +
                              " 1 1\n  cta 128 1 1\n  schedule " + schedule +
                              " tiles=" + std::to_string(ctas) + "\n  role \"r\" warps=4\n    loop trips={" +
                              std::to_string(trips) + "}\n      op 0 fma_f32\n    end\n  end\nend\n");
}

/// CTAs of the grid for which those stand that are run.
double sum_of(const Cut& cut) {
    double sum = 0.0;
    for (std::int64_t run = 0; run < cut.ctas(); ++run) sum += cut.stands_for(run) * cut.sms_of(cut.id(run));
    return sum;
}

}  // namespace

TEST_CASE("clusters are run whole in a part of the SMs") {
    for (const int cluster : {2, 4, 8}) {
        for (const int clusters : {301, 777, 1200}) {
            CAPTURE(cluster);
            CAPTURE(clusters);
            kernel::Kernel kernel = kernel_of(clusters * cluster, 400);
            kernel.cluster.x = cluster;
            const Cut cut = cut_of(kernel, 132, 3, 1e5, 1e5);
            CHECK_FALSE(cut.whole());
            CHECK(cut.sms % cluster == 0);
            CHECK(cut.ctas() % cluster == 0);
        }
    }
}

TEST_CASE("a kernel of few events runs whole, CTA by CTA") {
    const Cut cut = cut_of(kernel_of(1000, 10), 132, 2);
    CHECK(cut.whole());
    CHECK(cut.ctas() == 1000);
    for (std::int64_t run = 0; run < 1000; ++run) {
        CHECK(cut.id(run) == run);
        CHECK(cut.stands_for(run) == 1.0);
    }
    CHECK(cut.passes(1000000, 1).skipped == 0);
}

TEST_CASE("the CTAs that are run are CTAs of the grid, each once, and stand for all of them") {
    CHECK(rc::check("random grids", [] {
        const int ctas = *rc::gen::inRange(1, 400000);
        const auto resident = *rc::gen::inRange(1, 32);
        const Cut cut = cut_of(kernel_of(ctas, *rc::gen::inRange(1, 5000)), 132, resident);
        std::set<std::int64_t> ids;
        for (std::int64_t run = 0; run < cut.ctas(); ++run) ids.insert(cut.id(run));
        RC_ASSERT(static_cast<std::int64_t>(ids.size()) == cut.ctas());
        RC_ASSERT(*ids.begin() >= 0);
        RC_ASSERT(*ids.rbegin() < ctas);
        RC_ASSERT(std::abs(sum_of(cut) - ctas) <= 1e-9 * ctas);
    }));
}

TEST_CASE("trips that are run stand for all trips, and guards keep their period") {
    CHECK(rc::check("random loops", [] {
        Cut cut;
        cut.trips = *rc::gen::inRange(8, 100);
        const std::int64_t trips = *rc::gen::inRange(1, 100000);
        const std::int64_t period = *rc::gen::inRange(1, 9);
        const kernel::LoopPasses passes = cut.passes(trips, period);
        double sum = 0.0;
        for (std::int64_t trip = 0; trip < trips; ++trip) {
            if (trip == passes.first) trip += passes.skipped;
            sum += passes.stands_for(trip);
        }
        RC_ASSERT(std::abs(sum - static_cast<double>(trips)) <= 1e-9 * static_cast<double>(trips));
        RC_ASSERT(passes.skipped % period == 0);
        RC_ASSERT(trips - passes.skipped < cut.trips + period);
    }));
}

TEST_CASE("a cut run has about as many events as are aimed at") {
    for (const int trips : {1, 100, 100000}) {
        const kernel::Kernel kernel = kernel_of(100000, trips);
        const Cut cut = cut_of(kernel, 132, 16, 1.0, 1e5);
        CAPTURE(trips);
        CHECK_FALSE(cut.whole());
        double run = 4.0 * static_cast<double>(cut.ctas());
        if (trips > 1) run *= static_cast<double>(trips - cut.passes(trips, 1).skipped);
        CHECK(run <= 1.1e5);
    }
}

TEST_CASE("CTAs that ask one counter for their items are run whole, or refused") {
    CHECK(cut_of(kernel_of(1000, 100, "dynamic_counter"), 132, 1, 1.0, 1.0).whole());
    CHECK_THROWS_WITH_AS(static_cast<void>(cut_of(kernel_of(100000000, 100000, "dynamic_counter"), 132, 1)),
                         doctest::Contains("events"), warptime::Error);
}

TEST_CASE("CTAs of cut kernels stand for the grid, also where a wave is ragged") {
    for (const int ctas : {147, 1200, 10007}) {
        CAPTURE(ctas);
        const Cut cut = cut_of(kernel_of(ctas, 4000), 132, 1, 1e4, 1e4);
        CHECK_FALSE(cut.whole());
        CHECK(sum_of(cut) == doctest::Approx(ctas).epsilon(1e-9));
    }
}
