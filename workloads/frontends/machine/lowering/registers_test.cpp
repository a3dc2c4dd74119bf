// Tests of what instructions read and write: by hand, and by running them on changed registers.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/registers.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

using Names = std::set<std::string>;

std::string name_of(std::uint16_t place) {
    return place < 256   ? fmt::format("R{}", place)
           : place < 512 ? fmt::format("UR{}", place - 256)
           : place < 520 ? fmt::format("P{}", place - 512)
           : place < 528 ? fmt::format("UP{}", place - 520)
                         : fmt::format("SB{}", place - 528);
}
Names names_of(const std::vector<std::uint16_t>& places) {
    Names names;
    for (const std::uint16_t place : places) {
        names.insert(name_of(place));
    }
    return names;
}
Names reads(std::string_view text) {
    return names_of(registers_of(assembly_line(text, 0)).reads);
}
Names writes(std::string_view text) {
    return names_of(registers_of(assembly_line(text, 0)).writes);
}

TEST_CASE("results come first, sources behind them") {
    CHECK(writes("IADD3 R4, R5, -R6, R7") == Names{"R4"});
    CHECK(reads("IADD3 R4, R5, -R6, R7") == Names{"R5", "R6", "R7"});
    CHECK(writes("FFMA R4, R4, UR8, R9") == Names{"R4"});
    CHECK(reads("FFMA R4, R4, UR8, R9") == Names{"R4", "UR8", "R9"});
    CHECK(writes("R2UR UR4, R5") == Names{"UR4"});
    CHECK(reads("R2UR UR4, R5") == Names{"R5"});
    CHECK(reads("MOV R4, c[0x0][0x210]").empty());
}

TEST_CASE("an instruction writes the scoreboard that it sets, and reads those that it waits for") {
    AssemblyLine line = assembly_line("ATOMG.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64], R6", 0);
    CHECK(names_of(registers_of(line).writes).empty());
    line.control.write_barrier = 2;
    CHECK(names_of(registers_of(line).writes) == Names{"SB2"});
    // Until the sources have been read, nothing is waited for that another op makes.
    line.control.read_barrier = 1;
    CHECK(names_of(registers_of(line).writes) == Names{"SB2"});
    AssemblyLine waits = assembly_line("CCTL.IVALL", 0);
    CHECK(names_of(registers_of(waits).reads).empty());
    waits.control.wait_mask = 0b100101;
    CHECK(names_of(registers_of(waits).reads) == Names{"SB0", "SB2", "SB5"});
}

TEST_CASE("predicates are results beside the register, and sources at the end") {
    CHECK(writes("ISETP.GE.AND P0, P1, R4, R5, P2") == Names{"P0", "P1"});
    CHECK(reads("ISETP.GE.AND P0, P1, R4, R5, P2") == Names{"R4", "R5", "P2"});
    CHECK(writes("PLOP3.LUT P0, PT, P1, P2, P3, 0x80, 0x0") == Names{"P0"});
    CHECK(reads("PLOP3.LUT P0, PT, P1, P2, P3, 0x80, 0x0") == Names{"P1", "P2", "P3"});
    CHECK(writes("UISETP.NE.AND UP0, UPT, UR4, URZ, UPT") == Names{"UP0"});
    CHECK(reads("UISETP.NE.AND UP0, UPT, UR4, URZ, UPT") == Names{"UR4"});
    CHECK(writes("IADD3 R4, P0, P1, R5, R6, R7") == Names{"R4", "P0", "P1"});
    CHECK(reads("IADD3 R4, P0, P1, R5, R6, R7") == Names{"R5", "R6", "R7"});
    CHECK(writes("IADD3.X R4, P2, PT, R5, R6, R7, P0, !P1") == Names{"R4", "P2"});
    CHECK(reads("IADD3.X R4, P2, PT, R5, R6, R7, P0, !P1") == Names{"R5", "R6", "R7", "P0", "P1"});
    CHECK(writes("LOP3.LUT P3, R4, R5, R6, R7, 0x80, !PT") == Names{"P3", "R4"});
    CHECK(writes("SHFL.IDX P3, R4, R5, R6, 0x1f") == Names{"P3", "R4"});
    CHECK(writes("VOTE.ANY R4, P1, P2") == Names{"R4", "P1"});
    CHECK(reads("VOTE.ANY R4, P1, P2") == Names{"P2"});
    CHECK(writes("SEL R4, R5, R6, !P0") == Names{"R4"});
    CHECK(reads("SEL R4, R5, R6, !P0") == Names{"R5", "R6", "P0"});
}

