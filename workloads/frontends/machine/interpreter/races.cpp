// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/races.hpp"

#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/waits.hpp"

#include <algorithm>

namespace warptime::workloads::frontends::machine {

namespace {

/// Spreads neighbouring lines and those of any stride (Fibonacci hashing).
std::size_t slice_of(std::uint64_t line, std::size_t slices) {
    return static_cast<std::size_t>((line * 0x9E3779B97F4A7C15ULL >> 32U) % slices);
}

}  // namespace

std::vector<bool> find_races(std::span<const AssemblyLine* const> lines,
                             std::span<const std::pair<std::uint32_t, std::uint32_t>> functions,
                             std::vector<Instruction>& code) {
    std::vector<bool> races;
    for (const auto& [first, count] : functions) {
        bool own = false;
        for (std::uint32_t at = first; at < first + count && !own; ++at) {
            const std::uint32_t target = code[at].target;
            own = lines[at]->opcode == "BRA" && target < at && first <= target && code[at].poll == 0 &&
                  ends_by_looks(lines.subspan(target, at - target + 1));
        }
        races.push_back(own);
        for (std::uint32_t at = first; own && at < first + count; ++at) {
            const std::string& opcode = lines[at]->opcode;
            code[at].ends_turn = code[at].ends_turn || opcode == "LD" || opcode == "LDG" ||
                                 opcode == "ATOM" || opcode == "ATOMG";
        }
    }
    return races;
}

SliceQueues::SliceQueues(const Chip& chip, std::size_t instructions)
    : slices_(static_cast<std::size_t>(chip.l2.slices)),
      interval_(chip.l2.interval),
      latency_(chip.l2.latency),
      sector_bytes_(static_cast<std::uint64_t>(chip.cache.sector)),
      line_bytes_(static_cast<std::uint64_t>(chip.cache.line)),
      free_(slices_),
      served_(slices_ * instructions) {}

double SliceQueues::serve(const Instruction& instruction, std::span<const std::uint64_t> addresses,
                          Mask enabled, bool each_lane, double now) {
    double last = now;
    std::array<std::uint64_t, lanes_per_warp> sectors{};
    std::size_t count = 0;
    for_each_lane(enabled, [&](int lane) {
        const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
        const auto known = sectors.begin() + static_cast<std::ptrdiff_t>(count);
        if (!each_lane && std::find(sectors.begin(), known, address / sector_bytes_) != known) return;
        sectors[count++] = address / sector_bytes_;
        const std::size_t slice = slice_of(address / line_bytes_, slices_);
        free_[slice] = std::max(free_[slice], now) + interval_;
        last = std::max(last, free_[slice]);
        ++served_[instruction.index * slices_ + slice];
    });
    return last + latency_;
}

std::vector<double> SliceQueues::skews() const {
    std::vector<std::uint64_t> all(slices_);
    for (std::size_t i = 0; i < served_.size(); ++i) all[i % slices_] += served_[i];
    const auto fullest = static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
    std::vector<double> skews;
    for (std::size_t i = 0; i < served_.size(); i += slices_) {
        std::uint64_t own = 0;
        for (std::size_t s = 0; s < slices_; ++s) own += served_[i + s];
        skews.push_back(
            own == 0 ? 1.0 : static_cast<double>(served_[i + fullest] * slices_) / static_cast<double>(own));
    }
    return skews;
}

}  // namespace warptime::workloads::frontends::machine
