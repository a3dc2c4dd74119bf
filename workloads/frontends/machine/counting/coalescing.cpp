// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/coalescing.hpp"

#include "model/machine/demand/distinct_numbers.hpp"
#include "workloads/frontends/machine/counting/distinct_words.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

model::machine::LaneAddresses signed_of(const std::array<std::uint64_t, 32>& address) {
    return std::bit_cast<model::machine::LaneAddresses>(address);
}

/// The model goes through the lanes one by one, which is quicker where few are on.
bool few(std::uint32_t lanes) {
    constexpr int as_quick = 16;
    return std::popcount(lanes) < as_quick;
}

/// The number of each lane's sector. False where an access may be in two of them, or where 32 bits do not
/// tell the sectors apart.
bool sectors_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width,
                const AccessGeometry& geometry, WarpWords& sectors) {
    const auto sector = static_cast<std::uint64_t>(geometry.cache.sector);
    const auto shift = static_cast<unsigned>(std::countr_zero(sector));
    const std::uint64_t first = address[static_cast<std::size_t>(std::countr_zero(lanes))];
    std::uint64_t different = 0, low = 0;
    for (std::size_t lane = 0; lane < address.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(lanes >> lane) & 1U};
        different |= (address[lane] ^ first) & on;
        low |= address[lane] & on;
        sectors[lane] = static_cast<std::uint32_t>(address[lane] >> shift);
    }
    return std::has_single_bit(sector) && std::has_single_bit(width) && width <= sector &&
           (low & (width - 1U)) == 0 && different >> shift >> 32U == 0;
}

/// Every word is at least the one before it, as in stretches and strides.
bool ascend(const WarpWords& words) {
    std::uint32_t falls = 0;
    for (std::size_t lane = 1; lane < words.size(); ++lane) {
        falls |= words[lane] ^ std::max(words[lane], words[lane - 1]);
    }
    return falls == 0;
}

/// Words that are not the one before.
std::uint32_t changes_of(const WarpWords& words) {
    std::uint32_t changes = 1;
    for (std::size_t lane = 1; lane < words.size(); ++lane) {
        changes += words[lane] != words[lane - 1] ? 1U : 0U;
    }
    return changes;
}

/// Distinct sectors, and the lines that so many sectors make.
LineCount distinct_of(const WarpWords& sectors, std::uint32_t lanes, unsigned line_shift) {
    WarpWords lines;  // NOLINT: filled whole below.
    for (std::size_t lane = 0; lane < lines.size(); ++lane) {
        lines[lane] = sectors[lane] >> line_shift;
    }
    if (lanes == 0xffffffffU && ascend(sectors)) {
        return {changes_of(sectors), changes_of(lines)};
    }
    return {static_cast<std::uint32_t>(std::popcount(last_of_each(sectors, lanes))),
            static_cast<std::uint32_t>(std::popcount(last_of_each(lines, lanes)))};
}

/// The number of the unit of banks that each lane's word is in: banks that an aligned access takes together
/// are one. False where accesses are not aligned, or where numbers are large.
bool bank_units_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width,
                   unsigned shift, WarpWords& units) {
    constexpr unsigned number_bits = 27;  // Beside the number of one of 32 phases.
    std::uint64_t any = 0;
    for (std::size_t lane = 0; lane < address.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(lanes >> lane) & 1U};
        any |= address[lane] & on;
        units[lane] = static_cast<std::uint32_t>(address[lane] >> shift);
    }
    return std::has_single_bit(width) && (any & (width - 1U)) == 0 && any >> shift >> number_bits == 0;
}

