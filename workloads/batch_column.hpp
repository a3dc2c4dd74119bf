// The values of one parameter or condition over the rows of a batch, numbers or words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/registry/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace warptime::workloads {

/// Row i holds words[codes[i]]; an empty word is the default. Codes are within `words`.
struct WordValues {
    std::vector<std::string> words;
    std::vector<std::int32_t> codes;
};

/// A text holds for every row. The spans' owner must outlive the batch. Of reals only whole ones are numbers.
struct BatchColumn {
    std::string name;
    std::variant<std::string, std::span<const std::int64_t>, std::span<const double>, WordValues> values;
};

/// Rows that a column has; 1 for a text, which fits any number of rows.
[[nodiscard]] std::size_t rows_of(const BatchColumn& column);

/// The same values as words, each distinct number once; a text becomes one word.
[[nodiscard]] WordValues words_of(const BatchColumn& column);

/// Row `row` of a column of numbers; nothing for what is not a whole number in the parameter's range.
[[nodiscard]] std::optional<std::int64_t> number_at(const BatchColumn& column, std::size_t row,
                                                    const ParameterInfo& parameter);
/// The same as text, whatever it is; whole numbers without point and exponent.
[[nodiscard]] std::string number_text(const BatchColumn& column, std::size_t row);

}  // namespace warptime::workloads
