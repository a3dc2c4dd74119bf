// Which reasons refuse which rows, and the names of the reasons.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/board.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::validate::record {
namespace {

constexpr ClockReasons idle = 0x1;
constexpr ClockReasons application_clocks = 0x2;
constexpr ClockReasons thermal = 0x40;

TEST_CASE("idling and chosen clocks refuse nothing, slowdowns everything, the power limit isolated rows") {
    for (const char* duty : {"isolated", "sustained"}) {
        CHECK(((idle | application_clocks) & refused_under(duty)) == 0);
        CHECK((thermal & refused_under(duty)) == thermal);
    }
    CHECK((power_cap & refused_under("isolated")) != 0);
    CHECK((power_cap & refused_under("sustained")) == 0);
}

TEST_CASE("reasons are named as nvidia-smi does, several by comma") {
    CHECK(to_string(0) == "");
    CHECK(to_string(power_cap | thermal) == "SW power cap, HW thermal slowdown");
    CHECK(to_string(0x100) == "display clocks");
}

TEST_CASE("every sheet is found from its board, and a board without one is an error that helps") {
    for (const hw::SheetSummary& sheet : hw::list_sheets())
        CHECK(sheet_of({"0", sheet.board, ""}, "") == sheet.id);
    CHECK(sheet_of({"0", "Some other", ""}, "l4") == "l4");
    try {
        static_cast<void>(sheet_of({"0", "NVIDIA X900", ""}, ""));
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.value() == "NVIDIA X900");
        CHECK(error.expected().find("h200-sxm") != std::string::npos);
    }
    CHECK_THROWS_AS(static_cast<void>(sheet_of({"0", "NVIDIA H200", ""}, "h201")), Error);
}

}  // namespace
}  // namespace warptime::validate::record
