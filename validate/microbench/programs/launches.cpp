// Launches of CTAs that do nothing or a known chain of FMA: floor, launch rate, waves, clusters and
// carveouts. Ignores: chains of kernels, whose gaps are spans (see kernel_chains.cpp).
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/fixed_work.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

Probe one_launch(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    add_fixed_work(probe.program, fixed_work_of(parameters));
    return probe;
}

/// The probe keeps its result in a register: no thread stores.
Probe without_stores(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    FixedWork work = fixed_work_of(parameters);
    work.stores = false;
    add_fixed_work(probe.program, work);
    return probe;
}

Probe graph_node(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    FixedWork work;
    work.ctas = integer(parameters, "ctas");
    work.threads = integer(parameters, "threads");
    work.shared = integer(parameters, "shared");
    add_fixed_work(probe.program, work);
    return probe;
}

Probe clusters(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    FixedWork work;
    work.cluster = integer(parameters, "cluster");
    work.ctas = integer(parameters, "clusters") * work.cluster;
    work.threads = integer(parameters, "threads");
    work.shared = integer(parameters, "shared");
    work.fma = integer(parameters, "fma");
    add_fixed_work(probe.program, work);
    probe.units = static_cast<double>(work.cluster);
    return probe;
}

/// The number of clusters that the runtime calls resident. The number holds for any grid.
Probe active_clusters(const Parameters& parameters, const hw::Gpu& gpu) {
    Parameters grid = parameters;
    grid["clusters"] = "1";
    grid["fma"] = "0";
    Probe probe = clusters(grid, gpu);
    // For a kernel that asks for no shared memory, the runtime counts at the smallest carveout. That carveout
    // holds only the reserve.
    model::kernel::Kernel& kernel = probe.program.kernels.front();
    if (kernel.dynamic_shared == 0) kernel.carveout = 0;
    return probe;
}

/// With `fma` the launch was timed; without `fma` the CTAs were counted.
Probe carveout(const Parameters& parameters, const hw::Gpu& gpu) {
    Parameters work = parameters;
    work.try_emplace("fma", "0");
    Probe probe = one_launch(work, gpu);
    const std::int64_t percent = integer(parameters, "preference");
    if (percent >= 0) {
        model::kernel::Kernel& kernel = probe.program.kernels.front();
        kernel.carveout = static_cast<std::int64_t>(gpu.shared.capacity.value()) * percent / 100;
    }
    return probe;
}

constexpr std::array families{
    Family{"microbench_launch_floor", "launch_kernel", one_launch},
    Family{"microbench_launch_floor", "launch_graph", graph_node},
    Family{"microbench_cta_launch", "cta_launch", without_stores},
    Family{"microbench_waves", "wave_fma", one_launch},
    Family{"microbench_clusters", "cluster_launch", clusters},
    Family{"microbench_clusters", "cluster_wave", clusters},
    Family{"microbench_clusters", "max_active_clusters", active_clusters},
    Family{"microbench_carveout", "carveout_wave", carveout},
    Family{"microbench_carveout", "carveout_ctas", carveout},
};

}  // namespace

std::span<const Family> launch_families() {
    return families;
}

}  // namespace warptime::validate::microbench
