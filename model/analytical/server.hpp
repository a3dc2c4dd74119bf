// The servers of one SM on which every CTA's demand is counted in cycles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/prediction/limiter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::analytical {

/// shared_write is what asynchronous copies write to shared memory: GEMMs whose operand reads and copies
/// together exceed the banks' bandwidth run at the tensor cores' full rate (recorded 256x128 tiles), so the
/// two do not add. barrier is where warps arrive to meet. crossbar_read and crossbar_write are the SM's ports
/// to L2, cluster its way to the other SMs of its cluster,
/// registers the ports of a sub-partition's register file. L2 and DRAM serve all SMs and are counted per
/// kernel.
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
    registers,
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

/// Whether each sub-partition has one of its own, for the warps that it holds.
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
template <class S>
struct Demand {
    std::array<hw::Cycles<S>, server_count> cycles{};

    [[nodiscard]] hw::Cycles<S>& operator[](Server server) {
        return cycles[static_cast<std::size_t>(server)];
    }
    [[nodiscard]] const hw::Cycles<S>& operator[](Server server) const {
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

}  // namespace warptime::model::analytical
