// The GPU of this machine as its driver describes it: name, clocks, and why the clocks are held down.
// Ignores: all GPUs but the first that CUDA would use.
// Source: nvidia-smi --help-query-gpu; the bits of the active reasons as nvml.h defines them.
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

/// Throws Error when nvidia-smi is missing or finds no GPU. The error says that there is no GPU, or no
/// driver.
[[nodiscard]] Board find_board();

/// The sheet of a board: `asked` when given (and known), otherwise the sheet whose [sheet] board is the
/// board's name. Throws Error naming the known ids and how to add a sheet.
[[nodiscard]] std::string sheet_of(const Board& board, const std::string& asked);

/// SM and memory clock in MHz at this moment; empty text where it cannot be read.
struct BoardClocks {
    std::string sm;
    std::string memory;
};
[[nodiscard]] BoardClocks read_clocks(const Board& board);

/// Reasons for lower clocks, as bits of nvml.h's nvmlClocksEventReason*.
using ClockReasons = std::uint64_t;

/// Reasons that spoil every measurement: hardware slowdown, both thermal slowdowns, the power brake.
inline constexpr ClockReasons faults = 0x8 | 0x20 | 0x40 | 0x80;
/// The power limit. A sustained kernel is measured under the limit, and an isolated launch must not meet it.
inline constexpr ClockReasons power_cap = 0x4;

/// The reasons under which a row of this duty ("isolated", "sustained") is refused.
[[nodiscard]] constexpr ClockReasons refused_under(std::string_view duty) {
    return duty == "sustained" ? faults : faults | power_cap;
}

/// "SW power cap, HW thermal slowdown".
[[nodiscard]] std::string to_string(ClockReasons reasons);

/// Reads which reasons are active. Where the driver counts their time, also reads which have been active
/// since the last reading.
class ReasonReader {
  public:
    explicit ReasonReader(Board board) : board_(std::move(board)) {}
    /// Nothing when this driver tells no reasons.
    [[nodiscard]] std::optional<ClockReasons> read();

  private:
    [[nodiscard]] std::optional<ClockReasons> read_active();
    [[nodiscard]] ClockReasons read_counters();

    Board board_;
    std::size_t spelling_ = 0;
    bool has_fields_ = true;  ///< for the counters; otherwise the report is searched
    std::array<std::string, 3> last_{};
};

}  // namespace warptime::validate::record
