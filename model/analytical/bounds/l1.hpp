// The L1 data path: every warp-wide load that misses passes its tag stage, wide or narrow.
// Ignores: hits (every global load of the operators modelled so far misses), and lines beyond four a request.
// Source: recorded GEMMs whose unaligned rows force 2- and 4-byte loads (fitted key l1.request_interval).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

namespace warptime::model::analytical {

template <class S>
[[nodiscard]] hw::Cycles<S> l1_cycles(const S& requests, const hw::Gpu<S>& gpu) {
    return gpu.l1.request_interval * requests;
}

}  // namespace warptime::model::analytical
