// Demand of one item against the reference walk, on random bodies and on the example kernels.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/item_demand.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/tensor_rate.hpp"
#include "model/analytical/traffic.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/small_kernels.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/text.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/dram/followers.hpp"
#include "model/machine/issue/operand_turns.hpp"
#include "model/machine/l1/access_bytes.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace examples = warptime::model::kernel::examples;
using namespace warptime::model;
using namespace warptime::model::analytical;
using hw::InstructionClass;

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

ItemDemand demand_of(const mk::Kernel& kernel) {
    return item_demand(kernel, gpu(), hw::Cycles(500.0));
}

double total(const ItemDemand& item, double machine::Part::*field) {
    return item.total([field](const machine::Part& p) { return p.*field; });
}

/// Instructions of a walk after the expansion that the architecture's table states.
double machine_instructions(const mk::WalkTotals& walk) {
    double sum = 0.0;
    for (std::size_t c = 0; c < walk.instructions.size(); ++c) {
        sum += walk.instructions[c] * gpu().instructions.costs[c].machine.value();
    }
    return sum;
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * (1.0 + std::abs(b));
}

/// A role of loops, branches, arithmetic, loads and stores on vectors that nothing overruns.
class BodyMaker {
  public:
    mk::Kernel make() {
        kernel_.name = "random";
        const int warps = pick(1, 8);
        kernel_.cta = {32 * warps, 1, 1};
        vector_ = build_.buffer(examples::vector_of("x", hw::Dtype::fp32, 4096));
        build_.role("warps", warps);
        body(0);
        build_.finish();
        mk::check(kernel_);
        return kernel_;
    }

  private:
    static int pick(int low, int high) { return *rc::gen::inRange(low, high + 1); }

    void op() {
        const auto cls = *rc::gen::element(InstructionClass::fma_f32, InstructionClass::mad_s32,
                                           InstructionClass::mufu, InstructionClass::fma_f64,
                                           InstructionClass::ld_global, InstructionClass::st_global);
        examples::Draft op = examples::make_op(cls, pick(1, 5));
        if (cls == InstructionClass::ld_global || cls == InstructionClass::st_global) {
            const bool read = cls == InstructionClass::ld_global;
            mk::Access access = examples::lanes(vector_, read ? mk::Direction::read : mk::Direction::write,
                                                mk::Builder::constant(0), 4 << pick(0, 2));
            examples::add_access(op, access);
        }
        examples::add_op(build_, op);
    }

    void body(int depth) {
        op();
        for (int i = pick(0, 3); i > 0; --i) {
            const int what = depth < 2 ? pick(0, 4) : 0;
            if (what == 4) {
                build_.branch({0.25 * pick(1, 4), 32.0});
                op();
                build_.end();
            } else if (what >= 2) {
                build_.loop(pick(1, 5));
                body(depth + 1);
                build_.end();
            } else {
                op();
            }
        }
    }

    mk::Kernel kernel_;
    mk::Builder build_{kernel_};
    mk::Id vector_ = mk::no_id;
};

}  // namespace

TEST_CASE("instructions, FLOP and bytes are those of the walk") {
    CHECK(rc::check("random bodies", [] {
        const mk::Kernel kernel = BodyMaker().make();
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        const ItemDemand item = demand_of(kernel);
        RC_ASSERT(near(total(item, &machine::Part::instructions), machine_instructions(walk)));
        RC_ASSERT(near(total(item, &machine::Part::flop), walk.vector_flop));
        RC_ASSERT(total(item, &machine::Part::tensor_flop) == 0.0);
        const auto read = walk.traffic(mk::Space::global, mk::Direction::read);
        const auto written = walk.traffic(mk::Space::global, mk::Direction::write);
        RC_ASSERT(near(total(item, &machine::Part::received_bytes), read.requested_bytes));
        RC_ASSERT(near(total(item, &machine::Part::fetched_bytes), read.requested_bytes));
        RC_ASSERT(near(total(item, &machine::Part::sent_bytes), written.inside_bytes));
        RC_ASSERT(near(item.buffers[0].read_bytes, read.requested_bytes));
        RC_ASSERT(near(item.buffers[0].written_bytes, written.inside_bytes));
    }));
}

TEST_CASE("every instruction takes an issue slot, and only its own pipe") {
    CHECK(rc::check("random bodies", [] {
        const mk::Kernel kernel = BodyMaker().make();
        const ItemDemand item = demand_of(kernel);
        const double issue =
            item.total([](const machine::Part& p) { return p.demand[machine::Server::issue].value(); });
        const double instructions = total(item, &machine::Part::instructions);
        RC_ASSERT(near(issue * gpu().sm.sub_partitions.value(), instructions));
        // Instructions of three registers take half a turn more at the ports.
        double turns = 0.0;
        for (const mk::Op& op : kernel.ops) {
            turns = std::max(turns, warptime::model::machine::port_turns(op.cls, gpu()));
        }
        const double ports =
            item.total([](const machine::Part& p) { return p.demand[machine::Server::registers].value(); });
        RC_ASSERT(ports >= issue * (1.0 - 1e-9));
        RC_ASSERT(ports <= issue * turns * (1.0 + 1e-9));
        const auto idle = [&](machine::Server s) {
            return item.total([s](const machine::Part& p) { return p.demand[s].value(); }) == 0.0;
        };
        RC_ASSERT(idle(machine::Server::tensor));
        RC_ASSERT(idle(machine::Server::tma));
        const double read = total(item, &machine::Part::received_bytes);
        RC_ASSERT(idle(machine::Server::crossbar_read) == (read == 0.0));
        RC_ASSERT(idle(machine::Server::l1) == (read == 0.0));
        // Loads and stores take the path to the banks, too.
        RC_ASSERT(idle(machine::Server::shared) ==
                  (read == 0.0 && total(item, &machine::Part::sent_bytes) == 0.0));
    }));
}

TEST_CASE("a softmax reads and writes its row once") {
    for (const std::int64_t columns : {2048, 4096, 16384}) {
        mk::Kernel kernel;
        examples::softmax(kernel, 128, columns);
        const ItemDemand item = demand_of(kernel);
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        CHECK(total(item, &machine::Part::received_bytes) == 2.0 * static_cast<double>(columns));
        CHECK(total(item, &machine::Part::sent_bytes) == 2.0 * static_cast<double>(columns));
        CHECK(total(item, &machine::Part::instructions) == doctest::Approx(machine_instructions(walk)));
        CHECK(item.warps == 8);
        CHECK_FALSE(item.uses_tensor);
        CHECK_FALSE(item.asynchronous);
    }
}

TEST_CASE("a GEMM of lanes' copies multiplies and issues as its walk does, guards included") {
    for (const std::int64_t k : {64, 96, 512, 4096}) {
        mk::Kernel kernel;
        examples::cp_async_gemm(kernel, {512, 512, k});
        const ItemDemand item = demand_of(kernel);
        mk::WorkItem work;
        work.end = kernel.schedule.k_iterations;
        const mk::WalkTotals walk = mk::walk_totals(kernel, work);
        CHECK(total(item, &machine::Part::tensor_flop) == 2.0 * 128 * 128 * static_cast<double>(k));
        CHECK(total(item, &machine::Part::tensor_flop) == walk.matrix_flop);
        // Copies ahead of the last iterations do not run: k / 32 stages of both operands, by 4 warps of 4
        // copies.
        CHECK(total(item, &machine::Part::instructions) == doctest::Approx(machine_instructions(walk)));
        CHECK(item.uses_tensor);
        CHECK(item.asynchronous);
        CHECK(item.tensor_dtype == hw::Dtype::bf16);
    }
}

