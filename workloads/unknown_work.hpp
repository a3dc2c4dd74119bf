// Work that no operator describes: its bytes as a copy moves them, or its operations at the fp32 rate,
// whichever is longer.
// A stated prior: no rows stand behind its band, which goes from a third to three times of the time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/predict.hpp"

namespace warptime::workloads {

struct UnknownWork {
    double bytes = 0.0;  ///< read and written together
    double flops = 0.0;
};

/// A copy that reads half of the bytes and writes half. Throws Error for more elements than a copy may have.
[[nodiscard]] Operation copy_of(double bytes);

/// Factor from the time to either edge of its band.
inline constexpr double unknown_band = 3.0;

[[nodiscard]] model::prediction::Estimate estimate_unknown(const UnknownWork& work, Predictor& predictor,
                                                           const model::prediction::Conditions& conditions);

}  // namespace warptime::workloads
