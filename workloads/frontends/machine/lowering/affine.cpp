// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/affine.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {

namespace {

/// Lanes side by side that are active, from the first active one on.
int first_lanes(const LaneAddresses& access) {
    return access.lanes == 0 ? 0 : std::countr_one(access.lanes >> std::countr_zero(access.lanes));
}

/// The pattern of one access, from its first lanes.
LanePattern pattern_of(const LaneAddresses& access) {
    LanePattern pattern;
    const int count = first_lanes(access);
    if (count < 2) {
        return pattern;
    }
    const int first = std::countr_zero(access.lanes);
    const auto address = [&access](int lane) { return access.address[static_cast<std::size_t>(lane)]; };
    pattern.inner = address(first + 1) - address(first);
    int end = first + 2;
    while (end < first + count && address(end) - address(end - 1) == pattern.inner) {
        ++end;
    }
    if (end < first + count) {
        pattern.inner_extent = end;
        pattern.outer = address(end) - (address(first) - first * pattern.inner);
    }
    return pattern;
}

std::vector<std::size_t> varying_of(std::span<const AffineSample> samples) {
    std::vector<std::size_t> varying;
    for (std::size_t v = 0; !samples.empty() && v < samples.front().variables.size(); ++v) {
        const bool varies = std::ranges::any_of(samples, [&](const AffineSample& sample) {
            return sample.variables[v] != samples.front().variables[v];
        });
        if (varies) {
            varying.push_back(v);
        }
    }
    return varying;
}

/// Coefficients of the varying variables. Differences to the first sample keep the numbers small enough to be
/// exact in double precision.
Eigen::VectorXd least_squares(std::span<const AffineSample> samples,
                              const std::vector<std::size_t>& varying) {
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(samples.size()),
                           static_cast<Eigen::Index>(varying.size()));
    Eigen::VectorXd values(static_cast<Eigen::Index>(samples.size()));
    for (std::size_t s = 0; s < samples.size(); ++s) {
        const auto row = static_cast<Eigen::Index>(s);
        for (std::size_t v = 0; v < varying.size(); ++v) {
            matrix(row, static_cast<Eigen::Index>(v)) =
                static_cast<double>(samples[s].variables[varying[v]] - samples.front().variables[varying[v]]);
        }
        values(row) = static_cast<double>(samples[s].value - samples.front().value);
    }
    return matrix.completeOrthogonalDecomposition().solve(values);
}

std::int64_t linear(const AffineFit& fit, const AffineSample& sample) {
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < fit.coefficients.size(); ++v) {
        sum += fit.coefficients[v] * sample.variables[v];
    }
    return sum;
}

/// The fit with whole coefficients that goes through the first sample.
AffineFit fit_of(std::span<const AffineSample> samples, const std::vector<std::size_t>& varying,
                 const Eigen::VectorXd& solution) {
    AffineFit fit;
    fit.coefficients.assign(samples.front().variables.size(), 0);
    for (std::size_t v = 0; v < varying.size(); ++v) {
        fit.coefficients[varying[v]] = std::llround(solution(static_cast<Eigen::Index>(v)));
    }
    fit.constant = samples.front().value - linear(fit, samples.front());
    return fit;
}

double exact_share(std::span<const AffineSample> samples, const AffineFit& fit) {
    const auto exact = std::ranges::count_if(samples, [&fit](const AffineSample& sample) {
        return fit.constant + linear(fit, sample) == sample.value;
    });
    return static_cast<double>(exact) / static_cast<double>(samples.size());
}

/// True if the fit meets half of the groups beyond the `fitted` ones that any fit meets. A group is met if
/// most of its samples are.
bool meets_groups(std::span<const AffineSample> samples, const AffineFit& fit, std::size_t outer,
                  std::size_t fitted) {
    struct Group {
        std::size_t exact = 0, all = 0;
    };
    std::map<std::vector<std::int64_t>, Group> groups;
    for (const AffineSample& sample : samples) {
        const auto end =
            sample.variables.begin() + static_cast<std::ptrdiff_t>(std::min(outer, sample.variables.size()));
        Group& group = groups[{sample.variables.begin(), end}];
        ++group.all;
        group.exact += linear(fit, sample) + fit.constant == sample.value ? 1U : 0U;
    }
    if (groups.size() <= fitted) return true;
    const auto met = static_cast<std::size_t>(std::ranges::count_if(
        groups, [](const auto& entry) { return 2 * entry.second.exact >= entry.second.all; }));
    return 2 * (met - std::min(met, fitted)) >= groups.size() - fitted;
}

}  // namespace

bool follows(const LaneAddresses& access, const LanePattern& pattern) {
    if (access.lanes == 0) {
        return true;
    }
    const int first = std::countr_zero(access.lanes);
    const std::int64_t base = access.address[static_cast<std::size_t>(first)] - pattern.offset(first);
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const bool active = ((access.lanes >> static_cast<unsigned>(lane)) & 1U) != 0;
        if (active && access.address[static_cast<std::size_t>(lane)] != base + pattern.offset(lane)) {
            return false;
        }
    }
    return true;
}