TEST_CASE("both forms of a warp-specialised GEMM multiply their tile") {
    for (const bool pingpong : {false, true}) {
        mk::Kernel kernel;
        examples::WarpSpecializedGemm problem;
        problem.pingpong = pingpong;
        examples::warp_specialized_gemm(kernel, problem);
        const ItemDemand item = demand_of(kernel);
        const double flop = 2.0 * static_cast<double>(problem.rows()) * 256 * static_cast<double>(problem.k);
        // The consumers peel one product of their loop; roles of different trips count at the longest.
        CHECK(total(item, &machine::Part::tensor_flop) >= flop);
        CHECK(total(item, &machine::Part::tensor_flop) <=
              flop * (1.0 + 1.0 / static_cast<double>(problem.k_iterations())));
        CHECK(item.alternating == pingpong);
        CHECK(item.asynchronous);
        // The CTA receives A and both halves of B, and asks for A and one half of B.
        const auto k = static_cast<double>(problem.k);
        const double a = 2.0 * static_cast<double>(problem.rows()) * k;
        CHECK(total(item, &machine::Part::received_bytes) == a + 2.0 * 256 * k);
        CHECK(total(item, &machine::Part::fetched_bytes) == a + 2.0 * 128 * k);
    }
}

TEST_CASE("boxes of whole lines come faster, but not those of clusters") {
    const auto port_of = [](bool cluster, double rate) {
        mk::Kernel kernel;
        examples::warp_specialized_gemm(kernel, {});
        if (!cluster) kernel.cluster = {1, 1, 1};
        hw::Gpu gpu = hw::load_gpu("h200-sxm");
        gpu.l2.box_bandwidth = hw::BytesPerCycle(rate);
        return item_demand(kernel, gpu, hw::Cycles(600.0))
            .loop.demand[machine::Server::crossbar_read]
            .value();
    };
    CHECK(port_of(false, 40.0) == doctest::Approx(2.0 * port_of(false, 80.0)));
    CHECK(port_of(true, 40.0) == port_of(true, 80.0));
}

TEST_CASE("a guard counts the iterations in which it holds") {
    CHECK(rc::check("linear guards, both directions", [] {
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        build.role("warp", 1);
        build.loop(*rc::gen::inRange(1, 20));
        examples::Draft op = examples::make_op(InstructionClass::fma_f32, 2);
        const int step = *rc::gen::element(-1, 1);
        op.when = {true, build.index(*rc::gen::inRange(-5, 5), {mk::term(mk::Variable::loop, step)}),
                   *rc::gen::inRange(-10, 10), *rc::gen::inRange(10, 20)};
        if (step < 0) {
            // low <= -i < high is i in (-high, -low]: keep both ends whole.
            op.when.low = -(std::int64_t{1} << 40);
        }
        examples::add_op(build, op);
        examples::add_op(build, examples::make_op(InstructionClass::mad_s32));
        build.end();
        build.finish();
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        const double fma = total(demand_of(kernel), &machine::Part::flop);
        if (step > 0) {
            RC_ASSERT(near(fma, walk.vector_flop));
        } else {
            RC_ASSERT(std::abs(fma - walk.vector_flop) <= 2.0 * 64.0 + 1e-9);
        }
    }));
}

TEST_CASE("boxes, elected warps and divergent lanes move and multiply what the walk says") {
    CHECK(rc::check("random roles", [] {
        mk::Kernel kernel;
        const int warps = *rc::gen::inRange(1, 6);
        const int instances = *rc::gen::inRange(1, 3);
        kernel.cta = {std::int64_t{32} * warps * instances, 1, 1};
        mk::Builder build(kernel);
        const mk::Id x = build.buffer(examples::matrix("x", hw::Dtype::fp32, 1024, 64));
        build.role("warps", warps, instances);
        if (instances > 1 && *rc::gen::arbitrary<bool>()) {
            build.alternate();
        }
        build.loop(*rc::gen::inRange(1, 9));
        for (const auto cls : {InstructionClass::ld_global, InstructionClass::st_global}) {
            examples::Draft op = examples::make_op(cls, *rc::gen::inRange(1, 4));
            const int kind = *rc::gen::inRange(0, 4);
            mk::Index column = mk::Builder::constant(0);
            if (kind == 1) {
                column = build.variable(mk::Variable::warp, 16);
            } else if (kind == 2) {
                column = build.variable(mk::Variable::instance, 16);
            } else if (kind == 3) {
                examples::elect_first_warp(build, op);
            }
            const auto way = cls == InstructionClass::ld_global ? mk::Direction::read : mk::Direction::write;
            examples::add_access(op, examples::box(x, way, {column, mk::Builder::constant(0)}, {16, 4}));
            examples::add_op(build, op);
        }
        // Half of the lanes store whole sectors.
        build.branch({0.5, 1.0 * *rc::gen::inRange(16, 33)});
        examples::Draft product = examples::make_op(InstructionClass::fma_f32, 3);
        product.active = 0.25;
        examples::add_op(build, product);
        examples::Draft store = examples::make_op(InstructionClass::st_global, 2);
        store.active = 0.5;
        examples::add_access(store, examples::lanes(x, mk::Direction::write, mk::Builder::constant(0), 4));
        examples::add_op(build, store);
        build.end();
        build.end();
        build.finish();
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        const ItemDemand item = demand_of(kernel);
        RC_ASSERT(near(total(item, &machine::Part::instructions), machine_instructions(walk)));
        RC_ASSERT(near(total(item, &machine::Part::flop), walk.vector_flop));
        const auto read = walk.traffic(mk::Space::global, mk::Direction::read);
        const auto written = walk.traffic(mk::Space::global, mk::Direction::write);
        RC_ASSERT(near(total(item, &machine::Part::received_bytes), read.inside_bytes));
        RC_ASSERT(near(total(item, &machine::Part::sent_bytes), written.inside_bytes));
    }));
}

TEST_CASE("what lanes touch becomes bytes of sectors") {
    mk::Kernel kernel;
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
    mk::Access access = examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 4);
    CHECK(machine::access_bytes(kernel, access).full == 128.0);
    access.bytes = 16;
    CHECK(machine::access_bytes(kernel, access).full == 512.0);
    access.pattern = mk::PatternKind::broadcast;
    CHECK(machine::access_bytes(kernel, access).full == 16.0);
    access.pattern = mk::PatternKind::random;
    CHECK(machine::access_bytes(kernel, access).full == 32.0 * 32.0);
    access.pattern = mk::PatternKind::stride;
    access.bytes = 4;
    for (const std::int64_t inner : {1, 2, 4, 8, 16, 1000}) {
        access.inner = inner;
        CHECK(machine::access_bytes(kernel, access).full ==
              32.0 * std::min(32.0, 4.0 * static_cast<double>(inner)));
    }
}

TEST_CASE("a box counts in full and, on average over its tiles, inside the matrix") {
    CHECK(rc::check("against clipping tile by tile", [] {
        mk::Kernel kernel;
        mk::Builder build(kernel);
        const std::int64_t columns = *rc::gen::inRange<std::int64_t>(1, 300);
        const std::int64_t rows = *rc::gen::inRange<std::int64_t>(1, 300);
        const mk::Id c = build.buffer(examples::matrix("c", hw::Dtype::bf16, columns, rows));
        const std::int64_t bn = *rc::gen::inRange<std::int64_t>(1, 65);
        const std::int64_t bm = *rc::gen::inRange<std::int64_t>(1, 65);
        const mk::Access access = examples::box(
            c, mk::Direction::write, {mk::Builder::constant(0), mk::Builder::constant(0)}, {bn, bm});
        const machine::AccessBytes bytes = machine::access_bytes(kernel, access);
        RC_ASSERT(near(bytes.full, 2.0 * static_cast<double>(bn * bm)));
        RC_ASSERT(near(bytes.rows, static_cast<double>(bm)));
        RC_ASSERT(near(bytes.row_bytes, 2.0 * static_cast<double>(bn)));
        RC_ASSERT(bytes.pitch_bytes == 2 * columns);
        const std::int64_t tiles_of_all = ((columns + bn - 1) / bn) * ((rows + bm - 1) / bm);
        const auto tiles = static_cast<double>(tiles_of_all);
        RC_ASSERT(near(bytes.inside * tiles, 2.0 * static_cast<double>(columns * rows)));
    }));
}

