// Tests of the reader of nvdisasm's JSON: a listing as the tool prints it, guards, targets, control fields,
// and broken text.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/assembly/disassemble.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using Words = std::vector<std::string>;
using Encoding = std::array<std::uint64_t, 2>;

/// What nvdisasm 13.5 prints of a saxpy for sm_89, shortened at its notes and at the NOPs of its end.
constexpr std::string_view saxpy = R"([{"ELF":{"layout-id":4,"ei_osabi":65,"ei_abiversion":8},"SM":{"version":
{"major":8,"minor":9}},"SchemaVersion":{"major":13,"minor":5,"revision":0}},[{"function-name":
"_Z5saxpyifPKfPf","start":0,"length":256,"other-attributes":[],"sass-instructions":[
{"opcode":"MOV","operands":"R1,c[0x0][0x28]"},{"opcode":"S2R","operands":"R4,SR_CTAID.X"},
{"opcode":"S2R","operands":"R3,SR_TID.X"},{"opcode":"IMAD","operands":"R4,R4,c[0x0][0x0],R3"},
{"opcode":"ISETP.GE.AND","operands":"P0,PT,R4,c[0x0][0x160],PT"},
{"predicate":"@P0","opcode":"EXIT","other-attributes":{"control-flow":"True"}},
{"opcode":"MOV","operands":"R5,0x4"},{"opcode":"ULDC.64","operands":"UR4,c[0x0][0x118]"},
{"opcode":"IMAD.WIDE","operands":"R2,R4,R5,c[0x0][0x168]"},
{"opcode":"IMAD.WIDE","operands":"R4,R4,R5,c[0x0][0x170]"},{"opcode":"LDG.E","operands":"R2,[R2.64]"},
{"opcode":"LDG.E","operands":"R7,[R4.64]"},{"opcode":"FFMA","operands":"R7,R2,c[0x0][0x164],R7"},
{"opcode":"STG.E","operands":"[R4.64],R7"},
{"opcode":"EXIT","other-attributes":{"control-flow":"True"}},
{"opcode":"BRA","operands":"0xf0","other-attributes":{"control-flow":"True"}}]}]])";

/// A module of one function with so many instructions.
Module module_of(std::string name, std::size_t instructions, Encoding encoding = {}) {
    Function function;
    function.name = std::move(name);
    function.code.assign(instructions, encoding);
    Module module;
    module.functions.push_back(std::move(function));
    return module;
}

struct Listed {
    std::string guard;
    std::string opcode;
    std::string operands;
};

std::string json_of(const std::vector<Listed>& instructions, std::string_view function = "k") {
    std::string list;
    for (const Listed& one : instructions) {
        list += list.empty() ? "" : ",";
        list += one.guard.empty() ? "{" : fmt::format(R"({{"predicate":"{}",)", one.guard);
        list += fmt::format(R"("opcode":"{}")", one.opcode);
        list += one.operands.empty() ? "}" : fmt::format(R"(,"operands":"{}"}})", one.operands);
    }
    return fmt::format(R"([{{}},[{{"function-name":"{}","sass-instructions":[{}]}}]])", function, list);
}

AssemblyLine line_of(const Listed& listed, const Module& module = module_of("k", 1)) {
    const auto functions = read_disassembly(json_of({listed}), module);
    REQUIRE(functions.size() == 1);
    REQUIRE(functions[0].lines.size() == 1);
    return functions[0].lines[0];
}

std::string error_of(std::string_view json, const Module& module = module_of("k", 1)) {
    try {
        (void)read_disassembly(json, module);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

bool says(const std::string& error, const std::string& part) {
    return error.find(part) != std::string::npos;
}

TEST_CASE("a listing as nvdisasm prints it") {
    const auto functions = read_disassembly(saxpy, module_of("_Z5saxpyifPKfPf", 16));
    REQUIRE(functions.size() == 1);
    CHECK(functions[0].name == "_Z5saxpyifPKfPf");
    const std::vector<AssemblyLine>& lines = functions[0].lines;
    REQUIRE(lines.size() == 16);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i].address == 16 * i);
        CHECK(lines[i].guard == (i == 5 ? 0 : true_predicate));
    }
    CHECK(lines[0].opcode == "MOV");
    CHECK(lines[0].modifiers.empty());
    CHECK(lines[0].text == "MOV R1,c[0x0][0x28]");
    CHECK(lines[4].opcode == "ISETP");
    CHECK(lines[4].modifiers == Words{"GE", "AND"});
    CHECK(lines[4].has("GE"));
    CHECK(lines[4].has("AND"));
    CHECK_FALSE(lines[4].has("ISETP"));
    CHECK_FALSE(lines[4].has("G"));
    CHECK(lines[4].operands.size() == 5);
    CHECK(lines[5].text == "@P0 EXIT");
    CHECK(lines[5].operands.empty());
    CHECK(lines[7].operands[0].kind == OperandKind::uniform);
    CHECK(lines[10].operands[1].base_is_64);
    CHECK(lines[14].text == "EXIT");
    CHECK(lines[15].operands[0].kind == OperandKind::target);
    CHECK(lines[15].operands[0].value == 0xf0);
}

