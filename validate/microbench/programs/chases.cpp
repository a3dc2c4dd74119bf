// Dependent loads of one thread: chases through the L1, the L2, DRAM and the pages.
// Also single lines timed alone.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

struct Chase {
    std::int64_t bytes = 0;  ///< that hold the lines, once each
    std::int64_t stride = 128;
    std::int64_t shared = 0;  ///< bytes of shared memory that the kernel takes
    std::int64_t carveout = -1;
    mk::CachePolicy cache = mk::CachePolicy::cg;
    bool strange = false;  ///< all SMs have read the set before
    int beside = 0;        ///< integer instructions between two loads that are not in series
    int between = 0;       ///< integer instructions in series from one load to the next
};

void add_chase(mk::Program& program, const Chase& chase, std::int64_t steps) {
    mk::Kernel& k = add_kernel(program, "chase", 1, 32, chase.shared);
    k.carveout = chase.carveout;
    mk::Builder build(k);
    mk::Buffer words = words_of("table", chase.bytes);
    if (chase.strange) words.before = mk::Before::warm;
    const mk::Id table = build.buffer(words);
    build.role("lane", 1);
    build.loop(steps);
    mk::Op load;
    load.cls = mk::InstructionClass::ld_global;
    load.active = 1.0 / 32.0;
    load.dep_count = 1;
    load.deps[0] = {0, 1};
    mk::Access access;
    access.buffer = table;
    access.pattern = mk::PatternKind::chase;
    access.window = chase.bytes / 4;
    access.step = chase.stride / 4;
    access.cache = chase.cache;
    const mk::Id loaded = build.op(load, {access});
    if (chase.between > 0) add_integer(build, chase.between + chase.beside, chase.between, {{loaded, 0}});
    build.end();
    build.finish();
}

Probe chase_probe(const Chase& chase) {
    constexpr std::int64_t steps = 2048;
    // Enough untimed steps go before to bring every sector of the set into the cache.
    const std::int64_t before = chase.cache == mk::CachePolicy::ca ? chase.bytes / 32 + steps : steps;
    Probe probe;
    add_chase(probe.program, chase, before + steps);
    add_chase(probe.without, chase, before);
    probe.units = static_cast<double>(steps);
    return probe;
}

Probe chase_global(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Chase chase;
    chase.bytes = integer(p, "working_set");
    chase.cache = text(p, "path") == "ca" ? mk::CachePolicy::ca : mk::CachePolicy::cg;
    return chase_probe(chase);
}

Probe chase_l2(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Chase chase;
    chase.bytes = integer(p, "working_set");
    chase.strange = text(p, "by") == "all";
    return chase_probe(chase);
}

Probe chase_l1(const Parameters& p, const hw::Gpu& gpu) {
    Chase chase;
    chase.bytes = integer(p, "working_set");
    chase.shared = integer(p, "shared");
    chase.cache = mk::CachePolicy::ca;
    const std::int64_t percent = integer(p, "carveout");
    if (percent >= 0) chase.carveout = percent * static_cast<std::int64_t>(gpu.shared.capacity.value()) / 100;
    return chase_probe(chase);
}

/// carveout: a chase runs on every SM, and the program has one chase for all SMs. Each address is worked out
/// from an index.
Probe carveout_l1(const Parameters& p, const hw::Gpu& gpu) {
    Chase chase;
    chase.bytes = integer(p, "working_set");
    chase.stride = integer(p, "stride");
    chase.shared = integer(p, "shared");
    chase.cache = mk::CachePolicy::ca;
    chase.between = 1;
    chase.beside = 2;
    const std::int64_t percent = integer(p, "preference");
    if (percent >= 0) chase.carveout = percent * static_cast<std::int64_t>(gpu.shared.capacity.value()) / 100;
    return chase_probe(chase);
}

Probe chase_pages(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Chase chase;
    chase.bytes = integer(p, "span");
    chase.stride = integer(p, "stride");
    (void)integer(p, "lines");
    return chase_probe(chase);
}

/// One line: the load and the store that waits for the load. The rows are quantiles of many lines, near and
/// far. The program stands for any line.
Probe l2_line(const Parameters& p, const hw::Gpu& /*gpu*/) {
    (void)integer(p, "percentile");
    Probe probe;
    const std::int64_t lines = integer(p, "lines");
    for (const std::int64_t turns : {lines, 2 * lines}) {
        mk::Kernel& k = add_kernel(turns == lines ? probe.without : probe.program, "each_line", 1, 32);
        mk::Builder build(k);
        const mk::Id data = build.buffer(words_of("data", std::int64_t{8} << 20));
        build.role("lane", 1);
        build.loop(turns);
        mk::Op load;
        load.cls = mk::InstructionClass::ld_global;
        load.active = 1.0 / 32.0;
        mk::Access access;
        access.buffer = data;
        access.pattern = mk::PatternKind::broadcast;
        access.bytes = 8;
        access.origin[0] = build.variable(mk::Variable::loop, 32);
        access.cache = mk::CachePolicy::cg;
        const mk::Id loaded = build.op(load, {access});
        // The store that waits for the word, and the second clock.
        add_integer(build, 2, 2, {{loaded, 0}});
        build.end();
        build.finish();
    }
    probe.units = static_cast<double>(lines);
    return probe;
}

/// cold_load: one line after another. Each load waits for the load before.
Probe next_touch(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Chase chase;
    chase.stride = integer(p, "stride");
    chase.bytes = chase.stride * (integer(p, "count") + 1);
    // Mask, address, counter and the branch around the first clock.
    chase.between = 8;
    return chase_probe(chase);
}

constexpr std::array families{
    Family{"microbench_carveout", "carveout_l1", carveout_l1},
    Family{"microbench_cold_load", "next_touch", next_touch},
    Family{"microbench_latency", "chase_global", chase_global},
    Family{"microbench_latency", "l2_line", l2_line},
    Family{"microbench_l1_footprint", "chase_l1", chase_l1},
    Family{"microbench_l2_halves", "chase_l2", chase_l2},
    Family{"microbench_tlb_reach", "chase_pages", chase_pages},
};

}  // namespace

std::span<const Family> chase_families() {
    return families;
}

}  // namespace warptime::validate::microbench
