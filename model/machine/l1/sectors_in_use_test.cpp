// Sectors of a line that listed places ask for, worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/sectors_in_use.hpp"

#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace warptime::model::machine {
namespace {

/// Sectors in use of words at these elements of a line or further lines; -1 is a lane that is off.
std::uint32_t in_use(const std::vector<std::int64_t>& elements, std::int64_t of_tile = 0,
                     std::int64_t constant = 0, std::int32_t bytes = 4) {
    kernel::Kernel kernel;
    kernel::Builder build(kernel);
    const kernel::Id x = build.buffer(kernel::examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
    const kernel::Index origin =
        of_tile == 0 ? kernel::Builder::constant(constant) : build.variable(kernel::Variable::tile, of_tile);
    kernel::Access access = kernel::examples::lanes(x, kernel::Direction::read, origin, 4);
    access.bytes = bytes;
    access.pattern = kernel::PatternKind::listed;
    access.pool_length = 32;
    for (std::size_t lane = 0; lane < 32; ++lane)
        kernel.address_list.push_back(lane < elements.size() ? elements[lane] : -1);
    const MemoryPieces pieces{32.0, 64.0, 128.0, {32, 4}};
    return sectors_in_use(kernel, access, pieces);
}

TEST_CASE("a field of structures of a line is in one sector, of half a line in two") {
    CHECK(in_use({0, 32, 96}) == 0b0001U);
    CHECK(in_use({8, 40, 104}) == 0b0010U);
    CHECK(in_use({0, 16, 32}) == 0b0101U);
    CHECK(in_use({0, 8, 48, 120}) == 0b1111U);
}

TEST_CASE("wide words reach into the next sector, and lanes that are off ask for none") {
    CHECK(in_use({6}, 0, 0, 16) == 0b0011U);
    CHECK(in_use({31}, 0, 0, 8) == 0b1001U);
    CHECK(in_use({-1, -1, 24}) == 0b1000U);
}

TEST_CASE("origins count: a constant shifts, CTAs that begin at whole lines change nothing, others all") {
    CHECK(in_use({0}, 0, 8) == 0b0010U);
    CHECK(in_use({0}, 64) == 0b0001U);
    CHECK(in_use({0}, 8) == 0b1111U);
}

}  // namespace
}  // namespace warptime::model::machine
