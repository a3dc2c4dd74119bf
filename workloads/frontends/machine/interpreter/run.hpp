// Runs a launch of a kernel: all of its CTAs, or a sample within a budget of instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/chip/chip.hpp"
#include "workloads/frontends/machine/interpreter/code.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct RunOptions {
    Chip chip;  ///< limits, the number of SMs, sizes of lines and banks
    /// Warp-instructions after which no further CTA is begun, unless CTAs depend on one another; 0 runs all.
    std::uint64_t budget = 0;
    /// Warp-instructions of one warp that end the launch as an endless loop; 0: none.
    std::uint64_t warp_limit = 4'000'000'000ULL;
    /// A warp ends where it reads the clock for this time, and the clock counts its reads; 0: neither.
    std::uint32_t last_clock_read = 0;
    /// Told of the first CTA, the last one, and others spread between, `traced_ctas` in all.
    Observer* observer = nullptr;
    int traced_ctas = 4;
};

struct LaunchCounts {
    std::vector<InstructionCounts> instructions;  ///< by instruction of the code, of the CTAs that ran
    std::vector<AccessCounts> accesses;
    SlowestWarpCounts slowest;
    std::uint64_t load_latency = 1;  ///< cycles from a load to its data in the L2, as the slowest were chosen
    HandOvers hand_overs;
    /// By instruction: what it asks of the slice that is asked most, by the mean. Of loads and stores in a
    /// launch that races (SliceQueues::skews), and of atomics.
    std::vector<double> skews;
    std::uint64_t ctas = 0;  ///< of the grid
    std::uint64_t ctas_run = 0;
    std::uint64_t resident_ctas = 0;  ///< that the chip holds at once
    std::uint64_t touch_unit = 1;     ///< CTAs that count as one between touches
    std::uint64_t executed = 0;       ///< warp-instructions of the CTAs that ran
    bool opaque_values = false;       ///< some results were not computed, so memory is not right
    std::string error;  ///< why the launch ended early: a fault, a refusal, a deadlock; empty: none

    [[nodiscard]] bool whole() const { return ctas_run == ctas; }
    /// What counts of the CTAs that ran are multiplied with to stand for all.
    [[nodiscard]] double scale() const {
        return ctas_run == 0 ? 0.0 : static_cast<double>(ctas) / static_cast<double>(ctas_run);
    }
};

/// CTAs of so many threads that an SM holds; 0 when it cannot hold one.
[[nodiscard]] int resident_ctas(const Function& function, std::uint32_t threads, std::int64_t dynamic_shared,
                                const model::machine::SmLimits& limits);

/// What the refusal of a launch ends with whose CTA needs more registers than an SM has.
inline constexpr std::string_view registers_of_launch = "registers";

/// `function` is an index of code.module.functions, `parameters` the bytes of the parameters in their layout.
/// Throws Error naming the launch parameter when the shape is impossible (more threads or shared memory than
/// a CTA of the chip may have, a grid that clusters do not divide, parameters of another size); what goes
/// wrong while it runs is `error` of the result.
[[nodiscard]] LaunchCounts run_launch(const LoadedCode& code, int function, const LaunchShape& shape,
                                      std::span<const std::byte> parameters, DeviceMemory& memory,
                                      const RunOptions& options);

}  // namespace warptime::workloads::frontends::machine
