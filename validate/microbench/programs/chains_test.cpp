// Closed forms of the probes of instructions, matrix products and barriers.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace warptime::validate::microbench {

namespace {

using mc = model::kernel::InstructionClass;

const hw::Gpu& h200() {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    return gpu;
}

double cycles(const char* suite, const char* op, const Parameters& parameters,
              const char* quantity = "cycles_per_instruction") {
    const Family* family = find_family(std::string("microbench_") + suite, op);
    REQUIRE(family != nullptr);
    const Probe probe = family->make(parameters, h200());
    for (std::size_t i = 0; i < probe.program.kernel_count; ++i) {
        CHECK_NOTHROW(model::kernel::check(probe.program.kernels[i]));
    }
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    return predict(probe, quantity, *model::analytical::make_engine(), h200(), warm).value;
}

double rate(const char* instruction, const char* chains, const char* warps) {
    return cycles("instruction_rate", "instruction_rate",
                  {{"instruction", instruction}, {"chains", chains}, {"warps_per_subpartition", warps}});
}

}  // namespace

TEST_CASE("a chain takes its latency a link, and less with more chains or warps until the unit is busy") {
    const auto& mufu = h200().instructions[mc::mufu];
    const double latency = cycles("instruction_latency", "instruction_latency",
                                  {{"instruction", "ex2"}, {"gap_fma", "0"}, {"machine", "1"}});
    CHECK(latency == doctest::Approx(mufu.latency.value()).epsilon(0.02));
    CHECK(rate("ex2", "1", "1") == doctest::Approx(latency).epsilon(0.05));
    CHECK(rate("ex2", "2", "1") == doctest::Approx(latency / 2.0).epsilon(0.1));
    CHECK(rate("ex2", "1", "2") == doctest::Approx(latency / 2.0).epsilon(0.1));
    CHECK(rate("ex2", "8", "4") == doctest::Approx(mufu.interval.value()).epsilon(0.02));
    CHECK(rate("ex2", "4", "16") == doctest::Approx(mufu.interval.value()).epsilon(0.02));
    CHECK_THROWS_AS((void)rate("telepathy", "1", "1"), Error);
}

TEST_CASE("a loop takes at least its own instructions, and at least a branch beside its body") {
    const auto unrolled = [](const char* unroll) {
        return cycles("loop_unroll", "loop_unroll",
                      {{"unroll", unroll}, {"chains", "1"}, {"warps_per_subpartition", "1"}});
    };
    const auto& table = h200().instructions;
    const double least = table[mc::add_s32].latency.value() + table[mc::set_predicate].latency.value() +
                         table[mc::branch].latency.value();
    CHECK(unrolled("1") == doctest::Approx(least).epsilon(0.1));
    CHECK(2.0 * unrolled("2") == doctest::Approx(least).epsilon(0.1));
    const double long_body = 64.0 * unrolled("64");
    CHECK(long_body > 64.0 * 4.0);
    CHECK(long_body < 64.0 * 4.0 + table[mc::branch].latency.value());
}

TEST_CASE("two kinds of instructions on different units take the longer of the two") {
    const auto mixed = [](const char* second) {
        return cycles("instruction_mix", "instruction_mix",
                      {{"first", "ex2"},
                       {"second", second},
                       {"first_run", "8"},
                       {"second_run", "8"},
                       {"chains", "4"},
                       {"tensor_chains", "8"},
                       {"warps_per_subpartition", "4"}},
                      "region_cycles");
    };
    CHECK(mixed("shfl") == doctest::Approx(64.0).epsilon(0.05));
    CHECK(mixed("round_f32") == doctest::Approx(128.0).epsilon(0.05));
    // A product keeps the special-function unit from a cycle of work.
    CHECK(mixed("mma_m16n8k16_bf16") == doctest::Approx(8.0 * (8.0 + 1.06)).epsilon(0.02));
}

TEST_CASE("multiply-adds of two chains at a time beside products delay a lone warp, and no four") {
    const auto beside = [](const char* second, const char* warps) {
        return cycles("instruction_mix", "instruction_mix",
                      {{"first", "mma_m16n8k16_bf16"},
                       {"second", second},
                       {"first_run", "1"},
                       {"second_run", "6"},
                       {"chains", "4"},
                       {"tensor_chains", "8"},
                       {"warps_per_subpartition", warps}},
                      "region_cycles");
    };
    CHECK(beside("fma_f32", "1") > 1.2 * beside("add_f32", "1"));
    CHECK(beside("fma_f32", "4") == doctest::Approx(beside("add_f32", "4")).epsilon(0.02));
}

