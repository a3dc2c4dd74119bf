// The bits of a tensor map: those that compiled code writes for PTX's tensormap.replace, and the driver's
// rules.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {

namespace {

using Words = std::array<std::uint32_t, tensor_map_bytes / sizeof(std::uint32_t)>;

Words written(const TensorMap& map) {
    Words words{};
    write_tensor_map(map, words.data());
    return words;
}

/// What code of ptxas 13.0 for sm_90a leaves in memory that was zero: an element type, a rank, and so on are
/// stored or merged into words at these bytes.
struct Store {
    std::size_t byte = 0;
    std::uint32_t mask = 0, value = 0;
};

Words stored(const std::vector<Store>& stores) {
    Words words{};
    for (const Store& store : stores) {
        std::uint32_t& word = words[store.byte / sizeof(std::uint32_t)];
        word = (word & ~store.mask) | (store.value & store.mask);
    }
    return words;
}

constexpr std::uint32_t all = 0xffffffff;

TensorMap matrix() {
    TensorMap map;
    map.address = 0x7f0012345600;
    map.rank = 2;
    map.element = TensorElement::bf16;
    map.extents = {4096, 1000, 1, 1, 1};
    map.strides = {8192};
    map.box = {64, 128, 1, 1, 1};
    map.swizzle_bytes = 128;
    return map;
}

}  // namespace

TEST_CASE("a map that compiled code of Triton makes is the one that is written") {
    // From LOP3 and STS of a product by boxes that the kernel makes, for K = 4096, M = 1000 and 64x128.
    const Words made = stored({{0x0, all, 0x12345600},
                               {0x4, all, 0x7f00},
                               {0x8, 0x70, 0x10},
                               {0x34, 0xff000000, 0x3f000000},
                               {0x38, 0xff, 0x7f},
                               {0x20, all, 4096 - 1},
                               {0x24, all, 1000 - 1},
                               {0xc, all, 8192 >> 4},
                               {0x1c, 0xf, 0},
                               {0x34, 0x7, 0},
                               {0x34, 0x38, 0},
                               {0x8, 0x780, 0x500},
                               {0x8, 0x1800, 0},
                               {0x8, 0x6000, 0x6000},
                               {0x8, 0x400000, 0},
                               {0x8, 0x8000, 0}});
    CHECK(read_tensor_map(made.data()) == matrix());
    CHECK(written(matrix()) == made);
}

TEST_CASE("each field has the bits that compiled code writes for it") {
    // The map of five dimensions that each line of PTX gives, and the stores of the line's code.
    TensorMap map;
    map.address = 0x1000;
    map.rank = 5;
    map.element = TensorElement::s64;
    map.extents = {2, 3, 4, 5, std::uint64_t{1} << 32U};
    map.strides = {0x10, 0x1000000020, 0x2000000030, 0xf000000040};
    map.box = {2, 3, 4, 5, 256};
    map.steps = {1, 2, 3, 4, 8};
    map.swizzle_bytes = 64;
    CHECK(written(map) == stored({{0x0, all, 0x1000},
                                  {0x8, 0x70, 0x40},
                                  {0x8, 0x780, 0x280},
                                  {0x8, 0x6000, 0x4000},
                                  {0x20, all, 1},
                                  {0x24, all, 2},
                                  {0x28, all, 3},
                                  {0x2c, all, 4},
                                  {0x30, all, 0xffffffff},
                                  {0xc, all, 0x1},
                                  {0x10, all, 0x2},
                                  {0x14, all, 0x3},
                                  {0x18, all, 0x4},
                                  {0x1c, 0xf, 0},
                                  {0x1c, 0xf0, 0x10},
                                  {0x1c, 0xf00, 0x200},
                                  {0x1c, 0xf000, 0xf000},
                                  {0x34, 0xff000000, 0x01000000},
                                  {0x38, 0xff, 0x2},
                                  {0x38, 0xff00, 0x300},
                                  {0x38, 0xff0000, 0x40000},
                                  {0x38, 0xff000000, 0xff000000},
                                  {0x34, 0x7, 0},
                                  {0x34, 0x38, 0x8},
                                  {0x34, 0x1c0, 0x80},
                                  {0x34, 0xe00, 0x600},
                                  {0x34, 0x7000, 0x7000}}));
    map = matrix();
    map.nan_fill = true;
    CHECK((written(map)[2] ^ written(matrix())[2]) == 0x8000);
}

