// One launch of a kernel: its shape and memory as the handlers see them, what they count, and what they
// report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/frontends/machine/counting/coalescing.hpp"
#include "workloads/frontends/machine/counting/touch_distances.hpp"
#include "workloads/frontends/machine/counting/touched_sectors.hpp"
#include "workloads/frontends/machine/interpreter/atomic_places.hpp"
#include "workloads/frontends/machine/interpreter/races.hpp"
#include "workloads/frontends/machine/interpreter/warp.hpp"
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct LaunchShape {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::array<std::uint32_t, 3> cluster{1, 1, 1};
    std::int64_t dynamic_shared = 0;
    bool cooperative = false;

    [[nodiscard]] std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

/// How often one instruction ran.
struct InstructionCounts {
    std::uint64_t warps = 0;            ///< warp-instructions, guard true or not
    std::uint64_t threads = 0;          ///< active lanes of them
    std::uint64_t enabled_threads = 0;  ///< of those, lanes whose guard was true
    double asleep = 0.0;                ///< mean nanoseconds that all its sleeps take together
    model::kernel::TextureUse texture = model::kernel::TextureUse::none;  ///< of its last execution
};

/// What the accesses of one instruction made, as Nsight Compute counts them in l1tex.
struct AccessCounts {
    std::uint64_t requests = 0;  ///< warp-instructions with at least one enabled lane
    std::uint64_t sectors = 0;   ///< 32-byte sectors of global or local memory
    std::uint64_t lines = 0;     ///< 128-byte lines (tags) of global or local memory
    std::uint64_t passes = 0;    ///< wavefronts over the banks of shared memory
    std::uint64_t bytes = 0;     ///< asked for by the lanes
    TouchedCount touched;        ///< of global memory, set when the launch has ended
    TouchDistances distances;    ///< of global memory, in units of LaunchCounts::touch_unit
};

/// Why an access or instruction cannot be done: ends the launch.
class Fault : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

enum class AccessSpace : std::uint8_t { global, shared, cluster_shared, local, constant };
enum class AccessKind : std::uint8_t { load, store, atomic, reduction, asynchronous_copy, bulk_copy };

/// One access of one warp-instruction, for a traced CTA.
struct AccessEvent {
    std::uint32_t instruction = 0;
    AccessSpace space = AccessSpace::global;
    AccessKind kind = AccessKind::load;
    std::uint8_t width = 4;  ///< bytes a lane; 0: a bulk copy of `bulk_bytes` from address[0]
    Mask lanes = 0;
    std::uint64_t bulk_bytes = 0;
    std::uint64_t bulk_row_bytes = 0;  ///< of the box of a tensor; all of it otherwise
    std::uint64_t bulk_row_step = 0;   ///< bytes from one row to the next
    std::array<std::uint64_t, lanes_per_warp> address{};
    std::array<std::uint8_t, lanes_per_warp> rank{};  ///< of the CTA whose memory it is, in a cluster's
};

/// What a warp did at a barrier in shared memory that counts threads and bytes.
enum class BarrierAction : std::uint8_t { arrival, copied_bytes, wait };
struct BarrierEvent {
    std::uint32_t instruction = 0;
    BarrierAction action = BarrierAction::arrival;
    std::uint32_t address = 0;  ///< of the barrier in the CTA's shared memory
    bool ends_phase = false;    ///< the arrival, or the bytes, were the last that the phase missed
    bool odd_phase = false;     ///< parity of the phase that a wait was for
};

/// Told of what traced CTAs do, in the order in which each warp does it.
class Observer {
  public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;
    /// A warp executes instruction `pc`, with the active lanes.
    virtual void instruction(const Warp& warp, std::uint32_t pc, Mask active, Mask enabled) = 0;
    /// An access of the instruction told of last for this warp.
    virtual void access(const Warp& warp, const AccessEvent& event) = 0;
    /// The same for a barrier; a wait is told of when it is over.
    virtual void barrier(const Warp& /*warp*/, const BarrierEvent& /*event*/) {}
};

/// Generic addresses: shared memory, local memory and the bank of parameters have windows of 4 GiB of the
/// address space.
inline constexpr std::uint64_t shared_window = 0x7f01'0000'0000ULL;
inline constexpr std::uint64_t local_window = 0x7f02'0000'0000ULL;
inline constexpr std::uint64_t constant_window = 0x7f04'0000'0000ULL;
inline constexpr std::uint64_t window_bytes = 0x1'0000'0000ULL;
/// Shared addresses of a cluster: bits 24 and up hold the rank of the CTA.
inline constexpr std::uint32_t cluster_rank_shift = 24;
inline constexpr std::uint32_t shared_offset_mask = (1U << cluster_rank_shift) - 1;

struct Code;

/// What the slowest warps (pace.hpp) executed, by instruction.
struct SlowestWarpCounts {
    std::vector<std::uint64_t> of_ctas;  ///< added up over the CTAs, of each one's slowest warp
    std::vector<std::uint32_t> of_grid;
    std::uint64_t cycles = 0;  ///< of the grid's slowest warp
};

struct Launch {
    const Code* code = nullptr;  ///< for messages
    LaunchShape shape;
    DeviceMemory* memory = nullptr;
    int architecture = 0;
    std::int64_t shared_bytes = 0;  ///< of a CTA: reserved, static and dynamic
    std::int64_t local_bytes_per_thread = 0;
    std::int64_t local_frame = 0;  ///< of these, bytes of the kernel's own frame, which lie behind the others
    int sm_count = 0;
    AccessGeometry geometry;
    std::vector<std::vector<std::byte>> constant_banks;  ///< by bank: 0 (launch and parameters), 1, 2, 3, 4
    std::vector<InstructionCounts> counts;               ///< by instruction
    std::vector<AccessCounts> accesses;                  ///< by instruction
    std::vector<TouchedSectors> touched;                 ///< by instruction
    LastTouches last_touches;
    SlowestWarpCounts slowest;
    std::vector<PatternMemo> patterns;  ///< by instruction
    HandOvers hand_overs;
    bool polls = false;                 ///< the code has polling loops
    std::optional<SliceQueues> slices;  ///< of a launch that races
    L2Timing l2;
    std::vector<AtomicPlaces> atomic_places;  ///< by instruction
    Observer* observer = nullptr;
    std::uint64_t grid_workspace = 0;     ///< of cooperative launches: its address, for barriers of the grid
    std::uint64_t instruction_limit = 0;  ///< of one warp; 0: none
    bool skips_matrices = false;    ///< products of matrices are not computed: the launch is only sampled
    bool opaque_values = false;     ///< some results were not computed
    std::uint64_t matrix_work = 0;  ///< of products, in about as many plain instructions
    /// Allocations found last, by instruction: most accesses hit them again.
    std::vector<const Allocation*> last_allocations;
    std::uint64_t clock = 0;            ///< what clock registers read: instructions executed so far
    std::uint32_t last_clock_read = 0;  ///< the read at which a warp ends; 0: none, and `clock` is read
};

/// Ends the launch with a message that names instruction, CTA and thread.
[[noreturn]] void fault(const Warp& warp, const Instruction& instruction, int lane, const std::string& what);

}  // namespace warptime::workloads::frontends::machine
