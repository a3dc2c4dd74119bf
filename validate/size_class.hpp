// The three size classes of the scoreboard, by measured time.
// Below 10 us absolute errors count, above 10 us relative errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace warptime::validate {

/// Rows shorter than this are judged by |p - t|, because launch and timer granularity are a large part.
inline constexpr double smallest_relative_us = 10.0;
inline constexpr double long_us = 100.0;

inline constexpr std::size_t size_class_count = 3;
inline constexpr std::string_view size_class_names[size_class_count] = {"< 10 us", "10-100 us", "> 100 us"};

/// The class of quantities that are no durations.
inline constexpr std::size_t middle_size_class = 1;

[[nodiscard]] constexpr std::size_t size_class_of(double measured_us) {
    if (measured_us < smallest_relative_us) return 0;
    return measured_us <= long_us ? 1 : 2;
}

}  // namespace warptime::validate
