// Fits the baseline's constants as logarithms, so that all stay positive and of one scale.
// SPDX-License-Identifier: Apache-2.0
#include "validate/baseline.hpp"

#include "model/calibration/least_squares.hpp"
#include "validate/size_class.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace warptime::validate {

double Baseline::time_us(const workloads::UsefulWork& work) const {
    return std::hypot(work.operations.value_or(0.0) / operations_per_us, work.bytes / bytes_per_us) +
           floor_us;
}

double fit_residual(double predicted_us, double measured_us) {
    constexpr double counts_as = 0.03 / 0.3;  // log error per microsecond
    return measured_us < smallest_relative_us ? (predicted_us - measured_us) * counts_as
                                              : std::log(predicted_us / measured_us);
}

std::optional<Baseline> fit_baseline(std::span<const BaselineRow> rows) {
    if (rows.size() < 4) return std::nullopt;
    double fastest = 0.0;
    double widest = 0.0;
    double shortest = std::numeric_limits<double>::infinity();
    for (const BaselineRow& row : rows) {
        fastest = std::max(fastest, row.work.operations.value_or(0.0) / row.measured_us);
        widest = std::max(widest, row.work.bytes / row.measured_us);
        shortest = std::min(shortest, row.measured_us);
    }
    const auto logarithm = [](const char* name, double start, double range) {
        const double at = std::log(std::max(start, 1e-9));
        return model::calibration::Parameter{name, at, at - range, at + range};
    };
    const std::vector<model::calibration::Parameter> parameters{
        logarithm("P", fastest, 7.0), logarithm("B", widest, 7.0), logarithm("t0", 0.5 * shortest, 7.0)};
    const auto baseline_at = [&](std::span<const double> p) {
        return Baseline{std::exp(p[0]), std::exp(p[1]), std::exp(p[2]), static_cast<int>(rows.size())};
    };
    model::calibration::FitOptions options;
    options.huber_delta = 0.1;
    const auto fit = model::calibration::fit(
        parameters, rows.size(),
        [&](std::span<const double> p, std::span<double> out) {
            const Baseline baseline = baseline_at(p);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                out[i] = fit_residual(baseline.time_us(rows[i].work), rows[i].measured_us);
            }
        },
        options);
    const std::vector<double> solution{fit.parameters[0].value, fit.parameters[1].value,
                                       fit.parameters[2].value};
    return baseline_at(solution);
}

}  // namespace warptime::validate
