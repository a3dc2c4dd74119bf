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

}  // namespace warptime::workloads::frontends
