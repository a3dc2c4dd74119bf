// Path of an access through port, L2 and DRAM. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_path.hpp"

#include "model/kernel/access_bytes.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/machine/dram/write_back.hpp"
#include "model/machine/l2/l2_partitions.hpp"

#include <algorithm>

namespace warptime::model::simulation {

using hw::Bytes;
using kernel::PatternKind;

namespace {

/// Pseudo-random whole number that follows from the input (splitmix64, Steele et al. 2014,
/// doi.org/10.1145/2660193.2660195).
std::uint64_t scattered(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace

MemoryPath::MemoryPath(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                       const prediction::Conditions& conditions, Chip& chip)
    : kernel_(kernel),
      chip_(chip),
      l2_(gpu.l2.capacity.value() * gpu.l2.shared_capacity.value(), static_cast<int>(gpu.tpc.sms.value())),
      over_dirty_(conditions.cache == prediction::Cache::flushed),
      capacity_(gpu.l2.capacity.value()),
      visits_(machine::slice_visits(gpu)),
      dirty_first_(machine::dirty_first_of(gpu).value()),
      dirty_fraction_(gpu.l2.dirty_fraction.value()),
      dirty_capacity_(machine::dirty_capacity_of(gpu).value()) {}

std::uint64_t MemoryPath::block_of(const AccessPlan& plan, const Requester& who) const {
    const kernel::Access& access = *plan.access;
    const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
    std::int64_t offset = 0;
    std::int64_t packed = 1;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const std::int64_t stride = buffer.stride[d] == 0 ? packed : buffer.stride[d];
        offset += kernel::evaluate(kernel_, access.origin[d], *who.at) * stride;
        packed = stride * buffer.extent[d];
    }
    if (access.pattern == PatternKind::chase) {
        offset += who.execution * access.step % std::max<std::int64_t>(1, access.window);
    } else if (access.pattern == PatternKind::random || access.pattern == PatternKind::listed ||
               access.pattern == PatternKind::stream) {
        // Every execution goes to another place.
        offset = static_cast<std::int64_t>(
            scattered(access.seed + scattered(static_cast<std::uint64_t>(offset + who.execution)) +
                      static_cast<std::uint64_t>(who.warp)));
    }
    const auto part =
        static_cast<std::uint64_t>(plan.sharing_warps > 1 ? who.instance * who.role_warps + who.warp : 0);
    constexpr std::uint64_t offset_mask = (std::uint64_t{1} << 48) - 1;
    return (static_cast<std::uint64_t>(access.buffer) << 56) | (part << 48 & ~(std::uint64_t{0xff} << 56)) |
           (static_cast<std::uint64_t>(offset) & offset_mask);
}

void MemoryPath::write_back(Ticks now) {
    const Bytes read(traffic_.dram_read);
    const Bytes written(traffic_.l2_written);
    const Bytes capacity(dirty_capacity_);
    const double due = (over_dirty_ ? machine::writes_over_dirty(read, written, Bytes(dirty_first_),
                                                                 hw::Number(dirty_fraction_), capacity)
                                    : machine::writes_over_clean(Bytes(traffic_.dram_read * visits_), written,
                                                                 Bytes(capacity_), capacity))
                           .value();
    if (due > traffic_.dram_written) {
        const double byte =
            chip_.rates.dram_write_byte + (traffic_.dram_read > 0.0 ? chip_.rates.dram_turn_byte : 0.0);
        chip_.dram.serve(now, ticks_of((due - traffic_.dram_written) * byte));
        traffic_.dram_written = due;
    }
}

MemoryPath::Reply MemoryPath::read(Sm& sm, const AccessPlan& plan, std::uint64_t block, double bytes,
                                   Ticks now) {
    const Rates& rates = chip_.rates;
    const double received = bytes * plan.access->multicast_ctas;
    traffic_.received += received;
    const L2::Found found = l2_.read(block, bytes, now);
    const bool own = !found.merged && plan.access->multicast_ctas == 1;
    const Ticks ported =
        sm.port_in.serve(now, ticks_of(received * (own ? rates.port_own_byte : rates.port_in_byte)));
    const Ticks near = ticks_of(rates.latency_l2);
    if (found.merged) {
        return {std::max(ported + near, found.arrives), near};
    }
    traffic_.l2_read += bytes;
    Ticks served = std::max(ported, chip_.l2.serve(now, ticks_of(bytes * rates.l2_byte)));
    Ticks latency = near;
    if (!found.present && !plan.starts_in_l2) {
        traffic_.dram_read += bytes;
        const double rate = plan.in_rows ? rates.dram_row_byte : rates.dram_read_byte;
        served = std::max(served, chip_.dram.serve(now, ticks_of(bytes * rate)));
        latency = ticks_of(rates.latency_dram);
        write_back(now);
    }
    const Ticks done = std::max(served + latency, found.arrives);
    l2_.in_flight(block, done);
    return {done, latency};
}

MemoryPath::Reply MemoryPath::atomic(Sm& sm, const AccessPlan& plan, std::uint64_t block, double share,
                                     Ticks now) {
    const Rates& rates = chip_.rates;
    const AtomicPlan& atomics = plan.atomics;
    const double changed = atomics.changed_bytes * share;
    const Ticks left = sm.port_out.serve(now, ticks_of(atomics.sent_bytes * share * rates.port_out_byte));
    Ticks served = std::max(left, chip_.atomics.serve(now, ticks_of(atomics.slices * share)));
    double latency = rates.latency_l2;
    const L2::Found found = l2_.read(block, changed, now);
    if (!found.present && !plan.starts_in_l2) {
        traffic_.dram_read += changed;
        served = std::max(served, chip_.dram.serve(now, ticks_of(changed * rates.dram_read_byte)));
        latency = rates.latency_dram;
    }
    l2_.write(block, changed);
    traffic_.l2_written += changed;
    traffic_.l2_changed += changed;
    traffic_.l2_passes += atomics.passed_bytes * share;
    traffic_.l2_returned += atomics.returned_bytes * share;
    write_back(now);
    if (atomics.returned_bytes <= 0.0) return {left, 0};
    const double returned = atomics.returned_bytes * share;
    traffic_.received += returned;
    served = std::max(served, sm.port_in.serve(now, ticks_of(returned * rates.port_in_byte)));
    served = std::max(served, chip_.atomic_returns.serve(now, ticks_of(atomics.returns * share)));
    const Ticks back = ticks_of(latency + atomics.latency);
    return {served + back, back};
}

Ticks MemoryPath::write(Sm& sm, std::uint64_t block, double bytes, double padded, Ticks now, Ticks& arrived) {
    traffic_.l2_written += bytes;
    const Ticks end = sm.port_out.serve(now, ticks_of(bytes * padded * chip_.rates.port_out_byte));
    arrived = std::max(end, chip_.l2.serve(now, ticks_of(bytes * padded * chip_.rates.l2_stored_byte)));
    l2_.write(block, bytes);
    write_back(now);
    return end;
}

MemoryPath::Reply MemoryPath::access(Sm& sm, const kernel::Op& op, const OpPlan& plan,
                                     const AccessPlan& access, const Requester& who, Ticks now) {
    const kernel::AccessBytes bytes =
        kernel::access_bytes(kernel_, op, *access.access, *who.at, who.execution);
    const double amount =
        who.weight * (access.collective ? 1.0 / access.sharing_warps : op.active * who.lanes);
    const double inside = bytes.inside * amount;
    Reply reply{now, 0};
    if (inside <= 0.0) {
        return reply;
    }
    const std::uint64_t block = block_of(access, who);
    if (access.atomic) {
        return atomic(sm, access, block, who.weight * who.lanes, now);
    }
    const std::int32_t copies = access.access->multicast_ctas;
    if (access.reads) {
        reply = read(sm, access, block, inside * access.fetched_per_requested, now);
    }
    if (access.writes) {
        const double padded = access.collective ? access.fetched_per_requested : access.sent_per_written;
        reply.done = std::max(reply.done, write(sm, block, inside, padded, now, reply.arrived));
    }
    if (plan.copies) {
        reply.done = std::max(
            reply.done,
            reply.latency + sm.shared_write.serve(now, ticks_of(inside * copies * chip_.rates.shared_byte)));
    }
    if (plan.bulk) {
        const double lines = access.lines * bytes.inside / bytes.requested * amount;
        const Ticks walked = sm.tma.serve(now, ticks_of(lines * copies * chip_.rates.tma_row));
        reply.done = std::max(reply.done, reply.latency + walked) + ticks_of(chip_.rates.latency_bulk);
    }
    return reply;
}

}  // namespace warptime::model::simulation
