// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace warptime::cli {

namespace {

constexpr std::chrono::milliseconds between_frames{200};
constexpr std::chrono::milliseconds between_lines{2000};

std::string span_text(double seconds) {
    if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
    const double minutes = seconds / 60.0;
    return minutes < 100.0 ? fmt::format("{:.0f} min", minutes) : fmt::format("{:.1f} h", minutes / 60.0);
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t begun, std::uint64_t all, std::uint64_t failed,
                          double seconds) {
    const double share =
        100.0 * static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    std::string text = fmt::format("{} of {} rows ({:.0f} %)", done, all, std::min(share, 100.0));
    if (done > begun && seconds > 0.0) {
        const double rate = static_cast<double>(done - begun) / seconds;
        text += fmt::format(", {:.{}f} rows/s, {} left", rate, rate < 10.0 ? 1 : 0,
                            span_text(static_cast<double>(all - done) / rate));
    }
    if (failed > 0) text += fmt::format(", {} failed", failed);
    return text;
}

Progress::Progress(std::string_view what, std::uint64_t begun, std::uint64_t all, bool asked)
    : what_(what),
      begun_(begun),
      all_(all),
      terminal_(::isatty(STDERR_FILENO) != 0),
      shown_(asked || terminal_),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
    if (open_line_) std::fputc('\n', stderr);
}

void Progress::show(std::uint64_t done, std::uint64_t failed) {
    if (!shown_) return;
    const Clock::time_point now = Clock::now();
    const auto pause = terminal_ ? between_frames : between_lines;
    if (done < all_ && now - last_ < pause) return;
    last_ = now;
    const std::chrono::duration<double> seconds = now - start_;
    const std::string line =
        fmt::format("{}: {}", what_, progress_text(done, begun_, all_, failed, seconds.count()));
    // The terminal's own sequence clears what a longer line left.
    std::fputs(terminal_ ? fmt::format("\r{}\x1b[K", line).c_str() : (line + "\n").c_str(), stderr);
    std::fflush(stderr);
    open_line_ = terminal_;
}

}  // namespace warptime::cli
