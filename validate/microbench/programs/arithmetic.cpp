// Arithmetic instructions as programs: latency, rate, mixtures and the loops around them.
// Also a chase through the shared memory of a cluster.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t sub_partitions = 4;
constexpr std::int64_t trips = 64;

Probe latency(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    constexpr std::int64_t unroll = 64;
    ChainLoop loop;
    loop.trips = trips;
    loop.turns = unroll;
    loop.warps = 1;
    loop.parts.push_back({step_of(text(parameters, "instruction")), 1, 1});
    const std::int64_t gap = integer(parameters, "gap_fma");
    if (gap > 0) loop.parts.push_back({step_of("fma_f32"), gap, gap});
    return chain_probe(std::move(loop), static_cast<double>(trips * unroll));
}

Probe rate(const Parameters& parameters, const hw::Gpu& gpu) {
    constexpr std::int64_t unroll = 16;
    const std::int64_t chains = integer(parameters, "chains");
    const std::int64_t warps = integer(parameters, "warps_per_subpartition");
    ChainLoop loop;
    loop.trips = trips;
    loop.turns = unroll;
    loop.parts.push_back({step_of(text(parameters, "instruction")), chains, chains});
    const bool two_ctas = warps > 8;
    loop.warps = warps * sub_partitions / (two_ctas ? 2 : 1);
    loop.ctas = two_ctas ? 2 * static_cast<std::int64_t>(gpu.sm.count.value()) : 1;
    return chain_probe(std::move(loop), static_cast<double>(trips * unroll * chains * warps));
}

std::vector<mk::Op> part_of(const std::string& name) {
    if (name == "mma_m16n8k16_bf16") {
        mk::Op op = op_of(mk::InstructionClass::mma_sync);
        op.dtype = mk::Dtype::bf16;
        op.shape = {16, 8, 16};
        return {op};
    }
    if (name == "ldmatrix_x4") return {op_of(mk::InstructionClass::ldmatrix)};
    return step_of(name);
}

/// Whether the compiler counts and compares a mixture's trips in uniform registers. An instruction there
/// takes two slots, and one more instruction brings the answer back. Otherwise the compiler only counts in
/// uniform registers. Source: machine code.
bool compares_uniformly(const std::string& first, const std::string& second) {
    constexpr std::array<std::string_view, 6> without{"add_f32", "ex2",  "pack_bf16x2",
                                                      "popc",    "shfl", "round_f32"};
    if (first == "mma_m16n8k16_bf16") return false;
    return std::find(without.begin(), without.end(), second) != without.end() ||
           (first == "fma_f32" && second == "mad_s32");
}

Probe mixture(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    const std::int64_t warps = integer(parameters, "warps_per_subpartition");
    const auto part = [&](const std::string& which) {
        const std::string& name = text(parameters, which);
        const bool tensor = name == "mma_m16n8k16_bf16";
        return Part{part_of(name), integer(parameters, tensor ? "tensor_chains" : "chains"),
                    integer(parameters, which + "_run")};
    };
    ChainLoop loop;
    loop.trips = trips;
    loop.parts = {part("first"), part("second")};
    const auto first_class = [&](std::size_t i) { return loop.parts[i].step.front().cls; };
    loop.halves =
        first_class(0) == mk::InstructionClass::mma_sync && first_class(1) == mk::InstructionClass::fma_f32;
    const std::int64_t round = loop.parts[0].run + loop.parts[1].run;
    loop.turns = round < 96 ? 96 / round : 1;
    loop.control = compares_uniformly(text(parameters, "first"), text(parameters, "second")) ? 3 : 1;
    loop.warps = warps * sub_partitions;
    const auto rounds = static_cast<double>(trips * loop.turns * warps);
    return chain_probe(std::move(loop), rounds);
}

Probe unroll(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    const std::int64_t warps = integer(parameters, "warps_per_subpartition");
    ChainLoop loop;
    loop.trips = trips;
    loop.parts.push_back({step_of("fma_f32"), integer(parameters, "chains"), integer(parameters, "unroll")});
    loop.warps = warps * sub_partitions;
    return chain_probe(std::move(loop), static_cast<double>(trips * integer(parameters, "unroll") * warps));
}

/// Number of multiply-adds of a block from one extra turn of the register file to the next. A column takes
/// one extra turn, because its first multiply-add reads a third register. In two blocks the compiler has put
/// rows and accumulators of neighbours into one bank. For these, reads of both banks were counted in the
/// machine code: 1.52 and 1.15 turns each.
std::int64_t run_of(std::int64_t rows, std::int64_t columns) {
    if (rows == 8 && columns == 4) return 2;
    if (rows == 12 && columns == 8) return 7;
    return rows;
}

/// A block of multiply-adds, column after column. The lanes hold all multiplicands of the block.
Probe operands(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    constexpr std::int64_t steps = 8;
    const std::int64_t rows = integer(parameters, "rows");
    const std::int64_t columns = integer(parameters, "columns");
    const std::int64_t warps = integer(parameters, "warps_per_subpartition");
    std::vector<mk::Op> step = step_of("fma_f32");
    step.front().shape = {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns),
                          static_cast<std::int32_t>(run_of(rows, columns))};
    ChainLoop loop;
    loop.trips = trips;
    loop.parts.push_back({std::move(step), rows * columns, rows * columns * steps});
    loop.warps = warps * sub_partitions;
    return chain_probe(std::move(loop), static_cast<double>(trips * rows * columns * steps * warps));
}

/// One lane goes round in the shared memory of a CTA of its cluster. An addition makes each address.
Probe dsmem_chase(const Parameters& parameters, const hw::Gpu& gpu) {
    constexpr std::int64_t unroll = 8;
    const bool own = integer(parameters, "distance") == 0;
    mk::Op address = op_of(mk::InstructionClass::add_s32);
    if (own) {
        // For own memory this instruction takes as long as a load that hits the L1. Additions stand for what
        // that is beyond a plain load.
        const double longer = (gpu.latency.l1 - gpu.latency.shared).value();
        address.count += std::llround(longer / gpu.instructions[address.cls].latency.value());
        address.chain = address.count;
    }
    ChainLoop loop;
    loop.trips = trips;
    loop.turns = unroll;
    loop.warps = 1;
    loop.parts.push_back(
        {{address, op_of(own ? mk::InstructionClass::ld_shared : mk::InstructionClass::ld_shared_cluster)},
         1,
         1});
    return chain_probe(std::move(loop), static_cast<double>(trips * unroll));
}

constexpr std::array families{
    Family{"microbench_instruction_latency", "instruction_latency", latency},
    Family{"microbench_instruction_rate", "instruction_rate", rate},
    Family{"microbench_instruction_mix", "instruction_mix", mixture},
    Family{"microbench_loop_unroll", "loop_unroll", unroll},
    Family{"microbench_register_operands", "register_operands", operands},
    Family{"microbench_dsmem", "dsmem_chase", dsmem_chase},
};

}  // namespace

std::span<const Family> arithmetic_families() {
    return families;
}

}  // namespace warptime::validate::microbench