TEST_CASE("a guard is read, and PT is no guard") {
    CHECK(reads("@P3 MOV R4, R5") == Names{"P3", "R5"});
    CHECK(reads("@!P3 MOV R4, R5") == Names{"P3", "R5"});
    CHECK(reads("@UP2 UMOV UR4, UR5") == Names{"UP2", "UR5"});
    CHECK(reads("@PT MOV R4, R5") == Names{"R5"});
    CHECK(reads("@!PT MOV R4, R5") == Names{"R5"});
    CHECK(reads("@P1 EXIT") == Names{"P1"});
}

TEST_CASE("registers that are always zero, and predicates that are always true, are none") {
    CHECK(writes("IADD3 RZ, P0, R4, RZ, R5") == Names{"P0"});
    CHECK(reads("IADD3 R4, RZ, RZ, RZ").empty());
    CHECK(reads("UIADD3 UR4, URZ, URZ, UR63").empty());
    CHECK(reads("SEL R4, RZ, 0x1, PT").empty());
    CHECK(writes("ISETP.EQ.AND PT, PT, R4, R5, PT").empty());
    CHECK(writes("LDG.E.128 RZ, desc[UR4][R2.64]").empty());
}

TEST_CASE("wide accesses and results take registers side by side") {
    CHECK(writes("LDG.E R8, desc[UR4][R2.64]") == Names{"R8"});
    CHECK(writes("LDG.E.U8 R8, desc[UR4][R2.64]") == Names{"R8"});
    CHECK(writes("LDG.E.64 R8, desc[UR4][R2.64]") == Names{"R8", "R9"});
    CHECK(writes("LDS.128 R8, [R2]") == Names{"R8", "R9", "R10", "R11"});
    CHECK(reads("STS.128 [R2], R8") == Names{"R2", "R8", "R9", "R10", "R11"});
    CHECK(reads("STG.E.64 desc[UR4][R2.64], R8") == Names{"UR4", "UR5", "R2", "R3", "R8", "R9"});
    CHECK(writes("ULDC.64 UR6, c[0x0][0x210]") == Names{"UR6", "UR7"});
    CHECK(writes("IMAD.WIDE R8, R2, 0x4, R6") == Names{"R8", "R9"});
    CHECK(writes("DFMA R8, R2, R4, R6") == Names{"R8", "R9"});
    CHECK(reads("DFMA R8, R2, R4, R6") == Names{"R2", "R3", "R4", "R5", "R6", "R7"});
    CHECK(writes("LDSM.16.M88.4 R8, [R2]") == Names{"R8", "R9", "R10", "R11"});
    CHECK(writes("LDSM.16.MT88.2 R8, [R2]") == Names{"R8", "R9"});
    CHECK(writes("LDSM.16.M88 R8, [R2]") == Names{"R8"});
    // Shifts of 64 bits give one half.
    CHECK(writes("SHF.L.U64.HI R8, R2, R3, R4") == Names{"R8"});
    // The last register has no neighbour.
    CHECK(writes("LDS.128 R252, [R2]") == Names{"R252", "R253", "R254"});
}

TEST_CASE("predicates that come first are results where no register is") {
    CHECK(writes("FCHK P2, R4, R5") == Names{"P2"});
    CHECK(reads("FCHK P2, R4, R5") == Names{"R4", "R5"});
    CHECK(writes("HSETP2.GE.AND P0, P1, R4.H0_H0, R5, P2") == Names{"P0", "P1"});
    CHECK(reads("HSETP2.GE.AND P0, P1, R4.H0_H0, R5, P2") == Names{"R4", "R5", "P2"});
    CHECK(writes("DSETP.GT.AND P0, PT, R4, R6, P2") == Names{"P0"});
    CHECK(reads("DSETP.GT.AND P0, PT, R4, R6, P2") == Names{"R4", "R5", "R6", "R7", "P2"});
    CHECK(writes("VOTE.ALL P0, P1") == Names{"P0"});
    CHECK(reads("VOTE.ALL P0, P1") == Names{"P1"});
    CHECK(writes("VOTEU.ANY UP1, P3") == Names{"UP1"});
    CHECK(reads("VOTEU.ANY UP1, P3") == Names{"P3"});
    CHECK(writes("VOTE.ANY R4, PT, P2") == Names{"R4"});
    CHECK(writes("VOTE.ANY R4, P2") == Names{"R4"});
    CHECK(reads("VOTE.ANY R4, P2") == Names{"P2"});
}

