// Damped least squares (Levenberg-Marquardt) with box bounds, a robust loss and intervals for the parameters.
// Ignores: the origin of residuals; this library knows no files and no GPU.
// Sources: Marquardt 1963 (doi.org/10.1137/0111030); damping schedule of Nielsen 1999 (IMM-REP-1999-05);
// covariance under Huber's loss after Huber & Ronchetti, Robust Statistics (2nd ed.), section 7.6.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace warptime::model::calibration {

/// Parameter to fit: its start lies within the box [low, high]. Any unit.
struct Parameter {
    std::string name;
    double start = 0.0;
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

/// Writes all residuals at `parameters`; must be deterministic. A residual that is not finite refuses the
/// trial point; at the start it is an Error.
using Residuals = std::function<void(std::span<const double> parameters, std::span<double> residuals)>;

struct FitOptions {
    /// Residuals beyond this count linearly (Huber); infinity gives plain least squares.
    double huber_delta = std::numeric_limits<double>::infinity();
    int max_iterations = 60;
    /// Least change, as a fraction, of loss or parameters; a smaller change ends the fit.
    double tolerance = 1e-10;
    /// Step of the central differences as a fraction of the parameter, or of the box where the parameter is
    /// zero.
    double relative_step = 1e-5;
    /// Probability that an interval covers the parameter.
    double confidence = 0.95;
};

struct FittedParameter {
    std::string name;
    double value = 0.0;
    /// Half-width of the interval. Infinity when the residuals do not determine the parameter, or it lies on
    /// its bound.
    double half_width = std::numeric_limits<double>::infinity();
    bool at_bound = false;
};

struct Fit {
    std::vector<FittedParameter> parameters;
    double loss = 0.0;              ///< sum of Huber's rho; half the sum of squares when no residual is cut
    std::vector<double> residuals;  ///< residuals at the solution
    std::vector<double>
        covariance;  ///< row by row, parameters x parameters; zero rows for undetermined parameters
    int iterations = 0;
    bool converged = false;
};

/// Huber's rho: r^2 / 2 up to delta, then delta (
/// r
/// - delta / 2).
[[nodiscard]] double huber_loss(double residual, double delta);

/// Minimises the summed loss of `count` residuals. Throws Error for an empty or inverted box, or a start
/// outside the box. Also throws for fewer than one residual, or residuals that are not finite at the start.
[[nodiscard]] Fit fit(std::span<const Parameter> parameters, std::size_t count, const Residuals& residuals,
                      const FitOptions& options = {});

}  // namespace warptime::model::calibration
