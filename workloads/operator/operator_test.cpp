// Answers of an operator's record: parameters by any spelling, defaults, unused parameters, memory.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator/operator.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace warptime::workloads;
using warptime::Error;

namespace {

constexpr std::array<ParameterInfo, 3> parameters{
    required_size("n", "elements"),
    ParameterInfo{"cta_tile", ParameterKind::extent3, false, "", {}, "tile of a CTA", false, "tile"},
    ParameterInfo{"stages", ParameterKind::integer, false, "3", {}, "stages of the ring", false}};

std::string tile_of(const Operation& operation, std::string_view) {
    return operation.parameters.at("n") == "64" ? "64x64x32" : "";
}

std::string why_unused(const Operation& operation, std::string_view parameter) {
    const bool tiled = operation.parameters.contains("cta_tile");
    return parameter == "stages" && !tiled ? "a cta_tile, whose stages they are" : "";
}

OperatorInfo streams() {
    OperatorInfo info{};
    info.name = "stream";
    info.parameters = parameters;
    info.why_unused = why_unused;
    return info;
}

}  // namespace

TEST_CASE("a parameter is found by name or alias, in any case") {
    CHECK(find_parameter(parameters, "cta_tile") == &parameters[1]);
    CHECK(find_parameter(parameters, "CTA-Tile") == &parameters[1]);
    CHECK(find_parameter(parameters, "Tile") == &parameters[1]);
    CHECK(find_parameter(parameters, "") == nullptr);
    CHECK(find_parameter(parameters, "tiles") == nullptr);
}

TEST_CASE("a default stands in the record, or follows from the others") {
    const Operation operation{"stream", {{"n", "64"}}};
    CHECK(default_value_of(operation, "stages", parameters, tile_of) == "3");
    CHECK(default_value_of(operation, "cta_tile", parameters, tile_of) == "64x64x32");
    CHECK(default_value_of(operation, "cta_tile", parameters, nullptr).empty());
    CHECK(default_value_of(operation, "n", parameters, tile_of).empty());
    CHECK_THROWS_WITH_AS(static_cast<void>(default_value_of(operation, "warps", parameters, tile_of)),
                         doctest::Contains("'warps'"), Error);
}

TEST_CASE("a parameter that changes nothing is refused with what would give it an effect") {
    CHECK_NOTHROW(
        refuse_unused(streams(), {"stream", {{"n", "64"}, {"cta_tile", "8x8x8"}, {"stages", "4"}}}));
    CHECK_THROWS_WITH_AS(refuse_unused(streams(), {"stream", {{"n", "64"}, {"stages", "4"}}}),
                         "stream stages: got '4', expected a cta_tile, whose stages they are", Error);
}

TEST_CASE("a problem fits the memory to the last byte") {
    warptime::hw::Gpu gpu;
    gpu.id = "small";
    gpu.dram.capacity = warptime::hw::Bytes(16e9);
    const Operation operation{"stream", {{"n", "64"}}};
    CHECK_NOTHROW(require_memory(operation, gpu, 16e9));
    CHECK_THROWS_WITH_AS(
        require_memory(operation, gpu, 16.1e9),
        "stream size: got 'stream n=64: 16.1 GB', expected a problem that fits the 16 GB of small", Error);
}
