// How good a prediction's choices of configurations are, shape by shape, on a sweep that ran all
// configurations. Ignores: the cost of trying k configurations. score_k(shape) goes from 0 to 1. score_k is
// the fastest measured of all, divided by the fastest measured among the k lowest predictions. The mean over
// shapes is the usual figure of autotuners ("share of the best").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/split.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace warptime::validate {

/// A shape with fewer configurations offers no real choice and is left out.
inline constexpr std::size_t least_configurations = 8;

/// One measured configuration of a shape. Microseconds.
struct Candidate {
    std::string shape;         ///< all but the configuration: operator, sizes, dtypes, conditions
    Split split = Split::fit;  ///< of the shape alone, because a choice is made among all its configurations
    double measured_us = 0.0;
    double predicted_us = 0.0;
    bool refused = false;  ///< has no prediction though the configuration ran: ranked last
};

/// The configurations of one shape.
struct ShapeChoice {
    std::string shape;
    Split split = Split::fit;
    std::size_t configurations = 0;
    double top1 = 0.0, top5 = 0.0;  ///< score_1, score_5
    /// How far off the predicted gain of the best over the chosen configuration is. |p(best) / p(chosen) -
    /// t(best) / t(chosen)|, where best has the least measured time and chosen the least predicted time. 1
    /// when either was refused.
    double gap = 0.0;
};

/// NaN without shapes.
struct TopFigures {
    double mean = 0.0, p5 = 0.0, worst = 0.0;  ///< of score_k over shapes
    std::string worst_shape;
};

struct ChoiceFigures {
    Split split = Split::fit;
    std::size_t shapes = 0, configurations = 0;
    TopFigures top1, top5;
    double gap = 0.0;  ///< mean over shapes
};

/// Every shape with at least `least` configurations, by name. Equal predictions are taken slowest first. So a
/// model gains nothing when it cannot tell two configurations apart.
[[nodiscard]] std::vector<ShapeChoice> choices_of(std::span<const Candidate> candidates,
                                                  std::size_t least = least_configurations);

[[nodiscard]] ChoiceFigures summarize_choices(std::span<const ShapeChoice> choices, Split split);

}  // namespace warptime::validate
