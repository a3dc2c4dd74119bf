// SPDX-License-Identifier: Apache-2.0
#include "workloads/lower.hpp"

#include "hw/error.hpp"
#include "workloads/operators.hpp"

#include <fmt/format.h>

namespace warptime::workloads {

void require_memory(const Operation& operation, const hw::Gpu<double>& gpu, double bytes) {
    const double capacity = gpu.dram.capacity.value();
    if (bytes <= capacity) {
        return;
    }
    std::string sizes;
    for (const auto& [name, value] : operation.parameters) {
        sizes += fmt::format(" {}={}", name, value);
    }
    throw Error(fmt::format("{} size", operation.op),
                fmt::format("{}{}: {:.3g} GB", operation.op, sizes, bytes / 1e9),
                fmt::format("a problem that fits the {:.0f} GB of {}", capacity / 1e9, gpu.id));
}

void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu<double>& gpu,
           const Score& score, model::kernel::Program& program) {
    program.clear();
    if (operation.op == "gemm") {
        lower_gemm_operation(operation, libraries, gpu, score, program);
    } else if (operation.op == "copy") {
        lower_copy_operation(operation, libraries, gpu, program);
    } else if (operation.op == "add") {
        lower_add_operation(operation, libraries, gpu, program);
    } else {
        throw Error("operator", operation.op, "gemm, copy or add");
    }
}

}  // namespace warptime::workloads
