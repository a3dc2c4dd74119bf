// Traffic and time of whole runs: reuse in the L1, rows that overlap, scattered addresses, chosen warps, and
// runs that are cut.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"
#include "model/machine/dram/filled_sectors.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/simulation/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace warptime::model;
using namespace warptime::model::simulation;

namespace {

constexpr double clock_hz = 1.5e9;
constexpr double whole = 1e12;

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

Run run_of(const std::string& text, double most_whole = whole, const warptime::hw::Gpu& on = gpu()) {
    return run(kernel::parse_text(text), on, {}, clock_hz, nullptr, most_whole);
}

/// One warp a CTA that runs `body`.
std::string grid_of(int ctas, const std::string& body, const std::string& records = "") {
    return "kernel \"k\"\n  grid " + std::to_string(ctas) +
           " 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=" + std::to_string(ctas) +
           "\n  buffer \"b\" extent=16777216\n" + records + "  role \"r\" warps=1\n" + body + "  end\nend\n";
}

std::string reuse_of(double sectors, double all) {
    std::string record = "  reuse";
    for (int i = 0; i < 18; ++i) record += " " + std::to_string(i < 9 ? sectors : all);
    return record + "\n";
}

}  // namespace

TEST_CASE("the L1 serves the share of loads that the description's reuse says, and these wait for it alone") {
    const auto run_with = [](double sectors, double all) {
        return run_of(
            grid_of(8,
                    "    loop trips={64}\n      op 0 ld_global\n        access read b contiguous "
                    "origin={8192*tile.0 + 128*loop.0} bytes=16 reuse=1\n      op 1 fma_f32 deps=0\n"
                    "    end\n",
                    reuse_of(sectors, all)));
    };
    const Run none = run_with(0.0, 0.0);
    const Run most = run_with(0.875, 0.875);
    CHECK(none.traffic.received == 8.0 * 64 * 512);
    CHECK(most.traffic.received == doctest::Approx(8.0 * 64 * 512 / 8));
    CHECK(static_cast<double>(most.end) < 0.3 * static_cast<double>(none.end));
    // Sectors that hit in a load that misses save bytes, and no time of the load.
    const Run part = run_with(0.5, 0.0);
    CHECK(part.traffic.received == doctest::Approx(8.0 * 64 * 512 / 2));
    CHECK(static_cast<double>(part.end) > 0.95 * static_cast<double>(none.end));
}

TEST_CASE("warps whose rows begin inside of lines bring each byte from DRAM once") {
    const Run run =
        run_of(grid_of(4096, "    op 0 ld_global\n      access read b contiguous origin={33*tile.0}\n"));
    CHECK(run.traffic.dram_read == doctest::Approx(4096.0 * 33 * 4).epsilon(0.02));
    const Run shifted =
        run_of(grid_of(4096,
                       "    op 0 ld_global\n      access read b contiguous origin={32*tile.0}\n"
                       "    op 1 ld_global deps=0\n      access read b contiguous origin={1 + 32*tile.0}\n"));
    CHECK(shifted.traffic.dram_read == doctest::Approx(4096.0 * 32 * 4).epsilon(0.02));
}

TEST_CASE("a warm buffer is in the L2 but for what launches between two runs have pushed out") {
    const auto read = [](double between, const char* in_turn = "") {
        prediction::Conditions conditions;
        conditions.cache = prediction::Cache::warm;
        conditions.between = between;
        conditions.in_turn.front() = in_turn;
        const std::string text =
            "kernel \"k\"\n  grid 8192 1 1\n  cta 32 1 1\n"
            "  schedule one_per_cta tiles=8192\n  buffer \"b\" extent=1048576\n"
            "  role \"r\" warps=1\n    op 0 ld_global\n"
            "      access read b contiguous origin={128*tile.0} bytes=16\n  end\nend\n";
        return run(kernel::parse_text(text), gpu(), conditions, clock_hz, nullptr, whole).traffic.dram_read;
    };
    const double all = 4194304.0;
    const double capacity = gpu().l2.capacity.value();
    CHECK(read(0.0) == 0.0);
    CHECK(read(2.0 * capacity) == all);
    const double lost = machine::lost_between(0.6 * capacity, all, gpu());
    REQUIRE(lost > 0.1);
    REQUIRE(lost < 0.9);
    CHECK(read(2.0 * capacity, "b") == all);
    CHECK(read(2.0 * capacity, "another") == 0.0);
    // Places are lost here and there.
    CHECK(read(0.6 * capacity) == doctest::Approx(lost * all).epsilon(0.05));
}

