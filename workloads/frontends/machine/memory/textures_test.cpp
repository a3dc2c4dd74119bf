// Tests of where texels lie: every texel has a place of its own within the array, and neighbours share
// sectors and lines as the profiler counts them.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/memory/textures.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <set>

namespace warptime::workloads::frontends::machine {
namespace {

TexelArray blocks(std::uint32_t width, std::uint32_t height, std::uint32_t depth, int channels, int bits) {
    TexelArray array;
    array.address = 4096;
    array.layout = TexelArray::Layout::blocks;
    array.format.channels = channels;
    array.format.bits = bits;
    array.size = {width, height, depth};
    array.dimensions = depth > 1 ? 3 : 2;
    return array;
}

TEST_CASE("texels of a CUDA array have places of their own, aligned and within its bytes") {
    CHECK(rc::check([] {
        const TexelArray array =
            blocks(*rc::gen::inRange(1U, 90U), *rc::gen::inRange(1U, 150U), *rc::gen::inRange(1U, 4U),
                   *rc::gen::element(1, 2, 4), *rc::gen::element(8, 16, 32));
        const auto bytes = static_cast<std::uint64_t>(array.format.bytes());
        std::set<std::uint64_t> places;
        for (std::uint32_t z = 0; z < array.size[2]; ++z) {
            for (std::uint32_t y = 0; y < array.size[1]; ++y) {
                for (std::uint32_t x = 0; x < array.size[0]; ++x) {
                    const std::uint64_t place = array.place(x, y, z);
                    RC_ASSERT(place >= array.address);
                    RC_ASSERT(place + bytes <= array.address + array.bytes());
                    RC_ASSERT(place % bytes == 0U);
                    RC_ASSERT(places.insert(place).second);
                }
            }
        }
    }));
}

TEST_CASE("a sector of a CUDA array holds 16 bytes of two rows, a line 32 bytes of four") {
    const TexelArray array = blocks(64, 64, 1, 1, 32);
    const auto sector = [&](std::uint32_t x, std::uint32_t y) { return array.place(x, y, 0) / 32; };
    const auto line = [&](std::uint32_t x, std::uint32_t y) { return array.place(x, y, 0) / 128; };
    for (std::uint32_t y = 0; y < 64; ++y) {
        for (std::uint32_t x = 0; x < 64; ++x) {
            CHECK(sector(x, y) == sector(x / 4 * 4, y / 2 * 2));
            CHECK(line(x, y) == line(x / 8 * 8, y / 4 * 4));
        }
    }
    CHECK(sector(3, 0) != sector(4, 0));
    CHECK(sector(0, 1) != sector(0, 2));
    CHECK(line(7, 0) != line(8, 0));
    CHECK(line(0, 3) != line(0, 4));
}

TEST_CASE("lines and rows of texels lie as the program put them there") {
    TexelArray line;
    line.address = 512;
    line.format.channels = 4;
    line.size = {100, 1, 1};
    CHECK(line.bytes() == 1600);
    CHECK(line.place(7, 0, 0) == 512 + 112);
    TexelArray rows = line;
    rows.layout = TexelArray::Layout::rows;
    rows.size = {10, 5, 1};
    rows.row_bytes = 512;
    CHECK(rows.bytes() == 4 * 512 + 160);
    CHECK(rows.place(3, 2, 0) == 512 + 1024 + 48);
}

TEST_CASE("a handle names its object until it is removed") {
    TextureTable table;
    Texture texture;
    texture.array.address = 7;
    const std::uint64_t first = table.add(texture);
    texture.array.address = 8;
    const std::uint64_t second = table.add(texture);
    REQUIRE(table.find(first) != nullptr);
    CHECK(table.find(first)->array.address == 7);
    CHECK(table.remove(first));
    CHECK_FALSE(table.remove(first));
    CHECK(table.find(first) == nullptr);
    CHECK(table.find(second)->array.address == 8);
    CHECK(table.find(0) == nullptr);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
