// Tests of launches: their shapes, counts and samples of them, what ends them, and what is refused when.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/run.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// Every CTA does the same: a loop, a coalesced load and a store of its own.
const std::vector<std::string> uniform_kernel{"S2R R0, SR_TID.X",
                                              "S2R R1, SR_CTAID.X",
                                              "IMAD R0, R1, c[0x0][0x0], R0",
                                              "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]",
                                              "LDG.E R10, desc[UR4][R2.64]",
                                              "MOV R11, 0x9",
                                              "loop:",
                                              "IADD3 R11, R11, -0x1, RZ",
                                              "IADD3 R10, R10, R11, RZ",
                                              "ISETP.NE.AND P0, PT, R11, RZ, PT",
                                              "@P0 BRA `(loop)",
                                              "S2R R12, SR_TID.X",
                                              "IMAD.SHL.U32 R12, R12, 0x8, RZ",
                                              "STS [R12], R10",
                                              "STG.E desc[UR4][R2.64], R10"};

TEST_CASE("counts of a sample times its scale are the whole counts where all CTAs do the same") {
    constexpr std::uint32_t ctas = 700, threads = 64;
    const Program program(uniform_kernel, with_parameters(1, 1024));
    const Buffer buffer(std::uint64_t{4} * ctas * threads);
    LaunchShape shape = one_cta(threads);
    shape.grid[0] = ctas;
    const LaunchCounts whole = program.run(shape, {buffer.address()});
    REQUIRE(whole.error.empty());
    CHECK(whole.whole());
    CHECK(whole.scale() == 1.0);
    CHECK(rc::check("samples", [&] {
        RunOptions options;
        options.budget = 100 + random_below(40000);
        const LaunchCounts sample = program.run(shape, {buffer.address()}, options);
        RC_ASSERT(sample.error.empty());
        RC_ASSERT(sample.ctas == ctas);
        RC_ASSERT(sample.ctas_run > 0U);
        // No CTA begins beyond the budget.
        RC_ASSERT(sample.executed <= options.budget + whole.executed / ctas);
        const auto scaled = [&sample](std::uint64_t count) {
            return static_cast<double>(count) * sample.scale();
        };
        for (std::size_t i = 0; i < whole.instructions.size(); ++i) {
            const InstructionCounts& own = sample.instructions[i];
            const InstructionCounts& all = whole.instructions[i];
            RC_ASSERT(std::abs(scaled(own.warps) - static_cast<double>(all.warps)) < 1e-6);
            RC_ASSERT(std::abs(scaled(own.threads) - static_cast<double>(all.threads)) < 1e-6);
            RC_ASSERT(std::abs(scaled(own.enabled_threads) - static_cast<double>(all.enabled_threads)) <
                      1e-6);
            const AccessCounts& access = sample.accesses[i];
            const AccessCounts& accesses = whole.accesses[i];
            RC_ASSERT(std::abs(scaled(access.requests) - static_cast<double>(accesses.requests)) < 1e-6);
            RC_ASSERT(std::abs(scaled(access.sectors) - static_cast<double>(accesses.sectors)) < 1e-6);
            RC_ASSERT(std::abs(scaled(access.passes) - static_cast<double>(accesses.passes)) < 1e-6);
            RC_ASSERT(std::abs(scaled(access.bytes) - static_cast<double>(accesses.bytes)) < 1e-6);
        }
    }));
}

