// Every unit of the chip as a server: SMs with sub-partitions, ports and copy engines, and units that all SMs
// share.
// Ignores: ports of single GPCs, and finite queues. Slices of the L2 and banks of DRAM queue by address,
// beside one server of their summed rate. Source: hw/keys.toml; the keys of the analytical bounds, one server
// for each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/limiter.hpp"
#include "model/simulation/dram_banks.hpp"
#include "model/simulation/l2_slices.hpp"
#include "model/simulation/line_places.hpp"
#include "model/simulation/server.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warptime::model::simulation {

struct SubPartition {
    Server issue;
    Server ports;                              ///< of the register file
    std::array<Server, hw::unit_count> pipes;  ///< by hw::Unit; tensor cores among them
};

struct Sm {
    std::vector<SubPartition> sub_partitions;
    Server shared;        ///< banks, for warps' reads and writes and matrix instructions' reads
    Server shared_write;  ///< banks, for writes of asynchronous copies
    Server l1;
    Server barrier;
    Server fetch;  ///< of code that the nearest instruction cache does not hold
    Server tma;
    Server constants;          ///< its path for tables of constants
    Server texture;            ///< its texture units together
    Server cluster;            ///< from the shared memory of other SMs
    Server port_in, port_out;  ///< to and from L2
    LinePlaces places;         ///< of its L1
    struct Fetched {
        std::int64_t execution = -1;
        Ticks done = 0;
    };
    std::vector<Fetched> fetched;        ///< by op: last execution, and the time of its arrival
    std::vector<double> hit_turns;       ///< by access: sum of the shares of loads that hit whole
    std::vector<double> together_turns;  ///< by access: the same of hits on lines under way
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
    double dram_read_byte = 0.0, dram_row_byte = 0.0, dram_scattered_byte = 0.0, dram_write_byte = 0.0;
    double dram_turn_byte = 0.0;  ///< beside dram_write_byte while reads wait for the bus
    double latency_l1 = 0.0, latency_near = 0.0, latency_l2 = 0.0, latency_dram = 0.0, latency_bulk = 0.0;
};

struct Chip {
    /// Takes `sms` SMs of the GPU. DRAM keeps its rate in seconds, so the clock enters its cycles. `at_work`:
    /// SMs at work in the fullest GPC; 0: all.
    /// `share`: part of the chip's shared units that these SMs stand for.
    Chip(const hw::Gpu& gpu, int sms, double clock_hz, double at_work = 0.0, double share = 1.0);

    Rates rates;
    std::vector<Sm> sms;
    Server l2;       ///< all slices together
    Server fullest;  ///< the slice that is asked most, where accesses say so
    L2Slices slices;
    Server atomics;         ///< units in the L2 slices that the addresses reach
    Server atomic_returns;  ///< return path of the old values
    Server dram;            ///< buses of all channels together
    DramBanks banks;
    Server dispatcher;  ///< hands out CTAs
};

/// Calls `visit` with every unit but the dispatcher: its name, its SM or -1 for the chip's own, and the
/// server.
void each_unit(Chip& chip,
               const std::function<void(const std::string& name, std::int32_t sm, Server&)>& visit);

/// Kind of server, its name as a limiter, and its longest busy time on any SM.
struct Busy {
    prediction::Limiter limiter = prediction::Limiter::launch;
    Ticks longest = 0;
    double average = 0.0;  ///< ticks, over all servers of the kind on the SMs that take part
};
/// Busy times of every kind but the dispatcher.
[[nodiscard]] std::vector<Busy> busy_of(const Chip& chip);

}  // namespace warptime::model::simulation
