// Banks of DRAM behind the channels' buses: pieces lie in banks by a hash of their address, and wait there
// for one another. Each slice of the L2 has a channel. Its writes go out in batches, which hold all its
// banks. Ignores: rows that are open, refresh, and the order in which a channel takes its requests. The time
// of a piece in its bank is drawn from the exponential distribution of the law of loaded latency. Source:
// queue of one bank, wait u / (1 - u) (Kleinrock, Queueing Systems I, 1975, section 3.2), keys dram.queue,
// dram.access_bytes, l2.slices and dram.write_wait; as many banks as keep DRAM's full rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/simulation/server.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

/// Where bytes lie: their first address, counted over all buffers, and the rows that they come in.
struct Place {
    std::uint64_t first = 0;  ///< byte
    double row = 0.0;         ///< bytes; 0: all of them side by side
    std::uint64_t pitch = 0;  ///< bytes from row to row
};

class DramBanks {
  public:
    /// `byte`: cycles of the whole chip for a byte read. `share`: part of the chip that is run; it has as
    /// many fewer channels.
    DramBanks(const hw::Gpu& gpu, double byte, double share);

    /// Reads `bytes` of the chip's part at a place. `byte` as above, for this kind of read. Returns the time
    /// when the last piece has left its bank. `first`: share of equal reads that are the first of the chip;
    /// pieces hold their bank for that share of their time, and take all of it.
    Ticks read(const Place& place, double bytes, double byte, Ticks now, double first = 1.0);
    /// Adds bytes to the writes of the channels in turn.
    void write(double bytes, double byte, Ticks now);

    [[nodiscard]] Ticks mean_service() const { return mean_; }  ///< of a piece by itself
    [[nodiscard]] std::size_t count() const { return banks_.size(); }
    [[nodiscard]] std::size_t channels() const { return pending_.size(); }

  private:
    void serve(std::uint64_t piece, double cycles, double first, Ticks now, Ticks& last);

    static constexpr std::size_t draws = 64;
    std::array<double, draws> draw_{};  ///< quantiles of the exponential distribution with mean 1
    std::vector<Server> banks_;         ///< those of a channel side by side
    std::vector<double> pending_;       ///< by channel: cycles of writes that wait for their batch
    double piece_bytes_ = 0.0;
    double of_bank_ = 1.0;     ///< cycles of a bank for a cycle of the whole chip
    double of_channel_ = 1.0;  ///< cycles of a channel for a cycle of the whole chip
    double batch_ = 0.0;       ///< cycles
    std::size_t next_ = 0;     ///< channel of the next write
    Ticks mean_ = 0;
};

}  // namespace warptime::model::simulation
