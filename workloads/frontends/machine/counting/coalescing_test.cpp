// Tests of what an access costs: known patterns, a count byte by byte and word by word, and the memo.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/coalescing.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using Addresses = std::array<std::uint64_t, 32>;

constexpr std::uint32_t all = 0xffffffffU;
using model::machine::SharedUse;

constexpr AccessGeometry volta{{32, 128}, {32, 4}};

LineCount count_lines(const Addresses& address, std::uint32_t lanes, std::uint32_t width) {
    return machine::count_lines(address, lanes, width, volta);
}

std::uint32_t count_passes(const Addresses& address, std::uint32_t lanes, std::uint32_t width) {
    return machine::count_passes(address, lanes, width, SharedUse::load, volta);
}

Addresses strided(std::uint64_t base, std::uint64_t stride) {
    Addresses address{};
    for (std::size_t lane = 0; lane < address.size(); ++lane) {
        address[lane] = base + lane * stride;
    }
    return address;
}

std::pair<std::uint32_t, std::uint32_t> lines(const Addresses& address, std::uint32_t lanes,
                                              std::uint32_t width) {
    const LineCount count = count_lines(address, lanes, width);
    return {count.sectors, count.lines};
}

/// Blocks that hold a byte of an access, byte by byte.
std::uint32_t blocks_by_bytes(const Addresses& address, std::uint32_t lanes, std::uint32_t width,
                              std::uint64_t block) {
    std::set<std::uint64_t> blocks;
    for (std::size_t lane = 0; lane < address.size(); ++lane) {
        for (std::uint32_t byte = 0; (lanes >> lane & 1U) != 0 && byte < width; ++byte) {
            blocks.insert((address[lane] + byte) / block);
        }
    }
    return static_cast<std::uint32_t>(blocks.size());
}

/// Most distinct words that a bank gives to the lanes from `first` up to `end`, byte by byte.
std::uint32_t fullest_bank(const Addresses& address, std::uint32_t lanes, std::uint32_t width,
                           std::size_t first, std::size_t end) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words;
    std::size_t most = 0;
    for (std::size_t lane = first; lane < end; ++lane) {
        for (std::uint32_t byte = 0; (lanes >> lane & 1U) != 0 && byte < width; ++byte) {
            const std::uint64_t word = (address[lane] + byte) >> 2U;
            std::set<std::uint64_t>& own = words[word & 31U];
            own.insert(word);
            most = std::max(most, own.size());
        }
    }
    return static_cast<std::uint32_t>(most);
}

TEST_CASE("lines of known patterns") {
    using Count = std::pair<std::uint32_t, std::uint32_t>;
    CHECK(lines(strided(0, 4), all, 4) == Count{4, 1});                     // side by side
    CHECK(lines(strided(0x1000, 4), all, 4) == Count{4, 1});                //
    CHECK(lines(strided(4, 4), all, 4) == Count{5, 2});                     // one element further
    CHECK(lines(strided(64, 4), all, 4) == Count{4, 2});                    // half a line further
    CHECK(lines(strided(0, 8), all, 4) == Count{8, 2});                     // stride 2
    CHECK(lines(strided(0, 32), all, 4) == Count{32, 8});                   // a sector each
    CHECK(lines(strided(0, 128), all, 4) == Count{32, 32});                 // stride 32: a line each
    CHECK(lines(strided(64, 0), all, 4) == Count{1, 1});                    // broadcast
    CHECK(lines(strided(0, 1), all, 1) == Count{1, 1});                     // bytes
    CHECK(lines(strided(0, 2), all, 2) == Count{2, 1});                     // halves
    CHECK(lines(strided(0, 8), all, 8) == Count{8, 2});                     // 64 bits a lane
    CHECK(lines(strided(0, 16), all, 16) == Count{16, 4});                  // 128 bits a lane
    CHECK(lines(strided(0, 4), 0x000000ffU, 4) == Count{1, 1});             // a quarter of the warp
    CHECK(lines(strided(0, 4), 0x80000001U, 4) == Count{2, 1});             // its ends
    CHECK(lines(strided(30, 0), 1U, 4) == Count{2, 1});                     // across two sectors
    CHECK(lines(strided(126, 0), 1U, 4) == Count{2, 2});                    // across two lines
    CHECK(lines(strided(0, 4), 0, 4) == Count{0, 0});                       // nobody
    CHECK(lines(strided(1024, -std::uint64_t{4}), all, 4) == Count{5, 2});  // downwards
}

