// Whole runs: random kernels end, count like the walk and repeat exactly; hand-over of CTAs; deadlocks.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/run.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/flash_attention.hpp"
#include "model/kernel/examples/random_kernel.hpp"
#include "model/kernel/examples/small_kernels.hpp"
#include "model/kernel/examples/split_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/text.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/occupancy/work_items.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace examples = warptime::model::kernel::examples;
using hw::InstructionClass;
using warptime::model::prediction::Conditions;
using namespace warptime::model::simulation;

namespace {

constexpr double clock_hz = 1.5e9;

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

Run run_of(const mk::Kernel& kernel, Trace* trace = nullptr) {
    const double most = trace == nullptr ? most_whole_events : std::numeric_limits<double>::infinity();
    return run(kernel, gpu(), Conditions{}, clock_hz, trace, most);
}

/// Machine instructions and matrix FLOP of all items by the walk.
struct Walked {
    double instructions = 0.0, matrix_flop = 0.0, read = 0.0, written = 0.0;
};
Walked walked(const mk::Kernel& kernel) {
    const warptime::model::machine::WorkItems items(kernel);
    Walked sum;
    for (std::int64_t i = 0; i < items.count(); ++i) {
        const mk::WalkTotals totals = mk::walk_totals(kernel, items.at(i));
        for (std::size_t c = 0; c < totals.instructions.size(); ++c) {
            sum.instructions += totals.instructions[c] * gpu().instructions.costs[c].machine.value();
        }
        sum.matrix_flop += totals.matrix_flop;
        sum.read += totals.traffic(mk::Space::global, mk::Direction::read).inside_bytes;
        sum.written += totals.traffic(mk::Space::global, mk::Direction::write).inside_bytes;
    }
    return sum;
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * (1.0 + std::abs(b));
}

}  // namespace

TEST_CASE("random kernels run to the end, execute what the walk does, and repeat tick by tick") {
    CHECK(rc::check("random kernels", [] {
        mk::Kernel kernel = examples::RandomKernelMaker().make().kernel;
        kernel.registers_per_thread = std::min(kernel.registers_per_thread, 128);  // fits on an SM
        Trace first, second;
        const Run one = run_of(kernel, &first);
        const Run two = run_of(kernel, &second);
        RC_ASSERT(near(one.instructions, walked(kernel).instructions));
        RC_ASSERT(one.end == two.end);
        RC_ASSERT(one.events == two.events);
        RC_ASSERT(first.ops == second.ops);
        RC_ASSERT(first.ctas == second.ctas);
        RC_ASSERT(first.waits == second.waits);
        Ticks last = 0;
        for (const TraceRow& row : first.ops) {
            RC_ASSERT(row.start >= last);
            RC_ASSERT(row.done >= row.start);
            RC_ASSERT(row.done <= one.end);
            last = row.start;
        }
        for (const Busy& busy : one.busy) {
            RC_ASSERT(busy.longest <= one.end || busy.longest == 0);
        }
    }));
}

TEST_CASE("the kernels written out as examples execute: instructions, FLOP and bytes of the walk") {
    std::vector<mk::Kernel> kernels(7);
    examples::cp_async_gemm(kernels[0], {512, 512, 512});
    examples::WarpSpecializedGemm pingpong;
    pingpong.stages = 3;  // stages that fit beside the staged output
    examples::warp_specialized_gemm(kernels[1], pingpong);
    pingpong.pingpong = true;
    examples::warp_specialized_gemm(kernels[2], pingpong);
    examples::flash_attention(kernels[3], {});
    examples::softmax(kernels[4], 300, 4096);
    examples::histogram(kernels[5], 1 << 20, 4096);
    examples::stream_k(kernels[6], {});
    for (const mk::Kernel& kernel : kernels) {
        CAPTURE(kernel.name);
        const Run result = run_of(kernel);
        const Walked expected = walked(kernel);
        CHECK(near(result.instructions, expected.instructions));
        CHECK(near(result.tensor_flop, expected.matrix_flop));
        CHECK(result.end > 0);
    }
    const Run rows = run_of(kernels[4]);
    CHECK(near(rows.traffic.received, walked(kernels[4]).read));
    CHECK(near(rows.traffic.l2_written, walked(kernels[4]).written));
    CHECK(near(rows.traffic.dram_read, 300.0 * 4096 * 2));
}

