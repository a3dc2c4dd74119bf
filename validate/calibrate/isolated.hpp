// A constant in closed form, from the fit rows of the benchmark that isolates the constant.
// Interval: 1.28 standard deviations of the rows (the normal's 80 %).
// The interval says how well the rows agree, not how well their middle is known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "validate/calibrate/plan.hpp"
#include "validate/recorded_rows.hpp"

#include <span>
#include <string>
#include <vector>

namespace warptime::validate::calibrate {

/// The value that one recorded case gives for a key, in the key's base unit. Refers to the first of the
/// case's rows.
struct Evidence {
    const RecordedRow* row = nullptr;
    double value = 0.0;
};

/// The result of all rows for a key, in base units.
struct Finding {
    std::string key;
    double value = 0.0;
    double half_width = 0.0;  ///< of the 80 % interval
    double residual = 0.0;    ///< mean |row - value| / value
    int rows = 0;
    bool determined = false;         ///< there are rows, and the interval is narrower than the value
    std::string why;                 ///< the reason when the key is not determined: "no rows", ...
    std::string source;              ///< suite, op and note
    std::vector<Evidence> evidence;  ///< of a constant in closed form: the rows that count
};

/// `rows` are of one GPU, any split. The function looks only at the fit split, and at the first of repeated
/// recordings. Throws Error for a formula that fails on a row.
[[nodiscard]] Finding find_constant(const IsolatedConstant& constant,
                                    std::span<const RecordedRow* const> rows, const hw::Gpu& gpu);

}  // namespace warptime::validate::calibrate
