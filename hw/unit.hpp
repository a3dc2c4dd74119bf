// Numbers with units as written in data: "4.8 TB/s", "64 B/cycle", "1980 MHz", "227 KiB", "132", "95 %",
// "1.45 us". Units: B, s, cycle, op (or FLOP), W, Hz (cycle/s), %; one division; SI prefixes n u m k M G T P,
// and Ki Mi Gi Ti with B.
// Ignores: products and powers of units, which no key needs.
// Source: SI brochure, 9th edition; IEC 80000-13.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"

#include <string>
#include <string_view>

namespace warptime::hw {

/// Number in base units (B, s, cycle, op, W) and its dimension.
struct Measure {
    double value = 0;
    Dimension dimension;
};

/// Reads a number and an optional unit; `parameter` names the input in errors. Throws Error for junk, a
/// negative, an infinite or an out-of-range number, and an unknown unit or prefix.
[[nodiscard]] Measure parse_measure(std::string_view text, std::string_view parameter);

/// Reads as parse_measure does, requires the dimension of `base_unit` ("B/s"), and gives the value in it.
[[nodiscard]] double parse_value(std::string_view text, std::string_view base_unit,
                                 std::string_view parameter);

/// Dimension of a unit without number, "B/cycle"; "1" has none. Throws Error for an unknown unit.
[[nodiscard]] Dimension parse_dimension(std::string_view unit);

/// Readable text of a value in `base_unit` with a fitting prefix; parse_value reads the same number back to
/// rounding.
[[nodiscard]] std::string format_value(double value, std::string_view base_unit);

}  // namespace warptime::hw
