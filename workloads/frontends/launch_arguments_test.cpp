// What users write for the shape and the arguments of a launch, and how it fills the parameters.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/launch_arguments.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace warptime::workloads::frontends {

namespace {

template <class T>
T at(const std::vector<std::byte>& bytes, std::size_t offset) {
    T value;
    REQUIRE(offset + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

machine::Function function_of(std::vector<machine::Parameter> parameters) {
    machine::Function function;
    function.name = "f";
    function.parameters = std::move(parameters);
    for (const machine::Parameter& parameter : function.parameters) {
        function.parameter_bytes = std::max(function.parameter_bytes, parameter.offset + parameter.bytes);
    }
    return function;
}

void refuses(const char* text, const char* expected) {
    CAPTURE(text);
    try {
        (void)parse_arguments(text);
        FAIL("was taken");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find(expected) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("a shape has one to three sizes") {
    CHECK(parse_shape("grid", "7") == std::array<std::uint32_t, 3>{7, 1, 1});
    CHECK(parse_shape("grid", "7x5") == std::array<std::uint32_t, 3>{7, 5, 1});
    CHECK(parse_shape("grid", "2147483647x1x3") == std::array<std::uint32_t, 3>{2147483647, 1, 3});
    for (const char* wrong : {"", "0", "-1", "2x", "x2", "1x2x3x4", "2147483648", "1.5", "3 "}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS((void)parse_shape("grid", wrong), Error);
    }
}

TEST_CASE("arguments are buffers and numbers") {
    const auto arguments = parse_arguments("buffer:4096 buffer:16:random  -3 1.5f 2.0 buffer:8:iota");
    REQUIRE(arguments.size() == 6);
    CHECK(arguments[0].buffer);
    CHECK(arguments[0].bytes == 4096);
    CHECK(arguments[0].contents == BufferContents::zeros);
    CHECK(arguments[1].contents == BufferContents::random);
    CHECK(arguments[2].integer == -3);
    CHECK(arguments[3].real);
    CHECK(arguments[3].value == doctest::Approx(1.5));
    CHECK(arguments[4].real);
    CHECK(arguments[5].contents == BufferContents::iota);
    CHECK(parse_arguments("").empty());
}

TEST_CASE("an argument of another form is refused by name") {
    refuses("buffer:", "buffer:BYTES");
    refuses("buffer:x", "buffer:BYTES");
    refuses("buffer:-1", "buffer:BYTES");
    refuses("buffer:16:ones", "zeros|random|iota|file=PATH");
    refuses("one", "one");
    refuses("1.5.2", "1.5.2");
}

TEST_CASE("arguments fill the parameters at their offsets, and trailing pointers are null") {
    machine::DeviceMemory memory(1U << 20U);
    const auto function = function_of({{0, 8}, {8, 4}, {12, 4}, {16, 8}});
    const auto bytes = place_arguments(parse_arguments("buffer:64:iota 7 1.5"), function, memory);
    REQUIRE(bytes.size() == 24);
    const auto address = at<std::uint64_t>(bytes, 0);
    const machine::Allocation* const buffer = memory.find(address);
    REQUIRE(buffer != nullptr);
    CHECK(buffer->bytes == 64);
    std::uint32_t second = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the arena is this process's.
    std::memcpy(&second, reinterpret_cast<const std::byte*>(address) + 4, sizeof second);
    CHECK(second == 1);
    CHECK(at<std::int32_t>(bytes, 8) == 7);
    CHECK(at<float>(bytes, 12) == 1.5F);
    CHECK(at<std::uint64_t>(bytes, 16) == 0);
}

TEST_CASE("arguments that do not fit the parameters are refused") {
    machine::DeviceMemory memory(1U << 20U);
    const auto function = function_of({{0, 8}, {8, 4}});
    CHECK_THROWS_WITH_AS((void)place_arguments(parse_arguments("buffer:64"), function, memory),
                         doctest::Contains("only trailing pointers"), Error);
    CHECK_THROWS_WITH_AS((void)place_arguments(parse_arguments("buffer:64 1 2"), function, memory),
                         doctest::Contains("at most the 2 parameters"), Error);
    CHECK_THROWS_WITH_AS((void)place_arguments(parse_arguments("buffer:64 buffer:64"), function, memory),
                         doctest::Contains("no pointer"), Error);
}

TEST_CASE("a tensor map has a buffer, and its dimensions from the fastest") {
    const auto arguments = parse_arguments(
        "map:33554432:random:bf16:4096x2048:8192:64x128:128 "
        "map:4096:file=/a:b:f32:1024::256:0 "
        "map:7680:iota:u8:64x2x3x4x5:64x128x384x1536:64x1x2x3x4:64");
    REQUIRE(arguments.size() == 3);
    CHECK(arguments[0].buffer);
    CHECK(arguments[0].bytes == 33554432);
    CHECK(arguments[0].contents == BufferContents::random);
    REQUIRE(arguments[0].map);
    const machine::TensorMap& map = *arguments[0].map;
    CHECK(map.rank == 2);
    CHECK(map.element == machine::TensorElement::bf16);
    CHECK(map.extents == std::array<std::uint64_t, 5>{4096, 2048, 1, 1, 1});
    CHECK(map.strides == std::array<std::uint64_t, 4>{8192});
    CHECK(map.box == std::array<std::uint32_t, 5>{64, 128, 1, 1, 1});
    CHECK(map.steps == std::array<std::uint32_t, 5>{1, 1, 1, 1, 1});
    CHECK(map.swizzle_bytes == 128);
    CHECK_FALSE(map.nan_fill);
    CHECK(arguments[1].path == "/a:b");
    CHECK(arguments[1].map->rank == 1);
    CHECK(arguments[2].contents == BufferContents::iota);
    CHECK(arguments[2].map->rank == 5);
    CHECK(arguments[2].map->strides == std::array<std::uint64_t, 4>{64, 128, 384, 1536});
}

TEST_CASE("a tensor map of another form is refused with the form or the rule that it breaks") {
    constexpr const char* form = "map:BYTES:CONTENTS:TYPE:EXTENTS:STRIDES:BOX:SWIZZLE";
    for (const char* text : {"map:", "map:65536", "map:65536:random:bf16:64x64:128:64x64", "map::::::"}) {
        refuses(text, form);
    }
    refuses("map:0:random:bf16:64x64:128:64x64:128", "a number of BYTES from 1");
    refuses("map:many:random:bf16:64x64:128:64x64:128", "a number of BYTES from 1");
    refuses("map:65536::bf16:64x64:128:64x64:128", "file=PATH as CONTENTS");
    refuses("map:65536:ones:bf16:64x64:128:64x64:128", "file=PATH as CONTENTS");
    refuses("map:65536:random:fp8:64x64:128:64x64:128", "f64 or bf16 as TYPE");
    refuses("map:65536:random:bf16::128:64x64:128", "one to five EXTENTS");
    refuses("map:65536:random:bf16:64x:128:64x64:128", "one to five EXTENTS");
    refuses("map:65536:random:bf16:1x1x1x1x1x1:128:64x64:128", "one to five EXTENTS");
    refuses("map:65536:random:bf16:64x64::64x64:128", "1 STRIDES in bytes, one less than EXTENTS");
    refuses("map:65536:random:bf16:64x64:2x128:64x64:128", "1 STRIDES in bytes, one less than EXTENTS");
    refuses("map:65536:random:bf16:64x64:128:64:128", "2 sides of the BOX, as many as EXTENTS");
    refuses("map:65536:random:bf16:0x64:128:64x64:128", "extents from 1 to 2^32");
    refuses("map:65536:random:bf16:64x64:136:64x64:128", "multiples of 16 bytes");
    refuses("map:65536:random:bf16:64x64:128:64x257:128", "sides of the box from 1 to 256");
    refuses("map:65536:random:bf16:64x64:128:64x4294967360:128", "sides of the box from 1 to 256");
    refuses("map:65536:random:bf16:64x64:128:60x64:128", "rows of the box of a multiple of 16 bytes");
    refuses("map:65536:random:bf16:64x64:128:64x64:64", "no longer than the swizzle");
    refuses("map:65536:random:bf16:64x64:128:64x64:B", "a SWIZZLE of 0, 32, 64 or 128 bytes");
    refuses("map:65536:random:bf16:64x64:128:64x64:384", "a swizzle of 0, 32, 64 or 128 bytes");
    refuses("map:8191:random:bf16:64x64:128:64x64:128", "at least 8192 BYTES");
    refuses("tensor:1", form);
}

TEST_CASE("a tensor map fills a parameter of 128 bytes, and no other does") {
    machine::DeviceMemory memory(1U << 20U);
    const auto function = function_of({{0, 8}, {64, 128}, {192, 4}});
    const auto bytes = place_arguments(parse_arguments("buffer:64 map:8192:iota:bf16:64x64:128:64x32:128 7"),
                                       function, memory);
    REQUIRE(bytes.size() == 196);
    const auto map = machine::read_tensor_map(bytes.data() + 64);
    REQUIRE(map);
    const machine::Allocation* const buffer = memory.find(map->address);
    REQUIRE(buffer != nullptr);
    CHECK(buffer->bytes == 8192);
    std::uint32_t second = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the memory documents.
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the arena is this process's.
    std::memcpy(&second, reinterpret_cast<const std::byte*>(map->address) + 4, sizeof second);
    CHECK(second == 1);
    CHECK(map->box[1] == 32);
    CHECK(at<std::int32_t>(bytes, 192) == 7);
    CHECK_THROWS_WITH_AS(
        (void)place_arguments(parse_arguments("map:8192:iota:bf16:64x64:128:64x32:128"), function, memory),
        doctest::Contains("parameter 1 is no tensor map"), Error);
    CHECK_THROWS_WITH_AS((void)place_arguments(parse_arguments("buffer:64 buffer:64"), function, memory),
                         doctest::Contains("a value of 128 bytes: parameter 2 is no pointer"), Error);
    CHECK_THROWS_WITH_AS((void)place_arguments(parse_arguments("buffer:64 5"), function, memory),
                         doctest::Contains("a value of 128 bytes, as map:BYTES:CONTENTS"), Error);
}

}  // namespace warptime::workloads::frontends
