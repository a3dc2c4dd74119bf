// Busy cycles of a run, averaged over the chip.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/activity.hpp"

#include <algorithm>

namespace warptime::model::simulation {

using prediction::Limiter;

machine::Activity activity_of(const Run& run, const kernel::Kernel& kernel, const hw::Gpu& gpu,
                              prediction::OperandData data) {
    const double sms = gpu.sm.count.value();
    // Servers are averaged over the SMs that take part.
    const double spread = static_cast<double>(run.sms) / sms;
    const auto busy = [&](Limiter limiter) {
        double most = 0.0;
        for (const Busy& b : run.busy) {
            if (b.limiter == limiter) most = std::max(most, b.average);
        }
        return most / static_cast<double>(ticks_per_cycle);
    };
    machine::Activity activity;
    activity.issue = run.instructions / (sms * gpu.sm.sub_partitions.value());
    activity.fp32 = busy(Limiter::fp32) * spread;
    activity.fp64 = busy(Limiter::fp64) * spread;
    activity.integer = busy(Limiter::integer) * spread;
    activity.shared = busy(Limiter::shared) * spread;
    activity.l2 = busy(Limiter::l2);
    activity.dram = hw::Bytes(run.traffic.dram_read + run.traffic.dram_written);
    activity.data = data;
    if (run.uses_tensor) {
        activity.tensor = run.tensor_flop / (run.tensor_rate * sms);
        for (const kernel::Op& op : kernel.ops) {
            const bool matrix = hw::is_group_product(op.cls) || op.cls == hw::InstructionClass::mma_sync;
            if (matrix) activity.tensor_dtype = op.dtype;
        }
    }
    return activity;
}

}  // namespace warptime::model::simulation
