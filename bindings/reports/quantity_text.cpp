// Chooses prefixes for the rounded number, so that 999.96 us reads 1.000 ms.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/quantity_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace warptime::reports {

namespace {

struct Prefix {
    double factor;
    std::string_view text;
};

constexpr std::array<Prefix, 4> time_units{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1.0, "s"}}};
constexpr std::array<Prefix, 6> prefixes{
    {{1.0, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};

std::string four_digits(double value) {
    const double size = std::fabs(value);
    const int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string with_prefix(double value, std::span<const Prefix> units, std::string_view unit) {
    if (!std::isfinite(value)) {
        return fmt::format("{} {}{}", value, units.front().text, unit);
    }
    std::size_t chosen = 0;
    while (chosen + 1 < units.size() && std::fabs(value) / units[chosen].factor >= 999.95) {
        ++chosen;
    }
    return fmt::format("{} {}{}", four_digits(value / units[chosen].factor), units[chosen].text, unit);
}

}  // namespace

std::string time_text(double seconds) {
    return with_prefix(seconds, time_units, "");
}

std::string quantity_text(double value, std::string_view unit) {
    return with_prefix(value, prefixes, unit);
}

std::string percent_text(double fraction) {
    return fmt::format("{:.1f} %", 100.0 * fraction);
}

std::string number_text(double value) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (std::fabs(value) <= exact && value == std::floor(value)) {
        return fmt::format("{:.0f}", value);
    }
    return fmt::format("{:.4g}", value);
}

}  // namespace warptime::reports
