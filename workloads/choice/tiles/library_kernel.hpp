// The kernel that the vendor's library would run for the problem, beside the tiles that are ranked.
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

/// What predict finds without a tile, `chooser` scoring the library's kernels. Nothing where these are not
/// known for this GPU or element type. A tile or an implementation in the operation does not count.
[[nodiscard]] std::optional<LibraryKernel> library_kernel(const Operation& operation,
                                                          const model::prediction::Engine& engine,
                                                          const model::prediction::Engine& chooser,
                                                          const hw::Gpu& gpu,
                                                          const model::prediction::Conditions& conditions);

}  // namespace warptime::workloads::choice::tiles
