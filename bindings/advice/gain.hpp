// The time that a change saves, and the band of that time.
// A saved time is before x (1 - ratio): it is as wrong as the time before, and as the ratio. The error of a
// ratio of two predicted times is smaller than the error of each where the two have much in common; recorded
// pairs give it. Both errors are taken as independent. A change whose ratio is close to 1 cannot be wrong by
// more than all of what changes. Ignores: which mechanism the change is about. No rows were recorded on a
// changed GPU.
// Source: differences.toml, from development rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/prediction/prediction.hpp"

#include <string>

namespace warptime::advice {

/// Saved time in seconds with its 80 % band; negative where the change costs time.
struct Gain {
    double saved = 0.0, low = 0.0, high = 0.0;
    std::string band_source;
};

/// What changes between two predictions decides how well their ratio is known.
enum class ChangeOf : std::uint8_t { kernel, hardware };

/// Half-width of ln(after / before) that holds 80 % of recorded pairs of such a ratio.
[[nodiscard]] double half_width(double ln_ratio, model::kernel::Evidence evidence);

/// `before` with its band; `after` is the time of the changed kernel or GPU.
[[nodiscard]] Gain gain_of(const model::prediction::Prediction& before, double after,
                           model::kernel::Evidence evidence, ChangeOf change);

/// Evidence of a program: any where a kernel's is.
[[nodiscard]] model::kernel::Evidence evidence_of(const model::kernel::Program& program);

}  // namespace warptime::advice
