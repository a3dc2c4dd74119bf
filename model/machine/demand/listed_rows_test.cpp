// Tests of the rows of listed accesses: bytes of elements, lanes that take no part, and the rows of one list.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/listed_rows.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

TEST_CASE("a listed row holds the bytes of the lanes that take part") {
    kernel::Kernel k;
    kernel::Buffer buffer;
    buffer.dtype = hw::Dtype::fp64;
    k.buffers.push_back(buffer);
    // Of another access; then two rows. Lane 3 of the first row and all but lane 0 of the second are off.
    k.address_list = {77, 78};
    for (std::int64_t lane = 0; lane < lanes_per_warp; ++lane) {
        k.address_list.push_back(lane == 3 ? -1 : 10 * lane);
    }
    for (std::int64_t lane = 0; lane < lanes_per_warp; ++lane) k.address_list.push_back(lane == 0 ? 5 : -1);
    kernel::Access access;
    access.buffer = 0;
    access.pool_first = 2;
    access.pool_length = 2 * lanes_per_warp;
    REQUIRE(listed_rows(access) == 2);
    const ListedRow first = listed_row(k, access, 0);
    CHECK(first.mask == (all_lanes & ~(1U << 3U)));
    for (std::size_t lane = 0; lane < first.at.size(); ++lane) {
        CHECK(first.at[lane] == (lane == 3 ? 0 : 80 * static_cast<std::int64_t>(lane)));
    }
    const ListedRow second = listed_row(k, access, 1);
    CHECK(second.mask == 1U);
    CHECK(second.at[0] == 40);
}

}  // namespace
}  // namespace warptime::model::machine
