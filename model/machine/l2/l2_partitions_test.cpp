// Slice visits of one and two partitions, against a count over every line and requester.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_partitions.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace warptime;

namespace {

/// Counted law: lines at home in a random partition, requests from random sides.
double counted(int partitions, int lines, int requests_per_line) {
    std::mt19937 random(7);
    int crossed = 0;
    for (int line = 0; line < lines; ++line) {
        const auto home = random() % static_cast<std::uint32_t>(partitions);
        std::vector<bool> has(static_cast<std::size_t>(partitions), false);
        for (int request = 0; request < requests_per_line; ++request) {
            const auto side = random() % static_cast<std::uint32_t>(partitions);
            if (side != home && !has[side]) ++crossed;
            has[side] = true;
        }
    }
    return static_cast<double>(crossed) / lines;
}

}  // namespace

TEST_CASE("a partition asks a line's home once, whatever its SMs ask for later") {
    auto gpu = hw::load_gpu("h200-sxm");
    CHECK(gpu.l2.partitions.value() == 2.0);
    CHECK(model::machine::slice_visits(gpu) == 1.5);
    CHECK(model::machine::crossings(100.0, 100.0, gpu) == doctest::Approx(50.0));
    CHECK(model::machine::crossings(1e6, 100.0, gpu) == doctest::Approx(100.0));
    CHECK(model::machine::crossings(0.0, 0.0, gpu) == 0.0);
    for (const int partitions : {1, 2, 4}) {
        gpu.l2.partitions = hw::Number(partitions);
        for (const int each : {1, 2, 3, 8}) {
            CHECK(model::machine::crossings(1.0 * each, 1.0, gpu) ==
                  doctest::Approx(counted(partitions, 20000, each)).epsilon(0.03));
        }
        CHECK(model::machine::slice_visits(gpu) ==
              doctest::Approx(1.0 + model::machine::crossings(1.0, 1.0, gpu)));
    }
}
