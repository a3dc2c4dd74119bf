// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/memory_step.hpp"

#include "hw/dual.hpp"
#include "hw/math.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/analytical/bounds/l2.hpp"
#include "model/memory/write_back.hpp"
#include "model/prediction/launch_floor.hpp"
#include "model/prediction/link_copy.hpp"

namespace warptime::model::analytical {

namespace {

using hw::Bytes;

/// What is written to DRAM. Launched again and again, an operation finds the lines dirty that it left: what
/// does not fit is written back every time.
template <class S>
Bytes<S> written_back(const Bytes<S>& read, const Bytes<S>& stored, bool fits, const hw::Gpu<S>& gpu,
                      prediction::Cache cache) {
    if (cache == prediction::Cache::warm) return fits ? Bytes<S>{} : stored;
    return cache == prediction::Cache::flushed
               ? memory::writes_over_dirty(read, stored, memory::dirty_first_of(gpu), gpu.l2.dirty_fraction,
                                           memory::dirty_capacity_of(gpu))
               : memory::writes_over_clean(Bytes<S>(read.value() * slice_visits(gpu)), stored,
                                           gpu.l2.capacity, memory::dirty_capacity_of(gpu));
}

template <class S>
MemoryStepTime<S> finish(MemoryStepTime<S> t, const Bytes<S>& stored, const hw::Gpu<S>& gpu) {
    // Stores go through the L2 even where it keeps them.
    const hw::Seconds<S> fill = stored / (gpu.l2.ingest_bandwidth * gpu.sm.count) / gpu.clock.boost;
    t.dram = hw::max(dram_seconds(t.dram_read, Bytes<S>{}, t.dram_written, gpu), fill);
    t.time = t.floor + t.dram;
    return t;
}

}  // namespace

template <class S>
MemoryStepTime<S> memset_time(const kernel::Memset& step, const hw::Gpu<S>& gpu,
                              const prediction::Conditions& conditions) {
    MemoryStepTime<S> t;
    t.floor = gpu.launch.memset;
    const Bytes<S> bytes(S(static_cast<double>(step.bytes)));
    const bool fits = bytes < memory::dirty_capacity_of(gpu);
    t.dram_written = written_back(Bytes<S>{}, bytes, fits, gpu, conditions.cache);
    return finish(t, bytes, gpu);
}

template <class S>
MemoryStepTime<S> memcpy_time(const kernel::Memcpy& step, const hw::Gpu<S>& gpu,
                              const prediction::Conditions& conditions) {
    if (step.link != kernel::Link::device) {
        const prediction::LinkCopy<S> copy = prediction::link_copy(step, gpu);
        MemoryStepTime<S> t;
        t.floor = copy.latency;
        t.link = copy.transfer;
        t.time = t.floor + t.link;
        return t;
    }
    MemoryStepTime<S> t;
    const Bytes<S> bytes(S(static_cast<double>(step.bytes)));
    t.floor = prediction::copy_floor(step, conditions.cache, gpu);
    // Warm data that fit, source and destination, are read from L2.
    const bool fits = bytes * S(2.0) < memory::dirty_capacity_of(gpu);
    t.dram_read = fits && conditions.cache == prediction::Cache::warm ? Bytes<S>{} : bytes;
    t.dram_written = written_back(t.dram_read, bytes, fits, gpu, conditions.cache);
    return finish(t, bytes, gpu);
}

#define WARPTIME_INSTANTIATE(S)                                                      \
    template MemoryStepTime<S> memset_time(const kernel::Memset&, const hw::Gpu<S>&, \
                                           const prediction::Conditions&);           \
    template MemoryStepTime<S> memcpy_time(const kernel::Memcpy&, const hw::Gpu<S>&, \
                                           const prediction::Conditions&);
WARPTIME_INSTANTIATE(double)
WARPTIME_INSTANTIATE(hw::Dual<4>)

}  // namespace warptime::model::analytical
