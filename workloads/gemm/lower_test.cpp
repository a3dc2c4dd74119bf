// From a product and a tiling to kernels: schedule, grid, splits, work and demand.
// The demand equals that of the reference walk.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/lower.hpp"

#include "hw/error.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/text.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

using namespace warptime::workloads::gemm;
using namespace fixture;
namespace analytical = warptime::model::analytical;
namespace machine = warptime::model::machine;

namespace {

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * (1.0 + std::abs(b));
}

/// FLOP of all whole tiles that cover a product.
double padded_flop(const Problem& p, const Config& c) {
    return 2.0 * static_cast<double>(ceil_div(p.m, c.cta_m) * c.cta_m) *
           static_cast<double>(ceil_div(p.n, c.cta_n) * c.cta_n) *
           static_cast<double>(ceil_div(p.k, c.cta_k) * c.cta_k) * static_cast<double>(p.batch);
}

}  // namespace

TEST_CASE("one item a tile, one CTA an item") {
    const mk::Program program = lowered(problem_of(1000, 2000, 500, 3), tile_of(128, 256, 64));
    REQUIRE(program.kernel_count == 1);
    const mk::Kernel& kernel = program.kernels[0];
    CHECK(kernel.schedule.tiles == std::array<std::int64_t, 4>{8, 8, 3, 1});
    CHECK(kernel.schedule.k_iterations == 8);
    CHECK(kernel.grid.volume() == 192);
    CHECK(kernel.cluster.volume() == 1);
}

TEST_CASE("persistent kernels fill the chip and no more") {
    Config c = tile_of(128, 128, 64);
    c.schedule = mk::ScheduleKind::static_stride;
    const mk::Program large = lowered(problem_of(8192, 8192, 512), c);
    const auto sms = static_cast<std::int64_t>(gpu().sm.count.value());
    CHECK(large.kernels[0].grid.x % sms == 0);
    CHECK(large.kernels[0].grid.x < large.kernels[0].schedule.item_count());
    CHECK(lowered(problem_of(128, 256, 512), c).kernels[0].grid.x == 2);
    c.max_ctas = 100;
    CHECK(lowered(problem_of(8192, 8192, 512), c).kernels[0].grid.x == 100);
    c.cluster_m = 2;
    c.max_ctas = 101;
    const mk::Kernel clustered = lowered(problem_of(8192, 8192, 512), c).kernels[0];
    CHECK(clustered.grid.x == 100);
    CHECK(clustered.cluster.volume() == 2);
}

TEST_CASE("tiles are padded to whole clusters") {
    Config c = tile_of(128, 128, 64);
    c.cluster_m = 2;
    c.cluster_n = 4;
    const mk::Kernel kernel = lowered(problem_of(128 * 3, 128 * 5, 64), c).kernels[0];
    CHECK(kernel.schedule.tiles == std::array<std::int64_t, 4>{4, 8, 1, 1});
}

TEST_CASE("split-K into a workspace adds its reduction, which reads what was written and writes C") {
    Problem p = problem_of(300, 200, 2048, 2);
    Config c = tile_of(64, 64, 64);
    c.split_k = 4;
    const mk::Program program = lowered(p, c);
    REQUIRE(program.kernel_count == 2);
    REQUIRE(program.steps.size() == 2);
    CHECK(program.kernels[0].schedule.item_count() == 5 * 4 * 2 * 4);
    const mk::Kernel& reduction = program.kernels[1];
    const double outputs = 300.0 * 200 * 2;
    CHECK(reduction.buffers[0].before == mk::Before::warm);
    CHECK(reduction.buffers[0].elements() == 4 * 300 * 200 * 2);
    Moved moved(reduction);
    for (std::int64_t i = 0; i < reduction.schedule.item_count(); ++i) {
        const std::array<mk::WorkItem, 1> item{item_at(reduction, i)};
        mk::walk(reduction, item, moved);
    }
    CHECK(moved.written[1] == outputs * 2);
    // A warp that begins at a row's last 32 columns reads on into the next row.
    CHECK(moved.read[0] >= outputs * 4 * 4);
    CHECK(moved.read[0] <= outputs * 4 * 4 * 224 / 200 * 304 / 300);
}

TEST_CASE("more splits than k-iterations are cut to those, and one split writes C itself") {
    Config c = tile_of(64, 64, 64);
    c.split_k = 4;
    const mk::Program one = lowered(problem_of(128, 128, 64), c);
    REQUIRE(one.kernel_count == 1);
    CHECK(moved_by(one.kernels[0]).written[2] == 128.0 * 128 * 2);
    const mk::Program two = lowered(problem_of(128, 128, 128), c);
    REQUIRE(two.kernel_count == 2);
    CHECK(two.kernels[0].schedule.split_k == 2);
    CHECK(two.kernels[0].buffers[3].elements() == two.kernels[1].buffers[0].elements());
}