TEST_CASE("passes of known patterns") {
    CHECK(count_passes(strided(0, 4), all, 4) == 1);            // side by side
    CHECK(count_passes(strided(0, 8), all, 4) == 2);            // stride 2
    CHECK(count_passes(strided(0, 16), all, 4) == 4);           // stride 4
    CHECK(count_passes(strided(0, 128), all, 4) == 32);         // stride 32: a column
    CHECK(count_passes(strided(0, 132), all, 4) == 1);          // a column of padded rows
    CHECK(count_passes(strided(0, 12), all, 4) == 1);           // odd strides have no conflicts
    CHECK(count_passes(strided(64, 0), all, 4) == 1);           // broadcast
    CHECK(count_passes(strided(0, 1), all, 1) == 1);            // bytes: four lanes to a word
    CHECK(count_passes(strided(0, 2), all, 2) == 1);            // halves
    CHECK(count_passes(strided(0, 8), all, 8) == 2);            // 64 bits a lane
    CHECK(count_passes(strided(0, 16), all, 16) == 4);          // 128 bits a lane
    CHECK(count_passes(strided(0, 128), all, 16) == 32);        // a column of 128 bits
    CHECK(count_passes(strided(0, 16), 0x000000ffU, 16) == 1);  // a quarter of the warp
    CHECK(count_passes(strided(0, 8), 0x0000ffffU, 8) == 1);    // half of it
    CHECK(count_passes(strided(0, 0), all, 8) == 1);            // one word pair for all
    CHECK(count_passes(strided(0, 0), all, 16) == 2);           // one for each half
    CHECK(count_passes(strided(0, 128), 0x80000001U, 4) == 2);
    CHECK(count_passes(strided(0, 128), 1U, 4) == 1);
    CHECK(count_passes(strided(0, 4), 0, 4) == 0);
    CHECK(count_passes(strided(0, 16), 0, 16) == 0);
}

TEST_CASE("passes of wide accesses whose neighbours agree") {
    Addresses pairs{};    // lanes 0 and 1 at one place, 2 and 3 at the next
    Addresses crossed{};  // lanes 0 and 2 at one place, 1 and 3 at the next
    for (std::size_t lane = 0; lane < 32; ++lane) {
        pairs[lane] = lane / 2;
        crossed[lane] = lane / 4 * 2 + lane % 2;
    }
    for (const Addresses& place : {pairs, crossed}) {
        Addresses eight{};
        Addresses sixteen{};
        for (std::size_t lane = 0; lane < 32; ++lane) {
            eight[lane] = 8 * place[lane];
            sixteen[lane] = 16 * place[lane];
        }
        CHECK(count_passes(eight, all, 8) == 1);     // 16 places of 8 bytes are one pass
        CHECK(count_passes(sixteen, all, 16) == 2);  // 8 places of 16 bytes in each half
        eight[31] += 1024;
        CHECK(count_passes(eight, all, 8) == 1 + 2);  // half-warps; the last lane is in another's banks
        sixteen[31] += 1024;
        CHECK(count_passes(sixteen, all, 16) == 1 + 1 + 2);  // the other half is still served as one
    }
    // Lanes at distance 4 that agree are not enough.
    Addresses far{};
    for (std::size_t lane = 0; lane < 32; ++lane) {
        far[lane] = 8 * (lane % 4);
    }
    CHECK(count_passes(far, all, 8) == 2);
}

TEST_CASE("passes of strides in closed form: the greatest common divisor with the 32 banks") {
    for (std::uint64_t stride = 1; stride <= 130; ++stride) {
        CAPTURE(stride);
        CHECK(count_passes(strided(256, 4 * stride), all, 4) == std::gcd(stride, 32U));
    }
}

