// Matrix instructions of all shapes and types, and the loads and stores of their fragments, as programs.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "validate/microbench/programs/chains.hpp"
#include "validate/microbench/programs/families.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t sub_partitions = 4;
constexpr std::int64_t loop_trips = 64;
constexpr std::int64_t unroll = 8;

std::array<std::int32_t, 3> shape_of(const std::string& words) {
    std::array<std::int32_t, 3> shape{};
    if (std::sscanf(words.c_str(), "m%dn%dk%d", &shape[0], &shape[1], &shape[2]) != 3) {
        throw Error("params shape", words, "mMnNkK");
    }
    return shape;
}

Probe mma_sync(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    const std::int64_t chains = integer(parameters, "chains");
    const std::int64_t warps = integer(parameters, "warps_per_subpartition");
    mk::Op op = op_of(mk::InstructionClass::mma_sync);
    op.dtype = hw::parse_dtype(text(parameters, "dtype"));
    op.shape = shape_of(text(parameters, "shape"));
    op.sparse = parameters.find("sparse") != parameters.end() && integer(parameters, "sparse") != 0;
    ChainLoop loop;
    loop.trips = loop_trips;
    loop.turns = unroll;
    loop.warps = warps * sub_partitions;
    loop.parts.push_back({{op}, chains, chains});
    return chain_probe(std::move(loop), static_cast<double>(loop_trips * unroll * chains * warps));
}

struct Wgmma {
    mk::Op op;
    std::int64_t warpgroups = 1;
    std::int64_t ctas = 1;
    std::int64_t trips = loop_trips;
    bool alone = false;
};

void add_wgmma(mk::Program& program, const Wgmma& what) {
    mk::Kernel& k = program.add_kernel();
    k.name = "wgmma";
    k.grid = {what.ctas, 1, 1};
    k.cta = {128 * what.warpgroups, 1, 1};
    k.registers_per_thread = 64;
    k.dynamic_shared = 64 * 1024;
    k.schedule.tiles = {what.ctas, 1, 1, 1};
    mk::Builder build(k);
    mk::Token token;
    token.name = "products";
    token.kind = mk::TokenKind::async_group;
    token.scope = mk::Scope::warp;
    token.depth = 2;
    const mk::Id products = build.token(token);
    build.role("warpgroups", static_cast<int>(4 * what.warpgroups));
    build.loop(what.trips);
    build.op(op_of(mk::InstructionClass::wgmma_fence));
    mk::Op op = what.op;
    op.completes = products;
    build.op(op);
    build.op(op_of(mk::InstructionClass::wgmma_commit));
    build.wait(products, what.alone ? 0 : 1);
    build.end();
    build.finish();
}

Probe wgmma_probe(Wgmma what) {
    // Batches of 8 overlap with the next batch. So one long batch stands for many batches.
    what.op.count = what.alone ? 1 : 256;
    Probe probe;
    add_wgmma(probe.without, what);
    what.trips *= 2;
    add_wgmma(probe.program, what);
    probe.units = static_cast<double>(loop_trips * what.op.count * what.warpgroups);
    return probe;
}

Wgmma wgmma_of(const Parameters& parameters) {
    Wgmma what;
    what.op = op_of(mk::InstructionClass::wgmma);
    what.op.dtype = hw::parse_dtype(text(parameters, "dtype"));
    what.op.shape = {64, static_cast<std::int32_t>(integer(parameters, "n")),
                     static_cast<std::int32_t>(integer(parameters, "k"))};
    what.op.shared_operand =
        parameters.find("a_from") == parameters.end() || text(parameters, "a_from") == "shared";
    what.op.sparse = parameters.find("sparse") != parameters.end() && integer(parameters, "sparse") != 0;
    what.warpgroups = integer(parameters, "warpgroups");
    return what;
}

/// CTAs of an SM count as warpgroups of one CTA. The number of accumulators and the copies of the bulk engine
/// make no difference.
Probe wgmma(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Wgmma what = wgmma_of(parameters);
    if (parameters.find("ctas_per_sm") != parameters.end())
        what.warpgroups *= integer(parameters, "ctas_per_sm");
    return wgmma_probe(what);
}

