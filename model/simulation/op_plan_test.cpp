// Durations of one execution of an op at an SM's units, from instruction costs and shapes.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/op_plan.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/kernel/text.hpp"
#include "model/machine/l1/l1_neighbours.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

using namespace warptime::model;
using namespace warptime::model::simulation;
using kernel::examples::add_access;
using kernel::examples::Draft;
using kernel::examples::make_op;
using warptime::hw::Dtype;
using warptime::hw::InstructionClass;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

/// One role of four warps with a given body. `found`: of reads that come again, as far as these say so.
template <class Write>
kernel::Kernel kernel_of(Write&& write, double found = 0.0) {
    kernel::Kernel kernel;
    kernel::Reuse reuse;
    reuse.whole.fill(found);
    kernel.reuse.push_back(reuse);
    kernel.name = "probe";
    kernel.cta = {128, 1, 1};
    kernel::Builder build(kernel);
    build.role("warps", 4);
    write(build);
    build.finish();
    return kernel;
}

OpPlan plan_of(const Draft& op) {
    const kernel::Kernel kernel = kernel_of([&op](kernel::Builder& b) { kernel::examples::add_op(b, op); });
    return KernelPlan(kernel, gpu(), {}).ops.front();
}

}  // namespace

TEST_CASE("arithmetic takes an issue slot an instruction and its pipe for their intervals") {
    const auto& cost = gpu().instructions[InstructionClass::fma_f32];
    const OpPlan plan = plan_of(make_op(InstructionClass::fma_f32, 64));
    CHECK(plan.instructions == 64.0 * cost.machine.value());
    CHECK(cycles_of(plan.issue) == plan.instructions);
    CHECK(plan.pipe == static_cast<std::size_t>(cost.unit));
    CHECK(cycles_of(plan.pipe_time) >= plan.instructions * cost.interval.value() * 0.999);
    CHECK(plan.flop == 64.0 * 64.0);
    CHECK_FALSE(plan.asynchronous);
    CHECK_FALSE(plan.waits_for_memory);
}

TEST_CASE("a chain waits for each of its links") {
    Draft op = make_op(InstructionClass::fma_f32, 16);
    const OpPlan apart = plan_of(op);
    op.chain = 16;
    const OpPlan chained = plan_of(op);
    CHECK(apart.links == 1);
    CHECK(chained.links == 16);
    CHECK(chained.latency == 16 * apart.latency);
    CHECK(chained.pipe_time == apart.pipe_time);
}

TEST_CASE("a warpgroup's product keeps the tensor core for its FLOP at the dense rate") {
    const OpPlan plan = plan_of(
        kernel::examples::matrix_op(InstructionClass::wgmma, warptime::hw::Dtype::bf16, {64, 256, 16}, 4));
    const double flop_of_warpgroup = 2.0 * 64.0 * 256.0 * 16.0 * 4.0;
    CHECK(4.0 * plan.tensor_flop == doctest::Approx(flop_of_warpgroup));
    const double dense = gpu().tensor.bf16.value();
    CHECK(cycles_of(plan.pipe_time) >= flop_of_warpgroup / dense * 0.999);
    CHECK(cycles_of(plan.pipe_time) <= flop_of_warpgroup / dense * 1.2);
    CHECK(plan.asynchronous);
    CHECK(plan.ports == 0);
}

TEST_CASE("loads bring their own latency, copies free their warp and write shared memory") {
    const auto global = [](InstructionClass cls) {
        const kernel::Kernel kernel = kernel_of([cls](kernel::Builder& build) {
            const kernel::Id in =
                build.buffer(kernel::examples::vector_of("in", warptime::hw::Dtype::fp32, 4096));
            Draft op = make_op(cls);
            add_access(op, kernel::examples::lanes(in, kernel::Direction::read, {}, 16));
            kernel::examples::add_op(build, op);
        });
        const KernelPlan plan(kernel, gpu(), {});
        REQUIRE(plan.accesses.size() == 1);
        CHECK(plan.accesses[0].reads);
        CHECK_FALSE(plan.accesses[0].writes);
        CHECK(plan.loads);
        return plan.ops.front();
    };
    const OpPlan load = global(InstructionClass::ld_global);
    CHECK(load.waits_for_memory);
    CHECK(load.latency == 0);
    CHECK_FALSE(load.asynchronous);
    CHECK_FALSE(load.copies);
    const OpPlan copy = global(InstructionClass::cp_async);
    CHECK(copy.asynchronous);
    CHECK(copy.copies);
    CHECK_FALSE(copy.bulk);
}

