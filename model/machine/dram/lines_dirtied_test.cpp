// Bytes of a buffer that can leave the L2 dirty, in limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/lines_dirtied.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace warptime::model::machine {
namespace {

const hw::Gpu& h100() {
    static const hw::Gpu gpu = hw::load_gpu("h100-sxm");
    return gpu;
}

TEST_CASE("a buffer that is written once leaves once; small ones stay however often they are written") {
    CHECK(lines_dirtied(3e8, 1e9, h100()) == 3e8);
    CHECK(lines_dirtied(1e9, 1e6, h100()) < 1.1e6);
}

TEST_CASE(
    "of a buffer far larger than the L2 nearly every write leaves, unless they follow one another nearby") {
    const double room = dirty_capacity_of(h100()).value();
    const double whole = 100.0 * room;
    CHECK(lines_dirtied(4.0 * whole, whole, h100()) > 3.9 * whole);
    CHECK(lines_dirtied(4.0 * whole, whole, h100(), 0.001 * room) < 1.01 * whole);
}

TEST_CASE("more lines leave the wider the places lie, and never more than are written") {
    CHECK(rc::check("bounds", [] {
        const double room = dirty_capacity_of(h100()).value();
        const double whole = *rc::gen::inRange(1, 10000) * 0.01 * room;
        const double written = whole * (1.0 + *rc::gen::inRange(0, 100) * 0.1);
        const double apart = whole * *rc::gen::inRange(1, 100) * 0.01;
        const double all = lines_dirtied(written, whole, h100());
        const double near = lines_dirtied(written, whole, h100(), apart);
        RC_ASSERT(near <= all * (1.0 + 1e-12));
        RC_ASSERT(near >= whole * (1.0 - 1e-12));
        RC_ASSERT(all <= written * (1.0 + 1e-12));
    }));
}

}  // namespace
}  // namespace warptime::model::machine
