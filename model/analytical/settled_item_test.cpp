// The chains of items whose loads find lines in the L2, and of items whose warps differ.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/settled_item.hpp"

#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/kernel/text.hpp"
#include "model/machine/dram/followers.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace warptime::model::analytical {
namespace {

namespace mk = kernel;
namespace examples = kernel::examples;
using fixture::gpu;
using hw::Cycles;
using hw::InstructionClass;

/// A latency beyond the L2's, as of loads that miss it.
const Cycles from_dram{2000.0};

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * (1.0 + std::abs(b));
}

ItemDemand demand_at(const mk::Kernel& kernel, const Cycles& latency, std::int64_t resident = 1) {
    return item_demand(kernel, gpu(), latency, resident);
}

/// Traffic from DRAM with a wait for each buffer.
Traffic with_waits(std::initializer_list<LoadWaits> waits) {
    Traffic traffic;
    traffic.from_dram = true;
    traffic.waits.reset(waits.size());
    std::size_t b = 0;
    for (const LoadWaits& of_buffer : waits) {
        traffic.waits[b++] = of_buffer;
    }
    return traffic;
}

ItemDemand settled(const mk::Kernel& kernel, const Traffic& traffic, std::int64_t resident = 1) {
    ItemDemand item = demand_at(kernel, from_dram, resident);
    settle_item(kernel, gpu(), from_dram, resident, traffic, item);
    return item;
}

/// Whether all chains and demands of two items agree.
bool same(const ItemDemand& a, const ItemDemand& b) {
    const auto of = [](const ItemDemand& item) {
        std::vector<double> all{item.trips, item.slowest.value(), item.copy_issue.value(),
                                item.until_wait.value()};
        for (const machine::Part* part : {&item.before, &item.loop, &item.after}) {
            all.insert(all.end(), {part->chain.value(), part->instructions, part->flop, part->received_bytes,
                                   part->load_rounds, part->code});
            for (const Cycles& cycles : part->demand.cycles) {
                all.push_back(cycles.value());
            }
        }
        return all;
    };
    return of(a) == of(b);
}

/// Whether the items ask the same of all servers.
bool same_demand(const ItemDemand& a, const ItemDemand& b) {
    const auto alike = [](const machine::Part& one, const machine::Part& other) {
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            if (one.demand.cycles[i].value() != other.demand.cycles[i].value()) return false;
        }
        return one.instructions == other.instructions && one.received_bytes == other.received_bytes;
    };
    return a.trips == b.trips && alike(a.before, b.before) && alike(a.loop, b.loop) &&
           alike(a.after, b.after);
}

/// One load of 4 bytes a lane, of each of `buffers` buffers, and an addition that waits for it; `trips` times
/// where there are any. The L1 keeps nothing.
mk::Kernel loading(std::int64_t trips, int buffers) {
    mk::Kernel kernel;
    kernel.name = "loading";
    kernel.cta = {64, 1, 1};
    mk::Builder build(kernel);
    for (int i = 0; i < buffers; ++i) {
        build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
    }
    build.role("warps", 2);
    if (trips > 0) build.loop(trips);
    for (int i = 0; i < buffers; ++i) {
        mk::Index place = build.begin(0);
        if (trips > 0) build.add(place, mk::Variable::loop, 64);
        build.add(place, mk::Variable::warp, 32);
        examples::Draft load = examples::make_op(InstructionClass::ld_global);
        mk::Access access = examples::lanes(static_cast<mk::Id>(i), mk::Direction::read, place, 4);
        access.cache = mk::CachePolicy::cg;
        examples::add_access(load, access);
        const mk::Id value = examples::add_op(build, load);
        examples::add_op(build, examples::make_op(InstructionClass::add_f32, 1, {{value, 0}}));
    }
    if (trips > 0) build.end();
    build.finish();
    return kernel;
}

mk::Kernel loading_loop(std::int64_t trips, int buffers = 1) {
    return loading(trips, buffers);
}

mk::Kernel loading_once() {
    return loading(0, 1);
}