TEST_CASE("barrier results and moves of predicates write what they name") {
    CHECK(writes("B2R.RESULT RZ, P1") == Names{"P1"});
    CHECK(writes("B2R.RESULT R4") == Names{"R4"});
    CHECK(writes("B2R.RESULT R4, P2") == Names{"R4", "P2"});
    CHECK(reads("B2R.RESULT R4, P2").empty());
    CHECK(writes("R2P PR, R4, 0x6") == Names{"P1", "P2"});
    CHECK(writes("R2P PR, R4.B1, 0x7f") == Names{"P0", "P1", "P2", "P3", "P4", "P5", "P6"});
    CHECK(reads("R2P PR, R4, 0x6") == Names{"R4"});
    CHECK(writes("P2R R4, PR, R5, 0x41") == Names{"R4"});
    CHECK(reads("P2R R4, PR, R5, 0x41") == Names{"R5", "P0", "P6"});
    CHECK(writes("P2R R4, PR, RZ, R6") == Names{"R4"});
    CHECK(reads("P2R R4, PR, RZ, R6").size() == 8);
}

TEST_CASE("results of 64 bits take two registers, and each source what its type needs") {
    CHECK(writes("CS2R R4, SR_CLOCKLO") == Names{"R4", "R5"});
    CHECK(writes("CS2R R4, SRZ") == Names{"R4", "R5"});
    CHECK(writes("CS2R.32 R4, SR_CLOCKLO") == Names{"R4"});
    CHECK(writes("IMAD.HI.U32 R4, R6, R8, R10") == Names{"R4"});
    CHECK(reads("IMAD.HI.U32 R4, R6, R8, R10") == Names{"R6", "R8", "R10", "R11"});
    CHECK(writes("IMAD.WIDE.U32 R4, P0, R6, R8, R10") == Names{"R4", "R5", "P0"});
    CHECK(reads("IMAD.WIDE.U32 R4, P0, R6, R8, R10") == Names{"R6", "R8", "R10", "R11"});
    CHECK(writes("UIMAD.WIDE UR4, UR6, UR8, UR10") == Names{"UR4", "UR5"});
    CHECK(writes("IMAD R4, R6, R8, R10") == Names{"R4"});
    CHECK(reads("IMAD R4, R6, R8, R10") == Names{"R6", "R8", "R10"});
    CHECK(writes("F2F.F64.F32 R4, R6") == Names{"R4", "R5"});
    CHECK(reads("F2F.F64.F32 R4, R6") == Names{"R6"});
    CHECK(writes("F2F.F32.F64 R4, R6") == Names{"R4"});
    CHECK(reads("F2F.F32.F64 R4, R6") == Names{"R6", "R7"});
    CHECK(writes("I2F.F64 R4, R6") == Names{"R4", "R5"});
    CHECK(reads("I2F.F64 R4, R6") == Names{"R6"});
    CHECK(writes("I2F.S64 R4, R6") == Names{"R4"});
    CHECK(reads("I2F.S64 R4, R6") == Names{"R6", "R7"});
    CHECK(writes("F2I.U64.TRUNC R4, R6") == Names{"R4", "R5"});
    CHECK(reads("F2I.U64.TRUNC R4, R6") == Names{"R6"});
    CHECK(writes("F2I.F64.TRUNC R4, R6") == Names{"R4"});
    CHECK(reads("F2I.F64.TRUNC R4, R6") == Names{"R6", "R7"});
    CHECK(writes("FRND.F64.FLOOR R4, R6") == Names{"R4", "R5"});
    CHECK(writes("DMNMX R4, R6, R8, !P0") == Names{"R4", "R5"});
    CHECK(reads("DMNMX R4, R6, R8, !P0") == Names{"R6", "R7", "R8", "R9", "P0"});
    CHECK(writes("ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R4, desc[UR6][R8.64], R10") == Names{"R4", "R5"});
    CHECK(reads("RED.E.ADD.F64.RN.STRONG.GPU [R8.64], R10") == Names{"R8", "R9", "R10", "R11"});
    CHECK(writes("SYNCS.ARRIVE.TRANS64 R4, [R6], R8") == Names{"R4", "R5"});
    CHECK(reads("SYNCS.ARRIVE.TRANS64 R4, [R6], R8") == Names{"R6", "R8"});
    // Reciprocals of doubles go by their upper words.
    CHECK(writes("MUFU.RCP64H R5, R7") == Names{"R5"});
}

