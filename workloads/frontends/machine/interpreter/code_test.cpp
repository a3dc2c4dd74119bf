// Tests of decoded modules: places of functions, variables in memory, and relocations of code and data.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/code.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// A module made of functions of SASS text.
class Made {
  public:
    Function& add(const std::string& name, bool kernel, const std::vector<std::string>& lines) {
        assembly_.push_back(assembled(name, lines));
        Function function;
        function.name = name;
        function.kernel = kernel;
        function.registers = 32;
        function.parameter_base = parameter_base;
        function.code.resize(assembly_.back().lines.size());
        module.functions.push_back(std::move(function));
        module.architecture = 90;
        return module.functions.back();
    }
    [[nodiscard]] Code code() const { return decode_module(module, assembly_); }

    Module module;

  private:
    std::vector<AssemblyFunction> assembly_;
};

Variable variable_of(const std::string& name, std::uint64_t bytes, std::vector<std::byte> initial = {}) {
    Variable variable;
    variable.name = name;
    variable.bytes = bytes;
    variable.initial = std::move(initial);
    return variable;
}

std::uint64_t word_at(const std::vector<std::byte>& bytes, std::size_t offset) {
    std::uint64_t word = 0;
    REQUIRE(offset + sizeof word <= bytes.size());
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}
std::uint64_t word_at(std::uint64_t address) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);  // NOLINT
    return word;
}

TEST_CASE("an instruction has the line of the last entry at or before its address, in its own function") {
    Made made;
    made.add("first", true, {"NOP", "NOP"});
    made.add("second", true, {"NOP", "NOP", "NOP"});
    made.module.lines.files = {"a.cu"};
    made.module.lines.functions["second"] = {{16, 0, 7}, {32, 0, 9}, {48, 3, 1}};
    const Code code = made.code();
    const std::uint32_t second = code.places[1].first;
    CHECK(code.line_of(0).file == -1);       // no table
    CHECK(code.line_of(second).file == -1);  // before the first entry
    CHECK(code.line_of(second + 1).line == 7);
    CHECK(code.line_of(second + 2).line == 9);
    CHECK(code.line_of(second + 3).file == -1);  // a file that is not listed
    CHECK(code.line_of(1000).file == -1);
}

TEST_CASE("functions lie one behind the other, and instructions know theirs") {
    Made made;
    made.add("first", true, {"NOP", "NOP"});
    made.add("helper", false, {"NOP"});
    made.add("last", true, {"NOP", "NOP", "BRA 0x10"});
    const Code code = made.code();
    REQUIRE(code.places.size() == 3);
    // An EXIT ends each.
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected{{0, 3}, {3, 2}, {5, 4}};
    for (std::size_t f = 0; f < 3; ++f) {
        CHECK(code.places[f].first == expected[f].first);
        CHECK(code.places[f].count == expected[f].second);
        for (std::uint32_t i = 0; i < expected[f].second; ++i) {
            const std::uint32_t instruction = expected[f].first + i;
            CHECK(code.function_of(instruction) == made.module.functions[f].name);
            CHECK(code.instructions[instruction].index == instruction);
            CHECK(code.lines[instruction]->address == 16 * i);
        }
    }
    CHECK(code.function_of(9) == "?");
    CHECK(code.instructions[7].target == 6);  // Of its own function.
    CHECK(code.kernel("first") == 0);
    CHECK(code.kernel("last") == 2);
    CHECK(code.kernel("helper") == -1);
    CHECK(code.kernel("firs") == -1);
}

TEST_CASE("a function without disassembly is an error that names it") {
    Made made;
    made.add("first", true, {"NOP"});
    Function other;
    other.name = "lost";
    made.module.functions.push_back(other);
    try {
        (void)made.code();
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.parameter() == "disassembly of lost");
        CHECK(has_parts(error.what(), {"'none'", "one for every function of the module"}));
    }
}

