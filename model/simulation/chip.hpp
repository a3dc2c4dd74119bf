// Every unit of the chip as a server, put together from the numbers of a GPU: SMs with their sub-partitions,
// ports and copy engines, and what all SMs share.
// Ignores: GPCs, L2 slices and DRAM channels (each is one server of the summed rate), and finite queues.
// Source: hw/keys.toml; the same keys as the analytical bounds, one server for each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/limiter.hpp"
#include "model/simulation/server.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace warptime::model::simulation {

struct SubPartition {
    Server issue;
    Server ports;                              ///< of the register file
    std::array<Server, hw::unit_count> pipes;  ///< by hw::Unit; tensor cores among them
};

struct Sm {
    std::vector<SubPartition> sub_partitions;
    Server shared;        ///< banks, as read and written by warps and read by matrix instructions
    Server shared_write;  ///< what asynchronous copies write to them
    Server l1;
    Server barrier;
    Server fetch;  ///< of code that the nearest instruction cache does not hold
    Server tma;
    Server cluster;            ///< from the shared memory of other SMs
    Server port_in, port_out;  ///< to and from L2
    struct Fetched {
        std::int64_t execution = -1;
        Ticks done = 0;
    };
    std::vector<Fetched> fetched;  ///< by op: for which execution last, and when it was there
};

/// Cycles per unit of work of the servers that move bytes.
struct Rates {
    double shared_byte = 0.0;
    double l1_request = 0.0;
    double tma_row = 0.0;
    double port_in_byte = 0.0, port_out_byte = 0.0;
    double port_own_byte = 0.0;  ///< received by no other SM
    double l2_byte = 0.0;        ///< with the slices that a sector passes
    double l2_stored_byte = 0.0;
    double dram_read_byte = 0.0, dram_row_byte = 0.0, dram_write_byte = 0.0;
    double dram_turn_byte = 0.0;  ///< beside dram_write_byte while reads wait for the bus
    double latency_l2 = 0.0, latency_dram = 0.0, latency_bulk = 0.0;
};

struct Chip {
    /// `sms` of the GPU's take part; DRAM keeps its rate in seconds, so the clock enters its cycles.
    /// `at_work`: of them in the fullest graphics processing cluster; 0: all.
    Chip(const hw::Gpu<double>& gpu, int sms, double clock_hz, double at_work = 0.0);

    Rates rates;
    std::vector<Sm> sms;
    Server l2;
    Server atomics;         ///< units in the slices of L2, as far as the addresses reach them
    Server atomic_returns;  ///< way back of their old values
    Server dram;
    Server dispatcher;  ///< hands out CTAs
};

/// A kind of server, what it is called when it holds a kernel back, and its longest busy time on any SM.
struct Busy {
    prediction::Limiter limiter = prediction::Limiter::launch;
    Ticks longest = 0;
    double average = 0.0;  ///< ticks, over all servers of the kind on the SMs that take part
};
/// Of every kind but the dispatcher.
[[nodiscard]] std::vector<Busy> busy_of(const Chip& chip);

}  // namespace warptime::model::simulation
