// Tests of reuse distances: walks of known ones, a naive count of the lines between, and what does not count.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/reuse.hpp"

#include "workloads/frontends/machine/lowering/traced_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)
using model::kernel::Reuse;
using model::machine::CacheGeometry;
using Lines = std::vector<std::string>;
using Shares = std::array<double, Reuse::distances>;
using Reuses = std::map<std::uint32_t, Reuse>;

constexpr CacheGeometry usual{32, 128};

/// `share` from the first distance that holds so many bytes, 0 below.
Shares from_distance(std::int64_t bytes, double share) {
    Shares shares{};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        shares[i] = (Reuse::least_distance << i) >= bytes ? share : 0.0;
    }
    return shares;
}

bool close(double a, double b) {
    return std::abs(a - b) < 1e-9;
}
bool close(const Shares& a, const Shares& b) {
    return std::ranges::equal(a, b, [](double one, double other) { return close(one, other); });
}

// ---- programs

std::uint32_t number_of(const Program& program, std::string_view opcode) {
    const auto& lines = program.code().lines;
    const auto found =
        std::ranges::find_if(lines, [opcode](const AssemblyLine* line) { return line->opcode == opcode; });
    return static_cast<std::uint32_t>(found - lines.begin());
}

/// R4 bytes into the buffer of the first parameter, by a line that names R6.
Program walks(const Lines& before, std::uint32_t rounds, const Lines& body, const Lines& behind) {
    Lines all{"S2R R0, SR_TID.X", "MOV R8, 0x1"};
    all.insert(all.end(), before.begin(), before.end());
    Lines inside{"IMAD.WIDE.U32 R6, R4, 0x1, c[0x0][0x210]"};
    inside.insert(inside.end(), body.begin(), body.end());
    inside.insert(inside.end(), behind.begin(), behind.end());
    const Lines loop = counted_loop("loop", 10, std::to_string(rounds), inside);
    all.insert(all.end(), loop.begin(), loop.end());
    ProgramOptions options;
    options.parameters = 1;
    return Program(all, options);
}

Reuses reuses(const Program& program, std::uint32_t threads, std::uint64_t bytes) {
    const Buffer buffer(bytes);
    const TracedRun run(program, one_cta(threads), {buffer.address()});
    return reuse_of(run.trace(), usual);
}

TEST_CASE("a line that warps read again and again comes back at every distance, but for the first time") {
    for (const std::uint32_t warps : {1U, 2U, 5U}) {
        for (std::uint32_t rounds = 1; rounds <= 40; rounds += 3) {
            CAPTURE(warps);
            CAPTURE(rounds);
            const Program program =
                walks({"LOP3.LUT R4, R0, 0x1f, RZ, 0xc0, !PT", "IMAD.SHL.U32 R4, R4, 0x4, RZ"}, rounds,
                      {"LDG.E R12, desc[UR4][R6.64]"}, {});
            const Reuses found = reuses(program, 32 * warps, 128);
            const double reads = warps * rounds;
            if (warps * rounds == 1) {
                CHECK(found.empty());
                continue;
            }
            REQUIRE(found.size() == 1);
            CHECK(found.begin()->first == number_of(program, "LDG"));
            const Shares expected = from_distance(0, (reads - 1.0) / reads);
            CHECK(close(found.begin()->second.sectors, expected));
            CHECK(close(found.begin()->second.whole, expected));
        }
    }
}

TEST_CASE("bytes that no warp reads again are left out") {
    for (const std::uint32_t width : {4U, 8U, 16U}) {
        const std::uint32_t step = 96 * width;
        const Program program = walks(
            {fmt::format("IMAD R4, R0, {:#x}, RZ", width)}, 40,
            {fmt::format("LDG.E{} R12, desc[UR4][R6.64]", width == 4 ? "" : fmt::format(".{}", 8 * width))},
            {fmt::format("IADD3 R4, R4, {:#x}, RZ", step)});
        CHECK(reuses(program, 96, std::uint64_t{40} * step).empty());
    }
}

