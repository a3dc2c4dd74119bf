// What kind of instruction an op is: which server it takes, whether it loads, copies, multiplies or meets.
// Ignores: what it costs; that is data in hw/isa/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"
#include "model/analytical/server.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>

namespace warptime::model::analytical {

[[nodiscard]] inline Server server_of(hw::Unit unit) {
    switch (unit) {
        case hw::Unit::fp32:
            return Server::fp32;
        case hw::Unit::fp64:
            return Server::fp64;
        case hw::Unit::fp16:
            return Server::fp16;
        case hw::Unit::integer:
            return Server::integer;
        case hw::Unit::sfu:
            return Server::sfu;
        case hw::Unit::shuffle:
            // Words between lanes go the way that they go to shared memory: recorded mixtures of shuffles and
            // ldmatrix take the sum of both.
            return Server::shared;
        default:
            return Server::issue;
    }
}

[[nodiscard]] inline bool is_asynchronous_copy(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::cp_async || cls == hw::InstructionClass::cp_async_bulk ||
           cls == hw::InstructionClass::cp_async_bulk_tensor;
}

[[nodiscard]] inline bool is_load(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::ld_global || cls == hw::InstructionClass::atom_global ||
           cls == hw::InstructionClass::ld_local || is_asynchronous_copy(cls);
}

/// Plain loads, and copies of lanes past the L1: each line that they touch goes through the L1 once. Other
/// requests take its tags as a whole (key l1.request_interval).
[[nodiscard]] inline bool is_taken_by_line(const kernel::Op& op, const kernel::Access& access) {
    return op.cls == hw::InstructionClass::ld_global || op.cls == hw::InstructionClass::ld_local ||
           (op.cls == hw::InstructionClass::cp_async && access.cache == kernel::CachePolicy::cg);
}

/// Warps of a CTA that wait for each other; the interval of the class is that between two arrivals.
[[nodiscard]] inline bool is_meeting(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::bar_sync || cls == hw::InstructionClass::cluster_barrier ||
           cls == hw::InstructionClass::mbarrier_try_wait;
}

[[nodiscard]] inline bool is_matrix(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::wgmma || cls == hw::InstructionClass::mma_sync;
}

[[nodiscard]] inline bool is_shared(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::ld_shared || cls == hw::InstructionClass::st_shared ||
           cls == hw::InstructionClass::ldmatrix || cls == hw::InstructionClass::stmatrix ||
           cls == hw::InstructionClass::atom_shared;
}

/// Bytes that one instruction of a warp brings from other SMs of the cluster.
[[nodiscard]] inline double remote_bytes(const kernel::Kernel& kernel, const kernel::Op& op) {
    constexpr double lanes = 32.0;
    if (op.cls != hw::InstructionClass::ld_shared_cluster || op.access_count == 0) return 0.0;
    return lanes * op.active * kernel.accesses[op.first_access].bytes;
}

[[nodiscard]] inline bool is_global(const kernel::Kernel& kernel, const kernel::Access& access) {
    if (access.buffer == kernel::no_id) {
        return false;
    }
    const kernel::Space space = kernel.buffers[static_cast<std::size_t>(access.buffer)].space;
    return space == kernel::Space::global || space == kernel::Space::local;
}

}  // namespace warptime::model::analytical