std::optional<LanePattern> fit_lanes(std::span<const LaneAddresses> accesses, double most) {
    // One of the fullest accesses may be the one that stands apart.
    constexpr std::size_t most_tried = 4;
    int fullest = -1;
    for (const LaneAddresses& access : accesses) {
        fullest = std::max(fullest, first_lanes(access));
    }
    std::vector<LanePattern> tried;
    for (const LaneAddresses& access : accesses) {
        if (first_lanes(access) < fullest || tried.size() == most_tried) {
            continue;
        }
        const LanePattern pattern = pattern_of(access);
        if (std::ranges::find(tried, pattern) != tried.end()) {
            continue;
        }
        tried.push_back(pattern);
        const auto followed = std::ranges::count_if(
            accesses, [&pattern](const LaneAddresses& other) { return follows(other, pattern); });
        if (static_cast<double>(followed) >= most * static_cast<double>(accesses.size())) {
            return pattern;
        }
    }
    return std::nullopt;
}

std::optional<AffineFit> fit_affine(std::span<const AffineSample> samples) {
    if (samples.empty()) {
        return std::nullopt;
    }
    const std::vector<std::size_t> varying = varying_of(samples);
    const AffineFit fit =
        fit_of(samples, varying, varying.empty() ? Eigen::VectorXd{} : least_squares(samples, varying));
    return exact_share(samples, fit) == 1.0 ? std::optional(fit) : std::nullopt;
}

std::vector<AffineSample> spell_digits(std::span<const AffineSample> samples, std::size_t variable) {
    std::int64_t most = 0;
    for (const AffineSample& sample : samples) {
        if (sample.variables[variable] < 0) {
            return {};
        }
        most = std::max(most, sample.variables[variable]);
    }
    const auto digits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(most)));
    std::vector<AffineSample> spelled(samples.begin(), samples.end());
    for (AffineSample& sample : spelled) {
        const std::int64_t value = std::exchange(sample.variables[variable], 0);
        for (unsigned digit = 0; digit < digits; ++digit) {
            sample.variables.push_back(value >> digit & 1);
        }
    }
    return spelled;
}

AffineFit with_digits(AffineFit fit, std::size_t variables) {
    const auto first = fit.coefficients.begin() + static_cast<std::ptrdiff_t>(variables);
    fit.digits.assign(first, fit.coefficients.end());
    fit.coefficients.erase(first, fit.coefficients.end());
    return fit;
}

std::optional<AffineFit> fit_most(std::span<const AffineSample> samples, std::size_t outer) {
    constexpr std::size_t enough = 4096;  // More samples say nothing new.
    constexpr int rounds = 12;
    const std::vector<std::size_t> varying = varying_of(samples);
    if (samples.empty() || varying.empty()) {
        return std::nullopt;
    }
    const std::size_t step = std::max<std::size_t>(1, samples.size() / enough);
    const auto columns = static_cast<Eigen::Index>(varying.size());
    Eigen::VectorXd solution = Eigen::VectorXd::Zero(columns + 1);
    for (int round = 0; round < rounds; ++round) {
        Eigen::MatrixXd products = Eigen::MatrixXd::Zero(columns + 1, columns + 1);
        Eigen::VectorXd values = Eigen::VectorXd::Zero(columns + 1);
        Eigen::VectorXd row(columns + 1);
        for (std::size_t s = 0; s < samples.size(); s += step) {
            row(columns) = 1.0;
            for (std::size_t v = 0; v < varying.size(); ++v) {
                row(static_cast<Eigen::Index>(v)) = static_cast<double>(
                    samples[s].variables[varying[v]] - samples.front().variables[varying[v]]);
            }
            const auto value = static_cast<double>(samples[s].value - samples.front().value);
            const double weight = round == 0 ? 1.0 : 1.0 / std::max(1.0, std::abs(value - row.dot(solution)));
            products += weight * row * row.transpose();
            values += weight * value * row;
        }
        solution = products.completeOrthogonalDecomposition().solve(values);
    }
    AffineFit fit = fit_of(samples, varying, solution);
    // The constant of the most samples, not of the first one.
    std::vector<std::int64_t> constants;
    for (const AffineSample& sample : samples) {
        constants.push_back(sample.value - linear(fit, sample));
    }
    const auto middle = constants.begin() + static_cast<std::ptrdiff_t>(constants.size() / 2);
    std::ranges::nth_element(constants, middle);
    fit.constant = *middle;
    const auto outer_varying = static_cast<std::size_t>(
        std::ranges::count_if(varying, [outer](std::size_t v) { return v < outer; }));
    return exact_share(samples, fit) >= 0.5 && meets_groups(samples, fit, outer, outer_varying + 1)
               ? std::optional(fit)
               : std::nullopt;
}

}  // namespace warptime::workloads::frontends::machine
