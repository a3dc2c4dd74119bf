// Grids whose CTAs differ in length by their place: their lengths, and the makespan against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/unequal_loops.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace warptime::model;
using analytical::items_of_unequal_loops;
using analytical::fixture::gpu;

/// CTAs that fill an SM each and multiply-add in a loop of `trips` trips.
kernel::Kernel triangle(std::int64_t ctas, const std::string& trips) {
    return kernel::parse_text(
        "kernel \"k\"\n  grid " + std::to_string(ctas) +
        " 1 1\n  cta 1024 1 1\n  resources registers=64\n  schedule one_per_cta tiles=" +
        std::to_string(ctas) + "\n  role \"r\" warps=32\n    loop " + trips +
        "\n      op 0 fma_f32 count=64\n    end\n  end\nend\n");
}

double seconds(const kernel::Kernel& kernel) {
    return analytical::analyse(kernel, gpu(), prediction::Conditions{}).time.value();
}

}  // namespace

TEST_CASE("each CTA has the trips of its place, in the order in which CTAs are handed out") {
    const kernel::Kernel kernel = triangle(200, "mean=399 trips={200 + 2*tile.0}");
    const auto items = items_of_unequal_loops(kernel, 399.0, 132);
    REQUIRE(items.size() == 200);
    for (std::int64_t i = 0; i < 200; ++i) CHECK(items[static_cast<std::size_t>(i)].end == 200 + 2 * i);
    CHECK(items_of_unequal_loops(triangle(200, "mean=399"), 399.0, 132).empty());
    CHECK(items_of_unequal_loops(triangle(200, "trips={399}"), 399.0, 132).empty());
    // The last CTAs of a long grid matter little.
    CHECK(items_of_unequal_loops(triangle(10000, "mean=10199 trips={200 + 2*tile.0}"), 10199.0, 132).empty());
}

TEST_CASE("a grid takes as long as list scheduling of its CTAs, and its order matters") {
    const auto sms = static_cast<std::int64_t>(gpu().sm.count.value());
    // One CTA an SM in one wave: the longest one.
    const double longest = seconds(triangle(sms, "trips={2000}"));
    const std::string up = "mean=" + std::to_string(2000.0 - 0.5 * 10.0 * static_cast<double>(sms - 1));
    const kernel::Kernel wave =
        triangle(sms, up + " trips={" + std::to_string(2000 - 10 * (sms - 1)) + " + 10*tile.0}");
    CHECK(seconds(wave) == doctest::Approx(longest).epsilon(0.01));
    // Two waves: long CTAs first fill the gaps with short ones, long ones last leave SMs idle.
    const std::int64_t ctas = 2 * sms;
    const double mean = 1000.0 + 2.0 * static_cast<double>(ctas - 1);
    const std::string head = "mean=" + std::to_string(mean);
    const std::string most = std::to_string(1000 + 4 * (ctas - 1));
    const double last = seconds(triangle(ctas, head + " trips={1000 + 4*tile.0}"));
    const double first = seconds(triangle(ctas, head + " trips={" + most + " + -4*tile.0}"));
    const double even = seconds(triangle(ctas, "trips={" + std::to_string(std::llround(mean)) + "}"));
    CHECK(first == doctest::Approx(even).epsilon(0.02));
    // SM s has CTAs s and sms + s: in all 2 x 1000 + 4 (2 s + sms) trips, most on the last SM.
    const double worst = 2000.0 + 4.0 * static_cast<double>(3 * sms - 2);
    CHECK(last / even == doctest::Approx(worst / (2.0 * mean)).epsilon(0.02));
}
