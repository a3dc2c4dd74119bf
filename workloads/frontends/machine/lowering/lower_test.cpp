// Tests of the lowering: launch, instructions, addresses, loops, barriers and copies of kernels that ran.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/lower.hpp"

#include "hw/error.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/text.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"
#include "workloads/frontends/machine/lowering/opcode_class.hpp"
#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)
namespace mk = model::kernel;
using hw::InstructionClass;
using Lines = std::vector<std::string>;

mk::Kernel lowered(const Program& program, const LaunchShape& shape, const TracedRun& run,
                   double l2_room = 0.0) {
    LoweringInput input;
    input.code = &program.code();
    input.function = program.code().kernel("test");
    input.shape = shape;
    input.counts = &run.counts();
    input.trace = &run.trace();
    input.memory = &test_memory();
    input.cache = on_test_chip().chip.cache;
    input.l2_room = l2_room;
    return lower(input);
}

mk::Kernel lowered(const Program& program, const LaunchShape& shape,
                   const std::vector<std::uint64_t>& parameters = {}, int traced_ctas = 4) {
    return lowered(program, shape, TracedRun(program, shape, parameters, traced_ctas));
}

LaunchShape launch(std::uint32_t ctas, std::uint32_t threads) {
    LaunchShape shape = one_cta(threads);
    shape.grid[0] = ctas;
    return shape;
}

/// The ops of a class.
std::vector<mk::Op> ops_of(const mk::Kernel& kernel, InstructionClass cls) {
    std::vector<mk::Op> ops;
    std::ranges::copy_if(kernel.ops, std::back_inserter(ops),
                         [cls](const mk::Op& op) { return op.cls == cls; });
    return ops;
}

/// Elements from the place of lane 0.
std::int64_t offset_of(const mk::Access& access, std::int64_t lane) {
    switch (access.pattern) {
        case mk::PatternKind::broadcast:
            return 0;
        case mk::PatternKind::contiguous:
            return lane * access.bytes;
        default:
            return lane % access.inner_extent * access.inner + lane / access.inner_extent * access.outer;
    }
}

TEST_CASE("a launch without a traced CTA is refused by its kernel's name") {
    const Program program({"NOP"});
    const LaunchCounts counts = program.run(one_cta(32));
    const TraceRecorder empty;
    LoweringInput input;
    input.code = &program.code();
    input.counts = &counts;
    input.trace = &empty;
    input.memory = &test_memory();
    try {
        (void)lower(input);
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.parameter() == "kernel 'test' trace");
        CHECK(has_parts(error.what(), {"no CTA", "one that ran to its end"}));
    }
}

TEST_CASE("the launch is described as it was made") {
    ProgramOptions options;
    options.registers = 77;
    options.shared_begin = 1024;
    options.static_shared = 1024 + 640;
    const Program program({"NOP"}, options);
    LaunchShape shape;
    shape.grid = {6, 5, 3};
    shape.block = {16, 4, 2};
    shape.dynamic_shared = 2048;
    const mk::Kernel kernel = lowered(program, shape);
    CHECK(kernel.name == "test");
    CHECK(kernel.grid == mk::Dim3{6, 5, 3});
    CHECK(kernel.cta == mk::Dim3{16, 4, 2});
    CHECK(kernel.cluster == mk::Dim3{1, 1, 1});
    CHECK(kernel.registers_per_thread == 77);
    CHECK(kernel.static_shared == 640);
    CHECK(kernel.dynamic_shared == 2048);
    CHECK(kernel.schedule.item_count() == 6 * 5 * 3);
    CHECK(kernel.coverage == mk::Coverage{1.0, 0.0, 0.0});
    CHECK(kernel.evidence == mk::Evidence::any);
    REQUIRE(kernel.roles.size() == 1);
    CHECK(kernel.roles[0].warps == 4);
    CHECK_NOTHROW(mk::check(kernel));
}

TEST_CASE("a sample of the launch is exact in the share of the CTAs that ran") {
    const Program program(counted_loop("loop", 10, "0x40", {}));
    const LaunchShape shape = launch(4096, 32);
    TraceRecorder trace;
    RunOptions options;
    options.observer = &trace;
    options.budget = 10'000;
    const LaunchCounts counts = program.run(shape, {}, options);
    REQUIRE(counts.error.empty());
    REQUIRE_FALSE(counts.whole());
    const mk::Kernel kernel =
        lower({&program.code(), 0, shape, &counts, &trace, &test_memory(), on_test_chip().chip.cache});
    const double share = static_cast<double>(counts.ctas_run) / 4096.0;
    CHECK(kernel.coverage.exact == doctest::Approx(share));
    CHECK(kernel.coverage.extrapolated == doctest::Approx(1.0 - share));
    CHECK(kernel.coverage.unknown == 0.0);
}

TEST_CASE("a description runs as many warp-instructions of each class as the launch did") {
    CHECK(rc::check("loops, branches and barriers", [] {
        const std::uint32_t outer = 1 + random_below(5);
        const std::uint32_t inner = 1 + random_below(5);
        const std::uint32_t warps = 1 + random_below(6);
        const std::uint32_t taking = random_below(warps + 1);
        const std::uint32_t ctas = 1 + random_below(6);
        const Program program(joined(
            {{"S2R R0, SR_TID.X", fmt::format("ISETP.LT.AND P0, PT, R0, {:#x}, PT", 32 * taking)},
             counted_loop("outer", 10, std::to_string(outer),
                          joined({{"BAR.SYNC.DEFER_BLOCKING 0x0", "@!P0 BRA `(behind)", "FADD R12, R12, R13",
                                   "FADD R14, R12, R13", "behind:"},
                                  counted_loop("inner", 11, std::to_string(inner),
                                               {"FMUL R15, R14, R13", "SHF.L.U32 R15, R15, 0x1, RZ"})})),
             {"FFMA R15, R14, R13, R12"}}));
        const LaunchShape shape = launch(ctas, 32 * warps);
        const TracedRun run(program, shape, {}, static_cast<int>(ctas));
        const mk::Kernel kernel = lowered(program, shape, run);
        mk::check(kernel);
        RC_LOG(mk::to_text(kernel));
        const mk::WalkTotals totals = mk::walk_totals(kernel, mk::WorkItem{});
        std::array<double, hw::instruction_class_count> ran{};
        for (std::size_t i = 0; i < program.code().lines.size(); ++i) {
            ran[static_cast<std::size_t>(class_of(*program.code().lines[i]).cls)] +=
                static_cast<double>(run.counts().instructions[i].warps) / ctas;
        }
        for (std::size_t cls = 0; cls < ran.size(); ++cls) {
            RC_LOG(std::string(hw::to_string(static_cast<InstructionClass>(cls))));
            RC_ASSERT(std::abs(totals.instructions[cls] - ran[cls]) < 1e-6);
        }
    }));
}

TEST_CASE("addresses are affine in CTA, warp, loop and lane as the code makes them") {
    CHECK(rc::check("one load", [] {
        // Of 4 bytes each, so that the accesses are aligned.
        const auto step = [](std::uint32_t most) { return 4 * random_below(most); };
        const std::uint32_t in_row = step(6), row = step(40), warp = step(300), x = step(1000);
        const std::uint32_t y = step(1000), loop = step(50);
        const std::uint32_t rounds = 2 + random_below(4);
        const std::uint32_t warps = 1 + random_below(4);
        const Buffer buffer(std::uint64_t{1} << 16U);
        const Program program(
            joined(
                {{"S2R R0, SR_TID.X", "LOP3.LUT R2, R0, 0x7, RZ, 0xc0, !PT",
                  fmt::format("IMAD R4, R2, {:#x}, RZ", in_row), "SHF.R.U32.HI R2, RZ, 0x3, R0",
                  "LOP3.LUT R2, R2, 0x3, RZ, 0xc0, !PT", fmt::format("IMAD R4, R2, {:#x}, R4", row),
                  "SHF.R.U32.HI R2, RZ, 0x5, R0", fmt::format("IMAD R4, R2, {:#x}, R4", warp),
                  "S2R R2, SR_CTAID.X", fmt::format("IMAD R4, R2, {:#x}, R4", x), "S2R R2, SR_CTAID.Y",
                  fmt::format("IMAD R4, R2, {:#x}, R4", y)},
                 counted_loop("loop", 10, std::to_string(rounds),
                              {"IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]", "LDG.E R12, desc[UR4][R6.64+0x10]",
                               fmt::format("IADD3 R4, R4, {:#x}, RZ", loop)})}),
            with_parameters(1));
        LaunchShape shape = one_cta(32 * warps);
        shape.grid = {3, 2, 1};
        const mk::Kernel kernel = lowered(program, shape, {buffer.address()}, 6);
        mk::check(kernel);
        RC_ASSERT(kernel.buffers.size() == 1);
        RC_ASSERT(kernel.buffers[0].space == mk::Space::global);
        RC_ASSERT(kernel.buffers[0].bytes() == std::int64_t{1} << 16U);
        RC_ASSERT(kernel.accesses.size() == 1);
        const mk::Access& access = kernel.accesses[0];
        RC_ASSERT(access.direction == mk::Direction::read);
        RC_ASSERT(access.bytes == 4);
        RC_ASSERT((access.pattern == mk::PatternKind::broadcast) == (in_row == 0 && row == 0));
        RC_ASSERT((access.pattern == mk::PatternKind::contiguous) == (in_row == 4 && row == 32));
        for (std::int64_t i = 0; i < 6 * warps * rounds; ++i) {
            mk::Coordinates at;
            at.tile[0] = i % 3;
            at.tile[1] = i / 3 % 2;
            at.warp = i / 6 % warps;
            at.loop[0] = i / 6 / warps;
            const std::int64_t origin = mk::evaluate(kernel, access.origin[0], at);
            const std::int64_t expected =
                16 + at.tile[0] * x + at.tile[1] * y + at.warp * warp + at.loop[0] * loop;
            RC_ASSERT(origin == expected);
        }
        for (std::int64_t lane = 0; lane < 32; ++lane) {
            RC_ASSERT(offset_of(access, lane) == lane % 8 * in_row + lane / 8 * row);
        }
    }));
}

/// Four CTAs of eight warps, each of which loads 128 bytes in each of three trips, from `warp_place` bytes
/// further (lines that leave the place in R4 and may use R2, the warp).
mk::Kernel loading_warps(const Lines& warp_place, const Buffer& buffer) {
    const Program program(joined({{"S2R R0, SR_TID.X", "SHF.R.U32.HI R2, RZ, 0x5, R0"},
                                  warp_place,
                                  {"LOP3.LUT R3, R0, 0x1f, RZ, 0xc0, !PT", "IMAD R4, R3, 0x4, R4",
                                   "S2R R3, SR_CTAID.X", "IMAD R4, R3, 0x4000, R4"},
                                  counted_loop("loop", 10, "0x3",
                                               {"IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]",
                                                "LDG.E R12, desc[UR4][R6.64]", "IADD3 R4, R4, 0x80, RZ"})}),
                          with_parameters(1));
    mk::Kernel kernel = lowered(program, launch(4, 256), {buffer.address()});
    mk::check(kernel);
    REQUIRE(kernel.accesses.size() == 1);
    CHECK(kernel.accesses[0].pattern == mk::PatternKind::contiguous);
    return kernel;
}

/// Terms of an index that name the warp.
std::vector<mk::Term> warp_terms(const mk::Kernel& kernel, const mk::Index& index) {
    std::vector<mk::Term> terms;
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        if (kernel.terms[t].variable == mk::Variable::warp) terms.push_back(kernel.terms[t]);
    }
    return terms;
}

