// Passes over shared memory, by distinct words per bank and in closed form for strides. Ignores and source:
// see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/bank_conflicts.hpp"

#include "model/machine/demand/distinct_numbers.hpp"
#include "model/machine/demand/expected_distinct.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warptime::model::machine {

namespace {

/// Most distinct words that one bank is asked for by the lanes of the mask.
std::int64_t passes_of_group(const LaneAddresses& addresses, std::uint32_t lanes, std::int64_t bytes,
                             const BankGeometry& geometry) noexcept {
    std::int64_t all_bits = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        all_bits |= addresses[static_cast<std::size_t>(std::countr_zero(left))];
    }
    // Addresses that are multiples of the width take neighbouring banks together: those are one bank then.
    const bool whole = bytes >= geometry.bank_bytes &&
                       std::has_single_bit(static_cast<std::uint64_t>(bytes)) &&
                       (all_bits & (bytes - 1)) == 0;
    const std::int64_t unit = whole ? bytes : geometry.bank_bytes;
    const auto shift = static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(unit)));
    const std::int64_t units = geometry.pass_bytes() >> shift;
    DistinctNumbers taken;
    std::array<std::uint8_t, 128> count{};
    std::int64_t most = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::int64_t address = addresses[static_cast<std::size_t>(std::countr_zero(left))];
        const std::int64_t last = (address + bytes - 1) >> shift;
        for (std::int64_t word = address >> shift; word <= last; ++word) {
            const std::size_t before = taken.count();
            if (taken.place_of(word) == before) {
                most = std::max<std::int64_t>(most, ++count[static_cast<std::size_t>(word & (units - 1))]);
            }
        }
    }
    return most;
}

/// Every active lane has the address of the lane whose number differs in the bit, unless that one is off.
bool neighbours_agree(const LaneAddresses& addresses, std::uint32_t lanes, std::size_t bit) noexcept {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::size_t other = lane ^ bit;
        if (((lanes >> other) & 1U) != 0 && addresses[lane] != addresses[other]) {
            return false;
        }
    }
    return true;
}

/// Mask of `count` lanes from `first` on.
std::uint32_t lanes_from(std::int64_t first, std::int64_t count) noexcept {
    return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1U) << first);
}

std::int64_t lanes_per_phase(int bytes_per_lane, const BankGeometry& geometry) noexcept {
    return std::clamp<std::int64_t>(geometry.pass_bytes() / std::max(bytes_per_lane, 1), 1, lanes_per_warp);
}

}  // namespace

std::int64_t shared_passes(const LaneAddresses& addresses, int bytes_per_lane, std::uint32_t active,
                           BankGeometry geometry, SharedUse use) noexcept {
    const std::int64_t phase = lanes_per_phase(bytes_per_lane, geometry);
    if (phase >= lanes_per_warp) {
        return passes_of_group(addresses, active, bytes_per_lane, geometry);
    }
    std::int64_t passes = 0;
    for (std::int64_t first = 0; first < lanes_per_warp; first += 2 * phase) {
        const std::uint32_t both = active & lanes_from(first, 2 * phase);
        if (use == SharedUse::load &&
            (neighbours_agree(addresses, both, 1) || neighbours_agree(addresses, both, 2))) {
            passes += passes_of_group(addresses, both, bytes_per_lane, geometry);
            continue;
        }
        const std::uint32_t lower = active & lanes_from(first, phase);
        passes += passes_of_group(addresses, lower, bytes_per_lane, geometry) +
                  passes_of_group(addresses, both & ~lower, bytes_per_lane, geometry);
    }
    return passes;
}

std::int64_t shared_atomic_passes(const LaneAddresses& addresses, int bytes_per_lane, std::uint32_t active,
                                  BankGeometry geometry) noexcept {
    std::array<std::int64_t, 128> on_bank{};
    const std::int64_t words = std::max<std::int64_t>(1, bytes_per_lane / geometry.bank_bytes);
    std::int64_t most = 0;
    for (std::uint32_t left = active; left != 0; left &= left - 1U) {
        const std::int64_t first =
            addresses[static_cast<std::size_t>(std::countr_zero(left))] / geometry.bank_bytes;
        for (std::int64_t word = first; word < first + words; ++word) {
            most = std::max(most, ++on_bank[static_cast<std::size_t>(word & (geometry.banks - 1))]);
        }
    }
    return most;
}

std::int64_t shared_passes_strided(std::int64_t stride, int bytes_per_lane, BankGeometry geometry,
                                   SharedUse use) noexcept {
    const std::int64_t lanes = lanes_per_phase(bytes_per_lane, geometry);
    const std::int64_t phases = lanes_per_warp / lanes;
    // Lanes at one address agree with their neighbours, so that two phases are one.
    if (stride == 0) return use == SharedUse::load ? (phases + 1) / 2 : phases;
    return phases * std::gcd(stride / bytes_per_lane, lanes);
}

double expected_passes(double lanes, int bytes_per_lane, double window_bytes,
                       BankGeometry geometry) noexcept {
    if (lanes <= 0.0 || bytes_per_lane <= 0) return 0.0;
    // Lanes of a phase, and groups of banks of which one lane takes one.
    const auto groups = static_cast<double>(lanes_per_phase(bytes_per_lane, geometry));
    const double phases = std::max(1.0, lanes / groups);
    const double rows = std::max(1.0, window_bytes / static_cast<double>(geometry.pass_bytes()));
    const double hit = expected_distinct(lanes / phases, groups * rows) / (groups * rows);
    double exactly = std::exp(rows * std::log1p(-hit));  // chance that no place of a group of banks is hit
    double at_most = 0.0;
    double fullest = 0.0;
    for (int k = 0; k < lanes_per_warp; ++k) {
        at_most = std::min(1.0, at_most + exactly);
        fullest += 1.0 - std::pow(at_most, groups);
        exactly *= std::max(0.0, rows - k) / (k + 1.0) * hit / (1.0 - hit);
    }
    return phases * std::max(1.0, fullest);
}

std::int64_t ldmatrix_passes(std::span<const std::int64_t> rows, BankGeometry geometry) noexcept {
    constexpr std::size_t rows_per_matrix = 8;
    constexpr std::int64_t row_bytes = 16;
    std::int64_t passes = 0;
    for (std::size_t first = 0; first < rows.size(); first += rows_per_matrix) {
        const std::size_t count = std::min(rows_per_matrix, rows.size() - first);
        LaneAddresses matrix{};
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(first), count, matrix.begin());
        passes +=
            passes_of_group(matrix, lanes_from(0, static_cast<std::int64_t>(count)), row_bytes, geometry);
    }
    return passes;
}

}  // namespace warptime::model::machine