/// Share of a wait from the L2 to DRAM that takes `longer` cycles, for which those wait who follow in a loop
/// that has one load. `own`: share of its bytes that are new to the CTA.
double follows(double first, double fresh, double longer, double own = 1.0) {
    const Cycles l2 = gpu().latency.l2_far;
    const double alone = std::max(0.0, 2.0 * std::min(first, fresh) - 1.0) * own;
    return machine::wait_of_followers(1.0 / std::max(1e-9, first), machine::spread_of_round(alone, gpu()), l2,
                                      l2 + Cycles(longer));
}

/// Additions of which each needs the one before.
examples::Draft chain_of(std::int64_t count) {
    examples::Draft op = examples::make_op(InstructionClass::add_f32, count);
    op.chain = count;
    return op;
}

}  // namespace

TEST_CASE("an item is unchanged where all loads wait for DRAM and no warps differ") {
    CHECK(rc::check("a loop of loads", [] {
        const mk::Kernel kernel = loading_loop(*rc::gen::inRange(1, 50), 2);
        const auto resident = *rc::gen::inRange<std::int64_t>(1, 8);
        const ItemDemand before = demand_at(kernel, from_dram, resident);
        // No waits are known, all loads are first and fresh, or nothing comes from DRAM.
        RC_ASSERT(same(settled(kernel, {}, resident), before));
        RC_ASSERT(same(settled(kernel, with_waits({{1.0, 1.0}, {1.0, 1.0}}), resident), before));
        RC_ASSERT_FALSE(finds_lines(before, with_waits({{1.0, 1.0}, {1.0, 1.0}})));
        Traffic warm = with_waits({{0.0, 0.0}, {0.0, 0.0}});
        RC_ASSERT(finds_lines(before, warm));
        warm.from_dram = false;
        RC_ASSERT_FALSE(finds_lines(before, warm));
        RC_ASSERT(same(settled(kernel, warm, resident), before));
    }));
}

TEST_CASE("loads that find their lines take the latency of the L2, and others that of DRAM") {
    const mk::Kernel kernel = loading_loop(10);
    const double dram = demand_at(kernel, from_dram).loop.chain.value();
    const ItemDemand of_l2 = demand_at(kernel, gpu().latency.l2_far);
    const double l2 = of_l2.loop.chain.value();
    const double addition = gpu().instructions[InstructionClass::add_f32].latency.value();
    // A load, and the addition behind it.
    CHECK(l2 >= gpu().latency.l2_far.value() + addition);
    CHECK(l2 < gpu().latency.l2_far.value() + addition + 32.0);
    CHECK(dram - l2 >= (from_dram - gpu().latency.l2_far).value());
    CHECK(same(settled(kernel, with_waits({{0.0, 0.0}})), of_l2));
    CHECK(same(settled(kernel, with_waits({{1.0, 0.0}})), of_l2));
    // The first load of all waits, and those that follow lag as much as their rounds differ.
    const double follow = follows(0.0, 1.0, dram - l2);
    CHECK(follow > 0.8);
    CHECK(follow < 0.95);
    for (const std::int64_t resident : {1, 4}) {
        CHECK(settled(kernel, with_waits({{0.0, 1.0}}), resident).loop.chain.value() ==
              doctest::Approx(l2 + (dram - l2) * follow));
    }
}

TEST_CASE("each load waits as its own buffer says") {
    const mk::Kernel two = loading_loop(10, 2);
    const double dram = demand_at(two, from_dram).loop.chain.value();
    const double l2 = demand_at(two, gpu().latency.l2_far).loop.chain.value();
    const double one = settled(two, with_waits({{1.0, 1.0}, {0.0, 0.0}})).loop.chain.value();
    const double other = settled(two, with_waits({{0.0, 0.0}, {1.0, 1.0}})).loop.chain.value();
    // The addition of the first load's value stands before the second load.
    CHECK(one + other == doctest::Approx(dram + l2));
    CHECK(one > l2);
    CHECK(other > l2);
    // A buffer that no load reads changes nothing.
    mk::Kernel unread = loading_loop(10);
    unread.buffers.push_back(unread.buffers[0]);
    CHECK(same(settled(unread, with_waits({{1.0, 1.0}, {0.0, 0.0}})), demand_at(unread, from_dram)));
}

