// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {

const Family* find_family(std::string_view suite, std::string_view op) {
    const std::array lists{
        arithmetic_families(),   atomic_families(),       barrier_families(),
        chase_families(),        code_families(),         copy_families(),
        dsmem_families(),        kernel_chain_families(), lane_access_families(),
        launch_families(),       load_families(),         matrix_families(),
        memory_step_families(),  shared_chase_families(), stream_families(),
        handshake_families(),    divergence_families(),   tile_store_families(),
        local_memory_families(), loaded_chase_families(), request_merging_families(),
        spill_families(),        tensor_box_families(),
    };
    for (const std::span<const Family> list : lists) {
        const auto found = std::find_if(list.begin(), list.end(), [&](const Family& family) {
            return family.suite == suite && family.op == op;
        });
        if (found != list.end()) return &*found;
    }
    return nullptr;
}

Probe probe_of(const Family& family, const Parameters& parameters, const hw::Gpu& gpu) {
    Probe probe = family.make(parameters, gpu);
    for (model::kernel::Program* program :
         {&probe.program, &probe.without, &probe.beside.load, &probe.beside.alone}) {
        for (model::kernel::Kernel& kernel : program->kernels) {
            kernel.evidence = model::kernel::Evidence::own;
        }
    }
    return probe;
}

}  // namespace warptime::validate::microbench
