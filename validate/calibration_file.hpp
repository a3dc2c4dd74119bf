// Updates single entries of a hw/calibrations/<gpu>.toml in place; all other lines and comments stay.
// Ignores: entries written over several tables.
// A calibration keeps one line a key, `field = { value = ..., interval = ..., ... }` under `[group]`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <span>
#include <string>
#include <string_view>

namespace warptime::validate {

/// The entry that is written for a key, with numbers in base units.
struct CalibrationEntry {
    std::string key;  ///< "dram.read_efficiency"
    double value = 0.0;
    double interval = 0.0;  ///< half-width of the 80 % interval; 0: not known
    int rows = 0;
    double residual = 0.0;  ///< mean |ln(p / t)| of the rows (of band.small*: mean |p - t| in s)
    std::string date;       ///< ISO 8601
    std::string source;     ///< which rows, how
};

/// The line of an entry, "read_efficiency = { value = 0.95, ... }", without line feed.
[[nodiscard]] std::string entry_line(const CalibrationEntry& entry);

/// `text` with the entries replaced or added. A new entry goes to the end of its table, and a new table to
/// the end of the text. Throws Error for an unknown key, a vendor key, or an entry in a form that cannot be
/// updated.
[[nodiscard]] std::string update_calibration(std::string_view text,
                                             std::span<const CalibrationEntry> entries);

/// Sets the keys that a calibration text gives, so that a fit can follow another fit without a new build.
/// Throws Error, naming `name`, for text that is no TOML, and for a key or value that hw refuses.
void apply_calibration(std::string_view text, const std::string& name, hw::Gpu& gpu);

/// The GPU of a calibration text. Throws Error, naming `name`, when the text names no GPU.
[[nodiscard]] std::string calibrated_gpu(std::string_view text, const std::string& name);

}  // namespace warptime::validate
