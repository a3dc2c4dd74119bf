// Reads and writes numbers with units. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/unit.hpp"

#include "hw/error.hpp"
#include "hw/trimmed.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace warptime::hw {
namespace {

struct UnitName {
    std::string_view name;
    Dimension dimension;
    double scale;
    bool prefixed;  ///< takes SI prefixes
};

constexpr std::array<UnitName, 11> unit_names{{{"B", {.byte = 1}, 1, true},
                                               {"s", {.second = 1}, 1, true},
                                               {"cycles", {.cycle = 1}, 1, true},
                                               {"cycle", {.cycle = 1}, 1, true},
                                               {"Hz", {.cycle = 1, .second = -1}, 1, true},
                                               {"op", {.operation = 1}, 1, true},
                                               {"FLOP", {.operation = 1}, 1, true},
                                               {"OP", {.operation = 1}, 1, true},
                                               {"W", {.watt = 1}, 1, true},
                                               {"%", {}, 0.01, false},
                                               {"1", {}, 1, false}}};

struct Prefix {
    std::string_view name;
    double scale;
};

constexpr std::array<Prefix, 9> si_prefixes{{{"n", 1e-9},
                                             {"u", 1e-6},
                                             {"\xc2\xb5", 1e-6},
                                             {"m", 1e-3},
                                             {"k", 1e3},
                                             {"M", 1e6},
                                             {"G", 1e9},
                                             {"T", 1e12},
                                             {"P", 1e15}}};
constexpr std::array<Prefix, 4> binary_prefixes{
    {{"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}}};

constexpr std::string_view quantity_form =
    "a number with a unit, such as '4.8 TB/s', '1980 MHz', '227 KiB', '95 %' or '132'";

bool find_prefix(std::string_view name, bool bytes, double& scale) {
    for (const Prefix& prefix : si_prefixes) {
        if (prefix.name == name) {
            // Parts of a byte or a cycle do not exist; "mB" is a slip for "MB".
            scale = prefix.scale;
            return scale > 1.0 || !bytes;
        }
    }
    for (const Prefix& prefix : binary_prefixes) {
        if (bytes && prefix.name == name) {
            scale = prefix.scale;
            return true;
        }
    }
    return false;
}

/// Reads one unit with its prefix; false when the unit is unknown.
bool parse_term(std::string_view text, Measure& result) {
    for (const UnitName& unit : unit_names) {
        if (text == unit.name) {
            result = {unit.scale, unit.dimension};
            return true;
        }
        if (unit.prefixed && text.size() > unit.name.size() &&
            text.substr(text.size() - unit.name.size()) == unit.name) {
            double scale = 0;
            const bool bytes = unit.dimension.byte != 0;
            if (find_prefix(text.substr(0, text.size() - unit.name.size()), bytes, scale)) {
                result = {scale * unit.scale, unit.dimension};
                return true;
            }
        }
    }
    return false;
}

bool parse_unit_text(std::string_view text, Measure& result) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return parse_term(text, result);
    }
    Measure above;
    Measure below;
    if (!parse_term(trimmed(text.substr(0, slash)), above) ||
        !parse_term(trimmed(text.substr(slash + 1)), below)) {
        return false;
    }
    result = {above.value / below.value, above.dimension - below.dimension};
    return true;
}

bool is_binary_size(double value, std::string_view base_unit) {
    return base_unit == "B" && value >= 1024.0 && std::fmod(value, 1024.0) == 0.0;
}

}  // namespace

Measure parse_measure(std::string_view text, std::string_view parameter) {
    const auto fail = [&](std::string_view expected) {
        return Error(std::string(parameter), std::string(text), std::string(expected));
    };
    const std::string_view body = trimmed(text);
    if (!body.empty() && body.front() == '-') {
        throw fail("a value of at least 0");
    }
    // from_chars would also read "inf" and "nan".
    if (body.empty() || !((body.front() >= '0' && body.front() <= '9') || body.front() == '.')) {
        throw fail(quantity_form);
    }
    double number = 0;
    const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), number);
    if (status == std::errc::result_out_of_range) {
        throw fail("a number within the range of a double");
    }
    if (status != std::errc()) {
        throw fail(quantity_form);
    }
    const std::string_view unit = trimmed(body.substr(static_cast<std::size_t>(end - body.data())));
    Measure result{1.0, {}};
    if (!unit.empty() && !parse_unit_text(unit, result)) {
        throw fail(quantity_form);
    }
    result.value *= number;
    if (!std::isfinite(result.value)) {
        throw fail("a number within the range of a double");
    }
    return result;
}

double parse_value(std::string_view text, std::string_view base_unit, std::string_view parameter) {
    const Measure measure = parse_measure(text, parameter);
    if (measure.dimension != parse_dimension(base_unit)) {
        throw Error(std::string(parameter), std::string(text),
                    base_unit == "1"
                        ? "a number without unit, or in %"
                        : fmt::format("a value in {0}, such as '3 {0}', with an optional prefix", base_unit));
    }
    return measure.value;
}

Dimension parse_dimension(std::string_view unit) {
    Measure result;
    if (!parse_unit_text(unit, result)) {
        throw Error("unit", std::string(unit), "B, s, cycle, op, W, Hz, 1 or a ratio of two of them");
    }
    return result.dimension;
}

std::string format_value(double value, std::string_view base_unit) {
    if (base_unit == "1") {
        return fmt::format("{}", value);
    }
    if (is_binary_size(value, base_unit)) {
        std::size_t i = 0;
        while (i + 1 < binary_prefixes.size() && std::fmod(value, binary_prefixes[i + 1].scale) == 0.0) {
            ++i;
        }
        // 2 TB are whole KiB as well, but nobody would read them so.
        constexpr double most_digits = 1e6;
        const double shown = value / binary_prefixes[i].scale;
        if (shown < most_digits) return fmt::format("{} {}B", shown, binary_prefixes[i].name);
    }
    const std::string_view unit = base_unit == "cycle/s" ? "Hz" : base_unit;
    if (unit == "cycle" || unit == "1/cycle" || unit == "B/cycle" || unit == "op/cycle") {
        return fmt::format("{} {}", value, unit);
    }
    double scale = 1;
    std::string_view name;
    for (const Prefix& prefix : si_prefixes) {
        const bool part = prefix.scale < 1.0;
        const bool fits = value >= prefix.scale && (part ? unit == "s" && value < 1.0 : value >= 1e3);
        if (fits && prefix.scale != scale) {
            scale = prefix.scale;
            name = prefix.name;
        }
    }
    // Division by an exact power rounds once; 12 digits hide the rounding and lose nothing that data states.
    return fmt::format("{:.12g} {}{}", scale < 1.0 ? value * std::round(1.0 / scale) : value / scale, name,
                       unit);
}

}  // namespace warptime::hw
