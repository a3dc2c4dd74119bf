// Trips and branches of one warp. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/warp_choice.hpp"

#include "model/kernel/body_nodes.hpp"
#include "model/machine/demand/op_kind.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::model::simulation {

using kernel::NodeKind;

namespace {

/// In [0, 1), from the upper bits.
double fraction_of(std::uint64_t x) {
    return static_cast<double>(x >> 11) * 0x1.0p-53;
}

/// Number of the turn of the innermost loop around; turns of the loops outside shift it.
std::int64_t turn_of(const kernel::Coordinates& at) {
    std::int64_t turn = 0;
    for (const std::int64_t loop : at.loop) {
        turn = turn * 5 + loop;
    }
    return turn;
}

/// True for waits of a pipeline, whose phases say what a trip needs. At a barrier warps only meet.
bool orders_trips(const kernel::Kernel& kernel, const kernel::Node& wait) {
    const auto token = static_cast<std::size_t>(kernel.waits[wait.payload].token);
    return kernel.tokens[token].kind != kernel::TokenKind::named_barrier;
}

/// How two branches without anything between them belong together. Code of one condition may be written as
/// several branches: then the slowest warps take all of these or none. Shares that make up all are those of a
/// condition and its contrary.
LoopKinds::Counterpart counterpart_of(const kernel::Kernel& kernel, const kernel::Node& before,
                                      const kernel::Node& behind) {
    constexpr double rounding = 1e-9;
    const kernel::Branch& one = kernel.branches[before.payload];
    const kernel::Branch& other = kernel.branches[behind.payload];
    const bool known = one.slowest.of_grid >= 0.0 || other.slowest.of_grid >= 0.0;
    const bool alike = std::abs(one.slowest.of_cta - other.slowest.of_cta) < rounding &&
                       std::abs(one.slowest.of_grid - other.slowest.of_grid) < rounding;
    if (known && alike && std::abs(one.warps_taking - other.warps_taking) < rounding) return {&before, true};
    if (!(known && alike) && std::abs(one.warps_taking + other.warps_taking - 1.0) < rounding)
        return {&before, false};
    return {};
}

bool waits_or_signals(const kernel::Node& node) {
    return node.kind == NodeKind::wait || node.kind == NodeKind::signal;
}

}  // namespace

LoopKinds::LoopKinds(const kernel::Kernel& kernel)
    : kernel_(&kernel),
      meets_(kernel.nodes.size()),
      counterpart_(kernel.nodes.size()),
      serial_(kernel.loops.size()) {
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
        const std::size_t end = kernel.nodes[n].end;
        if (kernel.nodes[n].kind == NodeKind::branch && end < kernel.nodes.size() &&
            kernel.nodes[end].kind == NodeKind::branch)
            counterpart_[end] = counterpart_of(kernel, kernel.nodes[n], kernel.nodes[end]);
    }
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
        const kernel::Node& node = kernel.nodes[n];
        if (node.kind != NodeKind::loop && node.kind != NodeKind::branch) continue;
        bool meets = false;
        bool described = false;
        bool works = false;
        for (std::size_t inside = n + 1; inside < node.end; ++inside) {
            const kernel::Node& other = kernel.nodes[inside];
            meets = meets || waits_or_signals(other);
            described = described || (other.kind == NodeKind::wait && orders_trips(kernel, other));
            if (other.kind != NodeKind::op) continue;
            const kernel::Op& op = kernel.ops[other.payload];
            works = true;
            meets = meets || op.completes != kernel::no_id;
            described = described || machine::is_asynchronous_copy(op.cls) || hw::is_group_product(op.cls);
            for (const kernel::Dep& dep : kernel.deps_of(op)) described = described || dep.distance > 0;
        }
        meets_[n] = meets;
        if (node.kind == NodeKind::loop) {
            described = described || kernel.loops[node.payload].overlap;
            serial_[node.payload] = works && !described;
        }
    }
}

std::int64_t LoopKinds::period(const kernel::Node& loop) const {
    const kernel::Loop& its = kernel_->loops[loop.payload];
    return std::int64_t{its.unroll} * its.machine_unroll;
}

std::int64_t share_of_turn(double mean, double start, std::int64_t turn) {
    constexpr double golden = 0.6180339887498949;
    double place = start + static_cast<double>(turn % (std::int64_t{1} << 20)) * golden;
    place -= std::floor(place);
    return static_cast<std::int64_t>(std::floor(mean + place));
}

double WarpChoice::own(double mean, const kernel::SlowestWarps& slowest) const {
    if (slowest.of_cta < 0.0)
        return pace == Pace::slowest_of_grid && slowest.of_grid >= 0.0 ? slowest.of_grid : mean;
    switch (pace) {
        case Pace::slowest_of_grid:
            return std::max(slowest.of_grid, slowest.of_cta);
        case Pace::slowest_of_cta:
            return slowest.of_cta;
        case Pace::others:
            break;
    }
    return warps > 1.0 ? std::max(0.0, (mean * warps - slowest.of_cta) / (warps - 1.0)) : mean;
}

kernel::LoopPasses WarpChoice::passes(const kernel::Kernel& kernel, const kernel::Node& node,
                                      const kernel::Coordinates& at) const {
    const kernel::Loop& loop = kernel.loops[node.payload];
    std::int64_t trips = kernel::trips_of(kernel, loop, at);
    // A part of the grid stands for all of it with mean trips.
    if (kernel::by_place(loop.trips) && cut->whole()) {
        trips = std::max<std::int64_t>(0, kernel::evaluate(kernel, loop.trips.index, at));
    } else if (loop.slowest.of_cta >= 0.0 && !kinds->meets(node)) {
        const double mean = loop.trips.expected
                                ? loop.trips.mean
                                : static_cast<double>(kernel::evaluate(kernel, loop.trips.index, at));
        const double start = fraction_of(scattered(seed + node.payload));
        trips = share_of_turn(own(mean, loop.slowest), start, turn_of(at));
    }
    return cut->passes(trips, kinds->period(node));
}

bool WarpChoice::takes(const kernel::Kernel& kernel, const kernel::Node& node,
                       const kernel::Coordinates& at) const {
    const kernel::Branch& branch = kernel.branches[node.payload];
    const double share = std::min(1.0, own(branch.warps_taking, branch.slowest));
    if (share >= 1.0) return true;
    const LoopKinds::Counterpart& other = kinds->counterpart(node);
    if (other.branch != nullptr && branch.slowest.of_cta < 0.0) {
        return takes(kernel, *other.branch, at) == other.same;
    }
    const double start = fraction_of(scattered(~(seed + node.payload)));
    return share_of_turn(share, start, turn_of(at)) > 0;
}

}  // namespace warptime::model::simulation
