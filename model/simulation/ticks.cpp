// Conversion of cycles to ticks, with its limits.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/ticks.hpp"

#include "hw/error.hpp"

#include <cmath>
#include <string>

namespace warptime::model::simulation {

Ticks ticks_of(double cycles) {
    const double ticks = cycles * static_cast<double>(ticks_per_cycle);
    if (!(ticks >= 0.0 && ticks < static_cast<double>(end_of_time))) {
        throw Error("simulated duration", std::to_string(cycles) + " cycles",
                    "0 to 8e9 cycles: a rate of the GPU is missing or the kernel is too long to simulate");
    }
    return std::llround(ticks);
}

}  // namespace warptime::model::simulation
