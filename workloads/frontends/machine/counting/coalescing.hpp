// What the 32 addresses of a warp's access cost: sectors and lines of global memory, passes over the banks of
// shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/l1/coalescing.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

/// Sizes of what memory is cut into, from the sheet of the GPU; powers of two.
struct AccessGeometry {
    model::machine::CacheGeometry cache;
    model::machine::BankGeometry banks;
    /// Addresses that differ by a multiple of so many bytes cost the same.
    [[nodiscard]] std::int64_t period() const { return std::max(cache.line, banks.pass_bytes()); }
};

struct LineCount {
    std::uint32_t sectors = 0;
    std::uint32_t lines = 0;
};

/// Distinct sectors and lines that the lanes of the mask touch with `width` bytes each, as
/// model::machine::coalesce has it.
[[nodiscard]] LineCount count_lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                    std::uint32_t width, const AccessGeometry& geometry);

/// Passes over the banks of shared memory (wavefronts), as model::machine::shared_passes has it.
[[nodiscard]] std::uint32_t count_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                         std::uint32_t width, model::machine::SharedUse use,
                                         const AccessGeometry& geometry);

/// Passes of an atomic operation on shared memory, as model::machine::shared_atomic_passes has it.
[[nodiscard]] std::uint32_t count_atomic_passes(const std::array<std::uint64_t, 32>& address,
                                                std::uint32_t lanes, std::uint32_t width,
                                                const AccessGeometry& geometry);

/// Lanes that a swap in shared memory serves: the first one in each bank, of words of eight bytes the first
/// one of each half of the warp. The others have to try again. Source: executed instructions of
/// compare-and-swap loops (docs/mechanisms/atomics.md).
[[nodiscard]] std::uint32_t first_of_banks(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                           std::uint32_t width, const AccessGeometry& geometry);

/// Parts the lanes into rounds of different addresses, the n-th lane of each address in round n: equal
/// addresses of an atomic operation are served one round after the other. `rounds` must be zeros; gives their
/// number.
[[nodiscard]] std::size_t rounds_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                    std::array<std::uint32_t, 32>& rounds);

/// Calls take(lanes) for each of them.
template <class Take>
void for_each_round(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, Take take) {
    std::array<std::uint32_t, 32> rounds{};
    const std::size_t count = rounds_of(address, lanes, rounds);
    for (std::size_t round = 0; round < count; ++round) {
        take(rounds[round]);
    }
}

/// The last patterns that an instruction was asked for, and what they cost. Most instructions come with the
/// same one again, or one that differs from it by a multiple of the period. Swizzled rows take turns, and
/// copies have a pattern in global and one in shared memory.
class PatternMemo {
  public:
    [[nodiscard]] LineCount lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width, const AccessGeometry& geometry);
    [[nodiscard]] std::uint32_t passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                       std::uint32_t width, model::machine::SharedUse use,
                                       const AccessGeometry& geometry);

  private:
    struct Pattern {
        std::array<std::uint64_t, 32>
            relative{};  ///< to the line of the first lane; 0 for lanes that are off
        std::uint32_t lanes = 0;
        std::uint32_t width = 0;
        LineCount lines_of;
        std::uint32_t passes_of = 0;
    };
    static constexpr std::size_t kept = 4;

    /// The place of the pattern, with what is known of its cost; nothing is known of a new one.
    Pattern& find(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width,
                  const AccessGeometry& geometry);

    std::array<Pattern, kept> patterns_;
    std::size_t last_ = 0;
};

}  // namespace warptime::workloads::frontends::machine