TEST_CASE("registers are those of the hungriest function and a few more, of 255 at most") {
    for (const auto& [declared, rows] :
         std::vector<std::pair<int, int>>{{0, 20}, {16, 20}, {17, 21}, {128, 132}, {251, 255}, {255, 255}}) {
        CAPTURE(declared);
        Made made;
        made.add("first", true, {"NOP"}).registers = 8;
        made.add("second", false, {"NOP"}).registers = declared;
        CHECK(made.code().layout.general == rows);
    }
}

TEST_CASE("variables have memory of their own with their initial bytes, and zeros behind them") {
    Made made;
    made.add("test", true, {"NOP"});
    std::vector<std::byte> initial(24);
    for (std::size_t i = 0; i < initial.size(); ++i) {
        initial[i] = static_cast<std::byte>(i + 1);
    }
    made.module.variables = {variable_of("table", 40, initial), variable_of("flag", 1),
                             variable_of("wide", 8), variable_of("empty", 0)};
    made.module.variables[2].alignment = 4096;
    Variable constant = variable_of("bank", 16);
    constant.constant = true;
    made.module.variables.push_back(constant);
    const Code code = made.code();
    DeviceMemory memory(std::uint64_t{1} << 24U);
    const LoadedCode loaded = load_code(code, memory);
    CHECK(loaded.code == &code);
    CHECK(loaded.variables.size() == 4);
    CHECK_FALSE(loaded.variables.contains("bank"));
    for (const auto& [name, address] : loaded.variables) {
        CAPTURE(name);
        CHECK(address % 256 == 0);
        REQUIRE(memory.find(address) != nullptr);
        CHECK(memory.find(address)->address == address);
    }
    CHECK(loaded.variables.at("wide") % 4096 == 0);
    CHECK(memory.find(loaded.variables.at("table"))->bytes >= 40);
    const std::uint64_t table = loaded.variables.at("table");
    CHECK(word_at(table) == 0x0807060504030201ULL);
    CHECK(word_at(table + 16) == 0x1817161514131211ULL);
    CHECK(word_at(table + 24) == 0);
    CHECK(word_at(table + 32) == 0);
}

TEST_CASE("a variable that does not fit is an error that names it and its bytes") {
    Made made;
    made.add("test", true, {"NOP"});
    made.module.variables = {variable_of("small", 16), variable_of("huge", std::uint64_t{1} << 30U)};
    const Code code = made.code();
    DeviceMemory memory(std::uint64_t{1} << 20U);
    try {
        (void)load_code(code, memory);
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.parameter() == "variable huge");
        CHECK(error.value() == "1073741824");
        CHECK(has_parts(error.what(), {"free in the device's memory"}));
    }
}

TEST_CASE("code gets the addresses of variables, functions, places within them and constants") {
    Made made;
    made.add("helper", false, {"NOP", "NOP", "NOP"});
    Function& test = made.add(
        "test", true,
        {"MOV R8, 32@lo(table)", "MOV R9, 32@hi(table)", "MOV R10, 32@lo(test)", "MOV R11, 32@hi(test)",
         "MOV R12, 32@lo(inner)", "MOV R13, 32@lo(bank)", "MOV R14, 32@lo(nobody)",
         "IMAD.WIDE.U32 R2, RZ, RZ, c[0x0][0x210]", "STG.E.128 desc[UR4][R2.64], R8",
         "STG.E.64 desc[UR4][R2.64+0x10], R12", "STG.E desc[UR4][R2.64+0x18], R14"});
    const auto relocation = [](std::uint64_t line, const std::string& symbol, std::int64_t addend,
                               RelocationPart part) {
        return Relocation{16 * line + 4, symbol, addend, part};
    };
    test.relocations = {
        relocation(0, "table", 24, RelocationPart::low), relocation(1, "table", 24, RelocationPart::high),
        relocation(2, "test", 0, RelocationPart::low),   relocation(3, "test", 0, RelocationPart::high),
        relocation(4, "inner", 0, RelocationPart::low),  relocation(5, "bank", 4, RelocationPart::low),
        relocation(6, "nobody", 99, RelocationPart::low)};
    test.parameter_bytes = 8;
    test.parameters = {{0, 8}};
    made.module.functions[0].entry_points["inner"] = 0x20;
    Variable constant = variable_of("bank", 16);
    constant.constant = true;
    constant.offset = 0x40;
    made.module.variables = {variable_of("table", 64), constant};
    const Code code = made.code();
    CHECK(code.refused.empty());
    REQUIRE(code.relocations.size() == 7);
    const LoadedCode loaded = load_code(code, test_memory());
    const std::uint64_t table = loaded.variables.at("table") + 24;
    // helper has four instructions with its EXIT.
    const std::uint64_t entry = code_window + 4 * 16;
    const Words expected{
        low_of(table), high_of(table), low_of(entry), high_of(entry), low_of(code_window + 0x20), 0x44, 99};
    CHECK(loaded.relocated == expected);
    // And the kernel sees them.
    const Buffer buffer(Words(7, 1));
    const std::vector<std::uint64_t> parameters{buffer.address()};
    const LaunchCounts counts =
        run_launch(loaded, code.kernel("test"), one_cta(1),
                   std::as_bytes(std::span<const std::uint64_t>(parameters)), test_memory(), on_test_chip());
    CHECK(counts.error.empty());
    CHECK(buffer.words() == expected);
}