/// Place of the access against one in bytes that the warp's number gives.
template <class Place>
void check_places(const mk::Kernel& kernel, Place place) {
    mk::Coordinates at;
    for (at.tile[0] = 0; at.tile[0] < 4; ++at.tile[0]) {
        for (at.warp = 0; at.warp < 8; ++at.warp) {
            for (at.loop[0] = 0; at.loop[0] < 3; ++at.loop[0]) {
                CHECK(mk::evaluate(kernel, kernel.accesses[0].origin[0], at) ==
                      0x4000 * at.tile[0] + place(at.warp) + 128 * at.loop[0]);
            }
        }
    }
}

TEST_CASE("warps that stand in rows and columns of a tile have a row and a column, and are not listed") {
    const Buffer buffer(std::uint64_t{1} << 16U);
    // Two columns: row w / 2 is 2560 bytes further each, column w % 2 512.
    const mk::Kernel two = loading_warps({"LOP3.LUT R4, R2, 0x1, RZ, 0xc0, !PT", "IMAD R4, R4, 0x200, RZ",
                                          "SHF.R.U32.HI R5, RZ, 0x1, R2", "IMAD R4, R5, 0xa00, R4"},
                                         buffer);
    check_places(two, [](std::int64_t warp) { return 0x200 * (warp % 2) + 0xa00 * (warp / 2); });
    const std::vector<mk::Term> terms = warp_terms(two, two.accesses[0].origin[0]);
    // Rows are two digits, and the upper one has twice the coefficient of the lower one.
    REQUIRE(terms.size() == 2);
    CHECK(terms[0].coefficient == 0x200);
    CHECK(terms[0].divisor == 1);
    CHECK(terms[0].modulus == 2);
    CHECK(terms[1].coefficient == 0xa00);
    CHECK(terms[1].divisor == 2);
    CHECK(terms[1].modulus == 0);
    CHECK(two.reuse.empty());

    // Four columns in which all rows read the same: one number of two digits.
    const mk::Kernel columns =
        loading_warps({"LOP3.LUT R4, R2, 0x3, RZ, 0xc0, !PT", "IMAD R4, R4, 0x400, RZ"}, buffer);
    check_places(columns, [](std::int64_t warp) { return 0x400 * (warp % 4); });
    const std::vector<mk::Term> of_columns = warp_terms(columns, columns.accesses[0].origin[0]);
    REQUIRE(of_columns.size() == 1);
    CHECK(of_columns[0].coefficient == 0x400);
    CHECK(of_columns[0].divisor == 1);
    CHECK(of_columns[0].modulus == 4);

    // Two rows of four columns where all columns read the same, and the digit in the middle alone.
    const mk::Kernel rows = loading_warps({"SHF.R.U32.HI R4, RZ, 0x2, R2", "IMAD R4, R4, 0x400, RZ"}, buffer);
    check_places(rows, [](std::int64_t warp) { return 0x400 * (warp / 4); });
    const mk::Kernel middle = loading_warps(
        {"SHF.R.U32.HI R4, RZ, 0x1, R2", "LOP3.LUT R4, R4, 0x1, RZ, 0xc0, !PT", "IMAD R4, R4, 0x400, RZ"},
        buffer);
    check_places(middle, [](std::int64_t warp) { return 0x400 * (warp / 2 % 2); });
    REQUIRE(warp_terms(middle, middle.accesses[0].origin[0]).size() == 1);

    // Warps in a single row are one number, as before.
    const mk::Kernel line = loading_warps({"IMAD R4, R2, 0x200, RZ"}, buffer);
    const std::vector<mk::Term> of_line = warp_terms(line, line.accesses[0].origin[0]);
    REQUIRE(of_line.size() == 1);
    CHECK(of_line[0].coefficient == 0x200);
    CHECK(of_line[0].divisor == 1);
    CHECK(of_line[0].modulus == 0);
}

TEST_CASE("an access whose first lanes do not take part has its place by lane 0 as well") {
    // Of CTA 1 lanes 8 to 31 load.
    const Buffer buffer(std::uint64_t{4096});
    const Program program(
        {"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "IMAD.SHL.U32 R2, R1, 0x8, RZ",
         "ISETP.GE.AND P0, PT, R0, R2, PT", "IMAD R4, R1, 0x400, RZ", "IMAD R4, R0, 0x4, R4",
         "IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]", "@P0 LDG.E R12, desc[UR4][R6.64]"},
        with_parameters(1));
    const mk::Kernel kernel = lowered(program, launch(2, 32), {buffer.address()});
    REQUIRE(kernel.accesses.size() == 1);
    const mk::Access& access = kernel.accesses[0];
    CHECK(access.pattern == mk::PatternKind::contiguous);
    mk::Coordinates at;
    CHECK(mk::evaluate(kernel, access.origin[0], at) == 0);
    at.tile[0] = 1;
    CHECK(mk::evaluate(kernel, access.origin[0], at) == 1024);
    // 32 and 24 lanes of 32.
    CHECK(ops_of(kernel, InstructionClass::ld_global).at(0).active == doctest::Approx(0.875));
}

TEST_CASE("lanes that data choose touch the sectors of the whole row; lanes at its end touch theirs alone") {
    const Buffer buffer(4096);
    const auto active = [&buffer](const std::string& condition) {
        const Program program({"S2R R0, SR_TID.X", "LOP3.LUT R1, R0, 0x3, RZ, 0xc0, !PT", condition,
                               "IMAD.WIDE.U32 R6, R0, 0x4, c[0x0][0x210]", "@P0 LDG.E R12, desc[UR4][R6.64]"},
                              with_parameters(1));
        const mk::Kernel kernel = lowered(program, launch(2, 32), {buffer.address()});
        CHECK(kernel.accesses.at(0).pattern == mk::PatternKind::contiguous);
        return ops_of(kernel, InstructionClass::ld_global).at(0).active;
    };
    // Two lanes of four: four in each of the four sectors of 32 bytes.
    CHECK(active("ISETP.LT.AND P0, PT, R1, 0x2, PT") == doctest::Approx(1.0));
    // Eight lanes at the begin of the row are one sector.
    CHECK(active("ISETP.LT.AND P0, PT, R0, 0x8, PT") == doctest::Approx(0.25));
    // Each lane of an atomic is an operation.
    const Program adds(
        {"S2R R0, SR_TID.X", "LOP3.LUT R1, R0, 0x3, RZ, 0xc0, !PT", "ISETP.LT.AND P0, PT, R1, 0x2, PT",
         "IMAD.WIDE.U32 R6, R0, 0x4, c[0x0][0x210]", "@P0 REDG.E.ADD.STRONG.GPU desc[UR4][R6.64], R0"},
        with_parameters(1));
    const mk::Kernel added = lowered(adds, launch(2, 32), {buffer.address()});
    CHECK(ops_of(added, InstructionClass::red_global).at(0).active == doctest::Approx(0.5));
}

TEST_CASE("what an SM's threads share looks in its L1") {
    const Buffer buffer(4096);
    const auto cache = [&buffer](const std::string& load) {
        const Program program({"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", load},
                              with_parameters(1));
        return lowered(program, one_cta(32), {buffer.address()}).accesses.at(0).cache;
    };
    CHECK(cache("LDG.E.STRONG.SM R9, desc[UR4][R2.64]") == mk::CachePolicy::ca);
    CHECK(cache("LDG.E.STRONG.GPU R9, desc[UR4][R2.64]") == mk::CachePolicy::cg);
}

TEST_CASE("addresses that follow no function are listed, and lanes that do not take part are -1") {
    CHECK(rc::check("a gather", [] {
        const Buffer indices(some_words(any_below(1000)));
        const Buffer table(std::uint64_t{4000});
        const Words active = some_words(any_flag());
        const Buffer flags(active);
        const Program program({"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x218]",
                               "LDG.E R8, desc[UR4][R2.64]", "ISETP.NE.AND P0, PT, R8, RZ, PT",
                               "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "LDG.E R8, desc[UR4][R2.64]",
                               "IMAD.WIDE.U32 R2, R8, 0x4, c[0x0][0x220]", "@P0 LDG.E R9, desc[UR4][R2.64]"},
                              with_parameters(3));
        const mk::Kernel kernel =
            lowered(program, one_cta(32), {indices.address(), flags.address(), table.address()});
        mk::check(kernel);
        const mk::Op gather = ops_of(kernel, InstructionClass::ld_global).back();
        const auto lanes = std::ranges::count(active, 1U);
        RC_PRE(lanes > 3);
        RC_ASSERT(gather.access_count == 1);
        RC_ASSERT(gather.active == static_cast<double>(lanes) / 32.0);
        const mk::Access& access = kernel.accesses_of(gather)[0];
        RC_ASSERT(kernel.buffers[static_cast<std::size_t>(access.buffer)].bytes() == 4000);
        if (access.pattern == mk::PatternKind::listed) {
            RC_ASSERT(access.pool_length == 32);
            for (std::size_t lane = 0; lane < 32; ++lane) {
                RC_ASSERT(kernel.address_list.at(access.pool_first + lane) ==
                          (active[lane] != 0 ? std::int64_t{4} * indices.words()[lane] : -1));
            }
        } else {
            // By chance the lanes stand in a row.
            const std::int64_t origin = mk::evaluate(kernel, access.origin[0], {});
            for (std::size_t lane = 0; lane < 32; ++lane) {
                RC_ASSERT((active[lane] == 0 || origin + offset_of(access, static_cast<std::int64_t>(lane)) ==
                                                    std::int64_t{4} * indices.words()[lane]));
            }
        }
    }));
}

TEST_CASE("a whole run says how many sectors come again so late that the L2 may have lost them") {
    // Each CTA reads a line of a table by a list, lanes at squares, and each line comes twice.
    constexpr std::uint32_t ctas = 20000;
    const Program program(
        {"S2R R0, SR_TID.X", "IMAD R0, R0, R0, RZ", "LOP3.LUT R0, R0, 0x1f, RZ, 0xc0, !PT",
         "S2R R1, SR_CTAID.X", "IMAD.WIDE.U32 R2, R1, 0x4, c[0x0][0x210]", "LDG.E R8, desc[UR4][R2.64]",
         "IMAD R8, R8, 0x20, R0", "IMAD.WIDE.U32 R2, R8, 0x4, c[0x0][0x218]", "LDG.E R9, desc[UR4][R2.64]"},
        with_parameters(2));
    const auto far = [&](std::uint32_t grid, auto line_of, double room_ctas) {
        std::vector<std::uint32_t> lines(ctas / 2);
        std::iota(lines.begin(), lines.end(), 0U);
        std::shuffle(lines.begin(), lines.end(), std::mt19937(7));
        Words list(ctas);
        for (std::uint32_t cta = 0; cta < ctas; ++cta) list[cta] = lines[line_of(cta)];
        const Buffer indices(list);
        const Buffer table(std::uint64_t{ctas / 2} * 128);
        const LaunchShape shape = launch(grid, 32);
        const TracedRun run(program, shape, {indices.address(), table.address()}, 4);
        REQUIRE(run.counts().whole());
        // A CTA asks for five sectors.
        const double room = (static_cast<double>(run.counts().resident_ctas) + room_ctas) * 5.0 * 32.0;
        const mk::Kernel kernel = lowered(program, shape, run, room);
        mk::check(kernel);
        const mk::Access& access = kernel.accesses_of(ops_of(kernel, InstructionClass::ld_global).back())[0];
        REQUIRE(access.pattern == mk::PatternKind::listed);
        return access.far;
    };
    const auto next = [](std::uint32_t cta) { return cta / 2; };
    const auto half_a_grid_later = [](std::uint32_t cta) { return cta % (ctas / 2); };
    CHECK(far(ctas, next, 2000.0) == 0.0);
    CHECK(far(ctas, half_a_grid_later, 2000.0) == doctest::Approx(0.5));
    CHECK(far(ctas, half_a_grid_later, 17000.0) == 0.0);
    // The L2 has no room for the CTAs at work, or the grid is few waves: not known.
    CHECK(far(ctas, next, -1.0) == 1.0);
    CHECK(far(8000, next, 2000.0) == 1.0);
}