TEST_CASE("coordinates that a box depends on are noted") {
    mk::Kernel kernel;
    examples::cp_async_gemm(kernel, {512, 512, 512});
    const ItemDemand item = demand_of(kernel);
    CHECK(item.buffers[0].along_m);
    CHECK_FALSE(item.buffers[0].along_n);
    CHECK(item.buffers[1].along_n);
    CHECK_FALSE(item.buffers[1].along_m);
    CHECK(item.buffers[2].along_m);
    CHECK(item.buffers[2].along_n);
}

TEST_CASE("chains: dependent instructions add their latencies, independent ones overlap") {
    const auto chain_of = [](std::int64_t count, std::int64_t chain, bool depends) {
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        build.role("warp", 1);
        examples::Draft op = examples::make_op(InstructionClass::fma_f32, count);
        op.chain = chain;
        examples::add_op(build, op);
        examples::Draft next = op;
        if (depends) {
            next.dep_count = 1;
            next.deps[0] = {0, 0};
        }
        examples::add_op(build, next);
        build.finish();
        return demand_of(kernel).before.chain.value();
    };
    const auto& cost = gpu().instructions[InstructionClass::fma_f32];
    const double interval = std::max(1.0, cost.interval.value());
    const double latency = cost.latency.value();
    CHECK(chain_of(10, 1, false) == doctest::Approx(19.0 * interval + latency));
    CHECK(chain_of(10, 1, true) == doctest::Approx(18.0 * interval + 2.0 * latency));
    CHECK(chain_of(10, 10, true) == doctest::Approx(18.0 * interval + 20.0 * latency));
}

TEST_CASE("a selection has its predicate as soon as any result, a guarded instruction later") {
    const auto latency = [](InstructionClass cls) { return gpu().instructions[cls].latency.value(); };
    // Three additions stand behind the reader, so that the last result is theirs.
    const auto until_read = [&](InstructionClass reader, double enabled) {
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        build.role("warp", 1);
        build.op(InstructionClass::set_predicate).enabled = enabled;
        for (const InstructionClass cls :
             {reader, InstructionClass::fma_f32, InstructionClass::fma_f32, InstructionClass::fma_f32}) {
            build.op(cls);
            build.dep({build.last_op() - 1, 0});
        }
        build.finish();
        return demand_of(kernel).before.chain.value() - latency(reader) -
               3.0 * latency(InstructionClass::fma_f32);
    };
    const double compare = latency(InstructionClass::set_predicate);
    const double select = latency(InstructionClass::compare_select);
    REQUIRE(select < compare);
    for (const InstructionClass reader :
         {InstructionClass::compare_select, InstructionClass::set_predicate, InstructionClass::vote}) {
        CHECK(until_read(reader, 1.0) == doctest::Approx(select));
        // Half of the comparisons are executed: half of the time.
        CHECK(until_read(reader, 0.5) == doctest::Approx(0.5 * select));
    }
    for (const InstructionClass guarded :
         {InstructionClass::branch, InstructionClass::fma_f32, InstructionClass::logic}) {
        CHECK(until_read(guarded, 1.0) == doctest::Approx(compare));
    }
}

TEST_CASE("lines of constants that lanes ask for and the nearest cache lacks come one after another") {
    const auto chain_of = [](double missed, int addresses) {
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        mk::Buffer table;
        table.name = mk::Name("table");
        table.space = mk::Space::constant;
        table.dtype = hw::Dtype::int8;
        table.extent[0] = 1 << 20;
        const mk::Id buffer = build.buffer(table);
        mk::Reuse reuse;
        reuse.whole.fill(1.0 - missed);
        kernel.reuse.push_back(reuse);
        build.role("warp", 1);
        examples::Draft load = examples::make_op(InstructionClass::ld_constant, 1);
        mk::Access access = examples::lanes(buffer, mk::Direction::read, mk::Builder::constant(0), 4);
        access.pattern = mk::PatternKind::listed;
        access.pool_length = 32;
        access.reuse = 1;
        for (int lane = 0; lane < 32; ++lane) kernel.address_list.push_back(64 * (lane % addresses));
        examples::add_access(load, access);
        examples::add_op(build, load);
        build.finish();
        return demand_of(kernel).before.chain.value();
    };
    const double path = gpu().l1.constant_interval.value();
    const double found = chain_of(0.0, 1);
    CHECK(chain_of(0.0, 32) == doctest::Approx(found + 31.0 * path));
    // A line that the nearest cache lacks comes from the next one.
    const double later =
        gpu().latency.constant.value() - gpu().instructions[InstructionClass::ld_constant].latency.value();
    REQUIRE(later > 0.0);
    CHECK(chain_of(1.0, 1) == doctest::Approx(found + later));
    // Of several addresses, each is filled on the path before the next one is served.
    const double line = later + gpu().l1.constant_fill.value();
    for (const int addresses : {2, 4, 16, 32}) {
        CAPTURE(addresses);
        const double near = chain_of(0.0, addresses);
        CHECK(chain_of(1.0, addresses) == doctest::Approx(near + line * addresses));
        CHECK(chain_of(0.25, addresses) == doctest::Approx(near + line * addresses * 0.25));
    }
}

TEST_CASE("every op of a long body waits for the op before it") {
    const double latency = gpu().instructions[InstructionClass::fma_f32].latency.value();
    for (const int ops : {2, 640, 641, 2000}) {
        CAPTURE(ops);
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        build.role("warp", 1);
        for (mk::Id before = -1; before < ops - 1; ++before) {
            examples::Draft op = examples::make_op(InstructionClass::fma_f32, 1);
            if (before >= 0) {
                op.dep_count = 1;
                op.deps[0] = {before, 0};
            }
            examples::add_op(build, op);
        }
        build.finish();
        CHECK(demand_of(kernel).before.chain.value() == doctest::Approx(ops * latency));
    }
}

TEST_CASE("a warpgroup that adds up the sums of its products waits for these, whatever the others multiply") {
    const auto waited = [](int warps, std::int64_t products, std::int64_t sums, bool depends) {
        mk::Kernel kernel;
        kernel.cta = {32 * warps, 1, 1};
        mk::Builder build(kernel);
        build.role("consumer", warps);
        build.loop(8);
        mk::Op& multiply = build.op(InstructionClass::wgmma);
        multiply.dtype = hw::Dtype::fp8;
        multiply.shape = {64, 128, 32};
        multiply.count = products;
        const mk::Id multiplied = build.last_op();
        mk::Op& add = build.op(InstructionClass::add_f32);
        add.count = sums;
        if (depends) {
            add.dep_count = 1;
            add.deps[0] = {multiplied, 0};
        }
        build.end();
        build.finish();
        return demand_of(kernel).multiplied.value();
    };
    // 64 x 128 x 32 products at the dense rate, which all tensor cores of the SM share.
    const double once = 64.0 * 128 * 32 * 2 / hw::tensor_rate(hw::Dtype::fp8, gpu()).value();
    const double latency = gpu().instructions[InstructionClass::wgmma].latency.value();
    const double behind = gpu().instructions[InstructionClass::add_f32].latency.value();
    CHECK(waited(4, 4, 64, true) == doctest::Approx(4.0 * once + latency + 63.0 + behind));
    CHECK(waited(8, 4, 64, true) == doctest::Approx(waited(4, 4, 64, true)));
    CHECK(waited(4, 8, 64, true) - waited(4, 4, 64, true) == doctest::Approx(4.0 * once));
    CHECK(waited(4, 4, 80, true) - waited(4, 4, 64, true) == doctest::Approx(16.0));
    CHECK(waited(4, 4, 64, false) == 0.0);
}

