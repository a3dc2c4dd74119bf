// Checks that a description can run: ids, sizes, nesting, tokens and launch limits.
// Ignores: whether it fits on a chip (occupancy says so) and whether it runs to its end (walk.hpp does).
// Source: CUDA C++ Programming Guide 13.0, table of technical specifications, for the launch limits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

namespace warptime::model::kernel {

/// Throws Error naming kernel, record, field, the value and the form expected. An accepted kernel can be
/// evaluated, walked and written as text.
///
/// Beyond ranges: payloads count up in node order, and role bodies follow one another. A nested index refers
/// only to earlier ones; a dep stays inside its role and points backwards. Every awaited token is signalled.
/// Role warps fill the CTA, clusters divide the grid, shared buffers and boxes fit.
void check(const Kernel& kernel);

/// Checks every kernel of the program and the order of its steps.
void check(const Program& program);

}  // namespace warptime::model::kernel
