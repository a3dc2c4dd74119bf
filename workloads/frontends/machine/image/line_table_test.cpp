// Tests of the reader of line tables: rows written as any mixture of opcodes come back.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/image/line_table.hpp"

#include "workloads/frontends/machine/image/elf_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace testing;

enum : std::uint8_t {
    copy = 1,
    advance_pc,
    advance_line,
    set_file,
    set_column,
    negate,
    block,
    const_add,
    fixed
};

/// A place of .debug_line that a relocation fills with the address of a function.
struct Place {
    std::uint64_t offset = 0;
    std::string function;
    bool by_section = false;  ///< the relocation names the function's section by a symbol without a name
};

/// What read_line_table needs of an ELF file, without a file.
LineTable read(const std::vector<std::byte>& lines, const std::vector<Place>& places, bool addends = false) {
    Elf elf;
    elf.sections.push_back({.name = ".debug_line", .bytes = lines.size(), .contents = lines});
    elf.symbols.emplace_back();
    Bytes relocations;
    for (const Place& place : places) {
        const auto symbol = static_cast<std::uint32_t>(elf.symbols.size());
        if (place.by_section) {
            elf.symbols.push_back(
                {.name = "", .type = 3, .section = static_cast<std::uint16_t>(elf.sections.size())});
            elf.sections.push_back({.name = ".text." + place.function, .contents = {}});
        } else {
            elf.symbols.push_back({.name = place.function, .type = 2});
        }
        if (addends) {
            add_rela(relocations, place.offset, 2, symbol, 0);
        } else {
            add_rel(relocations, place.offset, 2, symbol);
        }
    }
    elf.sections.push_back({.name = addends ? ".rela.debug_line" : ".rel.debug_line",
                            .type = addends ? section_rela : section_rel,
                            .contents = relocations.get()});
    return read_line_table(elf);
}

struct Row {
    std::uint32_t address = 0;
    int file = 0;
    int line = 0;
    bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(const LineTable& table, const std::string& function) {
    std::vector<Row> rows;
    const auto found = table.functions.find(function);
    if (found != table.functions.end()) {
        for (const SourceLine& line : found->second) {
            rows.push_back({line.address, line.file, line.line});
        }
    }
    return rows;
}

LineUnit unit_of_one_file() {
    return {.folders = {}, .files = {{"a.cu"}}};
}

/// One sequence of a function, its address at the start of the opcodes.
struct Sequence {
    Bytes opcodes;
    Sequence() { set_address(opcodes, 0); }
};

/// Place that a sequence's address takes at the start of the unit's opcodes.
std::uint64_t place_in(const LineUnit& unit) {
    return line_header_bytes(unit) + 3;
}

TEST_CASE("no table without the section") {
    const LineTable table = read_line_table(Elf{});
    CHECK(table.files.empty());
    CHECK(table.functions.empty());
}

TEST_CASE("rows by hand: special opcodes, advances and copies") {
    const LineUnit unit = unit_of_one_file();
    Sequence sequence;
    // Line 1 at first. Special opcode: 10 + (line step + 5) + 14 x address step.
    sequence.opcodes.add<std::uint8_t>(10 + (6 + 5));                      // line 7 at 0
    sequence.opcodes.add<std::uint8_t>(10 + (-2 + 5) + 14 * 16);           // line 5 at 16
    sequence.opcodes.add<std::uint8_t>(advance_line).signed_leb(1000);     // 1005
    sequence.opcodes.add<std::uint8_t>(advance_pc).unsigned_leb(0x200);    // 528
    sequence.opcodes.add<std::uint8_t>(copy);                              // line 1005 at 528
    sequence.opcodes.add<std::uint8_t>(const_add);                         // (255 - 10) / 14 = 17
    sequence.opcodes.add<std::uint8_t>(copy);                              // line 1005 at 545
    sequence.opcodes.add<std::uint8_t>(fixed).add<std::uint16_t>(0x1000);  // 4641
    sequence.opcodes.add<std::uint8_t>(advance_line).signed_leb(-1000);    // 5
    sequence.opcodes.add<std::uint8_t>(set_column).unsigned_leb(300);      // no row
    sequence.opcodes.add<std::uint8_t>(negate).add<std::uint8_t>(block);   // no row
    sequence.opcodes.add<std::uint8_t>(copy);                              // line 5 at 4641
    end_sequence(sequence.opcodes);
    const LineTable table = read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}});
    CHECK(table.files == std::vector<std::string>{"a.cu"});
    CHECK(rows_of(table, "k") ==
          std::vector<Row>{{0, 0, 7}, {16, 0, 5}, {528, 0, 1005}, {545, 0, 1005}, {4641, 0, 5}});
    CHECK(table.functions.size() == 1);
}

