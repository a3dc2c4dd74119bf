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

/// Row i holds words[codes[i]]; an empty word is the default. Codes are indices of `words`.
struct WordValues {
    std::vector<std::string> words;
    std::vector<std::int32_t> codes;
};

/// A column of a batch. A text is the value of every row. The owner of the spans must outlive the batch.
/// Reals count as numbers only if they are whole.
struct BatchColumn {
    std::string name;
    std::variant<std::string, std::span<const std::int64_t>, std::span<const double>, WordValues> values;
};

/// Rows of a column; 1 for a text, which fits any number of rows.
[[nodiscard]] std::size_t rows_of(const BatchColumn& column);

/// The values as words, each distinct number once; a text becomes one word.
[[nodiscard]] WordValues words_of(const BatchColumn& column);

/// The number in row `row`; empty if it is no whole number in the parameter's range.
[[nodiscard]] std::optional<std::int64_t> number_at(const BatchColumn& column, std::size_t row,
                                                    const ParameterInfo& parameter);
/// Any number in row `row` as text; whole numbers have no point and no exponent.
[[nodiscard]] std::string number_text(const BatchColumn& column, std::size_t row);

}  // namespace warptime::workloads
