// Kernels in which a CTA takes one row: passes over the row, with reductions over the CTA between them.
// Ignores: that rows begin at several distances from a whole vector; all are taken to begin at the mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/body.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::reductions {

namespace mk = model::kernel;

/// An array that passes touch: a matrix, a vector that all rows share, or a copy of the row in shared memory.
struct RowArray {
    enum class Kind : std::uint8_t { matrix, vector, shared };
    std::string_view name;
    mk::Dtype dtype = mk::Dtype::fp32;
    Kind kind = Kind::matrix;
};

/// What one array does in a pass. `by_element`: a lane moves its vector one element at a time.
struct RowAccess {
    std::size_t array = 0;
    bool by_element = false;
};

/// A walk over the row, a vector of `vector` elements for each thread and trip.
struct Pass {
    std::vector<RowAccess> reads;
    libraries::Mix each;  ///< instructions for one vector
    libraries::Mix loop;  ///< of a trip, that wait for no data: addresses and the loop itself
    std::vector<RowAccess> writes;
    std::int64_t vector = 1;
    std::int64_t unroll = 1;    ///< trips whose loads are issued together
    double streams = 1.0;       ///< elements of a vector that do not wait for each other
    bool unrolled_all = false;  ///< no loop: all trips stand one after another
    bool held = false;          ///< the row is in registers, nothing is read
    /// Vectors begin at the row's first aligned element, and only rounds of the whole CTA take them. The
    /// elements before and behind are taken one a thread and trip.
    bool peeled = false;
    double kept = 1.0;  ///< share of the row, from its start, that the L2 still holds of earlier passes
};

/// How a CTA of `threads` goes over a peeled row: elements before the vectors, rounds of vectors, elements
/// behind them.
struct Peeled {
    std::int64_t shift = 0;  ///< elements by which the row's start misses a whole vector, in the mean
    std::int64_t before = 0;
    std::int64_t rounds = 0;
    std::int64_t behind = 0;
};
[[nodiscard]] Peeled peel(std::int64_t cols, std::int64_t threads, std::int64_t vector);

struct Reduction {
    /// by_threads: every thread leaves its value, the first warp adds 32 of them a lane, the first thread
    /// those of the lanes.
    enum class Kind : std::uint8_t { none, by_first_warp, by_halves, by_threads };
    Kind kind = Kind::none;
    libraries::Mix step;        ///< with its shuffles
    std::int64_t shuffles = 5;  ///< steps over the lanes, by halves
    libraries::Mix halving{};   ///< of a step over the warps, by halves
};

struct RowKernel {
    std::string_view name;
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    std::int64_t threads = 128;
    std::int64_t threads_y = 1;
    std::int64_t registers = 32;
    std::int64_t static_shared = 0;
    std::int64_t dynamic_shared = 0;
    std::vector<RowArray> arrays;
    libraries::Mix start;
    struct Step {
        Pass pass;
        Reduction reduction;
        libraries::Mix after;
    };
    std::vector<Step> steps;
    /// Vectors of one element for each row, written at the end.
    std::vector<RowArray> results;
};

void lower_row_kernel(const RowKernel& row, mk::Kernel& kernel);

}  // namespace warptime::workloads::reductions