TEST_CASE("files stand below their folders; full paths and files of no folder as they are") {
    LineUnit unit;
    unit.folders = {"/src", "include"};
    unit.files = {{"a.cu", 1}, {"b.cuh", 2}, {"c.cu", 0}, {"/full/d.cu", 1}, {"e.cu", 9}};
    const LineTable table = read(line_unit(unit, {}), {});
    CHECK(table.files ==
          std::vector<std::string>{"/src/a.cu", "include/b.cuh", "c.cu", "/full/d.cu", "e.cu"});
    CHECK(table.functions.empty());
}

TEST_CASE("a row names the file that was set, and none where its number is not in the table") {
    LineUnit unit;
    unit.files = {{"a.cu"}, {"b.cu"}};
    Sequence sequence;
    for (const std::uint64_t file :
         {std::uint64_t{2}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{0}}) {
        sequence.opcodes.add<std::uint8_t>(set_file).unsigned_leb(file).add<std::uint8_t>(copy);
    }
    const LineTable table = read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}});
    CHECK(rows_of(table, "k") == std::vector<Row>{{0, 1, 1}, {0, 0, 1}, {0, -1, 1}, {0, -1, 1}});
}

TEST_CASE("the function comes from the relocation: by name, by section, with and without addends") {
    const LineUnit unit = unit_of_one_file();
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(copy);
    const std::vector<std::byte> lines = line_unit(unit, sequence.opcodes.get());
    for (const bool addends : {false, true}) {
        CAPTURE(addends);
        CHECK(rows_of(read(lines, {{place_in(unit), "k"}}, addends), "k").size() == 1);
        CHECK(rows_of(read(lines, {{place_in(unit), "k", true}}, addends), "k").size() == 1);
        CHECK(rows_of(read(lines, {{place_in(unit), ".text.k"}}, addends), "k").size() == 1);
        CHECK(read(lines, {{place_in(unit) + 1, "k"}}, addends).functions.empty());
        CHECK(read(lines, {}, addends).functions.empty());
    }
}

TEST_CASE("rows before an address, and behind the end of a sequence, belong to no function") {
    const LineUnit unit = unit_of_one_file();
    Bytes opcodes;
    opcodes.add<std::uint8_t>(copy);
    const std::uint64_t place = line_header_bytes(unit) + opcodes.size() + 3;
    set_address(opcodes, 0);
    opcodes.add<std::uint8_t>(advance_line).signed_leb(41).add<std::uint8_t>(copy);
    end_sequence(opcodes);
    opcodes.add<std::uint8_t>(copy);
    const LineTable table = read(line_unit(unit, opcodes.get()), {{place, "k"}});
    CHECK(rows_of(table, "k") == std::vector<Row>{{0, 0, 42}});
    CHECK(table.functions.size() == 1);
}

TEST_CASE("a sequence starts again at line 1 of file 1") {
    LineUnit unit;
    unit.files = {{"a.cu"}, {"b.cu"}};
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(set_file)
        .unsigned_leb(2)
        .add<std::uint8_t>(advance_line)
        .signed_leb(8);
    sequence.opcodes.add<std::uint8_t>(copy);
    end_sequence(sequence.opcodes);
    const std::uint64_t second = line_header_bytes(unit) + sequence.opcodes.size() + 3;
    set_address(sequence.opcodes, 0);
    sequence.opcodes.add<std::uint8_t>(copy);
    const LineTable table =
        read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}, {second, "other"}});
    CHECK(rows_of(table, "k") == std::vector<Row>{{0, 1, 9}});
    CHECK(rows_of(table, "other") == std::vector<Row>{{0, 0, 1}});
}

