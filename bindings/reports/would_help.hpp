// Which resource of the GPU would save most of a prediction's time if it were twice as fast.
// Each resource's speeds are doubled in turn, everything else as it is, the kernels included: another tile
// might gain more. Ignores: issue slots, which no key states the rate of. Source: finite differences of
// predictions, over the keys that hw/keys.toml gives the same `resource`. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/engine.hpp"

#include <string>
#include <vector>

namespace warptime::reports {

/// A resource at twice its speed. Seconds.
struct WouldHelp {
    std::string resource;
    std::vector<std::string> keys;  ///< that say how fast it is, without the prefix gpu.
    double time = 0.0;              ///< of the program then
    double saved = 0.0;
};

/// Those that save at least a thousandth of `time`, the most helpful first. `time`: of the program as it is.
[[nodiscard]] std::vector<WouldHelp> twice_as_fast(const model::kernel::Program& program,
                                                   const model::prediction::Engine& engine,
                                                   const hw::Gpu& gpu,
                                                   const model::prediction::Conditions& conditions,
                                                   double time);

/// "next        twice the speed of l2 would save 12.0 us (6.9 %): gpu.l2.bandwidth, ...", then the others.
[[nodiscard]] std::string would_help_text(const std::vector<WouldHelp>& helpful, double time);

/// The report `json` with one more member, `would_help`: [{resource, keys[], time_us, saved_us}].
[[nodiscard]] std::string with_would_help_json(const std::string& json, const std::vector<WouldHelp>& helpful,
                                               int indent = 2);

}  // namespace warptime::reports
