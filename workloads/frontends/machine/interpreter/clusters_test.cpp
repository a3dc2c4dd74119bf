// Tests of the barrier of a cluster, and of reading the shared memory of other CTAs behind it.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/clusters.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t window_high = static_cast<std::uint32_t>(shared_window >> 32U);

LaunchShape clusters_of(std::uint32_t ctas, std::uint32_t clusters, std::uint32_t threads) {
    LaunchShape shape = one_cta(threads);
    shape.grid[0] = ctas * clusters;
    shape.cluster[0] = ctas;
    return shape;
}

ProgramOptions options_of(std::uint32_t parameters) {
    ProgramOptions options;
    options.parameters = parameters;
    options.static_shared = 1024;
    return options;
}

/// R0 is the thread in its CTA, R7 in the grid; R10 is its word of parameter 0, R12 that of parameter 1.
std::vector<std::string> between(const std::vector<std::string>& body) {
    std::vector<std::string> lines{"S2R R0, SR_TID.X",
                                   "S2R R1, SR_CTAID.X",
                                   "IMAD R7, R1, c[0x0][0x0], R0",
                                   "IMAD.WIDE.U32 R2, R7, 0x4, c[0x0][0x210]",
                                   "LDG.E R10, desc[UR4][R2.64]",
                                   "IMAD.WIDE.U32 R2, R7, 0x4, c[0x0][0x218]",
                                   "LDG.E R12, desc[UR4][R2.64]"};
    lines.insert(lines.end(), body.begin(), body.end());
    lines.insert(lines.end(), {"IMAD.WIDE.U32 R2, R7, 0x4, c[0x0][0x220]", "STG.E desc[UR4][R2.64], R20"});
    return lines;
}

TEST_CASE("what the CTAs of a cluster write before its barrier is what the others read behind it") {
    // Phase after phase each thread takes the word of a thread of its cluster: rank in bits 24 and up.
    constexpr std::uint32_t phases = 3, threads = 64;
    std::vector<std::string> body{"IMAD.SHL.U32 R11, R0, 0x4, RZ", "S2R R14, SR_CgaCtaId",
                                  "LEA R11, R14, R11, 0x18", fmt::format("MOV R13, {:#x}", window_high),
                                  "MOV R20, R10"};
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        body.insert(body.end(), {"STS [R11], R20", "UCGABAR_ARV", "UCGABAR_WAIT",
                                 "LD.E R20, desc[UR4][R12.64]", "UCGABAR_ARV", "UCGABAR_WAIT"});
    }
    const Program program(between(body), options_of(3));
    CHECK(rc::check("words go around in every cluster", [&program] {
        const std::uint32_t ctas = 1 + random_below(8);
        const std::uint32_t clusters = 1 + random_below(3);
        const std::uint32_t all = ctas * clusters * threads;
        const Words values = some_words(any_word(), all);
        Words from(all), address(all);
        for (std::uint32_t thread = 0; thread < all; ++thread) {
            const std::uint32_t rank = random_below(ctas);
            const std::uint32_t other = random_below(threads);
            address[thread] = (rank << 24U) | (4 * other);
            from[thread] = (thread / (ctas * threads) * ctas + rank) * threads + other;
        }
        const Buffer given(values), addresses(address), results(Words{Words(all)});
        const LaunchCounts counts = program.run(clusters_of(ctas, clusters, threads),
                                                {given.address(), addresses.address(), results.address()});
        RC_ASSERT(counts.error.empty());
        const Words got = results.words();
        for (std::uint32_t thread = 0; thread < all; ++thread) {
            std::uint32_t origin = thread;
            for (std::uint32_t phase = 0; phase < phases; ++phase) {
                origin = from[origin];
            }
            RC_ASSERT(got[thread] == values[origin]);
        }
    }));
}

TEST_CASE("warps that have exited are not waited for, in whichever CTA they were") {
    const Program program(between({"ISETP.NE.AND P0, PT, R10, RZ, PT", "@P0 EXIT", "UCGABAR_ARV",
                                   "UCGABAR_WAIT", "MOV R20, 0x9"}),
                          options_of(3));
    CHECK(rc::check("the rest goes on", [&program] {
        constexpr std::uint32_t ctas = 3, warps = 3;
        Words leaves(std::size_t{ctas} * warps * 32);
        for (std::size_t warp = 0; warp < std::size_t{ctas} * warps; ++warp) {
            std::fill_n(leaves.begin() + static_cast<std::ptrdiff_t>(32 * warp), 32, random_below(2));
        }
        const Buffer given(leaves), unused(leaves), results(Words(leaves.size()));
        const LaunchCounts counts = program.run(clusters_of(ctas, 1, 32 * warps),
                                                {given.address(), unused.address(), results.address()});
        RC_ASSERT(counts.error.empty());
        for (std::size_t thread = 0; thread < leaves.size(); ++thread) {
            RC_ASSERT(results.words()[thread] == (leaves[thread] != 0 ? 0U : 9U));
        }
    }));
}