TEST_CASE("lanes that walk along rows of their own find seven of eight words where all rows fit") {
    for (const std::uint32_t warps : {1U, 2U, 4U, 8U}) {
        for (const std::uint32_t words : {8U, 16U, 32U}) {
            for (const std::uint32_t row : {128U, 384U}) {
                CAPTURE(warps);
                CAPTURE(words);
                CAPTURE(row);
                const Program program = walks({fmt::format("IMAD R4, R0, {:#x}, RZ", row)}, words,
                                              {"LDG.E R12, desc[UR4][R6.64]"}, {"IADD3 R4, R4, 0x4, RZ"});
                const Reuses found = reuses(program, 32 * warps, std::uint64_t{32} * warps * row);
                REQUIRE(found.size() == 1);
                const Reuse& reuse = found.begin()->second;
                // 32 lines of 128 bytes for each warp.
                const Shares expected = from_distance(4096 * warps, 7.0 / 8.0);
                CHECK(close(reuse.whole, expected));
                for (std::size_t i = 0; i < Reuse::distances; ++i) {
                    // A warp alone reads the last lines of one instruction first thing in the next: less room
                    // than all of them need is not checked.
                    if (warps > 1 || expected[i] > 0.0) {
                        CHECK(close(reuse.sectors[i], expected[i]));
                    }
                }
            }
        }
    }
}

TEST_CASE("stores, atomics and other memory neither come back nor push lines out") {
    // Between two reads of one line each of these touches 32 lines, again and again.
    for (const std::string line :
         {"STG.E desc[UR4][R2.64], R8", "ATOMG.E.ADD.STRONG.GPU PT, R9, desc[UR4][R2.64], R8",
          "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R8", "STS [R1], R8", "LDS R9, [R1]", "NOP"}) {
        CAPTURE(line);
        ProgramOptions options;
        options.parameters = 1;
        options.static_shared = 128;
        Lines lines{"S2R R0, SR_TID.X", "MOV R8, 0x1", "IMAD.SHL.U32 R1, R0, 0x4, RZ",
                    "IMAD.WIDE.U32 R2, R0, 0x80, c[0x0][0x210]", "IMAD.WIDE.U32 R6, R0, 0x4, c[0x0][0x210]"};
        const Lines loop = counted_loop("loop", 10, "0x10", {line, "LDG.E R12, desc[UR4][R6.64]", line});
        lines.insert(lines.end(), loop.begin(), loop.end());
        const Program program(lines, options);
        const Reuses found = reuses(program, 32, 4096);
        REQUIRE(found.size() == 1);
        CHECK(found.begin()->first == number_of(program, "LDG"));
        CHECK(close(found.begin()->second.sectors, from_distance(0, 15.0 / 16.0)));
        CHECK(close(found.begin()->second.whole, from_distance(0, 15.0 / 16.0)));
    }
}

// ---- accesses told to a recorder

/// CTAs of a few warps, and what a recorder is told of them.
class Told {
  public:
    Told(std::size_t ctas, std::size_t warps) : ctas_(ctas) {
        for (std::size_t c = 0; c < ctas; ++c) {
            ctas_[c].linear_id = c;
            ctas_[c].warps.resize(warps);
            for (std::size_t w = 0; w < warps; ++w) {
                ctas_[c].warps[w].cta = &ctas_[c];
                ctas_[c].warps[w].index = static_cast<int>(w);
            }
        }
    }
    void access(std::size_t cta, std::size_t warp, const AccessEvent& event) {
        const Warp& own = ctas_[cta].warps[warp];
        recorder_->instruction(own, event.instruction, all_lanes, all_lanes);
        recorder_->access(own, event);
    }
    [[nodiscard]] const TraceRecorder& trace() const { return *recorder_; }

  private:
    std::vector<Cta> ctas_;
    std::unique_ptr<TraceRecorder> recorder_ = std::make_unique<TraceRecorder>(1'000'000, 1'000'000);
};

/// All lanes read one sector.
AccessEvent load_of(std::uint64_t address) {
    AccessEvent event;
    event.lanes = all_lanes;
    event.address.fill(address);
    return event;
}

