// Servers of one SM on which every CTA's demand is counted in cycles.
// Ignores: L2 and DRAM, which serve all SMs and are counted per kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/prediction/limiter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::machine {

/// shared_write: writes of asynchronous copies to shared memory. They do not add to operand reads: copies and
/// reads that together exceed the banks' bandwidth still run at the tensor cores' full rate. barrier:
/// arrivals of warps that meet. crossbar_read and crossbar_write: the SM's ports to L2. cluster: its path to
/// other SMs of the cluster. constants: its path for loads of constants. texture: its texture units together.
/// registers: ports of a sub-partition's register file.
enum class Server : std::uint8_t {
    issue,
    fp32,
    fp64,
    fp16,
    integer,
    sfu,
    tensor,
    shared,
    shared_write,
    l1,
    tma,
    crossbar_read,
    crossbar_write,
    barrier,
    cluster,
    constants,
    registers,
    texture,
    count
};
inline constexpr std::size_t server_count = static_cast<std::size_t>(Server::count);

[[nodiscard]] constexpr prediction::Limiter limiter_of(Server server) {
    using prediction::Limiter;
    switch (server) {
        case Server::issue:
        case Server::registers:
            return Limiter::issue;
        case Server::fp32:
        case Server::fp16:
            return Limiter::fp32;
        case Server::fp64:
            return Limiter::fp64;
        case Server::integer:
            return Limiter::integer;
        case Server::sfu:
            return Limiter::sfu;
        case Server::shared:
        case Server::shared_write:
            return Limiter::shared;
        case Server::tensor:
            return Limiter::tensor_core;
        case Server::barrier:
            return Limiter::chain_latency;
        case Server::l1:
        case Server::constants:
        case Server::texture:
            return Limiter::l1;
        case Server::tma:
            return Limiter::tma;
        case Server::cluster:
        case Server::crossbar_read:
        case Server::crossbar_write:
        case Server::count:
            return Limiter::crossbar;
    }
    return Limiter::crossbar;
}

/// True if each sub-partition has a server of its own for its warps.
[[nodiscard]] constexpr bool of_sub_partition(Server server) {
    switch (server) {
        case Server::issue:
        case Server::fp32:
        case Server::fp64:
        case Server::fp16:
        case Server::integer:
        case Server::sfu:
        case Server::registers:
            return true;
        default:
            return false;
    }
}

/// Busy cycles of each server.
struct Demand {
    std::array<hw::Cycles, server_count> cycles{};

    [[nodiscard]] hw::Cycles& operator[](Server server) { return cycles[static_cast<std::size_t>(server)]; }
    [[nodiscard]] const hw::Cycles& operator[](Server server) const {
        return cycles[static_cast<std::size_t>(server)];
    }
    Demand& operator+=(const Demand& other) {
        for (std::size_t i = 0; i < server_count; ++i) {
            cycles[i] += other.cycles[i];
        }
        return *this;
    }
    [[nodiscard]] Server busiest() const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < server_count; ++i) {
            if (cycles[best] < cycles[i]) {
                best = i;
            }
        }
        return static_cast<Server>(best);
    }
};

}  // namespace warptime::model::machine
