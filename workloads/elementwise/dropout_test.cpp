// Dropout: a grid that fills the GPU and no more, its trips, and vectors that do not divide.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/dropout.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

using namespace warptime::workloads;
using fixture::lowered;
using fixture::moved;
namespace mk = warptime::model::kernel;

TEST_CASE("the grid has a CTA for 256 elements, up to eight an SM, and goes over the rest in trips") {
    CHECK(rc::check("any length", [] {
        const auto n = *rc::gen::inRange<std::int64_t>(1, 3000000);
        const mk::Kernel kernel =
            lowered("dropout", {{"n", std::to_string(n)}, {"dtype", "fp32"}}).kernels[0];
        const std::int64_t ctas = std::min<std::int64_t>(132 * 8, (n + 255) / 256);
        RC_ASSERT(kernel.grid.x == ctas);
        RC_ASSERT(kernel.cta.x == 256);
        // Four elements a thread and trip: loads of the first CTA, one for each vector or element.
        const std::int64_t step = ctas * 256 * 4;
        const double loads = fixture::by_mean_trips(kernel, [](const mk::Kernel& k) {
            return mk::walk_totals(k, mk::WorkItem{})
                .instructions_of(warptime::hw::InstructionClass::ld_global);
        });
        // Elements one by one take whole trips; vectors end with the warp that holds the last one.
        const std::int64_t whole = (n + step - 1) / step;
        const std::int64_t warps = (n + 127) / 128;
        const bool vectors = n % 4 == 0;
        const double trips = vectors && whole > 1
                                 ? static_cast<double>(warps * 128) / static_cast<double>(step)
                                 : static_cast<double>(whole);
        RC_ASSERT(loads == 8.0 * trips * (vectors ? 1.0 : 4.0));
    }));
}

TEST_CASE("a byte of the mask is written for each element") {
    for (const auto& [dtype, bytes] : {std::pair{"fp32", 4.0}, std::pair{"bf16", 2.0}}) {
        for (const int n : {8192, 8191}) {
            const mk::Kernel kernel =
                lowered("dropout", {{"n", std::to_string(n)}, {"dtype", dtype}}).kernels[0];
            CHECK(moved(kernel, "mask", mk::Direction::write) == n);
            CHECK(moved(kernel, "a", mk::Direction::read) == n * bytes);
            CHECK(moved(kernel, "out", mk::Direction::write) == n * bytes);
        }
    }
}

TEST_CASE("the ideal kernel has the same random numbers for each element") {
    const auto integers = [](const char* implementation) {
        const mk::Program program =
            lowered("dropout", {{"n", "8388608"}, {"dtype", "fp32"}, {"implementation", implementation}});
        const mk::Kernel& kernel = program.kernels[0];
        const double each = mk::walk_totals(kernel, mk::WorkItem{})
                                .instructions_of(warptime::hw::InstructionClass::mad_wide_s32);
        return each * static_cast<double>(kernel.grid.x) * 32 / 8388608.0;
    };
    // 22 wide products for four elements (machine code); PyTorch's thread takes 20 more as it starts.
    const double ideal = integers("ideal");
    CHECK(ideal == doctest::Approx(22.0 / 4).epsilon(0.001));
    // The first CTA makes each of eight trips, of which the grid needs 7.76 on average.
    const double trip = 132.0 * 8 * 256 * 4;
    CHECK(integers("torch") ==
          doctest::Approx(ideal * 8 * trip / 8388608 + 20.0 * 132 * 8 * 256 / 8388608).epsilon(0.001));
}
