// What the CTAs of a kernel share of what they read, as far as it hangs on the order of the tiles and the
// sizes of the operands alone: where reads come from, the room that operands take in the L2, and which
// requests merge. Tilings of a ranking that differ in stages, in their warps or in the depth of a trip have
// all of it in common, so that it is kept from kernel to kernel. Source: the laws in model/memory that it
// asks. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/memory/l2_reuse.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::analytical {

/// All that it depends on, but the GPU.
struct SharedReadsCase {
    memory::ReuseCase reuse;
    std::array<memory::Operand, memory::most_operands> operands{};  ///< with the room that all would take
    std::size_t count = 0;                                          ///< of operands
    double most_room = 0.0;                                         ///< in the L2, if all took all of it
    bool stay = false;                                              ///< CTAs take one item after the other
    bool merge = false;  ///< whether it is asked which requests merge
    friend bool operator==(const SharedReadsCase&, const SharedReadsCase&) = default;
};

/// By operand.
struct SharedReads {
    std::array<memory::OperandTraffic, memory::most_operands> moved{};
    std::array<double, memory::most_operands> in_first_wave{};  ///< slices of it; if asked which merge
    std::array<double, memory::most_operands> merged{};         ///< share of requests; if asked
};

template <class S>
[[nodiscard]] SharedReads shared_reads(const SharedReadsCase& of, const hw::Gpu<S>& gpu);

/// Those of recent kernels on one GPU, which must stay as it is.
class RecentSharedReads {
  public:
    /// What shared_reads gives, bit for bit.
    [[nodiscard]] const SharedReads& of(const SharedReadsCase& wanted, const hw::Gpu<double>& gpu);

  private:
    struct Known {
        bool known = false;
        SharedReadsCase of;
        SharedReads reads;
    };
    static constexpr std::size_t places = 64;
    std::array<Known, places> known_{};
};

}  // namespace warptime::model::analytical