TEST_CASE("twice the clock, with DRAM twice as fast, is the same run tick by tick") {
    auto fast = gpu();
    fast.dram.bandwidth = fast.dram.bandwidth * 2.0;
    mk::Kernel kernel;
    examples::cp_async_gemm(kernel, {1024, 1024, 512});
    Trace slow_trace, fast_trace;
    const Run slow = run(kernel, gpu(), Conditions{}, clock_hz, &slow_trace);
    CHECK(run(kernel, fast, Conditions{}, 2.0 * clock_hz, &fast_trace).end == slow.end);
    CHECK(slow_trace.ops == fast_trace.ops);
}

TEST_CASE("a slower unit never makes a GEMM faster by more than the shift of its schedule") {
    mk::Kernel kernel;
    examples::warp_specialized_gemm(kernel, {2048, 2048, 2048, 3});
    const double base = cycles_of(run_of(kernel).end);
    const auto slowed = [&](auto change) {
        auto other = gpu();
        change(other);
        return cycles_of(run(kernel, other, Conditions{}, clock_hz).end);
    };
    CHECK(slowed([](auto& g) { g.tensor.bf16 = g.tensor.bf16 * 0.5; }) > 1.5 * base);
    CHECK(slowed([](auto& g) { g.l2.port_bandwidth = g.l2.port_bandwidth * 0.25; }) > 1.5 * base);
    CHECK(slowed([](auto& g) { g.dram.bandwidth = g.dram.bandwidth * 0.05; }) > 1.5 * base);
    CHECK(slowed([](auto& g) { g.latency.tma_extra = hw::Cycles(1600.0); }) > 1.2 * base);
    CHECK(slowed([](auto& g) { g.tensor.bf16 = g.tensor.bf16 * 2.0; }) < 0.99 * base);
}

TEST_CASE("CTAs go one by one to the SM with most room") {
    mk::Kernel kernel;
    kernel.grid = {300, 1, 1};
    kernel.cta = {32, 1, 1};
    kernel.schedule.tiles = {300, 1, 1, 1};
    mk::Builder build(kernel);
    build.role("warp", 1);
    examples::add_op(build, examples::make_op(InstructionClass::fma_f32, 1000));
    build.finish();
    Trace trace;
    const Run result = run_of(kernel, &trace);
    REQUIRE(trace.ops.size() == 300);
    const Ticks interval = ticks_of(gpu().launch.cta_interval.value());
    for (const TraceRow& row : trace.ops) {
        CHECK(row.sm == row.cta % 132);
        CHECK(row.start >= (row.cta + 1) * interval);
    }
    CHECK(result.sms == 132);
}

TEST_CASE("every SM gets its even part of the CTAs, however early its first ones have ended") {
    // Half of the CTAs take six times as long as the others. An SM has room for one.
    const mk::Kernel kernel = mk::parse_text(
        "kernel \"k\"\n  grid 300 1 1\n  cta 32 1 1\n  resources static_shared=0 dynamic_shared=200000\n"
        "  schedule one_per_cta tiles=300\n  role \"r\" warps=1\n    loop trips={20 + 100*tile.0%2}\n"
        "      op 0 fma_f32 chain=8 count=8\n    end\n  end\nend\n");
    Trace trace;
    const Run result = run_of(kernel, &trace);
    REQUIRE(result.occupancy.ctas_per_sm == 1);
    REQUIRE(trace.ctas.size() == 300);
    std::vector<int> of_sm(132);
    std::vector<Ticks> free(132);
    for (const CtaRow& row : trace.ctas) {
        ++of_sm[static_cast<std::size_t>(row.sm)];
        Ticks& end = free[static_cast<std::size_t>(row.sm)];
        CHECK(row.start >= end);
        end = row.end;
    }
    // 300 CTAs on 132 SMs: at most three, and two where a third one would leave others with less.
    CHECK(*std::ranges::max_element(of_sm) == 3);
    CHECK(*std::ranges::min_element(of_sm) == 2);
    CHECK(std::ranges::count(of_sm, 3) == 300 - 2 * 132);
}

TEST_CASE("operands read by many CTAs come from DRAM once while L2 holds them") {
    mk::Kernel kernel;
    examples::cp_async_gemm(kernel, {1024, 2048, 512});
    const Run result = run_of(kernel);
    CHECK(result.traffic.dram_read == doctest::Approx(3.0 * 1024 * 512 * 2).epsilon(0.02));
    auto small = gpu();
    small.l2.capacity = small.l2.capacity * 0.002;
    CHECK(run(kernel, small, Conditions{}, clock_hz).traffic.dram_read > 2.0 * result.traffic.dram_read);
    Conditions warm;
    warm.cache = warptime::model::prediction::Cache::warm;
    CHECK(run(kernel, gpu(), warm, clock_hz).traffic.dram_read == 0.0);
}