TEST_CASE("a load waits for DRAM as often as it is first, or comes while its line is under way") {
    CHECK(rc::check("shares of loads and waves", [] {
        const double first = 0.001 * *rc::gen::inRange(0, 999);
        const double fresh = 0.001 * *rc::gen::inRange(0, 1001);
        const auto resident = *rc::gen::inRange<std::int64_t>(1, 17);
        for (const bool loops : {false, true}) {
            const mk::Kernel kernel = loops ? loading_loop(10) : loading_once();
            const auto chain = [&](const ItemDemand& item) {
                return (loops ? item.loop.chain : item.before.chain).value();
            };
            const double dram = chain(demand_at(kernel, from_dram, resident));
            const double l2 = chain(demand_at(kernel, gpu().latency.l2_far, resident));
            // Of the CTAs of an SM, one is where straight code asks for the line. CTAs that go round a loop
            // follow the first.
            const double follow =
                loops ? follows(first, fresh, dram - l2) : 1.0 / static_cast<double>(resident);
            const double share = fresh * (first + (1.0 - first) * follow);
            const ItemDemand item = settled(kernel, with_waits({{first, fresh}}), resident);
            RC_ASSERT(near(chain(item), l2 + (dram - l2) * share));
            RC_ASSERT(item.slowest.value() == 0.0);
            RC_ASSERT(same_demand(item, demand_at(kernel, from_dram, resident)));
        }
    }));
}

TEST_CASE("more first loads, fresh waves and bytes new to the CTA never shorten a chain") {
    CHECK(rc::check("loads of any pattern", [] {
        mk::Kernel kernel = loading_loop(10);
        mk::Access& access = kernel.accesses[0];
        access.cache = *rc::gen::element(mk::CachePolicy::ca, mk::CachePolicy::cg);
        access.pattern = *rc::gen::element(mk::PatternKind::contiguous, mk::PatternKind::broadcast,
                                           mk::PatternKind::stride, mk::PatternKind::random);
        access.inner = 1 + *rc::gen::inRange(0, 64);
        access.distinct = 1 << 20;
        const auto resident = *rc::gen::inRange<std::int64_t>(1, 17);
        const auto share = [] { return 0.01 * *rc::gen::inRange(0, 101); };
        // Shares of sectors that come back, the second time no more than the first time.
        const double often = share();
        const double seldom = often * share();
        const bool reused = access.cache == mk::CachePolicy::cg && *rc::gen::element(false, true);
        const auto chain = [&](double first, double fresh, double back) {
            mk::Kernel own = kernel;
            if (reused) {
                own.accesses[0].reuse = 1;
                own.reuse.resize(1);
                own.reuse[0].sectors.fill(back);
            }
            return settled(own, with_waits({{first, fresh}}), resident).loop.chain.value();
        };
        const double first[]{share(), share()};
        const double fresh[]{share(), share()};
        const double least = chain(std::min(first[0], first[1]), std::min(fresh[0], fresh[1]), often);
        const double most = chain(std::max(first[0], first[1]), std::max(fresh[0], fresh[1]), seldom);
        RC_ASSERT(least <= most * (1.0 + 1e-12));
        RC_ASSERT(most <= demand_at(kernel, from_dram, resident).loop.chain.value() * (1.0 + 1e-12));
    }));
}

TEST_CASE("bytes that the CTA has touched before are in the L2") {
    CHECK(rc::check("a share of the sectors comes back", [] {
        mk::Kernel kernel = loading_loop(10);
        const double first = 0.001 * *rc::gen::inRange(0, 999);
        const double back = 0.001 * *rc::gen::inRange(0, 1001);
        const auto resident = *rc::gen::inRange<std::int64_t>(1, 17);
        kernel.accesses[0].reuse = 1;
        kernel.reuse.resize(1);
        kernel.reuse[0].sectors.fill(back);
        const double dram = demand_at(kernel, from_dram, resident).loop.chain.value();
        const double l2 = demand_at(kernel, gpu().latency.l2_far, resident).loop.chain.value();
        const double own = std::min(first, 1.0 - back);
        const double share = own + (1.0 - back - own) * follows(first, 1.0, dram - l2, 1.0 - back);
        const ItemDemand item = settled(kernel, with_waits({{first, 1.0}}), resident);
        RC_ASSERT(near(item.loop.chain.value(), l2 + (dram - l2) * share));
        // Nor are bytes waited for that came along with those.
        mk::Kernel beside = kernel;
        const double along = back * 0.001 * *rc::gen::inRange(0, 1001);
        beside.reuse[0].sectors.fill(back - along);
        beside.reuse[0].beside = along;
        const ItemDemand same_wait = settled(beside, with_waits({{first, 1.0}}), resident);
        RC_ASSERT(near(same_wait.loop.chain.value(), item.loop.chain.value()));
    }));
}

