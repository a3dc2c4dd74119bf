// Rounds of damped least squares.
// A round counts only if the loss with the new choice of kernels is lower.
// SPDX-License-Identifier: Apache-2.0
#include "validate/fit.hpp"

#include "hw/error.hpp"
#include "hw/unit.hpp"
#include "model/calibration/least_squares.hpp"
#include "validate/baseline.hpp"
#include "validate/size_class.hpp"
#include "validate/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warptime::validate {
namespace {

namespace calibration = model::calibration;

/// The rows that can be predicted, with room for all predictions.
class Rows {
  public:
    Rows(const FitModel& model, double huber_delta)
        : model_(&model), predicted_(model.measured_us.size()), huber_delta_(huber_delta) {
        model_->predict(predicted_);
        for (std::size_t i = 0; i < predicted_.size(); ++i) {
            if (std::isfinite(predicted_[i]) && predicted_[i] > 0.0) used_.push_back(i);
        }
    }

    [[nodiscard]] std::size_t size() const { return used_.size(); }
    [[nodiscard]] double measured(std::size_t i) const { return model_->measured_us[used_[i]]; }
    [[nodiscard]] double predicted(std::size_t i) const { return predicted_[used_[i]]; }

    /// At the GPU's present constants.
    void residuals(std::span<double> out) {
        model_->predict(predicted_);
        for (std::size_t i = 0; i < size(); ++i) out[i] = fit_residual(predicted(i), measured(i));
    }

    [[nodiscard]] double loss() {
        std::vector<double> r(size());
        residuals(r);
        double sum = 0.0;
        for (const double value : r) sum += calibration::huber_loss(value, huber_delta_);
        return sum;
    }

  private:
    const FitModel* model_;
    std::vector<double> predicted_;
    std::vector<std::size_t> used_;
    double huber_delta_;
};

void set_keys(hw::Gpu& gpu, std::span<const std::size_t> indices, std::span<const double> values) {
    for (std::size_t k = 0; k < indices.size(); ++k) hw::set_key_value(gpu, indices[k], values[k]);
}

void add_figures(Rows& rows, FitReport& report) {
    std::vector<double> relative;
    std::vector<double> logarithmic;
    std::vector<double> absolute;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (size_class_of(rows.measured(i)) == 0) {
            absolute.push_back(std::abs(rows.predicted(i) - rows.measured(i)));
        } else {
            relative.push_back(relative_error(rows.predicted(i), rows.measured(i)));
            logarithmic.push_back(std::abs(std::log(rows.predicted(i) / rows.measured(i))));
        }
    }
    report.mape = mean(relative);
    report.mean_log_error = mean(logarithmic);
    report.short_rows = absolute.size();
    report.short_mean_us = mean(absolute);
}

/// Normal quantile of 90 %, because a fit has many rows.
constexpr double deviations_80 = 1.2815515655446004;

void take(const calibration::Fit& fit, std::vector<FittedKey>& keys) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
        keys[k].value = fit.parameters[k].value;
        keys[k].half_width_95 = fit.parameters[k].half_width;
        keys[k].at_bound = fit.parameters[k].at_bound;
        const double variance = fit.covariance[k * keys.size() + k];
        keys[k].half_width_80 = std::isfinite(keys[k].half_width_95) ? deviations_80 * std::sqrt(variance)
                                                                     : keys[k].half_width_95;
    }
}

}  // namespace

FitKey parse_fit_key(std::string_view text, const hw::Gpu& gpu) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::size_t index = hw::key_index(name);
    const hw::KeyInfo& info = hw::key_info[index];
    const std::string owner = "--keys " + std::string(name);
    if (info.list) throw Error(owner, std::string(text), "a key with one value");
    FitKey key{std::string(info.name), 0.0, 0.0};
    const double value = hw::key_value(gpu, index);
    if (equals != std::string_view::npos) {
        const std::string_view box = text.substr(equals + 1);
        const std::size_t dots = box.find("..");
        if (dots == std::string_view::npos) throw Error(owner, std::string(box), "bounds as 0.5..1");
        key.low = hw::parse_value(box.substr(0, dots), info.unit, owner);
        key.high = hw::parse_value(box.substr(dots + 2), info.unit, owner);
    } else if (value > 0.0) {
        const bool is_share = info.unit == "1" && value <= 1.0;
        key.low = is_share ? 0.0 : 0.1 * value;
        key.high = is_share ? 1.0 : 10.0 * value;
    } else {
        throw Error(owner, "0", fmt::format("bounds, as {}=0..1: a value of 0 gives no scale", name));
    }
    if (!(key.low < key.high)) throw Error(owner, std::string(text), "a lower bound below the upper one");
    return key;
}

FitReport fit_keys(hw::Gpu& gpu, std::span<const FitKey> keys, const FitModel& model,
                   const FitKeyOptions& options) {
    if (keys.empty()) throw Error("--keys", "", "at least one key to fit");
    std::vector<std::size_t> indices;
    FitReport report;
    std::vector<double> best;
    for (const FitKey& key : keys) {
        indices.push_back(hw::key_index(key.name));
        const double value = hw::key_value(gpu, indices.back());
        report.keys.push_back({key.name, value, value});
        best.push_back(std::clamp(value, key.low, key.high));
    }
    model.choose();
    Rows rows(model, options.huber_delta);
    report.rows = rows.size();
    report.refused = model.measured_us.size() - rows.size();
    if (rows.size() == 0) throw Error("fit", "0 rows", "at least one row that can be predicted");
    report.loss_before = rows.loss();
    report.loss_after = std::numeric_limits<double>::infinity();

    for (int round = 0; round < options.rounds; ++round) {
        std::vector<calibration::Parameter> parameters;
        for (std::size_t k = 0; k < keys.size(); ++k) {
            parameters.push_back({keys[k].name, best[k], keys[k].low, keys[k].high});
        }
        calibration::FitOptions fit_options;
        fit_options.huber_delta = options.huber_delta;
        fit_options.max_iterations = options.max_iterations;
        fit_options.tolerance = 1e-6;
        fit_options.relative_step = 1e-4;
        const calibration::Fit fit = calibration::fit(
            parameters, rows.size(),
            [&](std::span<const double> p, std::span<double> out) {
                set_keys(gpu, indices, p);
                rows.residuals(out);
            },
            fit_options);
        std::vector<double> found;
        for (const calibration::FittedParameter& parameter : fit.parameters) found.push_back(parameter.value);
        set_keys(gpu, indices, found);
        model.choose();
        const double loss = rows.loss();
        const double fall = report.loss_after - loss;
        if (!(fall > 0.0)) break;
        report.loss_after = loss;
        best = found;
        take(fit, report.keys);
        if (fall <= 1e-4 * loss) break;
    }
    if (!std::isfinite(report.loss_after)) {
        throw Error("fit", "no finite loss", "constants whose choice of kernels can still be predicted");
    }
    set_keys(gpu, indices, best);
    model.choose();
    report.loss_after = rows.loss();
    add_figures(rows, report);
    return report;
}

}  // namespace warptime::validate
