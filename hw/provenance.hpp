// Origin of one number of a GPU, and the trust that it deserves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warptime::hw {

/// vendor: from the sheet. fitted: from the GPU's own calibration. inherited: from the calibration of a
/// measured sibling. set: changed by a setting of the user.
enum class Origin : std::uint8_t { vendor, fitted, inherited, set };

/// datasheet: vendor documentation. paper, repository: published measurements. inferred: by arithmetic or
/// from a sibling. measured: read or measured on a device by this project.
enum class Confidence : std::uint8_t { datasheet, paper, repository, inferred, measured };

struct Provenance {
    Origin origin = Origin::vendor;
    Confidence confidence = Confidence::inferred;
    std::string source;   ///< citation, or the recorded rows
    std::string sheet;    ///< id of the file that gave the value; differs from the GPU's own when inherited
    double interval = 0;  ///< half-width of the 80 % interval in base units; fitted keys only, 0 when unknown
    int rows = 0;         ///< recorded rows in the fit
    double residual = 0;  ///< mean |ln(predicted / measured)| of the rows in the fit
    std::string date;     ///< of the fit, ISO 8601
};

/// Numbers of fitted constants: from the GPU's own rows, and from a sibling's rows.
struct ConstantCounts {
    int own = 0;
    int inherited = 0;
};

[[nodiscard]] ConstantCounts count_constants(std::span<const Provenance> keys);

[[nodiscard]] std::string_view to_string(Origin origin);
[[nodiscard]] std::string_view to_string(Confidence confidence);

/// Throws Error naming `parameter` and the nearest level.
[[nodiscard]] Confidence parse_confidence(std::string_view text, std::string_view parameter);

}  // namespace warptime::hw
