// Streaming kernels: bytes of every operand, accesses of at most 16 bytes, and loads before or between uses.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/stream.hpp"

#include "model/kernel/checks.hpp"
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <vector>

using namespace warptime::workloads;
using elementwise::Operand;
using elementwise::StreamRule;
namespace mk = warptime::model::kernel;
using mk::InstructionClass;

namespace {

const std::vector<Operand> operands{{"a", mk::Dtype::fp32, mk::Direction::read},
                                    {"b", mk::Dtype::bf16, mk::Direction::read},
                                    {"c", mk::Dtype::fp64, mk::Direction::write}};

mk::Kernel streamed(std::int64_t n, const StreamRule& rule) {
    mk::Kernel kernel;
    elementwise::lower_stream("stream", n, operands, rule, kernel);
    mk::check(kernel);
    return kernel;
}

}  // namespace

TEST_CASE("each operand moves once, in accesses of at most 16 bytes") {
    CHECK(rc::check("any length and vector", [] {
        StreamRule rule;
        rule.threads = 32 * *rc::gen::inRange<std::int64_t>(1, 9);
        rule.vector = *rc::gen::element<std::int64_t>(1, 2, 4, 8);
        rule.elements = rule.vector * *rc::gen::inRange<std::int64_t>(1, 4);
        const auto n = *rc::gen::inRange<std::int64_t>(1, 20000);
        const mk::Kernel kernel = streamed(n, rule);
        RC_ASSERT(kernel.grid.x * rule.threads * rule.elements >= n);
        RC_ASSERT((kernel.grid.x - 1) * rule.threads * rule.elements < n);
        const auto bytes = static_cast<double>(n);
        RC_ASSERT(fixture::moved(kernel, "a", mk::Direction::read) == 4 * bytes);
        RC_ASSERT(fixture::moved(kernel, "b", mk::Direction::read) == 2 * bytes);
        RC_ASSERT(fixture::moved(kernel, "c", mk::Direction::write) == 8 * bytes);
        for (const mk::Access& access : kernel.accesses) RC_ASSERT(access.bytes <= 16);
        // A lane stores its doubles in words of 16 bytes.
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        const std::int64_t stores =
            rule.elements / rule.vector * std::max<std::int64_t>(1, rule.vector * 8 / 16);
        RC_ASSERT(walk.instructions_of(InstructionClass::st_global) ==
                  static_cast<double>(stores * rule.threads / 32));
    }));
}

TEST_CASE("serial loads wait for what came before, others stand above the first use") {
    StreamRule rule;
    rule.threads = 32;
    rule.vector = 1;
    rule.elements = 4;
    rule.start = {{InstructionClass::mad_s32, 1.0}};
    rule.body = {{InstructionClass::fma_f32, 4.0}};
    const auto waiting_for_loads = [&](bool serial) {
        rule.serial = serial;
        rule.each_load = {{InstructionClass::convert, 1.0}};
        const mk::Kernel kernel = streamed(1000, rule);
        int waiting = 0;
        for (const mk::Op& op : kernel.ops) {
            if (op.cls != InstructionClass::convert) continue;
            for (std::uint32_t d = 0; d < op.dep_count; ++d) {
                const mk::Op& before = kernel.ops[static_cast<std::size_t>(op.deps[d].op)];
                waiting += before.cls == InstructionClass::ld_global ? 1 : 0;
            }
        }
        return waiting;
    };
    CHECK(waiting_for_loads(false) == 0);
    CHECK(waiting_for_loads(true) == 3);  // all but the first of four
}

TEST_CASE("a rule gives threads and vectors, and the width follows the element where it gives none") {
    libraries::KernelRule rule;
    rule.values = {{"threads", 128.0}, {"elements", 8.0}, {"registers", 40.0}};
    rule.mixes = {{"start", {{InstructionClass::mad_s32, 3.0}}}};
    CHECK(elementwise::stream_rule(rule, 4).vector == 4);
    CHECK(elementwise::stream_rule(rule, 2).vector == 8);
    CHECK(elementwise::stream_rule(rule, 1).vector == 8);  // no more than a thread has
    rule.values["vector"] = 2.0;
    CHECK(elementwise::stream_rule(rule, 4).vector == 2);
    CHECK(elementwise::stream_rule(rule, 4).registers == 40);
    CHECK_FALSE(elementwise::stream_rule(rule, 4).serial);
    rule.values.erase("threads");
    CHECK_THROWS_AS(static_cast<void>(elementwise::stream_rule(rule, 4)), warptime::Error);
}

TEST_CASE("an ideal stream does the arithmetic of its own number of elements") {
    libraries::KernelRule ideal;
    ideal.values = {{"threads", 256.0}, {"bytes", 16.0}, {"accesses", 4.0}, {"registers", 32.0}};
    ideal.mixes = {{"start", {{InstructionClass::mad_s32, 3.0}}}};
    const StreamRule rule = elementwise::ideal_stream(
        ideal, {{InstructionClass::mufu, 6.0}, {InstructionClass::fma_f32, 3.0}}, 3.0, 2);
    CHECK(rule.vector == 8);
    CHECK(rule.elements == 32);
    CHECK(rule.body[0].count == doctest::Approx(2.0 * 32));
    CHECK(rule.body[1].count == doctest::Approx(32));
}
