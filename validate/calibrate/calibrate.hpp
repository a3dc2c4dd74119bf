// The calibration of one GPU from its recorded rows: constants in closed form, fits through the engine,
// bands. SPDX-License-Identifier: Apache-2.0
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
    std::string before_from;  ///< where the value before came from: fitted, inherited h200-sxm, ...
};

struct Calibration {
    std::vector<CalibratedKey> keys;  ///< in the order of the plan
    std::vector<std::string> notes;   ///< of the fits: rows, refusals, errors
    std::string text;                 ///< of hw/calibrations/<gpu>.toml, with what was determined put in
};

/// `text` is the calibration as it is now (empty: there is none), whose values a fit starts from. `suites`,
/// when not empty, leaves out what needs others. Keys that the rows do not determine keep the value they
/// have, vendor's or sibling's, and a comment in the text says so. Throws Error when a suite asked for has no
/// rows, or when nothing at all is determined.
[[nodiscard]] Calibration calibrate(const Plan& plan, const RecordedRows& rows, hw::Gpu gpu,
                                    std::string_view text, const std::vector<std::string>& suites,
                                    const model::prediction::Engine& engine, const std::string& date);

/// The constants in closed form alone, each with the rows that it rests on; those of the plan's order whose
/// suite is among `suites` (empty: all). Throws Error as calibrate does.
[[nodiscard]] std::vector<Finding> find_constants(const Plan& plan, const RecordedRows& rows, hw::Gpu gpu,
                                                  const std::vector<std::string>& suites,
                                                  const model::prediction::Engine& engine);

}  // namespace warptime::validate::calibrate
