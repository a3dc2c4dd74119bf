// Time to move bytes through a memory when only so many of them are in flight at once.
// Ignores: the growth of latency with load, which the smooth corner stands for; start-up and drain.
// Source: Little 1961, doi.org/10.1287/opre.9.3.383 (throughput = in flight / latency), joined to the peak by
// a p-norm: p -> infinity is the sharp corner, p = 1 the sum of both times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"
#include "hw/quantity.hpp"

namespace warptime::model::memory {

/// Bytes that can be in flight: what the program asks for, up to what the hardware keeps track of.
template <class S>
[[nodiscard]] hw::Bytes<S> bytes_in_flight(hw::Bytes<S> asked, hw::Bytes<S> outstanding_cap) {
    return hw::min(asked, outstanding_cap);
}

/// bytes x ((latency / in_flight)^p + (1 / peak)^p)^(1/p), in the unit of time of `latency` (seconds or
/// cycles). in_flight and peak are above 0, p at least 1.
template <class S, hw::Dimension Time>
[[nodiscard]] hw::Quantity<S, Time> transfer_time(hw::Bytes<S> bytes, hw::Bytes<S> in_flight,
                                                  hw::Quantity<S, Time> latency,
                                                  hw::Quantity<S, hw::Dimension{.byte = 1} - Time> peak,
                                                  S exponent) {
    const S waiting = (latency / in_flight).value();
    const S moving = S(1.0) / peak.value();
    const bool waits = moving < waiting;
    const S longer = waits ? waiting : moving;
    const S shorter = waits ? moving : waiting;
    // Relative to the longer one, so that the powers stay in range.
    const S factor = hw::pow(S(1.0) + hw::pow(shorter / longer, exponent), S(1.0) / exponent);
    return hw::Quantity<S, Time>(bytes.value() * longer * factor);
}

}  // namespace warptime::model::memory
