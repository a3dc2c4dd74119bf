// Reading of instruction tables, and the PTX look-up.
// SPDX-License-Identifier: Apache-2.0
#include "hw/instruction_table.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace warptime::hw {
namespace {

std::string embedded(std::string_view name) {
    for (const EmbeddedFile& file : embedded_files()) {
        if (file.name == name) {
            return std::string(file.content);
        }
    }
    FAIL("no such file");
    return {};
}

/// Table of sm_90 with one piece of its text replaced.
InstructionTable with(const std::string& from, const std::string& to) {
    std::string text = embedded("hw/isa/sm_90.toml");
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return parse_instruction_table(text, "sm_90");
}

TEST_CASE("every architecture has a row for every class") {
    for (const char* name :
         {"hw/isa/sm_70.toml", "hw/isa/sm_75.toml", "hw/isa/sm_80.toml", "hw/isa/sm_86.toml",
          "hw/isa/sm_89.toml", "hw/isa/sm_90.toml", "hw/isa/sm_100.toml", "hw/isa/sm_120.toml"}) {
        const InstructionTable table = parse_instruction_table(embedded(name), name);
        CHECK(table[InstructionClass::fma_f32].supported);
        CHECK(table[InstructionClass::fma_f32].unit == Unit::fp32);
        CHECK(table[InstructionClass::fma_f32].lanes == Lanes::fp32);
        CHECK(table[InstructionClass::mufu].unit == Unit::sfu);
        CHECK(table[InstructionClass::mma_sync].latency.value() > 20);
        CHECK(table[InstructionClass::tcgen05_mma].supported ==
              (std::string_view(name) == "hw/isa/sm_100.toml"));
    }
}

TEST_CASE("faults of a table are refused") {
    CHECK_THROWS_WITH_AS((void)with("fma_f32 =", "fma_f33 ="), doctest::Contains("nearest: 'fma_f32'"),
                         Error);
    CHECK_THROWS_AS((void)with("unit = \"fp32\"", "unit = \"fp33\""), Error);
    CHECK_THROWS_AS((void)with("lanes = \"fp32\"", "lanes = \"fp33\""), Error);
    CHECK_THROWS_AS((void)with("lanes = \"fp32\"", "lanes = \"fp32\", interval = \"1 cycle\""), Error);
    CHECK_THROWS_AS((void)with("lanes = \"fp32\", ", ""), Error);
    CHECK_THROWS_AS((void)with("latency = \"4 cycle\"", "latency = \"4 s\""), Error);
    CHECK_THROWS_AS((void)with("machine = 1,", ""), Error);
    CHECK_THROWS_AS((void)with("machine = 1,", "machine = -1,"), Error);
    CHECK_THROWS_AS((void)with("machine = 1,", "machine = 1, color = 1,"), Error);
    CHECK_THROWS_AS((void)with("source = \"JAR25\"", "source = \"\""), Error);
    CHECK_THROWS_AS((void)with("[class]", "[clas]"), Error);
    CHECK_THROWS_AS((void)parse_instruction_table("[isa]\nname = 'x'\n", "x"), Error);
    CHECK_THROWS_WITH_AS((void)parse_instruction_table("[class]\n", "x"), doctest::Contains("x fma_f32"),
                         Error);
    CHECK_THROWS_AS((void)parse_instruction_table("[isa]\nsource='s'\n[ptx]\nmov = 3\n", "x"), Error);
    CHECK_THROWS_AS(
        (void)parse_instruction_table("[isa]\nsource='s'\n[ptx]\nmov = {class='mvoe', machine=1}\n", "x"),
        Error);
}

TEST_CASE("the longest listed prefix of a mnemonic decides") {
    const std::vector<PtxExpansion> rows = parse_instruction_table(embedded("hw/isa/ptx.toml"), "ptx").ptx;
    const auto machine = [&](const char* mnemonic) {
        const PtxExpansion* row = find_ptx(rows, mnemonic);
        REQUIRE(row != nullptr);
        return row->machine;
    };
    CHECK(machine("mov.u32") == 0);
    CHECK(machine("add.s32") == 1);
    CHECK(machine("add.s64") == 2);
    CHECK(machine("div.rn.f32") == 9);
    CHECK(machine("rem.s32") == 20);
    CHECK(find_ptx(rows, "add.f32")->cls == InstructionClass::add_f32);
    CHECK(find_ptx(rows, "ld.shared.v4.f32")->cls == InstructionClass::ld_shared);
    CHECK(find_ptx(rows, "cp.async.ca.shared.global")->cls == InstructionClass::cp_async);
    CHECK(find_ptx(rows, "cp.async.bulk.tensor.2d")->cls == InstructionClass::cp_async_bulk_tensor);
    CHECK(find_ptx(rows, "unheard.of") == nullptr);
    CHECK(find_ptx(rows, "") == nullptr);
    for (const PtxExpansion& row : rows) {
        CHECK(find_ptx(rows, row.mnemonic) == &row);
    }
}

}  // namespace
}  // namespace warptime::hw
