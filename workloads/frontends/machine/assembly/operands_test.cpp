// Tests of operands: every printed form by hand, and any operand printed by other means comes back.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/frontends/machine/assembly/disassemble.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using Words = std::vector<std::string>;

Operand only(std::string_view text) {
    const std::vector<Operand> operands = parse_operands(text);
    REQUIRE(operands.size() == 1);
    return operands[0];
}

std::string error_of(std::string_view text) {
    try {
        (void)parse_operands(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("registers of each kind by their numbers") {
    struct Form {
        std::string_view text;
        OperandKind kind;
        int number;
    };
    for (const Form& form :
         {Form{"R0", OperandKind::general, 0}, Form{"R254", OperandKind::general, 254},
          Form{"RZ", OperandKind::general, zero_register}, Form{"UR62", OperandKind::uniform, 62},
          Form{"URZ", OperandKind::uniform, zero_register}, Form{"P6", OperandKind::predicate, 6},
          Form{"PT", OperandKind::predicate, true_predicate}, Form{"UP3", OperandKind::uniform_predicate, 3},
          Form{"UPT", OperandKind::uniform_predicate, true_predicate}, Form{"B15", OperandKind::barrier, 15},
          Form{"SB5", OperandKind::scoreboard, 5}}) {
        CAPTURE(form.text);
        const Operand operand = only(form.text);
        CHECK(operand.kind == form.kind);
        CHECK(operand.number == form.number);
        CHECK(operand.text == form.text);
        CHECK_FALSE(operand.negated);
        CHECK_FALSE(operand.absolute);
        CHECK_FALSE(operand.inverted);
        CHECK(operand.modifiers.empty());
    }
}

TEST_CASE("signs, bars and inversions before registers") {
    CHECK(only("-R4").negated);
    CHECK(only("-R4").number == 4);
    CHECK(only("!P0").negated);
    CHECK(only("!PT").number == true_predicate);
    CHECK(only("!UP2").kind == OperandKind::uniform_predicate);
    CHECK(only("!UP2").negated);
    CHECK(only("~R16").inverted);
    CHECK_FALSE(only("~R16").negated);
    CHECK(only("~UR4").kind == OperandKind::uniform);
    CHECK(only("~UR4").inverted);
    CHECK(only("|R4|").absolute);
    CHECK_FALSE(only("|R4|").negated);
    CHECK(only("|R4|").number == 4);
    const Operand both = only("-|R17|");
    CHECK(both.kind == OperandKind::general);
    CHECK(both.number == 17);
    CHECK(both.negated);
    CHECK(both.absolute);
    CHECK(both.text == "-|R17|");
}

TEST_CASE("modifiers of registers, without reuse") {
    CHECK(only("R4.H0_H0").modifiers == Words{"H0_H0"});
    CHECK(only("R4.reuse.H1_H1").modifiers == Words{"H1_H1"});
    CHECK(only("R40.ROW").modifiers == Words{"ROW"});
    CHECK(only("R44.reuse.COL").modifiers == Words{"COL"});
    CHECK(only("R44.reuse").modifiers.empty());
    CHECK(only("-R8.reuse").negated);
    CHECK(only("~R7.reuse").inverted);
    CHECK(only("R4.B1.X8").modifiers == Words{"B1", "X8"});
    const Operand bars = only("|R0|.reuse");
    CHECK(bars.absolute);
    CHECK(bars.number == 0);
    CHECK(bars.modifiers.empty());
    CHECK(only("-|R3|.H1_H1").modifiers == Words{"H1_H1"});
}

TEST_CASE("whole numbers in decimal and hexadecimal") {
    struct Form {
        std::string_view text;
        std::int64_t value;
    };
    for (const Form& form :
         {Form{"0", 0}, Form{"4", 4}, Form{"-4", -4}, Form{"0x10", 16}, Form{"-0x1", -1}, Form{"+0x8", 8},
          Form{"0xffffffff", 0xffffffff}, Form{"-0x2000", -8192}, Form{"0xffffffffffffffff", -1}}) {
        CAPTURE(form.text);
        const Operand operand = only(form.text);
        CHECK(operand.kind == OperandKind::immediate);
        CHECK(operand.value == form.value);
        CHECK_FALSE(operand.is_real);
        CHECK_FALSE(operand.negated);
    }
}

TEST_CASE("real numbers have the bits of an fp32") {
    struct Form {
        std::string_view text;
        double real;
        std::int64_t bits;
    };
    // The last three: what the sine's reduction subtracts, 2^64, and 2^-21.
    for (const Form& form : {Form{"2.5", 2.5, 0x40200000}, Form{"-1.5", -1.5, 0xbfc00000},
                             Form{"-7.5497894158615963534e-08", -7.5497894158615963534e-08, 0xb3a22168},
                             Form{"1.84467440737095516160e+19", 18446744073709551616.0, 0x5f800000},
                             Form{"4.76837158203125e-07", 4.76837158203125e-07, 0x35000000}}) {
        CAPTURE(form.text);
        const Operand operand = only(form.text);
        CHECK(operand.kind == OperandKind::immediate);
        CHECK(operand.is_real);
        CHECK(operand.real == form.real);
        CHECK(operand.value == form.bits);
    }
}

TEST_CASE("infinities and numbers that are none, as printed with a space behind") {
    CHECK(only("+INF ").value == 0x7f800000);
    CHECK(only("-INF ").value == 0xff800000);
    CHECK(only("+INF").real == INFINITY);
    CHECK(only("-INF").real == -INFINITY);
    for (const std::string_view text : {"+QNAN ", "-QNAN ", "+SNAN", "QNAN"}) {
        CAPTURE(text);
        const Operand operand = only(text);
        CHECK(operand.kind == OperandKind::immediate);
        CHECK(operand.is_real);
        CHECK(std::isnan(operand.real));
        CHECK((operand.value & 0x7f800000) == 0x7f800000);
        CHECK((operand.value & 0x007fffff) != 0);
    }
}

TEST_CASE("constants: banks, offsets, and registers that are added") {
    Operand operand = only("c[0x0][0x210]");
    CHECK(operand.kind == OperandKind::constant);
    CHECK(operand.bank == 0);
    CHECK(operand.value == 0x210);
    CHECK(operand.base == -1);
    CHECK(operand.uniform_base == -1);
    CHECK(operand.descriptor == -1);

    operand = only("c[0x3][R4+0x10]");
    CHECK(operand.kind == OperandKind::constant);
    CHECK(operand.bank == 3);
    CHECK(operand.base == 4);
    CHECK(operand.value == 0x10);

    operand = only("c[0x2][R5+-0xc]");
    CHECK(operand.bank == 2);
    CHECK(operand.base == 5);
    CHECK(operand.value == -0xc);

    operand = only("c[0x0][UR4]");
    CHECK(operand.base == -1);
    CHECK(operand.uniform_base == 4);
    CHECK(operand.value == 0);

    operand = only("c[0x3][UR4+0x30]");
    CHECK(operand.bank == 3);
    CHECK(operand.uniform_base == 4);
    CHECK(operand.value == 0x30);

    CHECK(only("c[0x0][RZ]").base == zero_register);

    operand = only("cx[UR4][0x10]");
    CHECK(operand.kind == OperandKind::constant);
    CHECK(operand.bank == -1);
    CHECK(operand.descriptor == 4);
    CHECK(operand.value == 0x10);
}

TEST_CASE("constants take signs, bars and modifiers like registers") {
    Operand operand = only("-c[0x0][0x160]");
    CHECK(operand.kind == OperandKind::constant);
    CHECK(operand.negated);
    CHECK(operand.value == 0x160);
    operand = only("-|c[0x0][0x160]|");
    CHECK(operand.negated);
    CHECK(operand.absolute);
    CHECK(operand.bank == 0);
    CHECK(operand.value == 0x160);
    CHECK(only("~c[0x0][0x160]").inverted);
    CHECK(only("c[0x0][0x160].H0_H0").modifiers == Words{"H0_H0"});
}

TEST_CASE("addresses of shared and local memory") {
    Operand operand = only("[R5+-0x2000]");
    CHECK(operand.kind == OperandKind::address);
    CHECK(operand.base == 5);
    CHECK(operand.value == -0x2000);
    CHECK(operand.uniform_base == -1);
    CHECK(operand.descriptor == -1);
    CHECK_FALSE(operand.base_is_64);
    CHECK(operand.scale == 1);

    operand = only("[R9+0x1000]");
    CHECK(operand.base == 9);
    CHECK(operand.value == 0x1000);

    operand = only("[R15+UR6+-0x1]");
    CHECK(operand.base == 15);
    CHECK(operand.uniform_base == 6);
    CHECK(operand.value == -1);

    operand = only("[UR10+0x4]");
    CHECK(operand.base == -1);
    CHECK(operand.uniform_base == 10);
    CHECK(operand.value == 4);

    CHECK(only("[UR4]").uniform_base == 4);
    CHECK(only("[RZ]").base == zero_register);
    CHECK(only("[R10+URZ]").uniform_base == zero_register);
    operand = only("[0x40]");
    CHECK(operand.kind == OperandKind::address);
    CHECK(operand.base == -1);
    CHECK(operand.value == 0x40);
}

TEST_CASE("addresses with scaled registers") {
    for (const int scale : {4, 8, 16}) {
        const Operand operand = only(fmt::format("[R2.X{}+UR4+0x10]", scale));
        CHECK(operand.base == 2);
        CHECK(operand.scale == scale);
        CHECK(operand.uniform_base == 4);
        CHECK(operand.value == 0x10);
        CHECK(operand.modifiers.empty());
    }
}

TEST_CASE("addresses of global memory: pairs of registers, uniform bases, descriptors") {
    Operand operand = only("[R2.64]");
    CHECK(operand.kind == OperandKind::address);
    CHECK(operand.base == 2);
    CHECK(operand.base_is_64);
    CHECK_FALSE(operand.base_is_unsigned);

    operand = only("[R2.64+UR4+0x10]");
    CHECK(operand.base_is_64);
    CHECK(operand.uniform_base == 4);
    CHECK(operand.value == 0x10);

    operand = only("[R2.U32+UR4]");
    CHECK(operand.base == 2);
    CHECK(operand.base_is_unsigned);
    CHECK_FALSE(operand.base_is_64);
    CHECK(operand.uniform_base == 4);

    operand = only("desc[UR6][R2.64+-0x8]");
    CHECK(operand.kind == OperandKind::address);
    CHECK(operand.descriptor == 6);
    CHECK(operand.base == 2);
    CHECK(operand.base_is_64);
    CHECK(operand.value == -8);
    CHECK(operand.uniform_base == -1);

    operand = only("desc[UR8][R6.64]");
    CHECK(operand.descriptor == 8);
    CHECK(operand.base == 6);
    CHECK(operand.value == 0);

    operand = only("desc[UR8][R6.U32+UR2+0x4]");
    CHECK(operand.descriptor == 8);
    CHECK(operand.base_is_unsigned);
    CHECK(operand.uniform_base == 2);
    CHECK(operand.value == 4);
}

TEST_CASE("descriptors of matrices") {
    Operand operand = only("gdesc[UR12]");
    CHECK(operand.kind == OperandKind::address);
    CHECK(operand.descriptor == 12);
    CHECK(operand.base == -1);
    CHECK(operand.modifiers.empty());
    operand = only("gdesc[UR4].tnspB");
    CHECK(operand.kind == OperandKind::address);
    CHECK(operand.descriptor == 4);
    CHECK(operand.modifiers == Words{"tnspB"});
}

TEST_CASE("special registers and everything else keep their text") {
    for (const std::string_view name : {"SR_TID.X", "SR_CTAID.Y", "SR_LANEID", "SRZ"}) {
        CHECK(only(name).kind == OperandKind::special);
        CHECK(only(name).text == name);
    }
    for (const std::string_view name :
         {"PR", "gsb0", "$__internal_0_$__cuda_sm20_div_s64", "_Z5saxpyifPKfPf"}) {
        CHECK(only(name).kind == OperandKind::text);
        CHECK(only(name).text == name);
    }
    CHECK(only("`(.L_x_1)").kind == OperandKind::text);
    CHECK(only("`(.L_x_1)").text == ".L_x_1");
    CHECK(only("R256").kind == OperandKind::text);
    CHECK(only("R1x").kind == OperandKind::text);
    CHECK(only("0x").kind == OperandKind::text);
}

TEST_CASE("lists of operands: commas outside of brackets, spaces, and nothing") {
    CHECK(parse_operands("").empty());
    CHECK(parse_operands("   ").empty());
    const std::vector<Operand> store = parse_operands("desc[UR6][R2.64],R7");
    REQUIRE(store.size() == 2);
    CHECK(store[0].kind == OperandKind::address);
    CHECK(store[1].number == 7);
    const std::vector<Operand> spaced = parse_operands(" P0, PT ,|R0|,+INF ,PT");
    REQUIRE(spaced.size() == 5);
    CHECK(spaced[0].kind == OperandKind::predicate);
    CHECK(spaced[3].value == 0x7f800000);
    CHECK(spaced[4].number == true_predicate);
    const std::vector<Operand> jump = parse_operands("R16 -0x1c0");  // of BRX, without a comma
    REQUIRE(jump.size() == 2);
    CHECK(jump[0].number == 16);
    CHECK(jump[1].value == -0x1c0);
    const std::vector<Operand> call = parse_operands("R20 `(f(int, char))");
    REQUIRE(call.size() == 2);
    CHECK(call[1].text == "f(int, char)");
}

TEST_CASE("an operand may stand before an address without a comma") {
    for (const std::string_view before :
         {"R2", "RZ", "P2", "PT", "!PT", "!P3", "UR4", "UP0", "URZ", "[UR8]", "desc[UR8][R12.64+0xc]"}) {
        CAPTURE(before);
        for (const std::string_view address : {"[RZ]", "[R37+0x18000]", "[R2+UR4+0x100]"}) {
            CAPTURE(address);
            const std::vector<Operand> operands = parse_operands(fmt::format("{}{}", before, address));
            const std::vector<Operand> apart = parse_operands(fmt::format("{}, {}", before, address));
            REQUIRE(operands.size() == 2);
            REQUIRE(apart.size() == 2);
            for (std::size_t i = 0; i < operands.size(); ++i) {
                CHECK(operands[i].kind == apart[i].kind);
                CHECK(operands[i].number == apart[i].number);
                CHECK(operands[i].base == apart[i].base);
                CHECK(operands[i].uniform_base == apart[i].uniform_base);
                CHECK(operands[i].value == apart[i].value);
            }
        }
    }
}

TEST_CASE("brackets that hold no address or constant are refused with their text") {
    for (const std::string_view text :
         {"[R2", "[R2+", "[R2+]", "[X5]", "[-R5]", "[R2-R3]", "[R2+0x]", "c[0x0]", "c[R0][0x0]", "c[][0x0]",
          "c[0x0][0x0][0x0]", "desc[R6][R2]", "desc[UR6]", "cx[0x0][0x10]", "gdesc[R4]", "gdesc[UR4][R2]",
          "other[R2]", "[R2]x", "c[0x0][0x210"}) {
        CAPTURE(text);
        const std::string error = error_of(text);
        CHECK(error.find(fmt::format("operand: got '{}'", text)) != std::string::npos);
        CHECK(error.find("an address or a constant in brackets") != std::string::npos);
    }
    CHECK(error_of("R0,[R2],[R3++,R4").find("[R3++,R4") != std::string::npos);
}

/// "+0x10", "+-0x8" or nothing, as nvdisasm prints an offset behind a register.
std::string offset_text(std::int64_t offset) {
    if (offset == 0) {
        return "";
    }
    return fmt::format("+{}{:#x}", offset < 0 ? "-" : "", offset < 0 ? -offset : offset);
}

std::string register_text(std::string_view prefix, int number) {
    return number == zero_register ? fmt::format("{}Z", prefix) : fmt::format("{}{}", prefix, number);
}

TEST_CASE("any register operand comes back") {
    CHECK(rc::check("registers", [] {
        const auto number = *rc::gen::inRange(0, 256);
        const bool uniform = *rc::gen::arbitrary<bool>();
        const bool negated = *rc::gen::arbitrary<bool>();
        const bool inverted = !negated && *rc::gen::arbitrary<bool>();
        const bool absolute = !inverted && *rc::gen::arbitrary<bool>();
        const bool reuse = *rc::gen::arbitrary<bool>();
        const auto modifiers =
            *rc::gen::container<Words>(rc::gen::element<std::string>("H0_H0", "B3", "ROW"));
        const std::string_view bar = absolute ? "|" : "";
        std::string text = fmt::format("{}{}{}{}{}", negated ? "-" : "", inverted ? "~" : "", bar,
                                       register_text(uniform ? "UR" : "R", number), bar);
        text += reuse ? ".reuse" : "";
        for (const std::string& modifier : modifiers) {
            text += "." + modifier;
        }
        const std::vector<Operand> parsed = parse_operands(text);
        RC_ASSERT(parsed.size() == 1U);
        RC_ASSERT(parsed[0].kind == (uniform ? OperandKind::uniform : OperandKind::general));
        RC_ASSERT(parsed[0].number == number);
        RC_ASSERT(parsed[0].negated == negated);
        RC_ASSERT(parsed[0].inverted == inverted);
        RC_ASSERT(parsed[0].absolute == absolute);
        RC_ASSERT(parsed[0].modifiers == modifiers);
        RC_ASSERT(parsed[0].text == text);
    }));
}

TEST_CASE("any address or constant comes back, alone and in a list") {
    CHECK(rc::check("sums", [] {
        const auto list = *rc::gen::inRange(1, 5);
        std::string text;
        std::vector<Operand> expected;
        for (int i = 0; i < list; ++i) {
            Operand operand;
            std::string sum;
            const auto form = *rc::gen::inRange(0, 4);  // plain, desc, c, cx
            const bool constant = form >= 2;
            if (*rc::gen::arbitrary<bool>()) {
                operand.base = *rc::gen::inRange(0, 256);
                sum = register_text("R", operand.base);
                const auto width = constant ? 0 : *rc::gen::inRange(0, 4);
                operand.base_is_64 = width == 1;
                operand.base_is_unsigned = width == 2;
                operand.scale = width == 3 ? *rc::gen::element(4, 8, 16) : 1;
                sum += width == 1 ? ".64" : width == 2 ? ".U32" : "";
                sum += operand.scale > 1 ? fmt::format(".X{}", operand.scale) : "";
            }
            if (*rc::gen::arbitrary<bool>()) {
                operand.uniform_base = *rc::gen::element(0, 7, 62, zero_register);
                sum += (sum.empty() ? "" : "+") + register_text("UR", operand.uniform_base);
            }
            operand.value = *rc::gen::inRange<std::int64_t>(-0x800000, 0x800000);
            const std::string offset = offset_text(operand.value);
            sum += sum.empty() && !offset.empty() ? offset.substr(1) : offset;
            sum += sum.empty() ? "0x0" : "";
            operand.kind = constant ? OperandKind::constant : OperandKind::address;
            if (form == 2) {
                operand.bank = *rc::gen::inRange(0, 32);
                operand.text = fmt::format("c[{:#x}][{}]", operand.bank, sum);
            } else if (form == 0) {
                operand.text = "[" + sum + "]";
            } else {
                operand.descriptor = *rc::gen::inRange(0, 63);
                operand.text = fmt::format("{}[UR{}][{}]", constant ? "cx" : "desc", operand.descriptor, sum);
            }
            text += (i == 0 ? "" : ",") + operand.text;
            expected.push_back(operand);
        }
        const std::vector<Operand> parsed = parse_operands(text);
        RC_ASSERT(parsed.size() == expected.size());
        for (std::size_t i = 0; i < parsed.size(); ++i) {
            RC_ASSERT(parsed[i].kind == expected[i].kind);
            RC_ASSERT(parsed[i].text == expected[i].text);
            RC_ASSERT(parsed[i].bank == expected[i].bank);
            RC_ASSERT(parsed[i].descriptor == expected[i].descriptor);
            RC_ASSERT(parsed[i].base == expected[i].base);
            RC_ASSERT(parsed[i].base_is_64 == expected[i].base_is_64);
            RC_ASSERT(parsed[i].base_is_unsigned == expected[i].base_is_unsigned);
            RC_ASSERT(parsed[i].scale == expected[i].scale);
            RC_ASSERT(parsed[i].uniform_base == expected[i].uniform_base);
            RC_ASSERT(parsed[i].value == expected[i].value);
        }
    }));
}

TEST_CASE("any text gives operands or an Error of an operand") {
    CHECK(rc::check("any text", [] {
        auto text = *rc::gen::container<std::string>(
            rc::gen::elementOf(std::string("RUPBSZTc[]()`|-+~!., .x0147desINF")));
        text.resize(std::min<std::size_t>(text.size(), 18));
        try {
            for (const Operand& operand : parse_operands(text)) {
                RC_ASSERT_FALSE(operand.kind == OperandKind::target);
                RC_ASSERT(operand.base >= -1);
                RC_ASSERT(operand.base <= zero_register);
                RC_ASSERT(operand.uniform_base <= zero_register);
                RC_ASSERT(text.find(operand.text) != std::string::npos);
            }
        } catch (const Error& error) {
            RC_ASSERT(error.parameter() == "operand");
            RC_ASSERT(text.find(error.value()) != std::string::npos);
        }
    }));
}

TEST_CASE("predicates, barriers and banks that no machine has are none") {
    for (const std::string_view text : {"P8", "!P200", "UP9", "B16"}) {
        CAPTURE(text);
        CHECK(only(text).kind == OperandKind::text);
    }
    for (const std::string_view text : {"c[0x20][0x0]", "c[-0x1][0x0]", "c[0x100000000][0x0]"}) {
        CAPTURE(text);
        CHECK_FALSE(error_of(text).empty());
    }
}

TEST_CASE("offsets whose sum is beyond 64 bits wrap around") {
    CHECK(only("[0x7fffffffffffffff+0x1]").value == std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
