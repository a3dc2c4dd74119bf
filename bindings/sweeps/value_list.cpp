// Counts whole numbers exactly, so that a long range gathers no rounding; other numbers keep 12 digits.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/value_list.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace warptime::sweeps {

namespace {

constexpr std::string_view range_form =
    "START:STOP:STEP, as 128:8192:128, or START:STOP:xFACTOR, as 16:4096:x2";

/// A number with the unit behind it. `is_signed`: the text begins with a sign, as a change in per cent does.
struct Quantity {
    double number = 0.0;
    std::string_view unit;
    bool is_signed = false;
};

std::optional<Quantity> quantity_of(std::string_view text) {
    const bool is_signed = text.starts_with('+') || text.starts_with('-');
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    Quantity quantity;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), quantity.number);
    if (error != std::errc() || !std::isfinite(quantity.number)) return std::nullopt;
    quantity.unit = digits.substr(static_cast<std::size_t>(end - digits.data()));
    quantity.is_signed = is_signed;
    return quantity;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        if (end == text.size()) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string text_of(double number, const Quantity& like) {
    const bool whole = number == std::floor(number) && std::abs(number) < 1e15;
    std::string text = whole ? fmt::format("{:.0f}", number) : fmt::format("{:.12g}", number);
    if (text == "-0") text = "0";
    return (like.is_signed && number >= 0.0 ? "+" : "") + text + std::string(like.unit);
}

struct Range {
    Quantity start, stop, step;
    bool by_factor = false;
};

[[noreturn]] void refuse(std::string_view owner, std::string_view item, std::string expected) {
    throw Error(std::string(owner), std::string(item), std::move(expected));
}

Range range_of(std::string_view item, std::string_view owner) {
    const std::vector<std::string_view> parts = split(item, ':');
    if (parts.size() != 3) refuse(owner, item, std::string(range_form));
    Range range;
    range.by_factor = parts[2].starts_with('x');
    const auto start = quantity_of(parts[0]);
    const auto stop = quantity_of(parts[1]);
    const auto step = quantity_of(range.by_factor ? parts[2].substr(1) : parts[2]);
    if (!start || !stop || !step) refuse(owner, item, std::string(range_form));
    const bool same_unit =
        start->unit == stop->unit && (range.by_factor ? step->unit.empty() : step->unit == start->unit);
    if (!same_unit) refuse(owner, item, "one unit for all numbers of a range, and none for a factor");
    range.start = *start;
    range.stop = *stop;
    range.step = *step;
    return range;
}

void check_direction(const Range& range, std::string_view owner, std::string_view item) {
    const double step = range.step.number;
    const bool up = range.stop.number >= range.start.number;
    if (range.by_factor) {
        if (!(range.start.number > 0.0 && range.stop.number > 0.0))
            refuse(owner, item, "numbers above 0 for a range with a factor");
        if (!(step > 0.0) || step == 1.0 || (step > 1.0) != up)
            refuse(owner, item, up ? "a factor above 1, as x2" : "a factor between 0 and 1, as x0.5");
        return;
    }
    if (step == 0.0 || (step > 0.0) != up)
        refuse(owner, item, up ? "a step above 0" : "a step below 0, since the range goes down");
}

void append_range(std::vector<std::string>& values, std::string_view item, std::string_view owner,
                  ItemForm form) {
    const Range range = range_of(item, owner);
    check_direction(range, owner, item);
    const double ratio = range.stop.number / range.start.number;
    const double steps = range.by_factor ? std::log(ratio) / std::log(range.step.number)
                                         : (range.stop.number - range.start.number) / range.step.number;
    // A last value that rounding alone keeps from being met belongs to the range.
    const double last = std::floor(steps + 1e-9);
    if (!(last < static_cast<double>(most_values)))
        refuse(owner, item, fmt::format("a range of at most {} values", most_values));
    for (std::int64_t i = 0; i <= static_cast<std::int64_t>(last); ++i) {
        const auto at = static_cast<double>(i);
        double number = range.by_factor ? range.start.number * std::pow(range.step.number, at)
                                        : range.start.number + at * range.step.number;
        if (form == ItemForm::whole) number = std::round(number);
        std::string text = text_of(number, range.start);
        // Small numbers with a small factor round to the same whole number.
        if (i == 0 || text != values.back()) values.push_back(std::move(text));
    }
}

}  // namespace

std::vector<std::string> parse_value_list(std::string_view text, std::string_view owner, ItemForm form) {
    std::vector<std::string> values;
    for (const std::string_view item : split(text, ',')) {
        if (item.empty()) {
            refuse(owner, text,
                   form == ItemForm::words ? "a value, or several separated by commas"
                                           : fmt::format("values separated by commas, or {}", range_form));
        }
        if (form != ItemForm::words && item.find(':') != std::string_view::npos) {
            append_range(values, item, owner, form);
        } else {
            values.emplace_back(item);
        }
    }
    return values;
}

}  // namespace warptime::sweeps