TEST_CASE("matrices are stored from as many registers as there are, and fp64 products have two a number") {
    CHECK(writes("STSM.16.M88.4 [R2], R8").empty());
    CHECK(reads("STSM.16.M88.4 [R2], R8") == Names{"R2", "R8", "R9", "R10", "R11"});
    CHECK(reads("STSM.16.MT88.2 [R2], R8") == Names{"R2", "R8", "R9"});
    CHECK(reads("STSM.16.M88 [R2], R8") == Names{"R2", "R8"});
    struct Case {
        std::string_view shape;
        std::size_t sums, left, right;  ///< registers: m x 8, m x k and k x 8 numbers on 32 lanes
    };
    for (const Case& own : {Case{"", 4, 2, 2}, Case{".8x8x4", 4, 2, 2}, Case{".16x8x4", 8, 4, 2},
                            Case{".16x8x8", 8, 8, 4}, Case{".16x8x16", 8, 16, 8}}) {
        CAPTURE(own.shape);
        const RegisterUse use =
            registers_of(assembly_line(fmt::format("DMMA{} R0, R32, R64, R96", own.shape), 0));
        CHECK(use.writes.size() == own.sums);
        const auto of = [&use](std::uint16_t first) {
            return static_cast<std::size_t>(std::ranges::count_if(
                use.reads, [first](std::uint16_t place) { return place >= first && place < first + 32; }));
        };
        CHECK(of(32) == own.left);
        CHECK(of(64) == own.right);
        CHECK(of(96) == own.sums);
    }
}

TEST_CASE("a warpgroup's product has n/2 fp32 words a thread") {
    for (int n = 8; n <= 256; n += 8) {
        CAPTURE(n);
        const RegisterUse use =
            registers_of(assembly_line(fmt::format("HGMMA.64x{}x16.F32.BF16 R24, gdesc[UR4], R24", n), 0));
        CHECK(use.writes.size() == static_cast<std::size_t>(n) / 2);
        CHECK(use.writes.front() == 24);
        CHECK(use.writes.back() == 24 + n / 2 - 1);
    }
    CHECK(reads("HGMMA.64x64x16.F32 R24, R4, gdesc[UR8], R24").contains("R7"));
    CHECK(reads("HGMMA.64x64x16.F32 R24, R4, gdesc[UR8], R24").contains("UR8"));
}

TEST_CASE("addresses are read: pairs where they are wide, descriptors, and uniform parts") {
    CHECK(reads("LDG.E R8, desc[UR4][R2.64+0x10]") == Names{"R2", "R3", "UR4", "UR5"});
    CHECK(reads("LDS R8, [R2+0x10]") == Names{"R2"});
    CHECK(reads("LDS R8, [0x10]").empty());
    CHECK(reads("LDS R8, [R2.X4+0x10]") == Names{"R2"});
    CHECK(reads("LDC R8, c[0x3][R2+0x4]") == Names{"R2"});
    for (const std::string name : {"R2", "UR4"}) {
        CHECK(reads("LDS R8, [R2+UR4+0x10]").contains(name));
    }
    CHECK(reads("LDGSTS.E.BYPASS.128 [R6], desc[UR4][R2.64], P0") ==
          Names{"R6", "R2", "R3", "UR4", "UR5", "P0"});
}