TEST_CASE("shared memory counts from the kernel's own first byte") {
    ProgramOptions options;
    options.shared_begin = 1024;
    options.static_shared = 1024 + 512;
    const Program program({"S2R R0, SR_TID.X", "IMAD.SHL.U32 R1, R0, 0x8, RZ", "STS [R1+0x404], R0"},
                          options);
    const mk::Kernel kernel = lowered(program, one_cta(32));
    REQUIRE(kernel.buffers.size() == 1);
    CHECK(kernel.buffers[0].space == mk::Space::shared);
    CHECK(kernel.buffers[0].bytes() == 512);
    REQUIRE(kernel.accesses.size() == 1);
    const mk::Access& access = kernel.accesses[0];
    CHECK(access.direction == mk::Direction::write);
    CHECK(access.pattern == mk::PatternKind::stride);
    CHECK(mk::evaluate(kernel, access.origin[0], {}) == 4);
    CHECK(offset_of(access, 31) == 8 * 31);
}

TEST_CASE("nests of up to eight loops are described, and a ninth is refused") {
    Lines lines{"NOP"};
    for (int depth = 1; depth <= 9; ++depth) {
        CAPTURE(depth);
        lines = counted_loop(fmt::format("loop{}", depth), 10 + depth, "0x2", lines);
        const Program program(lines);
        if (depth <= mk::max_loop_depth) {
            const mk::Kernel kernel = lowered(program, one_cta(32));
            CHECK_NOTHROW(mk::check(kernel));
            REQUIRE(kernel.loops.size() == static_cast<std::size_t>(depth));
            for (const mk::Loop& loop : kernel.loops) {
                CHECK_FALSE(loop.trips.expected);
                CHECK(loop.trips.index == mk::Index{2, 0, 0});
            }
            continue;
        }
        try {
            (void)lowered(program, one_cta(32));
            FAIL("no error");
        } catch (const Error& error) {
            CHECK(error.parameter() == "kernel 'test' loops");
            CHECK(error.value() == "9");
            CHECK(has_parts(error.what(), {"at most 8 within one another"}));
        }
    }
}

TEST_CASE("trips that differ between CTAs are their mean, as an expectation") {
    // CTA 0 goes round 2 times, CTA 1 3 times.
    const Program program(
        joined({{"S2R R1, SR_CTAID.X", "IADD3 R9, R1, 0x2, RZ"}, counted_loop("loop", 10, "R9", {})}));
    const mk::Kernel kernel = lowered(program, launch(2, 32));
    CHECK_NOTHROW(mk::check(kernel));
    REQUIRE(kernel.loops.size() == 1);
    CHECK(kernel.loops[0].trips.expected);
    CHECK(kernel.loops[0].trips.mean == doctest::Approx(2.5));
}

TEST_CASE("trips that follow from a CTA's place stand beside their mean") {
    const auto loop_of = [](const std::vector<std::string>& count, std::uint32_t ctas) {
        const Program program(joined({count, counted_loop("loop", 10, "R9", {})}));
        const mk::Kernel kernel = lowered(program, launch(ctas, 32), {}, 12);
        CHECK_NOTHROW(mk::check(kernel));
        REQUIRE(kernel.loops.size() == 1);
        return std::pair(kernel, kernel.loops[0].trips);
    };
    const auto at = [](std::int64_t tile) {
        mk::WorkItem item;
        item.tile = {tile, 0, 0, 0};
        return mk::coordinates_of(item);
    };
    // CTA c of ten goes round 3 c + 2 times, as over the blocks before a diagonal.
    const auto [kernel, trips] =
        loop_of({"S2R R1, SR_CTAID.X", "IMAD R9, R1, 0x3, RZ", "IADD3 R9, R9, 0x2, RZ"}, 10);
    CHECK(trips.expected);
    CHECK(trips.mean == doctest::Approx(2.0 + 3.0 * 4.5));
    REQUIRE(mk::by_place(trips));
    for (std::int64_t c = 0; c < 10; ++c) CHECK(mk::evaluate(kernel, trips.index, at(c)) == 3 * c + 2);
    // A whole mean keeps its function, too.
    const auto [odd, whole] = loop_of({"S2R R1, SR_CTAID.X", "IADD3 R9, R1, 0x2, RZ"}, 9);
    CHECK(whole.mean == doctest::Approx(6.0));
    CHECK(mk::by_place(whole));
    // Two values, a few CTAs, or a count that turns say nothing of the others.
    CHECK_FALSE(mk::by_place(
        loop_of({"S2R R1, SR_CTAID.X", "LOP3.LUT R9, R1, 0x1, RZ, 0xc0, !PT", "IADD3 R9, R9, 0x2, RZ"}, 10)
            .second));
    CHECK_FALSE(mk::by_place(loop_of({"S2R R1, SR_CTAID.X", "IADD3 R9, R1, 0x2, RZ"}, 4).second));
    CHECK_FALSE(mk::by_place(
        loop_of({"S2R R1, SR_CTAID.X", "LOP3.LUT R9, R1, 0x3, RZ, 0xc0, !PT", "IADD3 R9, R9, 0x2, RZ"}, 10)
            .second));
}

TEST_CASE("code that some warps skip stands in a branch with their share") {
    const Program program({"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x28, PT", "@!P0 BRA `(behind)",
                           "MUFU.EX2 R1, R2", "MUFU.EX2 R3, R4", "behind:"});
    // Warp 0 takes it whole and warp 1 with 8 lanes, of 5 warps.
    const mk::Kernel kernel = lowered(program, one_cta(160));
    REQUIRE(kernel.branches.size() == 1);
    CHECK(kernel.branches[0].warps_taking == doctest::Approx(0.4));
    // Its op says how many of the lanes are active, once.
    CHECK(kernel.branches[0].mean_lanes == 32.0);
    const auto node = std::ranges::find(kernel.nodes, mk::NodeKind::branch, &mk::Node::kind);
    const auto place = static_cast<std::size_t>(node - kernel.nodes.begin());
    CHECK(node->end == place + 2);  // One op of two instructions.
    CHECK(kernel.ops[kernel.nodes[place + 1].payload].cls == InstructionClass::mufu);
    CHECK(kernel.ops[kernel.nodes[place + 1].payload].count == 2);
    CHECK(kernel.ops[kernel.nodes[place + 1].payload].active == doctest::Approx(20.0 / 32.0));
}

TEST_CASE("comparisons are one op, but for one that reads what another of them writes") {
    const Program program({"ISETP.LT.AND P0, PT, R1, R2, PT", "ISETP.LT.AND P1, PT, R3, R4, PT",
                           "ISETP.EQ.OR P2, PT, R1, R3, P0", "ISETP.EQ.OR P3, PT, R1, R4, PT",
                           "SEL R5, R1, R2, P2"});
    const std::vector<mk::Op> compared =
        ops_of(lowered(program, one_cta(32)), InstructionClass::set_predicate);
    REQUIRE(compared.size() == 2);
    for (const mk::Op& op : compared) {
        CHECK(op.count == 2);
        CHECK(op.chain == 1);
    }
    REQUIRE(compared[1].dep_count == 1);
    CHECK(compared[1].deps[0] == mk::Dep{0, 0});
}

TEST_CASE("an op has the longest chain of its instructions, and the ops that it needs") {
    const Program program({"MUFU.EX2 R20, R21", "FADD R10, R20, 1", "FADD R11, R10, 1", "FADD R12, R10, 1",
                           "FADD R13, R11, R12", "FMUL R14, R13, R30", "FMUL R15, R11, R20",
                           "FMUL R16, R10, R10", "FFMA R17, R14, R20, R12"});
    const mk::Kernel kernel = lowered(program, one_cta(32));
    const mk::Op add = ops_of(kernel, InstructionClass::add_f32).at(0);
    CHECK(add.count == 4);
    CHECK(add.chain == 3);
    REQUIRE(add.dep_count == 1);
    CHECK(add.deps[0] == mk::Dep{0, 0});
    const mk::Op mul = ops_of(kernel, InstructionClass::mul_f32).at(0);
    CHECK(mul.count == 3);
    CHECK(mul.chain == 1);
    REQUIRE(mul.dep_count == 2);
    // Newest first.
    CHECK(mul.deps[0] == mk::Dep{1, 0});
    CHECK(mul.deps[1] == mk::Dep{0, 0});
    const mk::Op fma = ops_of(kernel, InstructionClass::fma_f32).at(0);
    REQUIRE(fma.dep_count == 3);
    CHECK(fma.deps[0] == mk::Dep{2, 0});
}

TEST_CASE("a barrier expects all warps that come to it, and only those that wait do") {
    // Warps 0 and 1 arrive at barrier 1, where warps 2 to 4 wait, who free them by barrier 2; barrier 3 is of
    // warps 0 and 1 alone. Each side has a loop, so that it is a role.
    const Program program(joined(
        {{"S2R R0, SR_TID.X", "BAR.SYNC.DEFER_BLOCKING 0x0", "ISETP.GE.AND P0, PT, R0, 0x40, PT",
          "@P0 BRA `(consume)"},
         counted_loop(
             "produce", 10, "0x3",
             {"BAR.ARV 0x1, 0xa0", "BAR.SYNC.DEFER_BLOCKING 0x2, 0xa0", "BAR.SYNC.DEFER_BLOCKING 0x3, 0x40"}),
         {"EXIT", "consume:"},
         counted_loop("take", 10, "0x3", {"BAR.SYNC.DEFER_BLOCKING 0x1, 0xa0", "BAR.ARV 0x2, 0xa0"})}));
    const mk::Kernel kernel = lowered(program, one_cta(160));
    CHECK_NOTHROW(mk::check(kernel));
    REQUIRE(kernel.roles.size() == 2);
    REQUIRE(kernel.tokens.size() == 4);
    const mk::WalkTotals totals = mk::walk_totals(kernel, mk::WorkItem{});
    // In three rounds of five warps, or of the two or three that wait.
    const std::array<int, 4> expected{5, 5, 5, 2};
    const std::array<double, 4> arrivals{5.0, 15.0, 15.0, 6.0}, waits{5.0, 9.0, 6.0, 6.0};
    for (std::size_t token = 0; token < 4; ++token) {
        CAPTURE(token);
        CHECK(kernel.tokens[token].kind == mk::TokenKind::named_barrier);
        CHECK(kernel.tokens[token].arrivals == expected[token]);
        CHECK(totals.tokens[token].arrivals == doctest::Approx(arrivals[token]));
        CHECK(totals.tokens[token].waits == doctest::Approx(waits[token]));
    }
    CHECK(ops_of(kernel, InstructionClass::bar_arrive).size() == 2);
    CHECK(ops_of(kernel, InstructionClass::bar_sync).size() == 5);
}

