// Passes over shared memory, by distinct words per bank and in closed form for strides. Ignores and source:
// see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/bank_conflicts.hpp"

#include "model/machine/demand/expected_distinct.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warptime::model::machine {

namespace {

/// Quotient and remainder by a number that is nearly always a power of two; a shift saves the division.
class Divisor {
  public:
    explicit Divisor(std::int64_t by) noexcept
        : by_(by),
          shift_(std::has_single_bit(static_cast<std::uint64_t>(by))
                     ? std::countr_zero(static_cast<std::uint64_t>(by))
                     : -1) {}
    [[nodiscard]] std::int64_t quotient(std::int64_t value) const noexcept {
        return shift_ >= 0 && value >= 0 ? value >> shift_ : value / by_;
    }
    [[nodiscard]] std::int64_t remainder(std::int64_t value) const noexcept {
        return value - quotient(value) * by_;
    }

  private:
    std::int64_t by_;
    int shift_;
};

/// Distinct words on the busiest bank, for the accesses of one phase.
std::int64_t phase_passes(std::span<const std::int64_t> addresses, std::int64_t bytes,
                          const BankGeometry& geometry) noexcept {
    constexpr std::size_t most_words = 4 * lanes_per_warp;
    const Divisor bank_bytes(geometry.bank_bytes);
    std::array<std::int64_t, most_words> words;
    std::size_t count = 0;
    bool ascending = true;  // lanes mostly ascend: then only neighbours can be equal
    for (const std::int64_t address : addresses) {
        const std::int64_t last = bank_bytes.quotient(address + bytes - 1);
        for (std::int64_t word = bank_bytes.quotient(address); word <= last && count < most_words; ++word) {
            if (count > 0 && word == words[count - 1]) continue;
            ascending = ascending && (count == 0 || words[count - 1] < word);
            words[count++] = word;
        }
    }
    if (!ascending) {
        const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
        std::sort(words.begin(), end);
        count = static_cast<std::size_t>(std::unique(words.begin(), end) - words.begin());
    }
    const Divisor banks(geometry.banks);
    std::array<std::int64_t, most_words> on_bank;
    std::transform(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), on_bank.begin(),
                   [&banks](std::int64_t word) { return banks.remainder(word); });
    const auto end = on_bank.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(on_bank.begin(), end);
    std::int64_t busiest = 0;
    std::int64_t run = 0;
    for (auto bank = on_bank.begin(); bank != end; ++bank) {
        run = bank != on_bank.begin() && *bank == *(bank - 1) ? run + 1 : 1;
        busiest = std::max(busiest, run);
    }
    return busiest;
}

std::int64_t lanes_per_phase(int bytes_per_lane, const BankGeometry& geometry) noexcept {
    return std::clamp<std::int64_t>(geometry.pass_bytes() / std::max(bytes_per_lane, 1), 1, lanes_per_warp);
}

}  // namespace

std::int64_t shared_passes(const LaneAddresses& addresses, int bytes_per_lane, std::uint32_t active,
                           BankGeometry geometry) noexcept {
    const auto phase_lanes = static_cast<std::size_t>(lanes_per_phase(bytes_per_lane, geometry));
    std::int64_t passes = 0;
    for (std::size_t first = 0; first < addresses.size(); first += phase_lanes) {
        LaneAddresses phase{};
        std::size_t count = 0;
        for (std::size_t lane = first; lane < std::min(addresses.size(), first + phase_lanes); ++lane) {
            if ((active >> lane & 1U) != 0U) {
                phase[count++] = addresses[lane];
            }
        }
        passes += phase_passes(std::span(phase.data(), count), bytes_per_lane, geometry);
    }
    return passes;
}

std::int64_t shared_passes_strided(std::int64_t stride, int bytes_per_lane, BankGeometry geometry) noexcept {
    const std::int64_t lanes = lanes_per_phase(bytes_per_lane, geometry);
    const std::int64_t phases = lanes_per_warp / lanes;
    return stride == 0 ? phases : phases * std::gcd(stride / bytes_per_lane, lanes);
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
        passes += phase_passes(rows.subspan(first, std::min(rows_per_matrix, rows.size() - first)), row_bytes,
                               geometry);
    }
    return passes;
}

}  // namespace warptime::model::machine