TEST_CASE("atomic split-K adds into C without a second kernel") {
    Config c = tile_of(64, 64, 64);
    c.split_k = 4;
    c.reduction = Reduction::atomic;
    const mk::Program program = lowered(problem_of(256, 256, 2048), c);
    CHECK(program.kernel_count == 1);
    CHECK(program.kernels[0].schedule.item_count() == 16 * 4);
    bool atomic = false;
    for (const mk::Access& access : program.kernels[0].accesses) {
        atomic = atomic || access.direction == mk::Direction::atomic;
    }
    CHECK(atomic);
}

TEST_CASE("every lowering passes the checks, reads back from its text, and runs to its end") {
    CHECK(rc::check("random products and tilings on three GPUs", [] {
        const Problem p = any_problem();
        const Config c = any_config();
        const auto id = *rc::gen::element<std::string>("h200-sxm", "a100-sxm-80gb", "l40s");
        mk::Program program;
        try {
            lower(p, c, gpu(id), program);
        } catch (const warptime::Error& error) {
            RC_ASSERT(!error.parameter().empty());
            RC_ASSERT(!error.expected().empty());
            RC_DISCARD("refused");
        }
        mk::check(program);
        const mk::Kernel& kernel = program.kernels[0];
        RC_ASSERT(mk::parse_text(mk::to_text(kernel)) == kernel);
        const mk::WalkTotals walk = mk::walk_totals(kernel, item_at(kernel, 0));
        RC_ASSERT(walk.all_instructions() > 0.0);
        RC_ASSERT(kernel.grid.volume() % kernel.cluster.volume() == 0);
        RC_ASSERT(kernel.grid.volume() <= kernel.schedule.item_count());
        std::int32_t warps = 0;
        for (const mk::Role& role : kernel.roles) {
            warps += role.warps * role.instances;
        }
        RC_ASSERT(warps * 32 == kernel.cta.volume());
        for (const mk::Op& op : kernel.ops) {
            RC_ASSERT(gpu(id).instructions[op.cls].supported);
        }
    }));
}

TEST_CASE("matrix instructions do the work of whole tiles") {
    CHECK(rc::check("FLOP of the walk over all items", [] {
        Problem p =
            problem_of(*rc::gen::inRange(1, 300), *rc::gen::inRange(1, 300), *rc::gen::inRange(1, 600));
        p.a = *rc::gen::element(Dtype::bf16, Dtype::fp8);
        p.b = *rc::gen::element(Dtype::bf16, Dtype::fp8);
        Config c = tile_of(pick({64, 128}), pick({16, 64, 128, 256}), pick({32, 64, 128}));
        c.stages = 2;
        c.mma = *rc::gen::element(MatrixInstruction::wgmma, MatrixInstruction::mma_sync);
        const bool wgmma = c.mma == MatrixInstruction::wgmma;
        c.specialization = wgmma ? *rc::gen::element(Specialization::none, Specialization::cooperative,
                                                     Specialization::pingpong)
                                 : Specialization::none;
        c.warps = c.specialization == Specialization::pingpong ||
                          (c.specialization == Specialization::cooperative && c.cta_m == 128)
                      ? 8
                      : 4;
        const mk::Program program = lowered(p, c);
        const mk::Kernel& kernel = program.kernels[0];
        double flop = 0.0;
        for (std::int64_t i = 0; i < kernel.schedule.item_count(); ++i) {
            flop += mk::walk_totals(kernel, item_at(kernel, i)).matrix_flop;
        }
        RC_ASSERT(near(flop, padded_flop(p, c)));
    }));
}

TEST_CASE("operands of two types are multiplied as the wider one, whichever it is") {
    const auto multiplied = [](Dtype a, Dtype b, MatrixInstruction mma) {
        Problem p = problem_of(256, 256, 512);
        p.a = a;
        p.b = b;
        Config c = tile_of(128, 128, 64);
        c.stages = 2;
        c.warps = 4;
        c.mma = mma;
        const mk::Program program = lowered(p, c);
        for (const mk::Op& op : program.kernels[0].ops) {
            if (op.cls == mk::InstructionClass::wgmma || op.cls == mk::InstructionClass::mma_sync) {
                return op.dtype;
            }
        }
        return Dtype::b1;
    };
    for (const auto mma : {MatrixInstruction::wgmma, MatrixInstruction::mma_sync}) {
        CHECK(multiplied(Dtype::fp8, Dtype::bf16, mma) == Dtype::bf16);
        CHECK(multiplied(Dtype::bf16, Dtype::int8, mma) == Dtype::bf16);
        CHECK(multiplied(Dtype::tf32, Dtype::bf16, mma) == Dtype::tf32);
        CHECK(multiplied(Dtype::fp8, Dtype::fp8, mma) == Dtype::fp8);
    }
}

