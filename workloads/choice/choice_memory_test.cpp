// Picks once a list, bodies by types and schedule, and sizes of a launch against its lowering.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/choice_memory.hpp"

#include "hw/sheet.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using choice::ChoiceMemory;
using choice::KnownBody;
namespace mk = warptime::model::kernel;

namespace {

const warptime::hw::Gpu& h200() {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    return gpu;
}

gemm::Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
    gemm::Problem p;
    p.m = m;
    p.n = n;
    p.k = k;
    return p;
}

gemm::Config tiled(mk::ScheduleKind schedule) {
    gemm::Config c;
    c.cta_m = 128;
    c.cta_n = 128;
    c.cta_k = 64;
    c.stages = 3;
    c.warps = 8;
    c.schedule = schedule;
    return c;
}

libraries::PickTable table_of(std::size_t picks) {
    libraries::PickTable table;
    table.picks.resize(picks);
    return table;
}

}  // namespace

TEST_CASE("a pick is added once a list") {
    ChoiceMemory memory(h200());
    const libraries::PickTable table = table_of(3), other = table_of(2);
    for (int list = 0; list < 3; ++list) {
        memory.begin_picks(table);
        CHECK(memory.add_pick(2));
        CHECK_FALSE(memory.add_pick(2));
        CHECK(memory.add_pick(0));
    }
    memory.begin_picks(other);
    CHECK(memory.add_pick(0));
    CHECK(memory.add_pick(1));
    CHECK_FALSE(memory.add_pick(0));
}

TEST_CASE("a body belongs to its pick, its types and its schedule, not to sizes") {
    ChoiceMemory memory(h200());
    const libraries::PickTable table = table_of(4);
    memory.begin_picks(table);
    const gemm::Config plain = tiled(mk::ScheduleKind::one_per_cta);
    const gemm::Config persistent = tiled(mk::ScheduleKind::static_stride);
    KnownBody* const first = memory.body_of(1, problem(512, 512, 512), plain);
    REQUIRE(first != nullptr);
    CHECK(memory.body_of(1, problem(64, 2048, 96), plain) == first);
    CHECK(memory.body_of(2, problem(512, 512, 512), plain) != first);
    CHECK(memory.body_of(1, problem(512, 512, 512), persistent) != first);
    (void)memory.lower(problem(512, 512, 512), plain, first);
    const auto number = first->body;
    CHECK(number != warptime::model::prediction::unknown_body);
    // Problems of other types have bodies of their own, and the first types find theirs again.
    gemm::Problem half = problem(512, 512, 512);
    half.a = half.b = half.out = gemm::Dtype::fp16;
    KnownBody* const of_half = memory.body_of(1, half, plain);
    REQUIRE(of_half != nullptr);
    CHECK(of_half->body == warptime::model::prediction::unknown_body);
    (void)memory.lower(half, plain, of_half);
    CHECK(of_half->body != number);
    CHECK(memory.body_of(1, problem(96, 96, 96), plain)->body == number);
    // Another table forgets them.
    const libraries::PickTable other = table_of(4);
    memory.begin_picks(other);
    CHECK(memory.body_of(1, problem(512, 512, 512), plain)->body ==
          warptime::model::prediction::unknown_body);
}

TEST_CASE("configurations whose body hangs on the sizes have no number") {
    ChoiceMemory memory(h200());
    const libraries::PickTable table = table_of(1);
    memory.begin_picks(table);
    gemm::Config split = tiled(mk::ScheduleKind::one_per_cta);
    split.split_k = 2;
    CHECK(memory.body_of(0, problem(512, 512, 512), split) == nullptr);
    gemm::Config bands = tiled(mk::ScheduleKind::one_per_cta);
    bands.whole_bands = true;
    CHECK(memory.body_of(0, problem(512, 512, 512), bands) == nullptr);
    gemm::Problem fused = problem(512, 512, 512);
    fused.epilogue = gemm::Epilogue::relu;
    CHECK(memory.body_of(0, fused, tiled(mk::ScheduleKind::one_per_cta)) == nullptr);
}

TEST_CASE("sizes of a launch are those of its lowering") {
    CHECK(rc::check("any product", [] {
        ChoiceMemory memory(h200());
        const libraries::PickTable table = table_of(1);
        memory.begin_picks(table);
        gemm::Problem p = problem(8 * *rc::gen::inRange(1, 400), 8 * *rc::gen::inRange(1, 400),
                                  8 * *rc::gen::inRange(1, 400));
        p.batch = *rc::gen::inRange(1, 3);
        const gemm::Config config =
            tiled(*rc::gen::element(mk::ScheduleKind::one_per_cta, mk::ScheduleKind::static_stride));
        KnownBody* const known = memory.body_of(0, p, config);
        RC_ASSERT(known != nullptr);
        const mk::Program& program = memory.lower(p, config, known);
        const mk::Kernel& kernel = program.kernels.front();
        const auto sizes = ChoiceMemory::sizes_of(*known, p, config);
        RC_ASSERT(sizes.items == kernel.schedule.item_count());
        RC_ASSERT(sizes.iterations == kernel.schedule.k_iterations);
        RC_ASSERT(sizes.ctas == kernel.grid.volume());
        RC_ASSERT(sizes.pitches[0] == kernel.buffers[0].stride[1] * 2);
        RC_ASSERT(sizes.pitches[1] == kernel.buffers[1].stride[1] * 2);
        RC_ASSERT(sizes.rows[0] == kernel.buffers[0].extent[1]);
        RC_ASSERT(sizes.rows[1] == kernel.buffers[1].extent[1]);
        RC_ASSERT(sizes.read_bytes ==
                  2.0 * static_cast<double>(kernel.buffers[0].elements() + kernel.buffers[1].elements()));
        RC_ASSERT(sizes.written_bytes == 2.0 * static_cast<double>(kernel.buffers[2].elements()));
        RC_ASSERT(sizes.stored_pitch == kernel.buffers[2].stride[1] * 2);
        // A second lowering leaves the number as it is.
        const auto number = known->body;
        (void)memory.lower(p, config, known);
        RC_ASSERT(known->body == number);
    }));
}

TEST_CASE("calls of a score are counted by choice") {
    ChoiceMemory memory(h200());
    memory.begin_choice();
    memory.count_call();
    memory.count_call();
    memory.choose_call(1);
    CHECK(memory.calls() == 2);
    CHECK(memory.chosen_call() == 1);
    memory.begin_choice();
    CHECK(memory.calls() == 0);
    CHECK(memory.chosen_call() == 0);
}
