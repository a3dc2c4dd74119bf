// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/memory_step.hpp"

#include "hw/dual.hpp"
#include "hw/error.hpp"
#include "hw/math.hpp"
#include "model/analytical/bounds/dram.hpp"
#include "model/memory/write_back.hpp"

namespace warptime::model::analytical {

namespace {

using hw::Bytes;

template <class S>
Bytes<S> written_back(const Bytes<S>& read, const Bytes<S>& stored, const hw::Gpu<S>& gpu,
                      const prediction::Conditions& conditions) {
    return conditions.cache == prediction::Cache::flushed
               ? memory::writes_over_dirty(read, stored, gpu.l2.dirty_fraction,
                                           memory::dirty_capacity_of(gpu))
               : memory::writes_over_clean(read, stored, memory::dirty_capacity_of(gpu));
}

template <class S>
MemoryStepTime<S> finish(MemoryStepTime<S> t, const hw::Gpu<S>& gpu) {
    t.dram = dram_seconds(t.dram_read, Bytes<S>{}, t.dram_written, gpu);
    t.time = t.floor + t.dram;
    return t;
}

}  // namespace

template <class S>
MemoryStepTime<S> memset_time(const kernel::Memset& step, const hw::Gpu<S>& gpu,
                              const prediction::Conditions& conditions) {
    MemoryStepTime<S> t;
    t.floor = gpu.launch.memset;
    t.dram_written = written_back(Bytes<S>{}, Bytes<S>(S(static_cast<double>(step.bytes))), gpu, conditions);
    return finish(t, gpu);
}

template <class S>
MemoryStepTime<S> memcpy_time(const kernel::Memcpy& step, const hw::Gpu<S>& gpu,
                              const prediction::Conditions& conditions) {
    if (step.link != kernel::Link::device) {
        throw Error("memcpy link", "host or peer",
                    "a copy within the device: links are not modelled by this engine");
    }
    MemoryStepTime<S> t;
    const Bytes<S> bytes(S(static_cast<double>(step.bytes)));
    t.floor = gpu.launch.memcpy + gpu.launch.memcpy_pass * S(static_cast<double>(step.passes - 1));
    // Warm data that fit are read from L2, whose time hides behind the floor.
    const bool warm = conditions.cache == prediction::Cache::warm &&
                      bytes * S(2.0) < gpu.l2.capacity * gpu.l2.shared_capacity.value();
    t.dram_read = warm ? Bytes<S>{} : bytes;
    t.dram_written = written_back(t.dram_read, bytes, gpu, conditions);
    return finish(t, gpu);
}

#define WARPTIME_INSTANTIATE(S)                                                      \
    template MemoryStepTime<S> memset_time(const kernel::Memset&, const hw::Gpu<S>&, \
                                           const prediction::Conditions&);           \
    template MemoryStepTime<S> memcpy_time(const kernel::Memcpy&, const hw::Gpu<S>&, \
                                           const prediction::Conditions&);
WARPTIME_INSTANTIATE(double)
WARPTIME_INSTANTIATE(hw::Dual<4>)

}  // namespace warptime::model::analytical
