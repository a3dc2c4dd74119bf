// Names of instruction classes and units are read as they are written.
// SPDX-License-Identifier: Apache-2.0
#include "hw/instruction_class.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace warptime::hw {
namespace {

TEST_CASE("names are read back, and stand at the place of their enumerator") {
    for (std::size_t i = 0; i < instruction_class_count; ++i) {
        const auto cls = static_cast<InstructionClass>(i);
        CHECK(parse_instruction_class(to_string(cls)) == cls);
    }
    for (std::size_t i = 0; i < unit_count; ++i) {
        const auto unit = static_cast<Unit>(i);
        CHECK(parse_unit(to_string(unit)) == unit);
    }
    CHECK(to_string(InstructionClass::fma_f32) == "fma_f32");
    CHECK(to_string(InstructionClass::wgmma) == "wgmma");
    CHECK(to_string(InstructionClass::cp_async_bulk_tensor) == "cp_async_bulk_tensor");
    CHECK(to_string(InstructionClass::setmaxnreg) == "setmaxnreg");
    CHECK(to_string(Unit::branch) == "branch");
}

TEST_CASE("an unknown name is refused with the nearest") {
    CHECK_THROWS_WITH_AS((void)parse_instruction_class("wgma"), doctest::Contains("nearest: 'wgmma'"), Error);
    CHECK_THROWS_WITH_AS((void)parse_unit("tensr"), doctest::Contains("nearest: 'tensor'"), Error);
    CHECK_THROWS_AS((void)parse_unit("count"), Error);
}

}  // namespace
}  // namespace warptime::hw
