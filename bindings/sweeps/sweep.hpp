// Predicts the points of a grid on several threads; the rows arrive in the order of the points.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/sweeps/grid.hpp"
#include "model/prediction/prediction.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace warptime::sweeps {

/// Answers of the points from `begin` on; times in seconds. A failed point has NaN times and an entry in
/// `errors`: its place among these rows, and the reason.
struct Rows {
    std::uint64_t begin = 0;
    std::vector<double> time, low, high;
    std::vector<std::uint8_t> limiter;  ///< prediction::Limiter
    std::vector<std::uint8_t> status;   ///< prediction::Status
    std::vector<std::pair<std::size_t, std::string>> errors;
    std::string text;  ///< the rows as CSV, if that was asked for

    [[nodiscard]] std::size_t size() const { return time.size(); }
};

struct SweepOptions {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    unsigned threads = 1;
    bool with_text = false;
    /// Takes rows, in the order of points, on the calling thread. An exception of it ends the sweep.
    std::function<void(const Rows&)> take;
    /// Asked now and then on the calling thread; true ends the sweep.
    std::function<bool()> interrupted;
};

/// False if the sweep was interrupted. Rows that no `take` has seen by then are lost; these are at most a few
/// tenths of a second of each thread.
bool sweep(const Grid& grid, const SweepOptions& options);

/// Threads of this machine.
[[nodiscard]] unsigned available_threads();

}  // namespace warptime::sweeps