TEST_CASE("copies to shared memory read and write, and their groups are waited for with the lag given") {
    const std::vector<std::string> copy{"S2R R0, SR_TID.X", "IMAD.SHL.U32 R1, R0, 0x10, RZ",
                                        "IMAD.WIDE.U32 R2, R0, 0x10, c[0x0][0x210]",
                                        "LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]"};
    const Buffer buffer(std::uint64_t{512});
    const Program program(
        joined({copy, {"LDGDEPBAR", "DEPBAR.LE SB0, 0x1", "LDGDEPBAR", "DEPBAR.LE SB0, 0x0"}}),
        with_parameters(1, 512));
    const mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
    CHECK_NOTHROW(mk::check(kernel));
    REQUIRE(kernel.tokens.size() == 1);
    CHECK(kernel.tokens[0].kind == mk::TokenKind::async_group);
    CHECK(kernel.tokens[0].scope == mk::Scope::warp);
    CHECK(kernel.signals.size() == 2);
    REQUIRE(kernel.waits.size() == 2);
    CHECK(kernel.waits[0].lag == 1);
    CHECK(kernel.waits[1].lag == 0);
    const mk::Op op = ops_of(kernel, InstructionClass::cp_async).at(0);
    REQUIRE(op.access_count == 2);
    for (const mk::Access& access : kernel.accesses_of(op)) {
        const bool global =
            kernel.buffers[static_cast<std::size_t>(access.buffer)].space == mk::Space::global;
        CHECK(access.direction == (global ? mk::Direction::read : mk::Direction::write));
        CHECK(access.bytes == 16);
        CHECK(access.pattern == mk::PatternKind::contiguous);
        // Such copies pass by the L1.
        CHECK(access.cache == mk::CachePolicy::cg);
    }
    CHECK(op.enabled == 1.0);
    // Without a group there is nothing to wait for.
    const Program bare(joined({copy, {"DEPBAR.LE SB0, 0x0"}}), with_parameters(1, 512));
    CHECK(lowered(bare, one_cta(32), {buffer.address()}).tokens.empty());
}

TEST_CASE("copies that a predicate turns off in the last trips read in a share of the trips") {
    // The counter goes from 8 to 1: a copy is made where it is above 3.
    const Buffer buffer(std::uint64_t{512});
    const Program program(joined({{"S2R R0, SR_TID.X", "IMAD.SHL.U32 R1, R0, 0x10, RZ",
                                   "IMAD.WIDE.U32 R2, R0, 0x10, c[0x0][0x210]"},
                                  counted_loop("loop", 10, "0x8",
                                               {"ISETP.GT.AND P1, PT, R10, 0x3, PT",
                                                "LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64], P1"})}),
                          with_parameters(1, 512));
    const mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
    mk::check(kernel);
    const mk::Op op = ops_of(kernel, InstructionClass::cp_async).at(0);
    CHECK(op.enabled == doctest::Approx(5.0 / 8.0));
    CHECK(op.active == 1.0);
}

/// A cluster of eight, each of whose warps makes one access to the shared memory of rank R14.
mk::Kernel in_cluster(const Lines& rank, const std::string& line) {
    Lines lines{"S2R R0, SR_TID.X", "IMAD.SHL.U32 R11, R0, 0x4, RZ",
                fmt::format("MOV R13, {:#x}", static_cast<std::uint32_t>(shared_window >> 32U)),
                "S2R R14, SR_CgaCtaId"};
    lines.insert(lines.end(), rank.begin(), rank.end());
    lines.insert(lines.end(), {"LEA R12, R14, R11, 0x18", "UCGABAR_ARV", "UCGABAR_WAIT", line, "UCGABAR_ARV",
                               "UCGABAR_WAIT"});
    LaunchShape shape = launch(16, 64);
    shape.cluster[0] = 8;
    mk::Kernel kernel = lowered(Program(lines, with_parameters(0, 1024)), shape, {}, 16);
    mk::check(kernel);
    return kernel;
}

TEST_CASE("accesses to one CTA of a cluster are told from those that go around") {
    struct Case {
        Lines rank;
        double skew;
    };
    // All to rank 0, each to the next one, and two by two.
    const std::vector<Case> cases{{{"MOV R14, RZ"}, 7.0},
                                  {{"IADD3 R14, R14, 0x1, RZ", "LOP3.LUT R14, R14, 0x7, RZ, 0xc0, !PT"}, 1.0},
                                  {{"LOP3.LUT R14, R14, 0x4, RZ, 0xc0, !PT"}, 3.0}};
    for (const Case& one : cases) {
        const mk::Kernel reads = in_cluster(one.rank, "LD.E R20, desc[UR4][R12.64]");
        const auto loads = ops_of(reads, InstructionClass::ld_shared_cluster);
        REQUIRE(loads.size() == 1);
        CHECK(reads.accesses_of(loads[0])[0].skew == doctest::Approx(one.skew));
        const mk::Kernel adds = in_cluster(one.rank, "RED.E.ADD.STRONG.GPU desc[UR4][R12.64], R0");
        const auto atomics = ops_of(adds, InstructionClass::atom_shared);
        REQUIRE(atomics.size() == 1);
        CHECK_FALSE(atomics[0].returns);
        CHECK(adds.accesses_of(atomics[0])[0].skew == doctest::Approx(one.skew));
    }
}

TEST_CASE("loads from a table of constants say their bytes, those of parameters nothing") {
    const Program program(
        {"S2R R0, SR_TID.X", "IMAD.SHL.U32 R2, R0, 0x4, RZ", "LDC R4, c[0x0][0x210]",
         "LDC R5, c[0x0][R2+0x210]", "LDC R6, c[0x0][R2+0x214]", "LDC.64 R8, c[0x0][R2+0x218]"},
        with_parameters(8));
    const mk::Kernel kernel = lowered(program, one_cta(1), std::vector<std::uint64_t>(8));
    mk::check(kernel);
    const auto loads = ops_of(kernel, InstructionClass::ld_constant);
    REQUIRE(loads.size() == 3);
    CHECK(loads[0].access_count == 0);
    CHECK(loads[1].count == 2);
    CHECK(kernel.accesses_of(loads[1])[0].bytes == 4);
    CHECK(kernel.accesses_of(loads[2])[0].bytes == 8);
    const mk::Id table = kernel.accesses_of(loads[2])[0].buffer;
    CHECK(kernel.buffers[static_cast<std::size_t>(table)].space == mk::Space::constant);
}

TEST_CASE("loads of constants list their lanes' places where these differ") {
    const auto loads_of = [](const std::string& step) {
        const Program program(
            {"S2R R0, SR_TID.X", "IMAD.SHL.U32 R2, R0, " + step + ", RZ", "LDC R5, c[0x0][R2+0x210]"},
            with_parameters(32));
        mk::Kernel kernel = lowered(program, one_cta(32), std::vector<std::uint64_t>(32));
        mk::check(kernel);
        return kernel;
    };
    const mk::Kernel apart = loads_of("0x8");
    const mk::Access& access = apart.accesses_of(ops_of(apart, InstructionClass::ld_constant).at(0))[0];
    REQUIRE(access.pattern == mk::PatternKind::listed);
    REQUIRE(access.pool_length == 32);
    for (std::int64_t lane = 0; lane < 32; ++lane) {
        CHECK(apart.address_list[static_cast<std::size_t>(access.pool_first + lane)] -
                  apart.address_list[access.pool_first] ==
              8 * lane);
    }
    const mk::Kernel alike = loads_of("0x0");
    CHECK(alike.accesses_of(ops_of(alike, InstructionClass::ld_constant).at(0))[0].pattern ==
          mk::PatternKind::broadcast);
}