TEST_CASE("units follow one another, each with files of its own") {
    const LineUnit first = unit_of_one_file();
    const LineUnit second{.version = 4, .folders = {"/two"}, .files = {{"b.cu", 1}, {"c.cu", 1}}};
    Sequence one;
    one.opcodes.add<std::uint8_t>(copy);
    Sequence two;
    two.opcodes.add<std::uint8_t>(set_file).unsigned_leb(2).add<std::uint8_t>(copy);
    Bytes lines;
    lines.join(line_unit(first, one.opcodes.get()));
    const std::uint64_t begin = lines.size();
    lines.join(line_unit(second, two.opcodes.get()));
    const LineTable table = read(lines.get(), {{place_in(first), "k"}, {begin + place_in(second), "other"}});
    CHECK(table.files == std::vector<std::string>{"a.cu", "/two/b.cu", "/two/c.cu"});
    CHECK(rows_of(table, "k") == std::vector<Row>{{0, 0, 1}});
    CHECK(rows_of(table, "other") == std::vector<Row>{{0, 2, 1}});
}

TEST_CASE("rows of a function ascend, whatever the order of its sequences; equal ones keep theirs") {
    const LineUnit unit = unit_of_one_file();
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(advance_pc).unsigned_leb(64).add<std::uint8_t>(copy);
    end_sequence(sequence.opcodes);
    const std::uint64_t second = line_header_bytes(unit) + sequence.opcodes.size() + 3;
    set_address(sequence.opcodes, 16);
    sequence.opcodes.add<std::uint8_t>(advance_line).signed_leb(4).add<std::uint8_t>(copy);
    sequence.opcodes.add<std::uint8_t>(advance_line).signed_leb(-1).add<std::uint8_t>(copy);
    const LineTable table =
        read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}, {second, "k"}});
    CHECK(rows_of(table, "k") == std::vector<Row>{{16, 0, 5}, {16, 0, 4}, {64, 0, 1}});
}

TEST_CASE("opcodes that a later standard adds are passed over by their operands") {
    LineUnit unit = unit_of_one_file();
    unit.opcode_base = 15;  // 13 and 14 have three operands in this unit
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(10).add<std::uint8_t>(11);  // no operands
    sequence.opcodes.add<std::uint8_t>(12).unsigned_leb(500);
    sequence.opcodes.add<std::uint8_t>(14).unsigned_leb(1).unsigned_leb(1 << 20).unsigned_leb(1);
    sequence.opcodes.add<std::uint8_t>(0).unsigned_leb(4).add<std::uint8_t>(0x80);  // an extended one
    sequence.opcodes.add<std::uint8_t>(1).add<std::uint8_t>(1).add<std::uint8_t>(1);
    sequence.opcodes.add<std::uint8_t>(15 + (2 + 5) + 14 * 3);
    const LineTable table = read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}});
    CHECK(rows_of(table, "k") == std::vector<Row>{{3, 0, 3}});
}

TEST_CASE("a unit of another version ends the reading, and those before it stay") {
    const LineUnit good = unit_of_one_file();
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(copy);
    for (const std::uint16_t version : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{5}}) {
        CAPTURE(version);
        LineUnit bad = good;
        bad.version = version;
        Bytes lines;
        lines.join(line_unit(good, sequence.opcodes.get())).join(line_unit(bad, sequence.opcodes.get()));
        const std::uint64_t begin = lines.size() / 2;
        const LineTable table = read(lines.get(), {{place_in(good), "k"}, {begin + place_in(bad), "other"}});
        CHECK(rows_of(table, "k").size() == 1);
        CHECK(rows_of(table, "other").empty());
    }
}

TEST_CASE("a range of no lines gives no rows") {
    LineUnit unit = unit_of_one_file();
    unit.line_range = 0;
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(copy).add<std::uint8_t>(200);
    CHECK(read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}}).functions.empty());
}

