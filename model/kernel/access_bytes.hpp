// Requests and bytes of one access of one op of one warp, before and after clipping at the buffer's edge.
// Ignores: sectors and bank conflicts (model/memory derives those) and which data are random.
//
// What the lanes touch: instruction j of the `count` of an op stands `step` elements beyond instruction
// j - 1 (0: the same addresses; a chase has its step within the window instead). A collective box is moved
// once, by the `count` instructions together. Rank 1 on a buffer of higher rank is an index into its memory;
// at equal rank the lanes run along the fastest dimension and the others are clipped too. A stride of 0 in a
// dimension of more than one element means packed. Run r of a stream is used `repeat` times, active lane i
// at start + step * repetition + inner * i; listed lanes with a negative index are inactive. Broadcast and
// chase touch one address per warp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::kernel {

/// requested: full box, all 32 lanes (those listed, or of the mask). inside: what lies within the buffer.
struct AccessBytes {
    double requests = 0.0;  ///< machine warp-instructions
    double requested = 0.0;
    double inside = 0.0;
};

/// Elements from the first to the last of a buffer, padding between rows included, all stages.
[[nodiscard]] std::int64_t span_elements(const Buffer& buffer);

/// `execution` numbers the executions of this op by this warp, from 0; it selects the entry of a listed or
/// recorded access. Needs a kernel that check() accepts.
[[nodiscard]] AccessBytes access_bytes(const Kernel& kernel, const Op& op, const Access& access,
                                       const Coordinates& at, std::int64_t execution = 0);

}  // namespace warptime::model::kernel