TEST_CASE("a warp waits for the phase that it arrived in, however late it waits") {
    // CTA 0 arrives, works for long and waits; the others have waited before. Each phase adds to a counter.
    const Program program(
        between({"S2R R8, SR_CTAID.X", "ISETP.NE.AND P0, PT, R8, RZ, PT", "MOV R20, RZ", "UCGABAR_ARV",
                 "@P0 BRA `(late)", "MOV R9, 0x1388", "spin:", "IADD3 R9, R9, -0x1, RZ",
                 "ISETP.GT.AND P1, PT, R9, RZ, PT", "@P1 BRA `(spin)", "late:", "UCGABAR_WAIT",
                 "IADD3 R20, R20, 0x1, RZ", "UCGABAR_ARV", "UCGABAR_WAIT", "IADD3 R20, R20, 0x1, RZ"}),
        options_of(3));
    constexpr std::uint32_t all = 4 * 32;
    const Buffer given(Words{Words(all)}), unused(Words{Words(all)}), results(Words{Words(all)});
    const LaunchCounts counts =
        program.run(clusters_of(4, 1, 32), {given.address(), unused.address(), results.address()});
    CHECK(counts.error.empty());
    CHECK(results.words() == Words(all, 2));
}

TEST_CASE("a cluster of which one warp waits elsewhere is a deadlock that names all of them") {
    const Program program({"S2R R8, SR_CTAID.X", "ISETP.NE.AND P0, PT, R8, RZ, PT", "@P0 BRA `(other)",
                           "UCGABAR_ARV", "UCGABAR_WAIT", "EXIT",
                           "other:", "BAR.SYNC.DEFER_BLOCKING 0x3, 0x40"});
    const std::string message = program.error(clusters_of(2, 1, 32));
    CHECK(has_parts(message, {"a deadlock: every warp waits", "warp 0 of CTA 0 at UCGABAR_WAIT",
                              "warp 0 of CTA 1 at BAR.SYNC.DEFER_BLOCKING 0x3, 0x40"}));
    // Two CTAs that are no cluster do not wait for each other.
    LaunchShape apart = one_cta(32);
    apart.grid[0] = 2;
    CHECK_FALSE(has_parts(program.error(apart), {"UCGABAR_WAIT"}));
}

TEST_CASE("shared memory of a CTA that the cluster does not have is out of bounds") {
    const Program program(
        {fmt::format("MOV R13, {:#x}", window_high), "MOV R12, c[0x0][0x210]", "LD.E R20, desc[UR4][R12.64]"},
        options_of(1));
    CHECK(program.error(clusters_of(2, 1, 1), {0x1000010}).empty());
    CHECK(
        has_parts(program.error(clusters_of(2, 1, 1), {0x2000010}), {"out-of-bounds read", "shared memory"}));
    CHECK(has_parts(program.error(clusters_of(2, 1, 1), {0x1000400}),
                    {"out-of-bounds read of 4 bytes", "of 1024 bytes of shared memory"}));
}

TEST_CASE("an election under a guard takes the first lane that the guard lets through") {
    const LaneProgram program({"MOV R20, 0x63", "ISETP.NE.AND P2, PT, R20, RZ, PT", "UMOV UR8, 0x37",
                               "@P0 ELECT P1, UR8, PT", "SEL R20, RZ, 0x1, !P1"},
                              {"P0", "P1"}, {"R20", "UR8"});
    CHECK(rc::check("lanes", [&program] {
        const Words let = some_words(any_flag());
        const Words before = some_words(any_flag());
        const std::vector<Words> results = program({let, before});
        const auto first = static_cast<std::size_t>(std::ranges::find(let, 1U) - let.begin());
        for (std::size_t lane = 0; lane < 32; ++lane) {
            RC_ASSERT(results[0][lane] == (let[lane] != 0 ? (lane == first ? 1U : 0U) : before[lane]));
            RC_ASSERT(results[1][lane] == (first < 32 ? first : 0x37U));
        }
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