TEST_CASE("a read of a texture writes the components that it names, a surface has its coordinates in a row") {
    CHECK(writes("TEX.LL RZ, R7, R6, R4, UR4, 0x0, 2D, 0x1") == Names{"R7"});
    CHECK(reads("TEX.LL RZ, R7, R6, R4, UR4, 0x0, 2D, 0x1") == Names{"R6", "R7", "R4", "UR4"});
    CHECK(writes("TEX.LL R10, R8, R6, R4, UR4, 0x0, 2D") == Names{"R8", "R9", "R10", "R11"});
    CHECK(writes("TEX.LL R10, R8, R6, R4, UR4, 0x0, 2D, 0x7") == Names{"R8", "R9", "R10"});
    CHECK(reads("TEX.LL RZ, R2, R4, R15, UR4, 0x0, 3D, 0x1") == Names{"R4", "R5", "R6", "R15", "UR4"});
    CHECK(reads("TEX.LL RZ, R2, R4, R15, UR4, 0x0, ARRAY_2D, 0x1") == Names{"R4", "R5", "R6", "R15", "UR4"});
    CHECK(reads("TLD.LZ RZ, R9, R2, UR4, 0x0, 1D, 0x1") == Names{"R2", "UR4"});
    CHECK(writes("TLD4.R R6, R4, R4, UR4, 0x0, 2D") == Names{"R4", "R5", "R6", "R7"});
    CHECK(writes("SULD.D.BA.2D.64.STRONG.SM.TRAP R0, [R2], UR4, 0x0") == Names{"R0", "R1"});
    CHECK(reads("SULD.D.BA.2D.64.STRONG.SM.TRAP R0, [R2], UR4, 0x0") == Names{"R2", "R3", "UR4"});
    CHECK(writes("SUST.D.BA.2D_ARRAY.STRONG.SM.TRAP [R16], R13, UR4, 0x0").empty());
    CHECK(reads("SUST.D.BA.2D_ARRAY.STRONG.SM.TRAP [R16], R13, UR4, 0x0") ==
          Names{"R16", "R17", "R18", "R13", "UR4"});
}

TEST_CASE("stores, reductions and control write no register") {
    for (const std::string_view text :
         {"STG.E desc[UR4][R2.64], R8", "ST.E desc[UR4][R2.64], R8", "STS [R2], R8", "STL [R2], R8",
          "RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R8", "LDGSTS.E [R6], desc[UR4][R2.64]",
          "BAR.SYNC.DEFER_BLOCKING R8", "WARPSYNC R8", "BRX R8 0x10", "RET.REL.NODEC R8 0x10", "LDGDEPBAR",
          "DEPBAR.LE SB0, 0x1", "EXIT", "BSSY B0, 0x20", "UBLKCP.S.G [UR8], [UR4], UR6",
          "UBLKRED.G.S.ADD [UR8], [UR4], UR6", "NANOSLEEP R8", "BRXU UR8 0x10", "JMX R8 0x10"}) {
        CAPTURE(text);
        CHECK(writes(text).empty());
    }
    CHECK(reads("NANOSLEEP R8") == Names{"R8"});
    CHECK(reads("BRXU UR8 0x10").contains("UR8"));
    CHECK(reads("BAR.SYNC.DEFER_BLOCKING R8, R9") == Names{"R8", "R9"});
    CHECK(reads("WARPSYNC R8") == Names{"R8"});
}

