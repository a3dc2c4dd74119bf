// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_step.hpp"

#include "hw/error.hpp"
#include "model/memory/write_back.hpp"
#include "model/simulation/chip.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

using hw::Bytes;

constexpr double piece_bytes = 1048576.0;

/// Moves `bytes` in pieces: each is read unless `reads` is false, then stored.
void move(double bytes, bool reads, const hw::Gpu<double>& gpu, const prediction::Conditions& conditions,
          MemoryStep& step) {
    const double clock = gpu.clock.boost.value();
    Chip chip(gpu, 1, clock);
    double stored = 0.0;
    while (stored < bytes) {
        const double piece = std::min(piece_bytes, bytes - stored);
        stored += piece;
        if (reads) {
            step.read_bytes += piece;
            chip.dram.serve(0, ticks_of(piece * chip.rates.dram_read_byte));
        }
        const Bytes<double> capacity = memory::dirty_capacity_of(gpu);
        const Bytes<double> due =
            conditions.cache == prediction::Cache::flushed
                ? memory::writes_over_dirty(Bytes<double>(step.read_bytes), Bytes<double>(stored),
                                            gpu.l2.dirty_fraction, capacity)
                : memory::writes_over_clean(Bytes<double>(step.read_bytes), Bytes<double>(stored), capacity);
        chip.dram.serve(
            0, ticks_of(std::max(0.0, due.value() - step.written_bytes) * chip.rates.dram_write_byte));
        step.written_bytes = due.value();
    }
    step.dram = cycles_of(chip.dram.free_at()) / clock;
}

}  // namespace

MemoryStep run_memset(const kernel::Memset& memset, const hw::Gpu<double>& gpu,
                      const prediction::Conditions& conditions) {
    MemoryStep step;
    step.floor = gpu.launch.memset.value();
    move(static_cast<double>(memset.bytes), false, gpu, conditions, step);
    return step;
}

MemoryStep run_memcpy(const kernel::Memcpy& copy, const hw::Gpu<double>& gpu,
                      const prediction::Conditions& conditions) {
    if (copy.link != kernel::Link::device) {
        throw Error("memcpy link", "host or peer",
                    "a copy within the device: links are not modelled by this engine");
    }
    MemoryStep step;
    const auto bytes = static_cast<double>(copy.bytes);
    step.floor = gpu.launch.memcpy.value() + gpu.launch.memcpy_pass.value() * (copy.passes - 1);
    // Warm data that fit, source and destination, are read from L2.
    const bool in_l2 = conditions.cache == prediction::Cache::warm &&
                       2.0 * bytes < gpu.l2.capacity.value() * gpu.l2.shared_capacity.value();
    move(bytes, !in_l2, gpu, conditions, step);
    return step;
}

}  // namespace warptime::model::simulation
