// Checks numbers of columns without text, and turns numbers into words for parameters that take words.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/batch_column.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <unordered_map>

namespace warptime::workloads {

namespace {

std::string text_of(std::int64_t number) {
    return fmt::format("{}", number);
}

std::string text_of(double number) {
    return number == std::floor(number) && std::isfinite(number) ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{}", number);
}

/// Gives one word for every NaN, and one word for numbers that compare equal.
template <class Number>
WordValues words_of_numbers(std::span<const Number> numbers) {
    WordValues values;
    values.codes.reserve(numbers.size());
    std::unordered_map<Number, std::int32_t> known;
    std::int32_t nan_code = -1;
    const auto add = [&values](Number number) {
        values.words.push_back(text_of(number));
        return static_cast<std::int32_t>(values.words.size() - 1);
    };
    for (const Number number : numbers) {
        if (std::isnan(static_cast<double>(number))) {
            nan_code = nan_code < 0 ? add(number) : nan_code;
            values.codes.push_back(nan_code);
            continue;
        }
        const auto found = known.find(number);
        values.codes.push_back(found != known.end() ? found->second
                                                    : known.emplace(number, add(number)).first->second);
    }
    return values;
}

}  // namespace

std::size_t rows_of(const BatchColumn& column) {
    return std::visit(
        [](const auto& values) -> std::size_t {
            using Values = std::remove_cvref_t<decltype(values)>;
            if constexpr (std::is_same_v<Values, std::string>) {
                return 1;
            } else if constexpr (std::is_same_v<Values, WordValues>) {
                return values.codes.size();
            } else {
                return values.size();
            }
        },
        column.values);
}

WordValues words_of(const BatchColumn& column) {
    return std::visit(
        [](const auto& values) -> WordValues {
            using Values = std::remove_cvref_t<decltype(values)>;
            if constexpr (std::is_same_v<Values, std::string>) {
                return {{values}, {0}};
            } else if constexpr (std::is_same_v<Values, WordValues>) {
                return values;
            } else {
                return words_of_numbers(values);
            }
        },
        column.values);
}

std::optional<std::int64_t> number_at(const BatchColumn& column, std::size_t row,
                                      const ParameterInfo& parameter) {
    const std::int64_t largest = largest_number(parameter.kind);
    if (const auto* integers = std::get_if<std::span<const std::int64_t>>(&column.values)) {
        const std::int64_t value = (*integers)[row];
        return value >= 1 && value <= largest ? std::optional(value) : std::nullopt;
    }
    const double real = std::get<std::span<const double>>(column.values)[row];
    // This form of the comparison also refuses NaN.
    if (!(real >= 1.0 && real <= static_cast<double>(largest) && real == std::floor(real))) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(real);
}

std::string number_text(const BatchColumn& column, std::size_t row) {
    if (const auto* integers = std::get_if<std::span<const std::int64_t>>(&column.values)) {
        return fmt::format("{}", (*integers)[row]);
    }
    return text_of((std::get<std::span<const double>>(column.values))[row]);
}

}  // namespace warptime::workloads