TEST_CASE("a map reads back equal") {
    CHECK(rc::check("any map", [] {
        TensorMap map;
        map.address = 16 * *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 44U);
        map.rank = *rc::gen::inRange<std::uint8_t>(1, 6);
        map.element = static_cast<TensorElement>(*rc::gen::inRange(0, 10));
        map.swizzle_bytes = static_cast<std::uint8_t>(*rc::gen::element<int>(0, 32, 64, 128));
        map.nan_fill = *rc::gen::arbitrary<bool>();
        for (std::size_t d = 0; d < map.rank; ++d) {
            map.extents[d] = *rc::gen::inRange<std::uint64_t>(1, (std::uint64_t{1} << 32U) + 1);
            map.box[d] = *rc::gen::inRange<std::uint32_t>(1, 257);
            map.steps[d] = *rc::gen::inRange<std::uint32_t>(1, 9);
            if (d + 1 < map.rank) {
                map.strides[d] = 16 * *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 36U);
            }
        }
        RC_ASSERT(read_tensor_map(written(map).data()) == map);
    }));
}

TEST_CASE("other bytes are no map") {
    CHECK_FALSE(read_tensor_map(Words{}.data()));
    Words words = written(matrix());
    for (std::size_t i = 15; i < words.size(); ++i) {
        Words other = words;
        other[i] = 1;
        CHECK_FALSE(read_tensor_map(other.data()));
    }
    const std::array wrong{Store{0x0, 0xf, 0x8},           // an address that is no multiple of 16
                           Store{0x8, 0x70, 0x50},         // six dimensions
                           Store{0x8, 0x780, 13U << 7U},   // elements of 4 bits
                           Store{0x8, 0x1800, 0x800},      // interleaved
                           Store{0x8, 0x80000, 0x80000},   // atoms of 32 bytes in a swizzle
                           Store{0x8, 0x1, 0x1},           // no field
                           Store{0x1c, 0x10000, 0x10000},  // no field
                           Store{0x34, 0x8000, 0x8000}};   // no field
    for (const Store& store : wrong) {
        CAPTURE(store.byte);
        CAPTURE(store.value);
        Words other = words;
        std::uint32_t& word = other[store.byte / sizeof(std::uint32_t)];
        word = (word & ~store.mask) | store.value;
        CHECK_FALSE(read_tensor_map(other.data()));
    }
}

TEST_CASE("the rules of cuTensorMapEncodeTiled are told by name") {
    struct Broken {
        std::function<void(TensorMap&)> change;
        std::string expected;
    };
    const std::array cases{
        Broken{[](TensorMap& map) { map.rank = 0; }, "one to five dimensions"},
        Broken{[](TensorMap& map) { map.rank = 6; }, "one to five dimensions"},
        Broken{[](TensorMap& map) { map.address += 8; }, "an address that is a multiple of 16"},
        Broken{[](TensorMap& map) { map.extents[1] = 0; }, "extents from 1 to 2^32"},
        Broken{[](TensorMap& map) { map.extents[0] = (std::uint64_t{1} << 32U) + 1; },
               "extents from 1 to 2^32"},
        Broken{[](TensorMap& map) { map.box[1] = 0; }, "sides of the box from 1 to 256"},
        Broken{[](TensorMap& map) { map.box[1] = 257; }, "sides of the box from 1 to 256"},
        Broken{[](TensorMap& map) { map.steps[0] = 9; }, "steps from 1 to 8"},
        Broken{[](TensorMap& map) { map.strides[0] = 8200; }, "multiples of 16 bytes below 2^40"},
        Broken{[](TensorMap& map) { map.strides[0] = std::uint64_t{1} << 40U; },
               "multiples of 16 bytes below 2^40"},
        Broken{[](TensorMap& map) { map.swizzle_bytes = 16; }, "a swizzle of 0, 32, 64 or 128 bytes"},
        Broken{[](TensorMap& map) { map.box[0] = 60; }, "rows of the box of a multiple of 16 bytes"},
        Broken{[](TensorMap& map) { map.box[0] = 72; }, "rows of the box no longer than the swizzle"},
        Broken{[](TensorMap& map) {
                   map.element = TensorElement::u16;
                   map.nan_fill = true;
               },
               "a fill of zeros for integers"}};
    CHECK_FALSE(broken_rule(matrix()));
    for (const Broken& one : cases) {
        CAPTURE(one.expected);
        TensorMap map = matrix();
        one.change(map);
        const auto rule = broken_rule(map);
        REQUIRE(rule);
        CHECK(std::string(*rule).find(one.expected) != std::string::npos);
    }
}

TEST_CASE("a map knows the bytes of its rows, box and tensor") {
    TensorMap map = matrix();
    CHECK(map.row_bytes() == 128);
    CHECK(map.box_bytes() == 128 * 128);
    CHECK(map.tensor_bytes() == 1000 * 8192);
    map.extents[1] = std::uint64_t{1} << 32U;
    map.strides[0] = (std::uint64_t{1} << 40U) - 16;
    CHECK(map.tensor_bytes() == std::numeric_limits<std::uint64_t>::max());
    map.steps = {3, 3, 1, 1, 1};
    CHECK(map.held(0) == 64);  // Steps of the first dimension have no effect.
    CHECK(map.held(1) == 43);
    CHECK(map.box_bytes() == 128 * 43);
}

}  // namespace warptime::workloads::frontends::machine
