// The parameters of copy and add: both have the same ones, with one required size.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/elementwise/operator.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace workloads = warptime::workloads;

TEST_CASE("copy and add take the same parameters") {
    const auto copy = workloads::elementwise::copy_operator().parameters;
    const auto add = workloads::elementwise::add_operator().parameters;
    CHECK(std::equal(copy.begin(), copy.end(), add.begin(), add.end(),
                     [](const auto& a, const auto& b) { return a.name == b.name; }));
    REQUIRE(copy.size() == 3);
    CHECK(copy[0].required);
    CHECK(copy[0].kind == workloads::ParameterKind::size);
    CHECK_FALSE(copy[2].part_of_key);  // the implementation does not name the case
}

TEST_CASE("arrays are bf16 and PyTorch's unless said otherwise") {
    const auto operation = workloads::make_operation("add", {{"n", "1048576"}});
    CHECK(operation.parameters.at("n") == "1048576");
    CHECK(workloads::value_or_default(operation, "dtype") == "bf16");
    CHECK(workloads::value_or_default(operation, "implementation") == "torch");
}

TEST_CASE("a missing size, a tensor type and an unknown parameter are refused by name") {
    const auto refused = [](const std::map<std::string, std::string, std::less<>>& parameters) {
        try {
            (void)workloads::make_operation("copy", parameters);
        } catch (const warptime::Error& error) {
            return error.parameter();
        }
        return std::string("accepted");
    };
    CHECK(refused({}) == "copy n");
    CHECK(refused({{"n", "64"}, {"dtype", "tf32"}}) == "copy dtype");
    CHECK(refused({{"n", "64"}, {"cta_tile", "1x1x1"}}) != "accepted");
    CHECK(refused({{"n", "0"}}) == "copy n");
}
