// The trivial baseline that a model must beat: a smooth roofline with three constants.
// t = ((operations / P)^2 + (bytes / B)^2)^(1/2) + t0. The fit uses the fit rows of one suite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operator/operator.hpp"

#include <optional>
#include <span>

namespace warptime::validate {

struct Baseline {
    double operations_per_us = 0.0;
    double bytes_per_us = 0.0;
    double floor_us = 0.0;
    int rows = 0;  ///< rows of the fit

    [[nodiscard]] double time_us(const workloads::UsefulWork& work) const;
};

struct BaselineRow {
    workloads::UsefulWork work;
    double measured_us = 0.0;
};

/// Nothing for fewer than four rows, because three constants would only repeat such rows.
[[nodiscard]] std::optional<Baseline> fit_baseline(std::span<const BaselineRow> rows);

/// The residual that both fits minimise. From 10 us on: ln(p / t). Below: the absolute error, scaled so that
/// 0.3 us counts as 3 %. Both forms join at 10 us.
[[nodiscard]] double fit_residual(double predicted_us, double measured_us);

}  // namespace warptime::validate
