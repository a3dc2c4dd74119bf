// Durations that are no time of a run.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/ticks.hpp"

#include "hw/error.hpp"

#include <string>

namespace warptime::model::simulation {

void refuse_duration(double cycles) {
    throw Error("simulated duration", std::to_string(cycles) + " cycles",
                "0 to 8e9 cycles: a rate of the GPU is missing or the kernel is too long to simulate");
}

}  // namespace warptime::model::simulation
