// The values of one axis of a sweep, from text: a list, ranges with a step, and ranges with a factor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::sweeps {

/// How the items of a list are read. `words`: as they are. `numbers`: an item may be a range of numbers, with
/// one unit behind each ("1x:4x:x2", "2TB/s:8TB/s:1TB/s"). `whole`: numbers that are rounded to whole ones.
enum class ItemForm : std::uint8_t { words, numbers, whole };

/// Values of "128,256", "128:8192:128" (a step) and "16:4096:x2" (a factor), or a mixture by commas. A range
/// ends at its second number, which belongs to the range if it is met. Throws Error naming `owner` for an
/// empty item, a range of another form, and a range of more values than a sweep may have.
[[nodiscard]] std::vector<std::string> parse_value_list(std::string_view text, std::string_view owner,
                                                        ItemForm form);

/// Values of one range at most.
inline constexpr std::int64_t most_values = 10'000'000;

}  // namespace warptime::sweeps
