// Wait of the first reads over a dirty L2: a line enters when the line that it replaces has been written out.
// Reads issued together wait for all these writes. The wait therefore adds to latency and transfer.
// Ignores: later rounds of loops, which overlap the writes of earlier ones; later lines, not all of which are
// dirty (write_back.hpp); and turns of the bus.
// Source: microbench_cold_load, flushed against cold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/dram/dram.hpp"
#include "model/machine/dram/write_back.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Wait of the first of `bursts` over an L2 full of dirty lines. `read`, `written`: DRAM bytes of the kernel.
[[nodiscard]] inline hw::Seconds wait_for_victims(const hw::Bytes& read, const hw::Bytes& written,
                                                  double bursts, const hw::Gpu& gpu) {
    const hw::Bytes at_once = read / std::max(1.0, bursts);
    const hw::Bytes victims = std::min(written, std::min(at_once, dirty_first_of(gpu)));
    return written_seconds(victims, gpu);
}

}  // namespace warptime::model::machine
