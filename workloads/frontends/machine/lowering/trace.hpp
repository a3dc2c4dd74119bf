// What the warps of a few CTAs did: the instructions they ran, in stretches, and the addresses they touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Instructions [first, first + count) that a warp ran one after another with the same active lanes.
struct Stretch {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    Mask active = 0;
};

/// An access, and the stretch of its warp that holds it.
struct TracedAccess {
    std::uint32_t stretch = 0;
    AccessEvent event;
};

/// One of the addresses of a load of constants at places that registers held.
struct TracedConstant {
    std::uint32_t instruction = 0;
    std::uint64_t offset = 0;
};

/// Places in a bank of all lanes of such a load.
struct ConstantLanes {
    std::uint32_t instruction = 0;
    Mask lanes = 0;
    std::array<std::uint16_t, lanes_per_warp> offset{};
};

struct WarpTrace {
    int warp = 0;
    std::vector<Stretch> stretches;
    std::vector<TracedAccess> accesses;
    std::vector<TracedConstant> constants;
    std::vector<ConstantLanes> constant_lanes;
    std::vector<BarrierEvent> barriers;  ///< mbarriers
    std::vector<std::uint32_t> made;     ///< number of accesses, kept or not, by instruction
    bool truncated = false;              ///< the warp ran on beyond what was kept
};

struct CtaTrace {
    std::array<std::uint32_t, 3> id{};
    std::uint64_t linear_id = 0;
    std::vector<WarpTrace> warps;
};

/// Keeps what it is told, up to a number of stretches a warp and of accesses for each instruction of a warp.
class TraceRecorder final : public Observer {
  public:
    explicit TraceRecorder(std::size_t most_stretches = 100'000, std::size_t most_accesses = 48)
        : most_stretches_(most_stretches), most_accesses_(most_accesses) {}

    void instruction(const Warp& warp, std::uint32_t pc, Mask active, Mask enabled) override;
    void access(const Warp& warp, const AccessEvent& event) override;
    void barrier(const Warp& warp, const BarrierEvent& event) override;

    /// The CTAs in the order in which they began.
    [[nodiscard]] const std::vector<std::unique_ptr<CtaTrace>>& ctas() const { return ctas_; }
    /// The CTAs from the middle of the grid outwards: those at its edges often skip most of a kernel.
    [[nodiscard]] std::vector<const CtaTrace*> ctas_from_middle() const;

    /// Constants kept of each warp.
    static constexpr std::size_t most_constants = 4096;
    static constexpr std::size_t most_constant_lanes = 256;

  private:
    WarpTrace& trace_of(const Warp& warp);
    static void constants(const AccessEvent& event, WarpTrace& trace);

    std::size_t most_stretches_;
    std::size_t most_accesses_;
    std::vector<std::unique_ptr<CtaTrace>> ctas_;
    std::map<std::uint64_t, CtaTrace*> by_id_;
    CtaTrace* last_ = nullptr;
};

}  // namespace warptime::workloads::frontends::machine
