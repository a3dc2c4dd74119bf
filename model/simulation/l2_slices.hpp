// Slices of the L2: lines lie in slices by a hash of their address, and wait there for one another. A line of
// the other partition passes a slice of its own SM's side, too.
// Ignores: hops between slices, and copies of lines that a partition keeps of the other one.
// Source: model/kernel/README.md, Meaning 5; machine/l2/l2_partitions.hpp for the visits of a line; keys
// l2.slices, l2.partitions, l1.line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/simulation/dram_banks.hpp"
#include "model/simulation/server.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

class L2Slices {
  public:
    /// `share`: part of the chip that is run; it has as many fewer slices. Lines for which SMs that are not
    /// run ask, too, lie in as many slices as the whole chip has.
    L2Slices(const hw::Gpu& gpu, double share);

    /// Passes `bytes` of the chip's part, from a place on, through the slices. `byte`: cycles of all slices
    /// of the whole chip together for a byte that passes one of them. `sm`: the one that asks; its partition
    /// is drawn. `times`: requests for the same lines for which this one stands; `asking`: share of them
    /// that does not join another one.
    struct Passed {
        Ticks end = 0;
        bool far = false;  ///< a line came from the other partition
    };
    Passed pass(const Place& place, double bytes, double byte, std::int32_t sm, Ticks now, double times = 1.0,
                double asking = 1.0);
    /// The same for bytes that lie in any partition and pass one slice.
    Ticks take_in(const Place& place, double bytes, double byte, Ticks now);

    [[nodiscard]] std::vector<Server>& servers() { return slices_; }

  private:
    template <class Visit>
    void each_line(const Place& place, double bytes, Visit visit) const;
    /// Slices follow one another, from a place on that no other range of lines shares.
    [[nodiscard]] static std::size_t slice_of(std::uint64_t line, std::uint64_t count);
    Ticks spread(double bytes, double byte, Ticks now);

    std::vector<Server> slices_;  ///< those of a partition side by side
    std::vector<Server> shared_;  ///< the same, of the whole chip
    std::uint64_t partitions_ = 1;
    double line_ = 0.0;
    double of_slice_ = 1.0;  ///< cycles of a slice for a cycle of all of the whole chip
};

}  // namespace warptime::model::simulation
