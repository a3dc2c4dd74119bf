// Work of one warp's atomics at port and slices, against the passes of model/machine/atomics/atomics.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/atomic_plan.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/parts.hpp"
#include "model/kernel/text.hpp"
#include "model/machine/atomics/atomics.hpp"
#include "model/machine/occupancy/placement.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace warptime::model;
using namespace warptime::model::simulation;
using warptime::hw::InstructionClass;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

/// One warp that adds to `words` words of four bytes, `count` times.
kernel::Kernel adding(std::int64_t words, std::int64_t count, bool returns) {
    kernel::Kernel k;
    k.cta = {32, 1, 1};
    kernel::Builder build(k);
    const kernel::Id table =
        build.buffer(kernel::examples::vector_of("words", warptime::hw::Dtype::int32, words));
    build.role("warps", 1);
    kernel::examples::Draft op = kernel::examples::make_op(
        returns ? InstructionClass::atom_global : InstructionClass::red_global, count);
    op.dtype = warptime::hw::Dtype::int32;
    op.returns = returns;
    kernel::Access access = kernel::examples::lanes(table, kernel::Direction::atomic, {}, 4);
    access.pattern = kernel::PatternKind::stride;
    access.inner = 1;
    access.bounds = kernel::Bounds::wrap;
    kernel::examples::add_access(op, access);
    kernel::examples::add_op(build, op);
    build.finish();
    return k;
}

AtomicPlan plan_of(const kernel::Kernel& k) {
    return atomic_plan(k, k.ops[0], k.accesses[0],
                       machine::atomic_window_of(k, k.accesses[0].buffer, machine::items_at_work(k, gpu())),
                       gpu());
}

}  // namespace

TEST_CASE("instructions of one op add up") {
    const AtomicPlan one = plan_of(adding(32, 1, false));
    const AtomicPlan ten = plan_of(adding(32, 10, false));
    CHECK(one.sent_bytes > 0.0);
    CHECK(one.slices > 0.0);
    CHECK(ten.sent_bytes == doctest::Approx(10.0 * one.sent_bytes));
    CHECK(ten.slices == doctest::Approx(10.0 * one.slices));
    CHECK(ten.passed_bytes == doctest::Approx(10.0 * one.passed_bytes));
}

TEST_CASE("a full line is changed in whole sectors, each once") {
    const AtomicPlan plan = plan_of(adding(32, 1, false));
    CHECK(plan.passed_bytes == doctest::Approx(128.0));
    CHECK(plan.changed_bytes == doctest::Approx(128.0));
    // Operands, and the address of one line.
    CHECK(plan.sent_bytes == doctest::Approx(32.0 * 4.0 + gpu().l1.sector.value()));
}

TEST_CASE("lanes of one word take turns") {
    CHECK(plan_of(adding(1, 1, false)).passed_bytes == doctest::Approx(32.0 * gpu().l1.sector.value()));
    CHECK(plan_of(adding(1, 1, false)).slices > plan_of(adding(32, 1, false)).slices);
}

TEST_CASE("only atomics that return bring something back") {
    const AtomicPlan reduced = plan_of(adding(32, 1, false));
    CHECK(reduced.returned_bytes == 0.0);
    CHECK(reduced.returns == 0.0);
    CHECK(reduced.latency == 0.0);
    const AtomicPlan returned = plan_of(adding(32, 1, true));
    CHECK(returned.returned_bytes == doctest::Approx(128.0));
    CHECK(returned.returns > 0.0);
    CHECK(returned.latency >= gpu().instructions[InstructionClass::atom_global].latency.value());
}

TEST_CASE("places that crowd in one slice take its time, not that of all slices that the set reaches") {
    // Each lane adds to a line of its own, in a set of many slices.
    const auto plan_with = [](double skew, int count) {
        std::string lanes;
        for (int lane = 0; lane < 32; ++lane) lanes += " " + std::to_string(lane * 256);
        kernel::Kernel k = kernel::parse_text(
            "kernel \"k\"\n  grid 1 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=1\n  buffer \"b\" "
            "dtype=int32 extent=65536\n  addresses" +
            lanes + "\n  role \"r\" warps=1\n    op 0 red_global dtype=int32 returns=0 count=" +
            std::to_string(count) +
            "\n      access atomic b listed "
            "origin={0} distinct=8192 pool_length=32\n  end\nend\n");
        k.accesses[0].skew = skew;
        return plan_of(k);
    };
    const double most = machine::slices_of(gpu());
    CHECK(plan_with(most / 2.0, 1).slices == doctest::Approx(plan_with(most, 1).slices / 2.0));
    CHECK(plan_with(most, 1).slices > 4.0 * plan_with(1.0, 1).slices);
    // Of 32 passes, each over a part of a sector, the slice that is asked most has its part and the skew.
    const double passes = 32.0 * gpu().l2.atomic_part_interval.value();
    CHECK(plan_with(1.0, 1).fullest == doctest::Approx(passes / most));
    CHECK(plan_with(8.0, 3).fullest == doctest::Approx(3.0 * passes * 8.0 / most));
    CHECK(plan_with(most, 1).fullest == doctest::Approx(passes));
}
