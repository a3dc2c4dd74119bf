// The list of operators, sorted by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/registry.hpp"

namespace warptime::workloads {

std::span<const OperatorInfo> operators() {
    static const std::array<OperatorInfo, 3> all{add_operator(), copy_operator(), gemm_operator()};
    return all;
}

}  // namespace warptime::workloads