TEST_CASE("what the description says is warm comes from the L2, chases apart") {
    const auto chain_of = [](mk::Before before, mk::PatternKind pattern) {
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        mk::Buffer words = examples::vector_of("words", hw::Dtype::fp32, 32);
        words.before = before;
        mk::Access word;
        word.buffer = build.buffer(words);
        word.pattern = pattern;
        word.bytes = 4;
        build.role("warp", 1);
        examples::Draft load = examples::make_op(InstructionClass::ld_global);
        build.op(load, {word});
        build.finish();
        return item_demand(kernel, gpu(), gpu().latency.dram).before.chain.value();
    };
    using enum mk::PatternKind;
    const double cold = chain_of(mk::Before::cold, broadcast);
    const double warm = chain_of(mk::Before::warm, broadcast);
    CHECK(warm == doctest::Approx(cold - (gpu().latency.dram - gpu().latency.l2_far).value()));
    CHECK(chain_of(mk::Before::warm, chase) == chain_of(mk::Before::cold, chase));
}

TEST_CASE("an item reads any number of buffers, and each has its own bytes") {
    mk::Kernel kernel;
    kernel.name = "wide";
    kernel.cta = {32, 1, 1};
    mk::Builder build(kernel);
    constexpr std::size_t count = 3 * usual_buffers;
    for (std::size_t i = 0; i < count; ++i) {
        build.buffer(examples::vector_of("x", hw::Dtype::fp32, 32));
    }
    build.role("warp", 1);
    for (std::size_t i = 0; i < count; ++i) {
        build.op(examples::make_op(InstructionClass::ld_global, static_cast<std::int64_t>(1 + i)),
                 {examples::lanes(static_cast<mk::Id>(i), mk::Direction::read, mk::Builder::constant(0), 4)});
    }
    build.finish();
    const ItemDemand item = demand_of(kernel);
    REQUIRE(item.buffers.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
        CHECK(item.buffers[i].read_bytes == 128.0 * static_cast<double>(1 + i));
    }
}

namespace {

double latency_of(InstructionClass cls) {
    return gpu().instructions[cls].latency.value();
}

/// `dep`: the op that it waits for, or none.
mk::Id add_fma(mk::Builder& build, mk::Id dep) {
    examples::Draft op = examples::make_op(InstructionClass::fma_f32, 1);
    if (dep >= 0) {
        op.dep_count = 1;
        op.deps[0] = {dep, 0};
    }
    return examples::add_op(build, op);
}

/// Chain of a warp that goes through `make`, ahead of any loop.
template <class Make>
double straight_chain(Make&& make) {
    mk::Kernel kernel;
    kernel.cta = {32, 1, 1};
    mk::Builder build(kernel);
    build.role("warp", 1);
    make(build);
    build.finish();
    return demand_of(kernel).before.chain.value();
}

}  // namespace

TEST_CASE("an op waits for its slowest dep, whichever it is, in a body of any length") {
    const double serial = 20.0 * latency_of(InstructionClass::mufu);
    for (int slow = -1; slow < 10; ++slow) {
        const double chain = straight_chain([slow](mk::Builder& build) {
            for (int i = 0; i < 1000; ++i) build.op(examples::make_op(InstructionClass::fma_f32));
            for (int i = 0; i < 10; ++i) {
                mk::Op op = examples::make_op(InstructionClass::mufu, 20);
                op.chain = i == slow ? 20 : 1;
                build.op(op);
            }
            build.op(examples::make_op(InstructionClass::fma_f32, 1000));
            for (int i = 0; i < 10; ++i) build.dep({1000 + i, 0});
        });
        // The unit holds each of the 200 instructions for 8 cycles; then 1000 issue behind what is waited
        // for.
        const double issued = 1000.0 + 200.0 * 8.0 + 1000.0;
        CHECK(chain >= (slow < 0 ? issued : 1000.0 + 20.0 * 8.0 * (slow + 1) + serial - 8.0 + 1000.0) - 20.0);
        CHECK(chain <= issued + serial + 50.0);
        if (slow == 9) CHECK(chain >= issued + serial - 20.0);
    }
}

TEST_CASE("branches in a row cost as many times one branch, though each waits for what stands before it") {
    const double latency = latency_of(InstructionClass::fma_f32);
    for (const int branches : {1, 2, 3, 8, 40}) {
        CAPTURE(branches);
        // Each branch waits for the op before all branches, or for the branch before.
        for (const bool in_turn : {false, true}) {
            CAPTURE(in_turn);
            const double chain = straight_chain([&](mk::Builder& build) {
                const mk::Id first = add_fma(build, mk::no_id);
                mk::Id last = first;
                for (int i = 0; i < branches; ++i) {
                    build.branch({1.0, 32.0});
                    last = add_fma(build, in_turn ? last : first);
                    last = add_fma(build, last);
                    build.end();
                }
            });
            CHECK(chain == doctest::Approx((1.0 + 2.0 * branches) * latency));
        }
    }
}

TEST_CASE("an op in a branch does not wait for an op that was ready before the branch began") {
    const double latency = latency_of(InstructionClass::fma_f32);
    const auto with = [&](bool depends) {
        return straight_chain([&](mk::Builder& build) {
            const mk::Id first = add_fma(build, mk::no_id);
            mk::Id last = first;
            for (int i = 0; i < 20; ++i) last = add_fma(build, last);
            build.branch({1.0, 32.0});
            const mk::Id in_branch = add_fma(build, last);
            build.branch({1.0, 32.0});
            add_fma(build, depends ? first : in_branch);
            build.end();
            build.end();
        });
    };
    CHECK(with(false) == doctest::Approx(23.0 * latency));
    // The op in the inner branch goes right behind the op in the outer one.
    CHECK(with(true) < 22.5 * latency);
    CHECK(with(true) > 22.0 * latency);
}

TEST_CASE("a branch that a share of the warps take costs that share of its chain, nested ones the product") {
    const double latency = latency_of(InstructionClass::fma_f32);
    for (const double share : {0.125, 0.5, 0.75, 1.0}) {
        for (const int branches : {1, 2, 7}) {
            CAPTURE(share);
            CAPTURE(branches);
            const auto chain_of = [&](double outer) {
                return straight_chain([&](mk::Builder& build) {
                    mk::Id last = mk::no_id;
                    for (int i = 0; i < branches; ++i) {
                        if (outer < 1.0) build.branch({outer, 32.0});
                        build.branch({share, 32.0});
                        for (int op = 0; op < 5; ++op) last = add_fma(build, last);
                        build.end();
                        if (outer < 1.0) build.end();
                    }
                });
            };
            CHECK(chain_of(1.0) == doctest::Approx(branches * share * 5.0 * latency));
            CHECK(chain_of(0.5) == doctest::Approx(branches * 0.5 * share * 5.0 * latency));
        }
    }
    // What stands behind waits for the share, too.
    const double behind = straight_chain([&](mk::Builder& build) {
        build.branch({0.5, 32.0});
        const mk::Id first = add_fma(build, mk::no_id);
        const mk::Id second = add_fma(build, first);
        build.end();
        add_fma(build, second);
    });
    CHECK(behind == doctest::Approx(0.5 * 2.0 * latency + latency));
}

