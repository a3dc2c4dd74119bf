// Tests of stores that leave together: strides whose answer is known, and what does not merge.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/store_merging.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// Share of eight warps' stores that merge. Lane l of warp w stores the word at l * lane_bytes + w *
/// warp_bytes.
double merged(std::uint32_t lane_bytes, std::uint32_t warp_bytes) {
    const Buffer memory(std::uint64_t{32} * lane_bytes + std::uint64_t{8} * warp_bytes + 4);
    ProgramOptions options;
    options.parameters = 1;
    const Program program(
        {"S2R R0, SR_TID.X", "LOP3.LUT R4, R0, 0x1f, RZ, 0xc0, !PT", "SHF.R.U32.HI R5, RZ, 0x5, R0",
         fmt::format("IMAD R4, R4, {:#x}, RZ", lane_bytes), fmt::format("IMAD R4, R5, {:#x}, R4", warp_bytes),
         "IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]", "STG.E desc[UR4][R6.64], R0", "EXIT"},
        options);
    const TracedRun run(program, one_cta(256), {memory.address()});
    const auto shares = merged_stores(run.trace(), {32, 128});
    return shares.empty() ? 0.0 : shares.begin()->second;
}

}  // namespace

TEST_CASE("warps that fill sectors together send them once, while their lines wait") {
    // Eight words of a sector by eight warps: a lane a sector, so 8 lines a store.
    CHECK(merged(32, 4) == doctest::Approx(7.0 / 8.0));
    // A lane every other sector: 16 lines a store, of which some wait until the next warp comes (0.32
    // counted).
    CHECK(merged(64, 4) == doctest::Approx(0.32).epsilon(0.05));
    // 32 lines a store: hardly any.
    CHECK(merged(128, 4) < 0.05);
    CHECK(merged(128, 4) < merged(96, 4));
    CHECK(merged(96, 4) < merged(64, 4));
}

TEST_CASE("warps that fill lines of their own merge nothing") {
    CHECK(merged(4, 128) == 0.0);
    // Sectors of their own in lines that wait.
    CHECK(merged(4, 32 * 4) == 0.0);
    CHECK(merged(16, 512) == 0.0);
}

TEST_CASE("warps that store to the same words send them once") {
    CHECK(merged(4, 0) == doctest::Approx(7.0 / 8.0));
}

}  // namespace warptime::workloads::frontends::machine
