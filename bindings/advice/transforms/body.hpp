// Changes of what warps execute: no spills, full warps, asynchronous copies, products that overlap, atomics.
// Each is a transformation of the description that a programmer could write; work that a remedy adds is
// added. Ignores: registers that a change needs or frees, except where it says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace warptime::advice {

/// Inserts ops without accesses and deps before op `at`.
void insert_ops(model::kernel::Kernel& kernel, std::size_t at, const std::vector<model::kernel::Op>& added);

/// The kernel without the ops that `drop` names; what depended on one depends on what that one depended on.
void remove_ops(model::kernel::Kernel& kernel, const std::function<bool(const model::kernel::Op&)>& drop);

/// Without loads and stores of local memory.
[[nodiscard]] bool unspill(model::kernel::Kernel& kernel);
/// Lanes that take the same way share warps: fewer warps take each branch, with all lanes at work, and all
/// lanes of a warp make as many trips.
[[nodiscard]] bool converge(model::kernel::Kernel& kernel);
/// What goes from global to shared memory through registers is copied asynchronously, one trip ahead.
[[nodiscard]] bool async_copy(model::kernel::Kernel& kernel);
/// Matrix products do not wait for the product before.
[[nodiscard]] bool unserialize_wgmma(model::kernel::Kernel& kernel);
/// Reads of what the kernel does not write go through L1.
[[nodiscard]] bool read_only(model::kernel::Kernel& kernel);
/// One atomic of a warp for all of its lanes that share an address, after the warp has added their values.
[[nodiscard]] bool aggregate_atomics(model::kernel::Kernel& kernel);
/// Atomics to few addresses go to a copy in shared memory, which each CTA adds to global memory at its end.
[[nodiscard]] bool privatize_atomics(model::kernel::Kernel& kernel, const hw::Gpu& gpu);

}  // namespace warptime::advice
