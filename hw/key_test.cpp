// Key registry: look-up by name, and refusals of unknown names.
// SPDX-License-Identifier: Apache-2.0
#include "hw/key.hpp"

#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::hw {
namespace {

TEST_CASE("every key is found by its own name and with the prefix gpu.") {
    for (std::size_t i = 0; i < key_count; ++i) {
        CHECK(key_index(key_info[i].name) == i);
        CHECK(key_index("gpu." + std::string(key_info[i].name)) == i);
        CHECK_FALSE(key_info[i].meaning.empty());
    }
}

TEST_CASE("the dimension in the table is that of the field") {
    GpuKeys keys;
    visit_keys(keys, [](std::size_t index, const auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        if constexpr (requires { Field::dimension; }) {
            CHECK(Field::dimension == key_info[index].dimension);
            CHECK_FALSE(key_info[index].list);
        } else {
            CHECK(Field::value_type::dimension == key_info[index].dimension);
            CHECK(key_info[index].list);
        }
    });
    CHECK(key_info[key_index("dram.bandwidth")].dimension == Dimension{.byte = 1, .second = -1});
    CHECK(key_info[key_index("dram.bandwidth")].kind == KeyKind::vendor);
    CHECK(key_info[key_index("latency.dram")].kind == KeyKind::fitted);
}

TEST_CASE("an unknown key names the nearest") {
    try {
        (void)key_index("gpu.dram.bandwith");
        FAIL("expected an Error");
    } catch (const Error& error) {
        CHECK(error.value() == "gpu.dram.bandwith");
        CHECK(error.expected().find("'dram.bandwidth'") != std::string::npos);
    }
    CHECK_THROWS_AS((void)key_index(""), Error);
}

}  // namespace
}  // namespace warptime::hw
