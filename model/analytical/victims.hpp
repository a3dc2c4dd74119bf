// What the first reads over a dirty L2 wait for: a line comes in when the one whose place it takes has been
// written out. Reads that are all asked for at once wait together for all of that, so that it stands beside
// latency and transfer and overlaps neither. Ignores: later rounds of loops, which overlap what those before
// have pushed out, lines behind the first ones, of which not all are dirty (write_back.hpp), and the turns of
// the bus. Source: microbench_cold_load, flushed against cold: one load a lane takes longer by about what its
// bytes take to be written, however many CTAs share them (30 to 80 cycles for 130 kB, 150 to 210, 290 to 320
// and 460 to 500 for 260 kB to 1.1 MB by 16 to 264 CTAs). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/memory/write_back.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// What the first of `bursts` waits for, over an L2 full of dirty lines, of a kernel that reads and writes so
/// many bytes of DRAM.
template <class S>
[[nodiscard]] hw::Seconds<S> wait_for_victims(const hw::Bytes<S>& read, const hw::Bytes<S>& written,
                                              double bursts, const hw::Gpu<S>& gpu) {
    const hw::Bytes<S> at_once = read / S(std::max(1.0, bursts));
    const hw::Bytes<S> victims = hw::min(written, hw::min(at_once, memory::dirty_first_of(gpu)));
    return written_seconds(victims, gpu);
}

}  // namespace warptime::model::analytical
