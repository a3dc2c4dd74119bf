// The trivial baseline that a model must beat: a smooth roofline with three constants,
// t = ((operations / P)^2 + (bytes / B)^2)^(1/2) + t0, fitted on the fit rows of one suite.
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
    int rows = 0;  ///< it was fitted on

    [[nodiscard]] double time_us(const workloads::UsefulWork& work) const;
};

struct BaselineRow {
    workloads::UsefulWork work;
    double measured_us = 0.0;
};

/// Nothing for fewer rows than four: three constants would only repeat them.
[[nodiscard]] std::optional<Baseline> fit_baseline(std::span<const BaselineRow> rows);

/// What both fits minimise: ln(p / t) from 10 us on; below, the absolute error, scaled so that 0.3 us counts
/// as 3 % and the two join at 10 us.
[[nodiscard]] double fit_residual(double predicted_us, double measured_us);

}  // namespace warptime::validate