/// A step from one row to the next, and the opcodes that make it.
struct Step {
    int address = 0;  ///< in instructions
    int line = 0;
    int file = 1;
    int form = 0;
};

void write_step(Bytes& opcodes, const LineUnit& unit, const Step& step) {
    const int special = unit.opcode_base + (step.line - unit.line_base) + unit.line_range * step.address;
    const bool line_fits = step.line >= unit.line_base && step.line < unit.line_base + unit.line_range;
    if (step.form == 0 && line_fits && special <= 255) {
        opcodes.add(static_cast<std::uint8_t>(special));
        return;
    }
    int left = step.address;
    const int constant = (255 - unit.opcode_base) / unit.line_range;
    if (step.form == 1 && left >= constant) {
        opcodes.add<std::uint8_t>(const_add);
        left -= constant;
    }
    if (step.form == 2) {
        opcodes.add<std::uint8_t>(fixed).add(static_cast<std::uint16_t>(left * unit.instruction_bytes));
    } else {
        opcodes.add<std::uint8_t>(advance_pc).unsigned_leb(static_cast<std::uint64_t>(left));
    }
    opcodes.add<std::uint8_t>(advance_line).signed_leb(step.line).add<std::uint8_t>(copy);
}

TEST_CASE("any rows written by any opcodes come back") {
    CHECK(rc::check("round trip", [] {
        LineUnit unit;
        unit.version = *rc::gen::inRange<std::uint16_t>(2, 5);
        unit.instruction_bytes = *rc::gen::element<std::uint8_t>(1, 4, 16);
        unit.line_base = *rc::gen::inRange<std::int8_t>(-10, 1);
        unit.line_range = *rc::gen::inRange<std::uint8_t>(1, 40);
        unit.opcode_base = *rc::gen::inRange<std::uint8_t>(10, 16);
        unit.folders = {"/one", "two"};
        unit.files = {{"a.cu", 1}, {"b.cu", 2}, {"c.cu", 0}};
        const auto first = *rc::gen::inRange<std::uint32_t>(0, 100);
        Bytes opcodes;
        set_address(opcodes, first);
        std::vector<Row> expected;
        Row row{first, 0, 1};
        const int rows = *rc::gen::inRange(0, 12);
        for (int i = 0; i < rows; ++i) {
            const Step step{*rc::gen::inRange(0, 300),
                            *rc::gen::oneOf(rc::gen::inRange(-12, 40), rc::gen::inRange(-70000, 70000)),
                            *rc::gen::inRange(1, 4), *rc::gen::inRange(0, 4)};
            if (step.file != row.file + 1) {
                opcodes.add<std::uint8_t>(set_file).unsigned_leb(static_cast<std::uint64_t>(step.file));
            }
            write_step(opcodes, unit, step);
            row.address += static_cast<std::uint32_t>(step.address) * unit.instruction_bytes;
            row.line += step.line;
            row.file = step.file - 1;
            expected.push_back(row);
        }
        end_sequence(opcodes);
        const LineTable table = read(line_unit(unit, opcodes.get()), {{place_in(unit), "k"}});
        RC_ASSERT((table.files == std::vector<std::string>{"/one/a.cu", "two/b.cu", "c.cu"}));
        RC_ASSERT(rows_of(table, "k") == expected);
    }));
}

TEST_CASE("a section cut off anywhere gives the rows before the cut") {
    LineUnit unit;
    unit.folders = {"/one"};
    unit.files = {{"a.cu", 1}, {"b.cu", 1}};
    Sequence sequence;
    const std::vector<Step> steps{{1, 6, 1, 0}, {300, 400, 1, 1}, {2, -3, 1, 2}, {5, 1, 1, 3}, {0, 1, 1, 0}};
    std::vector<std::size_t> ends;  // of the opcodes of each row
    for (const Step& step : steps) {
        write_step(sequence.opcodes, unit, step);
        ends.push_back(line_header_bytes(unit) + sequence.opcodes.size());
    }
    end_sequence(sequence.opcodes);
    const std::vector<std::byte> whole = line_unit(unit, sequence.opcodes.get());
    const std::vector<Row> rows = rows_of(read(whole, {{place_in(unit), "k"}}), "k");
    REQUIRE(rows.size() == steps.size());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const auto left = std::ranges::count_if(ends, [length](std::size_t end) { return end <= length; });
        CHECK(rows_of(read(cut, {{place_in(unit), "k"}}), "k") ==
              std::vector<Row>(rows.begin(), rows.begin() + left));
    }
}