TEST_CASE("opcodes are split at their points") {
    const AssemblyLine line = line_of({"", "HGMMA.64x64x16.F32.BF16", "R24,gdesc[UR4].tnspB,R24,gsb0"});
    CHECK(line.opcode == "HGMMA");
    CHECK(line.modifiers == Words{"64x64x16", "F32", "BF16"});
    REQUIRE(line.operands.size() == 4);
    CHECK(line.operands[1].descriptor == 4);
    CHECK(line.operands[1].modifiers == Words{"tnspB"});
    CHECK(line.operands[3].kind == OperandKind::text);
    CHECK(line_of({"", "NOP", ""}).modifiers.empty());
}

TEST_CASE("guards: predicates, uniform ones, negated ones, and the one that is always true") {
    struct Form {
        std::string text;
        int number;
        bool negated;
        bool uniform;
    };
    for (const Form& form :
         {Form{"", 7, false, false}, Form{"@P0", 0, false, false}, Form{"@P6", 6, false, false},
          Form{"@!P3", 3, true, false}, Form{"@UP1", 1, false, true}, Form{"@!UP2", 2, true, true},
          Form{"@PT", 7, false, false}, Form{"@!PT", 7, true, false}, Form{"@!UPT", 7, true, true}}) {
        CAPTURE(form.text);
        const AssemblyLine line = line_of({form.text, "EXIT", ""});
        CHECK(line.guard == form.number);
        CHECK(line.guard_negated == form.negated);
        CHECK(line.guard_uniform == form.uniform);
        CHECK(line.text == (form.text.empty() ? "EXIT" : form.text + " EXIT"));
    }
    for (const std::string guard : {"@P8", "@P99", "@PX", "@!P", "@P-1"}) {
        CAPTURE(guard);
        const std::string error = error_of(json_of({{guard, "EXIT", ""}}));
        CHECK(says(error, "predicate: got '" + guard.substr(guard.find('P')) + "'"));
        CHECK(says(error, "P0 to P6 or PT"));
    }
}

TEST_CASE("the operand for all predicates, listed as a guard, goes to its place") {
    const AssemblyLine to_register = line_of({"PR", "P2R", "R6,RZ,0x40"});
    CHECK(to_register.guard == true_predicate);
    REQUIRE(to_register.operands.size() == 4);
    CHECK(to_register.operands[0].number == 6);
    CHECK(to_register.operands[1].text == "PR");
    CHECK(to_register.operands[1].kind == OperandKind::text);
    CHECK(to_register.operands[2].number == zero_register);
    CHECK(to_register.operands[3].value == 0x40);
    CHECK(to_register.text == "P2R R6,PR,RZ,0x40");

    const AssemblyLine shifted = line_of({"PR", "P2R.B1", "R6,RZ,0x7f"});
    CHECK(shifted.operands[1].text == "PR");

    const AssemblyLine to_predicates = line_of({"PR", "R2P", "R10,0x1f"});
    REQUIRE(to_predicates.operands.size() == 3);
    CHECK(to_predicates.operands[0].text == "PR");
    CHECK(to_predicates.operands[1].number == 10);
    CHECK(to_predicates.operands[2].value == 0x1f);
    CHECK(to_predicates.text == "R2P PR,R10,0x1f");
}

TEST_CASE("the last number of a jump is a target, and any number elsewhere is not") {
    for (const std::string opcode : {"BRA", "BRA.U", "JMP", "CALL.REL.NOINC", "BSSY.RECONVERGENT"}) {
        CAPTURE(opcode);
        const AssemblyLine line = line_of({"", opcode, "B0,0x1490"});
        CHECK(line.operands[0].kind == OperandKind::barrier);
        CHECK(line.operands[1].kind == OperandKind::target);
        CHECK(line.operands[1].value == 0x1490);
    }
    CHECK(line_of({"", "BRA", "0x1,0x90"}).operands[0].kind == OperandKind::immediate);
    CHECK(line_of({"", "WARPSYNC.COLLECTIVE", "R11,0x520"}).operands[1].kind == OperandKind::target);
    CHECK(line_of({"", "BRX", "R16 -0x1c0"}).operands[1].kind == OperandKind::immediate);
    CHECK(line_of({"", "BRX", "R16 -0x1c0"}).operands[1].value == -0x1c0);
    CHECK(line_of({"", "MOV", "R5,0x4"}).operands[1].kind == OperandKind::immediate);
    CHECK(line_of({"", "IADD3", "R5,R5,0x4,RZ"}).operands[2].kind == OperandKind::immediate);
}

