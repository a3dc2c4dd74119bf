// Kind of an op's instruction: its server, and whether it loads, copies, multiplies or meets.
// Ignores: its cost, which is data in hw/isa/.
// Source: PTX ISA 8.7, chapter 9; recorded mixtures of instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/server.hpp"

#include <algorithm>

namespace warptime::model::machine {

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
            // Shuffles take the path to shared memory: recorded mixtures of shuffles and ldmatrix take the
            // sum of both.
            return Server::shared;
        default:
            return Server::issue;
    }
}

/// Copies that one thread asks the bulk engine for.
[[nodiscard]] inline bool is_bulk_copy(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::cp_async_bulk || cls == hw::InstructionClass::cp_async_bulk_tensor;
}

/// Copies, stores and reductions that one lane asks for and the bulk engine moves.
[[nodiscard]] inline bool is_bulk(hw::InstructionClass cls) {
    return is_bulk_copy(cls) || cls == hw::InstructionClass::cp_async_bulk_store;
}

[[nodiscard]] inline bool is_asynchronous_copy(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::cp_async || is_bulk_copy(cls);
}

[[nodiscard]] inline bool is_load(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::ld_global || cls == hw::InstructionClass::atom_global ||
           cls == hw::InstructionClass::ld_local || is_asynchronous_copy(cls);
}

/// True for accesses whose every touched line passes the L1 once: plain loads, and lanes' copies past the L1.
/// Other requests take the tags as a whole (key l1.request_interval).
[[nodiscard]] inline bool is_taken_by_line(const kernel::Op& op, const kernel::Access& access) {
    return op.cls == hw::InstructionClass::ld_global || op.cls == hw::InstructionClass::ld_local ||
           (op.cls == hw::InstructionClass::cp_async && access.cache == kernel::CachePolicy::cg);
}

/// True if warps of a CTA wait for each other; the class's interval is the time between two arrivals.
[[nodiscard]] inline bool is_meeting(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::bar_sync || cls == hw::InstructionClass::cluster_barrier ||
           cls == hw::InstructionClass::mbarrier_try_wait;
}

[[nodiscard]] inline bool is_matrix(hw::InstructionClass cls) {
    return hw::is_group_product(cls) || cls == hw::InstructionClass::mma_sync;
}

[[nodiscard]] inline bool is_shared(hw::InstructionClass cls) {
    return cls == hw::InstructionClass::ld_shared || cls == hw::InstructionClass::st_shared ||
           cls == hw::InstructionClass::ldmatrix || cls == hw::InstructionClass::stmatrix ||
           cls == hw::InstructionClass::atom_shared;
}

[[nodiscard]] inline bool is_global(const kernel::Kernel& kernel, const kernel::Access& access) {
    if (access.buffer == kernel::no_id) {
        return false;
    }
    const kernel::Space space = kernel.buffers[static_cast<std::size_t>(access.buffer)].space;
    return space == kernel::Space::global || space == kernel::Space::local;
}

}  // namespace warptime::model::machine