TEST_CASE("lengths that lie end the reading, and it ends") {
    const LineUnit unit = unit_of_one_file();
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(copy);
    const std::vector<std::byte> good = line_unit(unit, sequence.opcodes.get());
    const std::vector<Place> places{{place_in(unit), "k"}};
    for (const std::uint32_t length : {0U, 1U, 5U, 0x7fffffffU, 0xffffffffU}) {
        CAPTURE(length);
        std::vector<std::byte> bytes = good;
        overwrite(bytes, 0, length);  // of the unit
        CHECK(rows_of(read(bytes, places), "k").size() == (length > 5 ? 1 : 0));
        bytes = good;
        overwrite(bytes, 6, length == 0 ? 0xfffffffeU : length + (1U << 20U));  // of the header
        CHECK(read(bytes, places).functions.empty());
    }
    // An extended opcode that claims to go beyond the end.
    for (const std::uint64_t claimed : {std::uint64_t{0x7f}, ~std::uint64_t{0}, ~std::uint64_t{0} - 20}) {
        Bytes opcodes = sequence.opcodes;
        opcodes.add<std::uint8_t>(0).unsigned_leb(claimed).add<std::uint8_t>(0x80);
        CHECK(rows_of(read(line_unit(unit, opcodes.get()), places), "k").size() == 1);
    }
}

TEST_CASE("no bytes make the reader go wrong") {
    CHECK(rc::check("any opcodes", [] {
        LineUnit unit;
        unit.version = *rc::gen::inRange<std::uint16_t>(2, 5);
        unit.opcode_base = *rc::gen::inRange<std::uint8_t>(0, 20);
        unit.files = {{"a.cu"}};
        Bytes opcodes;
        set_address(opcodes, 0);
        // Without the upper bits, so that no number goes beyond 63 bits.
        opcodes.join(*rc::gen::container<std::vector<std::byte>>(
            rc::gen::map(rc::gen::inRange(0, 128), [](int value) { return static_cast<std::byte>(value); })));
        const LineTable table = read(line_unit(unit, opcodes.get()), {{place_in(unit), "k"}});
        for (const auto& [name, lines] : table.functions) {
            RC_ASSERT(name == "k");
            RC_ASSERT(std::ranges::is_sorted(lines, {}, &SourceLine::address));
            for (const SourceLine& line : lines) {
                RC_ASSERT(line.file >= -1);
                RC_ASSERT(line.file < static_cast<int>(table.files.size()));
            }
        }
    }));
}

TEST_CASE("lines and files beyond 63 bits give rows of no file, and no overflow") {
    const LineUnit unit = unit_of_one_file();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Sequence sequence;
    sequence.opcodes.add<std::uint8_t>(advance_line).signed_leb(most).add<std::uint8_t>(copy);
    for (const std::uint64_t file : {std::uint64_t{1} << 63U, std::numeric_limits<std::uint64_t>::max()}) {
        sequence.opcodes.add<std::uint8_t>(set_file).unsigned_leb(file).add<std::uint8_t>(copy);
    }
    const LineTable table = read(line_unit(unit, sequence.opcodes.get()), {{place_in(unit), "k"}});
    REQUIRE(rows_of(table, "k").size() == 3);
    CHECK(rows_of(table, "k")[1].file == -1);
    CHECK(rows_of(table, "k")[2].file == -1);
}

TEST_CASE("a long folder before each of many files ends the reading") {
    LineUnit unit;
    unit.folders = {std::string(4096, 'd')};
    unit.files.assign(1000, {"a", 1});
    std::size_t bytes = 0;
    const std::vector<std::byte> lines = line_unit(unit, {});
    for (const std::string& file : read(lines, {}).files) {
        bytes += file.size();
    }
    CHECK(bytes <= 65 * lines.size());
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