TEST_CASE("a warp waits for DRAM if any of its scattered sectors comes from there") {
    // Each lane draws an element of a large buffer: 32 sectors.
    mk::Kernel kernel = loading_loop(10);
    kernel.accesses[0].pattern = mk::PatternKind::random;
    kernel.accesses[0].distinct = 1 << 20;
    constexpr double first = 0.05;
    constexpr std::int64_t residents = 1 << 30;
    const double dram = demand_at(kernel, from_dram, residents).loop.chain.value();
    const double l2 = demand_at(kernel, gpu().latency.l2_far, residents).loop.chain.value();
    const double found =
        (settled(kernel, with_waits({{first, 1.0}}), residents).loop.chain.value() - l2) / (dram - l2);
    CHECK(found == doctest::Approx(1.0 - std::pow(1.0 - first, 32.0)).epsilon(0.01));
}

TEST_CASE("a chain follows the slowest warp through a branch that few warps take") {
    CHECK(rc::check("a branch before, in or behind a loop", [] {
        const int place = *rc::gen::inRange(0, 3);
        const auto length = *rc::gen::inRange<std::int64_t>(100, 400);
        const double taking = 0.01 * *rc::gen::inRange(20, 100);
        const auto kernel_with = [&](const mk::Branch& branch) {
            mk::Kernel kernel;
            kernel.name = "branches";
            kernel.cta = {256, 1, 1};
            mk::Builder build(kernel);
            const auto part = [&](int own) {
                examples::add_op(build, chain_of(3));
                if (own != place) return;
                build.branch(branch);
                examples::add_op(build, chain_of(length));
                build.end();
            };
            build.role("warps", 8);
            part(0);
            build.loop(5);
            part(1);
            build.end();
            part(2);
            build.finish();
            mk::check(kernel);
            return kernel;
        };
        const ItemDemand average = demand_at(kernel_with({taking, 32.0, {}}), from_dram);
        const ItemDemand whole = demand_at(kernel_with({1.0, 32.0, {}}), from_dram);
        const ItemDemand item = settled(kernel_with({taking, 32.0, {1.0, 1.0}}), {});
        const auto chains = [](const ItemDemand& own) {
            return std::vector<double>{own.before.chain.value(), own.loop.chain.value(),
                                       own.after.chain.value()};
        };
        for (std::size_t i = 0; i < 3; ++i) {
            RC_ASSERT(near(chains(item)[i], chains(whole)[i]));
        }
        RC_ASSERT(chains(average)[static_cast<std::size_t>(place)] <
                  chains(whole)[static_cast<std::size_t>(place)]);
        RC_ASSERT(near(item.slowest.value(),
                       whole.total([](const machine::Part& part) { return part.chain.value(); })));
        // The servers' work is that of all warps together.
        RC_ASSERT(same_demand(item, average));
        // Warps that skip the branch make no CTA faster than the others.
        const ItemDemand skipped = settled(kernel_with({taking, 32.0, {0.0, 0.0}}), {});
        RC_ASSERT(chains(skipped) == chains(average));
        RC_ASSERT(skipped.slowest.value() <
                  average.total([](const machine::Part& part) { return part.chain.value(); }));
    }));
}