/// Forms of instructions over registers R8 to R23 and predicates P0 to P4: {r} is any register, {w} an even
/// one, {p} any predicate and {q} one that the number before is not.
constexpr std::string_view forms[]{
    "IADD3 R{r}, R{r}, -R{r}, R{r}",
    "IADD3 R{r}, P{p}, P{q}, R{r}, R{r}, R{r}",
    "IADD3.X R{r}, P{p}, PT, R{r}, R{r}, RZ, P{p}, !PT",
    "IMAD R{r}, R{r}, R{r}, R{r}",
    "IMAD.WIDE R{w}, R{r}, 0x7, R{w}",
    "IMAD.WIDE.U32 R{w}, R{r}, R{r}, R{w}",
    "LEA R{r}, P{p}, R{r}, R{r}, 0x3",
    "LEA.HI.X R{r}, R{r}, R{r}, R{r}, 0x3, P{p}",
    "LOP3.LUT R{r}, R{r}, R{r}, R{r}, 0x96, !PT",
    "LOP3.LUT P{p}, R{r}, R{r}, R{r}, RZ, 0xc0, !PT",
    "PLOP3.LUT P{p}, P{q}, P{p}, P{p}, P{p}, 0x96, 0x8e",
    "ISETP.LT.AND P{p}, P{q}, R{r}, R{r}, P{p}",
    "FSETP.GT.OR P{p}, PT, R{r}, |R{r}|, P{p}",
    "SEL R{r}, R{r}, R{r}, P{p}",
    "FSEL R{r}, R{r}, -R{r}, !P{p}",
    "IMNMX R{r}, R{r}, R{r}, P{p}",
    "SHF.L.U32.HI R{r}, R{r}, R{r}, R{r}",
    "SHF.R.U64 R{r}, R{r}, R{r}, R{r}",
    "PRMT R{r}, R{r}, R{r}, R{r}",
    "DADD R{w}, R{w}, R{w}",
    "DMUL R{w}, R{w}, -R{w}",
    "DFMA R{w}, R{w}, R{w}, R{w}",
    "FFMA R{r}, R{r}, R{r}, R{r}",
    "HFMA2 R{r}, R{r}, R{r}, R{r}",
    "POPC R{r}, R{r}",
    "SHFL.IDX P{p}, R{r}, R{r}, R{r}, 0x1f",
    "VOTE.ANY R{r}, P{p}, P{q}",
    "BMSK R{r}, R{r}, R{r}",
    "IMAD.HI R{r}, R{r}, R{r}, R{w}",
    "IMAD.HI.U32 R{r}, R{r}, R{r}, R{w}",
    "FCHK P{p}, R{r}, R{r}",
    "HSETP2.LT.AND P{p}, P{q}, R{r}, R{r}, P{p}",
    "DSETP.LT.AND P{p}, P{q}, R{w}, R{w}, P{p}",
    "DMNMX R{w}, R{w}, R{w}, P{p}",
    "VOTE.ALL P{p}, P{q}",
    "VOTE.ANY R{r}, P{p}",
    "R2P PR, R{r}, 0x15",
    "P2R R{r}, PR, R{r}, 0x1a",
    "CS2R R{w}, SRZ",
    "CS2R.32 R{r}, SRZ",
    "F2F.F64.F32 R{w}, R{r}",
    "F2F.F32.F64 R{r}, R{w}",
    "I2F.F64 R{w}, R{r}",
    "I2F.F64.S64 R{w}, R{w}",
    "I2F.U64 R{r}, R{w}",
    "F2I.S64.TRUNC R{w}, R{r}",
    "F2I.F64.TRUNC R{r}, R{w}",
    "FRND.F64.FLOOR R{w}, R{w}",
    "DMMA.8x8x4 R20, R{w}, R{w}, R16",
    "DMMA.16x8x4 R8, R16, R20, R8",
};

std::string filled(std::string_view text) {
    std::string line(text);
    std::uint32_t last = 0;
    for (std::size_t at = line.find('{'); at != std::string::npos; at = line.find('{')) {
        const char kind = line[at + 1];
        // Two predicate results are two predicates.
        last = kind == 'r'   ? 8 + random_below(16)
               : kind == 'w' ? 8 + 2 * random_below(8)
               : kind == 'p' ? random_below(5)
                             : (last + 1 + random_below(4)) % 5;
        line.replace(at, 3, std::to_string(last));
    }
    return line;
}

TEST_CASE("what is not among the writes keeps its value, and only the reads decide on them") {
    std::vector<std::string> all;
    for (int number = 8; number < 24; ++number) {
        all.push_back(fmt::format("R{}", number));
    }
    for (int number = 0; number < 5; ++number) {
        all.push_back(fmt::format("P{}", number));
    }
    CHECK(rc::check("the interpreter agrees", [&all] {
        const std::string text = filled(forms[random_below(std::size(forms))]);
        RC_LOG(text);
        const Names read = reads(text);
        const Names written = writes(text);
        const LaneProgram program({text}, all, all);
        std::vector<Words> one;
        std::vector<Words> other;
        for (const std::string& name : all) {
            const rc::Gen<std::uint32_t> word = name.starts_with('P') ? any_flag() : any_word();
            one.push_back(some_words(word));
            other.push_back(read.contains(name) ? one.back() : some_words(word));
        }
        const std::vector<Words> from_one = program(one);
        const std::vector<Words> from_other = program(other);
        for (std::size_t i = 0; i < all.size(); ++i) {
            RC_LOG(all[i]);
            if (written.contains(all[i])) {
                RC_ASSERT(from_one[i] == from_other[i]);
            } else {
                RC_ASSERT(from_one[i] == one[i]);
                RC_ASSERT(from_other[i] == other[i]);
            }
        }
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