TEST_CASE("lines that are read in turn come back as soon as all of them have room") {
    std::vector<std::uint64_t> numbers{1, 2, 7};
    for (std::uint64_t lines = 8; lines <= 2048; lines *= 2) {
        numbers.push_back(lines);
        numbers.push_back(lines + 1);
    }
    constexpr std::uint64_t rounds = 3;
    for (const std::uint64_t lines : numbers) {
        CAPTURE(lines);
        Told told(1, 1);
        for (std::uint64_t i = 0; i < rounds * lines; ++i) {
            told.access(0, 0, load_of(128 * (i % lines)));
        }
        const Reuses found = reuse_of(told.trace(), usual);
        const auto bytes = static_cast<std::int64_t>(128 * lines);
        if (bytes > Reuse::least_distance << (Reuse::distances - 1)) {
            CHECK(found.empty());
            continue;
        }
        REQUIRE(found.size() == 1);
        CHECK(close(found.at(0).sectors, from_distance(bytes, 2.0 / 3.0)));
        CHECK(close(found.at(0).whole, from_distance(bytes, 2.0 / 3.0)));
    }
}

TEST_CASE("other sectors of a line are read for the first time, but keep the line young") {
    // Line 0: sector 0, then 1, and 0 once more; 8 others in between each time.
    for (const bool keeps : {false, true}) {
        Told told(1, 1);
        std::uint64_t other = 0;
        const auto others = [&told, &other] {
            for (int i = 0; i < 8; ++i) {
                AccessEvent event = load_of(128 * ++other);
                event.instruction = 1;
                told.access(0, 0, event);
            }
        };
        told.access(0, 0, load_of(0));
        others();
        if (keeps) {
            told.access(0, 0, load_of(32));
        }
        others();
        told.access(0, 0, load_of(0));
        const Reuses found = reuse_of(told.trace(), usual);
        REQUIRE(found.size() == 1);
        // 9 or 17 lines of 128 bytes.
        CHECK(close(found.at(0).sectors,
                    keeps ? from_distance(9 * 128, 1.0 / 3.0) : from_distance(17 * 128, 1.0 / 2.0)));
    }
}

TEST_CASE(
    "warps that ask for a sector in the turn in which it is asked for first go together with that one") {
    // Each of 4 warps reads the same new sector in each of 5 turns, and then the first one again.
    Told told(1, 4);
    for (std::uint64_t turn = 0; turn <= 5; ++turn) {
        for (std::size_t warp = 0; warp < 4; ++warp) {
            told.access(0, warp, load_of(turn < 5 ? 128 * turn : 0));
        }
    }
    const Reuses found = reuse_of(told.trace(), usual);
    REQUIRE(found.size() == 1);
    CHECK(found.at(0).whole.back() == doctest::Approx(19.0 / 24.0));
    CHECK(found.at(0).together == doctest::Approx(15.0 / 24.0));
}

TEST_CASE("a warp by itself goes together with none, nor do warps at sectors of their own") {
    for (const std::size_t warps : {1U, 3U}) {
        Told told(1, warps);
        for (std::uint64_t turn = 0; turn < 12; ++turn) {
            for (std::size_t warp = 0; warp < warps; ++warp) {
                told.access(0, warp, load_of(128 * (turn % 4) + 32 * warp));
            }
        }
        const Reuses found = reuse_of(told.trace(), usual);
        REQUIRE(found.size() == 1);
        CHECK(found.at(0).whole.back() == doctest::Approx(2.0 / 3.0));
        CHECK(found.at(0).together == 0.0);
    }
}

TEST_CASE("a CTA far from the middle counts only for loads that no CTA of the middle executes") {
    // Of nine CTAs the first alone executes instruction 1, and reads other lines by instruction 0.
    Told told(9, 1);
    for (std::size_t cta = 0; cta < 9; ++cta) {
        for (std::uint64_t i = 0; i < 4; ++i) {
            AccessEvent event = load_of(cta == 0 ? 4096 + 128 * i : 0);
            told.access(cta, 0, event);
            event.instruction = 1;
            if (cta == 0) told.access(cta, 0, event);
        }
    }
    const Reuses found = reuse_of(told.trace(), usual);
    REQUIRE(found.size() == 2);
    CHECK(close(found.at(0).sectors, from_distance(0, 3.0 / 4.0)));
    // Each line was read by instruction 0 right before.
    CHECK(close(found.at(1).sectors, from_distance(0, 1.0)));
}

