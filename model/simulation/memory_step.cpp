// Memsets and copies, piece by piece through DRAM. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_step.hpp"

#include "model/machine/dram/write_back.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/machine/l2/l2_partitions.hpp"
#include "model/machine/launch/launch_floor.hpp"
#include "model/machine/launch/link_copy.hpp"
#include "model/machine/links/exchange.hpp"
#include "model/simulation/chip.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

using hw::Bytes;

constexpr double piece_bytes = 1048576.0;

/// Moves `bytes` in pieces: of each the share `reads` is read from DRAM, then it is stored.
void move(double bytes, double reads, bool fits, const hw::Gpu& gpu, const prediction::Conditions& conditions,
          MemoryStep& step) {
    const double clock = gpu.clock.boost.value();
    Chip chip(gpu, 1, clock);
    double stored = 0.0;
    while (stored < bytes) {
        const double piece = std::min(piece_bytes, bytes - stored);
        stored += piece;
        if (reads > 0.0) {
            step.read_bytes += piece * reads;
            chip.dram.serve(0, ticks_of(piece * reads * chip.rates.dram_read_byte));
        }
        const Bytes capacity = machine::dirty_capacity_of(gpu);
        // A repeated operation finds its own lines dirty.
        const Bytes due =
            conditions.cache == prediction::Cache::warm ? Bytes(fits ? 0.0 : stored)
            : conditions.cache == prediction::Cache::flushed
                ? machine::writes_over_dirty(Bytes(step.read_bytes), Bytes(stored),
                                             machine::dirty_first_of(gpu), gpu.l2.dirty_fraction, capacity)
                : machine::writes_over_clean(Bytes(step.read_bytes * machine::slice_visits(gpu)),
                                             Bytes(stored), gpu.l2.capacity, capacity);
        const double byte = chip.rates.dram_write_byte + (reads > 0.0 ? chip.rates.dram_turn_byte : 0.0);
        chip.dram.serve(0, ticks_of(std::max(0.0, due.value() - step.written_bytes) * byte));
        step.written_bytes = due.value();
    }
    // Stores go through the L2 even where it keeps them.
    const double fill = bytes / (gpu.l2.ingest_bandwidth.value() * gpu.sm.count.value()) / clock;
    step.dram = std::max(cycles_of(chip.dram.free_at()) / clock, fill);
}

}  // namespace

MemoryStep run_memset(const kernel::Memset& memset, const hw::Gpu& gpu,
                      const prediction::Conditions& conditions) {
    MemoryStep step;
    step.floor = gpu.launch.floor.value();
    const auto bytes = static_cast<double>(memset.bytes);
    move(bytes, 0.0, bytes < machine::dirty_capacity_of(gpu).value(), gpu, conditions, step);
    return step;
}

MemoryStep run_exchange(const kernel::Exchange& exchange) {
    const machine::ExchangeTime t = machine::exchange_time(exchange);
    MemoryStep step;
    step.floor = (t.start + t.hops).value();
    step.link = (t.link + t.handled + t.fill).value();
    return step;
}

MemoryStep run_memcpy(const kernel::Memcpy& copy, const hw::Gpu& gpu,
                      const prediction::Conditions& conditions) {
    MemoryStep step;
    if (copy.link != kernel::Link::device) {
        const machine::LinkCopy link = machine::link_copy(copy, gpu);
        step.floor = link.latency.value();
        step.link = link.transfer.value();
        return step;
    }
    const auto bytes = static_cast<double>(copy.bytes);
    step.floor = machine::copy_floor(copy, conditions.cache, gpu).value();
    // Warm data that fit, source and destination, are read from L2.
    const bool fits = 2.0 * bytes < machine::dirty_capacity_of(gpu).value();
    const double lost = fits && conditions.cache == prediction::Cache::warm
                            ? machine::lost_between(conditions.between, 2.0 * bytes, gpu)
                            : 1.0;
    step.floor += machine::cold_after_others(conditions, Bytes(lost * bytes), gpu).value();
    move(bytes, lost, fits, gpu, conditions, step);
    return step;
}

}  // namespace warptime::model::simulation
