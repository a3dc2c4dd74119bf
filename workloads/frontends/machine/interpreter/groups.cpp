// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/groups.hpp"

#include "workloads/frontends/machine/interpreter/barriers.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

/// Joins the groups that wait at one barrier when all living lanes that they wait for have come. Frames of a
/// recursive function wait at the same instruction. A group of an outer frame waits for the lanes of an inner
/// one, too, and not the other way round.
bool release(Warp& warp) {
    for (std::size_t i = 0; i < warp.groups.size(); ++i) {
        if (warp.groups[i].state == Group::State::ready) {
            continue;
        }
        const Group first = warp.groups[i];
        Mask there = 0;
        const auto waits_there = [&warp, &first](const Group& group) {
            return group.state == first.state && group.pc == first.pc &&
                   (first.waits_for & warp.alive & ~group.waits_for) == 0;
        };
        for (const Group& group : warp.groups) {
            if (waits_there(group)) there |= group.lanes;
        }
        if ((first.waits_for & warp.alive & ~there) != 0) {
            continue;
        }
        const Mask joined = there & (first.waits_for | first.lanes);
        for (Group& group : warp.groups) {
            if (waits_there(group)) group.lanes &= ~joined;
        }
        std::erase_if(warp.groups, [](const Group& group) { return group.lanes == 0; });
        warp.groups.push_back({first.pc + 1, joined, Group::State::ready, 0, false, 0, false});
        return true;
    }
    return false;
}

bool is_ready(const Group& group) {
    return group.state == Group::State::ready;
}

}  // namespace

Flow split(Warp& warp, Mask taken, std::uint32_t target) {
    if (taken == 0) {
        return Flow::next;
    }
    const Mask others = warp.active & ~taken;
    if (others != 0) {
        warp.groups.push_back({warp.pc + 1, others, Group::State::ready, 0, false, 0, false});
        warp.active = taken;
    }
    warp.pc = target;
    return Flow::jumped;
}

void set_aside(Warp& warp, Mask others) {
    if (others == 0) {
        return;
    }
    warp.groups.push_back({warp.pc, others, Group::State::ready, 0, false, 0, false});
    warp.active &= ~others;
}

Flow converge(Warp& warp, Mask members, Group::State barrier) {
    const Mask awaited = members & warp.alive;
    if ((awaited & ~warp.active) == 0) {
        return Flow::next;
    }
    warp.groups.push_back({warp.pc, warp.active, barrier, members, false, 0, false});
    warp.active = 0;
    return Flow::parked;
}

bool resume_next(Warp& warp) {
    for (;;) {
        // The group that was parked last goes on first: its data are the newest.
        for (std::size_t i = warp.groups.size(); i-- > 0;) {
            if (is_ready(warp.groups[i])) {
                warp.active = warp.groups[i].lanes;
                warp.pc = warp.groups[i].pc;
                warp.waiting = warp.groups[i].waiting;
                warp.poll = warp.groups[i].poll;
                warp.in_vain = warp.groups[i].in_vain;
                warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(i));
                return true;
            }
        }
        if (!release(warp)) {
            return false;
        }
    }
}

bool rotate(Warp& warp) {
    const auto ready = std::ranges::find_if(warp.groups, is_ready);
    if (ready == warp.groups.end()) {
        return false;
    }
    const Group next = *ready;
    warp.groups.erase(ready);
    if (warp.active != 0) {
        warp.groups.push_back(
            {warp.pc, warp.active, Group::State::ready, 0, warp.waiting, warp.poll, warp.in_vain});
    }
    warp.active = next.lanes;
    warp.pc = next.pc;
    warp.waiting = next.waiting;
    warp.poll = next.poll;
    warp.in_vain = next.in_vain;
    return true;
}

Flow leave(Warp& warp, Mask leaving) {
    if (leaving == 0) {
        return Flow::next;
    }
    warp.alive &= ~leaving;
    warp.active &= ~leaving;
    threads_left(*warp.cta, std::popcount(leaving));
    return warp.active == 0 ? Flow::parked : Flow::next;
}

}  // namespace warptime::workloads::frontends::machine
