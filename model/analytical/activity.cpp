// Adds up what a kernel keeps busy on an average SM, over the whole launch.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/activity.hpp"

#include "hw/tensor_rate.hpp"
#include "model/machine/l2/l2.hpp"

namespace warptime::model::analytical {

machine::Activity activity_of(const Analysis& a, const hw::Gpu& gpu, prediction::OperandData data) {
    const double items_per_sm = static_cast<double>(a.items) / gpu.sm.count.value();
    const auto busy = [&](machine::Server server) {
        const auto of = [server](const machine::Part& part) { return part.demand[server].value(); };
        return (of(a.item.before) + a.item.trips * of(a.item.loop) + of(a.item.after)) * items_per_sm;
    };
    machine::Activity activity;
    activity.issue = busy(machine::Server::issue);
    activity.fp32 = busy(machine::Server::fp32) + busy(machine::Server::fp16);
    activity.fp64 = busy(machine::Server::fp64);
    activity.integer = busy(machine::Server::integer);
    activity.shared = busy(machine::Server::shared) + busy(machine::Server::shared_write);
    if (a.item.uses_tensor) {
        const double flop = a.item.total([](const machine::Part& part) { return part.tensor_flop; });
        activity.tensor = flop * items_per_sm / hw::tensor_rate(a.item.tensor_dtype, gpu).value();
        activity.tensor_dtype = a.item.tensor_dtype;
    }
    activity.l2 =
        machine::l2_cycles((a.traffic.l2_read + a.traffic.l2_written) * machine::slice_visits(gpu), gpu)
            .value();
    activity.dram = a.traffic.dram_read + a.traffic.dram_written;
    activity.data = data;
    return activity;
}

}  // namespace warptime::model::analytical
