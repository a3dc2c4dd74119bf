// What L2 holds, in blocks of one access each: least recently used leaves first; equal requests in flight
// merge. Ignores: lines and sets (a block is what one access touches, named by its first element; blocks that
// overlap in part count as different), the two partitions, and which SMs are neighbours: a request that finds
// its block in flight joins it while fewer SMs share it than a TPC has, as if a neighbour had asked. Source:
// the capacity and merging rules of the analytical engine (keys l2.capacity, l2.shared_capacity, tpc.sms),
// with times instead of averages. SPDX-License-Identifier: Apache-2.0
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
        Ticks arrives = 0;     ///< when the request in flight delivers; 0 when there is none
    };
    /// Looks a block up and makes it the most recently used. One that was absent is entered and the least
    /// recently used leave until it fits.
    Found read(std::uint64_t block, double bytes, Ticks now);
    /// Says when the read of a block just looked up delivers, so that others can join it.
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