TEST_CASE("what steps between have pushed out of the L2 is read again") {
    const auto read = [](double since) {
        kernel::Kernel kernel = kernel::parse_text(
            "kernel \"k\"\n  grid 8192 1 1\n  cta 32 1 1\n"
            "  schedule one_per_cta tiles=8192\n  buffer \"b\" extent=1048576\n"
            "  role \"r\" warps=1\n    op 0 ld_global\n"
            "      access read b contiguous origin={128*tile.0} bytes=16\n  end\nend\n");
        kernel.buffers[0].before = kernel::Before::warm;
        kernel.buffers[0].contents = kernel::Contents::written_by;
        kernel.buffers[0].written_by_step = 0;
        kernel.buffers[0].since_bytes = static_cast<std::int64_t>(since);
        return run(kernel, gpu(), {}, clock_hz, nullptr, whole).traffic.dram_read;
    };
    const double all = 4194304.0;
    const double since = 0.6 * gpu().l2.capacity.value();
    const double lost = machine::lost_since_left(all, all, since, gpu());
    REQUIRE(lost > 0.1);
    REQUIRE(lost < 0.9);
    CHECK(read(0.0) == 0.0);
    CHECK(read(since) == doctest::Approx(lost * all).epsilon(0.05));
    CHECK(read(2.0 * gpu().l2.capacity.value()) == all);
}

TEST_CASE("scattered lanes bring what they have not brought before, and no more than there is") {
    const auto read = [](int distinct) {
        return run_of(grid_of(4096, "    op 0 ld_global\n      access read b random origin={0} distinct=" +
                                        std::to_string(distinct) + "\n"))
            .traffic.dram_read;
    };
    CHECK(read(65536) == doctest::Approx(65536.0 * 4).epsilon(0.01));
    // Of 131072 draws among 1048576 pieces of 64 bytes most are the first.
    CHECK(read(16777216) > 0.9 * 4096 * 32 * 64);
    CHECK(read(16777216) < 4096 * 32 * 64.1);
}

TEST_CASE("a branch that a tenth of the warps take costs them its time, and no warp a tenth") {
    const std::string branch =
        "    branch warps_taking=0.1\n      op 0 fma_f32 count=1000 chain=1000\n    end\n";
    const Run some = run_of(grid_of(100, branch));
    const Run all = run_of(grid_of(100, "    op 0 fma_f32 count=1000 chain=1000\n"));
    CHECK(static_cast<double>(some.end) == doctest::Approx(static_cast<double>(all.end)).epsilon(0.05));
    CHECK(some.instructions == doctest::Approx(0.1 * all.instructions));
    // Few SMs are at work with it.
    CHECK(some.warp_cycles < 0.3 * all.warp_cycles);
}

TEST_CASE("the slowest warp of the grid keeps it waiting") {
    const auto end = [](const std::string& slowest) {
        return static_cast<double>(
            run_of(grid_of(1000,
                           "    loop mean=10" + slowest + "\n      op 0 fma_f32 count=8 chain=8\n    end\n"))
                .end);
    };
    CHECK(end(" slowest_of_cta=10 slowest_of_grid=1000") > 20.0 * end(""));
}

TEST_CASE("a bulk copy that one of four warps issues moves its box once, and whole") {
    const Run run = run_of(
        "kernel \"k\"\n  grid 100 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=100\n  buffer \"b\" "
        "dtype=int8 "
        "extent=819200\n  role \"r\" warps=4\n    branch warps_taking=0.25 mean_lanes=1 slowest_of_cta=1 "
        "slowest_of_grid=1\n      op 0 cp_async_bulk active=0.03125\n        access read b collective "
        "origin={8192*tile.0} box=8192 bytes=1\n    end\n  end\nend\n");
    CHECK(run.traffic.received == doctest::Approx(819200.0).epsilon(0.005));
    CHECK(run.traffic.dram_read == doctest::Approx(819200.0).epsilon(0.005));
}

TEST_CASE("a group without ops of its own holds the copies that its warp has issued") {
    const auto end = [](const std::string& wait) {
        return static_cast<double>(
                   run_of(
                       grid_of(1,
                               "    loop trips={40}\n      op 0 cp_async\n        access read b contiguous "
                               "origin={65536*loop.0}\n      signal copies on=issue\n      wait copies" +
                                   wait + "\n    end\n",
                               "  token \"copies\" kind=async_group scope=warp depth=4\n"))
                       .end) /
               static_cast<double>(ticks_per_cycle);
    };
    const double latency = gpu().latency.dram.value();
    CHECK(end("") > 40.0 * 0.9 * latency);
    CHECK(end(" lag=3") < 0.3 * end(""));
}

