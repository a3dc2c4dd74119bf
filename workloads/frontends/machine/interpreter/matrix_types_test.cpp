// Types of factors that opcodes and their modifiers name, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/matrix_types.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using enum MatrixElement;

std::pair<MatrixElement, MatrixElement> types_of(const std::string& opcode) {
    const AssemblyLine line = fixture::assembly_line(opcode + " R96, R32, R64, R80", 0x40);
    RowLayout layout;
    std::map<std::uint64_t, std::uint16_t> constants;
    const FactorTypes types = factor_types(Decoder(line, layout, constants, 0));
    return {types.a, types.b};
}

TEST_CASE("one type of halves stands for both factors, and none is fp16 whatever the result is") {
    for (const std::string opcode : {"HMMA.16816", "HGMMA.64x128x16"}) {
        for (const std::string result : {".F32", ".F16", ""}) {
            CHECK(types_of(opcode + result) == std::pair{f16, f16});
        }
        CHECK(types_of(opcode + ".F32.BF16") == std::pair{bf16, bf16});
        CHECK(types_of(opcode + ".F32.TF32") == std::pair{tf32, tf32});
    }
}

TEST_CASE("types of one byte are named for A, then for B") {
    const std::vector<std::pair<std::string, MatrixElement>> small{{"E4M3", e4m3}, {"E5M2", e5m2}};
    const std::vector<std::pair<std::string, MatrixElement>> whole{{"S8", s8}, {"U8", u8}};
    for (const auto& [opcode, all] :
         {std::pair{std::string("QMMA.16832.F32"), small}, std::pair{std::string("QGMMA.64x8x32.F16"), small},
          std::pair{std::string("IMMA.16832"), whole}, std::pair{std::string("IGMMA.64x8x32"), whole}}) {
        for (const auto& [a_name, a] : all) {
            for (const auto& [b_name, b] : all) {
                CHECK(types_of(opcode + "." + a_name + "." + b_name) == std::pair{a, b});
            }
        }
    }
    CHECK(types_of("IMMA.16832.U8.S8.SAT") == std::pair{u8, s8});
}

TEST_CASE("types that are missing, too many or of another opcode are refused with the line") {
    for (const std::string opcode :
         {"QMMA.16832.F32", "QMMA.16832.F32.E5M2", "QMMA.16832.F32.E4M3.E4M3.E4M3", "QMMA.16832.F32.S8.S8",
          "QGMMA.64x8x32.F32", "QGMMA.64x8x32.F32.E4M3", "IMMA.16832", "IMMA.16832.S8", "IMMA.16864.S4.S4",
          "IMMA.16832.S8.S4", "IMMA.16832.E4M3.E4M3", "IGMMA.64x8x32", "IGMMA.64x8x32.U8",
          "HMMA.16816.F32.BF16.TF32", "HMMA.16816.F32.E4M3", "HGMMA.64x8x16.F32.S8.S8"}) {
        CAPTURE(opcode);
        try {
            (void)types_of(opcode);
            FAIL("no Error");
        } catch (const Error& error) {
            const std::string what = error.what();
            CHECK(what.find("instruction at 0x40") != std::string::npos);
            CHECK(what.find(opcode) != std::string::npos);
            CHECK(what.find("a matrix product of ") != std::string::npos);
        }
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
