// SPDX-License-Identifier: Apache-2.0
#include "workloads/unknown_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warptime::workloads {

Operation copy_of(double bytes) {
    constexpr double each = 4.0;  // a bf16 element is read and written
    const double elements = std::max(1.0, std::floor(bytes / each));
    return make_operation("copy", {{"n", fmt::format("{:.0f}", elements)}, {"dtype", "bf16"}});
}

model::prediction::Estimate estimate_unknown(const UnknownWork& work, Predictor& predictor,
                                             const model::prediction::Conditions& conditions) {
    const hw::Gpu& gpu = predictor.gpu();
    // 2 x lanes x SMs x clock: the peak on data sheets (hw/keys.toml, fp32.lanes).
    const double rate = 2.0 * gpu.sm.count.value() * gpu.fp32.lanes.value() * gpu.clock.boost.value();
    model::prediction::Estimate estimate = predictor.evaluate(copy_of(work.bytes), conditions);
    const double arithmetic = predictor.evaluate(copy_of(0.0), conditions).time + work.flops / rate;
    if (arithmetic > estimate.time) {
        estimate.time = arithmetic;
        estimate.limiter = model::prediction::Limiter::fp32;
    }
    estimate.low = estimate.time / unknown_band;
    estimate.high = estimate.time * unknown_band;
    return estimate;
}

}  // namespace warptime::workloads