Probe wgmma_alone(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Wgmma what = wgmma_of(parameters);
    what.alone = true;
    return wgmma_probe(what);
}

/// One warp-instruction of an SM on rows of 16 bytes that stand row_stride bytes apart.
void add_rows(mk::Program& program, const Parameters& parameters, mk::InstructionClass cls,
              std::int64_t turns) {
    constexpr std::int64_t body = 16;
    mk::Kernel& k = program.add_kernel();
    k.name = "matrix_rows";
    k.cta = {32 * integer(parameters, "warps"), 1, 1};
    k.static_shared = 8192;
    mk::Builder build(k);
    mk::Buffer buffer;
    buffer.name = "rows";
    buffer.space = mk::Space::shared;
    buffer.dtype = mk::Dtype::int32;
    buffer.extent[0] = 2048;
    const mk::Id rows = build.buffer(buffer);
    build.role("warps", static_cast<int>(integer(parameters, "warps")));
    build.loop(turns);
    const std::int64_t chains = integer(parameters, "chains");
    const bool load = cls == mk::InstructionClass::ldmatrix;
    mk::Id counted = mk::no_id;
    for (std::int64_t i = 0; i < body * chains; ++i) {
        mk::Op op = op_of(cls);
        if (load) {
            op.dep_count = 1;
            const std::int64_t before = i - chains;
            // The two control instructions stand behind the first instruction.
            const auto number = [](std::int64_t at) { return static_cast<mk::Id>(at == 0 ? 0 : at + 2); };
            op.deps[0] = before < 0 ? mk::Dep{number(body * chains + before), 1} : mk::Dep{number(before), 0};
        }
        mk::Access access;
        access.buffer = rows;
        access.direction = load ? mk::Direction::read : mk::Direction::write;
        access.pattern = mk::PatternKind::stride;
        access.bytes = 16;
        access.inner_extent = 8 * integer(parameters, "matrices");
        access.inner = integer(parameters, "row_stride") / 4;
        build.op(op, {access});
        if (i == 0) {
            mk::Op count = op_of(mk::InstructionClass::add_s32);
            const mk::Id added = build.op(count);
            mk::Op compare = op_of(mk::InstructionClass::set_predicate);
            compare.dep_count = 1;
            compare.deps[0] = {added, 0};
            counted = build.op(compare);
        }
    }
    mk::Op branch = op_of(mk::InstructionClass::branch);
    branch.dep_count = 1;
    branch.deps[0] = {counted, 0};
    build.op(branch);
    build.end();
    build.finish();
}

Probe rows_probe(const Parameters& parameters, mk::InstructionClass cls) {
    Probe probe;
    add_rows(probe.program, parameters, cls, 2 * loop_trips);
    add_rows(probe.without, parameters, cls, loop_trips);
    probe.units =
        static_cast<double>(loop_trips * 16 * integer(parameters, "chains") * integer(parameters, "warps"));
    return probe;
}

Probe ldmatrix(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return rows_probe(parameters, mk::InstructionClass::ldmatrix);
}

Probe stmatrix(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return rows_probe(parameters, mk::InstructionClass::stmatrix);
}

constexpr std::array families{
    Family{"microbench_mma_rate", "mma_sync", mma_sync},
    Family{"microbench_mma_rate", "wgmma", wgmma},
    Family{"microbench_mma_rate", "wgmma_alone", wgmma_alone},
    Family{"microbench_mma_shapes", "mma_shapes", mma_sync},
    Family{"microbench_wgmma_shapes", "wgmma_shapes", wgmma},
    Family{"microbench_wgmma_copy", "wgmma_copy", wgmma},
    Family{"microbench_ldmatrix", "ldmatrix", ldmatrix},
    Family{"microbench_ldmatrix", "stmatrix", stmatrix},
};

}  // namespace

std::span<const Family> matrix_families() {
    return families;
}

}  // namespace warptime::validate::microbench
