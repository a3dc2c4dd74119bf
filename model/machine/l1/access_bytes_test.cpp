// Bytes of accesses, averaged over the items, by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/access_bytes.hpp"

#include "model/kernel/examples/parts.hpp"
#include "model/machine/demand/buffer_traffic.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {

TEST_CASE("boxes of a matrix that they do not divide: full with padding, inside without") {
    kernel::Kernel kernel;
    kernel::Builder build(kernel);
    const kernel::Id x = build.buffer(kernel::examples::matrix("x", hw::Dtype::bf16, 100, 96));
    kernel.schedule.tiles = {2, 3, 1, 1};
    const kernel::Access box = kernel::examples::box(
        x, kernel::Direction::read,
        {build.variable(kernel::Variable::tile, 64, 0), build.variable(kernel::Variable::tile, 32, 1)},
        {64, 32});
    const AccessBytes bytes = access_bytes(kernel, box);
    CHECK(bytes.full == 64.0 * 32 * 2);
    CHECK(bytes.inside == doctest::Approx(bytes.full * 100.0 / 128.0));
    CHECK(bytes.rows == 32.0);
    CHECK(bytes.row_bytes == 128.0);
    CHECK(bytes.pitch_bytes == 200);
    // The access follows both tile coordinates, and no split.
    BufferTraffic traffic;
    note_dependence(kernel::origin_of(kernel, box), traffic);
    CHECK(traffic.along_m);
    CHECK(traffic.along_n);
    CHECK_FALSE(traffic.along_split);
}

TEST_CASE("rows that a loop walks along go on in the next trip, those across it do not") {
    kernel::Kernel kernel;
    kernel::Builder build(kernel);
    const kernel::Id x = build.buffer(kernel::examples::matrix("x", hw::Dtype::bf16, 1024, 1024));
    const kernel::Index moving = build.variable(kernel::Variable::loop, 32, 0);
    const kernel::Index still = build.variable(kernel::Variable::tile, 64, 0);
    const auto continued = [&](const kernel::Index& along, const kernel::Index& across) {
        return access_bytes(kernel,
                            kernel::examples::box(x, kernel::Direction::read, {along, across}, {32, 64}))
            .continued;
    };
    CHECK(continued(moving, still));
    CHECK_FALSE(continued(still, moving));
}

TEST_CASE("copies of half a sector a lane are served as rows on sectors") {
    AccessBytes bytes;
    bytes.rows = 128.0;
    bytes.row_bytes = 64.0;
    bytes.pitch_bytes = 752;
    const AccessBytes off = bytes.on_sectors(32.0);
    CHECK(off.rows == 192.0);
    CHECK(off.pitch_bytes % 32 == 0);
    bytes.pitch_bytes = 800;
    CHECK(bytes.on_sectors(32.0).rows == 128.0);
    CHECK(bytes.on_sectors(32.0).pitch_bytes == 800);
}

}  // namespace warptime::model::machine
