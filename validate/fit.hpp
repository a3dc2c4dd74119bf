// Fits calibration constants of a GPU to recorded durations.
// Only fit rows are used, never development or held-out rows.
// Loss: Huber of ln(p / t) from 10 us on; below, of the absolute error with 0.3 us counting as 3 %.
// The kernels that a library chooses stay fixed while the constants move.
// Between rounds the kernels are chosen anew. So a changed choice does not appear as a derivative.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate {

/// A key of hw/keys.toml and its bounds, in base units.
struct FitKey {
    std::string name;
    double low = 0.0;
    double high = 0.0;
};

/// Reads "dram.read_efficiency" or "dram.read_efficiency=0.5..1" (bounds with units). Without bounds: from a
/// tenth of the GPU's value to ten times that value. A bare number of at most 1 stays within [0, 1]. Throws
/// Error for an unknown or list key, bounds that are no interval, and a value of 0 without bounds.
[[nodiscard]] FitKey parse_fit_key(std::string_view text, const hw::Gpu& gpu);

/// The target of a fit. `choose` is called when constants have been accepted. `predict` then gives all rows'
/// durations in us with that choice, and NaN for a row that cannot be predicted. Both read the GPU being
/// fitted.
struct FitModel {
    std::vector<double> measured_us;
    std::function<void()> choose;
    std::function<void(std::span<double>)> predict;
};

struct FitKeyOptions {
    double huber_delta = 0.1;
    int rounds = 4;
    int max_iterations = 30;  ///< per round
};

struct FittedKey {
    std::string name;
    double before = 0.0, value = 0.0;  ///< base units
    /// Half-widths of the intervals. Infinity when the rows do not determine the key, or when the key lies on
    /// its bound.
    double half_width_95 = std::numeric_limits<double>::infinity();
    double half_width_80 = std::numeric_limits<double>::infinity();
    bool at_bound = false;
};

/// Figures of rows of at least 10 us, and of shorter ones, after the fit.
struct FitReport {
    std::vector<FittedKey> keys;
    std::size_t rows = 0;     ///< fitted on, short ones included
    std::size_t refused = 0;  ///< rows that could not be predicted at the start and were left out
    double loss_before = 0.0, loss_after = 0.0;
    double mape = 0.0;
    double mean_log_error = 0.0;  ///< mean |ln(p / t)|
    std::size_t short_rows = 0;
    double short_mean_us = 0.0;
};

/// Leaves the fitted values in `gpu`. Throws Error when no row can be predicted.
[[nodiscard]] FitReport fit_keys(hw::Gpu& gpu, std::span<const FitKey> keys, const FitModel& model,
                                 const FitKeyOptions& options = {});

}  // namespace warptime::validate
