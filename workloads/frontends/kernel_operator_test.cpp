// The operator `kernel`: what the examples execute, counted by hand, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/kernel_operator.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/text.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/occupancy/tile_order.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <string>

namespace mk = warptime::model::kernel;
namespace hw = warptime::hw;
using namespace warptime::workloads;
using hw::InstructionClass;

namespace {

const hw::Gpu& gpu(const std::string& id = "h200-sxm") {
    static const hw::Gpu h200 = hw::load_gpu("h200-sxm");
    static const hw::Gpu a100 = hw::load_gpu("a100-sxm-80gb");
    return id == "h200-sxm" ? h200 : a100;
}

Operation example(const std::string& name) {
    return {"kernel", {{"file", std::string(WARPTIME_EXAMPLES) + "/" + name + ".kernel"}}};
}

mk::Program lowered(const std::string& name) {
    mk::Program program;
    const auto request = frontends::kernel_operator().read(example(name));
    request->check(gpu());
    request->lower({}, gpu(), program);
    return program;
}

/// Bytes inside each buffer, and instructions, of one CTA after another.
struct Totals : mk::WalkVisitor {
    explicit Totals(const mk::Kernel& of) : kernel(of) {}

    void on_access(const mk::WalkPlace&, mk::Id op, int slot, const mk::AccessBytes& moved) override {
        const mk::Op& of = kernel.ops[static_cast<std::size_t>(op)];
        const mk::Access& access = kernel.accesses_of(of)[static_cast<std::size_t>(slot)];
        (access.direction == mk::Direction::read ? read : written)[static_cast<std::size_t>(access.buffer)] +=
            moved.inside;
    }

    const mk::Kernel& kernel;
    std::array<double, 8> read{}, written{};
};

mk::WorkItem first_item(const mk::Kernel& kernel, std::int64_t m, std::int64_t n) {
    mk::WorkItem item;
    item.tile = {m, n, 0, 0};
    item.end = kernel.schedule.k_iterations;
    return item;
}

/// The kernel that `text` describes, between a head and an end.
mk::Kernel kernel_of(const std::string& body) {
    return mk::parse_text("kernel \"probe\"\n  grid 8 1 1\n  cta 128 1 1\n  resources\n" + body + "end\n");
}

std::string refusal(const mk::Kernel& kernel, const hw::Gpu& on) {
    try {
        frontends::require_runs_on(kernel, on);
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("saxpy reads both vectors and writes one, with fifteen instructions a warp") {
    const mk::Program program = lowered("saxpy");
    REQUIRE(program.kernel_count == 1);
    const mk::Kernel& kernel = program.kernels[0];
    Totals moved(kernel);
    for (std::int64_t tile = 0; tile < 3; ++tile) {
        const std::array<mk::WorkItem, 1> item{first_item(kernel, tile, 0)};
        mk::walk(kernel, item, moved);
    }
    const double each = 3.0 * 1024 * 4;
    CHECK(moved.read[0] == each);
    CHECK(moved.read[1] == each);
    CHECK(moved.written[1] == each);
    CHECK(kernel.schedule.item_count() * 1024 == kernel.buffers[0].elements());
    const auto counts = mk::walk_totals(kernel, first_item(kernel, 0, 0)).instructions;
    CHECK(std::accumulate(counts.begin(), counts.end(), 0.0) == 8.0 * (8 + 1 + 1 + 4 + 1));
}

TEST_CASE("the sums of columns read the matrix once") {
    const mk::Program program = lowered("column_sums");
    const mk::Kernel& kernel = program.kernels[0];
    Totals moved(kernel);
    for (std::int64_t m = 0; m < 32; ++m) {
        for (std::int64_t n = 0; n < 32; ++n) {
            const std::array<mk::WorkItem, 1> item{first_item(kernel, m, n)};
            mk::walk(kernel, item, moved);
        }
    }
    CHECK(moved.read[0] == 8192.0 * 8192.0 * 4.0);
    CHECK(moved.written[1] == 32.0 * 8192.0 * 4.0);  // by atomics, from each of 32 rows of CTAs
}

TEST_CASE("the product by tiles does 2 m n k operations and reads each operand 64 times") {
    const mk::Program program = lowered("shared_matmul");
    const mk::Kernel& kernel = program.kernels[0];
    const mk::WalkTotals totals = mk::walk_totals(kernel, first_item(kernel, 5, 7));
    const double items = static_cast<double>(kernel.schedule.item_count());
    CHECK(totals.instructions_of(InstructionClass::fma_f32) * 64.0 * items == 2.0 * 2048 * 2048 * 2048);
    Totals moved(kernel);
    const std::array<mk::WorkItem, 1> item{first_item(kernel, 63, 63)};
    mk::walk(kernel, item, moved);
    CHECK(moved.read[0] * items == 64.0 * 2048 * 2048 * 4);
    CHECK(moved.read[1] * items == 64.0 * 2048 * 2048 * 4);
    CHECK(moved.written[2] * items == 2048.0 * 2048 * 4);
}

TEST_CASE("a prediction of a described kernel counts what the description does") {
    const auto engine = warptime::model::analytical::make_engine();
    Predictor predictor(*engine, gpu());
    const auto answer = predictor.explain(example("shared_matmul"), {});
    CHECK(answer.flops_per_s * answer.time == doctest::Approx(2.0 * 2048 * 2048 * 2048));
    CHECK(predictor.evaluate(example("shared_matmul"), {}).time == answer.time);
    CHECK_FALSE(frontends::kernel_operator().work(example("saxpy")).operations);
    CHECK(frontends::kernel_operator().work(example("saxpy")).memory == 2.0 * 67108864 * 4);
}

TEST_CASE("what a GPU lacks is refused by name") {
    const mk::Kernel products = kernel_of(
        "  schedule one_per_cta tiles=8\n  token \"done\" kind=async_group scope=warp\n  role \"warps\" "
        "warps=4\n"
        "    op 0 wgmma dtype=bf16 shape=64,128,16 shared_operand=1 completes=done\n    wait done\n  end\n");
    CHECK(refusal(products, gpu()) == "accepted");
    CHECK(refusal(products, gpu("a100-sxm-80gb")) ==
          "kernel 'probe' instruction: got 'wgmma', expected one that a100-sxm-80gb has; it is sm_80");
    mk::Kernel cluster = products;
    cluster.ops.clear();
    cluster.cluster = {2, 1, 1};
    CHECK(refusal(cluster, gpu("a100-sxm-80gb")) ==
          "kernel 'probe' cluster: got '2', expected 1: a100-sxm-80gb is sm_80, which has no clusters");
    mk::Kernel taken = cluster;
    taken.cluster = {1, 1, 1};
    taken.schedule.kind = mk::ScheduleKind::cluster_launch_control;
    CHECK(refusal(taken, gpu()) ==
          "kernel 'probe' schedule: got 'cluster_launch_control', expected a schedule that h200-sxm has; it "
          "is sm_90");
    mk::Kernel large = cluster;
    large.cluster = {1, 1, 1};
    large.buffers.resize(1);
    large.buffers[0].extent[0] = std::int64_t{1} << 40;
    CHECK(refusal(large, gpu()).find("kernel 'probe' buffers: got '4.4e+03 GB'") == 0);
}

TEST_CASE("a file that is no description is named with its line") {
    const Operation nowhere{"kernel", {{"file", "/no/such.kernel"}}};
    CHECK_THROWS_WITH_AS(static_cast<void>(frontends::kernel_operator().read(nowhere)),
                         doctest::Contains("/no/such.kernel"), warptime::Error);
}
