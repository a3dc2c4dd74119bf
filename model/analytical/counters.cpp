// Turns the traffic of an analysed kernel into the profiler's counters.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/counters.hpp"

#include "model/analytical/traffic.hpp"
#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/l2/l2.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::analytical {

namespace {

/// Written bytes of the profiler itself that a kernel's traffic pushes out of an invalidated L2. None leave
/// until a quarter of the L2's capacity came in; all have left from three quarters on. Source: kernels of
/// counters_* that write next to nothing, fit and development rows. The kernels showed writes of 0.0 MB up to
/// 17 MB read. At 24 MB read the writes were 0.7 MB, and at 30 MB 1.0 MB. At 50 MB read the writes were 2.3
/// MB, and from 67 MB on 2.4 MB.
double profiler_writes(const hw::Bytes& read, const hw::Bytes& written, const hw::Gpu& gpu) {
    const double came_in = ((read + written) / gpu.l2.capacity).value();
    return gpu.l2.cold_dirty.value() * std::clamp(2.0 * came_in - 0.5, 0.0, 1.0);
}

/// Bytes that bulk stores write twice to the same sectors, where neighbouring boxes meet inside a sector.
/// Boxes of any shape leave line by line of shared memory (128 bytes, the span of the swizzle). Source:
/// products whose rows of C are an odd number of half sectors (ten of counters_gemm_*, fit and development
/// rows). The counted writes are 1.13 to 1.17 of the sectors that C has; the law gives 1.125.
double written_twice(const kernel::Kernel& kernel, const Analysis& a, const hw::Gpu& gpu) {
    const double line = gpu.l1.line.value();
    double twice = 0.0;
    for (const kernel::Op& op : kernel.ops) {
        if (op.cls != hw::InstructionClass::cp_async_bulk_store || op.access_count != 1) continue;
        const auto b = static_cast<std::size_t>(kernel.accesses[op.first_access].buffer);
        const kernel::Buffer& buffer = kernel.buffers[b];
        if (buffer.rank < 2) continue;
        const auto pitch =
            static_cast<std::int64_t>(static_cast<double>(buffer.stride[1]) * hw::bytes_of(buffer.dtype));
        const double padded = machine::sector_bytes_per_row(line, pitch, gpu.l1.sector.value()) / line;
        twice += static_cast<double>(a.items) * a.item.buffers[b].written_bytes * (padded - 1.0);
    }
    return twice;
}

}  // namespace

std::vector<std::pair<std::string, double>> counters_of(const kernel::Kernel& kernel, const Analysis& a,
                                                        const hw::Gpu& gpu,
                                                        const prediction::Conditions& conditions) {
    const Lookups asked = lookups(kernel, a.item, a.concurrent(), gpu, conditions, a.sms);
    const double profiled = conditions.cache == prediction::Cache::cold
                                ? profiler_writes(asked.dram_read, a.traffic.dirtied, gpu)
                                : 0.0;
    const double visits = machine::slice_visits(gpu);
    const double sector = gpu.l1.sector.value();
    const double stored = a.traffic.sectors_written.value() + written_twice(kernel, a, gpu);
    const double writes = stored / sector * visits;
    const double atomics = a.traffic.passes.value() / sector * visits;
    const double returning = a.traffic.returned.value() / sector * visits;
    const double instructions =
        static_cast<double>(a.items) * a.item.total([](const machine::Part& p) { return p.instructions; });
    const auto resident = static_cast<double>(a.resident());
    const double reads = (asked.looked_up - asked.merged).value() / sector;
    // Bytes that SMs and the front end request at a kernel's start belong to no operand. They count only in
    // the sum of sectors, as do those beside lines that come in, until these fill a partition.
    const double started = static_cast<double>(std::min<std::int64_t>(a.ctas, a.sms));
    const double at_start = (gpu.l2.kernel_bytes.value() + started * gpu.l2.start_bytes.value()) / sector;
    const double own = reads + writes + atomics;
    const double partition = gpu.l2.capacity.value() / std::max(1.0, gpu.l2.partitions.value()) / sector;
    const double came_in = (asked.filled.value() + a.traffic.dirtied.value() * visits) / sector;
    const double beside = gpu.l2.beside.value() * std::min(came_in, partition);
    return {{"dram__bytes_read.sum", asked.dram_read.value()},
            {"dram__bytes_write.sum", asked.dram_written.value() + profiled},
            {"lts__t_sectors.sum", own + at_start + beside},
            {"lts__t_sectors_op_read.sum", reads},
            {"lts__t_sectors_op_write.sum", writes},
            {"lts__t_sectors_op_atom.sum", returning},
            {"lts__t_sectors_op_red.sum", atomics - returning},
            {"l1tex__m_xbar2l1tex_read_bytes.sum", a.traffic.received.value()},
            {"smsp__inst_executed.sum", instructions},
            {"launch__waves_per_multiprocessor", a.waves},
            {"sm__warps_active.avg.pct_of_peak_sustained_active",
             100.0 * resident * a.item.warps / gpu.sm.warps_max.value()}};
}

}  // namespace warptime::model::analytical
