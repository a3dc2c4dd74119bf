// Which resource of the GPU would save most of a prediction's time if it were twice as fast.
// The speeds of each resource are doubled in turn. All else stays, also the kernels; another tile might gain
// more.
// Ignores: issue slots, because no key gives their rate.
// Source: finite differences of predictions, over the keys that hw/keys.toml gives the same `resource`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/engine.hpp"

#include <string>
#include <vector>

namespace warptime::reports {

/// A resource at twice its speed; times in seconds.
struct WouldHelp {
    std::string resource;
    std::vector<std::string> keys;  ///< that give its speed, without the prefix gpu.
    double time = 0.0;              ///< of the program with the faster resource
    double saved = 0.0;
};

/// Resources that save at least a thousandth of `time`, the most helpful first. `time` is that of the
/// unchanged program.
[[nodiscard]] std::vector<WouldHelp> twice_as_fast(const model::kernel::Program& program,
                                                   const model::prediction::Engine& engine,
                                                   const hw::Gpu& gpu,
                                                   const model::prediction::Conditions& conditions,
                                                   double time);

/// The text "next        twice the speed of l2 would save 12.0 us (6.9 %): gpu.l2.bandwidth, ...", then the
/// other resources.
[[nodiscard]] std::string would_help_text(const std::vector<WouldHelp>& helpful, double time);

/// The report `json` with one more member, `would_help`: [{resource, keys[], time_us, saved_us}].
[[nodiscard]] std::string with_would_help_json(const std::string& json, const std::vector<WouldHelp>& helpful,
                                               int indent = 2);

}  // namespace warptime::reports
