// Any bytes as the arguments of a launch, either refused with Error or read.
// Accepted arguments that are written again read back equal.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "workloads/frontends/launch_arguments.hpp"

#include <bit>
#include <string>
#include <vector>

namespace {

using namespace warptime::workloads::frontends;

bool same(const LaunchArgument& a, const LaunchArgument& b) {
    return a.text == b.text && a.buffer == b.buffer && a.bytes == b.bytes && a.contents == b.contents &&
           a.map == b.map && a.path == b.path && a.real == b.real && a.integer == b.integer &&
           std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<LaunchArgument> arguments;
    try {
        arguments = parse_arguments(warptime::fuzz::text_of(data, size));
    } catch (const warptime::Error&) {
        return 0;
    }
    std::string written;
    for (const LaunchArgument& argument : arguments) {
        warptime::fuzz::require(argument.buffer == (argument.bytes > 0), "a buffer has bytes, and no other");
        warptime::fuzz::require(!argument.map || argument.map->tensor_bytes() <= argument.bytes,
                                "a tensor lies within its buffer");
        written += argument.text + " ";
    }
    const std::vector<LaunchArgument> again = parse_arguments(written);
    warptime::fuzz::require(again.size() == arguments.size(), "as many arguments read back");
    for (std::size_t i = 0; i < again.size(); ++i) {
        warptime::fuzz::require(same(again[i], arguments[i]), "an argument reads back equal");
    }
    return 0;
}
