// Which Warptime operators a recorded call of PyTorch is, from the name, shapes, strides and types of its
// arguments. Ignores: what a call's arguments do not tell (values of indices), and outputs, which profilers
// do not record.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/traces/profile.hpp"
#include "workloads/operator/operation.hpp"

#include <span>
#include <vector>

namespace warptime::workloads::traces {

/// The operators that a call runs, in order; none where it is not known. `kernels` are those that it
/// launched, whose names and grids tell what profilers leave out of lists of tensors. Values are not checked:
/// an operator may refuse them.
[[nodiscard]] std::vector<Operation> operations_of(const TracedCall& call,
                                                   std::span<const TracedKernel* const> kernels = {});

/// Bytes that an operator of `operations_of` writes, by its parameters.
[[nodiscard]] double written_bytes(const Operation& operation);

/// Bytes of the tensors that a call is given; 0 where the profiler recorded no shapes.
[[nodiscard]] double input_bytes(const TracedCall& call);

/// Bytes that the call's tensors hold, those of its result taken as those of the largest one; 0 where the
/// profiler recorded no shapes.
[[nodiscard]] double bytes_of(const TracedCall& call);

}  // namespace warptime::workloads::traces
