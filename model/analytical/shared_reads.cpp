// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/shared_reads.hpp"

#include "hw/dual.hpp"
#include "hw/hash.hpp"
#include "hw/math.hpp"
#include "model/memory/l2_room.hpp"
#include "model/memory/merging_in_brief.hpp"
#include "model/memory/request_merging.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace warptime::model::analytical {

namespace {

occupancy::Dependence slices_of(const memory::Operand& operand) {
    return {operand.along_m, operand.along_n, operand.along_batch, operand.along_split};
}

/// Where the facts of a case are kept. Cases that share a place push one another out, and nothing else.
std::size_t hash_of(const SharedReadsCase& of) {
    const occupancy::TileOrder& order = of.reuse.order;
    std::uint64_t hash = std::bit_cast<std::uint64_t>(of.reuse.streamed_bytes_per_item);
    for (const std::int64_t part : {order.m, order.n, order.group, of.reuse.concurrent}) {
        hash = hw::hashed(hash, static_cast<std::uint64_t>(part));
    }
    return static_cast<std::size_t>(hash >> 32U);
}

}  // namespace

template <class S>
SharedReads shared_reads(const SharedReadsCase& of, const hw::Gpu<S>& gpu) {
    SharedReads result;
    const occupancy::TileOrder& order = of.reuse.order;
    const memory::GroupRuns runs = memory::group_runs(of.reuse.concurrent, gpu);
    std::array<memory::Operand, memory::most_operands> operands = of.operands;
    const bool comes_back = order.items() > of.reuse.concurrent;
    if (comes_back && of.most_room > of.reuse.capacity_bytes) {
        // Each operand takes the room that the places of its readers ask for.
        const memory::GroupsAtWork groups = memory::groups_at_work(order, runs, gpu);
        for (std::size_t i = 0; i < of.count; ++i) {
            operands[i].room = memory::room_of_read(groups.of(slices_of(operands[i])), gpu);
        }
    }
    memory::l2_reuse(of.reuse, std::span(operands).first(of.count), std::span(result.moved).first(of.count));
    if (!of.merge) return result;
    const auto clusters = static_cast<std::int64_t>(std::max(1.0, hw::value_of(gpu.gpc.count)));
    const memory::MergingInBrief merging(order, runs, clusters, of.stay);
    const memory::MergingLaw law = memory::merging_law(gpu);
    const auto touched =
        occupancy::TileRuns(order).touched(0.0, std::min(runs.wave, static_cast<double>(order.items())));
    for (std::size_t i = 0; i < of.count; ++i) {
        result.in_first_wave[i] = touched.distinct(slices_of(operands[i]));
        result.merged[i] = merging.merged_share(slices_of(operands[i]), law);
    }
    return result;
}

const SharedReads& RecentSharedReads::of(const SharedReadsCase& wanted, const hw::Gpu<double>& gpu) {
    Known& place = known_[hash_of(wanted) % places];
    if (!place.known || place.of != wanted) {
        place.of = wanted;
        place.reads = shared_reads(wanted, gpu);
        place.known = true;
    }
    return place.reads;
}

template SharedReads shared_reads(const SharedReadsCase&, const hw::Gpu<double>&);
template SharedReads shared_reads(const SharedReadsCase&, const hw::Gpu<hw::Dual<4>>&);

}  // namespace warptime::model::analytical
