// Changes of a kernel's description by name, for --change kernel.NAME=VALUE: what needs no new code to ask
// about. Ignores: parameters of operators, which the lowering applies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/setting.hpp"
#include "model/kernel/description.hpp"

#include <span>
#include <string_view>

namespace warptime::advice {

/// A change that every description can have. `apply` returns whether it changed anything, and throws Error
/// for a value of another form or one that is impossible.
struct KernelChange {
    std::string_view name;
    std::string_view form;     ///< the values expected
    std::string_view meaning;  ///< one sentence
    bool (*apply)(model::kernel::Kernel&, const hw::Gpu&, const hw::Setting&);
};

/// All changes, in the order of the documentation.
[[nodiscard]] std::span<const KernelChange> kernel_changes();
/// The change of a name; null if there is none.
[[nodiscard]] const KernelChange* find_kernel_change(std::string_view name);

/// Applies the change to every kernel of the program that it changes. Throws Error where it changes none.
void apply_change(const KernelChange& change, const hw::Setting& setting, const hw::Gpu& gpu,
                  model::kernel::Program& program);

}  // namespace warptime::advice