TEST_CASE("atomics return where a register takes the old value, and caches are named by modifiers") {
    const Buffer buffer(std::uint64_t{128});
    const auto only = [&buffer](const std::string& line) {
        const Program program(
            {"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "MOV R8, 0x1", line},
            with_parameters(1));
        mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
        REQUIRE(kernel.accesses.size() == 1);
        return kernel;
    };
    const mk::Kernel taken = only("ATOMG.E.ADD.STRONG.GPU PT, R9, desc[UR4][R2.64], R8");
    CHECK(ops_of(taken, InstructionClass::atom_global).at(0).returns);
    CHECK(taken.accesses[0].direction == mk::Direction::atomic);
    for (const bool wanted : {false, true}) {
        const Program program({"S2R R0, SR_TID.X", "IMAD.SHL.U32 R2, R0, 0x4, RZ",
                               fmt::format("ATOMS.ADD {}, [R2], R0", wanted ? "R9" : "RZ")},
                              with_parameters(0, 128));
        const mk::Kernel kernel = lowered(program, one_cta(32));
        CHECK(ops_of(kernel, InstructionClass::atom_shared).at(0).returns == wanted);
    }
    const mk::Kernel reduced = only("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R8");
    CHECK_FALSE(ops_of(reduced, InstructionClass::red_global).at(0).returns);
    CHECK(reduced.accesses[0].direction == mk::Direction::atomic);
    CHECK(only("LDG.E R9, desc[UR4][R2.64]").accesses[0].cache == mk::CachePolicy::ca);
    CHECK(only("LDG.E.EF R9, desc[UR4][R2.64]").accesses[0].cache == mk::CachePolicy::cs);
    CHECK(only("LDG.E.STRONG.GPU R9, desc[UR4][R2.64]").accesses[0].cache == mk::CachePolicy::cg);
    CHECK(only("STG.E desc[UR4][R2.64], R8").accesses[0].direction == mk::Direction::write);
}

TEST_CASE("a kernel finds in the L2 what it stores before it reads any of it") {
    const std::string store = "STG.E desc[UR4][R2.64], R0";
    const std::string load = "LDG.E R9, desc[UR4][R2.64]";
    const std::string add = "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R0";
    const auto before = [](const std::vector<std::string>& accesses) {
        const Buffer buffer(4096);
        std::vector<std::string> lines{"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]"};
        lines.insert(lines.end(), accesses.begin(), accesses.end());
        const Program program(lines, with_parameters(1));
        return lowered(program, one_cta(32), {buffer.address()}).buffers.at(0).before;
    };
    CHECK(before({store, load}) == mk::Before::warm);
    CHECK(before({load, store}) == mk::Before::by_conditions);
    CHECK(before({load, store, load}) == mk::Before::by_conditions);
    CHECK(before({store}) == mk::Before::by_conditions);
    CHECK(before({load}) == mk::Before::by_conditions);
    CHECK(before({add, load}) == mk::Before::by_conditions);
}

TEST_CASE("a bulk copy is one box of its bytes, in either direction") {
    struct Case {
        std::string line;
        InstructionClass cls;
        mk::Direction direction;
    };
    for (const Case& own :
         {Case{"UBLKCP.S.G [UR8], [UR4], UR6", InstructionClass::cp_async_bulk, mk::Direction::read},
          Case{"UBLKCP.G.S [UR8], [UR4], UR6", InstructionClass::cp_async_bulk_store,
               mk::Direction::write}}) {
        CAPTURE(own.line);
        const bool loads = own.direction == mk::Direction::read;
        CHECK(rc::check("copies in a loop", [&own, loads] {
            const std::uint32_t bytes = 16 * (1 + random_below(100));
            const std::uint32_t first = 16 * random_below(10);
            const std::uint32_t step = 16 * random_below(20);
            const std::uint32_t rounds = 2 + random_below(6);
            const Buffer buffer(std::uint64_t{8192});
            // The barrier of copies to shared memory stands at byte 8, the bytes from 64 on.
            const std::uint64_t shared = loads ? pair_of(64, 8) : 64;
            const std::uint64_t global = buffer.address() + first;
            const std::string moving = loads ? "4" : "8", upper = loads ? "5" : "9";
            const Program program(
                joined({{"ULDC.64 UR4, c[0x0][0x210]", "ULDC.64 UR8, c[0x0][0x218]",
                         "ULDC.64 UR6, c[0x0][0x220]"},
                        counted_loop(
                            "loop", 10, std::to_string(rounds),
                            {own.line, fmt::format("UIADD3 UR{0}, UR{0}, {1:#x}, URZ", moving, step)})}),
                with_parameters(3, 4096));
            const mk::Kernel kernel =
                lowered(program, one_cta(32), {loads ? global : shared, loads ? shared : global, bytes / 16});
            mk::check(kernel);
            const std::vector<mk::Op> ops = ops_of(kernel, own.cls);
            RC_ASSERT(ops.size() == 1);
            RC_ASSERT(ops[0].access_count == 1);
            const mk::Access& access = kernel.accesses_of(ops[0])[0];
            RC_ASSERT(access.pattern == mk::PatternKind::collective);
            RC_ASSERT(access.direction == own.direction);
            RC_ASSERT(access.box[0] == bytes);
            for (std::int64_t round = 0; round < rounds; ++round) {
                mk::Coordinates at;
                at.loop[0] = round;
                RC_ASSERT(mk::evaluate(kernel, access.origin[0], at) == first + round * step);
            }
            const mk::Traffic traffic =
                mk::walk_totals(kernel, mk::WorkItem{}).traffic(mk::Space::global, own.direction);
            RC_ASSERT(traffic.inside_bytes == static_cast<double>(rounds) * bytes);
        }));
    }
}

TEST_CASE("a box of a tensor is as many rows and bytes as its elements, wherever it begins") {
    const Buffer memory(std::uint64_t{1} << 14U);
    TensorMap map;
    map.address = memory.address();
    map.rank = 2;
    map.extents = {32, 64};
    map.strides = {128};
    map.box = {8, 6};
    const Buffer tensor(std::uint64_t{tensor_map_bytes});
    write_tensor_map(map, tensor.data());
    // To byte 128 of shared memory, with the barrier at byte 8, from row 10 of column 16.
    const Program program({"ULDC.64 UR4, c[0x0][0x210]", "ULDC.64 UR8, c[0x0][0x218]",
                           "ULDC.64 UR10, c[0x0][0x220]", "UTMALDG.2D [UR8], [UR4]"},
                          with_parameters(3, 4096));
    const mk::Kernel kernel =
        lowered(program, one_cta(32), {tensor.address(), pair_of(128, 8), pair_of(16, 10)});
    CHECK_NOTHROW(mk::check(kernel));
    const mk::Op op = ops_of(kernel, InstructionClass::cp_async_bulk_tensor).at(0);
    REQUIRE(op.access_count == 1);
    const mk::Access& access = kernel.accesses_of(op)[0];
    CHECK(access.pattern == mk::PatternKind::collective);
    CHECK(access.direction == mk::Direction::read);
    CHECK(access.rank == 2);
    CHECK(access.box[0] == 8 * 4);
    CHECK(access.box[1] == 6);
    CHECK(mk::evaluate(kernel, access.origin[0], {}) == 16 * 4);
    CHECK(mk::evaluate(kernel, access.origin[1], {}) == 10);
    CHECK(kernel.buffers[static_cast<std::size_t>(access.buffer)].stride[1] == 128);
}

/// Numbers of threads in R0, the first word of shared memory in UR4, and the word of a fresh barrier for one
/// arrival in UR6 and UR7.
Lines with_fresh_word(const Lines& more) {
    const std::uint64_t word = fresh_word(1);
    return joined({{"S2R R0, SR_TID.X", "UMOV UR4, 0x0",
                    fmt::format("UMOV UR6, {:#x}", static_cast<std::uint32_t>(word)),
                    fmt::format("UMOV UR7, {:#x}", static_cast<std::uint32_t>(word >> 32U))},
                   more});
}

TEST_CASE("a ring that one thread fills becomes a token, and what the thread does an op of its warp") {
    // Warp 0 announces and copies 128 bytes to a stage, all warps wait for them; then the next stage.
    constexpr int trips = 4;
    const Buffer from(std::uint64_t{4096});
    Lines lines =
        with_fresh_word({"ISETP.EQ.AND P6, PT, R0, RZ, PT", "ISETP.GE.U32.AND P5, PT, R0, 0x20, PT",
                         "@!P5 SYNCS.EXCH.64 URZ, [UR4], UR6", "@!P5 SYNCS.EXCH.64 URZ, [UR4+0x8], UR6",
                         "BAR.SYNC.DEFER_BLOCKING 0x0", "ULDC.64 UR10, c[0x0][0x210]", "UMOV UR8, 0x100",
                         "UMOV UR12, 0x8", "MOV R11, 0x80", "MOV R20, RZ", "MOV R22, RZ"});
    for (int stage = 0; stage < trips; ++stage) {
        const int barrier = 8 * (stage % 2);
        for (const std::string& line :
             Lines{fmt::format("MOV R15, {:#x}", stage / 2 % 2 == 0 ? 0U : 0x80000000U),
                   fmt::format("UMOV UR9, {:#x}", barrier),
                   fmt::format("@P6 SYNCS.ARRIVE.TRANS64 RZ, [URZ+{:#x}], R11", barrier),
                   "@P6 UBLKCP.S.G [UR8], [UR10], UR12",
                   fmt::format("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [URZ+{:#x}], R15", barrier),
                   "BAR.SYNC.DEFER_BLOCKING 0x0"}) {
            lines.push_back(line);
        }
    }
    const mk::Kernel kernel =
        lowered(Program(lines, with_parameters(1, 4096)), one_cta(128), {from.address()});
    CHECK_NOTHROW(mk::check(kernel));
    const auto ring = std::ranges::find_if(
        kernel.tokens, [](const mk::Token& token) { return token.kind == mk::TokenKind::mbarrier; });
    REQUIRE(ring != kernel.tokens.end());
    CHECK(ring->depth == 2);
    CHECK(ring->initial == 0);
    CHECK(ring->arrivals == 2);
    const std::vector<mk::Op> copies = ops_of(kernel, InstructionClass::cp_async_bulk);
    REQUIRE(copies.size() == static_cast<std::size_t>(trips));
    for (const mk::Op& copy : copies) {
        CHECK(copy.completes == static_cast<mk::Id>(ring - kernel.tokens.begin()));
        CHECK(copy.when.active);
        CHECK(copy.when.low == 0);
        CHECK(copy.when.high == 1);
    }
    // Each copy moves its bytes once, though four warps go through the code.
    CHECK(mk::walk_totals(kernel, mk::WorkItem{})
              .traffic(mk::Space::global, mk::Direction::read)
              .requested_bytes == doctest::Approx(trips * 128.0));
    CHECK(std::ranges::count_if(kernel.waits, [&](const mk::Wait& wait) {
              return wait.token == static_cast<mk::Id>(ring - kernel.tokens.begin());
          }) == trips);
}

/// Thread 0 sets up the barrier at 0 of shared memory, for one arrival of a thread with no bytes (R11).
Lines one_barrier() {
    return with_fresh_word({"ISETP.GE.U32.AND P5, PT, R0, 0x20, PT", "@!P5 SYNCS.EXCH.64 URZ, [UR4], UR6",
                            "BAR.SYNC.DEFER_BLOCKING 0x0", "MOV R11, RZ", "MOV R15, RZ"});
}

bool waits_for_ring(const mk::Kernel& kernel) {
    return std::ranges::any_of(kernel.waits, [&](const mk::Wait& wait) {
        return kernel.tokens[static_cast<std::size_t>(wait.token)].kind == mk::TokenKind::mbarrier;
    });
}

TEST_CASE("a wait that the first trip skips finds its phase complete from the start") {
    // Each trip but the first waits for the arrival of the trip before. The parity is bit 31 of R15.
    for (const int trips : {3, 8}) {
        const Lines body{fmt::format("ISETP.EQ.AND P4, PT, R10, {:#x}, PT", trips),
                         "@P4 BRA `(first)",
                         "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [URZ], R15",
                         "IADD3 R15, R15, 0x80000000, RZ",
                         "first:",
                         "ISETP.EQ.AND P3, PT, R0, RZ, PT",
                         "@P3 SYNCS.ARRIVE.TRANS64 RZ, [URZ], R11"};
        const Program program(
            joined({one_barrier(), counted_loop("loop", 10, fmt::format("{:#x}", trips), body)}),
            with_parameters(0, 64));
        const mk::Kernel kernel = lowered(program, one_cta(32));
        CHECK_NOTHROW(mk::check(kernel));
        const auto ring = std::ranges::find(kernel.tokens, mk::TokenKind::mbarrier, &mk::Token::kind);
        REQUIRE(ring != kernel.tokens.end());
        CHECK(waits_for_ring(kernel));
        CHECK(ring->initial == 1);
        CHECK_NOTHROW((void)mk::walk_totals(kernel, mk::WorkItem{}));
    }
}

TEST_CASE("a wait of some warps for what other warps of the role do behind it is not one of all") {
    const Program program(
        joined({one_barrier(),
                {"ISETP.GE.U32.AND P4, PT, R0, 0x60, PT", "@P4 BRA `(behind)",
                 "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [URZ], R15",
                 "behind:", "ISETP.EQ.AND P3, PT, R0, 0x60, PT", "@P3 SYNCS.ARRIVE.TRANS64 RZ, [URZ], R11"}}),
        with_parameters(0, 64));
    const mk::Kernel kernel = lowered(program, one_cta(128));
    CHECK_NOTHROW(mk::check(kernel));
    REQUIRE(kernel.roles.size() == 1);
    CHECK(ops_of(kernel, InstructionClass::mbarrier_try_wait).size() == 1);
    CHECK_FALSE(waits_for_ring(kernel));
    CHECK_NOTHROW((void)mk::walk_totals(kernel, mk::WorkItem{}));
}

/// A kernel of one line, with the address of each lane's 8 bytes in R2 and R3, and numbers from R8 on.
mk::Kernel of_line(const std::string& line) {
    const Buffer buffer(std::uint64_t{256});
    const Program program({"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x8, c[0x0][0x210]", "MOV R8, 0x1",
                           "MOV R9, RZ", "MOV R10, RZ", "MOV R11, RZ", line},
                          with_parameters(1));
    return lowered(program, one_cta(32), {buffer.address()});
}

TEST_CASE("atomics are of integers unless their suffix names a real type") {
    struct Case {
        std::string suffix;
        hw::Dtype dtype;
    };
    for (const Case& own :
         {Case{"ADD", hw::Dtype::int32}, Case{"MIN.S32", hw::Dtype::int32}, Case{"MAX", hw::Dtype::int32},
          Case{"AND", hw::Dtype::int32}, Case{"OR", hw::Dtype::int32}, Case{"XOR", hw::Dtype::int32},
          Case{"INC", hw::Dtype::int32}, Case{"DEC", hw::Dtype::int32}, Case{"ADD.64", hw::Dtype::int64},
          Case{"MIN.S64", hw::Dtype::int64}, Case{"MAX.64", hw::Dtype::int64},
          Case{"OR.64", hw::Dtype::int64}, Case{"ADD.F32.FTZ.RN", hw::Dtype::fp32},
          Case{"ADD.F64.RN", hw::Dtype::fp64}, Case{"ADD.F16x2.RN", hw::Dtype::fp16},
          Case{"ADD.BF16x2.RN", hw::Dtype::bf16}}) {
        CAPTURE(own.suffix);
        const mk::Kernel reduced = of_line("REDG.E." + own.suffix + ".STRONG.GPU desc[UR4][R2.64], R8");
        CHECK(ops_of(reduced, InstructionClass::red_global).at(0).dtype == own.dtype);
        const mk::Kernel taken =
            of_line("ATOMG.E." + own.suffix + ".STRONG.GPU PT, R12, desc[UR4][R2.64], R8");
        CHECK(ops_of(taken, InstructionClass::atom_global).at(0).dtype == own.dtype);
    }
    for (const bool wide : {false, true}) {
        const hw::Dtype dtype = wide ? hw::Dtype::int64 : hw::Dtype::int32;
        const std::string suffix = wide ? ".64" : "";
        const mk::Kernel compared =
            of_line("ATOMG.E.CAS" + suffix + ".STRONG.GPU PT, R12, desc[UR4][R2.64], R8, R10");
        CHECK(ops_of(compared, InstructionClass::atom_global).at(0).dtype == dtype);
        const mk::Kernel swapped =
            of_line("ATOMG.E.EXCH" + suffix + ".STRONG.GPU PT, R12, desc[UR4][R2.64], R8");
        CHECK(ops_of(swapped, InstructionClass::atom_global).at(0).dtype == dtype);
    }
}

TEST_CASE("reductions and atomics that throw the old value away return nothing, whatever stands before it") {
    struct Case {
        std::string line;
        InstructionClass cls;
        bool returns;
    };
    for (const Case& own :
         {Case{"RED.E.ADD.STRONG.GPU [R2.64], R8", InstructionClass::red_global, false},
          Case{"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R8", InstructionClass::red_global, false},
          Case{"ATOMG.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64], R8", InstructionClass::atom_global, false},
          Case{"ATOMG.E.ADD.STRONG.GPU P1, RZ, desc[UR4][R2.64], R8", InstructionClass::atom_global, false},
          Case{"ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R8", InstructionClass::atom_global, true},
          Case{"ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], RZ", InstructionClass::atom_global, true},
          Case{"ATOM.E.ADD.STRONG.GPU PT, RZ, [R2.64], R8", InstructionClass::atom_global, false},
          Case{"ATOM.E.ADD.STRONG.GPU PT, R4, [R2.64], R8", InstructionClass::atom_global, true}}) {
        CAPTURE(own.line);
        const mk::Kernel kernel = of_line(own.line);
        CHECK_NOTHROW(mk::check(kernel));
        CHECK(ops_of(kernel, own.cls).at(0).returns == own.returns);
    }
}

TEST_CASE("groups of copies have as many stages as waits leave under way, and two more") {
    CHECK(rc::check("a pipeline", [] {
        const std::uint32_t left = random_below(8);
        const std::uint32_t commits = 1 + random_below(3);
        const std::uint32_t before = random_below(4);
        const std::uint32_t rounds = 2 + random_below(3);
        const std::string copy = "LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]";
        Lines body;
        for (std::uint32_t i = 0; i < commits; ++i) {
            body.insert(body.end(), {copy, "LDGDEPBAR"});
        }
        // The wait stands before the copies or behind them; the last groups are waited for behind the loop.
        body.insert(random_below(2) != 0 ? body.begin() : body.end(),
                    fmt::format("DEPBAR.LE SB0, {:#x}", left));
        Lines prologue{"S2R R0, SR_TID.X", "IMAD.SHL.U32 R1, R0, 0x10, RZ",
                       "IMAD.WIDE.U32 R2, R0, 0x10, c[0x0][0x210]"};
        for (std::uint32_t i = 0; i < before; ++i) {
            prologue.insert(prologue.end(), {copy, "LDGDEPBAR"});
        }
        const Program program(
            joined(
                {prologue, counted_loop("loop", 10, std::to_string(rounds), body), {"DEPBAR.LE SB0, 0x0"}}),
            with_parameters(1, 512));
        const Buffer buffer(std::uint64_t{512});
        const mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
        mk::check(kernel);
        RC_ASSERT(kernel.tokens.size() == 1);
        RC_ASSERT(kernel.tokens[0].kind == mk::TokenKind::async_group);
        RC_ASSERT(kernel.tokens[0].depth == static_cast<std::int32_t>(left / commits + 2));
        RC_ASSERT(kernel.waits.size() == 2);
        RC_ASSERT(kernel.waits[0].lag == static_cast<std::int32_t>(left));
        RC_ASSERT(kernel.waits[1].lag == 0);
    }));
}

TEST_CASE("groups of copies that are waited for outside of loops have one stage") {
    const Program program(
        {"S2R R0, SR_TID.X", "IMAD.SHL.U32 R1, R0, 0x10, RZ", "IMAD.WIDE.U32 R2, R0, 0x10, c[0x0][0x210]",
         "LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]", "LDGDEPBAR", "DEPBAR.LE SB0, 0x3"},
        with_parameters(1, 512));
    const Buffer buffer(std::uint64_t{512});
    const mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
    REQUIRE(kernel.tokens.size() == 1);
    CHECK(kernel.tokens[0].depth == 1);
}

/// Threads of `warps` warps read the sectors whose numbers they are given, `rounds` times, each the first
/// word of one. The access of the reads.
mk::Access gathered(const Words& sectors, std::uint32_t warps, std::uint32_t rounds, std::uint64_t bytes) {
    const Buffer indices(sectors);
    const Buffer table(bytes);
    const Program program(
        joined({{"S2R R0, SR_TID.X"},
                counted_loop("loop", 10, std::to_string(rounds),
                             {"IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "LDG.E R8, desc[UR4][R2.64]",
                              "IMAD.WIDE.U32 R6, R8, 0x20, c[0x0][0x218]", "LDG.E R12, desc[UR4][R6.64]",
                              fmt::format("IADD3 R0, R0, {:#x}, RZ", 32 * warps)})}),
        with_parameters(2));
    const mk::Kernel kernel = lowered(program, one_cta(32 * warps), {indices.address(), table.address()});
    mk::check(kernel);
    return kernel.accesses_of(ops_of(kernel, InstructionClass::ld_global).at(1))[0];
}

TEST_CASE("listed addresses say among how many bytes random ones fall") {
    CHECK(rc::check("draws with repeats", [] {
        constexpr std::uint32_t warps = 4, rounds = 24;
        // Up to one in two draws is new.
        const std::uint32_t places = 100 + random_below(1400);
        const std::uint32_t apart = 1 + random_below(8);
        std::mt19937 engine(random_below(1U << 30U));
        Words sectors(std::size_t{32} * warps * rounds);
        for (std::uint32_t& sector : sectors) {
            sector = apart * static_cast<std::uint32_t>(engine() % places);
        }
        const mk::Access access = gathered(sectors, warps, rounds, std::uint64_t{32} * apart * places);
        RC_ASSERT(access.pattern == mk::PatternKind::listed);
        // Of a line of four sectors every one is in use, every other one, or one.
        const double expected = 32.0 * places * std::gcd(apart, 4U);
        RC_LOG(fmt::format("{} of {} bytes", access.distinct, expected));
        RC_ASSERT(std::abs(static_cast<double>(access.distinct) - expected) < 0.1 * expected);
    }));
}

TEST_CASE("listed addresses that never repeat may fall anywhere in their range") {
    CHECK(rc::check("a permutation", [] {
        const std::uint32_t warps = 1 + random_below(3);
        const std::uint32_t rounds = 2 + random_below(8);
        const std::uint32_t number = 32 * warps * rounds;
        const std::uint32_t apart = 1 + random_below(8);
        Words sectors(number);
        for (std::uint32_t i = 0; i < number; ++i) {
            sectors[i] = apart * i + 3;
        }
        std::mt19937 engine(random_below(1U << 30U));
        std::ranges::shuffle(sectors, engine);
        const mk::Access access = gathered(sectors, warps, rounds, std::uint64_t{32} * (apart * number + 3));
        RC_ASSERT(access.pattern == mk::PatternKind::listed);
        RC_ASSERT(access.distinct == std::int64_t{32} * (apart * (number - 1) + 1));
    }));
}

namespace {

/// Bytes among which an access falls by a sample of the CTAs. Each CTA goes to a tile of sectors and the tile
/// behind it, in an order of its own, by the instruction `line`. Beside them the bytes of all tiles.
std::pair<double, double> reach_of_overlapping_tiles(const std::string& line, InstructionClass cls,
                                                     std::size_t number) {
    constexpr std::uint32_t ctas = 400, tile = 64;
    const Buffer table(std::uint64_t{32} * tile * (ctas + 1));
    Words places(std::size_t{2} * tile * ctas);
    std::mt19937 engine(7);
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
        const auto own = places.begin() + std::ptrdiff_t{2} * tile * cta;
        std::iota(own, own + 2 * tile, tile * cta);
        std::ranges::shuffle(own, own + 2 * tile, engine);
    }
    const Buffer indices(places);
    const Program program({"S2R R0, SR_CTAID.X", "S2R R1, SR_TID.X", "IMAD R0, R0, 0x80, R1",
                           "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "LDG.E R8, desc[UR4][R2.64]",
                           "IMAD.WIDE.U32 R6, R8, 0x20, c[0x0][0x218]", line},
                          with_parameters(2));
    const LaunchShape shape = launch(ctas, 2 * tile);
    TraceRecorder trace;
    RunOptions options;
    options.observer = &trace;
    options.traced_ctas = 12;
    options.budget = 1000;
    const LaunchCounts counts = program.run(shape, {indices.address(), table.address()}, options);
    REQUIRE(counts.error.empty());
    REQUIRE_FALSE(counts.whole());
    const mk::Kernel kernel =
        lower({&program.code(), 0, shape, &counts, &trace, &test_memory(), on_test_chip().chip.cache});
    const mk::Access& access = kernel.accesses_of(ops_of(kernel, cls).at(number))[0];
    REQUIRE(access.pattern == mk::PatternKind::listed);
    return {static_cast<double>(access.distinct), 32.0 * tile * (ctas + 1)};
}

}  // namespace

