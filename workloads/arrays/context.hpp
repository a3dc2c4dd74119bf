// What the lowering of an operator over arrays reads and writes: library data, the GPU, and the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/libraries/library.hpp"

#include <string_view>
#include <vector>

namespace warptime::workloads::arrays {

struct Context {
    const libraries::Libraries& libraries;
    const hw::Gpu& gpu;
    model::kernel::Program& program;
    /// The rules that were read, each once; null where nobody counts.
    std::vector<const libraries::KernelRule*>* used = nullptr;

    [[nodiscard]] const libraries::KernelRule& rule(std::string_view name, hw::Dtype dtype) const;
};

}  // namespace warptime::workloads::arrays
