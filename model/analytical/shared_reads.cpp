// Works out shared reads of operands and keeps recent cases by hash.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/shared_reads.hpp"

#include "hw/hash.hpp"
#include "model/machine/l2/l2_room.hpp"
#include "model/machine/l2/merging_in_brief.hpp"
#include "model/machine/l2/request_merging.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace warptime::model::analytical {

namespace {

machine::Dependence slices_of(const machine::Operand& operand) {
    return {operand.along_m, operand.along_n, operand.along_batch, operand.along_split};
}

/// Place of a case among the kept cases. Cases with the same place push one another out, without other
/// effect.
std::size_t hash_of(const SharedReadsCase& of) {
    const machine::TileOrder& order = of.reuse.order;
    std::uint64_t hash = std::bit_cast<std::uint64_t>(of.reuse.streamed_bytes_per_item);
    for (const std::int64_t part : {order.m, order.n, order.group, of.reuse.concurrent}) {
        hash = hw::hashed(hash, static_cast<std::uint64_t>(part));
    }
    return static_cast<std::size_t>(hash >> 32U);
}

}  // namespace

SharedReads shared_reads(const SharedReadsCase& of, const hw::Gpu& gpu) {
    SharedReads result;
    const machine::TileOrder& order = of.reuse.order;
    const machine::GroupRuns runs = machine::group_runs(of.reuse.concurrent, gpu);
    hw::SmallVector<machine::Operand, machine::usual_operands> operands = of.operands;
    const std::size_t count = operands.size();
    result.moved.reset(count);
    result.in_first_wave.reset(count);
    result.merged.reset(count);
    const bool comes_back = order.items() > of.reuse.concurrent;
    if (comes_back && of.most_room > of.reuse.capacity_bytes) {
        // Each operand takes the room that its readers' places ask for.
        const machine::GroupsAtWork groups = machine::groups_at_work(order, runs, gpu);
        for (std::size_t i = 0; i < count; ++i) {
            operands[i].room = machine::room_of_read(groups.of(slices_of(operands[i])), gpu);
        }
    }
    machine::l2_reuse(of.reuse, std::span<const machine::Operand>(operands.begin(), count),
                      std::span(result.moved.begin(), count));
    if (!of.merge) return result;
    const auto clusters = static_cast<std::int64_t>(std::max(1.0, gpu.gpc.count.value()));
    const machine::MergingInBrief merging(order, runs, clusters, of.stay);
    const machine::MergingLaw law = machine::merging_law(gpu);
    const auto touched =
        machine::TileRuns(order).touched(0.0, std::min(runs.wave, static_cast<double>(order.items())));
    for (std::size_t i = 0; i < count; ++i) {
        result.in_first_wave[i] = touched.distinct(slices_of(operands[i]));
        result.merged[i] = merging.merged_share(slices_of(operands[i]), law);
    }
    return result;
}

const SharedReads& RecentSharedReads::of(const SharedReadsCase& wanted, const hw::Gpu& gpu) {
    constexpr std::size_t places = 64;
    if (known_.empty()) known_.resize(places);
    Known& place = known_[hash_of(wanted) % places];
    if (!place.known || place.of != wanted) {
        place.of = wanted;
        place.reads = shared_reads(wanted, gpu);
        place.known = true;
    }
    return place.reads;
}

}  // namespace warptime::model::analytical
