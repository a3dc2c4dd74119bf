// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/meetings.hpp"

#include <algorithm>
#include <cstddef>

namespace warptime::workloads::frontends::machine {

namespace {

/// A part of a stretch that lies between two meetings.
struct Part {
    std::uint32_t first = 0, count = 0;
};

/// What a warp executed, from each meeting to the next. The instruction at which it meets ends a phase.
std::vector<std::vector<Part>> phases_of(const WarpTrace& warp, const std::vector<std::uint32_t>& meetings) {
    std::vector<std::vector<Part>> phases(1);
    for (const Stretch& stretch : warp.stretches) {
        std::uint32_t first = stretch.first;
        const std::uint32_t end = stretch.first + stretch.count;
        for (auto meeting = std::ranges::lower_bound(meetings, first);
             meeting != meetings.end() && *meeting < end; ++meeting) {
            phases.back().push_back({first, *meeting + 1 - first});
            phases.emplace_back();
            first = *meeting + 1;
        }
        if (first < end) phases.back().push_back({first, end - first});
    }
    return phases;
}

std::uint64_t cycles_of(const std::vector<Part>& parts, const PaceOfCode& pace) {
    std::uint64_t all = 0;
    for (const Part& part : parts) all += pace.of(part.first, part.count);
    return all;
}

}  // namespace

std::vector<std::uint32_t> meetings(const Code& code) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < code.lines.size(); ++i) {
        if (code.lines[i]->opcode == "BAR" && !code.lines[i]->has("ARV")) found.push_back(i);
    }
    return found;
}

std::map<std::uint32_t, double> slowest_between_meetings(const CtaTrace& cta, const std::vector<int>& warps,
                                                         const std::vector<std::uint32_t>& meetings,
                                                         const PaceOfCode& pace) {
    std::vector<std::vector<std::vector<Part>>> by_warp;
    for (const int w : warps) {
        const WarpTrace& warp = cta.warps[static_cast<std::size_t>(w)];
        if (warp.truncated) return {};
        by_warp.push_back(phases_of(warp, meetings));
        if (by_warp.back().size() < 2 || by_warp.back().size() != by_warp.front().size()) return {};
    }
    std::map<std::uint32_t, double> times;
    for (std::size_t p = 0; !by_warp.empty() && p < by_warp.front().size(); ++p) {
        const auto& slowest = *std::ranges::max_element(
            by_warp, {},
            [p, &pace](const std::vector<std::vector<Part>>& phases) { return cycles_of(phases[p], pace); });
        for (const Part& part : slowest[p]) {
            for (std::uint32_t pc = part.first; pc < part.first + part.count; ++pc) times[pc] += 1.0;
        }
    }
    return times;
}

}  // namespace warptime::workloads::frontends::machine
