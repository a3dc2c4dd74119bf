// Load of the fullest L2 slice, against lines thrown at slices at random.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/uneven_slices.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace machine = warptime::model::machine;
namespace hw = warptime::hw;

TEST_CASE("lines that fall on slices by chance fill the fullest as the law says") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const auto slices = static_cast<std::size_t>(std::lround(gpu.l2.slices.value() * gpu.sm.count.value()));
    std::mt19937_64 source(11);
    std::uniform_int_distribution<std::size_t> anywhere(0, slices - 1);
    for (const std::size_t lines : {std::size_t{2048}, std::size_t{16384}}) {
        double sum = 0.0;
        constexpr int turns = 200;
        for (int turn = 0; turn < turns; ++turn) {
            std::vector<int> filled(slices, 0);
            for (std::size_t i = 0; i < lines; ++i) ++filled[anywhere(source)];
            sum += *std::max_element(filled.begin(), filled.end());
        }
        const double found = sum / turns / (static_cast<double>(lines) / static_cast<double>(slices));
        const hw::Bytes bytes(static_cast<double>(lines) * gpu.l1.line.value());
        const double law = 1.0 + machine::beyond_even(bytes, gpu).value() / bytes.value();
        CHECK(law == doctest::Approx(found).epsilon(0.05));
    }
}

TEST_CASE("long streams fill slices evenly, and nothing fills none") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    CHECK(machine::beyond_even(hw::Bytes(1e9), gpu).value() < 1e7);
    CHECK(machine::beyond_even(hw::Bytes(0.0), gpu).value() == 0.0);
}