TEST_CASE("what a trace does not keep of a long walk is like the later half of what it keeps") {
    // Six lines in turn: first touches are six of all reads, however few of them are kept.
    for (const std::uint64_t rounds : {8U, 20U, 1000U}) {
        CAPTURE(rounds);
        Told told(1, 2);
        for (std::uint64_t i = 0; i < 6 * rounds; ++i) {
            for (const std::size_t warp : {0U, 1U}) told.access(0, warp, load_of(128 * (i % 6)));
        }
        const Reuses found = reuse_of(told.trace(), usual);
        REQUIRE(found.size() == 1);
        const double reads = 12.0 * static_cast<double>(rounds);
        CHECK(close(found.at(0).sectors.back(), (reads - 6.0) / reads));
        CHECK(close(found.at(0).whole.back(), (reads - 6.0) / reads));
    }
    // A walk that never comes back stays so.
    Told told(1, 1);
    for (std::uint64_t i = 0; i < 500; ++i) told.access(0, 0, load_of(128 * i));
    CHECK(reuse_of(told.trace(), usual).empty());
}

TEST_CASE("CTAs do not read for one another") {
    Told told(3, 2);
    for (std::size_t cta = 0; cta < 3; ++cta) {
        for (int i = 0; i < 4; ++i) {
            told.access(cta, 0, load_of(0));
            told.access(cta, 1, load_of(64 + 4096 * static_cast<std::uint64_t>(cta)));
        }
    }
    const Reuses found = reuse_of(told.trace(), usual);
    REQUIRE(found.size() == 1);
    CHECK(close(found.at(0).sectors, from_distance(0, 6.0 / 8.0)));
}

TEST_CASE("of sectors that a warp goes along one by one, every other one came with the sector before") {
    constexpr std::uint64_t trips = 40;
    const auto walk = [](std::uint64_t step, const CacheGeometry& cache) {
        Told told(1, 1);
        for (std::uint64_t trip = 0; trip < trips; ++trip) told.access(0, 0, load_of(step * trip));
        return reuse_of(told.trace(), cache);
    };
    const Reuses halves = walk(32, {32, 128, 64});
    REQUIRE(halves.size() == 1);
    CHECK(close(halves.at(0).beside, 0.5));
    CHECK(close(halves.at(0).sectors, Shares{}));
    CHECK(close(halves.at(0).whole, Shares{}));
    // Three of four where DRAM brings the line.
    CHECK(close(walk(32, {32, 128, 128}).at(0).beside, 0.75));
    // 64 bytes further in each trip, sectors that come alone, and a memory of which nothing is known.
    CHECK(walk(64, {32, 128, 64}).empty());
    CHECK(walk(32, {32, 128, 32}).empty());
    CHECK(walk(32, {32, 128, 0}).empty());
    // What has been touched before is not beside: two words of each sector.
    const Reuses words = walk(16, {32, 128, 64});
    CHECK(close(words.at(0).sectors, from_distance(0, 0.5)));
    CHECK(close(words.at(0).beside, 0.25));
}

TEST_CASE("sectors that one load touches together are not beside one another") {
    Told told(1, 2);
    AccessEvent both = load_of(0);
    both.address[7] = 32;
    told.access(0, 0, both);
    CHECK(reuse_of(told.trace(), {32, 128, 64}).empty());
    // Sectors 2 and 3 of the line come by themselves; another warp's load brings sector 3.
    told.access(0, 1, load_of(96));
    told.access(0, 0, load_of(64));
    const Reuses found = reuse_of(told.trace(), {32, 128, 64});
    REQUIRE(found.size() == 1);
    CHECK(close(found.at(0).beside, 0.25));
}

