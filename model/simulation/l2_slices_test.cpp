// Slices of the L2: the full rate, visits by partition, and lines that many ask for.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/l2_slices.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace hw = warptime::hw;
using namespace warptime::model::simulation;

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

constexpr double byte = 1.5e-4;
constexpr double line = 128.0;

double work(L2Slices& slices) {
    double sum = 0.0;
    for (const Server& slice : slices.servers()) sum += cycles_of(slice.busy());
    return sum / static_cast<double>(slices.servers().size());
}

}  // namespace

TEST_CASE("lines cost the slices 1.5 visits on average, and all slices alike") {
    for (const double share : {1.0, 0.25}) {
        L2Slices slices(gpu(), share);
        constexpr int count = 200000;
        int far = 0;
        for (int i = 0; i < count; ++i) {
            far += slices.pass({static_cast<std::uint64_t>(i) * 1280}, line, byte, i % 132, 0).far ? 1 : 0;
        }
        CHECK(static_cast<double>(far) / count == doctest::Approx(0.5).epsilon(0.02));
        const double even = 1.5 * count * line * byte / share;
        CHECK(work(slices) == doctest::Approx(even).epsilon(0.01));
        Ticks fullest = 0;
        for (const Server& slice : slices.servers()) fullest = std::max(fullest, slice.busy());
        CHECK(cycles_of(fullest) < 1.1 * even);
    }
}

TEST_CASE("a box of many lines fills all slices evenly, in the time of its bytes") {
    L2Slices slices(gpu(), 1.0);
    const Ticks end = slices.pass({5}, 1e6, byte, 3, 0).end;
    CHECK(cycles_of(end) == doctest::Approx(1.5e6 * byte));
    CHECK(work(slices) == doctest::Approx(1.5e6 * byte));
}

TEST_CASE("requests for one line wait at its slice, others pass") {
    L2Slices slices(gpu(), 1.0);
    const double each = line * byte * static_cast<double>(slices.servers().size());
    Ticks last = 0;
    for (int sm = 0; sm < 100; ++sm) last = std::max(last, slices.pass({42}, line, byte, sm, 0).end);
    CHECK(cycles_of(last) >= 100.0 * each * (1.0 - 1e-6));
    CHECK(cycles_of(slices.take_in({4242}, line, byte, 0)) <= 100.0 * each);
}