TEST_CASE("a predicate that guards the edge of a buffer loses no bytes twice") {
    // Of eight trips the last four lie beyond the end, and do not take place.
    const Run run = run_of(
        "kernel \"k\"\n  grid 100 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=100\n  buffer \"b\" "
        "extent=12800\n  role \"r\" warps=1\n    loop trips={8}\n      op 0 ld_global enabled=0.5\n        "
        "access read b contiguous origin={32*tile.0 + 3200*loop.0}\n    end\n  end\nend\n");
    CHECK(run.traffic.received == doctest::Approx(12800.0 * 4));
}

TEST_CASE("an atomic whose old value nobody reads comes back, a reduction does not") {
    const auto end = [](const std::string& op) {
        return static_cast<double>(
                   run_of(
                       grid_of(1, "    loop trips={40}\n      op 0 " + op +
                                      " returns=0\n        access atomic b contiguous origin={0}\n      op "
                                      "1 move deps=0\n    end\n"))
                       .end) /
               static_cast<double>(ticks_per_cycle);
    };
    const double back = gpu().instructions[warptime::hw::InstructionClass::atom_global].latency.value();
    CHECK(end("atom_global") > 40.0 * back);
    CHECK(end("red_global") < 0.5 * end("atom_global"));
}

TEST_CASE("words that are added to again and again leave L2 once at most") {
    const auto written = [](int extent) {
        return run_of(
                   "kernel \"k\"\n  grid 4096 1 1\n  cta 1024 1 1\n  schedule one_per_cta tiles=4096\n  "
                   "buffer \"b\" extent=" +
                   std::to_string(extent) +
                   "\n  role \"r\" warps=32\n    op 0 red_global returns=0 count=4\n      access atomic b "
                   "contiguous origin={4096*tile.0 + 128*warp} step=32 bounds=wrap\n  end\nend\n")
            .traffic.dram_written;
    };
    CHECK(written(1 << 24) > 2.0 * written(1 << 18));
    CHECK(written(1 << 18) == doctest::Approx(0.0).epsilon(1.0).scale(1e6));
}

TEST_CASE("sectors that stores cover in part are filled once the L2 keeps no more of them") {
    const auto traffic_of = [](std::int64_t ctas, int apart) {
        const std::string by_lanes = " inner=" + std::to_string(apart);
        return run_of("kernel \"k\"\n  grid " + std::to_string(ctas) +
                      " 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=" + std::to_string(ctas) +
                      "\n  buffer \"b\" extent=" + std::to_string(ctas * 32 * apart) +
                      "\n  role \"r\" warps=1\n    op 0 st_global\n      access write b stride origin={" +
                      std::to_string(32 * apart) + "*tile.0}" + by_lanes + "\n  end\nend\n")
            .traffic;
    };
    // A line for each word.
    const auto lines = static_cast<std::int64_t>(machine::lines_kept_in_part(gpu()));
    const std::int64_t few = lines / 64, many = lines / 8;
    CHECK(traffic_of(few, 32).dram_read == 0.0);
    const double sector = gpu().l1.sector.value(), line = gpu().l1.line.value();
    const double words = 32.0 * static_cast<double>(many);
    const machine::FilledSectors filled =
        machine::filled_sectors({words * sector, words * 4.0, words * line, 0.0, 0.0}, gpu());
    REQUIRE(filled.filled > 0.0);
    const Traffic apart = traffic_of(many, 32);
    CHECK(apart.dram_read == doctest::Approx(filled.filled).epsilon(1e-5));
    CHECK(apart.dram_written >= filled.filled);
    // Words side by side cover their sectors.
    CHECK(traffic_of(many, 1).dram_read == 0.0);
    // Eight stores in order complete each sector, although any one of them covers an eighth.
    const std::string ctas = std::to_string(many);
    const std::string in_turn =
        "kernel \"k\"\n  grid " + ctas + " 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=" + ctas +
        "\n  buffer \"b\" extent=" + std::to_string(many * 256) +
        "\n  role \"r\" warps=1\n    loop trips={8}\n      op 0 st_global\n        access write b stride "
        "origin={256*tile.0 + loop.0} inner=8\n    end\n  end\nend\n";
    CHECK(run_of(in_turn).traffic.dram_read == 0.0);
}

