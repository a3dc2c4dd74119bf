// Times of memsets and of copies within the GPU or over a link.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/memory_step.hpp"

#include "model/machine/dram/dram.hpp"
#include "model/machine/dram/write_back.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/launch/launch_floor.hpp"
#include "model/machine/launch/link_copy.hpp"
#include "model/machine/links/exchange.hpp"
#include "model/prediction/band_edges.hpp"

#include <algorithm>

namespace warptime::model::analytical {

namespace {

using hw::Bytes;

/// Bytes written to DRAM. An operation that is launched again and again finds its own lines dirty. Bytes that
/// do not fit are written back every time.
Bytes written_back(const Bytes& read, const Bytes& stored, bool fits, const hw::Gpu& gpu,
                   prediction::Cache cache) {
    if (cache == prediction::Cache::warm) return fits ? Bytes{} : stored;
    return cache == prediction::Cache::flushed
               ? machine::writes_over_dirty(read, stored, machine::dirty_first_of(gpu), gpu.l2.dirty_fraction,
                                            machine::dirty_capacity_of(gpu))
               : machine::writes_over_clean(Bytes(read.value() * machine::slice_visits(gpu)), stored,
                                            gpu.l2.capacity, machine::dirty_capacity_of(gpu));
}

MemoryStepTime finish(MemoryStepTime t, const Bytes& stored, const hw::Gpu& gpu) {
    // Stores go through the L2 even where the L2 keeps them.
    const hw::Seconds fill = stored / (gpu.l2.ingest_bandwidth * gpu.sm.count) / gpu.clock.boost;
    t.dram = std::max(machine::dram_seconds({t.dram_read, {}, {}}, {t.dram_written}, gpu), fill);
    t.time = t.floor + t.dram;
    return t;
}

}  // namespace

MemoryStepTime memset_time(const kernel::Memset& step, const hw::Gpu& gpu,
                           const prediction::Conditions& conditions) {
    MemoryStepTime t;
    t.floor = gpu.launch.floor;
    const Bytes bytes(static_cast<double>(step.bytes));
    const bool fits = bytes < machine::dirty_capacity_of(gpu);
    t.dram_written = written_back(Bytes{}, bytes, fits, gpu, conditions.cache);
    return finish(t, bytes, gpu);
}

MemoryStepTime memcpy_time(const kernel::Memcpy& step, const hw::Gpu& gpu,
                           const prediction::Conditions& conditions) {
    if (step.link != kernel::Link::device) {
        const machine::LinkCopy copy = machine::link_copy(step, gpu);
        MemoryStepTime t;
        t.floor = copy.latency;
        t.link = copy.transfer;
        t.time = t.floor + t.link;
        return t;
    }
    MemoryStepTime t;
    const Bytes bytes(static_cast<double>(step.bytes));
    t.floor = machine::copy_floor(step, conditions.cache, gpu);
    // Warm data that fit, source and destination together, are read from the L2.
    const bool fits = bytes * 2.0 < machine::dirty_capacity_of(gpu);
    t.dram_read = fits && conditions.cache == prediction::Cache::warm
                      ? bytes * machine::lost_between(conditions.between, 2.0 * bytes.value(), gpu)
                      : bytes;
    t.floor += machine::cold_after_others(conditions, t.dram_read, gpu);
    t.dram_written = written_back(t.dram_read, bytes, fits, gpu, conditions.cache);
    return finish(t, bytes, gpu);
}

prediction::Estimate exchange_estimate(const kernel::Exchange& exchange) {
    const machine::ExchangeTime t = machine::exchange_time(exchange);
    prediction::Estimate estimate;
    estimate.time = t.total().value();
    const prediction::BandEdges edges = prediction::relative_edges(estimate.time, exchange.band);
    estimate.low = edges.low;
    estimate.high = edges.high;
    estimate.limiter = machine::limiter_of(t);
    estimate.band_class = prediction::class_of(estimate.limiter);
    estimate.evidence = exchange.evidence;
    return estimate;
}

}  // namespace warptime::model::analytical