TEST_CASE("names of functions inside the code are targets; other names are text") {
    Module module = module_of("_Z1kPf", 1);
    module.functions[0].entry_points["$__internal_0_$__cuda_sm20_div_s64"] = 0x450;
    const auto read = [&module](const std::string& opcode, const std::string& operands) {
        return read_disassembly(json_of({{"", opcode, operands}}, "_Z1kPf"), module).at(0).lines.at(0);
    };
    const AssemblyLine call = read("CALL.REL.NOINC", "$__internal_0_$__cuda_sm20_div_s64");
    CHECK(call.operands[0].kind == OperandKind::target);
    CHECK(call.operands[0].value == 0x450);
    const AssemblyLine quoted = read("CALL.REL.NOINC", "`($__internal_0_$__cuda_sm20_div_s64)");
    CHECK(quoted.operands[0].kind == OperandKind::target);
    const AssemblyLine back = read("RET.REL.NODEC", "R10,_Z1kPf");
    CHECK(back.operands[0].number == 10);
    CHECK(back.operands[1].kind == OperandKind::target);
    CHECK(back.operands[1].value == 0);
    CHECK(read("CALL.ABS.NOINC", "elsewhere").operands[0].kind == OperandKind::text);
}

TEST_CASE("numbers of instructions on reals are what the encoding holds") {
    const auto value_of = [](const std::string& opcode, const std::string& operands, std::size_t i) {
        const Encoding encoding{0xc008000003037421ULL, 0};
        return line_of({"", opcode, operands}, module_of("k", 1, encoding)).operands.at(i);
    };
    const Operand printed_whole = value_of("FADD", "R3,R3,-2", 2);
    CHECK(printed_whole.kind == OperandKind::immediate);
    CHECK(printed_whole.is_real);
    CHECK(printed_whole.value == 0xc0080000);
    CHECK(value_of("DMUL", "R4,R4,-3", 2).value == 0xc0080000);  // the upper half of an fp64
    CHECK(value_of("FFMA.FTZ", "R4,R4,2.5,R6", 2).value == 0xc0080000);
    CHECK(value_of("MUFU.RSQ", "R0,-QNAN ", 1).value == 0xc0080000);
    CHECK(value_of("FSEL", "R21,-|R17|,+INF ,P1", 2).value == 0xc0080000);
    CHECK(value_of("FCHK", "P0,R6,7", 2).value == 0xc0080000);
    // Instructions on integers, and halves, whose two numbers share the word, stay as printed.
    CHECK(value_of("IADD3", "R3,R3,-0x2,RZ", 2).value == -2);
    CHECK_FALSE(value_of("IADD3", "R3,R3,-0x2,RZ", 2).is_real);
    CHECK(value_of("HFMA2.MMA", "R5,-RZ,RZ,0,1.875", 3).value == 0);
    CHECK(value_of("HFMA2.MMA", "R5,-RZ,RZ,0,1.875", 4).real == 1.875);
}

TEST_CASE("control fields from the encodings of known instructions") {
    // EXIT of sm_80: stall of 5 cycles, no scoreboards. NOP: nothing at all.
    Control control =
        line_of({"", "EXIT", ""}, module_of("k", 1, {0x794dULL, 0x000fea0003800000ULL})).control;
    CHECK(control.stall == 5);
    CHECK(control.write_barrier == 7);
    CHECK(control.read_barrier == 7);
    CHECK(control.wait_mask == 0);
    CHECK(control.reuse == 0);
    control = line_of({"", "NOP", ""}, module_of("k", 1, {0x7918ULL, 0x000fc00000000000ULL})).control;
    CHECK(control.stall == 0);
    CHECK(control.write_barrier == 7);
    CHECK(control.read_barrier == 7);
}

