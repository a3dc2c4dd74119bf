// Contents of L2 in blocks: the least recently used leaves first, and equal requests in flight merge. A block
// has up to eight pieces, each of which is there or not.
// Ignores: lines and sets, the two partitions, and which SMs are neighbours. The caller says what a block is:
// the bytes of one access, named by its first element, or a fixed range of a buffer. A request joins its
// block in flight while fewer SMs share the block than a TPC has. Source: capacity and merging rules of the
// analytical engine (keys l2.capacity, l2.usable, tpc.sms), with times instead of averages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/ticks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warptime::model::simulation {

class L2 {
  public:
    L2(double capacity_bytes, double sharers) : capacity_(capacity_bytes), sharers_(sharers) {}

    struct Found {
        bool present = false;  ///< was in L2, or on its way
        int absent = 0;        ///< pieces that were not
        bool merged = false;   ///< joins a request in flight: asks nothing of the slices
        Ticks arrives = 0;     ///< delivery of the request in flight; 0 when there is none
    };
    /// Looks pieces of a block up and makes it the most recently used. Absent pieces, of `bytes` each, are
    /// entered, and the least recently used blocks leave until they fit.
    /// `times`: requests of other SMs for which this one stands, at the same time.
    Found read(std::uint64_t block, double bytes, Ticks now, std::uint8_t pieces = 1, double times = 1.0);
    /// Sets the delivery time of the last block that was looked up, so that other requests can join it.
    void in_flight(std::uint64_t block, Ticks until, double times = 1.0);
    /// Share of `times` equal requests in flight together that ask the slices.
    [[nodiscard]] double asking(double times) const { return 1.0 / std::min(times, sharers_); }
    Found write(std::uint64_t block, double bytes, std::uint8_t pieces = 1);

    [[nodiscard]] double capacity() const { return capacity_; }
    [[nodiscard]] double held_bytes() const { return held_; }

  private:
    static constexpr std::uint32_t none = 0xffffffffU;
    struct Entry {
        std::uint64_t block = 0;
        double bytes = 0.0;
        Ticks until = 0;
        double sharing = 0.0;
        std::uint8_t pieces = 0;  ///< those that are there, bit by bit
        std::uint32_t newer = none, older = none;
    };
    std::uint32_t touch(std::uint64_t block, double bytes, std::uint8_t pieces, int& absent);
    void unlink(std::uint32_t entry);
    void link_newest(std::uint32_t entry);
    void evict_oldest();

    double capacity_;
    double sharers_;
    double held_ = 0.0;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> unused_;
    std::unordered_map<std::uint64_t, std::uint32_t> where_;  // looked up, never iterated
    std::uint32_t newest_ = none, oldest_ = none;
};

}  // namespace warptime::model::simulation
