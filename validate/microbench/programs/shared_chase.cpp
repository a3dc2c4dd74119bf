// One lane follows a chain of pointers through shared memory: the latency of a dependent load.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/builder.hpp"
#include "validate/microbench/programs/families.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace kernel = model::kernel;

void chase(kernel::Program& program, std::int64_t words, std::int64_t steps) {
    kernel::Kernel& k = program.add_kernel();
    k.name = "chase_shared";
    k.cta = {32, 1, 1};
    k.dynamic_shared = words * 4;
    kernel::Builder build(k);
    kernel::Buffer table;
    table.name = "table";
    table.space = kernel::Space::shared;
    table.dtype = kernel::Dtype::int32;
    table.extent[0] = words;
    const kernel::Id buffer = build.buffer(table);
    build.role("lane", 1);
    build.loop(steps);
    kernel::Op load;
    load.cls = kernel::InstructionClass::ld_shared;
    load.active = 1.0 / 32.0;
    load.dep_count = 1;
    load.deps[0] = {0, 1};
    kernel::Access access;
    access.buffer = buffer;
    access.pattern = kernel::PatternKind::chase;
    access.window = words;
    access.step = 1;
    build.op(load, {access});
    build.end();
    build.finish();
}

Probe make(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    constexpr std::int64_t steps = 2048;
    const std::int64_t words = integer(parameters, "working_set") / 4;
    Probe probe;
    chase(probe.program, words, 2 * steps);
    chase(probe.without, words, steps);
    probe.units = static_cast<double>(steps);
    return probe;
}

constexpr std::array families{Family{"microbench_latency", "chase_shared", make}};

}  // namespace

std::span<const Family> shared_chase_families() {
    return families;
}

}  // namespace warptime::validate::microbench
