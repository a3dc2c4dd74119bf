// How far the predicted ratio of two similar kernels may be from the real one: data from recorded kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace warptime::checks {

/// `noise` and `spread` are natural logarithms of ratios. A difference above `noise` has the right sign in
/// nine of ten recorded pairs.
struct DifferenceNoise {
    double noise = 0.0;
    double spread = 0.0;
    double sign = 0.0;  ///< share of the pairs above the noise whose sign was right
    int pairs = 0;
    int programs = 0;
    std::string source;
};

[[nodiscard]] const DifferenceNoise& difference_noise();

}  // namespace warptime::checks
