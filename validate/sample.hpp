// A part of the recorded rows for an engine that is too slow for all of them: always the same rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warptime::validate {

/// Place of a case in the order in which samples are drawn: a hash of its operator and parameters,
/// independent of the one that decides its split. Source: the finalizer of SplitMix64 (Steele, Lea, Flood
/// 2014, doi.org/10.1145/2660193.2660195) over FNV-1a, whose upper bits alone hardly depend on the last
/// characters.
[[nodiscard]] std::uint64_t sample_place(std::string_view case_text);

/// The `count` rows with the lowest places, in their present order; all when there are no more, or for 0. A
/// larger sample contains every smaller one, and rows recorded later only push others out.
[[nodiscard]] std::vector<const RecordedRow*> sample_rows(std::vector<const RecordedRow*> rows,
                                                          std::size_t count);

}  // namespace warptime::validate