TEST_CASE("the loop of a CTA takes the trips of its slowest warp, and the grid those of its slowest of all") {
    CHECK(rc::check("a loop of additions", [] {
        const auto trips = *rc::gen::inRange<std::int64_t>(1, 20);
        const double of_cta = static_cast<double>(trips) + 0.25 * *rc::gen::inRange(0, 40);
        const double of_grid = of_cta + 0.25 * *rc::gen::inRange(0, 40);
        const auto before = *rc::gen::inRange<std::int64_t>(1, 50);
        const auto inside = *rc::gen::inRange<std::int64_t>(1, 50);
        const auto after = *rc::gen::inRange<std::int64_t>(1, 50);
        mk::Kernel kernel;
        kernel.name = "additions";
        kernel.cta = {128, 1, 1};
        mk::Builder build(kernel);
        build.role("warps", 4);
        examples::add_op(build, chain_of(before));
        build.loop(trips);
        examples::add_op(build, chain_of(inside));
        build.end();
        examples::add_op(build, chain_of(after));
        build.finish();
        const ItemDemand average = demand_at(kernel, from_dram);
        const double addition = gpu().instructions[InstructionClass::add_f32].latency.value();
        RC_ASSERT(average.loop.chain.value() >= addition * static_cast<double>(inside));
        kernel.loops[0].slowest = {of_cta, of_grid};
        mk::check(kernel);
        const ItemDemand item = settled(kernel, {});
        RC_ASSERT(item.trips == static_cast<double>(trips));
        RC_ASSERT(near(item.trips * item.loop.chain.value(), of_cta * average.loop.chain.value()));
        RC_ASSERT(near(item.slowest.value(), average.before.chain.value() +
                                                 of_grid * average.loop.chain.value() +
                                                 average.after.chain.value()));
        RC_ASSERT(item.before.chain.value() == average.before.chain.value());
        RC_ASSERT(item.after.chain.value() == average.after.chain.value());
        RC_ASSERT(same_demand(item, average));
    }));
}

TEST_CASE("a grid without a slower warp of all ends with what its warps do on average") {
    mk::Kernel kernel = loading_loop(10);
    kernel.loops[0].slowest.of_cta = 12.0;
    const ItemDemand average = demand_at(kernel, from_dram);
    const ItemDemand item = settled(kernel, {});
    CHECK(item.loop.chain.value() == doctest::Approx(1.2 * average.loop.chain.value()));
    CHECK(item.slowest.value() ==
          doctest::Approx(average.total([](const machine::Part& part) { return part.chain.value(); })));
}

TEST_CASE("the slowest warps' loads find lines as all loads do") {
    mk::Kernel kernel = loading_loop(10);
    const Traffic traffic = with_waits({{0.25, 0.5}});
    const ItemDemand alike = settled(kernel, traffic, 4);
    REQUIRE(alike.loop.chain < demand_at(kernel, from_dram, 4).loop.chain);
    kernel.loops[0].slowest = {15.0, 40.0};
    const ItemDemand item = settled(kernel, traffic, 4);
    CHECK(item.loop.chain.value() == doctest::Approx(1.5 * alike.loop.chain.value()));
    CHECK(item.slowest.value() ==
          doctest::Approx(alike.before.chain.value() + 40.0 * alike.loop.chain.value() +
                          alike.after.chain.value()));
}

TEST_CASE("items that copy ahead stay as they are") {
    mk::Kernel kernel;
    examples::cp_async_gemm(kernel, {512, 512, 1024});
    Traffic traffic;
    traffic.from_dram = true;
    traffic.waits.reset(kernel.buffers.size());
    for (auto& wait : traffic.waits) {
        wait = {0.0, 0.0};
    }
    for (mk::Loop& loop : kernel.loops) {
        loop.slowest = {1000.0, 2000.0};
    }
    const ItemDemand before = demand_at(kernel, from_dram);
    REQUIRE(before.asynchronous);
    CHECK_FALSE(finds_lines(before, traffic));
    CHECK(same(settled(kernel, traffic), before));
}

TEST_CASE("a grid takes no less than its slowest warp") {
    mk::Kernel kernel = loading_loop(100);
    const double alike = analyse(kernel, gpu(), {}).sm_time.value();
    kernel.loops[0].slowest = {100.0, 50000.0};
    const Analysis a = analyse(kernel, gpu(), {});
    REQUIRE(a.item.slowest.value() > 50000.0);
    CHECK(a.sm_time.value() == doctest::Approx((a.item.slowest / a.clock).value()).scale(1e-6));
    CHECK(a.sm_time.value() > 100.0 * alike);
}

