// Levenberg-Marquardt on a box, with Huber's loss as weights (iteratively reweighted normal equations).
// Parameters pressed against a bound are left out of the step. The step is clipped to the box; only a lower
// loss is accepted. Ignores and sources: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/calibration/least_squares.hpp"

#include "hw/error.hpp"

#include <Eigen/Dense>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warptime::model::calibration {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Problem {
    std::span<const Parameter> parameters;
    const Residuals& residuals;
    const FitOptions& options;

    [[nodiscard]] Vector evaluate(const Vector& x, std::size_t count) const {
        Vector r(static_cast<Index>(count));
        residuals({x.data(), static_cast<std::size_t>(x.size())}, {r.data(), count});
        return r;
    }

    [[nodiscard]] double loss(const Vector& r) const {
        double sum = 0.0;
        for (const double value : r) sum += huber_loss(value, options.huber_delta);
        return sum;
    }

    [[nodiscard]] double low(Index j) const { return parameters[static_cast<std::size_t>(j)].low; }
    [[nodiscard]] double high(Index j) const { return parameters[static_cast<std::size_t>(j)].high; }

    /// Length of the difference step of parameter j.
    [[nodiscard]] double step(const Vector& x, Index j) const {
        if (x[j] != 0.0) return std::abs(x[j]) * options.relative_step;
        const double width = high(j) - low(j);
        return (std::isfinite(width) ? width : 1.0) * options.relative_step;
    }

    /// Central differences; one-sided at a bound.
    [[nodiscard]] Matrix jacobian(const Vector& x, const Vector& r) const {
        const auto count = static_cast<std::size_t>(r.size());
        Matrix j(r.size(), x.size());
        Vector moved = x;
        for (Index k = 0; k < x.size(); ++k) {
            const double h = step(x, k);
            const double above = std::min(x[k] + h, high(k));
            const double below = std::max(x[k] - h, low(k));
            moved[k] = above;
            const Vector r_above = evaluate(moved, count);
            moved[k] = below;
            const Vector r_below = evaluate(moved, count);
            moved[k] = x[k];
            if (above > below && r_above.allFinite() && r_below.allFinite()) {
                j.col(k) = (r_above - r_below) / (above - below);
            } else {
                j.col(k).setZero();
            }
        }
        return j;
    }
};

Vector huber_weights(const Vector& r, double delta) {
    Vector w(r.size());
    for (Index i = 0; i < r.size(); ++i) w[i] = std::abs(r[i]) <= delta ? 1.0 : delta / std::abs(r[i]);
    return w;
}

void check(std::span<const Parameter> parameters, std::size_t count) {
    for (const Parameter& p : parameters) {
        if (!(p.low < p.high)) {
            throw Error("fit " + p.name, fmt::format("[{}, {}]", p.low, p.high), "a box with low below high");
        }
        if (!(p.start >= p.low && p.start <= p.high)) {
            throw Error("fit " + p.name, fmt::format("{}", p.start),
                        fmt::format("a start within [{}, {}]", p.low, p.high));
        }
    }
    if (count == 0) throw Error("fit", "0 residuals", "at least one row to fit on");
}

/// Parameters that may move: not pressed against a bound by the downhill direction, and with some effect.
std::vector<Index> free_parameters(const Problem& problem, const Vector& x, const Vector& gradient,
                                   const Matrix& normal) {
    std::vector<Index> free;
    for (Index j = 0; j < x.size(); ++j) {
        const bool pressed_low = x[j] <= problem.low(j) && gradient[j] > 0.0;
        const bool pressed_high = x[j] >= problem.high(j) && gradient[j] < 0.0;
        if (!pressed_low && !pressed_high && normal(j, j) > 0.0) free.push_back(j);
    }
    return free;
}

Matrix pick(const Matrix& m, const std::vector<Index>& at) {
    const auto n = static_cast<Index>(at.size());
    Matrix out(n, n);
    for (Index a = 0; a < n; ++a) {
        for (Index b = 0; b < n; ++b) {
            out(a, b) = m(at[static_cast<std::size_t>(a)], at[static_cast<std::size_t>(b)]);
        }
    }
    return out;
}

struct State {
    Vector x;
    Vector r;
    double loss;
    double damping = 1e-3;
    double damping_growth = 2.0;
};

/// Takes one damped step from the state; true when the loss fell.
bool try_step(const Problem& problem, State& state, const Matrix& normal, const Vector& gradient,
              const std::vector<Index>& free) {
    const auto n = static_cast<Index>(free.size());
    Matrix damped = pick(normal, free);
    Vector downhill(n);
    for (Index a = 0; a < n; ++a) {
        damped(a, a) *= 1.0 + state.damping;
        downhill[a] = -gradient[free[static_cast<std::size_t>(a)]];
    }
    const Vector step = damped.ldlt().solve(downhill);
    Vector next = state.x;
    double predicted_fall = 0.0;
    for (Index a = 0; a < n; ++a) {
        const Index j = free[static_cast<std::size_t>(a)];
        next[j] = std::clamp(state.x[j] + step[a], problem.low(j), problem.high(j));
        predicted_fall += 0.5 * step[a] * (state.damping * normal(j, j) * step[a] + downhill[a]);
    }
    const bool usable = next.allFinite();
    const Vector r =
        usable ? problem.evaluate(next, static_cast<std::size_t>(state.r.size())) : Vector(state.r);
    const double loss = usable && r.allFinite() ? problem.loss(r) : infinity;
    if (!(loss < state.loss)) {
        state.damping *= state.damping_growth;
        state.damping_growth *= 2.0;
        return false;
    }
    const double gain = predicted_fall > 0.0 ? (state.loss - loss) / predicted_fall : 1.0;
    state.damping *= std::max(1.0 / 3.0, 1.0 - std::pow(2.0 * gain - 1.0, 3.0));
    state.damping = std::max(state.damping, 1e-15);
    state.damping_growth = 2.0;
    state.x = next;
    state.r = r;
    state.loss = loss;
    return true;
}

