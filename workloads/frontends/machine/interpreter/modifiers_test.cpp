// Tests of the table of modifiers: it covers every opcode, and what it does not have is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/modifiers.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

std::vector<std::string> names_of(std::string_view list) {
    std::istringstream words{std::string(list)};
    std::vector<std::string> names;
    for (std::string name; words >> name;) {
        names.push_back(name);
    }
    return names;
}

std::vector<std::string> all_opcodes() {
    const std::array tables{control_opcodes(), integer_opcodes(), uniform_opcodes(),
                            warp_opcodes(),    real_opcodes(),    half_opcodes(),
                            memory_opcodes(),  matrix_opcodes(),  asynchronous_opcodes()};
    std::vector<std::string> names;
    for (const std::span<const Opcode> table : tables) {
        for (const Opcode& opcode : table) {
            names.emplace_back(opcode.name);
        }
    }
    return names;
}

std::string refused(const std::string& text) {
    try {
        check_modifiers(assembly_line(text, 0x70));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("each opcode that the handlers know is in one row, and no other is") {
    std::map<std::string, int> rows;
    for (const KnownModifiers& known : known_modifiers()) {
        for (const std::string& opcode : names_of(known.opcodes)) {
            CAPTURE(opcode);
            CHECK((find_opcode(opcode) != nullptr));
            ++rows[opcode];
        }
    }
    for (const std::string& opcode : all_opcodes()) {
        CAPTURE(opcode);
        CHECK(rows[opcode] == 1);
    }
}

TEST_CASE("no modifier is listed twice, and what is harmless has a reason") {
    for (const KnownModifiers& known : known_modifiers()) {
        CAPTURE(known.opcodes);
        std::map<std::string, int> times;
        for (const std::string_view list : {known.acts, known.harmless}) {
            for (const std::string& name : names_of(list)) {
                CAPTURE(name);
                CHECK(++times[name] == 1);
            }
        }
        CHECK(known.harmless.empty() == known.why.empty());
    }
}

TEST_CASE("every opcode refuses a modifier that its row does not have, by name and with its address") {
    for (const std::string& opcode : all_opcodes()) {
        CAPTURE(opcode);
        CHECK(refused(opcode).empty());
        CHECK(has_parts(refused(opcode + ".FROB"),
                        {"instruction at 0x70", opcode + ".FROB", "'.FROB' of " + opcode + " is none"}));
        for (const std::string& name : names_of(modifiers_of(opcode)->acts)) {
            if (!name.ends_with('*')) {
                CHECK(refused(opcode + "." + name).empty());
            }
        }
    }
}

TEST_CASE("modifiers that belong to other opcodes or other operands are refused") {
    for (const RefusedLine& own :
         {RefusedLine{"IADD3.64 R10, R12, R14, RZ", "'.64' of IADD3"},
          RefusedLine{"REDG.E.ADD.F16x16.RN.STRONG.GPU desc[UR4][R2.64], R11", "'.F16x16' of REDG"},
          RefusedLine{"HMMA.SP.16832.F32 R16, R4, R44, R16, R3, 0x0", "'.SP' of HMMA"},
          RefusedLine{"FMNMX.XORSIGN R10, |R11|, |R12|, PT", "'.XORSIGN' of FMNMX"},
          RefusedLine{"LDC.IL R10, c[0x3][R11]", "'.IL' of LDC"},
          RefusedLine{"UTMALDG.4D.IM2COL [UR8], [UR4]", "'.IM2COL' of UTMALDG"},
          RefusedLine{"HFMA2 R10, R11, R12.H0_NH1, R13", "'.H0_NH1' of operand 'R12.H0_NH1' of HFMA2"},
          RefusedLine{"IADD3 R10, R11.H1, R12, RZ", "'.H1' of operand 'R11.H1' of IADD3"},
          RefusedLine{"LDG.E R10, desc[UR4][R2.64+UR6.FROB]", "'.FROB' of operand"},
          RefusedLine{"SHF.L.U32 R10, -R11, R12, RZ", "'-' of operand '-R11' of SHF"},
          RefusedLine{"SHF.L.U32 R10, R11, R12, ~R13", "'~' of operand '~R13' of SHF"},
          RefusedLine{"IADD3 R10, |R11|, R12, RZ", "'|' of operand '|R11|' of IADD3"},
          RefusedLine{"POPC R10, -c[0x0][0x210]", "'-' of operand '-c[0x0][0x210]' of POPC"},
          RefusedLine{"WARPSYNC.SHARED R10", "'.SHARED' of WARPSYNC"}}) {
        CAPTURE(own.line);
        CHECK(has_parts(refusal_of(own.line), {"instruction at 0x0", own.line, own.part}));
    }
}

TEST_CASE("signs of numbers and of predicates belong to them, and hints change nothing") {
    for (const std::string line :
         {"IADD3 R10, R11, -0x4, RZ", "LOP3.LUT R10, R11, ~R12, RZ, 0xc0, !PT",
          "SHF.R.U32.HI R10, RZ, 0x2, R11", "LDG.E.EF.LTC128B.64.CONSTANT R10, desc[UR4][R2.64+UR6.64]",
          "WARPSYNC.COLLECTIVE R9, 0x10", "MEMBAR.SC.GPU", "IMAD.SHL.U32 R10, R11.reuse, 0x4, RZ",
          "HGMMA.64x104x16.F32 R24, gdesc[UR8].tnspB, R24"}) {
        CAPTURE(line);
        CHECK(refused(line).empty());
    }
}

TEST_CASE("a launch is refused where the instruction is executed, and runs where it is not") {
    ProgramOptions options;
    options.parameters = 1;
    const Program program({"ISETP.NE.AND P0, PT, RZ, c[0x0][0x210], PT", "@!P0 BRA `(over)",
                           "UIADD3.128 UR4, UR4, UR8, URZ", "over:", "NOP"},
                          options);
    CHECK(program.error(one_cta(32), {0}).empty());
    CHECK(has_parts(program.error(one_cta(32), {1}),
                    {"'.128' of UIADD3 is none", "UIADD3.128 UR4, UR4, UR8, URZ", "kernel test at 0x20"}));
}

TEST_CASE("a name is a word of a list, and a star stands for the rest of one") {
    CHECK(is_listed("AB C 64x*", "AB"));
    CHECK(is_listed("AB C 64x*", "C"));
    CHECK(is_listed("AB C 64x*", "64x8x16"));
    for (const std::string_view name : {"A", "B", "ABC", "64", "", "D"}) {
        CHECK_FALSE(is_listed("AB C 64x*", name));
    }
    CHECK_FALSE(is_listed("", "A"));
    CHECK((modifiers_of("FROBNICATE") == nullptr));
    CHECK(has_parts(refused("FROBNICATE.X R1"), {"'.X' of FROBNICATE"}));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