/// Addresses of the kinds that kernels have: strides, a small window with repeats, and anywhere.
rc::Gen<Addresses> any_addresses(std::uint64_t alignment) {
    return rc::gen::exec([alignment] {
        Addresses address{};
        const auto kind = *rc::gen::inRange(0, 4);
        const auto base = *rc::gen::inRange<std::uint64_t>(0, 1U << 20U) * alignment;
        const auto stride = *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 40),
                                            rc::gen::element<std::uint64_t>(64, 128, 256, 1024));
        const auto window = *rc::gen::element<std::uint64_t>(4, 40, 300, 1ULL << 40U);
        for (std::size_t lane = 0; lane < address.size(); ++lane) {
            address[lane] = kind < 2 ? base + lane * stride * alignment
                                     : base + *rc::gen::inRange<std::uint64_t>(0, window) * alignment;
        }
        if (kind == 1) {  // one lane out of line
            address[*rc::gen::inRange<std::size_t>(0, 32)] += alignment;
        }
        return address;
    });
}

rc::Gen<std::uint32_t> any_lanes() {
    return rc::gen::oneOf(rc::gen::just(all), rc::gen::arbitrary<std::uint32_t>(),
                          rc::gen::map(rc::gen::inRange(0, 32), [](int lane) { return 1U << lane; }),
                          rc::gen::element<std::uint32_t>(0xffff, 0xffff0000, 0x55555555, 0xff, 0));
}

TEST_CASE("sectors and lines are those that hold a byte of the access, for 1 to 16 bytes at any place") {
    CHECK(rc::check("bytes", [] {
        const Addresses address = *any_addresses(*rc::gen::element<std::uint64_t>(1, 2, 4, 16));
        const std::uint32_t lanes = *any_lanes();
        const auto width = *rc::gen::inRange<std::uint32_t>(1, 17);
        const LineCount count = count_lines(address, lanes, width);
        RC_ASSERT(count.sectors == blocks_by_bytes(address, lanes, width, 32));
        RC_ASSERT(count.lines == blocks_by_bytes(address, lanes, width, 128));
    }));
}

TEST_CASE("sectors and lines of lanes side by side, from every place in a line") {
    for (std::uint32_t width = 1; width <= 16; ++width) {
        for (std::uint64_t base = 0; base < 128; ++base) {
            const Addresses address = strided(4096 + base, width);
            const LineCount count = count_lines(address, all, width);
            REQUIRE(count.sectors == blocks_by_bytes(address, all, width, 32));
            REQUIRE(count.lines == blocks_by_bytes(address, all, width, 128));
        }
    }
}

TEST_CASE("passes of accesses of up to 4 bytes are the words of the fullest bank") {
    CHECK(rc::check("narrow", [] {
        const auto width = *rc::gen::element<std::uint32_t>(1, 2, 4);
        const Addresses address = *any_addresses(width);
        const std::uint32_t lanes = *any_lanes();
        RC_ASSERT(count_passes(address, lanes, width) == fullest_bank(address, lanes, width, 0, 32));
    }));
}

TEST_CASE("passes of 8 and 16 bytes lie between those of the whole warp and the sum of its groups") {
    CHECK(rc::check("wide", [] {
        const auto width = *rc::gen::element<std::uint32_t>(8, 16);
        const Addresses address = *any_addresses(width);
        const std::uint32_t lanes = *any_lanes();
        const std::size_t group = 128 / width;
        std::uint32_t sum = 0;
        for (std::size_t first = 0; first < 32; first += group) {
            sum += fullest_bank(address, lanes, width, first, first + group);
        }
        const std::uint32_t passes = count_passes(address, lanes, width);
        RC_ASSERT(passes >= fullest_bank(address, lanes, width, 0, 32));
        RC_ASSERT(passes <= sum);
        // One group alone has no neighbours to join.
        const std::uint32_t alone = lanes & static_cast<std::uint32_t>((1ULL << group) - 1U);
        RC_ASSERT(count_passes(address, alone, width) == fullest_bank(address, alone, width, 0, group));
    }));
}