TEST_CASE("the engine's demand is what the walk of an interior item counts") {
    CHECK(rc::check("instructions, FLOP and bytes", [] {
        Config c = any_config();
        c.split_k = 1;
        c.schedule = mk::ScheduleKind::one_per_cta;
        c.cluster_m = c.cluster_n = 1;
        // Whole tiles, rows of whole sectors, and more iterations than stages.
        Problem p = problem_of(c.cta_m * *rc::gen::inRange(1, 20), 32 * c.cta_n * *rc::gen::inRange(1, 20),
                               32 * c.cta_k * *rc::gen::inRange(1, 8));
        p.m *= 32;
        p.a_major = *rc::gen::element(Major::k, Major::other);
        p.b_major = *rc::gen::element(Major::k, Major::other);
        p.a = p.b = p.out = *rc::gen::element(Dtype::bf16, Dtype::fp8, Dtype::fp32);
        const auto& on = gpu(*rc::gen::element<std::string>("h200-sxm", "a100-sxm-80gb", "l40s"));
        mk::Program program;
        try {
            lower(p, c, on, program);
        } catch (const warptime::Error&) {
            RC_DISCARD("refused");
        }
        const mk::Kernel& kernel = program.kernels[0];
        const mk::WorkItem item = item_at(kernel, 0);
        const mk::WalkTotals walk = mk::walk_totals(kernel, item);
        Moved moved(kernel);
        mk::walk(kernel, std::span<const mk::WorkItem>(&item, 1), moved);
        const auto demand = analytical::item_demand(kernel, on, warptime::hw::Cycles(500.0));
        const auto total = [&](double machine::Part::*field) {
            return demand.total([field](const machine::Part& part) { return part.*field; });
        };
        double instructions = 0.0;
        for (std::size_t i = 0; i < walk.instructions.size(); ++i) {
            instructions += walk.instructions[i] * on.instructions.costs[i].machine.value();
        }
        RC_ASSERT(near(total(&machine::Part::instructions), instructions));
        RC_ASSERT(near(total(&machine::Part::tensor_flop), walk.matrix_flop));
        // All lanes read the scales of fp8; the L1 serves a part of these reads.
        double scales = 0.0;
        for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
            scales += kernel.buffers[i].name == mk::Name("scales") ? moved.read[i] : 0.0;
        const double received = total(&machine::Part::received_bytes);
        const double operands = moved.read[0] + moved.read[1];
        RC_ASSERT(near(received, operands) || (received > operands && received <= operands + scales));
        RC_ASSERT(near(total(&machine::Part::sent_bytes), moved.written[2]));
        RC_ASSERT(near(demand.buffers[0].read_bytes, moved.read[0]));
        RC_ASSERT(near(demand.buffers[1].read_bytes, moved.read[1]));
        RC_ASSERT(demand.buffers[0].along_m);
        RC_ASSERT(!demand.buffers[0].along_n);
        RC_ASSERT(demand.buffers[1].along_n);
        RC_ASSERT(!demand.buffers[1].along_m);
    }));
}

TEST_CASE("a tile that does not fit is refused with resource, need and limit") {
    Config c = tile_of(256, 256, 128);
    c.stages = 4;
    try {
        (void)lowered(problem_of(4096, 4096, 4096), c);
        FAIL("not refused");
    } catch (const warptime::Error& error) {
        const std::string text = error.what();
        CHECK(text.find("shared") != std::string::npos);
        CHECK(text.find("524288") != std::string::npos);
        CHECK(text.find(std::to_string(static_cast<std::int64_t>(gpu().shared.per_cta_optin.value()))) !=
              std::string::npos);
    }
    c = tile_of(128, 128, 32);
    c.warps = 32;
    c.registers = 255;
    CHECK_THROWS_WITH_AS((void)lowered(problem_of(4096, 4096, 4096), c), doctest::Contains("register"),
                         warptime::Error);
    c.warps = 64;
    CHECK_THROWS_WITH_AS((void)lowered(problem_of(4096, 4096, 4096), c), doctest::Contains("threads"),
                         warptime::Error);
}

TEST_CASE("a refilled program is the one that a fresh program would be") {
    mk::Program reused = lowered(problem_of(4096, 4096, 4096), tile_of(128, 128, 64));
    Config c = tile_of(64, 64, 32);
    c.split_k = 4;
    reused.clear();
    lower(problem_of(512, 512, 4096), c, gpu(), reused);
    const mk::Program fresh = lowered(problem_of(512, 512, 4096), c);
    REQUIRE(reused.kernel_count == fresh.kernel_count);
    for (std::size_t i = 0; i < fresh.kernel_count; ++i) {
        CHECK(reused.kernels[i] == fresh.kernels[i]);
    }
    CHECK(reused.steps == fresh.steps);
}
