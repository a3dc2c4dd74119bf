// Tests of the decoder: rows of registers and constants, modifiers of sources, and operands that are refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/decoder.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::uint16_t registers = 40;

/// A decoder of one line in a kernel of 40 registers whose code begins at instruction 100.
class Line {
  public:
    explicit Line(std::string_view text) : line_(assembly_line(text, 0x70)) { layout_.general = registers; }
    [[nodiscard]] Decoder decoder() { return {line_, layout_, known_, 100}; }
    [[nodiscard]] const RowLayout& layout() const { return layout_; }
    [[nodiscard]] Source source(std::size_t i, SourceType type = SourceType::integer, int words = 1) {
        return decoder().source(i, type, words);
    }
    [[nodiscard]] const ConstantRow& constant(std::uint16_t row) const {
        return layout_.constants.at(std::size_t{row} - layout_.first_constant());
    }

  private:
    AssemblyLine line_;
    RowLayout layout_;
    std::map<std::uint64_t, std::uint16_t> known_;
};

template <class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("the rows of a warp lie one kind behind the other") {
    const RowLayout layout{registers, {{}, {}, {}}};
    CHECK(layout.zero() == registers);
    CHECK(layout.sink() == registers + 4);
    CHECK(layout.uniform() == registers + 8);
    CHECK(layout.first_constant() == registers + 72);
    CHECK(layout.rows() == registers + 75);
}

TEST_CASE("registers are rows, zeros are read and sinks are written") {
    Line line("IADD3 R5, R7, UR3, RZ");
    CHECK(line.decoder().destination(0) == 5);
    CHECK(line.source(1).row == 7);
    CHECK(line.source(2).row == line.layout().uniform() + 3);
    CHECK(line.source(3).row == line.layout().zero());
    CHECK(Line("MOV RZ, R1").decoder().destination(0) == Line("NOP").layout().sink());
    CHECK(Line("UMOV URZ, UR1").decoder().destination(0) == Line("NOP").layout().sink());
    CHECK(Line("UMOV UR62, URZ").decoder().destination(0) == Line("NOP").layout().uniform() + 62);
    CHECK(Line("UMOV UR1, UR63").source(1).row == Line("NOP").layout().zero());
    CHECK(Line("MOV R39, R39").decoder().destination(0) == 39);
}

TEST_CASE("constants of any kind are kept once, and pairs side by side") {
    CHECK(rc::check("any order of requests", [] {
        Line line("NOP");
        Decoder decoder = line.decoder();
        struct Request {
            ConstantRow low, high;
            bool pair;
            std::uint16_t row;
        };
        std::vector<Request> requests;
        std::set<std::uint64_t> words, places;
        for (int i = 0; i < 60; ++i) {
            Request own{};
            own.pair = random_below(2) != 0;
            // Few different ones, so that they come again.
            const std::uint32_t low = random_below(4);
            const std::uint32_t high = random_below(3);
            if (random_below(2) != 0) {
                own.low = {value_bank, 0, low};
                own.high = {value_bank, 0, high};
                own.row = own.pair ? decoder.constant_pair(pair_of(low, high)) : decoder.constant_row(low);
            } else {
                const int bank = static_cast<int>(random_below(3));
                own.low = {bank, 8 * low, 0};
                own.high = {bank, 8 * low + 4, 0};
                own.row = decoder.constant_bank_row(bank, 8 * low, own.pair ? 2 : 1);
            }
            const std::size_t before = line.layout().constants.size();
            requests.push_back(own);
            // Asked for again at once it is the same, and takes no more place.
            const std::uint16_t again =
                own.low.bank == value_bank
                    ? (own.pair ? decoder.constant_pair(pair_of(low, high)) : decoder.constant_row(low))
                    : decoder.constant_bank_row(own.low.bank, own.low.offset, own.pair ? 2 : 1);
            RC_ASSERT(again == own.row);
            RC_ASSERT(line.layout().constants.size() == before);
        }
        const auto same = [](const ConstantRow& a, const ConstantRow& b) {
            return a.bank == b.bank && a.offset == b.offset && a.value == b.value;
        };
        std::set<std::uint16_t> rows_of_words;
        for (const Request& own : requests) {
            RC_ASSERT(same(line.constant(own.row), own.low));
            RC_ASSERT((!own.pair || same(line.constant(static_cast<std::uint16_t>(own.row + 1)), own.high)));
            if (!own.pair) {
                rows_of_words.insert(own.row);
            }
        }
        // 4 values and 3 banks of 4 places, alone.
        RC_ASSERT(rows_of_words.size() <= 16U);
        RC_ASSERT(line.layout().rows() == line.layout().first_constant() + line.layout().constants.size());
    }));
}

