// Elementwise kernels: the grid of the launch rule reads and writes every element once.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/lower.hpp"

#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads::elementwise;
using warptime::hw::Dtype;
using warptime::hw::InstructionClass;

namespace {

mk::Kernel lowered(const Problem& problem, const LaunchRule& rule) {
    mk::Kernel kernel;
    lower(problem, rule, kernel);
    mk::check(kernel);
    return kernel;
}

}  // namespace

TEST_CASE("a whole walk touches every element once") {
    CHECK(rc::check("any size, type and rule", [] {
        Problem p;
        p.n = *rc::gen::inRange<std::int64_t>(1, 60000);
        p.dtype = *rc::gen::element(Dtype::bf16, Dtype::fp32, Dtype::fp64, Dtype::int8);
        p.inputs = *rc::gen::inRange(1, 4);
        p.arithmetic = *rc::gen::inRange(0, 3);
        LaunchRule rule;
        rule.threads = 32 * *rc::gen::inRange(1, 9);
        rule.bytes_per_access = *rc::gen::element(4, 8, 16);
        rule.accesses_per_thread = *rc::gen::inRange(1, 5);
        const mk::Kernel kernel = lowered(p, rule);
        const int bytes = warptime::hw::bytes_of(p.dtype);
        const int each = std::max(1, rule.bytes_per_access / bytes);
        const std::int64_t per_cta = std::int64_t{rule.threads} * each * rule.accesses_per_thread;
        RC_ASSERT(kernel.grid.volume() == (p.n + per_cta - 1) / per_cta);
        RC_ASSERT(kernel.schedule.item_count() == kernel.grid.volume());
        double read = 0.0;
        double written = 0.0;
        for (std::int64_t cta = 0; cta < kernel.grid.volume(); ++cta) {
            mk::WorkItem item;
            item.tile[0] = cta;
            const mk::WalkTotals walk = mk::walk_totals(kernel, item);
            read += walk.traffic(mk::Space::global, mk::Direction::read).inside_bytes;
            written += walk.traffic(mk::Space::global, mk::Direction::write).inside_bytes;
        }
        const double vector = static_cast<double>(p.n) * bytes;
        RC_ASSERT(written == vector);
        RC_ASSERT(read == vector * p.inputs);
    }));
}

TEST_CASE("instructions: one load an access and input, one store an access, arithmetic by element") {
    Problem p;
    p.n = 1 << 20;
    p.dtype = Dtype::fp32;
    p.inputs = 2;
    p.arithmetic = 1;
    LaunchRule rule;
    rule.threads = 128;
    rule.bytes_per_access = 16;
    rule.accesses_per_thread = 4;
    rule.overhead = 3.0;
    const mk::WalkTotals walk = mk::walk_totals(lowered(p, rule), mk::WorkItem{});
    CHECK(walk.instructions_of(InstructionClass::ld_global) == 4.0 * 2 * 4);
    CHECK(walk.instructions_of(InstructionClass::st_global) == 4.0 * 4);
    CHECK(walk.instructions_of(InstructionClass::add_f32) == 4.0 * 4 * 4);
    CHECK(walk.instructions_of(InstructionClass::mad_s32) == 4.0 * 12);
}
