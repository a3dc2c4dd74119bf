// The problem stage's part that tiles of one problem share: where reads come from, and which requests merge.
// It depends on the order of the tiles and the operands' sizes alone. Tilings that differ in stages, warps or
// the depth of a trip share it, so that it is kept from kernel to kernel. Source: the laws in
// model/machine/l2 that it asks. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l2/l2_reuse.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::analytical {

/// All that it depends on, but the GPU.
struct SharedReadsCase {
    machine::ReuseCase reuse;
    std::array<machine::Operand, machine::most_operands> operands{};  ///< with the room that all would take
    std::size_t count = 0;                                            ///< of operands
    double most_room = 0.0;                                           ///< in the L2, if all took all of it
    bool stay = false;                                                ///< CTAs take one item after the other
    bool merge = false;  ///< whether it is asked which requests merge
    friend bool operator==(const SharedReadsCase&, const SharedReadsCase&) = default;
};

/// By operand.
struct SharedReads {
    std::array<machine::OperandTraffic, machine::most_operands> moved{};
    std::array<double, machine::most_operands> in_first_wave{};  ///< slices of it; if asked which merge
    std::array<double, machine::most_operands> merged{};         ///< share of requests; if asked
};

[[nodiscard]] SharedReads shared_reads(const SharedReadsCase& of, const hw::Gpu& gpu);

/// What recent kernels asked, on one GPU that stays as it is.
class RecentSharedReads {
  public:
    /// What shared_reads gives, bit for bit.
    [[nodiscard]] const SharedReads& of(const SharedReadsCase& wanted, const hw::Gpu& gpu);

  private:
    struct Known {
        bool known = false;
        SharedReadsCase of;
        SharedReads reads;
    };
    std::vector<Known> known_;  ///< by hash; allocated with the first
};

}  // namespace warptime::model::analytical
