// How far a long command is, on stderr: one line that is written over on a terminal, or a line now and then.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::cli {

/// Text of "1200 of 5000 rows (24 %), 400 rows/s, 10 s left, 3 failed". `begun`: rows that an earlier run
/// did, which do not count for the speed.
[[nodiscard]] std::string progress_text(std::uint64_t done, std::uint64_t begun, std::uint64_t all,
                                        std::uint64_t failed, double seconds);

class Progress {
  public:
    /// Shows nothing unless stderr is a terminal or `asked` is true.
    Progress(std::string_view what, std::uint64_t begun, std::uint64_t all, bool asked);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::uint64_t done, std::uint64_t failed);

  private:
    using Clock = std::chrono::steady_clock;

    std::string what_;
    std::uint64_t begun_, all_;
    bool terminal_, shown_;
    bool open_line_ = false;
    Clock::time_point start_, last_;
};

}  // namespace warptime::cli