TEST_CASE("a loop waits for what stands before it once, not in each trip") {
    const auto loop_of = [](int dep, bool in_branch) {
        mk::Kernel kernel;
        kernel.cta = {32, 1, 1};
        mk::Builder build(kernel);
        const mk::Id x = build.buffer(examples::vector_of("x", hw::Dtype::fp32, 4096));
        build.role("warp", 1);
        examples::Draft load = examples::make_op(InstructionClass::ld_global);
        examples::add_access(load, examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 4));
        const mk::Id loaded = examples::add_op(build, load);
        build.loop(16);
        const mk::Id first = add_fma(build, mk::no_id);
        if (in_branch) build.branch({1.0, 32.0});
        add_fma(build, dep == 0 ? mk::no_id : dep == 1 ? loaded : first);
        if (in_branch) build.end();
        build.end();
        build.finish();
        return demand_of(kernel);
    };
    const double latency = latency_of(InstructionClass::fma_f32);
    for (const bool in_branch : {false, true}) {
        CAPTURE(in_branch);
        const ItemDemand free = loop_of(0, in_branch);
        REQUIRE(free.trips == 16.0);
        REQUIRE(free.before.chain.value() >= 500.0);
        CHECK(loop_of(1, in_branch).loop.chain.value() == free.loop.chain.value());
        CHECK(free.loop.chain.value() < 2.0 * latency);
        // Within a trip the op does wait.
        CHECK(loop_of(2, in_branch).loop.chain.value() == doctest::Approx(2.0 * latency));
        CHECK(loop_of(1, in_branch).before.chain.value() == free.before.chain.value());
    }
}

TEST_CASE("stores of parts of sectors write the lanes' bytes, and send their sectors and one for each line") {
    const auto stored = [](std::int64_t inner, std::int32_t bytes, std::int64_t count) {
        mk::Kernel kernel;
        kernel.cta = {64, 1, 1};
        mk::Builder build(kernel);
        const mk::Id x = build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
        build.role("warps", 2);
        examples::Draft store = examples::make_op(InstructionClass::st_global, count);
        mk::Access access = examples::lanes(x, mk::Direction::write, mk::Builder::constant(0), bytes);
        access.pattern = mk::PatternKind::stride;
        access.inner_extent = 32;
        access.inner = inner;
        examples::add_access(store, access);
        examples::add_op(build, store);
        build.finish();
        return demand_of(kernel);
    };
    struct Case {
        std::int64_t inner;  // elements of four bytes
        std::int32_t bytes;
        double sent;
    };
    for (const Case& of : {Case{32, 4, (32 + 32) * 32.0}, Case{8, 4, (32 + 8) * 32.0},
                           Case{4, 4, (16 + 4) * 32.0}, Case{2, 4, (8 + 2) * 32.0},
                           Case{32, 16, (32 + 32) * 32.0}, Case{1, 4, 128.0}, Case{4, 16, 512.0}}) {
        CAPTURE(of.inner);
        CAPTURE(of.bytes);
        const ItemDemand item = stored(of.inner, of.bytes, 3);
        const double instructions = 2.0 * 3.0;
        CHECK(item.buffers[0].written_bytes == instructions * 32.0 * of.bytes);
        CHECK(item.buffers[0].sent_bytes == instructions * of.sent);
        CHECK(item.before.sent_bytes == instructions * of.sent);
    }
    const auto port = [](const ItemDemand& item) {
        return item.before.demand[machine::Server::crossbar_write].value();
    };
    CHECK(port(stored(32, 4, 3)) == doctest::Approx(16.0 * port(stored(1, 4, 3))));
}

TEST_CASE("listed stores in part send a sector more for each line, whatever their lanes' order") {
    mk::Kernel kernel;
    kernel.cta = {32, 1, 1};
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
    build.role("warp", 1);
    examples::Draft store = examples::make_op(InstructionClass::st_global, 1);
    mk::Access access = examples::lanes(x, mk::Direction::write, mk::Builder::constant(0), 4);
    access.pattern = mk::PatternKind::listed;
    access.pool_length = 64;
    examples::add_access(store, access);
    examples::add_op(build, store);
    build.finish();
    // Every lane in a sector of its own, and two lanes in each sector.
    for (std::int64_t lane = 0; lane < 32; ++lane) kernel.address_list.push_back((lane * 7 % 32) * 8);
    for (std::int64_t lane = 0; lane < 32; ++lane) kernel.address_list.push_back((lane * 5 % 32) * 4);
    const ItemDemand item = demand_of(kernel);
    CHECK(item.buffers[0].written_bytes == 128.0);
    CHECK(item.buffers[0].sent_bytes == doctest::Approx(32.0 * 0.5 * ((32.0 + 8.0) + (16.0 + 4.0))));
}

TEST_CASE("a bulk copy in a branch moves its box once for each warp that takes the branch") {
    const auto received = [](double taking, bool branches, InstructionClass cls) {
        mk::Kernel kernel;
        kernel.cta = {128, 1, 1};
        mk::Builder build(kernel);
        const mk::Id x = build.buffer(examples::matrix("x", hw::Dtype::bf16, 1024, 1024));
        build.role("warps", 4);
        if (branches) build.branch({taking, 1.0});
        examples::Draft copy = examples::make_op(cls);
        examples::add_access(
            copy, examples::box(x, mk::Direction::read, {mk::Builder::constant(0), mk::Builder::constant(0)},
                                {64, 16}));
        examples::add_op(build, copy);
        if (branches) build.end();
        build.finish();
        return demand_of(kernel);
    };
    const double box = 2.0 * 64 * 16;
    for (const auto cls : {InstructionClass::cp_async_bulk_tensor, InstructionClass::cp_async_bulk}) {
        for (const int warps : {1, 2, 3}) {
            CAPTURE(warps);
            const ItemDemand item = received(0.25 * warps, true, cls);
            CHECK(item.before.received_bytes == doctest::Approx(warps * box));
            CHECK(item.buffers[0].read_bytes == doctest::Approx(warps * box));
            CHECK(item.buffers[0].fetched_bytes == doctest::Approx(warps * box));
        }
        // Warps that all come move their box together.
        CHECK(received(1.0, false, cls).before.received_bytes == doctest::Approx(box));
        CHECK(received(1.0, true, cls).before.received_bytes == doctest::Approx(box));
    }
    // So does a bulk store that elected threads ask for.
    const auto sent = [&](double taking) {
        mk::Kernel kernel;
        kernel.cta = {128, 1, 1};
        mk::Builder build(kernel);
        const mk::Id x = build.buffer(examples::matrix("x", hw::Dtype::bf16, 1024, 1024));
        build.role("warps", 4);
        build.branch({taking, 1.0});
        examples::Draft store = examples::make_op(InstructionClass::cp_async_bulk_store);
        examples::add_access(store,
                             examples::box(x, mk::Direction::write,
                                           {mk::Builder::constant(0), mk::Builder::constant(0)}, {64, 16}));
        examples::add_op(build, store);
        build.end();
        build.finish();
        return demand_of(kernel).buffers[0].written_bytes;
    };
    CHECK(sent(0.25) == doctest::Approx(box));
    CHECK(sent(0.5) == doctest::Approx(2.0 * box));
    // Loads of a box are shared out among the warps that a branch lets through.
    CHECK(received(0.25, true, InstructionClass::ld_global).before.received_bytes ==
          doctest::Approx(0.25 * box));
}