TEST_CASE("local memory comes from DRAM as far as the L2 has lost it") {
    const auto run_with = [](std::int64_t kib) {
        const std::string words = std::to_string(kib * 256);
        return run_of(
            "kernel \"k\"\n  grid 2112 1 1\n  cta 64 1 1\n  resources static_shared=32768\n"
            "  schedule one_per_cta tiles=2112\n  buffer \"l\" space=local extent=" +
            words + reuse_of(0.0, 0.0).insert(0, "\n") +
            "  role \"r\" warps=2\n    loop trips={8}\n      op 0 ld_local\n        access read l "
            "contiguous origin={32*warp + 64*loop.0} reuse=1\n    end\n  end\nend\n");
    };
    CHECK(run_with(4).traffic.dram_read == 0.0);
    const Run large = run_with(256);
    const machine::Occupancy& at_a_time = large.occupancy;
    const double bytes = 256.0 * 1024 * at_a_time.ctas_per_sm * gpu().sm.count.value();
    const double room = gpu().l2.capacity.value() * gpu().l2.usable.value();
    const double lost = 1.0 - machine::kept_at_random(bytes / room);
    REQUIRE(lost > 0.0);
    CHECK(large.traffic.dram_read == doctest::Approx(large.traffic.received * lost).epsilon(1e-6));
}

TEST_CASE("a word for which CTAs wait comes from the L2, and is handed on in the trip of the look") {
    const auto end_of = [](int in_series, const std::string& told) {
        const std::string look =
            "      op 0 ld_global\n        access read b broadcast origin={1024*tile.0} cache=cg\n";
        return static_cast<double>(
            run_of("kernel \"k\"\n  grid 8 1 1\n  cta 32 1 1\n  hand_overs in_series=" +
                   std::to_string(in_series) +
                   " wait=0 told=1\n  schedule one_per_cta tiles=8\n  buffer \"b\" extent=65536\n"
                   "  role \"r\" warps=1\n    loop trips={4}\n" +
                   look + told + "    end\n  end\nend\n")
                .end);
    };
    const auto each = [&](const std::string& told) {
        return (end_of(3000, told) - end_of(2000, told)) / 1000.0 / static_cast<double>(ticks_per_cycle);
    };
    const std::string store =
        "op 1 st_global deps=0\n        access write b broadcast origin={64 + 1024*tile.0}"
        " cache=cg\n";
    // A look and a half.
    const double look = each("      " + store);
    CHECK(look > 1.5 * gpu().latency.l2_near.value());
    CHECK(look < 1.6 * gpu().latency.l2_far.value() + 40.0);
    // A word that is written in one trip of four does not stand for the looks of the others.
    const double seldom = each("      branch warps_taking=0.25\n        " + store + "      end\n");
    CHECK(seldom == doctest::Approx(look).epsilon(0.1));
}

TEST_CASE("a hand-over takes no less than from the look to the word for the next CTA, and else a look") {
    // Cycles of a hand-over, by the difference of two numbers of them in series.
    const auto each = [](int look, int told, const std::string& body) {
        const auto end_of = [&](int in_series) {
            return cycles_of(run_of("kernel \"k\"\n  grid 8 1 1\n  cta 32 1 1\n  hand_overs in_series=" +
                                    std::to_string(in_series) + " wait=" + std::to_string(look) +
                                    " told=" + std::to_string(told) +
                                    "\n  schedule one_per_cta tiles=8\n  buffer \"b\" extent=65536\n"
                                    "  role \"r\" warps=1\n" +
                                    body + "  end\nend\n")
                                 .end);
        };
        return (end_of(3000) - end_of(2000)) / 1000.0;
    };
    const auto look_at = [](int op) {
        return "    op " + std::to_string(op) +
               " ld_global\n      access read b broadcast origin={1024*tile.0} cache=cg\n";
    };
    const auto tell = [](int op, const std::string& deps) {
        return "    op " + std::to_string(op) + " st_global" + deps +
               "\n      access write b broadcast origin={64 + 1024*tile.0} cache=cg\n";
    };
    // CTAs that tell before they look: nobody is told after a look, so that a hand-over is a look and a half.
    const double look = each(1, 0, tell(0, "") + look_at(1));
    CHECK(look > 1.5 * gpu().latency.l2_near.value());
    CHECK(look < 1.6 * gpu().latency.l2_far.value() + 40.0);
    // Work between both is a part of the hand-over.
    constexpr int links = 1000;
    const std::string work =
        "    op 1 fma_f32 deps=0 count=" + std::to_string(links) + " chain=" + std::to_string(links) + "\n";
    const auto& cost = gpu().instructions[warptime::hw::InstructionClass::fma_f32];
    const double chain = links * cost.latency.value() + (links - 1) * std::max(1.0, cost.interval.value());
    CHECK(each(0, 2, look_at(0) + work + tell(2, " deps=1")) == doctest::Approx(look + chain).epsilon(0.002));
}