TEST_CASE("what leaves with the store before is not sent again") {
    for (const double joined : {0.0, 0.25, 1.0}) {
        CAPTURE(joined);
        mk::Kernel kernel;
        kernel.name = "storing";
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
        build.role("warps", 1);
        examples::Draft store = examples::make_op(InstructionClass::st_global);
        mk::Access access =
            examples::lanes(0, mk::Direction::write, build.variable(mk::Variable::warp, 32), 4);
        access.pattern = mk::PatternKind::stride;
        access.inner = 8;
        access.joined = joined;
        examples::add_access(store, access);
        examples::add_op(build, store);
        build.finish();
        mk::check(kernel);
        // A sector for each lane, of which an eighth is written; each of the eight lines counts a sector
        // more.
        CHECK(demand_at(kernel, from_dram).before.sent_bytes ==
              doctest::Approx((1.0 - joined) * (32.0 + 8.0) * 32.0));
    }
}

TEST_CASE("code with loops of its own fills the gaps of its warps") {
    // Chains of additions in a loop before the main one.
    mk::Kernel kernel;
    kernel.name = "computing";
    kernel.cta = {256, 1, 1};
    kernel.grid = {264, 1, 1};
    kernel.schedule.tiles = {264, 1, 1, 1};
    mk::Builder build(kernel);
    build.role("warps", 8);
    for (const std::int64_t trips : {400, 401}) {
        build.loop(trips);
        examples::add_op(build, examples::make_op(InstructionClass::fma_f32, 40, {}));
        kernel.ops.back().chain = 10;
        build.end();
    }
    build.finish();
    mk::check(kernel);
    const Analysis a = analyse(kernel, gpu(), {});
    const double all = a.item.before.demand[a.item.before.demand.busiest()].value() * 2.0;
    REQUIRE(a.item.before.instructions > a.item.before.code * a.item.warps);
    CHECK(a.exposure.prologue.value() >= std::max(all, a.item.before.chain.value()));
    CHECK(a.exposure.prologue.value() < 0.9 * (all + a.item.before.chain.value()));
}

TEST_CASE("loads at places that loads gave find what reads in order have brought, and wait for nobody else") {
    // One warp reads an index and, `in_order`, a line; then lanes read that line, at places which op `from`
    // gives.
    const auto chain = [](bool in_order, int from, double first) {
        std::string text =
            "kernel \"k\"\n  grid 1 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=1\n"
            "  buffer \"i\" dtype=int32 extent=32\n  buffer \"x\" dtype=fp32 extent=32\n  addresses";
        for (int lane = 0; lane < 32; ++lane) text += " " + std::to_string(lane);
        text += "\n  role \"r\" warps=1\n    op 0 ld_global\n      access read i contiguous origin={0}\n";
        text += in_order ? "    op 1 ld_global\n      access read x contiguous origin={0}\n"
                         : "    op 1 add_s32\n";
        text +=
            "    op 2 add_s32 deps=" + std::to_string(from) +
            "\n    op 3 ld_global deps=2\n      access read x listed origin={0} distinct=32 pool_length=32\n"
            "    op 4 add_f32 deps=3\n  end\nend\n";
        const mk::Kernel kernel = mk::parse_text(text);
        WaitsByBuffer waits(kernel.buffers.size());
        for (LoadWaits& wait : waits) wait = {first, 1.0};
        return item_demand(kernel, gpu(), gpu().latency.dram, 1, waits).before.chain.value();
    };
    const double longer = (gpu().latency.dram - gpu().latency.l2_far).value();
    // The load at a loaded place waits for DRAM as often as it is the first at its line.
    const double all_new = chain(false, 0, 1.0);
    const double none_new = chain(false, 0, 0.0);
    CHECK(all_new - none_new > 0.9 * longer);
    CHECK(chain(false, 0, 0.5) == doctest::Approx(0.5 * (all_new + none_new)));
    // Its line has come with the read in order.
    CHECK(chain(true, 0, 1.0) < all_new - 0.7 * longer);
    // Other CTAs ask for lines at places that no load gave in the same step.
    CHECK(chain(false, 1, 0.0) == doctest::Approx(chain(false, 1, 1.0)));
}

}  // namespace warptime::model::analytical