TEST_CASE("time at the banks counts as time in passes where one access takes several") {
    const auto banks = [](std::int64_t first, std::int64_t second) {
        mk::Kernel kernel;
        kernel.cta = {64, 1, 1};
        mk::Builder build(kernel);
        mk::Buffer words = examples::vector_of("words", hw::Dtype::fp32, 4096);
        words.space = mk::Space::shared;
        const mk::Id x = build.buffer(words);
        build.role("warps", 2);
        for (const std::int64_t inner : {first, second}) {
            examples::Draft load = examples::make_op(InstructionClass::ld_shared, 3);
            mk::Access access = examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 4);
            access.pattern = mk::PatternKind::stride;
            access.inner_extent = 32;
            access.inner = inner;
            examples::add_access(load, access);
            examples::add_op(build, load);
        }
        build.finish();
        return demand_of(kernel).before;
    };
    const auto busy = [](const machine::Part& part) { return part.demand[machine::Server::shared].value(); };
    CHECK(busy(banks(1, 1)) == 2.0 * 6.0);
    CHECK(banks(1, 1).in_passes.value() == 0.0);
    CHECK(busy(banks(1, 8)) == 2.0 * 3.0 * (1.0 + 8.0));
    CHECK(banks(1, 8).in_passes.value() == 2.0 * 3.0 * 8.0);
    CHECK(banks(2, 8).in_passes.value() == busy(banks(2, 8)));
}

TEST_CASE("code behind a plain loop does not wait for the loop's results once more") {
    CHECK(rc::check("additions behind a loop of loads", [] {
        const auto trips = *rc::gen::inRange<std::int64_t>(1, 50);
        const auto chain = *rc::gen::inRange<std::int64_t>(1, 50);
        const auto latency = hw::Cycles(*rc::gen::inRange(300, 2000));
        const auto with_loop = [&](bool loops) {
            mk::Kernel kernel;
            kernel.name = "behind";
            kernel.cta = {64, 1, 1};
            mk::Builder build(kernel);
            const mk::Id x = build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
            build.role("warps", 2);
            mk::Id value = mk::no_id;
            if (loops) {
                build.loop(trips);
                examples::Draft load = examples::make_op(InstructionClass::ld_global);
                examples::add_access(load,
                                     examples::lanes(x, mk::Direction::read,
                                                     build.index(0, {mk::term(mk::Variable::loop, 64)}), 4));
                value = examples::add_op(build, load);
                examples::add_op(build, examples::make_op(InstructionClass::add_f32, 1, {{value, 0}}));
                build.end();
            }
            examples::Draft first = examples::make_op(InstructionClass::add_f32, chain);
            first.chain = chain;
            if (loops) {
                first.dep_count = 1;
                first.deps[0] = {value, 0};
            }
            const mk::Id sum = examples::add_op(build, first);
            examples::add_op(build, examples::make_op(InstructionClass::mad_s32, 1, {{sum, 0}}));
            build.finish();
            mk::check(kernel);
            return item_demand(kernel, gpu(), latency);
        };
        const ItemDemand item = with_loop(true);
        const ItemDemand alone = with_loop(false);
        RC_ASSERT(item.loop.chain > latency);
        RC_ASSERT(near(item.after.chain.value(), alone.before.chain.value()));
        // What stands behind waits for its own results.
        const hw::Cycles addition = gpu().instructions[InstructionClass::add_f32].latency;
        const hw::Cycles product = gpu().instructions[InstructionClass::mad_s32].latency;
        RC_ASSERT(item.after.chain.value() >=
                  addition.value() * static_cast<double>(chain) + product.value());
    }));
}

namespace {

/// One item of 32 in eight columns; its warp stores or adds to words of its place along m, and along n too if
/// `own`. A fence or an addition follows.
mk::Kernel stores_and_waits(InstructionClass stores, bool own, InstructionClass waits) {
    mk::Kernel kernel;
    kernel.name = "ordered";
    kernel.grid = {32, 1, 1};
    kernel.cta = {32, 1, 1};
    kernel.schedule.tiles = {4, 8, 1, 1};
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(examples::vector_of("x", hw::Dtype::fp32, 1 << 12));
    build.role("warp", 1);
    examples::Draft store = examples::make_op(stores);
    store.returns = false;
    const bool plain = stores == InstructionClass::st_global;
    mk::Index place = build.begin(0);
    build.add(place, mk::Variable::tile, 32, 0);
    if (own) build.add(place, mk::Variable::tile, 128, 1);
    examples::add_access(store,
                         examples::lanes(x, plain ? mk::Direction::write : mk::Direction::atomic, place, 4));
    const mk::Id first = examples::add_op(build, store);
    const bool needs = waits != InstructionClass::fence;
    examples::add_op(build, needs ? examples::make_op(waits, 1, {{first, 0}}) : examples::make_op(waits));
    build.finish();
    mk::check(kernel);
    return kernel;
}

}  // namespace

TEST_CASE("a fence waits until stores have arrived, and not for additions that go ahead of it") {
    const auto chain = [](InstructionClass stores) {
        return demand_of(stores_and_waits(stores, true, InstructionClass::fence)).before.chain.value();
    };
    const double fence = gpu().instructions[InstructionClass::fence].latency.value();
    CHECK(chain(InstructionClass::st_global) >= fence + gpu().latency.store.value());
    CHECK(chain(InstructionClass::red_global) >= fence);
    CHECK(chain(InstructionClass::red_global) < fence + 0.1 * gpu().latency.store.value());
}

TEST_CASE("of the items that add to the same places, one waits for DRAM") {
    const hw::Cycles dram(3000.0);
    const auto chain = [&dram](bool own) {
        const mk::Kernel kernel =
            stores_and_waits(InstructionClass::atom_global, own, InstructionClass::add_f32);
        return item_demand(kernel, gpu(), dram).before.chain.value();
    };
    // Eight items share the places that do not depend on n.
    CHECK(
        near(chain(true) - chain(false), (1.0 - 1.0 / 8.0) * (dram.value() - gpu().latency.l2_far.value())));
}

TEST_CASE("warps that ask for the same lines together wait together, and those behind a wait do not") {
    // The record says that all sectors have been touched before, as near as can be.
    const auto chain_of = [](const std::string& before, const std::string& deps) {
        const mk::Kernel kernel = mk::parse_text(
            "kernel \"k\"\n  grid 132 1 1\n  cta 256 1 1\n  schedule one_per_cta tiles=132\n"
            "  buffer \"b\" dtype=int8 extent=1048576\n"
            "  reuse 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n  role \"r\" warps=8\n" +
            before + "    op 1 ld_global" + deps +
            "\n      access read b contiguous origin={128*tile.0} bytes=4 reuse=1\n    op 2 add_f32 deps=1\n"
            "  end\nend\n");
        return item_demand(kernel, gpu(), hw::Cycles(500.0)).before.chain.value();
    };
    const std::string first =
        "    op 0 ld_global\n      access read b contiguous origin={128*tile.0} bytes=4\n";
    const double add = gpu().instructions[InstructionClass::add_f32].latency.value();
    // Nothing of the buffer is there: the warps wait for a miss.
    CHECK(chain_of("    op 0 move\n", "") > 500.0);
    // A load of the same batch is on its way; one that has been waited for has brought the lines.
    const double together = chain_of(first, "");
    const double behind = chain_of(first, " deps=0");
    CHECK(together > 500.0);
    CHECK(together < 600.0 + add);
    CHECK(behind > 500.0 + gpu().latency.l1.value());
    CHECK(behind < together + gpu().latency.l1.value() + 2.0 * add);
}