TEST_CASE("a store to local memory comes back to the store before, whatever has been loaded meanwhile") {
    const auto local = [](std::uint32_t instruction, AccessKind kind, std::uint64_t line) {
        AccessEvent event = load_of(128 * line);
        event.instruction = instruction;
        event.kind = kind;
        event.space = AccessSpace::local;
        return event;
    };
    Told told(1, 1);
    for (int round = 0; round < 4; ++round) {
        // 16 lines are stored, and the first of them is loaded again behind each.
        for (std::uint64_t line = 0; line < 16; ++line) {
            told.access(0, 0, local(0, AccessKind::store, line));
            told.access(0, 0, local(1, AccessKind::load, 0));
        }
    }
    const Reuses found = reuse_of(told.trace(), usual);
    REQUIRE(found.size() == 2);
    CHECK(close(found.at(0).sectors, from_distance(std::int64_t{16} * 128, 0.75)));
    CHECK(close(found.at(0).whole, Shares{}));
    CHECK(close(found.at(1).whole, from_distance(0, 1.0)));
}

TEST_CASE("constants have lines and distances of their own") {
    constexpr CacheGeometry cache{32, 128, 0, 64};
    Told told(1, 1);
    for (std::uint64_t word = 0; word < 2048; ++word) {
        // Four kilobytes of constants twice, a word at a time, and other memory between.
        AccessEvent event = load_of(4 * word % 4096);
        event.space = AccessSpace::constant;
        told.access(0, 0, event);
        event = load_of(128 * word);
        event.instruction = 1;
        told.access(0, 0, event);
    }
    const Reuses found = reuse_of(told.trace(), cache);
    REQUIRE(found.size() == 1);
    Shares expected = from_distance(0, 15.0 / 16.0);
    for (std::size_t i = 2; i < expected.size(); ++i) expected[i] += 0.5 / 16.0;
    CHECK(close(found.at(0).whole, expected));
}

// ---- a naive count

/// Sectors by line.
using Touch = std::map<std::uint64_t, std::set<std::uint64_t>>;

Touch touch_of(const AccessEvent& event, const CacheGeometry& cache) {
    Touch touch;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        if (((event.lanes >> lane) & 1U) != 0) {
            touch[event.address[lane] / static_cast<std::uint64_t>(cache.line)].insert(
                event.address[lane] / static_cast<std::uint64_t>(cache.sector));
        }
    }
    return touch;
}

/// Loads of one CTA in the order in which its warps make them, one each in turn.
using Order = std::vector<const AccessEvent*>;

struct Sums {
    Shares sectors{}, whole{};
    double all_sectors = 0.0, all = 0.0, beside = 0.0;
};

/// Whether others of the sectors that DRAM brings with this one have been touched.
bool is_beside(const std::set<std::uint64_t>& touched_before, std::uint64_t sector,
               const CacheGeometry& cache) {
    const auto of_granule =
        static_cast<std::uint64_t>(std::max<std::int64_t>(1, cache.granule / cache.sector));
    return std::ranges::any_of(touched_before, [&](std::uint64_t other) {
        return other != sector && other / of_granule == sector / of_granule;
    });
}

/// Reuse distances by looking back over all loads before. The lines of one instruction have no order among
/// themselves: at most all of them lie between (`least` shares), at least none but the line itself.
void count_naively(const Order& order, const CacheGeometry& cache, bool least,
                   std::map<std::uint32_t, Sums>& sums) {
    std::vector<Touch> touches;
    for (const AccessEvent* event : order) {
        touches.push_back(touch_of(*event, cache));
        const Touch& now = touches.back();
        Sums& sum = sums[event->instruction];
        std::int64_t furthest = 0;
        for (const auto& [line, sectors] : now) {
            std::set<std::uint64_t> between{line}, touched_before;
            bool found = false;
            for (std::size_t p = touches.size() - 1; p-- > 0;) {
                const auto before = touches[p].find(line);
                const bool here = before != touches[p].end();
                if (here) {
                    touched_before.insert(before->second.begin(), before->second.end());
                }
                if (!found && (!here || least)) {
                    for (const auto& [other, own] : touches[p]) {
                        between.insert(other);
                    }
                }
                found = found || here;
            }
            if (least) {
                for (const auto& [other, own] : now) {
                    between.insert(other);
                }
            }
            const std::int64_t bytes = static_cast<std::int64_t>(between.size()) * cache.line;
            sum.all_sectors += static_cast<double>(sectors.size());
            bool all_again = true;
            for (const std::uint64_t sector : sectors) {
                const bool again = touched_before.contains(sector);
                all_again = all_again && again;
                sum.beside += !again && is_beside(touched_before, sector, cache) ? 1.0 : 0.0;
                for (std::size_t i = 0; again && i < Reuse::distances; ++i) {
                    sum.sectors[i] += bytes <= Reuse::least_distance << i ? 1.0 : 0.0;
                }
            }
            furthest = all_again ? std::max(furthest, bytes) : std::int64_t{1} << 60;
        }
        sum.all += 1.0;
        for (std::size_t i = 0; i < Reuse::distances; ++i) {
            sum.whole[i] += furthest <= Reuse::least_distance << i ? 1.0 : 0.0;
        }
    }
}

