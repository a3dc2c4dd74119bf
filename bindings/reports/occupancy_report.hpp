// Resident CTAs of given resources, their limit, and the need of one more CTA, as text and JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/occupancy_hint.hpp"
#include "hw/gpu.hpp"
#include "model/machine/occupancy/occupancy.hpp"

#include <string>
#include <utility>
#include <vector>

namespace warptime::reports {

struct OccupancyReport {
    std::string gpu;                                            ///< sheet id
    std::vector<std::pair<std::string, std::string>> settings;  ///< of the GPU
    int warps_max = 0;
    model::machine::CtaResources cta;
    model::machine::Occupancy result;
    std::vector<OccupancyHint> hints;  ///< for one more CTA
};

/// Makes the report. Throws Error for resources that no CTA of this GPU can have.
[[nodiscard]] OccupancyReport occupancy_report(const model::machine::CtaResources& cta, const hw::Gpu& gpu);

[[nodiscard]] std::string text_of(const OccupancyReport& report);

/// The JSON with schema warptime.occupancy/1.
[[nodiscard]] std::string to_json(const OccupancyReport& report, int indent = 2);

}  // namespace warptime::reports