TEST_CASE("lanes that meet in a bank take turns at the banks and on the path to the banks") {
    const auto words_apart = [](InstructionClass cls, std::int64_t words) {
        const kernel::Kernel kernel = kernel_of([&](kernel::Builder& b) {
            kernel::Buffer table = kernel::examples::vector_of("table", Dtype::int32, 4096);
            table.space = kernel::Space::shared;
            const bool stores = cls == InstructionClass::st_shared;
            kernel::Access access = kernel::examples::lanes(
                b.buffer(table), stores ? kernel::Direction::write : kernel::Direction::read,
                kernel::Builder::constant(0), 4);
            access.pattern = kernel::PatternKind::stride;
            access.inner = words;
            Draft op = make_op(cls);
            add_access(op, access);
            kernel::examples::add_op(b, op);
        });
        return KernelPlan(kernel, gpu(), {}).ops.front();
    };
    for (const std::int64_t words : {1, 2, 8, 32}) {
        CAPTURE(words);
        const OpPlan load = words_apart(InstructionClass::ld_shared, words);
        const auto turns = static_cast<double>(words);
        const double path = gpu().shared.pass_interval.value() * turns;
        CHECK(cycles_of(load.shared) == doctest::Approx(turns));
        CHECK(cycles_of(load.pipe_time) >= path);
        CHECK(cycles_of(load.passed_on) == 0.0);
        // A store leaves the path to its warp's next instruction as soon as it queues there.
        const OpPlan store = words_apart(InstructionClass::st_shared, words);
        CHECK(cycles_of(store.shared) == doctest::Approx(turns));
        CHECK(cycles_of(store.pipe_time - store.passed_on) ==
              doctest::Approx(gpu().instructions[InstructionClass::st_shared].interval.value()));
    }
}

TEST_CASE("completion times are kept as far back as somebody asks for them") {
    const kernel::Kernel kernel = kernel_of([](kernel::Builder& build) {
        build.loop(8);
        const kernel::Id first = kernel::examples::add_op(build, make_op(InstructionClass::fma_f32));
        kernel::examples::add_op(build, make_op(InstructionClass::fma_f32, 1, {{first, 3}}));
        build.end();
    });
    const KernelPlan plan(kernel, gpu(), {});
    CHECK(plan.ops[0].kept == 4);
    CHECK(plan.ops[1].kept == 1);
    CHECK(plan.ops[1].history == 5);
    CHECK(plan.history_size == 7);
}

TEST_CASE("a share of the loads of constants waits for a line, by the lines that its addresses begin") {
    const auto plan_with = [](double missed, int count) {
        const kernel::Kernel kernel = kernel_of(
            [&](kernel::Builder& build) {
                kernel::Buffer table = kernel::examples::vector_of("table", Dtype::int32, 1 << 16);
                table.space = kernel::Space::constant;
                kernel::Access access = kernel::examples::lanes(build.buffer(table), kernel::Direction::read,
                                                                kernel::Builder::constant(0), 4);
                access.pattern = kernel::PatternKind::broadcast;
                access.reuse = 1;
                Draft op = make_op(InstructionClass::ld_constant, count);
                add_access(op, access);
                kernel::examples::add_op(build, op);
            },
            1.0 - missed);
        return KernelPlan(kernel, gpu(), {}).ops.front();
    };
    CHECK(plan_with(0.0, 1).constants_missed == 0.0);
    CHECK(plan_with(0.125, 1).constants_missed == doctest::Approx(0.125));
    CHECK(plan_with(0.125, 4).constants_missed == doctest::Approx(0.5));
    CHECK(plan_with(0.125, 64).constants_missed == 1.0);
    const OpPlan plan = plan_with(0.125, 4);
    const double found = gpu().instructions[InstructionClass::ld_constant].latency.value();
    CHECK(cycles_of(plan.constants_wait) == doctest::Approx(gpu().latency.constant.value() - found));
    const auto& l1 = gpu().l1;
    CHECK(cycles_of(plan.constants) ==
          doctest::Approx(4.0 * (l1.constant_interval.value() + 0.125 * l1.constant_fill.value())));
}

TEST_CASE("of lines that other CTAs have brought, scattered ones are found one by one and rows together") {
    // 1320 CTAs, ten an SM, all of which read the same.
    std::string lanes;
    for (int lane = 0; lane < 32; ++lane) lanes += " " + std::to_string(lane % 4 * 2048);
    const auto hits_of = [&](const std::string& access) {
        CAPTURE(access);
        const kernel::Kernel kernel = kernel::parse_text(
            "kernel \"k\"\n  grid 1320 1 1\n  cta 256 1 1\n  resources registers=32\n"
            "  schedule one_per_cta tiles=1320\n  buffer \"b\" dtype=int32 extent=8192\n  addresses" +
            lanes +
            "\n"
            "  role \"r\" warps=8\n    op 0 ld_global\n      access read b " +
            access + "\n  end\nend\n");
        const machine::Neighbours neighbours(kernel, gpu());
        const KernelPlan plan(kernel, gpu(), {});
        REQUIRE(plan.accesses.size() == 1);
        REQUIRE(neighbours.found_at_once(0) > 0.0);
        REQUIRE(neighbours.found_at_once(0) < 1.0);
        return std::array{plan.accesses[0].hits, plan.accesses[0].all_hits, neighbours.found(0),
                          neighbours.found_at_once(0)};
    };
    const auto rows = hits_of("contiguous origin={128*warp} bytes=16");  // four lines
    CHECK(rows[0] == doctest::Approx(rows[2]));
    CHECK(rows[1] == doctest::Approx(rows[3]));
    const auto apart = hits_of("listed origin={0} distinct=8192 pool_length=32 bytes=4");
    CHECK(apart[0] == doctest::Approx(apart[2]));
    CHECK(apart[1] == doctest::Approx(std::pow(apart[3], 4.0)));  // its 32 lanes fall on four lines
}

TEST_CASE("a type that the tensor cores do not multiply is named") {
    const Draft op =
        kernel::examples::matrix_op(InstructionClass::wgmma, warptime::hw::Dtype::int64, {64, 64, 16}, 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(plan_of(op)), doctest::Contains("int64"), warptime::Error);
}
