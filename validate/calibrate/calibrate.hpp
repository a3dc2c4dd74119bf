// The calibration of one GPU from its recorded rows: closed-form constants, fits through the engine, and
// bands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "validate/calibrate/isolated.hpp"
#include "validate/calibrate/plan.hpp"
#include "validate/recorded_rows.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate::calibrate {

enum class Method : std::uint8_t { closed_form, least_squares, band };
[[nodiscard]] const char* to_string(Method method);

/// A key before and after, in base units.
struct CalibratedKey {
    Finding finding;
    Method method = Method::closed_form;
    double before = 0.0;
    std::string before_from;  ///< origin of the value before: fitted, inherited h200-sxm, ...
};

struct Calibration {
    std::vector<CalibratedKey> keys;  ///< in the order of the plan
    std::vector<std::string> notes;   ///< of the fits: rows, refusals, errors
    std::string text;                 ///< of hw/calibrations/<gpu>.toml, with the determined values put in
};

/// `text` is the present calibration (empty: there is none); a fit starts from its values. A non-empty
/// `suites` leaves out all that needs other suites. Keys that the rows do not determine keep their value, the
/// vendor's or a sibling's. A comment in the text says so. Throws Error when a suite asked for has no rows,
/// or when nothing at all is determined.
[[nodiscard]] Calibration calibrate(const Plan& plan, const RecordedRows& rows, hw::Gpu gpu,
                                    std::string_view text, const std::vector<std::string>& suites,
                                    const model::prediction::Engine& engine, const std::string& date);

/// Only the constants in closed form, each with the rows behind it. The constants are those of the plan's
/// order whose suite is among `suites` (empty: all). Throws Error as calibrate does.
[[nodiscard]] std::vector<Finding> find_constants(const Plan& plan, const RecordedRows& rows, hw::Gpu gpu,
                                                  const std::vector<std::string>& suites,
                                                  const model::prediction::Engine& engine);

}  // namespace warptime::validate::calibrate
