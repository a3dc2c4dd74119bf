// What the resources of a CTA would have to come down to for one more resident CTA.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/occupancy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warptime::reports {

/// `largest`: the largest value that lets in the CTA, given the hints before it; nothing when there is none.
struct OccupancyHint {
    std::string resource;  ///< threads, registers, shared_bytes, barriers, ctas
    std::int64_t given = 0;
    std::optional<std::int64_t> largest;
};

/// One hint for each resource that stands in the way of one CTA more than now; all of them are needed
/// together.
[[nodiscard]] std::vector<OccupancyHint> hints_for_one_more(const model::machine::CtaResources& cta,
                                                            const model::machine::SmLimits& limits);

}  // namespace warptime::reports
