// Tests of stores that leave together: strides whose answer is known, and what does not merge.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/store_merging.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

/// Share of eight warps' stores that merge. Lane l of warp w stores the word at l * lane_bytes + w *
/// warp_bytes; `before` is what the warps do between.
double merged(std::uint32_t lane_bytes, std::uint32_t warp_bytes,
              const std::vector<std::string>& before = {}) {
    const Buffer memory(std::uint64_t{32} * lane_bytes + std::uint64_t{8} * warp_bytes + 4);
    ProgramOptions options;
    options.parameters = 1;
    const Program program(
        joined(
            {{"S2R R0, SR_TID.X", "LOP3.LUT R4, R0, 0x1f, RZ, 0xc0, !PT", "SHF.R.U32.HI R5, RZ, 0x5, R0",
              fmt::format("IMAD R4, R4, {:#x}, RZ", lane_bytes),
              fmt::format("IMAD R4, R5, {:#x}, R4", warp_bytes), "IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]"},
             before,
             {"STG.E desc[UR4][R6.64], R0", "EXIT"}}),
        options);
    const TracedRun run(program, one_cta(256), {memory.address()});
    const auto shares = merged_stores(run.trace(), program.code(), {32, 128});
    return shares.empty() ? 0.0 : shares.begin()->second.share;
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

TEST_CASE("warps that have waited for loads store by themselves, until they meet at a barrier") {
    const std::string load = "LDG.E R8, desc[UR4][R6.64]", meet = "BAR.SYNC.DEFER_BLOCKING 0x0";
    CHECK(merged(4, 0, {load}) == 0.0);
    CHECK(merged(4, 0, {load, meet}) == doctest::Approx(7.0 / 8.0));
    CHECK(merged(4, 0, {meet, load}) == 0.0);
    CHECK(merged(4, 0, {load, meet, load}) == 0.0);
    CHECK(merged(4, 0, {"ATOMG.E.ADD.STRONG.GPU PT, R8, desc[UR4][R6.64], R0"}) == 0.0);
    // Nobody waits for an addition without its old value, for shared memory, or at a barrier that one passes.
    CHECK(merged(4, 0, {"REDG.E.ADD.STRONG.GPU desc[UR4][R6.64], R0"}) == doctest::Approx(7.0 / 8.0));
    CHECK(merged(4, 0, {load, "BAR.ARV 0x1, 0x200"}) == 0.0);
}

namespace {

/// A store of a word by every lane; lane l at `first` + l * lane_bytes.
AccessEvent store_of(std::uint64_t first, std::uint64_t lane_bytes, Mask lanes = all_lanes) {
    AccessEvent event;
    event.kind = AccessKind::store;
    event.space = AccessSpace::global;
    event.lanes = lanes;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) event.address[lane] = first + lane * lane_bytes;
    return event;
}

/// Share of a store's sectors that leave with the store before, a word beside it in each lane's sector.
double joined_share(std::uint64_t lane_bytes, bool in_step = false) {
    const JoinedSectors found =
        joined_sectors(store_of(0, lane_bytes), store_of(4, lane_bytes), in_step, {32, 128});
    CHECK(found.all == static_cast<double>(std::min<std::uint64_t>(lane_bytes, 32)));
    return found.joined / found.all;
}

}  // namespace

TEST_CASE("a warp's stores leave together while their lines wait, for which ten have room") {
    // 8 lines, all of them still there.
    CHECK(joined_share(32) == 1.0);
    // 16 lines: about a third. 32 lines: hardly any.
    CHECK(joined_share(64) == doctest::Approx(0.33).epsilon(0.1));
    CHECK(joined_share(128) < 0.05);
    CHECK(joined_share(96) < joined_share(64));
    CHECK(joined_share(128) < joined_share(96));
    // With as many lines of another warp in between: 4 and 4 have room, of 8 and 8 some leave.
    CHECK(joined_share(16, true) == 1.0);
    CHECK(joined_share(32, true) < 0.5);
    CHECK(joined_share(64, true) < 0.1);
}

TEST_CASE("sectors of a store that are not in the one before leave by themselves") {
    const auto share = [](const AccessEvent& before, const AccessEvent& store) {
        const JoinedSectors found = joined_sectors(before, store, false, {32, 128});
        return found.joined / found.all;
    };
    // Eight words a sector. The second store begins in the second half of the first one's bytes.
    CHECK(share(store_of(0, 4), store_of(64, 4)) == 0.5);
    CHECK(share(store_of(0, 4), store_of(128, 4)) == 0.0);
    // Other sectors of lines that wait.
    CHECK(share(store_of(0, 128, 0xff), store_of(32, 128, 0xff)) == 0.0);
    // Half of the lanes' sectors.
    CHECK(share(store_of(0, 32, 0xffff), store_of(0, 32)) == 0.5);
    CHECK(share(store_of(0, 32), store_of(0, 32, 0xffff)) == 1.0);
    CHECK(share(store_of(0, 32, 0), store_of(0, 32)) == 0.0);
    const JoinedSectors none = joined_sectors(store_of(0, 32), store_of(0, 32, 0), false, {32, 128});
    CHECK(none.joined == 0.0);
    CHECK(none.all == 0.0);
}

}  // namespace warptime::workloads::frontends::machine
