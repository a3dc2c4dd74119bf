// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_single_stage.hpp"

#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/triton_gathers.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

bool loads_stage_in_turns(const Config& config) {
    return config.strides_by_16 && config.pipeline == Pipeline::sync && config.stages == 1 &&
           !gathers_as_triton(config);
}

std::int64_t turns_of_loads(std::int64_t loads_of_a, std::int64_t loads_of_b) {
    const compilers::Triton::SingleStage& law = compilers::triton().single_stage;
    const std::int64_t loads = loads_of_a + loads_of_b;
    if (loads <= law.together) return 1;
    return ceil_div(loads, loads_of_a + std::max<std::int64_t>(1, loads_of_b / law.part_of_b));
}

}  // namespace warptime::workloads::gemm
