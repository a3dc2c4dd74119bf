// Warp-wide accesses whose lanes spread over lines or banks: coalescing and bank_conflicts.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

/// The hash that the probes draw their gathers from (harness.cuh).
std::uint32_t hash(std::uint32_t value) {
    value ^= value >> 16;
    value *= 0x7feb352dU;
    value ^= value >> 15;
    value *= 0x846ca68bU;
    return value ^ (value >> 16);
}

/// Accesses in flight together, used by about `sums` integer instructions. Then a counter and a jump.
void end_round(mk::Builder& build, const std::vector<mk::Id>& loaded, int sums) {
    // The sums over the earlier loads are made while the last load is in flight.
    constexpr std::size_t inputs = 4;  // of one op
    const std::size_t early = loaded.size() - 1;
    const auto ops = static_cast<int>((early + inputs - 1) / inputs);
    for (std::size_t i = 0; i < early; i += inputs) {
        mk::Op sum;
        sum.cls = mk::InstructionClass::mad_s32;
        sum.count = std::max(1, (sums - 1) / ops);
        for (std::size_t k = i; k < std::min(early, i + inputs); ++k) {
            sum.deps[sum.dep_count++] = {loaded[k], 0};
        }
        build.op(sum);
    }
    add_integer(build, 1, 1, {{loaded.back(), 0}});
    add_integer(build, 2, 1);
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
}

struct WarpLoad {
    std::string level;
    int width = 4, unroll = 1, warps = 1;
    std::int64_t ctas = 1, stride = 1, offset = 0, region = 128;
    bool gather = false;
};

void add_warp_loads(mk::Program& program, const WarpLoad& w, std::int64_t rounds) {
    mk::Kernel& k = add_kernel(program, "warp_loads", w.ctas, 32 * w.warps);
    k.registers_per_thread = 64;
    mk::Builder build(k);
    const bool l1 = w.level == "l1";
    const bool dram = w.level == "dram";
    const std::int64_t words = w.region / 4;
    const std::int64_t loads = w.ctas * w.warps * w.unroll;
    const std::int64_t held = l1 ? w.unroll : std::min(loads, (std::int64_t{8} << 20) / w.region);
    const mk::Id data = build.buffer(words_of("data", w.region * (dram ? loads * rounds : held)));
    build.role("warps", w.warps);
    build.loop(rounds);
    std::vector<mk::Id> loaded;
    for (int i = 0; i < w.unroll; ++i) {
        mk::Op load;
        load.cls = mk::InstructionClass::ld_global;
        mk::Access a;
        a.buffer = data;
        a.bytes = w.width;
        a.cache = l1 ? mk::CachePolicy::ca : mk::CachePolicy::cg;
        a.pattern = w.gather ? mk::PatternKind::random : mk::PatternKind::stride;
        a.distinct = w.region / w.width;
        a.inner = w.stride;
        if (w.gather && l1) {
            // All warps use the same draw in every round.
            a.pattern = mk::PatternKind::listed;
            a.pool_first = static_cast<std::uint32_t>(k.address_list.size());
            a.pool_length = 32;
            for (std::uint32_t lane = 0; lane < 32; ++lane) {
                k.address_list.push_back(hash(static_cast<std::uint32_t>(i) * 32 + lane) % a.distinct *
                                         w.width / 4);
            }
        }
        const std::int64_t start = i * words + w.offset / 4;
        if (l1) {
            // The warps use the same place in every round.
            a.origin[0] = build.sum(mk::Builder::constant(start),
                                    build.modulo(build.variable(mk::Variable::loop, words), words));
        } else {
            a.origin[0] = build.index(start, {mk::Term{.coefficient = w.warps * w.unroll * words},
                                              mk::term(mk::Variable::warp, w.unroll * words),
                                              mk::term(mk::Variable::loop, dram ? loads * words : 0)});
        }
        a.bounds = mk::Bounds::wrap;
        loaded.push_back(build.op(load, {a}));
    }
    // Each load needs two halves of an address. With several loads, the halves are made while loads are in
    // flight; otherwise behind the sum.
    if (w.unroll > 1) add_integer(build, 2 * w.unroll, 1);
    end_round(build, loaded, w.unroll * w.width / 4);
    if (w.unroll == 1) add_integer(build, 2, 2);
    build.end();
    build.finish();
}

