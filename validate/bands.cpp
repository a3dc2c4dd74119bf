// Sorts residuals by class and takes their quantile. SPDX-License-Identifier: Apache-2.0
#include "validate/bands.hpp"

#include "validate/size_class.hpp"
#include "validate/statistics.hpp"

#include <array>
#include <cmath>

namespace warptime::validate {
namespace {

constexpr double us_per_s = 1e6;
constexpr double covered = 0.80;

enum Band : std::size_t { compute, memory, latency, small, band_count };
constexpr std::array<const char*, band_count> band_keys{"band.compute", "band.memory", "band.latency",
                                                        "band.small"};

Band band_of(model::prediction::KernelClass kernel_class) {
    switch (kernel_class) {
        case model::prediction::KernelClass::compute:
            return compute;
        case model::prediction::KernelClass::memory:
            return memory;
        case model::prediction::KernelClass::latency:
        case model::prediction::KernelClass::occupancy:
        case model::prediction::KernelClass::launch:
            break;
    }
    return latency;
}

}  // namespace

std::vector<BandWidth> band_widths(std::span<const FitRowEstimate> estimates, std::size_t least_rows) {
    std::array<std::vector<double>, band_count> residuals;
    for (const FitRowEstimate& row : estimates) {
        if (!(row.estimate.time > 0.0)) continue;
        const double predicted_us = row.estimate.time * us_per_s;
        if (size_class_of(row.measured_us) == 0) {
            residuals[small].push_back(std::abs(predicted_us - row.measured_us) / us_per_s);
        } else {
            residuals[band_of(row.estimate.band_class)].push_back(
                std::abs(std::log(predicted_us / row.measured_us)));
        }
    }
    std::vector<BandWidth> widths;
    for (std::size_t b = 0; b < band_count; ++b) {
        const std::vector<double>& sample = residuals[b];
        if (sample.size() < least_rows || sample.empty()) continue;
        widths.push_back({band_keys[b], quantile(sample, covered), sample.size(), mean(sample)});
    }
    return widths;
}

}  // namespace warptime::validate