TEST_CASE("immediates and words of banks are constants by their kind") {
    Line line("IADD3 R1, 0x1234, c[0x3][0x18], -0x2");
    CHECK(line.constant(line.source(1).row).value == 0x1234);
    const ConstantRow bank = line.constant(line.source(2).row);
    CHECK(bank.bank == 3);
    CHECK(bank.offset == 0x18);
    CHECK(line.constant(line.source(3).row).value == 0xfffffffeU);
    // Of 64 bits: extended by the sign, and the next word of the bank.
    const std::uint16_t pair = line.source(3, SourceType::integer, 2).row;
    CHECK(line.constant(pair).value == 0xfffffffeU);
    CHECK(line.constant(static_cast<std::uint16_t>(pair + 1)).value == 0xffffffffU);
    const std::uint16_t wide = line.source(2, SourceType::integer, 2).row;
    CHECK(line.constant(wide).offset == 0x18);
    CHECK(line.constant(static_cast<std::uint16_t>(wide + 1)).offset == 0x1c);
    // An fp64 has its upper word encoded.
    Line real("DADD R2, R4, 1.5");
    const std::uint16_t row = real.source(2, SourceType::real64).row;
    CHECK(real.constant(row).value == 0);
    CHECK(real.constant(static_cast<std::uint16_t>(row + 1)).value == 0x3ff80000U);
    Line single("FADD R2, R4, 1.5");
    CHECK(single.constant(single.source(2, SourceType::real32).row).value == 0x3fc00000U);
}

TEST_CASE("signs, bars and complements act on the bits of their type") {
    Line line("FADD R1, -R2, |R3|, -|R4|, R5");
    struct Case {
        SourceType type;
        std::uint32_t sign;
    };
    for (const Case& own : {Case{SourceType::real32, 0x80000000U}, Case{SourceType::real64, 0x80000000U},
                            Case{SourceType::half2, 0x80008000U}}) {
        CHECK(line.source(1, own.type).flip == own.sign);
        CHECK(line.source(1, own.type).keep == all_lanes);
        CHECK(line.source(2, own.type).flip == 0);
        CHECK(line.source(2, own.type).keep == ~own.sign);
        CHECK(line.source(3, own.type).flip == own.sign);
        CHECK(line.source(3, own.type).keep == ~own.sign);
        CHECK(line.source(4, own.type).flip == 0);
        CHECK(line.source(4, own.type).keep == all_lanes);
    }
    // Whole numbers: handlers look at the flags; a complement flips every bit.
    Line whole("IADD3 R1, -R2, ~R3, R4");
    CHECK(whole.source(1).negated);
    CHECK(whole.source(1).flip == 0);
    CHECK(whole.source(2).inverted);
    CHECK(whole.source(2).flip == all_lanes);
    CHECK_FALSE(whole.source(3).negated);
    CHECK(whole.source(3).flip == 0);
}