/// Adds the covariance of the free parameters: s^2 (J^T J)^-1, with Huber's correction where residuals are
/// cut.
void add_intervals(const Problem& problem, const State& state, Fit& result) {
    const Index p = state.x.size();
    const Index n = state.r.size();
    const Matrix j = problem.jacobian(state.x, state.r);
    std::vector<Index> inside;
    for (Index k = 0; k < p; ++k) {
        const auto at = static_cast<std::size_t>(k);
        result.parameters[at].at_bound = state.x[k] <= problem.low(k) || state.x[k] >= problem.high(k);
        if (!result.parameters[at].at_bound && j.col(k).squaredNorm() > 0.0) inside.push_back(k);
    }
    result.covariance.assign(static_cast<std::size_t>(p * p), 0.0);
    const auto q = static_cast<Index>(inside.size());
    if (q == 0 || n <= q) return;

    const double delta = problem.options.huber_delta;
    double cut_squares = 0.0;
    double uncut = 0.0;
    for (const double r : state.r) {
        const double psi = std::clamp(r, -delta, delta);
        cut_squares += psi * psi;
        uncut += std::abs(r) <= delta ? 1.0 : 0.0;
    }
    const double share = uncut / static_cast<double>(n);
    if (share == 0.0) return;
    const double correction = 1.0 + static_cast<double>(q) / static_cast<double>(n) * (1.0 - share) / share;
    const double variance =
        correction * correction * cut_squares / static_cast<double>(n - q) / (share * share);

    // Columns are scaled to unit length first, since keys differ by many orders of magnitude.
    const Matrix normal = pick(j.transpose() * j, inside);
    const Vector scale = normal.diagonal().cwiseSqrt().cwiseInverse();
    const Matrix scaled = scale.asDiagonal() * normal * scale.asDiagonal();
    const Eigen::FullPivLU<Matrix> decomposition(scaled);
    if (!decomposition.isInvertible()) return;
    const Matrix covariance = variance * (scale.asDiagonal() * decomposition.inverse() * scale.asDiagonal());

    const boost::math::students_t student(static_cast<double>(n - q));
    const double t = boost::math::quantile(student, 0.5 + 0.5 * problem.options.confidence);
    for (Index a = 0; a < q; ++a) {
        const Index ka = inside[static_cast<std::size_t>(a)];
        result.parameters[static_cast<std::size_t>(ka)].half_width =
            t * std::sqrt(std::max(covariance(a, a), 0.0));
        for (Index b = 0; b < q; ++b) {
            const Index kb = inside[static_cast<std::size_t>(b)];
            result.covariance[static_cast<std::size_t>(ka * p + kb)] = covariance(a, b);
        }
    }
}

}  // namespace

double huber_loss(double residual, double delta) {
    const double size = std::abs(residual);
    return size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
}

Fit fit(std::span<const Parameter> parameters, std::size_t count, const Residuals& residuals,
        const FitOptions& options) {
    check(parameters, count);
    const Problem problem{parameters, residuals, options};
    State state{Vector(static_cast<Index>(parameters.size())), {}, 0.0};
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        state.x[static_cast<Index>(j)] = parameters[j].start;
    }
    state.r = problem.evaluate(state.x, count);
    if (!state.r.allFinite()) throw Error("fit", "residual not finite", "finite residuals at the start");
    state.loss = problem.loss(state.r);

    Fit result;
    constexpr double damping_limit = 1e15;
    while (!result.converged && result.iterations < options.max_iterations) {
        ++result.iterations;
        const Matrix j = problem.jacobian(state.x, state.r);
        const Vector w = huber_weights(state.r, options.huber_delta);
        const Matrix normal = j.transpose() * w.asDiagonal() * j;
        const Vector gradient = j.transpose() * w.cwiseProduct(state.r);
        const std::vector<Index> free = free_parameters(problem, state.x, gradient, normal);
        if (free.empty() || state.loss == 0.0) {
            result.converged = true;
            break;
        }
        const double loss_before = state.loss;
        const Vector x_before = state.x;
        bool fell = false;
        while (!fell && state.damping < damping_limit)
            fell = try_step(problem, state, normal, gradient, free);
        const double moved =
            ((state.x - x_before).array() / x_before.array().abs().max(1e-300)).abs().maxCoeff();
        result.converged = !fell || loss_before - state.loss <= options.tolerance * loss_before ||
                           moved <= options.tolerance;
    }

    result.loss = state.loss;
    result.residuals.assign(state.r.begin(), state.r.end());
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        result.parameters.push_back({parameters[j].name, state.x[static_cast<Index>(j)], infinity, false});
    }
    add_intervals(problem, state, result);
    return result;
}

}  // namespace warptime::model::calibration
