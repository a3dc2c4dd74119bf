// Contents of L2 in blocks of one access each: the least recently used leaves first, and equal requests in
// flight merge.
// Ignores: lines and sets, the two partitions, and which SMs are neighbours. A block is the bytes of one
// access, named by its first element; partly overlapping blocks count as different. A request joins its block
// in flight while fewer SMs share the block than a TPC has.
// Source: capacity and merging rules of the analytical engine (keys l2.capacity, l2.shared_capacity,
// tpc.sms), with times instead of averages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/ticks.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warptime::model::simulation {

class L2 {
  public:
    L2(double capacity_bytes, int sharers) : capacity_(capacity_bytes), sharers_(sharers) {}

    struct Found {
        bool present = false;  ///< was in L2, or on its way
        bool merged = false;   ///< joins a request in flight: asks nothing of the slices
        Ticks arrives = 0;     ///< delivery of the request in flight; 0 when there is none
    };
    /// Looks a block up and makes it the most recently used. An absent block is entered, and the least
    /// recently used blocks leave until it fits.
    Found read(std::uint64_t block, double bytes, Ticks now);
    /// Sets the delivery time of the last block that was looked up, so that other requests can join it.
    void in_flight(std::uint64_t block, Ticks until);
    void write(std::uint64_t block, double bytes);

    [[nodiscard]] double held_bytes() const { return held_; }

  private:
    static constexpr std::uint32_t none = 0xffffffffU;
    struct Entry {
        std::uint64_t block = 0;
        double bytes = 0.0;
        Ticks until = 0;
        int sharing = 0;
        std::uint32_t newer = none, older = none;
    };
    std::uint32_t touch(std::uint64_t block, double bytes, bool& present);
    void unlink(std::uint32_t entry);
    void link_newest(std::uint32_t entry);
    void evict_oldest();

    double capacity_;
    int sharers_;
    double held_ = 0.0;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> unused_;
    std::unordered_map<std::uint64_t, std::uint32_t> where_;  // looked up, never iterated
    std::uint32_t newest_ = none, oldest_ = none;
};

}  // namespace warptime::model::simulation
