// L1 data path: requests times their interval, hits, and rows of copies.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

TEST_CASE("every warp-wide request takes one interval") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.request_interval = warptime::hw::Cycles(6.0);
    CHECK(warptime::model::machine::l1_cycles(50.0, gpu).value() == doctest::Approx(300.0));
    CHECK(warptime::model::machine::l1_cycles(0.0, gpu).value() == 0.0);
}

TEST_CASE("rows are copied by the line") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.line_interval = warptime::hw::Cycles(1.4);
    using warptime::model::machine::l1_line_cycles;
    CHECK(l1_line_cycles(100.0, 32.0, gpu).value() == doctest::Approx(140.0));
    CHECK(l1_line_cycles(100.0, 64.0, gpu).value() == doctest::Approx(140.0));
    CHECK(l1_line_cycles(100.0, 128.0, gpu).value() == doctest::Approx(140.0));
    CHECK(l1_line_cycles(100.0, 256.0, gpu).value() == doctest::Approx(280.0));
}

TEST_CASE("narrow copies take longer for each of their sectors") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto narrow = [&gpu](double rows, double row_bytes) {
        return warptime::model::machine::narrow_line_cycles(rows, row_bytes, gpu).value();
    };
    CHECK(narrow(1.0, 64.0) == doctest::Approx(gpu.l1.line_interval.value()));
    CHECK(narrow(8.0, 64.0) == doctest::Approx(8.0 * narrow(1.0, 64.0)));
    CHECK(narrow(8.0, 32.0) == doctest::Approx(4.0 * narrow(1.0, 64.0)));
    CHECK(narrow(8.0, 256.0) == doctest::Approx(32.0 * narrow(1.0, 64.0)));
    // A row counts as one sector at least.
    CHECK(narrow(8.0, 16.0) == narrow(8.0, 32.0));
}

TEST_CASE("copies of short rows take most of a pass for each, of long rows nothing beyond their bytes") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.shared.copy_share = warptime::hw::Number(0.7);
    using warptime::model::machine::short_row_cycles;
    CHECK(short_row_cycles(8.0, 32.0, 1.0, gpu).value() == doctest::Approx(8.0 * 0.45));
    CHECK(short_row_cycles(8.0, 64.0, 1.0, gpu).value() == doctest::Approx(8.0 * 0.2));
    CHECK(short_row_cycles(8.0, 128.0, 1.0, gpu).value() == 0.0);
    CHECK(short_row_cycles(8.0, 256.0, 2.0, gpu).value() == 0.0);
}

TEST_CASE("a load that hits takes its passes, or its lines as fast as the tags look them up") {
    auto gpu = warptime::hw::load_gpu("h200-sxm");
    gpu.l1.tags = warptime::hw::PerCycle(4.0);
    warptime::model::machine::LaneTouch touch;
    touch.lines = 32.0;
    touch.passes = 1.0;
    CHECK(warptime::model::machine::hit_cycles(touch, gpu) == 8.0);
    touch.passes = 16.0;
    CHECK(warptime::model::machine::hit_cycles(touch, gpu) == 16.0);
}
