// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/item_demand.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

namespace warptime::model::analytical {

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
    // Its place follows both tile coordinates, and no split.
    BufferTraffic traffic;
    note_dependence(origin_of(kernel, box), traffic);
    CHECK(traffic.along_m);
    CHECK(traffic.along_n);
    CHECK_FALSE(traffic.along_split);
}

}  // namespace warptime::model::analytical
