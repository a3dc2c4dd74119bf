// From an operation to the program that a GPU runs for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/operation.hpp"

#include <functional>

namespace warptime::workloads {

/// Predicted seconds of a candidate program; lets a library's choice among its kernels be imitated without
/// knowing an engine. Infinite, if the scorer likes, for one that takes no less than `limit`.
using Score = std::function<double(const model::kernel::Program&, double limit)>;

/// Refills `program`. Throws Error naming the parameter for what cannot run (a tile that does not fit, a
/// problem larger than the GPU's memory).
void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu<double>& gpu,
           const Score& score, model::kernel::Program& program);

}  // namespace warptime::workloads