/// The number of the phase in which each lane is served; `of_phase` lanes follow one another in a phase. Two
/// phases of a load become one where all lanes agree with a neighbour.
WarpWords phases_of(const WarpWords& units, std::uint32_t lanes, unsigned of_phase,
                    model::machine::SharedUse use) {
    WarpWords phases;  // NOLINT: filled whole below.
    const auto shift = static_cast<unsigned>(std::countr_zero(of_phase));
    for (std::size_t lane = 0; lane < phases.size(); ++lane) {
        phases[lane] = static_cast<std::uint32_t>(lane) >> shift;
    }
    if (use != model::machine::SharedUse::load || of_phase >= 32) {
        return phases;
    }
    const std::uint32_t alone_1 = with_neighbour<1>(lanes) & ~equal_to_neighbour<1>(units);
    const std::uint32_t alone_2 = with_neighbour<2>(lanes) & ~equal_to_neighbour<2>(units);
    for (unsigned first = 0; first < 32; first += 2 * of_phase) {
        const auto both = static_cast<std::uint32_t>((std::uint64_t{1} << (2 * of_phase)) - 1U) << first;
        if ((alone_1 & both) == 0 || (alone_2 & both) == 0) {
            std::fill_n(phases.begin() + first + of_phase, of_phase, first >> shift);
        }
    }
    return phases;
}

/// Distinct words on the fullest bank of each phase, added up.
std::uint32_t passes_of_phases(const WarpWords& units, const WarpWords& phases, std::uint32_t lanes,
                               std::uint32_t units_of_pass) {
    constexpr unsigned phase_shift = 27;
    WarpWords named, places;  // NOLINT: filled whole below.
    for (std::size_t lane = 0; lane < named.size(); ++lane) {
        named[lane] = units[lane] | (phases[lane] << phase_shift);
        places[lane] = phases[lane] * units_of_pass + (units[lane] & (units_of_pass - 1U));
    }
    const std::uint32_t distinct_units = last_of_each(named, lanes);
    if (last_of_each(places, distinct_units) == distinct_units) {
        // No conflicts: a pass for each phase.
        return static_cast<std::uint32_t>(std::popcount(last_of_each(phases, lanes)));
    }
    std::array<std::uint8_t, 32> taken{};
    for (std::uint32_t left = distinct_units; left != 0; left &= left - 1U) {
        ++taken[places[static_cast<std::size_t>(std::countr_zero(left))]];
    }
    std::uint32_t passes = 0;
    for (auto phase = taken.begin(); phase != taken.end(); phase += units_of_pass) {
        passes += *std::max_element(phase, phase + units_of_pass);
    }
    return passes;
}

}  // namespace

LineCount count_lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width,
                      const AccessGeometry& geometry) {
    WarpWords sectors;  // NOLINT: filled whole by sectors_of.
    const auto sectors_of_line = static_cast<std::uint64_t>(geometry.cache.line / geometry.cache.sector);
    if (!few(lanes) && std::has_single_bit(sectors_of_line) &&
        sectors_of(address, lanes, width, geometry, sectors)) {
        return distinct_of(sectors, lanes, static_cast<unsigned>(std::countr_zero(sectors_of_line)));
    }
    const model::machine::Coalesced counted =
        model::machine::coalesce(signed_of(address), static_cast<int>(width), lanes, geometry.cache);
    return {static_cast<std::uint32_t>(counted.sectors), static_cast<std::uint32_t>(counted.lines)};
}

std::uint32_t count_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                           std::uint32_t width, model::machine::SharedUse use,
                           const AccessGeometry& geometry) {
    const auto pass_bytes = static_cast<std::uint32_t>(geometry.banks.pass_bytes());
    const std::uint32_t unit = std::max(width, static_cast<std::uint32_t>(geometry.banks.bank_bytes));
    const std::uint32_t of_phase = std::clamp(pass_bytes / std::max(width, 1U), 1U, 32U);
    const std::uint32_t units_of_pass = pass_bytes / unit;
    WarpWords units;  // NOLINT: filled whole by bank_units_of.
    if (!few(lanes) && 32U / of_phase * units_of_pass == 32U &&
        bank_units_of(address, lanes, width, static_cast<unsigned>(std::countr_zero(unit)), units)) {
        return passes_of_phases(units, phases_of(units, lanes, of_phase, use), lanes, units_of_pass);
    }
    return static_cast<std::uint32_t>(model::machine::shared_passes(
        signed_of(address), static_cast<int>(width), lanes, geometry.banks, use));
}

