// Requests and bytes of one access of one op of one warp, before and after clipping at the buffer's edge.
// Ignores: sectors and bank conflicts (model/machine derives those), and which data are random.
// Source: README.md, Accesses.
//
// Instruction j of an op's `count` stands `step` elements beyond instruction j - 1; step 0 repeats the
// addresses. A chase has its step within the window instead. The `count` instructions together move a
// collective box once. Rank 1 on a buffer of higher rank is an index into its memory. At equal rank the lanes
// run along the fastest dimension; the other dimensions are clipped too. Stride 0 in a dimension of more than
// one element means packed. Run r of a stream is used `repeat` times. Active lane i lies at start + step *
// repetition + inner * i. Listed lanes with a negative index are inactive. Broadcast and chase touch one
// address per warp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::kernel {

/// requested: the full box, or all lanes (32, the listed ones, or those in the mask). inside: bytes within
/// the buffer.
struct AccessBytes {
    double requests = 0.0;  ///< machine warp-instructions
    double requested = 0.0;
    double inside = 0.0;
};

/// Elements from the first to the last of a buffer, over all stages and with padding between rows.
[[nodiscard]] std::int64_t span_elements(const Buffer& buffer);

/// Bytes of one execution of the op by this warp. `execution` counts from 0 and selects the entry of a listed
/// or recorded access. Needs a kernel that check() accepts.
[[nodiscard]] AccessBytes access_bytes(const Kernel& kernel, const Op& op, const Access& access,
                                       const Coordinates& at, std::int64_t execution = 0);

}  // namespace warptime::model::kernel