namespace {

/// Kernel text of one CTA of eight warps an SM. The body loads from buffer `a` and adds; in a loop of 64
/// trips unless `once`. `reuse` is a record that the access names.
std::string loading_text(const std::string& access, const std::string& reuse, bool once,
                         const std::string& further = "") {
    return "kernel \"k\"\n  grid 132 1 1\n  cta 256 1 1\n  schedule one_per_cta tiles=132\n"
           "  buffer \"a\" dtype=int8 extent=1073741824\n  buffer \"b\" dtype=int8 extent=1073741824\n" +
           (reuse.empty() ? "" : "  reuse " + reuse + "\n") + "  role \"r\" warps=8\n" +
           (once ? "" : "    loop trips={64}\n") + "    op 0 ld_global\n      access read a " + access +
           "\n    op 1 add_f32 deps=0\n" + further + (once ? "" : "    end\n") + "  end\nend\n";
}

/// A private row beside: 128 bytes in each trip that no other warp reads.
const std::string private_row =
    "    op 2 ld_global deps=1\n"
    "      access read b contiguous origin={65536*tile.0 + 8192*warp + 128*loop.0} bytes=4 cache=cg\n"
    "    op 3 add_f32 deps=2\n";

/// The same shares of sectors and of whole accesses at all distances.
std::string shares_of(double share, double beside = 0.0, double together = 0.0) {
    std::string text;
    for (std::size_t i = 0; i < 2 * mk::Reuse::distances; ++i) text += std::to_string(share) + " ";
    return text + (beside > 0.0 ? "beside=" + std::to_string(beside) : "") +
           (together > 0.0 ? " together=" + std::to_string(together) : "");
}

/// Cycles of one trip, or of the code before the first loop, with waits for both buffers.
double chain_with(const std::string& text, const LoadWaits& of_a, std::int64_t resident,
                  const LoadWaits& of_b = {}) {
    const mk::Kernel kernel = mk::parse_text(text);
    WaitsByBuffer waits(2);
    waits[0] = of_a;
    waits[1] = of_b;
    const ItemDemand item = item_demand(kernel, gpu(), gpu().latency.dram, resident, waits);
    return (kernel.loops.empty() ? item.before.chain : item.loop.chain).value();
}

}  // namespace

TEST_CASE("CTAs that read the same lines in a loop take DRAM's latency a trip, however many share them") {
    const std::string text =
        loading_text("contiguous origin={1024*loop.0 + 128*warp} bytes=4 cache=cg", "", false);
    const double dram = chain_with(text, {1.0, 1.0}, 8);
    const double l2 = chain_with(text, {1.0, 0.0}, 8);
    const double longer = (gpu().latency.dram - gpu().latency.l2_far).value();
    CHECK(dram - l2 >= longer);
    for (const double sharers : {2.0, 10.0, 132.0, 1056.0}) {
        for (const std::int64_t resident : {1, 2, 8}) {
            CAPTURE(sharers);
            CAPTURE(resident);
            // Less what rounds from the L2 differ by.
            const double lag = gpu().l2.round_spread.value() * machine::largest_of_normal(sharers);
            const double chain = chain_with(text, {1.0 / sharers, 1.0}, resident);
            CHECK(chain == doctest::Approx(dram - lag * (1.0 - 1.0 / sharers)));
            CHECK(chain > l2 + 0.5 * (dram - l2));
        }
    }
    // In straight code one of the CTAs of an SM is there at the time.
    const std::string straight = loading_text("contiguous origin={128*warp} bytes=4 cache=cg", "", true);
    const double once_dram = chain_with(straight, {1.0, 1.0}, 8);
    const double once_l2 = chain_with(straight, {1.0, 0.0}, 8);
    for (const std::int64_t resident : {1, 2, 8}) {
        CHECK(chain_with(straight, {0.0, 1.0}, resident) ==
              doctest::Approx(once_l2 + (once_dram - once_l2) / static_cast<double>(resident)));
    }
}

TEST_CASE("private rows beside part CTAs, so that those who follow find their lines in the L2") {
    const std::string shared = "contiguous origin={1024*loop.0 + 128*warp} bytes=4 cache=cg";
    const std::string text = loading_text(shared, "", false, private_row);
    constexpr double sharers = 132.0;
    // Share of the followers' wait that is lost where a CTA brings the share `own` of the rows beside from
    // DRAM.
    const auto lost = [&](double own) {
        const LoadWaits rows{1.0, own};
        const double all = chain_with(text, {1.0, 1.0}, 8, rows);
        const double none = chain_with(text, {0.0, 0.0}, 8, rows);
        const double chain = chain_with(text, {1.0 / sharers, 1.0}, 8, rows);
        return (all - chain) / ((all - none) * (1.0 - 1.0 / sharers));
    };
    const double l2 = gpu().l2.round_spread.value() * machine::largest_of_normal(sharers);
    const double dram = gpu().dram.round_spread.value() * machine::largest_of_normal(sharers);
    const double longer = chain_with(loading_text(shared, "", false), {1.0, 1.0}, 8) -
                          chain_with(loading_text(shared, "", false), {0.0, 0.0}, 8);
    // Rounds of DRAM differ by more than the wait itself.
    REQUIRE(dram > longer);
    CHECK(lost(1.0) == doctest::Approx(1.0));
    // Rows that are as often in the L2 part nobody. In between the spread goes with them.
    CHECK(lost(0.5) == doctest::Approx(l2 / longer));
    CHECK(lost(0.0) == doctest::Approx(l2 / longer));
    CHECK(lost(0.55) == doctest::Approx((0.9 * l2 + 0.1 * dram) / longer));
    CHECK(lost(0.55) < 0.5);
}

TEST_CASE("warps of one CTA that read the same line wait for it as one") {
    // All eight warps read a line of their own in each trip, or all the same.
    const double seven_of_eight = 7.0 / 8.0;
    const std::string same = loading_text("contiguous origin={128*loop.0} bytes=4 reuse=1",
                                          shares_of(seven_of_eight, 0.0, seven_of_eight), false);
    const double miss = gpu().latency.dram.value();
    const double l1 = gpu().latency.l1.value();
    const double add = gpu().instructions[InstructionClass::add_f32].latency.value();
    // No other CTA reads the lines: an eighth of the loads is the CTA's own.
    const double lag = machine::spread_of_round(1.0 / 8.0, gpu()).value() * machine::largest_of_normal(8.0);
    // One of eight warps waits for DRAM, the others until the line is there, less their lag.
    const double chain = chain_with(same, {1.0, 1.0}, 1);
    CHECK(chain > 0.8 * miss);
    CHECK(chain == doctest::Approx(miss - seven_of_eight * lag + add).epsilon(0.01));
    // Each warp walks along a line of its own, which it finds in seven of eight trips.
    const std::string own = loading_text("broadcast origin={1024*warp + 4*loop.0} bytes=4 reuse=1",
                                         shares_of(seven_of_eight), false);
    const double alone = chain_with(own, {1.0, 1.0}, 1);
    CHECK(alone < 0.3 * miss + l1);
    // All walk along the same sector: they are at a new one in one of eight trips, and wait then.
    const std::string slow = loading_text("broadcast origin={4*loop.0} bytes=4 reuse=1",
                                          shares_of(63.0 / 64.0, 0.0, 7.0 / 64.0), false);
    const double together = chain_with(slow, {1.0, 1.0}, 1);
    CHECK(together > l1 + 0.8 * (miss - l1) / 8.0);
    CHECK(together < l1 + 1.2 * (miss - l1) / 8.0 + 2.0 * add);
    // Straight code has no trips in which warps come together at a line that was waited for before.
    const std::string first =
        "    op 2 ld_global deps=1\n      access read a contiguous origin={0} bytes=4 reuse=1\n"
        "    op 3 add_f32 deps=2\n";
    const std::string once = loading_text("contiguous origin={0} bytes=4", shares_of(1.0), true, first);
    const std::string no_second = loading_text("contiguous origin={0} bytes=4", shares_of(1.0), true);
    CHECK(chain_with(once, {1.0, 1.0}, 1) - chain_with(no_second, {1.0, 1.0}, 1) < l1 + 2.0 * add + 8.0);
}

