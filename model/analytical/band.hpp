// The 80 % band around a prediction: a share of the time, or a fixed time for the shortest kernels.
// Source: residuals of recorded fit and development rows, by class (fitted keys band.*).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/prediction/limiter.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::model::analytical {

/// Below this time launch effects of fixed size dominate the residual, above it they are relative (the
/// scoreboard draws the same line).
inline constexpr double short_kernel_seconds = 10e-6;

template <class S>
[[nodiscard]] S relative_band(prediction::KernelClass kernel_class, const hw::Gpu<S>& gpu) {
    switch (kernel_class) {
        case prediction::KernelClass::compute:
            return gpu.band.compute.value();
        case prediction::KernelClass::memory:
            return gpu.band.memory.value();
        case prediction::KernelClass::latency:
        case prediction::KernelClass::occupancy:
        case prediction::KernelClass::launch:
            break;
    }
    return gpu.band.latency.value();
}

template <class S>
[[nodiscard]] prediction::Estimate<S> with_band(const S& time, prediction::Limiter limiter,
                                                prediction::KernelClass band_class, const hw::Gpu<S>& gpu) {
    prediction::Estimate<S> estimate;
    estimate.time = time;
    estimate.limiter = limiter;
    estimate.band_class = band_class;
    if (hw::value_of(time) < short_kernel_seconds) {
        const S half = gpu.band.small.value();
        estimate.low = hw::max(time * S(0.5), time - half);
        estimate.high = time + half;
    } else {
        const S factor = hw::exp(relative_band(band_class, gpu));
        estimate.low = time / factor;
        estimate.high = time * factor;
    }
    return estimate;
}

template <class S>
[[nodiscard]] prediction::Estimate<S> with_band(const S& time, prediction::Limiter limiter,
                                                const hw::Gpu<S>& gpu) {
    return with_band(time, limiter, prediction::class_of(limiter), gpu);
}

/// Whose residuals a kernel shares is a matter of how it is built before one of what limits it. Loops whose
/// warps load for themselves, asynchronously or not, hang on the latency of their loads and on their
/// neighbours' turns, whichever server is busiest: latency. Other tensor kernels are off by their tile loop
/// (and, where a library chose, by the choice), even where DRAM is busiest: compute. What is left streams,
/// and is known best.
[[nodiscard]] inline prediction::KernelClass band_class_of(prediction::Limiter limiter, bool loads_itself,
                                                           bool uses_tensor) {
    if (loads_itself) return prediction::KernelClass::latency;
    return uses_tensor ? prediction::KernelClass::compute : prediction::class_of(limiter);
}

}  // namespace warptime::model::analytical