TEST_CASE("of loads of constants, every one that begins a line waits for it") {
    constexpr int trips = 64;
    const auto end = [](double missed) {
        std::string record = "  reuse";
        for (int i = 0; i < 18; ++i) record += " " + std::to_string(1.0 - missed);
        return cycles_of(run_of("kernel \"k\"\n  grid 1 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=1\n"
                                "  buffer \"c\" space=constant extent=65536\n" +
                                record + "\n  role \"r\" warps=1\n    loop trips={" + std::to_string(trips) +
                                "}\n      op 0 ld_constant\n        access read c broadcast origin={loop.0} "
                                "reuse=1\n      op 1 fma_f32 deps=0\n    end\n  end\nend\n")
                             .end);
    };
    // It is filled, and comes from the next cache.
    const double later = gpu().latency.constant.value() -
                         gpu().instructions[warptime::hw::InstructionClass::ld_constant].latency.value() +
                         gpu().l1.constant_fill.value();
    CHECK(end(0.25) - end(0.0) == doctest::Approx(trips * 0.25 * later).epsilon(0.001));
    CHECK(end(1.0) - end(0.0) == doctest::Approx(trips * later).epsilon(0.001));
}

TEST_CASE("a run that is cut tells the time and the traffic of the whole kernel") {
    const std::string loads =
        "    loop trips={40}\n      op 0 ld_global\n        access read b contiguous origin={1024*tile.0 + "
        "32*loop.0}\n      op 1 fma_f32 count=8 deps=0\n    end\n    op 2 st_global\n      access write c "
        "contiguous "
        "origin={32*tile.0}\n";
    const std::string records = "  buffer \"c\" extent=16777216\n";
    const std::string shared =
        "    loop trips={600}\n      op 0 ld_global\n        access read b contiguous origin={32*loop.0}\n   "
        "   op 1 "
        "fma_f32 count=8 deps=0\n    end\n";
    // Loads of one line, which its slice serves one after another.
    const std::string hot =
        "    loop trips={150}\n      op 0 ld_global count=8\n        access read b broadcast origin={0}\n"
        "      op 1 fma_f32 deps=0\n    end\n";
    for (const std::string& text :
         {grid_of(11500, loads, records), grid_of(800, shared), grid_of(3200, hot)}) {
        const double near = 0.05;
        const Run all = run_of(text);
        const Run part = run_of(text, 1.0);
        CHECK(all.cut.whole());
        CHECK_FALSE(part.cut.whole());
        CHECK(part.events < all.events / 3);
        CHECK(static_cast<double>(part.end) == doctest::Approx(static_cast<double>(all.end)).epsilon(near));
        CHECK(part.instructions == doctest::Approx(all.instructions).epsilon(0.02));
        CHECK(part.traffic.dram_read == doctest::Approx(all.traffic.dram_read).epsilon(0.03));
        CHECK(part.traffic.received == doctest::Approx(all.traffic.received).epsilon(0.02));
        CHECK(part.warp_cycles == doctest::Approx(all.warp_cycles).epsilon(near + 0.01));
    }
}

TEST_CASE("a part of the SMs brings all of a matrix whose tiles lie side by side") {
    // Four rows of 128 bytes a warp; the next CTA has the next 128 bytes of the same rows. The loop has so
    // many instructions that fewer than four SMs are run.
    std::string tiles =
        "    op 0 ld_global\n      access read b stride origin={32*tile.0%64 + 8192*tile.0/64} "
        "inner_extent=8 inner=4 outer=2048 bytes=16\n    loop trips={32}\n";
    for (int op = 1; op <= 400; ++op) tiles += "      op " + std::to_string(op) + " fma_f32\n";
    const Run part = run_of(grid_of(1584, tiles + "    end\n"), 1.0);
    REQUIRE(part.cut.sms < 4);
    CHECK(part.traffic.dram_read == doctest::Approx(1584.0 * 4 * 128).epsilon(0.03));
}

