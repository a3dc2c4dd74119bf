// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/loops.hpp"

#include <algorithm>
#include <map>

namespace warptime::workloads::frontends::machine {

namespace {

std::uint32_t last_of(const Stretch& stretch) {
    return stretch.first + stretch.count - 1;
}

bool is_branch(const Code& code, std::uint32_t instruction) {
    const std::string& opcode = code.lines[instruction]->opcode;
    return opcode == "BRA" || opcode == "BRX" || opcode == "JMP";
}

bool holds(const CodeLoop& loop, std::uint32_t instruction) {
    return instruction >= loop.first && instruction <= loop.last;
}

}  // namespace

std::vector<CodeLoop> find_loops(const Code& code, const std::vector<const WarpTrace*>& warps) {
    std::map<std::uint32_t, std::uint32_t> last_by_header;
    for (const WarpTrace* warp : warps) {
        for (std::size_t i = 0; i + 1 < warp->stretches.size(); ++i) {
            const std::uint32_t from = last_of(warp->stretches[i]);
            const std::uint32_t to = warp->stretches[i + 1].first;
            if (to <= from && is_branch(code, from) && code.instructions[from].target == to) {
                std::uint32_t& last = last_by_header[to];
                last = std::max(last, from);
            }
        }
    }
    std::vector<CodeLoop> loops;
    for (const auto& [first, last] : last_by_header) {
        loops.push_back({first, last, -1, 0});
    }
    // A loop that begins inside another one and ends behind it widens the outer one.
    for (bool changed = true; changed;) {
        changed = false;
        for (CodeLoop& outer : loops) {
            for (const CodeLoop& inner : loops) {
                if (inner.first > outer.first && inner.first <= outer.last && inner.last > outer.last) {
                    outer.last = inner.last;
                    changed = true;
                }
            }
        }
    }
    for (std::size_t i = 0; i < loops.size(); ++i) {
        for (std::size_t o = 0; o < i; ++o) {
            if (holds(loops[o], loops[i].first)) {
                loops[i].parent = static_cast<int>(o);
            }
        }
        loops[i].depth = loops[i].parent < 0 ? 0 : loops[static_cast<std::size_t>(loops[i].parent)].depth + 1;
    }
    return loops;
}

int loop_of(const std::vector<CodeLoop>& loops, std::uint32_t instruction) {
    int found = -1;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        if (holds(loops[i], instruction)) {
            found = static_cast<int>(i);  // Inner loops come later.
        }
    }
    return found;
}

LoopPosition::LoopPosition(const std::vector<CodeLoop>& loops) : loops_(loops) {
    groups_.push_back({all_lanes, std::vector<std::int64_t>(loops.size(), -1),
                       std::vector<bool>(loops.size(), false), 0, false});
}

LoopPosition::Group& LoopPosition::group_of(Mask lanes) {
    const auto known = std::ranges::find(groups_, lanes, &Group::lanes);
    if (known != groups_.end()) {
        current_ = static_cast<std::size_t>(known - groups_.begin());
        return *known;
    }
    const Mask first = lanes & (0U - lanes);
    const auto held =
        std::ranges::find_if(groups_, [first](const Group& own) { return (own.lanes & first) != 0; });
    Group group = held == groups_.end() ? groups_.front() : *held;
    group.lanes = lanes;
    for (Group& other : groups_) other.lanes &= ~lanes;
    std::erase_if(groups_, [](const Group& other) { return other.lanes == 0; });
    groups_.push_back(std::move(group));
    current_ = groups_.size() - 1;
    return groups_.back();
}

void LoopPosition::enter(const Stretch& stretch) {
    Group& group = group_of(stretch.active);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        const CodeLoop& loop = loops_[i];
        const std::uint32_t last = stretch.first + stretch.count - 1;
        const bool reaches_header = stretch.first <= loop.first && last >= loop.first;
        if (reaches_header) {
            // By its own branch it is one more round; from outside the loop begins anew.
            const bool again =
                group.began && group.inside[i] && holds(loop, group.previous) && stretch.first == loop.first;
            group.round[i] = again ? group.round[i] + 1 : 0;
            group.inside[i] = true;
        } else if (!holds(loop, stretch.first)) {
            // Code out of line stays in the round; only an outer loop's next round ends it.
            const int parent = loop.parent;
            if (parent >= 0 && stretch.first == loops_[static_cast<std::size_t>(parent)].first) {
                group.inside[i] = false;
            }
        }
    }
    group.previous = stretch.first + stretch.count - 1;
    group.began = true;
}

std::vector<LoopRounds> rounds_of(const std::vector<CodeLoop>& loops, const WarpTrace& warp) {
    std::vector<LoopRounds> rounds(loops.size());
    LoopPosition position(loops);
    for (const Stretch& stretch : warp.stretches) {
        position.enter(stretch);
        const std::uint32_t last = last_of(stretch);
        for (std::size_t i = 0; i < loops.size(); ++i) {
            if (stretch.first <= loops[i].first && last >= loops[i].first) {
                ++rounds[i].rounds;
                rounds[i].entries += position.round(static_cast<int>(i)) == 0 ? 1U : 0U;
            }
        }
    }
    return rounds;
}

}  // namespace warptime::workloads::frontends::machine