bool counts(const AccessEvent& event) {
    return event.kind == AccessKind::load && event.space == AccessSpace::global && event.lanes != 0;
}

struct RandomTrace {
    Told told;
    std::vector<Order> orders;  ///< by CTA
    std::vector<std::vector<std::vector<AccessEvent>>> events;
};

/// Accesses of up to `most_lines` lines each, some of them no loads that count.
RandomTrace random_trace(std::uint32_t most_lines, const CacheGeometry& cache) {
    const std::uint32_t ctas = 1 + random_below(2);
    const std::uint32_t warps = 1 + random_below(3);
    const std::uint32_t lines = 1 + random_below(60);
    const std::uint32_t line_bytes = static_cast<std::uint32_t>(cache.line);
    RandomTrace trace{Told(ctas, warps), {}, {}};
    trace.events.resize(ctas);
    for (std::uint32_t c = 0; c < ctas; ++c) {
        trace.events[c].resize(warps);
        for (std::uint32_t w = 0; w < warps; ++w) {
            const std::uint32_t number = random_below(40);
            for (std::uint32_t i = 0; i < number; ++i) {
                AccessEvent event;
                event.instruction = random_below(3);
                event.kind = random_below(8) != 0 ? AccessKind::load
                                                  : *rc::gen::element(AccessKind::store, AccessKind::atomic,
                                                                      AccessKind::reduction);
                event.space = random_below(10) != 0 ? AccessSpace::global : AccessSpace::shared;
                const std::uint32_t first = random_below(lines);
                for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
                    event.lanes |= random_below(4) == 0 ? 1U << lane : 0U;
                    event.address[lane] = (first + 7 * random_below(most_lines)) * line_bytes +
                                          4 * random_below(line_bytes / 4);
                }
                trace.events[c][w].push_back(event);
                trace.told.access(c, w, event);
            }
        }
    }
    for (const auto& cta : trace.events) {
        std::map<std::pair<std::size_t, std::size_t>, const AccessEvent*> in_turn;  // By turn and warp.
        for (std::size_t w = 0; w < cta.size(); ++w) {
            std::size_t turn = 0;
            for (const AccessEvent& event : cta[w]) {
                if (counts(event)) {
                    in_turn[{turn++, w}] = &event;
                }
            }
        }
        trace.orders.emplace_back();
        for (const auto& [place, event] : in_turn) {
            trace.orders.back().push_back(event);
        }
    }
    return trace;
}

CacheGeometry random_geometry() {
    return {32, *rc::gen::element<std::int64_t>(64, 128, 256, 1024),
            *rc::gen::element<std::int64_t>(0, 32, 64)};
}

/// Shares of a naive count, without instructions whose bytes never come back, nor those beside them.
Reuses naive_reuse(const RandomTrace& trace, const CacheGeometry& cache, bool least) {
    std::map<std::uint32_t, Sums> sums;
    for (const Order& order : trace.orders) {
        count_naively(order, cache, least, sums);
    }
    Reuses reuses;
    for (const auto& [instruction, sum] : sums) {
        if (sum.beside > 0.0) reuses[instruction].beside = sum.beside / sum.all_sectors;
        for (std::size_t i = 0; sum.sectors.back() > 0.0 && i < Reuse::distances; ++i) {
            reuses[instruction].sectors[i] = sum.sectors[i] / sum.all_sectors;
            reuses[instruction].whole[i] = sum.whole[i] / sum.all;
        }
    }
    return reuses;
}

