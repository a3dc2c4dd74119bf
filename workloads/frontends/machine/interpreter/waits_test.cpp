// Waits of CTAs for each other: looks in vain are not counted, and the depth of a grid's waits is that of its
// graph.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/waits.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

namespace warptime::workloads::frontends::machine {

namespace {

using namespace fixture;

/// R10: the CTA's number, R2 and R3: the address of the words.
std::vector<std::string> with_place(std::vector<std::string> rest) {
    std::vector<std::string> lines{"S2R R10, SR_CTAID.X", "MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]"};
    lines.insert(lines.end(), rest.begin(), rest.end());
    return lines;
}

}  // namespace

TEST_CASE("CTAs that wait for the one before are as deep as the grid is long, and look once each") {
    const Program program(
        with_place({"spin:", "LDG.E.STRONG.GPU R11, desc[UR4][R2.64]", "ISETP.NE.AND P1, PT, R11, R10, PT",
                    "@P1 BRA `(spin)", "IADD3 R11, R10, 0x1, RZ", "STG.E.STRONG.GPU desc[UR4][R2.64], R11",
                    "EXIT"}),
        with_parameters(1));
    REQUIRE(program.code().polls.size() == 1);
    CHECK(program.code().polls_in(0));
    for (const std::uint32_t ctas : {1U, 2U, 7U, 200U}) {
        CAPTURE(ctas);
        const Buffer flag(Words{0});
        LaunchShape shape = one_cta(32);
        shape.grid[0] = ctas;
        const LaunchCounts counts = program.run(shape, {flag.address()});
        CHECK(counts.error.empty());
        CHECK(flag.words() == Words{ctas});
        CHECK(counts.hand_overs.deepest == ctas);
        CHECK(counts.hand_overs.own == 1);
        CHECK(executed(counts, program, "LDG") == ctas);
        std::uint64_t between = 0;
        for (const auto& [ops, times] : counts.hand_overs.between) between += times;
        CHECK(between + 1 == ctas);
    }
}

TEST_CASE("a barrier of the grid is as deep as one CTA's rounds") {
    const Program program(
        with_place({"MOV R12, c[0x0][0xc]", "MOV R13, RZ", "MOV R15, 0x1", "MOV R16, RZ",
                    "round:", "ATOMG.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64], R15",
                    "IADD3 R13, R13, R12, RZ", "spin:", "LDG.E.STRONG.GPU R11, desc[UR4][R2.64]",
                    "ISETP.LT.AND P1, PT, R11, R13, PT", "@P1 BRA `(spin)", "IADD3 R16, R16, 0x1, RZ",
                    "ISETP.LT.AND P2, PT, R16, 0x5, PT", "@P2 BRA `(round)", "EXIT"}),
        with_parameters(1));
    const Buffer counter(Words{0});
    LaunchShape shape = one_cta(1);
    shape.grid[0] = 40;
    const LaunchCounts counts = program.run(shape, {counter.address()});
    CHECK(counts.error.empty());
    CHECK(counter.words() == Words{200});
    CHECK(counts.hand_overs.deepest == 5);
    CHECK(counts.hand_overs.own == 5);
    CHECK(executed(counts, program, "LDG") == 200);
}

TEST_CASE("a loop that adds by compare-and-swap does not wait") {
    const Program program(with_place({"LDG.E R11, desc[UR4][R2.64]", "again:", "IADD3 R12, R11, 0x1, RZ",
                                      "MOV R13, R11", "ATOMG.E.CAS.STRONG.GPU PT, R11, [R2], R13, R12",
                                      "ISETP.NE.AND P1, PT, R11, R13, PT", "@P1 BRA `(again)", "EXIT"}),
                          with_parameters(1));
    CHECK(program.code().polls.empty());
}

TEST_CASE("a comparison changes no register: a swap of what was compared before is a new one") {
    // Sums by key: the word that is compared comes from the exchange of the turn before.
    const Program program(
        with_place({"LDG.E R4, desc[UR4][R2.64]", "again:", "ISETP.NE.U32.AND P1, PT, R4, RZ, PT",
                    "IADD3 R12, R4, 0x1, RZ", "MOV R8, R4", "ATOMG.E.CAS.STRONG.GPU PT, R8, [R2], R8, R12",
                    "ISETP.NE.U32.AND P0, PT, R8, R4, PT", "IMAD.MOV.U32 R4, RZ, RZ, R8", "@P0 BRA `(again)",
                    "EXIT"}),
        with_parameters(1));
    CHECK(program.code().polls.empty());
    CHECK(program.code().races.front());
}

TEST_CASE("a loop that counts its looks does not wait") {
    const Program program(with_place({"MOV R14, 0x9", "next:", "LDG.E.STRONG.GPU R11, desc[UR4][R2.64]",
                                      "IADD3 R14, R14, -0x1, RZ", "ISETP.GT.AND P1, PT, R14, RZ, PT",
                                      "@P1 BRA `(next)", "EXIT"}),
                          with_parameters(1));
    CHECK(program.code().polls.empty());
}

TEST_CASE("a loop whose address moves does not wait") {
    const Program program(with_place({"MOV R14, RZ", "next:", "LDG.E.STRONG.GPU R11, desc[UR4][R2.64]",
                                      "IADD3 R2, R2, 0x4, RZ", "IADD3 R14, R14, R11, RZ",
                                      "ISETP.LT.AND P1, PT, R14, 0x9, PT", "@P1 BRA `(next)", "EXIT"}),
                          with_parameters(1));
    CHECK(program.code().polls.empty());
}

TEST_CASE("CTAs that wait for what nobody writes are a deadlock, found at once") {
    const Program program(with_place({"spin:", "LDG.E.STRONG.GPU R11, desc[UR4][R2.64]",
                                      "ISETP.EQ.AND P1, PT, R11, RZ, PT", "@P1 BRA `(spin)", "EXIT"}),
                          with_parameters(1));
    const Buffer flag(Words{0});
    const LaunchCounts counts = program.run(one_cta(32), {flag.address()});
    CHECK(counts.error.find("a deadlock") != std::string::npos);
    CHECK(counts.executed < 100);
}

}  // namespace warptime::workloads::frontends::machine
