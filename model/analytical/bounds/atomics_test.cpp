// Atomics on one word, on many, and the way back. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/bounds/atomics.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace analytical = warptime::model::analytical;
namespace memory = warptime::model::memory;

TEST_CASE("one word costs a pass for every lane, one after another") {
    const auto gpu = hw::load_gpu("h200-sxm");
    analytical::AtomicTraffic one;
    one.part = 32.0;
    one.window = {0.0, 4.0};
    const double integers = analytical::atomic_cycles(one, 100.0, gpu).value();
    CHECK(integers == doctest::Approx(100.0 * memory::slice_cycles(0.0, 32.0, gpu).value()));
    one.ordered = 32.0;
    CHECK(analytical::atomic_cycles(one, 100.0, gpu).value() > 2.0 * integers);
}

TEST_CASE("many lines share the passes among all slices, and what returns may take longer") {
    const auto gpu = hw::load_gpu("h200-sxm");
    analytical::AtomicTraffic many;
    many.whole = 4.0;
    many.window = {0.0, 1e9};
    many.sectors = 1e9 / 32.0;
    const double alone = memory::slice_cycles(4.0, 0.0, gpu).value();
    const double shared = analytical::atomic_cycles(many, 1000.0, gpu).value();
    CHECK(shared == doctest::Approx(1000.0 * alone / memory::slices_of(gpu)).epsilon(0.001));
    many.returned = 4.0;
    CHECK(analytical::atomic_cycles(many, 1000.0, gpu).value() > shared);
}
