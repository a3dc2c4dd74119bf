// The GPU of this machine as its driver describes it: name, clocks, and why the clocks are held down.
// Ignores: all GPUs but the first that CUDA would use. Source: nvidia-smi --help-query-gpu; the bits of the
// active reasons as nvml.h defines them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warptime::validate::record {

struct Board {
    std::string index;  ///< for nvidia-smi -i
    std::string name;   ///< "NVIDIA H200"
    std::string driver;
};

/// Throws Error saying that there is no GPU, or no driver, when nvidia-smi is missing or finds none.
[[nodiscard]] Board find_board();

/// The sheet of a board: `asked` when given (and known), else the one whose [sheet] board is its name.
/// Throws Error naming the ids there are and how to add a sheet.
[[nodiscard]] std::string sheet_of(const Board& board, const std::string& asked);

/// SM and memory clock in MHz at this moment; empty text where it cannot be read.
struct BoardClocks {
    std::string sm;
    std::string memory;
};
[[nodiscard]] BoardClocks read_clocks(const Board& board);

/// Reasons for lower clocks, as bits of nvml.h's nvmlClocksEventReason*.
using ClockReasons = std::uint64_t;

/// Those that no measurement may stand under: hardware slowdown, both thermal ones, the power brake.
inline constexpr ClockReasons faults = 0x8 | 0x20 | 0x40 | 0x80;
/// The power limit: what a sustained kernel is measured under, and what an isolated launch must not meet.
inline constexpr ClockReasons power_cap = 0x4;

/// The reasons under which a row of this duty ("isolated", "sustained") is refused.
[[nodiscard]] constexpr ClockReasons refused_under(std::string_view duty) {
    return duty == "sustained" ? faults : faults | power_cap;
}

/// "SW power cap, HW thermal slowdown".
[[nodiscard]] std::string to_string(ClockReasons reasons);

/// Reads which reasons are or, where the driver counts their time, have been active since the last reading.
class ReasonReader {
  public:
    explicit ReasonReader(Board board) : board_(std::move(board)) {}
    /// Nothing when this driver tells none.
    [[nodiscard]] std::optional<ClockReasons> read();

  private:
    [[nodiscard]] std::optional<ClockReasons> read_active();
    [[nodiscard]] ClockReasons read_counters();

    Board board_;
    std::size_t spelling_ = 0;
    bool has_fields_ = true;  ///< for the counters; else they are sought in the report
    std::array<std::string, 3> last_{};
};

}  // namespace warptime::validate::record