TEST_CASE("a block takes a turn more for each column, or as often as its machine code says") {
    const auto block = [](const char* rows, const char* columns) {
        return cycles("register_operands", "register_operands",
                      {{"rows", rows}, {"columns", columns}, {"warps_per_subpartition", "4"}});
    };
    CHECK(block("16", "8") == doctest::Approx(1.0625).epsilon(0.02));
    CHECK(block("8", "4") == doctest::Approx(1.5).epsilon(0.02));
    CHECK(block("12", "8") == doctest::Approx(1.0 + 1.0 / 7.0).epsilon(0.02));
}

TEST_CASE("a wgmma takes the longest of its multiplying, its operands' reading and its least interval") {
    const auto wgmma = [](const char* n, const char* k, const char* from, const char* sparse) {
        return cycles("wgmma_shapes", "wgmma_shapes",
                      {{"n", n},
                       {"k", k},
                       {"dtype", "fp16"},
                       {"sparse", sparse},
                       {"a_from", from},
                       {"accumulators", "1"},
                       {"warpgroups", "2"}});
    };
    CHECK(wgmma("256", "16", "shared", "0") == doctest::Approx(128.0).epsilon(0.01));
    // Short products leave room, so the wait for the last product of a batch shows.
    CHECK(wgmma("8", "16", "shared", "0") == doctest::Approx(18.2).epsilon(0.02));
    const double least = h200().instructions[mc::wgmma].interval.value();
    CHECK(wgmma("8", "16", "registers", "0") == doctest::Approx(least + 0.3).epsilon(0.02));
    // A of 64 rows of 32 bytes and B of 128 rows of 64, in passes of 128 bytes.
    CHECK(wgmma("128", "32", "shared", "1") == doctest::Approx(16.0 + 64.0).epsilon(0.01));
}

TEST_CASE("ldmatrix: passes decide both the rate and how much longer than one word it takes") {
    const auto rows = [](const char* op, const char* matrices, const char* stride, const char* warps) {
        return cycles("ldmatrix", op,
                      {{"matrices", matrices},
                       {"trans", "0"},
                       {"row_stride", stride},
                       {"warps", warps},
                       {"chains", "1"}});
    };
    const double shared = h200().latency.shared.value();
    CHECK(rows("ldmatrix", "1", "16", "1") == doctest::Approx(shared).epsilon(0.01));
    CHECK(rows("ldmatrix", "4", "16", "1") == doctest::Approx(shared + 6.0).epsilon(0.01));
    CHECK(rows("ldmatrix", "2", "128", "32") == doctest::Approx(16.0).epsilon(0.01));
    CHECK(rows("stmatrix", "4", "16", "32") == doctest::Approx(4.0).epsilon(0.01));
}

TEST_CASE("barriers: each warp that arrives adds its part, and the CTAs of an SM queue") {
    const auto barrier = [](const char* op, const char* warps, const char* ctas) {
        return cycles("barrier", op, {{"warps", warps}, {"ctas_per_sm", ctas}});
    };
    const double arrival = h200().instructions[mc::bar_sync].interval.value();
    CHECK(barrier("bar_sync", "32", "1") - barrier("bar_sync", "8", "1") ==
          doctest::Approx(24.0 * arrival).epsilon(0.02));
    CHECK(barrier("bar_sync", "32", "2") == doctest::Approx(64.0 * arrival).epsilon(0.02));
    CHECK(barrier("named_barrier", "8", "1") > barrier("bar_sync", "8", "1"));
    CHECK(barrier("mbarrier_ping", "2", "1") > 1.5 * barrier("mbarrier_round", "2", "1"));
}

TEST_CASE("a chase through another CTA's shared memory takes that way and an addition") {
    const auto chase = [](const char* distance) {
        return cycles("dsmem", "dsmem_chase",
                      {{"cluster", "4"}, {"distance", distance}, {"chasing", "1"}, {"stride", "68"}});
    };
    const auto& table = h200().instructions;
    CHECK(chase("1") ==
          doctest::Approx(table[mc::ld_shared_cluster].latency.value() + table[mc::add_s32].latency.value())
              .epsilon(0.02));
    CHECK(chase("0") < 0.25 * chase("1"));
}

}  // namespace warptime::validate::microbench