TEST_CASE("accesses of one line each have the distances of a naive count") {
    CHECK(rc::check("random traces", [] {
        const CacheGeometry cache = random_geometry();
        const RandomTrace trace = random_trace(1, cache);
        const Reuses expected = naive_reuse(trace, cache, true);
        const Reuses found = reuse_of(trace.told.trace(), cache);
        RC_ASSERT(found.size() == expected.size());
        for (const auto& [instruction, reuse] : found) {
            RC_ASSERT(close(reuse.sectors, expected.at(instruction).sectors));
            RC_ASSERT(close(reuse.whole, expected.at(instruction).whole));
            RC_ASSERT(close(reuse.beside, expected.at(instruction).beside));
        }
    }));
}

TEST_CASE("accesses of several lines lie between the counts with all and with none of their own lines") {
    CHECK(rc::check("random traces", [] {
        const CacheGeometry cache = random_geometry();
        const RandomTrace trace = random_trace(1 + random_below(12), cache);
        const Reuses low = naive_reuse(trace, cache, true);
        const Reuses high = naive_reuse(trace, cache, false);
        const Reuses found = reuse_of(trace.told.trace(), cache);
        RC_ASSERT(found.size() == high.size());
        for (const auto& [instruction, reuse] : found) {
            RC_ASSERT(close(reuse.beside, high.at(instruction).beside));
            for (std::size_t i = 0; i < Reuse::distances; ++i) {
                RC_ASSERT(reuse.sectors[i] >= low.at(instruction).sectors[i] - 1e-9);
                RC_ASSERT(reuse.sectors[i] <= high.at(instruction).sectors[i] + 1e-9);
                RC_ASSERT(reuse.whole[i] >= low.at(instruction).whole[i] - 1e-9);
                RC_ASSERT(reuse.whole[i] <= high.at(instruction).whole[i] + 1e-9);
            }
        }
    }));
}

TEST_CASE("shares rise with the distance, and whole accesses come back with all their sectors") {
    CHECK(rc::check("random traces", [] {
        const CacheGeometry cache = random_geometry();
        const RandomTrace trace = random_trace(1 + random_below(12), cache);
        for (const auto& [instruction, reuse] : reuse_of(trace.told.trace(), cache)) {
            RC_ASSERT(std::ranges::is_sorted(reuse.sectors));
            RC_ASSERT(std::ranges::is_sorted(reuse.whole));
            RC_ASSERT(reuse.sectors.back() + reuse.beside > 0.0);
            RC_ASSERT(reuse.sectors.back() + reuse.beside <= 1.0 + 1e-9);
            for (std::size_t i = 0; i < Reuse::distances; ++i) {
                RC_ASSERT(close(reuse.whole[i], 1.0) == close(reuse.sectors[i], 1.0));
                RC_ASSERT((reuse.sectors[i] > 0.0 || reuse.whole[i] == 0.0));
            }
        }
    }));
    // Of two sectors each: whole accesses are at most as many as sectors.
    CHECK(rc::check("two sectors", [] {
        Told told(1, 1);
        const std::uint32_t number = 1 + random_below(60);
        for (std::uint32_t i = 0; i < number; ++i) {
            AccessEvent event = load_of(32 * random_below(100));
            event.address[5] = event.address[0] + 32 * (1 + random_below(50));
            told.access(0, 0, event);
        }
        for (const auto& [instruction, reuse] : reuse_of(told.trace(), usual)) {
            for (std::size_t i = 0; i < Reuse::distances; ++i) {
                RC_ASSERT(reuse.whole[i] <= reuse.sectors[i] + 1e-9);
                RC_ASSERT(reuse.whole[i] >= 2.0 * reuse.sectors[i] - 1.0 - 1e-9);
            }
        }
    }));
}

TEST_CASE("a trace without loads has nothing that comes back") {
    CHECK(reuse_of(TraceRecorder(), usual).empty());
    Told told(1, 1);
    AccessEvent off = load_of(0);
    off.lanes = 0;
    told.access(0, 0, off);
    told.access(0, 0, off);
    CHECK(reuse_of(told.trace(), usual).empty());
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