TEST_CASE("warps that wait for one another are a deadlock, named by its tokens") {
    mk::Kernel kernel;
    kernel.name = "crossed";
    kernel.cta = {64, 1, 1};
    mk::Builder build(kernel);
    const auto token = [&](const char* name) {
        return build.token(examples::token(mk::Name(name), mk::TokenKind::mbarrier, mk::Scope::cta, 1, 1, 0));
    };
    const mk::Id left = token("left");
    const mk::Id right = token("right");
    for (const bool first : {true, false}) {
        build.role(first ? "one" : "two", 1);
        build.wait(first ? left : right);
        build.signal(first ? right : left);
    }
    build.finish();
    CHECK_THROWS_WITH_AS(
        (void)run_of(kernel),
        doctest::Contains("role 'one' instance 0 warp 0 waits for 'left' phase 0, CTA 0 role "
                          "'two' instance 0 warp 0 waits for 'right' phase 0"),
        warptime::Error);
}

TEST_CASE("a consumer whose token nobody signals is named with its role and the cycle of the standstill") {
    mk::Kernel kernel;
    kernel.name = "unfed";
    kernel.grid = {40, 1, 1};
    kernel.cta = {64, 1, 1};
    kernel.schedule.tiles = {40, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Id full =
        build.token(examples::token("full", mk::TokenKind::mbarrier, mk::Scope::cta, 1, 1, 0));
    build.role("producer", 1);
    examples::add_op(build, examples::make_op(InstructionClass::fma_f32, 500));
    build.role("consumer", 1);
    build.wait(full);
    build.finish();
    // The producers of 40 CTAs end with the launch of the last one, and its 500 instructions every 2 cycles.
    Trace trace;
    std::string message;
    try {
        (void)run_of(kernel, &trace);
    } catch (const warptime::Error& error) {
        message = error.what();
    }
    Ticks last = 0;
    for (const TraceRow& row : trace.ops) last = std::max(last, row.start);
    CHECK(last >= 40 * ticks_of(gpu().launch.cta_interval.value()));
    const std::string when = "everything stops in cycle " + std::to_string(last / ticks_per_cycle) + ": ";
    CHECK(message.find(when) != std::string::npos);
    CHECK(message.find(
              "CTA 0 role 'consumer' instance 0 warp 0 waits for 'full' phase 0, which nobody signals") !=
          std::string::npos);
    CHECK(message.find("and 32 more warps wait") != std::string::npos);
    CHECK(message.find("producer") == std::string::npos);
}

TEST_CASE("a kernel that does not fit on an SM is refused as by the occupancy rules") {
    mk::Kernel kernel;
    kernel.cta = {32, 1, 1};
    kernel.dynamic_shared = 1 << 20;
    mk::Builder build(kernel);
    build.role("warp", 1);
    build.finish();
    CHECK_THROWS_WITH_AS((void)run_of(kernel), doctest::Contains("shared"), warptime::Error);
}

TEST_CASE("roles whose loops have different lengths are run with all trips where some cannot be left out") {
    // The producer fills two phases a trip, the consumer takes one.
    const auto text = [](int trips) {
        return "kernel \"k\"\n  grid 132 1 1\n  cta 64 1 1\n  schedule one_per_cta tiles=132\n  token "
               "\"full\" "
               "kind=mbarrier arrivals=1 depth=2\n  token \"free\" kind=mbarrier arrivals=1 initial=2 "
               "depth=2\n  "
               "role \"producer\" warps=1\n    loop trips={" +
               std::to_string(trips / 2) +
               "}\n      wait free\n      op 0 fma_f32\n      signal full on=completion\n      wait free\n   "
               "   op "
               "1 fma_f32\n      signal full on=completion\n    end\n  end\n  role \"consumer\" warps=1\n    "
               "loop "
               "trips={" +
               std::to_string(trips) +
               "}\n      wait full\n      op 2 fma_f32 count=8\n      signal free on=completion\n    end\n  "
               "end\nend\n";
    };
    const mk::Kernel kernel = mk::parse_text(text(8000));
    const Run part = run(kernel, gpu(), Conditions{}, clock_hz);
    CHECK_FALSE(part.cut.whole());
    const Run all =
        run(kernel, gpu(), Conditions{}, clock_hz, nullptr, std::numeric_limits<double>::infinity());
    CHECK(static_cast<double>(part.end) == doctest::Approx(static_cast<double>(all.end)).epsilon(0.02));
}