TEST_CASE("control fields of any values, and each line's own encoding") {
    CHECK(rc::check("control", [] {
        Module module = module_of("k", 0);
        std::vector<Listed> listed;
        std::vector<std::array<unsigned, 6>> fields;
        const int lines = *rc::gen::inRange(1, 6);
        constexpr std::array<unsigned, 6> widths{4, 1, 3, 3, 6, 4};
        for (int i = 0; i < lines; ++i) {
            std::array<unsigned, 6> own{};
            // Bit by bit from bit 105 of the instruction.
            Encoding encoding{*rc::gen::arbitrary<std::uint64_t>(), (std::uint64_t{1} << 41U) - 1};
            unsigned bit = 105;
            for (std::size_t field = 0; field < own.size(); ++field) {
                own[field] = *rc::gen::inRange(0U, 1U << widths[field]);
                for (unsigned b = 0; b < widths[field]; ++b, ++bit) {
                    encoding[bit / 64] |= std::uint64_t{own[field] >> b & 1U} << bit % 64;
                }
            }
            fields.push_back(own);
            module.functions[0].code.push_back(encoding);
            listed.push_back({"", "NOP", ""});
        }
        const auto functions = read_disassembly(json_of(listed), module);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const AssemblyLine& line = functions.at(0).lines.at(i);
            RC_ASSERT(line.encoding == module.functions[0].code[i]);
            RC_ASSERT(line.control.stall == fields[i][0]);
            RC_ASSERT(line.control.write_barrier == fields[i][2]);
            RC_ASSERT(line.control.read_barrier == fields[i][3]);
            RC_ASSERT(line.control.wait_mask == fields[i][4]);
            RC_ASSERT(line.control.reuse == fields[i][5]);
        }
    }));
}

TEST_CASE("functions that the module does not have are passed over") {
    const std::string json = R"([{},[{"function-name":"other","sass-instructions":[{"opcode":"NOP"}]},)"
                             R"({"function-name":"k","sass-instructions":[{"opcode":"EXIT"}]}]])";
    const auto functions = read_disassembly(json, module_of("k", 1));
    REQUIRE(functions.size() == 1);
    CHECK(functions[0].name == "k");
    CHECK(functions[0].lines[0].opcode == "EXIT");
    CHECK(read_disassembly("[{},[]]", module_of("k", 1)).empty());
}

TEST_CASE("a listing with another number of instructions than the code is refused") {
    for (const std::size_t listed : {std::size_t{0}, std::size_t{2}, std::size_t{4}}) {
        const std::string error =
            error_of(json_of(std::vector<Listed>(listed, Listed{"", "NOP", ""})), module_of("k", 3));
        CHECK(says(error, "disassembly of k"));
        CHECK(says(error, fmt::format("{} instructions", listed)));
        CHECK(says(error, "the 3 of its code"));
    }
}

TEST_CASE("text that is no listing is refused") {
    for (const std::string_view json :
         {"", " ", "nvdisasm fatal: no file", "{", "null", "7", "\"text\"", "{}", "[]", "[{}]", "[{},{}]",
          "[{},7]", "[{},null]", "[{},[]", "[{},[]]x"}) {
        CAPTURE(json);
        const std::string error = error_of(json);
        CHECK(says(error, "disassembly: got 'text that is no listing'"));
        CHECK(says(error, "nvdisasm's JSON"));
    }
    for (const std::string_view json :
         {"[{},[1]]", "[{},[{}]]", "[{},[[]]]", R"([{},[{"function-name":"k"}]])",
          R"([{},[{"sass-instructions":[]}]])", R"([{},[{"function-name":7,"sass-instructions":[]}]])",
          R"([{},[{"function-name":"k","sass-instructions":{}}]])"}) {
        CAPTURE(json);
        CHECK(says(error_of(json), "a function without name or instructions"));
    }
    CHECK(says(error_of(json_of({{"", "LDG", "R0,[R2"}})), "operand: got '[R2'"));
}

TEST_CASE("a listing cut short anywhere is refused") {
    const Module module = module_of("_Z5saxpyifPKfPf", 16);
    for (std::size_t length = 0; length < saxpy.size(); ++length) {
        CAPTURE(length);
        CHECK(says(error_of(saxpy.substr(0, length), module), "text that is no listing"));
    }
    CHECK(error_of(saxpy, module).empty());
}

TEST_CASE("a listing with any one character changed gives lines or an Error") {
    const Module module = module_of("_Z5saxpyifPKfPf", 16);
    CHECK(rc::check("spoilt", [&module] {
        std::string json(saxpy);
        json[*rc::gen::inRange<std::size_t>(0, json.size())] =
            *rc::gen::elementOf(std::string("\"{}[]:,.@PRU0x7e-+| \\\n\xff"));
        try {
            for (const AssemblyFunction& function : read_disassembly(json, module)) {
                RC_ASSERT(function.lines.size() == 16U);
            }
        } catch (const Error& error) {
            RC_ASSERT_FALSE(error.expected().empty());
        }
    }));
}

TEST_CASE("a guard without its predicate is refused") {
    for (const std::string guard : {"@", "@!", "@U", "@!U", "@R0"}) {
        CAPTURE(guard);
        CHECK(says(error_of(json_of({{guard, "EXIT", ""}})), "P0 to P6 or PT"));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
