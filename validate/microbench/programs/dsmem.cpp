// Reads of the shared memory of another CTA of the cluster: dsmem.cu.
// Ignores: the place of the other CTA in the chip; the recorded rows differ by 4 % over all distances.
// Source: machine code of the probe (sm_90), where a turn loads only once from each address.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t words = 8192;

struct Reads {
    std::int64_t cluster = 1, ctas = 1, warps = 1, loads = 1;
    int bytes = 4;
    bool own = false;  ///< own memory, through the same instruction
};

mk::Id add_integers(mk::Builder& build, std::int64_t count, std::int64_t chain) {
    mk::Op op;
    op.cls = mk::InstructionClass::add_s32;
    op.count = count;
    op.chain = chain;
    return build.op(op);
}

void add_reads(mk::Program& program, const Reads& r, std::int64_t trips) {
    mk::Kernel& k = add_kernel(program, "read", r.ctas, 32 * r.warps, 120 * 1024);
    k.cluster = {r.cluster, 1, 1};
    k.registers_per_thread = 64;
    mk::Builder build(k);
    mk::Buffer table = words_of("table", words * 4);
    table.space = r.own ? mk::Space::shared : mk::Space::cluster_shared;
    const mk::Id from = build.buffer(table);
    build.role("warps", static_cast<int>(r.warps));
    build.loop(trips);
    // The start of the turn within the table. For own memory this instruction takes two additions longer than
    // a plain load (dsmem_chase, distance 0).
    const std::int64_t addressing = r.own ? 6 : 4;
    const mk::Id at = add_integers(build, addressing, addressing);
    mk::Id last = mk::no_id;
    for (std::int64_t i = 0; i < r.loads; ++i) {
        mk::Op load;
        load.cls = r.own ? mk::InstructionClass::ld_shared : mk::InstructionClass::ld_shared_cluster;
        load.dep_count = 1;
        load.deps[0] = {at, 0};
        mk::Access access;
        access.buffer = from;
        access.bytes = r.bytes;
        last = build.op(load, {access});
    }
    // Addresses of the other loads, and sums of the loaded words.
    add_integers(build, 7 * r.loads, 1);
    add_jump(build, last);
    build.end();
    build.finish();
}

Probe dsmem_read(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Reads r;
    r.cluster = integer(p, "cluster");
    r.ctas = integer(p, "clusters") * r.cluster;
    r.warps = integer(p, "warps");
    r.bytes = static_cast<int>(integer(p, "bytes"));
    r.own = integer(p, "distance") == 0;
    const std::int64_t loads = integer(p, "loads");
    // 1024 x bytes lie between two loads of a turn, and the table has 32768.
    r.loads = std::min<std::int64_t>(loads, 4 * words / (1024 * r.bytes));
    const std::int64_t trips = std::max<std::int64_t>(4, 64 / loads);
    Probe probe;
    add_reads(probe.without, r, trips);
    add_reads(probe.program, r, 2 * trips);
    probe.units = static_cast<double>(trips * loads * r.warps);
    return probe;
}

constexpr std::array families{Family{"microbench_dsmem", "dsmem_read", dsmem_read}};

}  // namespace

std::span<const Family> dsmem_families() {
    return families;
}

}  // namespace warptime::validate::microbench