TEST_CASE("rows of lanes far apart are brought once, however CTAs overlap") {
    // Two rows of 16 words a warp, 16 kB apart; each CTA begins 8 words behind the one before.
    const Run run = run_of(grid_of(256,
                                   "    op 0 ld_global\n      access read b stride origin={8*tile.0} "
                                   "inner_extent=16 inner=1 outer=4096\n"));
    CHECK(run.traffic.dram_read == doctest::Approx(2.0 * (255.0 * 8 + 16) * 4).epsilon(0.03));
}

TEST_CASE("warps that find lines under way wait for these, those that come later do not") {
    const auto time = [](const std::string& together) {
        std::string record = "  reuse";
        for (int i = 0; i < 18; ++i) record += " 0.5";
        return static_cast<double>(
            run_of("kernel \"k\"\n  grid 1 1 1\n  cta 64 1 1\n  schedule one_per_cta tiles=1\n  buffer \"b\" "
                   "extent=16777216\n" +
                   record + together +
                   "\n  role \"r\" warps=2\n    loop trips={64}\n      op 0 ld_global\n        access read b "
                   "contiguous origin={32*loop.0} reuse=1\n      op 1 fma_f32 deps=0\n    end\n  end\nend\n")
                .end);
    };
    const double found = time("");
    const double under_way = time(" together=0.5");
    CHECK(under_way > 1.3 * found);
}

TEST_CASE("the slice that is asked most holds the kernel up, and a word that all store to as well") {
    const auto busy = [](const std::string& skew) {
        return run_of(grid_of(
            2048,
            "    op 0 ld_global\n      access read b contiguous origin={32*tile.0} bytes=4" + skew + "\n"));
    };
    const Run even = busy("");
    const Run skewed = busy(" skew=64");
    const double all = even.traffic.l2_read * 1.5 / (gpu().l2.bandwidth.value() * gpu().sm.count.value());
    CHECK(cycles_of(skewed.end) > 64.0 * all);
    CHECK(even.end < skewed.end);
    const auto store = [](const std::string& place) {
        return run_of(grid_of(4096,
                              "    loop trips={16}\n      op 0 st_global\n        access write " + place +
                                  "\n    end\n",
                              "  buffer \"flag\" extent=1\n"))
            .end;
    };
    CHECK(store("flag broadcast origin={0}") > store("b contiguous origin={32*tile.0 + 131072*loop.0}"));
}

TEST_CASE("lines of which one sector is stored leave in pieces of DRAM") {
    // An eighth of the L2, so that few CTAs fill it.
    warptime::hw::Gpu small = gpu();
    small.l2.capacity = small.l2.capacity * 0.125;
    const auto traffic_of = [&](const std::string& store) {
        return run_of(grid_of(16384, "    op 0 st_global\n      access write b " + store + "\n"), whole,
                      small)
            .traffic;
    };
    // Both store to the same 65536 lines: one a sector of each, whole, the other all of them.
    const Traffic apart = traffic_of("stride origin={128*tile.0} inner_extent=8 inner=1 outer=32");
    const Traffic side_by_side = traffic_of("contiguous origin={128*tile.0} bytes=16");
    const double line = gpu().l1.line.value(), lines = 65536.0 * line;
    CHECK(apart.l2_written == lines / 4.0);
    CHECK(side_by_side.l2_written == lines);
    // A share of the lines pushes older dirty ones out, whole. Of its own, those leave that find no room.
    const double older = small.l2.dirty_fraction.value() * lines;
    const double room = small.l2.dirty_capacity.value() * small.l2.capacity.value();
    REQUIRE(older < room);
    REQUIRE(room < lines);
    const double piece = gpu().dram.access_bytes.value();
    CHECK(apart.dram_written == doctest::Approx(older + (lines - room) * piece / line).epsilon(1e-5));
    CHECK(side_by_side.dram_written == doctest::Approx(older + lines - room).epsilon(1e-5));
    CHECK(apart.dram_read + side_by_side.dram_read == 0.0);
}

TEST_CASE("trips that loops take beyond a buffer read inside of it instead") {
    const Run run = run_of(grid_of(
        4,
        "    loop trips={64}\n      op 0 ld_global\n        access read b contiguous origin={32*tile.0 + "
        "524288*loop.0}\n    end\n"));
    CHECK(run.traffic.received == 4.0 * 64 * 128);
}