std::uint32_t count_atomic_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width, const AccessGeometry& geometry) {
    return static_cast<std::uint32_t>(model::machine::shared_atomic_passes(
        signed_of(address), static_cast<int>(width), lanes, geometry.banks));
}

std::uint32_t first_of_banks(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                             std::uint32_t width, const AccessGeometry& geometry) {
    const auto bank = static_cast<std::uint64_t>(geometry.banks.bank_bytes);
    const std::uint64_t unit = std::max<std::uint64_t>(width, bank);
    const std::uint64_t units = static_cast<std::uint64_t>(geometry.banks.banks) * bank / unit;
    const auto of_phase = static_cast<std::uint32_t>(32 * bank / unit);
    std::uint32_t first = 0;
    std::uint64_t taken = 0;
    std::uint32_t phase = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        if (lane / of_phase != phase) {
            phase = lane / of_phase;
            taken = 0;
        }
        const std::uint64_t place = std::uint64_t{1} << (address[lane] / unit % units);
        if ((taken & place) == 0) first |= 1U << lane;
        taken |= place;
    }
    return first;
}

std::size_t rounds_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                      std::array<std::uint32_t, 32>& rounds) {
    model::machine::DistinctNumbers places;
    std::array<std::uint8_t, 32> served{};  // Lanes of each address before.
    std::size_t count = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::size_t place = places.place_of(
            static_cast<std::int64_t>(address[static_cast<std::size_t>(std::countr_zero(left))]));
        const std::size_t round = served[place]++;
        rounds[round] |= left & (0U - left);
        count = std::max(count, round + 1);
    }
    return count;
}

PatternMemo::Pattern& PatternMemo::find(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                        std::uint32_t width, const AccessGeometry& geometry) {
    const auto period = static_cast<std::uint64_t>(geometry.period());
    const std::uint64_t line = address[static_cast<std::size_t>(std::countr_zero(lanes))] & ~(period - 1U);
    std::array<std::uint64_t, 32> relative;  // NOLINT: filled whole below.
    for (std::size_t lane = 0; lane < relative.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(lanes >> lane) & 1U};
        relative[lane] = (address[lane] - line) & on;
    }
    for (std::size_t i = 0; i < kept; ++i) {
        const std::size_t place = (last_ + i) % kept;
        Pattern& known = patterns_[place];
        if (known.lanes != lanes || known.width != width) {
            continue;
        }
        std::uint64_t different = 0;
        for (std::size_t lane = 0; lane < relative.size(); ++lane) {
            different |= relative[lane] ^ known.relative[lane];
        }
        if (different == 0) {
            last_ = place;
            return known;
        }
    }
    // The oldest one makes place, so that patterns in turn stay where they are.
    last_ = (last_ + kept - 1) % kept;
    patterns_[last_] = {relative, lanes, width, {}, 0};
    return patterns_[last_];
}

LineCount PatternMemo::lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                             std::uint32_t width, const AccessGeometry& geometry) {
    if (lanes == 0) {
        return {};
    }
    Pattern& pattern = find(address, lanes, width, geometry);
    if (pattern.lines_of.lines == 0) {
        pattern.lines_of = count_lines(address, lanes, width, geometry);
    }
    return pattern.lines_of;
}

std::uint32_t PatternMemo::passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width, model::machine::SharedUse use,
                                  const AccessGeometry& geometry) {
    if (lanes == 0) {
        return 0;
    }
    Pattern& pattern = find(address, lanes, width, geometry);
    if (pattern.passes_of == 0) {
        pattern.passes_of = count_passes(address, lanes, width, use, geometry);
    }
    return pattern.passes_of;
}

}  // namespace warptime::workloads::frontends::machine