TEST_CASE("passes of 8 and 16 bytes of whole warps, by the rule of the header") {
    CHECK(rc::check("wide, whole warps", [] {
        const auto width = *rc::gen::element<std::uint32_t>(8, 16);
        Addresses address = *any_addresses(width);
        // Lanes take their neighbours' places in the whole warp or in its halves, and one may break it.
        const std::array<std::size_t, 2> step{*rc::gen::inRange<std::size_t>(0, 3),
                                              *rc::gen::inRange<std::size_t>(0, 3)};
        for (std::size_t lane = 0; lane < 32; ++lane) {
            address[lane] = address[lane & ~step[lane / 16]];
        }
        if (*rc::gen::inRange(0, 3) == 0) {
            address[*rc::gen::inRange<std::size_t>(0, 32)] += width;
        }
        std::uint32_t expected = 0;
        const std::size_t joined = 256 / width;  // lanes that may be served as one
        for (std::size_t first = 0; first < 32; first += joined) {
            bool at_one = true;
            bool at_two = true;
            for (std::size_t four = first; four < first + joined; four += 4) {
                const std::uint64_t* const a = &address[four];
                at_one = at_one && a[0] == a[1] && a[2] == a[3];
                at_two = at_two && a[0] == a[2] && a[1] == a[3];
            }
            const std::size_t middle = first + joined / 2;
            const std::size_t end = first + joined;
            expected += at_one || at_two ? fullest_bank(address, all, width, first, end)
                                         : fullest_bank(address, all, width, first, middle) +
                                               fullest_bank(address, all, width, middle, end);
        }
        RC_ASSERT(count_passes(address, all, width) == expected);
    }));
}

TEST_CASE("lanes that are off cost nothing, wherever their addresses point") {
    CHECK(rc::check("lanes off", [] {
        const auto width = *rc::gen::element<std::uint32_t>(1, 4, 8, 16);
        Addresses address = *any_addresses(width);
        const std::uint32_t lanes = *any_lanes();
        const auto before = lines(address, lanes, width);
        const std::uint32_t passes = count_passes(address, lanes, width);
        const Addresses others = *any_addresses(width);
        for (std::size_t lane = 0; lane < address.size(); ++lane) {
            address[lane] = (lanes >> lane & 1U) != 0 ? address[lane] : others[lane];
        }
        RC_ASSERT(lines(address, lanes, width) == before);
        RC_ASSERT(count_passes(address, lanes, width) == passes);
    }));
}

TEST_CASE("the order of the lanes does not change the lines, nor that of a whole group the passes") {
    CHECK(rc::check("order", [] {
        const auto width = *rc::gen::element<std::uint32_t>(1, 2, 4, 8, 16);
        Addresses address = *any_addresses(width);
        const auto before = lines(address, all, width);
        const std::uint32_t passes = count_passes(address, all, width);
        std::ranges::reverse(address);
        RC_ASSERT(lines(address, all, width) == before);
        RC_ASSERT(count_passes(address, all, width) == passes);
    }));
}

TEST_CASE("a swap serves the first lane of each bank, of eight bytes the first of each half of the warp") {
    std::array<std::uint64_t, 32> at{};
    const auto first = [&at](std::uint32_t on, std::uint32_t width) {
        return first_of_banks(at, on, width, volta);
    };
    for (std::size_t lane = 0; lane < 32; ++lane) at[lane] = 4 * lane;
    CHECK(first(0xffffffffU, 4) == 0xffffffffU);
    // Different words of two banks.
    for (std::size_t lane = 0; lane < 32; ++lane) at[lane] = 128 * lane + 4 * (lane % 2);
    CHECK(first(0xffffffffU, 4) == 0x3U);
    CHECK(first(0xfffffff8U, 4) == 0x18U);
    // One word.
    at.fill(64);
    CHECK(first(0x00f00ff0U, 4) == 0x10U);
    CHECK(first(0xffffffffU, 8) == 0x00010001U);
    CHECK(first(0, 4) == 0);
}

TEST_CASE("counts are those of the model, which enumerates") {
    CHECK(rc::check("model", [] {
        const auto width = *rc::gen::element<std::uint32_t>(1, 2, 4, 8, 16);
        Addresses address = *any_addresses(*rc::gen::element<std::uint64_t>(width, width, 1));
        address[*rc::gen::inRange<std::size_t>(0, 32)] +=
            *rc::gen::element<std::uint64_t>(0, 128, 1ULL << 37U);
        const std::uint32_t lanes = *any_lanes();
        const auto use = *rc::gen::element(SharedUse::load, SharedUse::store);
        const AccessGeometry geometry = *rc::gen::element(volta, AccessGeometry{{32, 64}, {16, 4}});
        const auto numbers = std::bit_cast<model::machine::LaneAddresses>(address);
        const int bytes = static_cast<int>(width);
        const model::machine::Coalesced lines =
            model::machine::coalesce(numbers, bytes, lanes, geometry.cache);
        const LineCount counted = machine::count_lines(address, lanes, width, geometry);
        RC_ASSERT(std::int64_t{counted.sectors} == lines.sectors);
        RC_ASSERT(std::int64_t{counted.lines} == lines.lines);
        RC_ASSERT(std::int64_t{machine::count_passes(address, lanes, width, use, geometry)} ==
                  model::machine::shared_passes(numbers, bytes, lanes, geometry.banks, use));
    }));
}