TEST_CASE("neighbours in the grid that share a border are no repeats of random places") {
    const auto [reach, all] =
        reach_of_overlapping_tiles("LDG.E R12, desc[UR4][R6.64]", InstructionClass::ld_global, 1);
    CHECK(reach > 0.9 * all);
    CHECK(reach <= all);
}

TEST_CASE("neighbours in the grid that change the same words do meet") {
    const auto [reach, all] = reach_of_overlapping_tiles("RED.E.ADD.STRONG.GPU desc[UR4][R6.64], R1",
                                                         InstructionClass::red_global, 0);
    CHECK(reach < 0.6 * all);
}

TEST_CASE("loads that the L1 keeps say how soon their bytes come back, others do not") {
    // Each lane walks along a row of its own: 8 words of a sector, of 32 lines in all.
    const auto walk = [](const std::string& line) {
        const Program program(joined({{"S2R R0, SR_TID.X", "IMAD R4, R0, 0x80, RZ"},
                                      counted_loop("loop", 10, "0x10",
                                                   {"IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]", line,
                                                    "IADD3 R4, R4, 0x4, RZ"})}),
                              with_parameters(1));
        const Buffer buffer(std::uint64_t{4096});
        mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
        REQUIRE(kernel.accesses.size() == 1);
        CHECK_NOTHROW(mk::check(kernel));
        return kernel;
    };
    const mk::Kernel kept = walk("LDG.E R12, desc[UR4][R6.64]");
    REQUIRE(kept.reuse.size() == 1);
    CHECK(kept.accesses[0].reuse == 1);
    for (std::size_t i = 0; i < mk::Reuse::distances; ++i) {
        CAPTURE(i);
        const double all_rows = i < 2 ? 0.0 : 7.0 / 8.0;  // 4 KiB
        CHECK(kept.reuse[0].whole[i] == doctest::Approx(all_rows));
        CHECK(kept.reuse[0].sectors[i] >= all_rows);
    }
    CHECK(kept.reuse[0].sectors.back() == doctest::Approx(7.0 / 8.0));
    // Lines that may go first are looked for like others.
    const mk::Kernel first_to_go = walk("LDG.E.EF R12, desc[UR4][R6.64]");
    CHECK(first_to_go.accesses[0].cache == mk::CachePolicy::cs);
    CHECK(first_to_go.reuse == kept.reuse);
    for (const std::string line : {"LDG.E.STRONG.GPU R12, desc[UR4][R6.64]", "STG.E desc[UR4][R6.64], R12",
                                   "REDG.E.ADD.STRONG.GPU desc[UR4][R6.64], R12"}) {
        CAPTURE(line);
        const mk::Kernel other = walk(line);
        CHECK(other.reuse.empty());
        CHECK(other.accesses[0].reuse == 0);
    }
    // Each reads 4 bytes of its own.
    const Buffer buffer(std::uint64_t{128});
    const Program once(
        {"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "LDG.E R12, desc[UR4][R2.64]"},
        with_parameters(1));
    CHECK(lowered(once, one_cta(32), {buffer.address()}).reuse.empty());
}

/// Shares in which stores of four-byte words, a lane every `pitch` bytes, leave with the store before.
/// `between` stands between the first store and the second, whose word lies `offset` bytes further.
std::vector<double> joined_shares(const Lines& between, int offset, int pitch = 32) {
    const Buffer memory(std::uint64_t{64} * static_cast<std::uint64_t>(pitch));
    const Program program(
        joined({{"S2R R0, SR_TID.X", fmt::format("IMAD.WIDE.U32 R2, R0, {:#x}, c[0x0][0x210]", pitch),
                 "STG.E desc[UR4][R2.64], RZ"},
                between,
                {fmt::format("STG.E desc[UR4][R2.64+{:#x}], RZ", offset)}}),
        with_parameters(1));
    const mk::Kernel kernel = lowered(program, one_cta(32), {memory.address()});
    mk::check(kernel);
    std::vector<double> shares;
    for (const mk::Op& op : ops_of(kernel, InstructionClass::st_global)) {
        shares.push_back(kernel.accesses_of(op)[0].joined);
    }
    return shares;
}

TEST_CASE("stores to the sectors of the store right before leave with it") {
    CHECK(joined_shares({}, 4) == std::vector{0.0, 1.0});
    CHECK(joined_shares({"IADD3 R8, R8, 0x1, RZ", "IADD3 R9, R9, 0x1, RZ"}, 8) == std::vector{0.0, 1.0});
    // In the next lane's sector: all but the last lane's.
    CHECK(joined_shares({}, 32) == std::vector{0.0, 31.0 / 32.0});
    // Other sectors, and a store that comes too late.
    CHECK(joined_shares({}, 1024) == std::vector{0.0, 0.0});
    CHECK(joined_shares(Lines(18, "IADD3 R8, R8, 0x1, RZ"), 4) == std::vector{0.0, 0.0});
    // A load between that nobody waits for, and one that an instruction before the store waits for.
    const std::string load = "LDG.E R10, desc[UR4][R2.64+0x8]";
    CHECK(joined_shares({load}, 4) == std::vector{0.0, 1.0});
    CHECK(joined_shares({load, "IADD3 R8, R10, 0x1, RZ"}, 4) == std::vector{0.0, 0.0});
    // Lines for which there is no room: 16 and 32 of them.
    CHECK(joined_shares({}, 4, 64).back() == doctest::Approx(0.33).epsilon(0.1));
    CHECK(joined_shares({}, 4, 128).back() < 0.05);
}

TEST_CASE("a branch that one warp of each CTA takes is one that the slowest warps always take") {
    for (const std::uint32_t warps : {2U, 4U, 8U}) {
        CAPTURE(warps);
        const Program program(
            joined({{"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x20, PT", "@!P0 BRA `(behind)"},
                    Lines(8, "FADD R12, R12, R13"),
                    {"behind:", "FMUL R12, R12, R13"}}));
        const mk::Kernel kernel = lowered(program, launch(5, 32 * warps));
        CHECK_NOTHROW(mk::check(kernel));
        REQUIRE(kernel.branches.size() == 1);
        CHECK(kernel.branches[0].warps_taking == doctest::Approx(1.0 / warps));
        CHECK(kernel.branches[0].slowest == mk::SlowestWarps{1.0, 1.0});
    }
}

TEST_CASE("a branch that the warps with the most to do skip is one that they never take") {
    const Program program(joined({{"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x20, PT",
                                   "@P0 BRA `(first)", "FADD R12, R12, R13", "EXIT", "first:"},
                                  Lines(8, "FMUL R12, R12, R13")}));
    const mk::Kernel kernel = lowered(program, launch(2, 128));
    CHECK_NOTHROW(mk::check(kernel));
    REQUIRE(kernel.branches.size() == 2);
    CHECK(kernel.branches[0].warps_taking == doctest::Approx(0.75));
    CHECK(kernel.branches[0].slowest == mk::SlowestWarps{0.0, 0.0});
    CHECK(kernel.branches[1].warps_taking == doctest::Approx(0.25));
    CHECK(kernel.branches[1].slowest == mk::SlowestWarps{1.0, 1.0});
}

TEST_CASE("a branch that warps take in turn between barriers is one that the slowest warps always take") {
    // Warp w takes it in the round in which w rounds are left, and all meet in each round.
    const Lines round = {"BAR.SYNC.DEFER_BLOCKING 0x0",
                         "ISETP.EQ.AND P0, PT, R6, R10, PT",
                         "@!P0 BRA `(behind)",
                         "FADD R12, R12, R13",
                         "FADD R14, R12, R13",
                         "FADD R14, R14, R13",
                         "behind:",
                         "FMUL R15, R15, R13"};
    const Program program(
        joined({{"S2R R0, SR_TID.X", "SHF.R.U32.HI R6, RZ, 0x5, R0", "IADD3 R6, R6, 0x1, RZ"},
                counted_loop("loop", 10, "0x4", round)}));
    const mk::Kernel kernel = lowered(program, launch(2, 128));
    REQUIRE(kernel.branches.size() == 1);
    CHECK(kernel.branches[0].warps_taking == doctest::Approx(0.25));
    CHECK(kernel.branches[0].slowest.of_cta == doctest::Approx(1.0));
}

/// A loop of 2 + per_warp x warp + per_cta x CTA rounds with `line` in it, and `behind` it others.
Program uneven_loop(const std::string& line, std::uint32_t per_warp, std::uint32_t per_cta,
                    const Lines& behind = {}) {
    return Program(joined({{"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "SHF.R.U32.HI R6, RZ, 0x5, R0",
                            fmt::format("IMAD R7, R6, {:#x}, RZ", per_warp),
                            fmt::format("IMAD R7, R1, {:#x}, R7", per_cta), "IADD3 R7, R7, 0x2, RZ",
                            "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]"},
                           counted_loop("loop", 10, "R7", joined({{line}, behind}))}),
                   with_parameters(1));
}

TEST_CASE("a loop has the trips of the slowest warps, where they are not those of all warps") {
    CHECK(rc::check("rounds by warp and CTA", [] {
        const std::uint32_t warps = 1 + random_below(4);
        const std::uint32_t ctas = 1 + random_below(5);
        const std::uint32_t per_warp = random_below(4), per_cta = random_below(4);
        const Buffer buffer(std::uint64_t{1024});
        const mk::Kernel kernel = lowered(uneven_loop("LDG.E R12, desc[UR4][R2.64]", per_warp, per_cta),
                                          launch(ctas, 32 * warps), {buffer.address()});
        mk::check(kernel);
        RC_ASSERT(kernel.loops.size() == 1U);
        const mk::Loop& loop = kernel.loops[0];
        const double by_cta = 0.5 * per_cta * (ctas - 1);
        const double mean = 2.0 + 0.5 * per_warp * (warps - 1) + by_cta;
        const double trips =
            loop.trips.expected ? loop.trips.mean : static_cast<double>(loop.trips.index.constant);
        RC_ASSERT(std::abs(trips - mean) < 1e-6);
        const double of_cta = 2.0 + per_warp * (warps - 1) + by_cta;
        const double of_grid = of_cta + by_cta;
        RC_ASSERT(std::abs(loop.slowest.of_cta - (of_cta > mean ? of_cta : -1.0)) < 1e-6);
        RC_ASSERT(std::abs(loop.slowest.of_grid - (of_grid > mean ? of_grid : -1.0)) < 1e-6);
    }));
}

TEST_CASE("a loop that watches what other CTAs write has no slowest warps, and nothing in it has") {
    const Buffer buffer(std::uint64_t{1024});
    for (const std::string line : {"LDG.E.STRONG.GPU R12, desc[UR4][R2.64]",
                                   "ATOMG.E.ADD.STRONG.GPU PT, R12, desc[UR4][R2.64], R13"}) {
        CAPTURE(line);
        const mk::Kernel kernel = lowered(uneven_loop(line, 3, 2), launch(3, 128), {buffer.address()});
        CHECK_NOTHROW(mk::check(kernel));
        REQUIRE(kernel.loops.size() == 1);
        CHECK(kernel.loops[0].slowest == mk::SlowestWarps{});
    }
    // A search goes from place to place.
    const mk::Kernel search = lowered(
        uneven_loop("ATOMG.E.ADD.STRONG.GPU PT, R12, desc[UR4][R2.64], R13", 3, 2, {"IADD3 R2, R2, 0x4, RZ"}),
        launch(3, 128), {buffer.address()});
    REQUIRE(search.loops.size() == 1);
    CHECK(search.loops[0].slowest.of_grid == doctest::Approx(2.0 + 3.0 * 3.0 + 4.0));
    // A place that is written anew from what stays is no other place, and what a register held elsewhere says
    // nothing.
    const mk::Kernel again =
        lowered(uneven_loop("ATOMG.E.ADD.STRONG.GPU PT, R12, desc[UR4][R2.64], R13", 3, 2,
                            {"IADD3 R2, R2, 0x4, RZ", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]"}),
                launch(3, 128), {buffer.address()});
    REQUIRE(again.loops.size() == 1);
    CHECK(again.loops[0].slowest == mk::SlowestWarps{});
    // A store of the same strength watches nothing.
    const mk::Kernel stores = lowered(uneven_loop("STG.E.STRONG.GPU desc[UR4][R2.64], R12", 3, 2),
                                      launch(3, 128), {buffer.address()});
    REQUIRE(stores.loops.size() == 1);
    CHECK(stores.loops[0].slowest.of_cta == doctest::Approx(2.0 + 3.0 * 3.0 + 2.0));
    CHECK(stores.loops[0].slowest.of_grid == doctest::Approx(2.0 + 3.0 * 3.0 + 4.0));
    // Code that one warp in four runs, in such a loop.
    const Program nested(
        joined({{"S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x20, PT",
                 "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]"},
                counted_loop("loop", 10, "0x5",
                             joined({{"LDG.E.STRONG.GPU R12, desc[UR4][R2.64]", "@!P0 BRA `(behind)"},
                                     Lines(8, "FADD R14, R14, R13"),
                                     {"behind:"}}))}),
        with_parameters(1));
    const mk::Kernel kernel = lowered(nested, launch(3, 128), {buffer.address()});
    REQUIRE(kernel.branches.size() == 1);
    CHECK(kernel.branches[0].warps_taking == doctest::Approx(0.25));
    CHECK(kernel.branches[0].slowest == mk::SlowestWarps{});
}

TEST_CASE("a grid that goes to its tiles in bands has their schedule, and bases by tile") {
    CHECK(rc::check("bands of rows that are powers of two", [] {
        const std::uint32_t of_group = 1 + random_below(2);  // Bits of the numbers.
        const std::uint32_t of_columns = 2 + random_below(2);
        const std::int64_t bands = 2 + random_below(2);
        const std::int64_t group = std::int64_t{1} << of_group;
        const std::int64_t columns = std::int64_t{1} << of_columns;
        const std::int64_t rows = bands * group;
        const std::int64_t row_step = 4096, column_step = 256;
        const Buffer buffer(std::uint64_t{1} << 17U);
        // R7: the row, the band's and that in the band. R8: the column.
        const Program program(
            {"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X",
             fmt::format("LOP3.LUT R6, R1, {:#x}, RZ, 0xc0, !PT", group - 1),
             fmt::format("SHF.R.U32.HI R7, RZ, {:#x}, R1", of_group + of_columns),
             fmt::format("IMAD R7, R7, {:#x}, R6", group),
             fmt::format("SHF.R.U32.HI R8, RZ, {:#x}, R1", of_group),
             fmt::format("LOP3.LUT R8, R8, {:#x}, RZ, 0xc0, !PT", columns - 1), "IMAD R4, R0, 0x4, RZ",
             fmt::format("IMAD R5, R7, {:#x}, R4", row_step), "IMAD.WIDE.U32 R10, R5, 0x1, c[0x0][0x210]",
             "LDG.E R12, desc[UR4][R10.64]", fmt::format("IMAD R5, R8, {:#x}, R4", column_step),
             "IMAD.WIDE.U32 R10, R5, 0x1, c[0x0][0x210]", "LDG.E R13, desc[UR4][R10.64]"},
            with_parameters(1));
        const LaunchShape shape = launch(static_cast<std::uint32_t>(rows * columns), 32);
        const mk::Kernel kernel =
            lowered(program, shape, {buffer.address()}, static_cast<int>(rows * columns));
        mk::check(kernel);
        RC_ASSERT(kernel.schedule.tiles == (std::array<std::int64_t, 4>{rows, columns, 1, 1}));
        RC_ASSERT(kernel.schedule.group == group);
        RC_ASSERT(kernel.schedule.raster == mk::Raster::along_n);
        RC_ASSERT(kernel.accesses.size() == 2U);
        for (std::int64_t m = 0; m < rows; ++m) {
            for (std::int64_t n = 0; n < columns; ++n) {
                mk::Coordinates at;
                at.tile[0] = m;
                at.tile[1] = n;
                RC_ASSERT(mk::evaluate(kernel, kernel.accesses[0].origin[0], at) == m * row_step);
                RC_ASSERT(mk::evaluate(kernel, kernel.accesses[1].origin[0], at) == n * column_step);
            }
        }
    }));
}

TEST_CASE("a grid whose bases are affine in the CTA's place keeps its own schedule") {
    const Buffer buffer(std::uint64_t{1} << 16U);
    const Program program(
        {"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "IMAD R4, R1, 0x80, RZ", "IMAD R4, R0, 0x4, R4",
         "IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]", "LDG.E R12, desc[UR4][R6.64]"},
        with_parameters(1));
    LaunchShape shape = one_cta(32);
    shape.grid = {24, 3, 2};
    const mk::Kernel kernel = lowered(program, shape, {buffer.address()}, 144);
    CHECK(kernel.schedule.tiles == std::array<std::int64_t, 4>{24, 3, 2, 1});
    CHECK(kernel.schedule.group == 24);
}

/// A warpgroup that runs these lines; the descriptors of its matrices are zero.
mk::Kernel of_warpgroup(const Lines& lines) {
    mk::Kernel kernel = lowered(Program(lines, with_parameters(0, 4096)), one_cta(128));
    CHECK_NOTHROW(mk::check(kernel));
    return kernel;
}

/// Whether the op depends on the op of that id, in the same trip.
bool depends_on(const mk::Op& op, std::ptrdiff_t id) {
    return std::any_of(op.deps.begin(), op.deps.begin() + op.dep_count, [id](const mk::Dep& dep) {
        return dep.op == static_cast<mk::Id>(id) && dep.distance == 0;
    });
}

std::vector<std::ptrdiff_t> ids_of(const mk::Kernel& kernel, InstructionClass cls) {
    std::vector<std::ptrdiff_t> ids;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        if (kernel.ops[i].cls == cls) ids.push_back(static_cast<std::ptrdiff_t>(i));
    }
    return ids;
}

const std::string narrow_product = "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24";
const std::string group_end = ", gsb0";
const std::string all_products = "WARPGROUP.DEPBAR.LE gsb0, 0x0";

TEST_CASE("products with waits between them are one op in series, and without waits one of a single group") {
    for (const bool waits : {true, false}) {
        for (std::size_t count = 1; count <= 5; ++count) {
            CAPTURE(waits);
            CAPTURE(count);
            Lines lines{"WARPGROUP.ARRIVE"};
            for (std::size_t i = 0; i < count; ++i) {
                const bool ends = waits || i + 1 == count;
                lines.push_back(narrow_product + (ends ? group_end : ""));
                if (ends) lines.push_back(all_products);
            }
            const mk::Kernel kernel = of_warpgroup(lines);
            const std::vector<mk::Op> products = ops_of(kernel, InstructionClass::wgmma);
            REQUIRE(products.size() == 1);
            CHECK(products[0].count == static_cast<std::int64_t>(count));
            CHECK(products[0].chain == (waits ? static_cast<std::int64_t>(count) : 1));
            CHECK(products[0].shape == std::array<std::int32_t, 3>{64, 8, 16});
            // The wait behind them all waits for them.
            const mk::Op last =
                kernel.ops.at(static_cast<std::size_t>(ids_of(kernel, InstructionClass::wgmma_fence).back()));
            CHECK(depends_on(last, ids_of(kernel, InstructionClass::wgmma)[0]));
        }
    }
}

TEST_CASE("products whose sums are used between them, or that are not alike, are ops of their own") {
    const std::string wide = "HGMMA.64x16x16.F32.BF16 R40, gdesc[UR8], R40";
    const std::vector<mk::Op> used =
        ops_of(of_warpgroup({narrow_product + group_end, all_products, "FADD R60, R24, R25",
                             narrow_product + group_end, all_products}),
               InstructionClass::wgmma);
    REQUIRE(used.size() == 2);
    for (const mk::Op& product : used) {
        CHECK(product.count == 1);
        CHECK(product.chain == 1);
    }
    // Each product of one shape, then two of another.
    const mk::Kernel kernel =
        of_warpgroup({narrow_product + group_end, wide, wide + group_end, "WARPGROUP.DEPBAR.LE gsb0, 0x1",
                      "FADD R60, R24, R25", all_products, "FADD R61, R40, R41"});
    const std::vector<std::ptrdiff_t> products = ids_of(kernel, InstructionClass::wgmma);
    REQUIRE(products.size() == 2);
    CHECK(kernel.ops[static_cast<std::size_t>(products[0])].count == 1);
    CHECK(kernel.ops[static_cast<std::size_t>(products[1])].count == 2);
    // The first wait leaves the newest group under way.
    const std::vector<mk::Op> waits = ops_of(kernel, InstructionClass::wgmma_fence);
    REQUIRE(waits.size() == 2);
    CHECK(depends_on(waits[0], products[0]));
    CHECK_FALSE(depends_on(waits[0], products[1]));
    CHECK(depends_on(waits[1], products[1]));
}

TEST_CASE("products on the same sums do not wait for one another's results") {
    const mk::Kernel kernel =
        of_warpgroup({"FADD R24, R25, R26", narrow_product + group_end, "FADD R61, R62, R63",
                      "HGMMA.64x8x16.F32 R24, gdesc[UR8], R24" + group_end, all_products});
    const std::vector<std::ptrdiff_t> products = ids_of(kernel, InstructionClass::wgmma);
    REQUIRE(products.size() == 2);
    const mk::Op& second = kernel.ops[static_cast<std::size_t>(products[1])];
    CHECK_FALSE(depends_on(second, products[0]));
    // What is no product is waited for.
    CHECK(depends_on(kernel.ops[static_cast<std::size_t>(products[0])],
                     ids_of(kernel, InstructionClass::add_f32)[0]));
}

/// The number of the op of a class that stands `place`th.
mk::Id id_of(const mk::Kernel& kernel, InstructionClass cls, std::size_t place = 0) {
    for (std::size_t id = 0; id < kernel.ops.size(); ++id) {
        if (kernel.ops[id].cls == cls && place-- == 0) return static_cast<mk::Id>(id);
    }
    return mk::no_id;
}

std::vector<mk::Dep> deps_of(const mk::Kernel& kernel, mk::Id op) {
    std::vector<mk::Dep> deps;
    for (const mk::Dep& dep : kernel.deps_of(kernel.ops.at(static_cast<std::size_t>(op))))
        deps.push_back(dep);
    return deps;
}

bool needs(const mk::Kernel& kernel, mk::Id op, const mk::Dep& dep) {
    const std::vector<mk::Dep> deps = deps_of(kernel, op);
    return std::ranges::find(deps, dep) != deps.end();
}

TEST_CASE("what a trip reads before it writes it comes from the trip before") {
    // R12 is loaded for the next trip, R20 is a sum, R30 comes from before the loop.
    const Buffer buffer(256);
    const Program program(
        joined({{"MOV R6, c[0x0][0x210]", "MOV R7, c[0x0][0x214]"},
                counted_loop("loop", 10, "0x8",
                             {"FFMA R20, R12, R30, R20", "LDG.E R12, desc[UR4][R6.64]", "MUFU.EX2 R22, R20"}),
                {"FADD R23, R20, R12"}}),
        with_parameters(1));
    const mk::Kernel kernel = lowered(program, one_cta(32), {buffer.address()});
    mk::check(kernel);
    const mk::Id fma = id_of(kernel, InstructionClass::fma_f32);
    const mk::Id load = id_of(kernel, InstructionClass::ld_global);
    CHECK(deps_of(kernel, fma) == std::vector<mk::Dep>{{load, 1}, {fma, 1}});
    CHECK(deps_of(kernel, id_of(kernel, InstructionClass::mufu)) == std::vector<mk::Dep>{{fma, 0}});
    // The loop's addresses come from before it, and what stands behind it needs its last trip.
    for (const mk::Dep& dep : deps_of(kernel, load)) CHECK(dep.distance == 0);
    const mk::Id behind = id_of(kernel, InstructionClass::add_f32);
    CHECK(needs(kernel, behind, {load, 0}));
    CHECK(needs(kernel, behind, {fma, 0}));
}

TEST_CASE("what an inner loop only reads comes from the trip before of the loop around that writes it") {
    const Program program(counted_loop(
        "outer", 10, "0x4",
        joined({counted_loop("inner", 11, "0x3", {"FFMA R20, R12, R13, R20"}), {"FMUL R12, R20, R30"}})));
    const mk::Kernel kernel = lowered(program, one_cta(32));
    mk::check(kernel);
    const mk::Id fma = id_of(kernel, InstructionClass::fma_f32);
    const mk::Id mul = id_of(kernel, InstructionClass::mul_f32);
    // The innermost loop around both is the outer one for R12, and the inner one for R20.
    CHECK(deps_of(kernel, fma) == std::vector<mk::Dep>{{mul, 1}, {fma, 1}});
    CHECK(deps_of(kernel, mul) == std::vector<mk::Dep>{{fma, 0}});
}

TEST_CASE("a wait that leaves as many groups under way as a trip has waits for one of a trip before") {
    for (const int left : {0, 1, 2, 3, 4}) {
        CAPTURE(left);
        const std::string wide = "HGMMA.64x16x16.F32.BF16 R40, gdesc[UR8], R40";
        const mk::Kernel kernel = of_warpgroup(
            counted_loop("loop", 10, "0x4",
                         {narrow_product + group_end, wide + group_end,
                          fmt::format("WARPGROUP.DEPBAR.LE gsb0, {:#x}", left), "FADD R60, R24, R25"}));
        const std::vector<std::ptrdiff_t> products = ids_of(kernel, InstructionClass::wgmma);
        REQUIRE(products.size() == 2);
        const mk::Id wait = id_of(kernel, InstructionClass::wgmma_fence);
        const auto awaited = static_cast<mk::Id>(products[left % 2 == 0 ? 1 : 0]);
        CHECK(needs(kernel, wait, {awaited, left / 2}));
        // Products follow one another in the tensor cores.
        for (const std::ptrdiff_t product : products) {
            for (const mk::Dep& dep : deps_of(kernel, static_cast<mk::Id>(product))) {
                CHECK(kernel.ops[static_cast<std::size_t>(dep.op)].cls != InstructionClass::wgmma);
            }
        }
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
