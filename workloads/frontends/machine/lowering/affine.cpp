// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/affine.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <bit>
#include <cmath>

namespace warptime::workloads::frontends::machine {

namespace {

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

}  // namespace

std::optional<LanePattern> fit_lanes(std::span<const LaneAddresses> accesses) {
    const LaneAddresses* fullest = nullptr;
    for (const LaneAddresses& access : accesses) {
        if (fullest == nullptr || first_lanes(access) > first_lanes(*fullest)) {
            fullest = &access;
        }
    }
    if (fullest == nullptr) {
        return std::nullopt;
    }
    const LanePattern pattern = pattern_of(*fullest);
    const bool all = std::ranges::all_of(
        accesses, [&pattern](const LaneAddresses& access) { return follows(access, pattern); });
    return all ? std::optional(pattern) : std::nullopt;
}

std::optional<AffineFit> fit_affine(std::span<const AffineSample> samples) {
    if (samples.empty()) {
        return std::nullopt;
    }
    const std::size_t variables = samples.front().variables.size();
    std::vector<std::size_t> varying;
    for (std::size_t v = 0; v < variables; ++v) {
        for (const AffineSample& sample : samples) {
            if (sample.variables[v] != samples.front().variables[v]) {
                varying.push_back(v);
                break;
            }
        }
    }
    AffineFit fit;
    fit.coefficients.assign(variables, 0);
    if (!varying.empty()) {
        // Differences to the first sample keep the numbers small enough to be exact in double precision.
        Eigen::MatrixXd matrix(static_cast<Eigen::Index>(samples.size()),
                               static_cast<Eigen::Index>(varying.size()));
        Eigen::VectorXd values(static_cast<Eigen::Index>(samples.size()));
        for (std::size_t s = 0; s < samples.size(); ++s) {
            const auto row = static_cast<Eigen::Index>(s);
            for (std::size_t v = 0; v < varying.size(); ++v) {
                matrix(row, static_cast<Eigen::Index>(v)) = static_cast<double>(
                    samples[s].variables[varying[v]] - samples.front().variables[varying[v]]);
            }
            values(row) = static_cast<double>(samples[s].value - samples.front().value);
        }
        const Eigen::VectorXd solution = matrix.completeOrthogonalDecomposition().solve(values);
        for (std::size_t v = 0; v < varying.size(); ++v) {
            fit.coefficients[varying[v]] = std::llround(solution(static_cast<Eigen::Index>(v)));
        }
    }
    const auto linear = [&fit](const AffineSample& sample) {
        std::int64_t sum = 0;
        for (std::size_t v = 0; v < fit.coefficients.size(); ++v) {
            sum += fit.coefficients[v] * sample.variables[v];
        }
        return sum;
    };
    fit.constant = samples.front().value - linear(samples.front());
    const bool exact = std::ranges::all_of(samples, [&fit, &linear](const AffineSample& sample) {
        return fit.constant + linear(sample) == sample.value;
    });
    return exact ? std::optional(fit) : std::nullopt;
}

}  // namespace warptime::workloads::frontends::machine
