// Kernels whose CTAs go over pieces of arrays in trips, with arithmetic, barriers and shared memory in each.
// Ignores: the addresses within shared memory, where each access is taken to be free of bank conflicts
// unless it is random.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/body.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace warptime::workloads::arrays {

/// An array that each trip reads or writes, side by side by the CTA's threads.
struct Flow {
    std::string_view name;
    mk::Dtype dtype = mk::Dtype::fp32;
    mk::Direction direction = mk::Direction::read;
    std::int64_t elements = 1;  ///< of the array
    std::int64_t vector = 1;    ///< elements of a lane in a trip
    bool by_element = false;    ///< a lane moves them one at a time
    std::int64_t apart = 0;     ///< elements from a lane's one element to its next; 0: side by side
    std::int64_t random = 0;    ///< elements among which lanes fall at random; 0: in order
    bool common = false;        ///< all CTAs touch the same elements
    bool follows = false;       ///< its addresses come with the read before
    std::int64_t width = 1;     ///< elements of each access of a lane, where they stand apart
    bool late = false;          ///< read behind the trip's use of shared memory
    bool kept = false;          ///< the kernel before has left it in the L2
    std::int64_t piece = 0;     ///< of a source or result: elements of a CTA; 0: one trip's
};

/// What a trip does in shared memory. `chain` of the accesses wait for one another.
struct SharedUse {
    std::int64_t loads = 0;
    std::int64_t stores = 0;
    std::int64_t atomics = 0;
    std::int64_t bytes = 4;
    std::int64_t chain = 1;
    std::int64_t random = 0;  ///< words among which accesses fall at random; 0: without conflicts
    std::int64_t barriers = 0;
    std::int64_t scattered = 0;  ///< stores at random places, whose lanes meet at the banks, beside `stores`
    /// Additions that are loops of a load, an addition and a compare-and-swap, as those of fp32 are: tries of
    /// a warp for each of its `atomics`. 0: one atomic instruction does it.
    double tries = 0.0;
    /// Exchanges of `exchanged` elements a lane: keys of a word, and values of two where there are any. They
    /// are stored at random places, and come back by loads whose lanes stand `apart` elements apart.
    std::int64_t exchanged = 0;
    std::int64_t apart = 1;
};

struct FlowKernel {
    Launch launch;
    libraries::Mix start;
    std::vector<Flow> sources;  ///< before the first trip
    std::int64_t trips = 1;
    /// Times that the trips go over the same piece, which the L1 holds from the first on; `round` ends each.
    std::int64_t rounds = 1;
    libraries::Mix round;
    std::int64_t piece = 0;  ///< elements of a CTA; 0: those of its trips
    std::vector<Flow> flows;
    libraries::Mix each;  ///< after the reads of a trip
    libraries::Mix loop;  ///< of a trip, that wait for no data
    double streams = 1.0;
    SharedUse shared;
    libraries::Mix finish;
    std::vector<Flow> results;  ///< after the last trip
};

/// Lanes of a warp that choose among `places` at random, and choose the same one, go one after another: the
/// largest number of them, in the mean. Source: balls into bins, whose counts are taken as independent.
[[nodiscard]] double most_at_one_place(double places);

void lower_flow(const FlowKernel& flow, mk::Kernel& kernel);

}  // namespace warptime::workloads::arrays
