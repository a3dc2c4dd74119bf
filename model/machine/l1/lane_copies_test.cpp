// Demand of copies by lanes on the L1 and its array.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/lane_copies.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

using namespace warptime::model;
using namespace warptime::model::machine;

TEST_CASE("lines are asked for once each, and only ldmatrix shares the array with their tags") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    kernel::Access access;
    access.cache = kernel::CachePolicy::cg;
    Part part;
    BufferTraffic traffic;
    add_lane_copies(access, 32.0, 256.0, 4096, 10.0, true, gpu, part, traffic);
    CHECK(traffic.copied_lines == 10.0 * 64.0);
    CHECK(traffic.line_bytes == 128.0);
    const double bypassing = part.demand[Server::l1].value();
    CHECK(bypassing == doctest::Approx(64.0 * gpu.l1.line_interval.value()));
    CHECK(part.demand[Server::shared].value() == 0.0);
    // Rows of 32 bytes, less than 16 a lane: twice the lines, each put into the L1 first.
    access.cache = kernel::CachePolicy::ca;
    Part narrow;
    add_lane_copies(access, 32.0, 32.0, 4096, 10.0, false, gpu, narrow, traffic);
    CHECK(traffic.line_bytes == 32.0);
    CHECK(narrow.demand[Server::l1].value() > 0.5 * bypassing);
    CHECK(narrow.demand[Server::shared].value() > 0.0);
    Part beside_wgmma;
    add_lane_copies(access, 32.0, 32.0, 4096, 10.0, true, gpu, beside_wgmma, traffic);
    CHECK(beside_wgmma.demand[Server::l1].value() == narrow.demand[Server::l1].value());
    // Lines that enter the L1 also take the array from wgmma.
    CHECK(beside_wgmma.demand[Server::shared].value() ==
          doctest::Approx(32.0 * (1.0 + 0.5 * gpu.l1.line_interval.value())));
}

TEST_CASE("rows that begin inside of lines take two pieces where they cross one") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto demand_of = [&gpu](double row_bytes, std::int64_t pitch_bytes) {
        kernel::Access access;
        access.cache = kernel::CachePolicy::cg;
        Part part;
        BufferTraffic traffic;
        add_lane_copies(access, 32.0, row_bytes, pitch_bytes, 10.0, false, gpu, part, traffic);
        // No line is asked for more often.
        CHECK(traffic.copied_lines == doctest::Approx(320.0 * std::max(1.0, row_bytes / 128.0)));
        return part.demand;
    };
    // A pitch of 63 sectors: one of four lines' worths begins with a line.
    const double aligned = demand_of(128.0, 2048)[Server::l1].value();
    CHECK(demand_of(128.0, 2016)[Server::l1].value() == doctest::Approx(1.75 * aligned));
    CHECK(demand_of(256.0, 2016)[Server::l1].value() == doctest::Approx(3.5 * aligned));
    CHECK(demand_of(64.0, 2016)[Server::l1].value() == doctest::Approx(1.25 * aligned));
    // Each piece also takes the array.
    CHECK(demand_of(128.0, 2048)[Server::shared].value() == 0.0);
    CHECK(demand_of(128.0, 2016)[Server::shared].value() ==
          doctest::Approx(32.0 * (1.75 * gpu.shared.copy_share.value() - 1.0)));
}