TEST_CASE("predicates have places of their own, uniform ones behind, and PT takes nothing") {
    Line line("PLOP3.LUT P2, UP3, !P4, !UP5, PT, 0x80, 0x0");
    CHECK(line.decoder().predicate_out(0) == 2);
    CHECK(line.decoder().predicate_out(1) == first_uniform_predicate + 3);
    CHECK(line.decoder().predicate_in(2).index == 4);
    CHECK(line.decoder().predicate_in(2).flip == all_lanes);
    CHECK(line.decoder().predicate_in(3).index == first_uniform_predicate + 5);
    CHECK(line.decoder().predicate_in(3).flip == all_lanes);
    CHECK(line.decoder().predicate_in(4).index == true_predicate_index);
    CHECK(line.decoder().predicate_in(4).flip == 0);
    CHECK(Line("ISETP.EQ.AND PT, UPT, R1, R2, PT").decoder().predicate_out(0) == predicate_sink);
    CHECK(Line("ISETP.EQ.AND PT, UPT, R1, R2, PT").decoder().predicate_out(1) == predicate_sink);
}

TEST_CASE("places in the code count from the function's first instruction") {
    CHECK(Line("BRA 0x0").decoder().target(0) == 100);
    CHECK(Line("BRA 0x230").decoder().target(0) == 100 + 0x23);
}

TEST_CASE("operands of another kind are refused with the line's address and text") {
    const auto refused = [](const std::string& text, const auto& call) {
        Line line(text);
        return message_of([&line, &call] { call(line); });
    };
    struct Case {
        std::string text;
        std::string message;
        std::string part;
    };
    const auto second = [](Line& line) { (void)line.source(1); };
    const auto result = [](Line& line) { (void)line.decoder().destination(0); };
    const std::string constant = "a constant whose place is not known before the launch";
    for (const Case& own :
         {Case{"MOV R1, R40", refused("MOV R1, R40", second),
               "register R40 is beyond the kernel's registers"},
          Case{"MOV R40, R1", refused("MOV R40, R1", result), "register R40 is beyond"},
          Case{"MOV R1", refused("MOV R1", second), "with 1 operands"},
          Case{"IADD3 R1, |R2|", refused("IADD3 R1, |R2|", second), "an integer operand in bars"},
          Case{"MOV R1, c[0x3][R2]", refused("MOV R1, c[0x3][R2]", second), constant},
          Case{"MOV R1, c[0x3][UR2]", refused("MOV R1, c[0x3][UR2]", second), constant},
          Case{"MOV R1, P2", refused("MOV R1, P2", second), "operand 'P2' as a number"},
          Case{"MOV P1, R2", refused("MOV P1, R2", result), "operand 'P1' as a result"},
          Case{"MOV 0x1, R2", refused("MOV 0x1, R2", result), "operand '0x1' as a result"},
          Case{"SEL R1, R2", refused("SEL R1, R2", [](Line& line) { (void)line.decoder().predicate_in(1); }),
               "operand 'R2' as a predicate"},
          Case{"SEL R1, R2", refused("SEL R1, R2", [](Line& line) { (void)line.decoder().predicate_out(0); }),
               "operand 'R1' as a predicate"},
          Case{"BRA R3", refused("BRA R3", [](Line& line) { (void)line.decoder().target(0); }),
               "operand 'R3' as a place in the code"}}) {
        CAPTURE(own.message);
        CHECK(has_parts(own.message, {"instruction at 0x70", own.text, own.part}));
    }
}

TEST_CASE("an opcode is in one table, by its name alone") {
    std::set<std::string_view> names;
    for (const auto opcodes :
         {control_opcodes(), integer_opcodes(), uniform_opcodes(), warp_opcodes(), real_opcodes(),
          half_opcodes(), memory_opcodes(), matrix_opcodes(), asynchronous_opcodes()}) {
        for (const Opcode& opcode : opcodes) {
            CAPTURE(opcode.name);
            CHECK(names.insert(opcode.name).second);
            CHECK((opcode.decode != nullptr));
            CHECK((find_opcode(opcode.name) == opcode.decode));
            CHECK(opcode.name.find('.') == std::string_view::npos);
        }
    }
    for (const std::string_view name : {"", "IADD3.X", "iadd3", "FROB"}) {
        CHECK((find_opcode(name) == nullptr));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
