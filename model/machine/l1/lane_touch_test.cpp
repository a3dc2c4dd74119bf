// Sectors, lines and passes that each lane pattern touches, worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/lane_touch.hpp"

#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

struct Case {
    kernel::Kernel kernel;
    kernel::Access access;
    Case() {
        kernel::Builder build(kernel);
        const kernel::Id x = build.buffer(kernel::examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
        access = kernel::examples::lanes(x, kernel::Direction::read, kernel::Builder::constant(0), 4);
    }
    MemoryPieces pieces{32.0, 64.0, 128.0, {32, 4}};
    [[nodiscard]] LaneTouch touch(double active = 1.0) const {
        return touch_of(kernel, access, active, pieces);
    }
};

}  // namespace

TEST_CASE("lanes side by side, one address for all, and every lane in a line of its own") {
    Case c;
    CHECK(c.touch().sectors == 4.0);
    CHECK(c.touch().lines == 1.0);
    CHECK(c.touch(0.25).sectors == 1.0);
    c.access.pattern = kernel::PatternKind::broadcast;
    CHECK(c.touch().sectors == 1.0);
    c.access.pattern = kernel::PatternKind::stride;
    c.access.inner_extent = 32;
    c.access.inner = 32;  // 128 bytes apart
    CHECK(c.touch().lines == 32.0);
    CHECK(c.touch().granules == 32.0);
    CHECK(c.touch().passes == 32.0);  // all in one bank
}

TEST_CASE("listed addresses are those of the list; random ones fill a window and no more") {
    Case c;
    c.access.pattern = kernel::PatternKind::listed;
    c.access.pool_length = 32;
    for (std::int64_t lane = 0; lane < 32; ++lane) c.kernel.address_list.push_back(lane / 16 * 32);
    CHECK(c.touch().lines == 2.0);
    c.access.pattern = kernel::PatternKind::random;
    c.access.distinct = 1 << 20;
    const LaneTouch wide = c.touch();
    CHECK(wide.lines > 31.0);
    CHECK(wide.lines <= 32.0);
    c.access.distinct = 64;  // two lines
    CHECK(c.touch().lines <= 2.0);
    CHECK(c.touch().lines > 1.9);
}

}  // namespace warptime::model::machine