Probe warp_load(const Parameters& p, const hw::Gpu& /*gpu*/) {
    WarpLoad w;
    w.level = text(p, "level");
    w.width = static_cast<int>(integer(p, "width"));
    w.unroll = static_cast<int>(integer(p, "unroll"));
    w.warps = static_cast<int>(integer(p, "warps"));
    w.ctas = integer(p, "ctas");
    w.stride = integer(p, "stride");
    w.offset = integer(p, "offset");
    w.region = integer(p, "region");
    w.gather = integer(p, "gather") != 0;
    const std::int64_t rounds = integer(p, "rounds");
    Probe probe;
    add_warp_loads(probe.without, w, rounds);
    add_warp_loads(probe.program, w, 2 * rounds);
    probe.units = static_cast<double>(rounds * w.unroll);
    return probe;
}

Probe shared_access(const Parameters& p, const hw::Gpu& /*gpu*/) {
    const std::string& way = text(p, "way");
    const int width = static_cast<int>(integer(p, "width"));
    const int warps = static_cast<int>(integer(p, "warps"));
    const int unroll = static_cast<int>(integer(p, "unroll"));
    const std::int64_t rounds = integer(p, "rounds");
    const std::int64_t columns = integer(p, "columns");
    const std::int64_t pitch = integer(p, "pitch");
    Probe probe;
    for (const std::int64_t turns : {rounds, 2 * rounds}) {
        mk::Kernel& k = add_kernel(turns == rounds ? probe.without : probe.program, "shared_access", 1,
                                   32 * warps, 48 * 1024);
        mk::Builder build(k);
        mk::Buffer table = words_of("table", 48 * 1024);
        table.space = mk::Space::shared;
        const mk::Id shared = build.buffer(table);
        build.role("warps", warps);
        build.loop(turns);
        std::vector<mk::Id> loaded;
        for (int i = 0; i < unroll; ++i) {
            mk::Op op;
            op.cls = way == "store"  ? mk::InstructionClass::st_shared
                     : way == "load" ? mk::InstructionClass::ld_shared
                                     : mk::InstructionClass::ldmatrix;
            mk::Access a;
            a.buffer = shared;
            a.bytes = width;
            a.direction = way == "store" ? mk::Direction::write : mk::Direction::read;
            a.pattern = mk::PatternKind::stride;
            if (columns == 0) {
                a.inner = integer(p, "stride");
            } else if (way == "ldmatrix") {
                a.inner = pitch / 4;  // from row to row; each lane names one row
            } else {
                a.inner_extent = columns;
                a.inner = width / 4;
                a.outer = pitch / 4;
            }
            if (integer(p, "swizzle") != 0 && columns > 0) {
                // The 16-byte parts of a row are permuted by the row's number.
                a.pattern = mk::PatternKind::listed;
                a.pool_first = static_cast<std::uint32_t>(k.address_list.size());
                a.pool_length = 32;
                for (std::int64_t lane = 0; lane < 32; ++lane) {
                    const std::int64_t row = lane / columns;
                    k.address_list.push_back((row * pitch + ((lane % columns * width) ^ (row % 8 * 16))) / 4);
                }
            }
            loaded.push_back(build.op(op, {a}));
        }
        if (way == "store") {
            // Addresses and values of the next round.
            add_integer(build, 16, 2);
        } else {
            // Three sums of two cycles for each word that the lanes keep.
            end_round(build, loaded, way == "load" ? 6 * width / 4 : 6);
        }
        build.end();
        build.finish();
    }
    probe.units = static_cast<double>(rounds * unroll);
    return probe;
}

constexpr std::array families{
    Family{"microbench_coalescing", "warp_load", warp_load},
    Family{"microbench_bank_conflicts", "shared_access", shared_access},
};

}  // namespace

std::span<const Family> lane_access_families() {
    return families;
}

}  // namespace warptime::validate::microbench
