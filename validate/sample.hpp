// A part of the recorded rows, always the same rows, for an engine too slow for all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warptime::validate {

/// Place of a case in the order in which samples are drawn. The place is a hash of the operator and its
/// parameters, independent of the hash for the split. Source: the finalizer of SplitMix64 over FNV-1a
/// (Steele, Lea, Flood 2014, doi.org/10.1145/2660193.2660195). FNV-1a's upper bits alone hardly depend on the
/// last characters.
[[nodiscard]] std::uint64_t sample_place(std::string_view case_text);

/// The `count` rows with the lowest places, in their present order. All rows when there are no more, or when
/// `count` is 0. A larger sample contains every smaller sample. Rows recorded later only push other rows out.
[[nodiscard]] std::vector<const RecordedRow*> sample_rows(std::vector<const RecordedRow*> rows,
                                                          std::size_t count);

}  // namespace warptime::validate
