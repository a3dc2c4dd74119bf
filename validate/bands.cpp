// Sorts residuals by class and takes their quantile.
// SPDX-License-Identifier: Apache-2.0
#include "validate/bands.hpp"

#include "hw/quantity.hpp"
#include "model/analytical/band.hpp"
#include "validate/statistics.hpp"

#include <array>
#include <cmath>
#include <set>
#include <string>

namespace warptime::validate {
namespace {

using model::analytical::Band;

using hw::us_per_s;
constexpr double covered = 0.80;

}  // namespace

std::vector<BandWidth> band_widths(std::span<const FitRowEstimate> estimates, std::size_t least_rows) {
    std::array<std::vector<double>, model::analytical::all_bands.size()> residuals;
    std::array<std::set<std::string>, model::analytical::all_bands.size()> suites;
    for (const FitRowEstimate& row : estimates) {
        if (!(row.estimate.time > 0.0)) continue;
        const double predicted_us = row.estimate.time * us_per_s;
        const Band band = model::analytical::band_of(row.measured_us / us_per_s, row.estimate.limiter,
                                                     row.estimate.band_class, row.estimate.evidence);
        if (row.row != nullptr) suites[static_cast<std::size_t>(band)].insert(row.row->suite);
        residuals[static_cast<std::size_t>(band)].push_back(
            model::analytical::is_short(band) ? std::abs(predicted_us - row.measured_us) / us_per_s
                                              : std::abs(std::log(predicted_us / row.measured_us)));
    }
    std::vector<BandWidth> widths;
    for (const Band band : model::analytical::all_bands) {
        const std::vector<double>& sample = residuals[static_cast<std::size_t>(band)];
        if (sample.size() < least_rows || sample.empty()) continue;
        const std::set<std::string>& names = suites[static_cast<std::size_t>(band)];
        widths.push_back({std::string(model::analytical::key_of(band)),
                          quantile(sample, covered),
                          sample.size(),
                          mean(sample),
                          {names.begin(), names.end()}});
    }
    return widths;
}

}  // namespace warptime::validate
