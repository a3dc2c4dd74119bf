// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/activity.hpp"

#include "hw/dual.hpp"
#include "hw/tensor_rate.hpp"
#include "model/analytical/bounds/l2.hpp"

namespace warptime::model::analytical {

template <class S>
power::Activity<S> activity_of(const Analysis<S>& a, const hw::Gpu<S>& gpu, prediction::OperandData data) {
    const S items_per_sm = S(static_cast<double>(a.items)) / gpu.sm.count.value();
    const auto busy = [&](Server server) {
        const auto of = [server](const Part<S>& part) { return part.demand[server].value(); };
        return (of(a.item.before) + S(a.item.trips) * of(a.item.loop) + of(a.item.after)) * items_per_sm;
    };
    power::Activity<S> activity;
    activity.resident = S(static_cast<double>(a.sms)) / gpu.sm.count.value();
    activity.issue = busy(Server::issue);
    activity.fp32 = busy(Server::fp32) + busy(Server::fp16);
    activity.fp64 = busy(Server::fp64);
    activity.integer = busy(Server::integer);
    activity.shared = busy(Server::shared) + busy(Server::shared_write);
    if (a.item.uses_tensor) {
        const double flop = a.item.total([](const Part<S>& part) { return part.tensor_flop; });
        activity.tensor = S(flop) * items_per_sm / hw::tensor_rate(a.item.tensor_dtype, gpu).value();
        activity.tensor_dtype = a.item.tensor_dtype;
    }
    activity.l2 = l2_cycles((a.traffic.l2_read + a.traffic.l2_written) * slice_visits(gpu), gpu).value();
    activity.dram = a.traffic.dram_read + a.traffic.dram_written;
    activity.data = data;
    return activity;
}

template power::Activity<double> activity_of(const Analysis<double>&, const hw::Gpu<double>&,
                                             prediction::OperandData);
template power::Activity<hw::Dual<4>> activity_of(const Analysis<hw::Dual<4>>&, const hw::Gpu<hw::Dual<4>>&,
                                                  prediction::OperandData);

}  // namespace warptime::model::analytical