TEST_CASE("a sample of CTAs that are alike ends at a hundredth of the budget, another one at a tenth") {
    constexpr std::uint32_t ctas = 4000;
    std::vector<std::string> different = uniform_kernel;
    different[5] = "LOP3.LUT R11, R1, 0x9, RZ, 0xfc, !PT";  // As many trips as the CTA's number | 9.
    const auto sampled = [](const std::vector<std::string>& lines, std::uint64_t budget) {
        const Program program(lines, with_parameters(1, 1024));
        const Buffer buffer(std::uint64_t{4} * ctas * 64);
        LaunchShape shape = one_cta(64);
        shape.grid[0] = ctas;
        RunOptions options;
        options.budget = budget;
        LaunchCounts counts = program.run(shape, {buffer.address()}, options);
        REQUIRE(counts.error.empty());
        return counts;
    };
    constexpr std::uint64_t of_cta = 2 * (6 + 9 * 4 + 4 + 1);
    const LaunchCounts alike = sampled(uniform_kernel, 300'000);
    REQUIRE(alike.executed == alike.ctas_run * of_cta);
    CHECK(alike.ctas_run == (3000 + of_cta - 1) / of_cta);
    // At least so many CTAs show that they are alike.
    CHECK(sampled(uniform_kernel, 100'000).ctas_run == 32);
    const LaunchCounts unlike = sampled(different, 300'000);
    CHECK(unlike.executed >= 30'000);
}

TEST_CASE("a sampled launch computes no products of matrices once its first CTA shows that it is long") {
    const Program program(
        {"S2R R0, SR_CTAID.X", "S2R R30, SR_TID.X", "IMAD R0, R0, c[0x0][0x0], R30",
         "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "MOV R4, 0x3c003c00", "MOV R5, R4", "MOV R6, R4",
         "MOV R7, R4", "MOV R8, R4", "MOV R9, R4", "MOV R31, 0x2000",
         "loop:", "HMMA.16816.F32 R12, R4, R8, RZ", "IADD3 R31, R31, -0x1, RZ",
         "ISETP.NE.AND P0, PT, R31, RZ, PT", "@P0 BRA `(loop)", "STG.E desc[UR4][R2.64], R12"},
        with_parameters(1, 1024));
    constexpr std::uint32_t ctas = 8;
    const Buffer buffer(std::uint64_t{4} * ctas * 32);
    LaunchShape shape = one_cta(32);
    shape.grid[0] = ctas;
    RunOptions options;
    options.budget = 40'000;
    const LaunchCounts sample = program.run(shape, {buffer.address()}, options);
    CHECK(sample.error.empty());
    CHECK(sample.opaque_values);
    CHECK(sample.ctas_run == 1);
    const LaunchCounts whole = program.run(shape, {buffer.address()});
    CHECK_FALSE(whole.opaque_values);
    CHECK(whole.executed == ctas * sample.executed);
}

TEST_CASE("a launch within the budget runs whole") {
    const Program program(uniform_kernel, with_parameters(1, 1024));
    const Buffer buffer(std::uint64_t{4} * 20 * 64);
    LaunchShape shape = one_cta(64);
    shape.grid[0] = 20;
    RunOptions options;
    const std::uint64_t needed = program.run(shape, {buffer.address()}).executed;
    options.budget = needed;
    CHECK(program.run(shape, {buffer.address()}, options).whole());
    options.budget = needed - needed / 20;
    const LaunchCounts sample = program.run(shape, {buffer.address()}, options);
    CHECK(sample.ctas_run > 0);
    CHECK(sample.ctas_run < 20);
    CHECK(sample.executed <= options.budget);
    CHECK(sample.scale() == 20.0 / static_cast<double>(sample.ctas_run));
}

TEST_CASE("counts are those of the lanes: warps, active threads, and threads whose guard holds") {
    const Program program(
        {"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x5, PT", "@P0 IADD3 R1, R0, R0, RZ", "@!P0 EXIT"});
    CHECK(rc::check("closed form", [&program] {
        LaunchShape shape = one_cta(6 + random_below(300));
        shape.grid = {1 + random_below(4), 1 + random_below(3), 1 + random_below(2)};
        const LaunchCounts counts = program.run(shape);
        RC_ASSERT(counts.error.empty());
        const std::uint64_t ctas = shape.ctas(), threads = shape.threads(), warps = (threads + 31) / 32;
        RC_ASSERT(counts.ctas_run == ctas);
        for (std::size_t i = 0; i < 4; ++i) {
            RC_ASSERT(counts.instructions[i].warps == ctas * warps);
            RC_ASSERT(counts.instructions[i].threads == ctas * threads);
        }
        RC_ASSERT(counts.instructions[2].enabled_threads == ctas * 5);
        RC_ASSERT(counts.instructions[3].enabled_threads == ctas * (threads - 5));
        // Only the first warp of a CTA comes to its end.
        RC_ASSERT(counts.instructions[4].warps == ctas);
        RC_ASSERT(counts.instructions[4].threads == ctas * 5);
        RC_ASSERT(counts.executed == 4 * ctas * warps + ctas);
    }));
}

TEST_CASE("every CTA of the grid runs once, and knows its place and the launch's shape") {
    const Program program({"S2R R10, SR_CTAID.X", "S2R R11, SR_CTAID.Y", "S2R R12, SR_CTAID.Z",
                           "IMAD R13, R12, c[0x0][0x10], R11", "IMAD R13, R13, c[0x0][0xc], R10",
                           "IMAD.WIDE.U32 R2, R13, 0x4, c[0x0][0x210]", "LDG.E R14, desc[UR4][R2.64]",
                           "IADD3 R14, R14, 0x1, RZ", "STG.E desc[UR4][R2.64], R14"},
                          with_parameters(1, 1024));
    CHECK(rc::check("grids", [&program] {
        LaunchShape shape = one_cta(1);
        shape.grid = {1 + random_below(6), 1 + random_below(5), 1 + random_below(4)};
        const Buffer buffer(Words(shape.ctas(), 0));
        RC_ASSERT(program.error(shape, {buffer.address()}).empty());
        RC_ASSERT(buffer.words() == Words(shape.ctas(), 1));
    }));
}

TEST_CASE("parameters lie in constant bank 0 from the kernel's base on") {
    const LaneProgram program({"MOV R20, c[0x0][0x0]", "MOV R21, c[0x0][0x4]", "MOV R22, c[0x0][0xc]"}, {},
                              {"R20", "R21", "R22"});
    const std::vector<Words> results = program({}, 96);
    CHECK(results[0] == Words(96, 96));
    CHECK(results[1] == Words(96, 1));
    CHECK(results[2] == Words(96, 1));
}

TEST_CASE("CTAs that wait for a later one are joined by it") {
    // Each CTA but the last spins until the last has set a flag.
    const Program program(
        {"S2R R10, SR_CTAID.X", "MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "MOV R12, c[0x0][0xc]",
         "IADD3 R12, R12, -0x1, RZ", "ISETP.EQ.AND P0, PT, R10, R12, PT", "@P0 BRA `(set)",
         "spin:", "LDG.E.STRONG.GPU R11, desc[UR4][R2.64]", "ISETP.EQ.AND P1, PT, R11, RZ, PT",
         "@P1 BRA `(spin)", "EXIT", "set:", "MOV R11, 0x1", "STG.E desc[UR4][R2.64], R11"},
        with_parameters(1, 1024));
    const Buffer flag(Words{0});
    LaunchShape shape = one_cta(32);
    shape.grid[0] = 5;
    const LaunchCounts counts = program.run(shape, {flag.address()});
    CHECK(counts.error.empty());
    CHECK(counts.ctas_run == 5);
    CHECK(flag.words() == Words{1});
}

TEST_CASE("long CTAs that cannot see what others write are not joined by others in a sample") {
    const Program program({"MOV R10, 0x80000", "loop:", "IADD3 R10, R10, -0x1, RZ",
                           "ISETP.GT.AND P5, PT, R10, RZ, PT", "@P5 BRA `(loop)"});
    LaunchShape shape = one_cta(32);
    shape.grid[0] = 64;
    RunOptions options;
    options.budget = 1'000'000;
    const LaunchCounts counts = program.run(shape, {}, options);
    CHECK(counts.error.empty());
    // The first one shows how long they are, and a tenth of the budget is used up by it.
    CHECK(counts.ctas_run <= 2);
}

TEST_CASE("an endless loop ends the launch at the limit of a warp") {
    const Program program({"loop:", "BRA `(loop)"});
    RunOptions options;
    options.warp_limit = 10000;
    const LaunchCounts counts = program.run(one_cta(32), {}, options);
    CHECK(has_parts(counts.error, {"an endless loop: a warp has executed", "kernel test", "BRA"}));
    CHECK(counts.ctas_run == 0);
    CHECK(counts.scale() == 0.0);
    CHECK(counts.executed >= 10000);
    CHECK(counts.executed < 20000);
}

/// The three parts of the Error that a launch of the shape throws.
std::string refusal(const Program& program, const LaunchShape& shape, std::size_t parameters = 0) {
    try {
        (void)program.run(shape, std::vector<std::uint64_t>(parameters));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("impossible shapes are refused with the parameter's name, its value and what is expected") {
    const Program program({"NOP"});
    for (std::size_t d = 0; d < 3; ++d) {
        LaunchShape shape;
        shape.grid.at(d) = 0;
        CHECK(has_parts(refusal(program, shape), {"kernel 'test' launch", "'0'", "at least 1"}));
        shape = {};
        shape.block.at(d) = 0;
        CHECK(has_parts(refusal(program, shape), {"kernel 'test' launch", "'0'", "at least 1"}));
        shape = {};
        shape.grid.at(d) = 9;
        shape.cluster.at(d) = 2;
        CHECK(has_parts(refusal(program, shape),
                        {"kernel 'test' grid", "'9'", "a multiple of the cluster's 2"}));
    }
    LaunchShape shape;
    shape.block = {32, 33, 1};
    CHECK(has_parts(refusal(program, shape), {"kernel 'test' block", "'1056'", "at most 1024 threads"}));
    shape.block = {32, 32, 1};
    CHECK(refusal(program, shape).empty());
    shape.dynamic_shared = -1;
    CHECK(has_parts(refusal(program, shape), {"dynamic_shared", "'-1'", "0 to 232448 bytes"}));
    shape.dynamic_shared = 227 * 1024 + 1;  // An H200 keeps 1 KiB of 228.
    CHECK(has_parts(refusal(program, shape), {"dynamic_shared", "'232449'"}));
    shape.dynamic_shared = 227 * 1024;
    CHECK(refusal(program, shape).empty());
    CHECK(has_parts(refusal(program, one_cta(32), 2), {"kernel 'test' parameters", "16 bytes", "0 bytes"}));
}

TEST_CASE("the kernel's own limits of threads and shared memory hold too") {
    ProgramOptions options;
    options.max_threads = 128;
    options.static_shared = 1000;
    const Program program({"NOP"}, options);
    CHECK(refusal(program, one_cta(128)).empty());
    CHECK(has_parts(refusal(program, one_cta(129)), {"block", "'129'", "at most 128 threads"}));
    LaunchShape shape = one_cta(32);
    shape.dynamic_shared = 227 * 1024 - 1000;
    CHECK(refusal(program, shape).empty());
    ++shape.dynamic_shared;
    CHECK(has_parts(refusal(program, shape), {"dynamic_shared", "beside 1000 static ones"}));
    CHECK_THROWS_AS((void)run_launch(load_code(program.code(), test_memory()), 1, one_cta(1), {},
                                     test_memory(), on_test_chip()),
                    Error);
}

TEST_CASE("a CTA whose threads need more registers than an SM has is refused") {
    ProgramOptions options;
    options.registers = 80;
    const Program program({"NOP"}, options);
    CHECK(refusal(program, one_cta(768)).empty());  // 768 x 80 of 65536
    CHECK(has_parts(refusal(program, one_cta(1024)),
                    {"kernel 'test' registers", "'80 a thread'", "1024 threads fit into the 65536"}));
}

TEST_CASE("dynamic shared memory lies behind the static one") {
    ProgramOptions options;
    options.static_shared = 64;
    const Program program({"MOV R10, 0x7c", "LDS R11, [R10]"}, options);
    LaunchShape shape = one_cta(32);
    shape.dynamic_shared = 64;
    CHECK(program.error(shape).empty());
    shape.dynamic_shared = 60;
    CHECK(has_parts(program.error(shape), {"out-of-bounds read", "of 124 bytes"}));
}

TEST_CASE("an unknown opcode is refused by name, and only when it is executed") {
    const Program program({"ISETP.NE.AND P0, PT, RZ, c[0x0][0x210], PT", "@!P0 BRA `(over)",
                           "FROBNICATE.WIDE R10, R11", "over:", "NOP"},
                          with_parameters(1, 1024));
    REQUIRE(program.code().refused.size() == 1);
    CHECK(has_parts(program.code().refused.at(2), {"0x20", "FROBNICATE.WIDE R10, R11", "'FROBNICATE'"}));
    CHECK(program.error(one_cta(32), {0}).empty());
    CHECK(has_parts(program.error(one_cta(32), {1}), {"'FROBNICATE'", "kernel test at 0x20"}));
}

TEST_CASE("modifiers and operands that the handlers do not know are refused, not ignored") {
    const std::vector<std::string> lines{"PRMT.F4E R10, R11, R12, R13",
                                         "LDG.E.FROB R10, desc[UR4][R2.64]",
                                         "FADD.FROB R10, R11, R12",
                                         "HADD2 R10, R11.H0_H1, R12",
                                         "S2R R10, SR_FROB",
                                         "ATOMG.E.FROB R10, desc[UR4][R2.64], R11",
                                         "HMMA.1632.F32 R20, R10, R12, R14",
                                         "IADD3 R10, R11, desc[UR4][R2.64], RZ",
                                         "IADD3 R200, R11, R12, R13",
                                         "ISETP.FROB.AND P0, PT, R10, R11, PT",
                                         "LDSM.16.4 R20, [R10]",
                                         "SYNCS.FROB RZ, [UR4], UR6",
                                         "BAR.FROB 0x0",
                                         "MUFU.FROB R10, R11",
                                         "UFROB UR4, UR5",
                                         "LDS.FROB R10, [R11]",
                                         "LDGSTS.E.FROB [R10], desc[UR4][R2.64]",
                                         "MOVM.16 R10, R11"};
    for (const std::string& line : lines) {
        CAPTURE(line);
        ProgramOptions options;
        options.registers = 64;
        const Program program({line}, options);
        CHECK(program.code().refused.size() == 1);
        CHECK(has_parts(program.error(one_cta(32)), {line.substr(0, line.find(' ')), "kernel test at 0x0"}));
    }
}

/// Keeps which CTAs it is told of, and how often each instruction ran in them.
class Recorder : public Observer {
  public:
    void instruction(const Warp& warp, std::uint32_t pc, Mask active, Mask enabled) override {
        ctas.insert(warp.cta->linear_id);
        ++instructions[pc];
        lanes += static_cast<std::uint64_t>(std::popcount(active));
        enabled_lanes += static_cast<std::uint64_t>(std::popcount(enabled));
    }
    void access(const Warp& warp, const AccessEvent& event) override {
        accesses[event.instruction] += static_cast<std::uint64_t>(std::popcount(event.lanes));
        if (event.space == AccessSpace::global) {
            for (const std::uint64_t address : event.address) {
                addresses[warp.cta->linear_id].insert(address);
            }
        }
    }
    std::set<std::uint64_t> ctas;
    std::map<std::uint32_t, std::uint64_t> instructions, accesses;
    std::map<std::uint64_t, std::set<std::uint64_t>> addresses;
    std::uint64_t lanes = 0, enabled_lanes = 0;
};

TEST_CASE("an observer is told of the first and the last CTA and of some between, and of no other") {
    const Program program(uniform_kernel, with_parameters(1, 1024));
    constexpr std::uint32_t ctas = 50, threads = 64;
    const Buffer buffer(std::uint64_t{4} * ctas * threads);
    LaunchShape shape = one_cta(threads);
    shape.grid[0] = ctas;
    for (const int traced : {1, 2, 4, 7, 60}) {
        Recorder recorder;
        RunOptions options;
        options.observer = &recorder;
        options.traced_ctas = traced;
        const LaunchCounts counts = program.run(shape, {buffer.address()}, options);
        REQUIRE(counts.error.empty());
        const std::uint64_t expected = std::min<std::uint64_t>(ctas, static_cast<std::uint64_t>(traced));
        CHECK(recorder.ctas.size() == expected);
        CHECK(recorder.ctas.contains(0));
        CHECK(recorder.ctas.contains(ctas - 1) == (traced > 1));
        for (std::uint32_t i = 0; i < counts.instructions.size(); ++i) {
            CHECK(recorder.instructions[i] == counts.instructions[i].warps / ctas * expected);
        }
        // The load, the store to shared memory and the store.
        CHECK(recorder.accesses.size() == 3);
        CHECK(recorder.accesses[4] == expected * threads);
        for (const std::uint64_t cta : recorder.ctas) {
            const std::set<std::uint64_t>& own = recorder.addresses[cta];
            CHECK(own.size() == threads);
            CHECK(*own.begin() == buffer.address() + 4 * threads * cta);
        }
    }
}

TEST_CASE("a fault keeps the counts up to it, and the CTAs before it have ended") {
    const Program program({"S2R R10, SR_CTAID.X", "ISETP.EQ.AND P0, PT, R10, 0x3, PT", "@P0 BPT.TRAP 0x1"});
    LaunchShape shape = one_cta(32);
    shape.grid[0] = 8;
    const LaunchCounts counts = program.run(shape);
    CHECK(has_parts(counts.error, {"a trap", "block (3, 0, 0)"}));
    CHECK(counts.ctas_run == 3);
    CHECK(counts.instructions[0].warps == 4);
}

TEST_CASE("clusters give their CTAs neighbouring places and ranks") {
    const Program program({"S2R R10, SR_CTAID.X", "S2R R11, SR_CTAID.Y", "S2R R12, SR_CgaCtaId",
                           "IMAD R13, R11, c[0x0][0xc], R10", "IMAD.WIDE.U32 R2, R13, 0x4, c[0x0][0x210]",
                           "STG.E desc[UR4][R2.64], R12"},
                          with_parameters(1, 1024));
    LaunchShape shape = one_cta(1);
    shape.grid = {6, 4, 1};
    shape.cluster = {3, 2, 1};
    const Buffer buffer(Words(24, 99));
    const LaunchCounts counts = program.run(shape, {buffer.address()});
    REQUIRE(counts.error.empty());
    CHECK(counts.ctas_run == 24);
    CHECK(counts.whole());
    const Words ranks = buffer.words();
    for (std::uint32_t y = 0; y < 4; ++y) {
        for (std::uint32_t x = 0; x < 6; ++x) {
            CHECK(ranks[y * 6 + x] == x % 3 + 3 * (y % 2));
        }
    }
}

TEST_CASE("the slowest warps' counts are those of each CTA's longest warp, and of the grid's") {
    CHECK(rc::check("rounds that fall or rise with the warp and the CTA", [] {
        const std::uint32_t warps = 1 + random_below(6), ctas = 1 + random_below(8);
        const std::uint32_t first = 1 + random_below(4), per_warp = random_below(5),
                            per_cta = random_below(5);
        const bool warps_fall = *rc::gen::arbitrary<bool>(), ctas_fall = *rc::gen::arbitrary<bool>();
        const auto place = [](const std::string& name, std::uint32_t count, bool falls) {
            return falls ? fmt::format("IADD3 {0}, -{0}, {1:#x}, RZ", name, count - 1) : std::string("NOP");
        };
        const Program program(
            {"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "SHF.R.U32.HI R0, RZ, 0x5, R0",
             place("R0", warps, warps_fall), place("R1", ctas, ctas_fall),
             fmt::format("IMAD R2, R0, {:#x}, RZ", per_warp), fmt::format("IMAD R2, R1, {:#x}, R2", per_cta),
             fmt::format("IADD3 R2, R2, {:#x}, RZ", first), "loop:", "IADD3 R2, R2, -0x1, RZ",
             "ISETP.GT.AND P0, PT, R2, RZ, PT", "@P0 BRA `(loop)"});
        LaunchShape shape = one_cta(32 * warps);
        shape.grid[0] = ctas;
        const LaunchCounts counts = program.run(shape);
        RC_ASSERT(counts.error.empty());
        std::uint64_t of_ctas = 0;
        const std::uint32_t longest = first + per_warp * (warps - 1);
        for (std::uint32_t cta = 0; cta < ctas; ++cta) {
            of_ctas += longest + per_cta * cta;
        }
        const std::uint32_t of_grid = longest + per_cta * (ctas - 1);
        RC_ASSERT(counts.slowest.of_ctas.size() == 12U);
        RC_ASSERT(counts.slowest.of_grid.size() == 12U);
        for (std::size_t i = 0; i < 12; ++i) {
            const bool inside = i >= 8 && i < 11;
            RC_ASSERT(counts.slowest.of_ctas[i] == (inside ? of_ctas : ctas));
            RC_ASSERT(counts.slowest.of_grid[i] == (inside ? of_grid : 1U));
        }
        RC_ASSERT(counts.slowest.cycles == 9U + 3U * of_grid);
    }));
}

TEST_CASE("of instructions that take a cycle each, the slowest warps are those that execute most") {
    // Warp 1 skips the loop and runs a longer straight piece; of CTA 2, warp 0 goes round more often.
    std::vector<std::string> lines{"S2R R0, SR_TID.X",
                                   "S2R R1, SR_CTAID.X",
                                   "MOV R2, 0x3",
                                   "ISETP.EQ.AND P1, PT, R1, 0x2, PT",
                                   "@P1 MOV R2, 0x14",
                                   "ISETP.GE.AND P0, PT, R0, 0x20, PT",
                                   "@P0 BRA `(straight)",
                                   "loop:",
                                   "IADD3 R2, R2, -0x1, RZ",
                                   "ISETP.GT.AND P0, PT, R2, RZ, PT",
                                   "@P0 BRA `(loop)",
                                   "EXIT",
                                   "straight:"};
    lines.insert(lines.end(), 20, "NOP");
    const Program program(lines);
    LaunchShape shape = one_cta(64);
    shape.grid[0] = 4;
    const LaunchCounts counts = program.run(shape);
    REQUIRE(counts.error.empty());
    // The straight piece of 20 is longest in three CTAs, the loop of 20 rounds in one.
    CHECK(counts.slowest.of_ctas.at(7) == 20);
    CHECK(counts.slowest.of_grid.at(7) == 20);
    CHECK(counts.slowest.of_ctas.at(11) == 3);
    CHECK(counts.slowest.of_grid.at(11) == 0);
    CHECK(counts.slowest.cycles == 7 + 3 * 20 + 1);
}

TEST_CASE("a sample's slowest warps are those of the CTAs that ran") {
    const Program program(uniform_kernel, with_parameters(1, 1024));
    const Buffer buffer(std::uint64_t{4} * 700 * 64);
    LaunchShape shape = one_cta(64);
    shape.grid[0] = 700;
    RunOptions options;
    options.budget = 5000;
    const LaunchCounts sample = program.run(shape, {buffer.address()}, options);
    REQUIRE(sample.error.empty());
    REQUIRE(sample.ctas_run < 700);
    // Both warps of each CTA do the same.
    for (std::size_t i = 0; i < sample.instructions.size(); ++i) {
        CAPTURE(i);
        CHECK(2 * sample.slowest.of_ctas[i] == sample.instructions[i].warps);
        CHECK(sample.slowest.of_ctas[i] == sample.ctas_run * sample.slowest.of_grid[i]);
    }
    CHECK(2 * sample.ctas_run * sample.slowest.cycles == sample.executed);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