TEST_CASE("a loop waits for DRAM for half of the sectors where the other half came along") {
    const std::string walk = "broadcast origin={8192*warp + 32*loop.0} bytes=4 reuse=1";
    const auto chain = [&](double beside) {
        return chain_with(loading_text(walk, shares_of(0.0, beside), false), {1.0, 1.0}, 1);
    };
    const double dram = chain(0.0);
    const double l2 = chain(1.0);
    CHECK(dram - l2 == doctest::Approx((gpu().latency.dram - gpu().latency.l2_far).value()));
    CHECK(chain(0.5) == doctest::Approx(0.5 * (dram + l2)));
    CHECK(chain(0.75) == doctest::Approx(0.25 * dram + 0.75 * l2));
}

namespace {

/// Chain of a trip of `body` by 8 warps, whose loads find `found` of the executions in the L1 and `together`
/// of all by the warps that ask first.
double trip_of(const std::string& body, double found, double together) {
    std::string shares = "  reuse";
    for (int i = 0; i < 18; ++i) shares += " " + std::to_string(found);
    std::string addresses = "  addresses";
    for (int lane = 0; lane < 32; ++lane) addresses += " " + std::to_string(4 * lane);
    const mk::Kernel kernel = mk::parse_text(
        "kernel \"k\"\n  grid 132 1 1\n  cta 256 1 1\n  schedule one_per_cta tiles=132\n"
        "  buffer \"b\" dtype=int8 extent=1048576\n" +
        addresses + "\n" + shares + (together > 0.0 ? " together=" + std::to_string(together) + "\n" : "\n") +
        "  role \"r\" warps=8\n    loop trips={8}\n" + body + "    end\n  end\nend\n");
    return item_demand(kernel, gpu(), hw::Cycles(500.0)).loop.chain.value();
}

/// A load of bytes beside those of its like, by an address that op 0 has computed.
std::string load_beside(int op) {
    return "      op " + std::to_string(op) +
           " ld_global deps=0\n        access read b listed origin={0} distinct=1048576 pool_length=32 "
           "reuse=1\n";
}

}  // namespace

TEST_CASE("warps that find scattered sectors while these are under way wait like the one that has asked") {
    const std::string body = "      op 0 move\n" + load_beside(1) + "      op 2 add_f32 deps=1\n";
    const double missed = 500.0 - gpu().latency.l1.value();
    const double there = trip_of(body, 0.75, 0.0);
    // The seven of eight that follow are behind the first by what parts warps in a loop.
    const double waits = trip_of(body, 0.75, 0.5) - there;
    CHECK(waits > 0.25 * missed);
    CHECK(waits < 0.5 * missed);
    CHECK(trip_of(body, 0.75, 0.25) - there < waits);
}

TEST_CASE("a warp waits where any of its loads of places side by side has missed") {
    std::string loads = "      op 0 move\n";
    std::string sums;
    for (int i = 1; i <= 4; ++i) {
        loads += load_beside(i);
        sums += "      op " + std::to_string(4 + i) + " add_f32 deps=" + std::to_string(i) + "\n";
    }
    const double missed = 500.0 - gpu().latency.l1.value();
    const double none = trip_of(loads + sums, 1.0, 0.0);
    // Each of the four opens a sector in an eighth of the trips, in different ones.
    const double some = trip_of(loads + sums, 0.875, 0.0) - none;
    CHECK(some > 0.4 * missed);
    CHECK(some < 0.75 * missed);
    // No more than all trips can miss.
    CHECK(trip_of(loads + sums, 0.5, 0.0) - none < 1.4 * missed);
}

TEST_CASE("a loop uses its products where arithmetic needs them, not where a barrier waits for them") {
    const auto uses = [](const std::string& behind, const std::string& place = "") {
        const mk::Kernel kernel = mk::parse_text(
            "kernel \"k\"\n  grid 132 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=132 k_iterations=8\n"
            "  role \"r\" warps=4\n    loop trips={item_end + -1*item_begin}\n"
            "      op 0 mma_sync dtype=bf16 shape=16,8,16\n" +
            (place.empty() ? "      op 1 " + behind + "\n    end\n" : "    end\n    op 1 " + behind + "\n") +
            "  end\nend\n");
        return demand_of(kernel).uses_products;
    };
    CHECK(uses("fma_f32 deps=0"));
    CHECK(uses("mufu deps=0"));
    CHECK_FALSE(uses("fma_f32"));
    CHECK_FALSE(uses("bar_sync deps=0"));
    CHECK_FALSE(uses("mma_sync dtype=bf16 shape=16,8,16 deps=0"));
    CHECK_FALSE(uses("fma_f32 deps=0", "behind the loop"));
}

TEST_CASE(
    "copies are counted where a loop's description leaves their order open, and not where it names it") {
    const auto copies = [](const std::string& overlap) {
        return item_demand(
                   kernel::parse_text(
                       "kernel \"k\"\n  grid 132 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=132\n"
                       "  buffer \"b\" dtype=int8 extent=1048576\n  role \"r\" warps=4\n"
                       "    loop trips={8}" +
                       overlap +
                       "\n      op 0 cp_async count=3\n        access read b contiguous "
                       "origin={2048*loop.0} bytes=16 cache=cg\n    end\n  end\nend\n"),
                   gpu(), gpu().latency.dram)
            .copies;
    };
    CHECK(copies("") == 3.0);
    CHECK(copies(" overlap=1") == 0.0);
}

TEST_CASE("loads keep lines in the L1 while they are under way, copies that pass it by do not") {
    const auto pending = [](const std::string& op) {
        const kernel::Kernel kernel = kernel::parse_text(
            "kernel \"k\"\n  grid 132 1 1\n  cta 128 1 1\n  schedule one_per_cta tiles=132\n"
            "  buffer \"b\" dtype=int8 extent=1048576\n  role \"r\" warps=4\n    op 0 " +
            op + "\n      access read b contiguous bytes=16 cache=cg\n  end\nend\n");
        return item_demand(kernel, gpu(), gpu().latency.dram).before.pending;
    };
    CHECK(hw::Cycles{} < pending("ld_global"));
    CHECK(pending("cp_async").value() == 0.0);
}

TEST_CASE("an item takes no longer than its longest role, also where one of the roles has no loop") {
    // Both do the same before, and the second one has a loop besides; the first goes on behind it.
    const auto item = [](int before, int trips, int after) {
        mk::Kernel kernel;
        mk::Builder build(kernel);
        kernel.cta = {64, 1, 1};
        const auto chain = [&build](int count) {
            mk::Op op;
            op.cls = InstructionClass::fma_f32;
            op.count = op.chain = count;
            build.op(op);
        };
        build.role("unlooped", 1);
        chain(before + after);
        build.role("looped", 1);
        chain(before);
        if (trips > 0) {
            build.loop(trips);
            chain(50);
            build.end();
        }
        chain(1);
        build.finish();
        mk::check(kernel);
        return demand_of(kernel);
    };
    const auto length = [](const ItemDemand& of) {
        return (of.before.chain + of.loop.chain * of.trips + of.after.chain).value();
    };
    // Without a loop in either, the longer role is all there is.
    const double step = length(item(1000, 0, 0)) / 1000.0;
    // The looped role is the longer one: what the other does behind runs beside the loop.
    CHECK(length(item(100, 20, 400)) == doctest::Approx((100 + 20 * 50 + 1) * step).epsilon(0.02));
    // The unlooped role is the longer one.
    CHECK(length(item(100, 4, 1000)) == doctest::Approx((100 + 1000) * step).epsilon(0.02));
}