TEST_CASE("the memo says what the plain functions say, for any sequence of patterns") {
    CHECK(rc::check("memo", [] {
        std::vector<Addresses> patterns;
        for (int i = 0; i < 3; ++i) {
            patterns.push_back(*any_addresses(*rc::gen::element<std::uint64_t>(4, 16)));
        }
        // Like the first, with one lane moved.
        patterns.push_back(patterns[0]);
        patterns[3][*rc::gen::inRange<std::size_t>(0, 32)] += *rc::gen::element<std::uint64_t>(4, 32, 128);
        const std::array<std::uint32_t, 3> masks{all, *any_lanes(), *any_lanes()};
        PatternMemo memo;
        std::size_t pattern = 0;
        std::uint32_t lanes = all;
        std::uint32_t width = 4;
        const int calls = *rc::gen::inRange(1, 30);
        for (int call = 0; call < calls; ++call) {
            if (*rc::gen::inRange(0, 3) == 0) {  // else the same again
                pattern = *rc::gen::inRange<std::size_t>(0, patterns.size());
                lanes = masks[*rc::gen::inRange<std::size_t>(0, masks.size())];
                width = *rc::gen::element<std::uint32_t>(4, 8, 16);
            }
            Addresses address = patterns[pattern];
            const auto shift = *rc::gen::element<std::uint64_t>(0, 0, 4, 32, 128, 4096, 1ULL << 33U);
            for (std::size_t lane = 0; lane < address.size(); ++lane) {
                // Lanes that are off hold anything.
                address[lane] = (lanes >> lane & 1U) != 0 ? address[lane] + shift
                                                          : *rc::gen::inRange<std::uint64_t>(0, 4096);
            }
            if (*rc::gen::arbitrary<bool>()) {
                const LineCount count = memo.lines(address, lanes, width, volta);
                RC_ASSERT(std::pair(count.sectors, count.lines) == lines(address, lanes, width));
            } else {
                RC_ASSERT(memo.passes(address, lanes, width, SharedUse::load, volta) ==
                          count_passes(address, lanes, width));
            }
        }
    }));
}

TEST_CASE("the memo keeps apart patterns that differ in width or lanes alone") {
    PatternMemo memo;
    const Addresses address = strided(0, 16);
    CHECK(memo.lines(address, all, 4, volta).sectors == 16);
    CHECK(memo.passes(address, all, 4, SharedUse::load, volta) == 4);
    CHECK(memo.lines(strided(28, 0), 1U, 4, volta).sectors == 1);
    CHECK(memo.lines(strided(28, 0), 1U, 16, volta).sectors == 2);
    CHECK(memo.passes(strided(0, 128), 0x3U, 4, SharedUse::load, volta) == 2);
    CHECK(memo.passes(strided(0, 128), 0x1U, 4, SharedUse::load, volta) == 1);
    // A lane that is off is not one at the start of the first lane's line.
    const Addresses back = strided(64, -std::uint64_t{64});
    CHECK(memo.lines(back, 0x1U, 4, volta).sectors == 1);
    CHECK(memo.lines(back, 0x3U, 4, volta).sectors == 2);
    // A sector further is another place in the line.
    CHECK(memo.lines(strided(0, 4), all, 4, volta).lines == 1);
    CHECK(memo.lines(strided(32, 4), all, 4, volta).lines == 2);
    CHECK(memo.lines(strided(0, 0), 0, 4, volta).sectors == 0);
    CHECK(memo.passes(strided(0, 0), 0, 4, SharedUse::load, volta) == 0);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
