// Buffers whose places follow from loaded values: a kernel comes to such places at times that differ by warp.
// Ignores: values that go through shared memory or another buffer.
// Source: deps of a description (model/kernel/README.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <vector>

namespace warptime::model::kernel {

/// By buffer: whether any of its addresses depends on the result of a load, over any number of ops.
[[nodiscard]] inline std::vector<bool> places_from_loads(const Kernel& kernel) {
    std::vector<bool> from_load(kernel.ops.size(), false);
    const auto loads = [&kernel](std::size_t op) {
        const hw::InstructionClass cls = kernel.ops[op].cls;
        return cls == hw::InstructionClass::ld_global || cls == hw::InstructionClass::atom_global ||
               cls == hw::InstructionClass::ld_shared;
    };
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        for (const Dep& dep : kernel.deps_of(kernel.ops[op])) {
            // Ops of several instructions have deps of earlier trips that their addresses do not need.
            if (dep.op < 0 || dep.distance > 0) continue;
            const auto from = static_cast<std::size_t>(dep.op);
            if (loads(from) || from_load[from]) from_load[op] = true;
        }
    }
    std::vector<bool> result(kernel.buffers.size(), false);
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        if (!from_load[op]) continue;
        for (const Access& access : kernel.accesses_of(kernel.ops[op])) {
            if (access.buffer != no_id && access.direction == Direction::read)
                result[static_cast<std::size_t>(access.buffer)] = true;
        }
    }
    return result;
}

}  // namespace warptime::model::kernel
