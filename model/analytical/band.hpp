// The 80 % band around a prediction: a share of the time, or a fixed time for the shortest kernels.
// Source: residuals of recorded fit and development rows, by class (fitted keys band.*). Where a part of the
// instructions is not known exactly, the half-width grows by a rule of thumb (band_edges.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/evidence.hpp"
#include "model/prediction/band_edges.hpp"
#include "model/prediction/limiter.hpp"
#include "model/prediction/prediction.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace warptime::model::analytical {

/// Class of kernels that share residuals. Short kernels that only launch or stream have half the error of
/// short loops. Recorded rows below 10 us: 0.4 us against 0.8 us at the 80 % quantile. Kernels whose own kind
/// is not recorded share the residuals of the textbook programs, whatever limits them. Kernels of workloads
/// that have few rows each share the residuals of these rows in the same way.
enum class Band : std::uint8_t {
    compute,
    memory,
    latency,
    small,
    small_loop,
    pooled,
    pooled_small,
    described,
    described_small
};
inline constexpr std::array<Band, 9> all_bands{Band::compute,      Band::memory,     Band::latency,
                                               Band::small,        Band::small_loop, Band::pooled,
                                               Band::pooled_small, Band::described,  Band::described_small};

[[nodiscard]] constexpr bool is_short(Band band) {
    return band == Band::small || band == Band::small_loop || band == Band::pooled_small ||
           band == Band::described_small;
}

/// Band of a kernel that takes `seconds`.
[[nodiscard]] constexpr Band band_of(double seconds, prediction::Limiter limiter,
                                     prediction::KernelClass band_class, kernel::Evidence evidence) {
    const bool is_brief = seconds < prediction::short_kernel_seconds;
    if (evidence == kernel::Evidence::any) return is_brief ? Band::described_small : Band::described;
    if (evidence == kernel::Evidence::pooled) return is_brief ? Band::pooled_small : Band::pooled;
    if (is_brief) {
        const bool streams = limiter == prediction::Limiter::launch || limiter == prediction::Limiter::dram;
        return streams ? Band::small : Band::small_loop;
    }
    switch (band_class) {
        case prediction::KernelClass::compute:
            return Band::compute;
        case prediction::KernelClass::memory:
            return Band::memory;
        case prediction::KernelClass::latency:
        case prediction::KernelClass::occupancy:
        case prediction::KernelClass::launch:
            break;
    }
    return Band::latency;
}

[[nodiscard]] constexpr std::string_view key_of(Band band) {
    switch (band) {
        case Band::compute:
            return "band.compute";
        case Band::memory:
            return "band.memory";
        case Band::latency:
            return "band.latency";
        case Band::small:
            return "band.small";
        case Band::pooled:
            return "band.pooled";
        case Band::pooled_small:
            return "band.pooled_small";
        case Band::described:
            return "band.described";
        case Band::described_small:
            return "band.described_small";
        case Band::small_loop:
            break;
    }
    return "band.small_loop";
}

/// Half-width of the band: of the logarithm, or in seconds for short kernels.
[[nodiscard]] inline double half_width(Band band, const hw::Gpu& gpu) {
    switch (band) {
        case Band::compute:
            return gpu.band.compute.value();
        case Band::memory:
            return gpu.band.memory.value();
        case Band::latency:
            return gpu.band.latency.value();
        case Band::small:
            return gpu.band.small.value();
        case Band::pooled:
            return gpu.band.pooled.value();
        case Band::pooled_small:
            return gpu.band.pooled_small.value();
        case Band::described:
            return gpu.band.described.value();
        case Band::described_small:
            return gpu.band.described_small.value();
        case Band::small_loop:
            break;
    }
    return gpu.band.small_loop.value();
}

/// `wider` is a factor on the half-width (prediction::widening).
[[nodiscard]] inline prediction::Estimate with_band(double time, prediction::Limiter limiter,
                                                    prediction::KernelClass band_class,
                                                    kernel::Evidence evidence, double wider,
                                                    const hw::Gpu& gpu) {
    const Band band = band_of(time, limiter, band_class, evidence);
    const double half = half_width(band, gpu) * wider;
    const prediction::BandEdges edges =
        is_short(band) ? prediction::fixed_edges(time, half) : prediction::relative_edges(time, half);
    prediction::Estimate estimate;
    estimate.time = time;
    estimate.low = edges.low;
    estimate.high = edges.high;
    estimate.limiter = limiter;
    estimate.band_class = band_class;
    estimate.evidence = evidence;
    return estimate;
}

/// Band of a memory step, which is exact and whose kind is recorded.
[[nodiscard]] inline prediction::Estimate with_band(double time, prediction::Limiter limiter,
                                                    const hw::Gpu& gpu) {
    return with_band(time, limiter, prediction::class_of(limiter), kernel::Evidence::own, 1.0, gpu);
}

/// The band class follows how a kernel is built, and only then what limits it. Loops whose warps load for
/// themselves have class latency, whether asynchronous or not. Such loops depend on load latency and on
/// neighbours' turns, whichever server is busiest. Other tensor kernels have class compute, even where DRAM
/// is busiest. Their error is that of the tile loop and, where a library chose, of the choice. Remaining
/// kernels stream and are known best.
[[nodiscard]] inline prediction::KernelClass band_class_of(prediction::Limiter limiter, bool loads_itself,
                                                           bool uses_tensor) {
    if (loads_itself) return prediction::KernelClass::latency;
    return uses_tensor ? prediction::KernelClass::compute : prediction::class_of(limiter);
}

}  // namespace warptime::model::analytical