TEST_CASE("a call that the disassembly has resolved keeps its target beside a relocation") {
    Made made;
    made.add("helper", false, {"NOP"});
    const std::vector<std::string> lines{"NOP", "CALL.REL.NOINC 0x30, 0x7", "NOP"};
    Function& test = made.add("test", true, lines);
    test.relocations = {Relocation{16, "helper", 0, RelocationPart::low}};
    for (const bool resolved : {false, true}) {
        CAPTURE(resolved);
        std::vector<AssemblyFunction> all;
        all.push_back(assembled("helper", {"NOP"}));
        all.push_back(assembled("test", lines));
        Operand& target = all[1].lines[1].operands.at(0);
        target.kind = resolved ? OperandKind::target : OperandKind::immediate;
        const Code code = decode_module(made.module, std::move(all));
        CHECK(code.instructions[3].target == 5);
        CHECK(code.relocations.size() == (resolved ? 0U : 1U));
        CHECK(code.lines[3]->operands.at(1).value == (resolved ? 7 : 0));
    }
}

TEST_CASE("data get addresses: in variables, in the constants of the module, and in banks that grow") {
    Made made;
    made.add("test", true, {"NOP"});
    Variable pointers = variable_of("pointers", 32, std::vector<std::byte>(32, std::byte{0x55}));
    pointers.relocations = {Relocation{8, "table", 4, RelocationPart::whole},
                            Relocation{16, "table", 0, RelocationPart::high},
                            Relocation{28, "table", 0, RelocationPart::whole}};  // Beyond its end.
    Variable constant = variable_of("bank", 16);
    constant.constant = true;
    constant.offset = 0x20;
    constant.relocations = {Relocation{8, "table", 0, RelocationPart::whole}};
    made.module.variables = {variable_of("table", 16), pointers, constant};
    made.module.constants[3] = std::vector<std::byte>(8, std::byte{0x77});
    made.module.constant_relocations[4] = {Relocation{0x10, "test", 0, RelocationPart::whole}};
    const Code code = made.code();
    const LoadedCode loaded = load_code(code, test_memory());
    const std::uint64_t table = loaded.variables.at("table");
    const std::uint64_t own = loaded.variables.at("pointers");
    constexpr std::uint64_t fives = 0x5555555555555555ULL;
    CHECK(word_at(own) == fives);
    CHECK(word_at(own + 8) == table + 4);
    CHECK(word_at(own + 16) == pair_of(high_of(table), low_of(fives)));
    CHECK(word_at(own + 24) == fives);
    REQUIRE(loaded.constant_banks.size() == 5);
    CHECK(word_at(loaded.constant_banks[3], 0) == 0x7777777777777777ULL);
    CHECK(word_at(loaded.constant_banks[3], 0x28) == table);
    CHECK(word_at(loaded.constant_banks[3], 0x20) == 0);
    CHECK(word_at(loaded.constant_banks[4], 0x10) == code_window);
    // The module keeps its own bytes.
    CHECK(code.module.constants.at(3).size() == 8);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
