// The smaller resources of a CTA with which one more CTA would be resident.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/occupancy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warptime::reports {

/// A hint for one resource. `largest`: the largest value that allows the CTA together with the earlier hints;
/// empty when no value does.
struct OccupancyHint {
    std::string resource;  ///< threads, registers, shared_bytes, barriers, ctas
    std::int64_t given = 0;
    std::optional<std::int64_t> largest;
};

/// One hint for each resource that prevents one more CTA. The CTA fits only if all hints are followed.
[[nodiscard]] std::vector<OccupancyHint> hints_for_one_more(const model::machine::CtaResources& cta,
                                                            const model::machine::SmLimits& limits);

}  // namespace warptime::reports
