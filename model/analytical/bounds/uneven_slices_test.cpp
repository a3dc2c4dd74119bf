// The fullest of the L2's slices, against lines thrown at them. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/bounds/uneven_slices.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace analytical = warptime::model::analytical;
namespace hw = warptime::hw;

TEST_CASE("lines that fall on slices by chance fill the fullest as the law says") {
    const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
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
        const hw::Bytes<double> bytes(static_cast<double>(lines) * gpu.l1.line.value());
        const double law = 1.0 + analytical::beyond_even(bytes, gpu).value() / bytes.value();
        CHECK(law == doctest::Approx(found).epsilon(0.05));
    }
}

TEST_CASE("long streams fill slices evenly, and nothing fills none") {
    const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
    CHECK(analytical::beyond_even(hw::Bytes<double>(1e9), gpu).value() < 1e7);
    CHECK(analytical::beyond_even(hw::Bytes<double>(0.0), gpu).value() == 0.0);
}
