// The work of a calibration, as data: constants that a benchmark isolates, fits of several, bands.
// Ignores: the rows themselves. plan.toml describes the format.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate::calibrate {

enum class Statistic : std::uint8_t { median, largest, line_start, line_fall };

/// Selects rows, and gives the value of each row.
struct Selection {
    std::string suite, op;
    std::map<std::string, std::string>
        quantities;  ///< name in formulas to quantity; `value` when there is only one
    std::map<std::string, std::string> where;
    std::map<std::string, double> defaults;
    std::string condition;  ///< a formula; empty: all
    std::string value = "value";
    std::string steps;  ///< a regular expression; empty: the row itself
};

struct IsolatedConstant {
    std::string key;
    std::vector<Selection> selections;
    std::vector<Selection> reference;  ///< none or one
    std::string unit;                  ///< of the values; empty: the key's base unit
    Statistic statistic = Statistic::median;
    std::string x, line_condition;  ///< formulas
    std::string note;
};

struct FitJob {
    std::vector<std::string> suites;
    std::vector<std::string> keys;  ///< as validate::parse_fit_key reads them
};

struct Plan {
    std::vector<IsolatedConstant> constants;
    std::vector<FitJob> fits;
    std::vector<FitJob> bands;  ///< without keys
};

/// Throws Error naming `file` and the entry for anything that plan.toml does not describe. Also throws for an
/// unknown key, a key that is not fitted, and a key that comes twice.
[[nodiscard]] Plan parse_plan(std::string_view text, const std::string& file);

}  // namespace warptime::validate::calibrate
