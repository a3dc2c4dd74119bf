// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/trace.hpp"

#include "model/machine/demand/distinct_numbers.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

WarpTrace& TraceRecorder::trace_of(const Warp& warp) {
    // One CTA mostly runs for a while.
    if (last_ != nullptr && last_->linear_id == warp.cta->linear_id) {
        return last_->warps[static_cast<std::size_t>(warp.index)];
    }
    CtaTrace*& cta = by_id_[warp.cta->linear_id];
    if (cta == nullptr) {
        ctas_.push_back(std::make_unique<CtaTrace>());
        cta = ctas_.back().get();
        cta->id = warp.cta->id;
        cta->linear_id = warp.cta->linear_id;
        cta->warps.resize(warp.cta->warps.size());
        for (std::size_t w = 0; w < cta->warps.size(); ++w) {
            cta->warps[w].warp = static_cast<int>(w);
        }
    }
    last_ = cta;
    return cta->warps[static_cast<std::size_t>(warp.index)];
}

void TraceRecorder::instruction(const Warp& warp, std::uint32_t pc, Mask active, Mask /*enabled*/) {
    WarpTrace& trace = trace_of(warp);
    if (!trace.stretches.empty()) {
        Stretch& last = trace.stretches.back();
        if (last.first + last.count == pc && last.active == active && !trace.truncated) {
            ++last.count;
            return;
        }
    }
    if (trace.stretches.size() >= most_stretches_) {
        trace.truncated = true;
        return;
    }
    trace.stretches.push_back({pc, 1, active});
}

void TraceRecorder::constants(const AccessEvent& event, WarpTrace& trace) {
    // Lanes at one address ask once.
    model::machine::DistinctNumbers asked;
    ConstantLanes all{event.instruction, event.lanes, {}};
    for (Mask left = event.lanes; left != 0; left &= left - 1U) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t offset = event.address[lane];
        all.offset[lane] = static_cast<std::uint16_t>(offset);
        const std::size_t before = asked.count();
        if (asked.place_of(static_cast<std::int64_t>(offset)) == before &&
            trace.constants.size() < most_constants)
            trace.constants.push_back({event.instruction, offset});
    }
    if (trace.constant_lanes.size() < most_constant_lanes) trace.constant_lanes.push_back(all);
}

void TraceRecorder::access(const Warp& warp, const AccessEvent& event) {
    WarpTrace& trace = trace_of(warp);
    if (trace.truncated || trace.stretches.empty()) {
        return;
    }
    if (event.space == AccessSpace::constant) {
        if (event.lanes != 0) constants(event, trace);
        return;
    }
    if (trace.made.size() <= event.instruction) {
        trace.made.resize(event.instruction + std::size_t{1});
    }
    if (trace.made[event.instruction]++ < most_accesses_) {
        trace.accesses.push_back({static_cast<std::uint32_t>(trace.stretches.size() - 1), event});
    }
}

void TraceRecorder::barrier(const Warp& warp, const BarrierEvent& event) {
    WarpTrace& trace = trace_of(warp);
    if (!trace.truncated) {
        trace.barriers.push_back(event);
    }
}

std::vector<const CtaTrace*> TraceRecorder::ctas_from_middle() const {
    std::vector<const CtaTrace*> ctas;
    for (const auto& cta : ctas_) {
        ctas.push_back(cta.get());
    }
    std::ranges::sort(ctas, {}, &CtaTrace::linear_id);
    std::vector<const CtaTrace*> outwards;
    const auto middle = static_cast<std::ptrdiff_t>(ctas.size() / 2);
    const auto count = static_cast<std::ptrdiff_t>(ctas.size());
    for (std::ptrdiff_t away = 0; away <= count; ++away) {
        if (middle + away < count) outwards.push_back(ctas[static_cast<std::size_t>(middle + away)]);
        if (away > 0 && middle - away >= 0) outwards.push_back(ctas[static_cast<std::size_t>(middle - away)]);
    }
    return outwards;
}

}  // namespace warptime::workloads::frontends::machine
