// The kernel that the vendor's library would run for the problem, for comparison with the ranked tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "workloads/choice/tiles/candidate.hpp"

#include <optional>

namespace warptime::workloads::choice::tiles {

struct LibraryKernel {
    Candidate candidate;
    double time = 0.0;  ///< s, of all steps
};

/// The prediction without a tile; `chooser` scores the library's kernels. Empty where these kernels are
/// unknown for the GPU or element type. A tile or an implementation in the operation has no effect.
[[nodiscard]] std::optional<LibraryKernel> library_kernel(const Operation& operation,
                                                          const model::prediction::Engine& engine,
                                                          const model::prediction::Engine& chooser,
                                                          const hw::Gpu& gpu,
                                                          const model::prediction::Conditions& conditions);

}  // namespace warptime::workloads::choice::tiles
