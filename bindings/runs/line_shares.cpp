// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/line_shares.hpp"

#include <algorithm>
#include <cstddef>

namespace warptime::runs {

namespace {

using model::prediction::Limiter;

/// What a line asks of the resource; null where lines ask nothing of it.
double LineRecord::*asked_of(Limiter limiter) {
    switch (limiter) {
        case Limiter::shared:
            return &LineRecord::passes;
        case Limiter::l1:
        case Limiter::l2:
        case Limiter::crossbar:
        case Limiter::dram:
        case Limiter::atomic:
            return &LineRecord::sectors;
        case Limiter::chain_latency:
        case Limiter::bytes_in_flight:
        case Limiter::tma:
            return &LineRecord::requests;
        case Limiter::launch:
        case Limiter::tail:
            return nullptr;
        default:
            return &LineRecord::instructions;
    }
}

double sum_of(std::span<const LineRecord> lines, double LineRecord::*what) {
    double sum = 0.0;
    for (const LineRecord& line : lines) {
        sum += line.*what;
    }
    return sum;
}

}  // namespace

std::vector<double> line_shares(std::span<const LineRecord> lines,
                                std::span<const model::prediction::Bound> bounds) {
    std::vector<double> shares(lines.size(), 0.0);
    double all = 0.0;
    for (const model::prediction::Bound& bound : bounds) {
        double LineRecord::*const asked = asked_of(bound.limiter);
        if (asked == nullptr) {
            continue;
        }
        // Kernels without requests wait for their own results.
        double LineRecord::*const by = sum_of(lines, asked) > 0.0 ? asked : &LineRecord::instructions;
        const double sum = sum_of(lines, by);
        if (sum <= 0.0) {
            continue;
        }
        all += bound.time;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            shares[i] += bound.time * (lines[i].*by / sum);
        }
    }
    for (double& share : shares) {
        share = all > 0.0 ? share / all : 0.0;
    }
    return shares;
}

}  // namespace warptime::runs
