// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/data_flow.hpp"

#include <algorithm>
#include <array>

namespace warptime::advice {

bool is_floating(hw::InstructionClass cls) {
    using enum hw::InstructionClass;
    constexpr std::array floating{fma_f32, add_f32, mul_f32, fma_f64, mufu, mma_sync, wgmma};
    return std::find(floating.begin(), floating.end(), cls) != floating.end();
}

std::vector<bool> works_on_data(const model::kernel::Kernel& kernel) {
    using model::kernel::PatternKind;
    std::vector<bool> data(kernel.ops.size(), false);
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        const auto accesses = kernel.accesses_of(kernel.ops[i]);
        data[i] = std::any_of(accesses.begin(), accesses.end(), [](const model::kernel::Access& access) {
            return access.pattern != PatternKind::broadcast;
        });
        data[i] = data[i] || is_floating(kernel.ops[i].cls);
        for (const model::kernel::Dep& dep : kernel.deps_of(kernel.ops[i])) {
            const auto from = static_cast<std::size_t>(dep.op);
            data[i] = data[i] || (from < i && data[from]);
        }
    }
    return data;
}

}  // namespace warptime::advice
