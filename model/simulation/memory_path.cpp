// Path of an access through port, L2 and DRAM. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_path.hpp"

#include "model/kernel/access_bytes.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/machine/dram/filled_sectors.hpp"
#include "model/machine/dram/lines_dirtied.hpp"
#include "model/machine/dram/write_back.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l1/pending_lines.hpp"
#include "model/machine/l2/l2_partitions.hpp"
#include "model/machine/l2/l2_room.hpp"
#include "model/machine/local/kept_of_local.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/work_items.hpp"
#include "model/simulation/warp_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace warptime::model::simulation {

using kernel::PatternKind;

namespace {

/// Element of the buffer at which an access begins.
std::int64_t begin_of(const kernel::Kernel& kernel, const kernel::Access& access,
                      const kernel::Coordinates& at) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    std::int64_t offset = 0;
    std::int64_t packed = 1;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const std::int64_t stride = buffer.stride[d] == 0 ? packed : buffer.stride[d];
        offset += kernel::evaluate(kernel, access.origin[d], at) * stride;
        packed = stride * buffer.extent[d];
    }
    return offset;
}

}  // namespace

namespace {

/// Bytes in which two accesses of the same kind count as one place: a block, or the part of one that a run of
/// the access touches.
std::int64_t bytes_of_place(const AccessPlan& access) {
    std::int64_t bytes = access.block;
    if (access.runs.empty()) return bytes;
    const std::int64_t touched = access.runs.front().high - access.runs.front().low;
    while (bytes > access.piece && bytes > touched) bytes /= 2;
    return bytes;
}

/// The shares among the first `most` CTAs of the grid.
std::vector<double> shares_among(std::int64_t most, const kernel::Kernel& kernel, const KernelPlan& plan,
                                 const Cut& cut) {
    std::vector<double> result(kernel.buffers.size(), 1.0);
    const machine::WorkItems items(kernel);
    std::vector<kernel::Coordinates> all, run;
    std::vector<std::int64_t> of_cta;
    const std::int64_t count = std::min(most, kernel.grid.volume()) / cut.of_sms * cut.of_sms;
    for (std::int64_t cta = 0; cta < count; ++cta) {
        of_cta.clear();
        items.append_of_cta(cta, of_cta);
        if (of_cta.empty()) continue;
        kernel::Coordinates at = kernel::coordinates_of(items.at(of_cta[0]));
        at.cta_rank = cta % kernel.cluster.volume();
        all.push_back(at);
        if (cta % cut.of_sms < cut.sms) run.push_back(at);
    }
    if (run.empty()) return result;
    // Places where their first warps begin to read a buffer.
    std::vector<std::int64_t> places;
    const auto distinct = [&](std::size_t buffer, const std::vector<kernel::Coordinates>& ctas) {
        places.clear();
        for (const AccessPlan& a : plan.accesses) {
            if (static_cast<std::size_t>(a.access->buffer) != buffer || !a.reads || a.scattered) continue;
            const std::int64_t size = hw::bytes_of(kernel.buffers[buffer].dtype);
            const std::int64_t place = bytes_of_place(a);
            for (const kernel::Coordinates& at : ctas) {
                const std::int64_t begin = begin_of(kernel, *a.access, at);
                places.push_back(a.by_lanes ? kernel::detail::floor_divide(begin * size, place) : begin);
            }
        }
        std::sort(places.begin(), places.end());
        return static_cast<double>(std::unique(places.begin(), places.end()) - places.begin());
    };
    const double stands_for = static_cast<double>(all.size()) / static_cast<double>(run.size());
    for (std::size_t b = 0; b < result.size(); ++b) {
        const double read = distinct(b, run);
        if (read > 0.0) result[b] = std::min(1.0, distinct(b, all) / (read * stands_for));
    }
    return result;
}

/// Whether a place that the kernel has not touched before is in the L2. Launches since have pushed lines out
/// here and there, the same ones for all that ask.
bool found_from_start(const AccessPlan& plan, const Place& place) {
    if (!(0.0 < plan.starts_in_l2 && plan.starts_in_l2 < 1.0)) return plan.starts_in_l2 > 0.0;
    constexpr double places = 4294967296.0;
    return static_cast<double>(scattered(place.first) >> 32) < plan.starts_in_l2 * places;
}

}  // namespace

NewShares new_shares(const kernel::Kernel& kernel, const KernelPlan& plan, const Cut& cut,
                     std::int64_t resident) {
    if (cut.sms == cut.of_sms) return {};
    // As many CTAs as a few waves have.
    constexpr std::int64_t most = 4096;
    return {shares_among(most, kernel, plan, cut),
            shares_among(std::min(most, cut.of_sms * resident), kernel, plan, cut)};
}

MemoryPath::MemoryPath(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                       const prediction::Conditions& conditions, Chip& chip, double part,
                       NewShares new_shares, bool skewed)
    : kernel_(kernel),
      chip_(chip),
      part_(part),
      l2_(machine::room_for_all(gpu), gpu.tpc.sms.value()),
      gpu_(gpu),
      resident_ctas_(machine::items_at_work(kernel, gpu)),
      kept_of_local_(kernel.accesses.size()),
      stored_(kernel.buffers.size()),
      strided_(kernel.accesses.size()),
      new_shares_(std::move(new_shares)),
      brought_(kernel.buffers.size()),
      brought_lines_(kernel.buffers.size()),
      fullest_turns_(skewed ? kernel.accesses.size() : 0),
      skewed_(skewed),
      waited_(kernel.reuse.empty() ? 0 : kernel.buffers.size() + kernel.accesses.size()),
      turns_(kernel.accesses.size()),
      sector_(gpu.l1.sector.value()),
      line_(gpu.l1.line.value()),
      over_dirty_(conditions.cache == prediction::Cache::flushed),
      capacity_(gpu.l2.capacity.value()),
      visits_(machine::slice_visits(gpu)),
      dirty_first_(machine::dirty_first_of(gpu).value()),
      dirty_fraction_(gpu.l2.dirty_fraction.value()),
      dirty_capacity_(machine::dirty_capacity_of(gpu).value()) {
    for (std::size_t i = 0; i < kept_of_local_.size(); ++i) {
        const kernel::Access& access = kernel.accesses[i];
        if (access.buffer == kernel::no_id ||
            !machine::is_local(kernel.buffers[static_cast<std::size_t>(access.buffer)]))
            continue;
        kept_of_local_[i] = machine::kept_of_local(kernel, access, resident_ctas_, gpu);
    }
}

std::int64_t MemoryPath::offset_of(const AccessPlan& plan, const Requester& who) const {
    const kernel::Access& access = *plan.access;
    std::int64_t offset = begin_of(kernel_, access, *who.at);
    if (access.pattern == PatternKind::chase) {
        offset += who.execution * access.step % std::max<std::int64_t>(1, access.window);
    }
    if (who.enabled < 1.0 || who.chosen) {
        // Executions beyond the end are among those that do not take place; others stand for them.
        const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
        const std::int64_t span = kernel::span_elements(buffer);
        offset = 0 <= offset && offset < span ? offset : kernel::detail::floor_modulo(offset, span);
    }
    return offset;
}

template <class Visit>
void MemoryPath::each_run(const AccessPlan& plan, const Requester& who, Visit visit) const {
    constexpr std::uint64_t offset_mask = (std::uint64_t{1} << 48) - 1;
    const kernel::Access& access = *plan.access;
    std::int64_t offset = offset_of(plan, who);
    const auto number_of_buffer = static_cast<std::uint64_t>(access.buffer);
    std::uint64_t buffer = number_of_buffer << 56;
    Blocks blocks;
    // Buffers beyond the 256th share the number's first bits with others and differ in the rest.
    if (!plan.by_lanes) {
        if (number_of_buffer > 0xff) offset ^= static_cast<std::int64_t>(scattered(number_of_buffer >> 8));
        const auto part =
            static_cast<std::uint64_t>(plan.sharing_warps > 1 ? who.instance * who.role_warps + who.warp : 0);
        blocks.first = blocks.last = buffer | (part << 48 & ~(std::uint64_t{0xff} << 56)) |
                                     (static_cast<std::uint64_t>(offset) & offset_mask);
        visit(blocks);
        return;
    }
    buffer |= (number_of_buffer >> 8 & 0xfff) << 42;
    const std::int64_t size = hw::bytes_of(kernel_.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    // Blocks before the begin of the buffer have numbers, too.
    constexpr std::int64_t shift = std::int64_t{1} << 40;
    const auto block_at = [&](std::int64_t number) {
        return buffer | (std::uint64_t{1} << 55) | static_cast<std::uint64_t>(number + shift);
    };
    for (const AccessPlan::Run& run : plan.runs) {
        const std::int64_t low = offset * size + run.low;
        const std::int64_t number = kernel::detail::floor_divide(low, plan.block);
        blocks.first = blocks.last = block_at(number);
        blocks.from = low - number * plan.block;
        blocks.to = blocks.from + run.high - run.low;
        blocks.last += static_cast<std::uint64_t>((blocks.to - 1) / plan.block);
        visit(blocks);
    }
    if (!plan.runs.empty()) return;
    // The block of the first lane, and the lanes' distance, name them all.
    const std::int64_t number = kernel::detail::floor_divide(offset * size + plan.low, plan.block);
    const auto apart = static_cast<std::uint64_t>(access.inner * 1000003 + access.outer);
    blocks.first = blocks.last = buffer | (scattered(block_at(number) + scattered(apart)) & offset_mask);
    visit(blocks);
}

double MemoryPath::asked_by(const AccessPlan& plan, const Requester& who) const {
    if (new_shares_.at_once.empty() || who.sms <= 1.0 || plan.scattered) return 1.0;
    return 1.0 / new_shares_.at_once[static_cast<std::size_t>(plan.access->buffer)];
}

double MemoryPath::first_share(const AccessPlan& plan) const {
    if (new_shares_.over_time.empty() || plan.scattered) return 1.0;
    return new_shares_.over_time[static_cast<std::size_t>(plan.access->buffer)];
}

MemoryPath::Lookup MemoryPath::look_up(const AccessPlan& plan, const Requester& who, const Bytes& bytes,
                                       bool writes, Ticks now) {
    const double share = who.sms * who.stands_for;
    if (plan.local) return look_up_local(plan, bytes.opened, writes);
    if (plan.scattered) return look_up_scattered(plan, bytes.opened, share);
    Lookup result;
    result.found.present = result.found.merged = true;
    each_run(plan, who,
             [&](const Blocks& blocks) { look_up_run(plan, who, bytes, blocks, writes, now, result); });
    const double first_of_all = first_share(plan);
    if (!writes) opened_ += result.fetched * share * plan.gaps;
    result.waits = !result.found.present;
    if (result.waits && !new_shares_.over_time.empty()) {
        // What other SMs have brought before the CTAs at once is there already, for all warps of a CTA.
        const std::uint64_t draw =
            scattered(who.seed + plan.place + (static_cast<std::uint64_t>(who.execution) << 32));
        constexpr double range = 0x1p64;
        result.waits = static_cast<double>(draw) < range * first_of_all * asked_by(plan, who);
    }
    return result;
}

void MemoryPath::look_up_run(const AccessPlan& plan, const Requester& who, const Bytes& bytes,
                             const Blocks& blocks, bool writes, Ticks now, Lookup& result) {
    const double share = who.sms * who.stands_for;
    const double first_of_all = first_share(plan);
    const double times = asked_by(plan, who);
    const std::int64_t pieces_of_block = plan.runs.empty() ? 1 : plan.block / plan.piece;
    // Bytes side by side open each of their pieces; others take what all of them ask for.
    const double piece = plan.runs.empty() ? bytes.opened : static_cast<double>(plan.piece) * bytes.part;
    int absent = 0;
    for (std::uint64_t block = blocks.first; block <= blocks.last; ++block) {
        std::uint8_t wanted = 1;
        if (pieces_of_block > 1) {
            const std::int64_t begin = static_cast<std::int64_t>(block - blocks.first) * plan.block;
            const std::int64_t from = std::max<std::int64_t>(0, blocks.from - begin) / plan.piece;
            const std::int64_t to =
                std::min(pieces_of_block, (blocks.to - begin + plan.piece - 1) / plan.piece);
            wanted = static_cast<std::uint8_t>((1U << to) - (1U << from));
        }
        const double held = piece * share * first_of_all;
        const L2::Found found =
            writes ? l2_.write(block, held, wanted) : l2_.read(block, held, now, wanted, times);
        absent += found.absent;
        result.found.present = result.found.present && found.present;
        result.found.merged = result.found.merged && found.merged;
        result.found.arrives = std::max(result.found.arrives, found.arrives);
    }
    result.fetched += absent * piece * first_of_all;
}

MemoryPath::Lookup MemoryPath::look_up_scattered(const AccessPlan& plan, double bytes, double share) {
    double& brought = brought_[static_cast<std::size_t>(plan.access->buffer)];
    const double kept = std::min(1.0, l2_.capacity() / plan.reach);
    Lookup result;
    const double absent = 1.0 - std::min(1.0, brought / plan.reach) * kept;
    result.fetched = bytes * absent;
    result.lost = absent;
    brought += std::min(bytes * share, plan.reach) * (1.0 - std::min(1.0, brought / plan.reach));
    if (plan.reach_lines > plan.reach) {
        double& lines = brought_lines_[static_cast<std::size_t>(plan.access->buffer)];
        const double visited = bytes * share / plan.part * line_;
        const double opened =
            std::min(visited, plan.reach_lines) * (1.0 - std::min(1.0, lines / plan.reach_lines));
        lines += opened;
        opened_ += std::max(0.0, opened - result.fetched * share);
    }
    result.waits = waits_for_any(plan, bytes, absent);
    return result;
}

MemoryPath::Lookup MemoryPath::look_up_local(const AccessPlan& plan, double bytes, bool writes) {
    Lookup result;
    if (writes) return result;
    const double lost = 1.0 - kept_of_local_[static_cast<std::size_t>(plan.access - kernel_.accesses.data())];
    result.fetched = bytes * lost;
    result.waits = waits_for_any(plan, bytes, lost);
    return result;
}

bool MemoryPath::waits_for_any(const AccessPlan& plan, double bytes, double absent) {
    const double pieces = std::max(1.0, bytes / sector_);
    double& turn = turns_[plan.place];
    turn += 1.0 - std::pow(1.0 - absent, pieces);
    if (turn < 1.0) return false;
    turn -= 1.0;
    return true;
}

double MemoryPath::whole_of(const AccessPlan& plan) const {
    return plan.local ? plan.whole * resident_ctas_ : plan.whole;
}

void MemoryPath::note_written(const AccessPlan& plan, double bytes, double share) {
    traffic_.l2_written += bytes;
    Stored& b = stored_[static_cast<std::size_t>(plan.access->buffer)];
    machine::BufferTraffic& use = b.use;
    const double whole = whole_of(plan);
    const auto place = static_cast<std::size_t>(plan.access - kernel_.accesses.data());
    use.written_bytes += bytes;
    use.parted_bytes += plan.parted * share;
    use.scattered.written_lines += plan.lines_stored * share;
    use.scattered.written_sectors += plan.sectors_stored * share;
    use.scattered.written_apart = std::max(use.scattered.written_apart, plan.apart);
    if (plan.strided_lines > 0.0) {
        strided_[place] += plan.strided_lines * share;
        use.strided_written_lines = std::max(use.strided_written_lines, strided_[place]);
    }
    if (plan.local && plan.access->reuse > 0) {
        const double again = machine::stored_again(kernel_, *plan.access);
        // Sectors leave the L2 whole.
        const double stored = plan.local_sectors * share;
        const double lost = stored * (again - kept_of_local_[place]);
        use.again_bytes += stored * again;
        use.again_lost += lost;
        use.again_apart += lost * plan.again_apart;
    }
    machine::FilledSectors parts;
    if (use.parted_bytes > 0.0) {
        // What the kernel's later stores complete counts as written.
        const double covered = plan.completed ? use.parted_bytes : use.written_bytes;
        parts = machine::filled_sectors(
            {use.parted_bytes, covered, whole, use.scattered.written_apart, use.read_bytes}, gpu_);
        const double pushed =
            parts.filled > 0.0 ? parts.lines * gpu_.l1.line.value() - parts.touched + parts.filled : 0.0;
        pushed_ += pushed - b.pushed;
        b.pushed = pushed;
        if (parts.on_bus > b.on_bus) {
            fill_due_ += parts.filled - b.filled;
            bus_due_ += parts.on_bus - b.on_bus;
            b.filled = parts.filled;
            b.on_bus = parts.on_bus;
        }
    }
    const machine::Dirtied dirtied = machine::dirtied_by(use, 1.0, whole, parts, gpu_);
    dirtied_.sectors += dirtied.sectors - b.dirtied.sectors;
    dirtied_.lines += dirtied.lines - b.dirtied.lines;
    dirtied_.pieces += dirtied.pieces - b.dirtied.pieces;
    dirtied_.apart += dirtied.apart - b.dirtied.apart;
    b.dirtied = dirtied;
}

void MemoryPath::fill(const Requester& who, Ticks now) {
    if (!(bus_due_ > 0.0)) return;
    // Lines lie apart, so they are read like short rows. No store waits for them.
    const double write_byte = chip_.rates.dram_write_byte + chip_.rates.dram_turn_byte;
    const double moved = bus_due_ / who.stands_for;
    chip_.dram.serve(now, ticks_of(moved * (chip_.rates.dram_row_byte + write_byte)));
    (void)chip_.banks.read({scattered(++draws_) >> 16}, moved * part_, chip_.rates.dram_row_byte, now);
    chip_.banks.write(moved * part_, write_byte, now);
    traffic_.dram_read += fill_due_;
    traffic_.dram_written += fill_due_;
    filled_ += fill_due_;
    fill_due_ = bus_due_ = 0.0;
}

void MemoryPath::write_back(const Requester& who, Ticks now) {
    const double brought = traffic_.dram_read - filled_;
    const hw::Bytes read(brought + opened_ + pushed_);
    const hw::Bytes lines(dirtied_.lines);
    const hw::Bytes capacity(dirty_capacity_);
    // What leaves of the kernel's own lines, and others that come before them.
    const double out = over_dirty_ ? std::max(0.0, dirtied_.lines - dirty_capacity_)
                                   : machine::writes_over_clean(hw::Bytes(brought * visits_), lines,
                                                                hw::Bytes(capacity_), capacity)
                                         .value();
    const double others = over_dirty_ ? machine::writes_over_dirty(read, lines, hw::Bytes(dirty_first_),
                                                                   hw::Number(dirty_fraction_), capacity)
                                                .value() -
                                            out
                                      : 0.0;
    const double of_line = 1.0 / std::max(1.0, dirtied_.lines);
    const double due = others + out * dirtied_.pieces * of_line + filled_;
    if (due > traffic_.dram_written) {
        const double alone = std::min(1.0, out * dirtied_.apart * of_line / due);
        const double byte = std::lerp(chip_.rates.dram_write_byte, chip_.rates.dram_scattered_byte, alone) +
                            (traffic_.dram_read > 0.0 ? chip_.rates.dram_turn_byte : 0.0);
        const double moved = (due - traffic_.dram_written) / who.stands_for;
        chip_.dram.serve(now, ticks_of(moved * byte));
        chip_.banks.write(moved * part_, byte, now);
        traffic_.dram_written = due;
    }
}

Place MemoryPath::place_of(const AccessPlan& plan, const Requester& who) {
    // Buffers lie far apart.
    constexpr int buffer_shift = 42;
    const auto buffer = static_cast<std::uint64_t>(plan.access->buffer + 1) << buffer_shift;
    if (plan.scattered || plan.local) {
        constexpr std::uint64_t places = std::uint64_t{1} << 40;
        return {buffer + scattered(++draws_) % places};
    }
    const std::int64_t size =
        hw::bytes_of(kernel_.buffers[static_cast<std::size_t>(plan.access->buffer)].dtype);
    std::int64_t first = offset_of(plan, who) * size + plan.low;
    // Warps that share a box bring a part each.
    const std::int64_t warp = who.instance * who.role_warps + who.warp;
    if (plan.sharing_warps > 1) first += warp % plan.sharing_warps * plan.warp_bytes;
    const auto address = buffer + static_cast<std::uint64_t>(first + (std::int64_t{1} << 40));
    return {address, plan.row_bytes, static_cast<std::uint64_t>(plan.pitch_bytes)};
}

Ticks MemoryPath::fetch(const AccessPlan& plan, const Requester& who, double bytes, const Place& place,
                        Ticks now) {
    const double byte =
        plan.in_rows ? chip_.rates.dram_row_byte
                     : std::lerp(chip_.rates.dram_read_byte, chip_.rates.dram_scattered_byte, plan.alone);
    const Ticks carried = chip_.dram.serve(now, ticks_of(bytes * who.sms * byte));
    const double first = first_share(plan);
    return std::max(carried, chip_.banks.read(place, bytes / first * who.sms * part_, byte, now, first));
}

MemoryPath::Reply MemoryPath::read(Sm& sm, const AccessPlan& plan, const Requester& who, const Bytes& bytes,
                                   Ticks now) {
    const Rates& rates = chip_.rates;
    const double share = who.sms * who.stands_for;
    const double received = bytes.moved * plan.access->multicast_ctas;
    traffic_.received += received * share;
    stored_[static_cast<std::size_t>(plan.access->buffer)].use.read_bytes += bytes.opened * share;
    const Lookup lookup = look_up(plan, who, bytes, false, now);
    // Lines far apart hardly ask for the same at the same time.
    const bool merged = lookup.found.merged && plan.runs.size() <= 1;
    const bool own = !merged && plan.access->multicast_ctas == 1;
    double byte = own ? rates.port_own_byte : rates.port_in_byte;
    if (plan.most_port_byte > 0.0) byte = std::min(byte, plan.most_port_byte);
    const Ticks ported = sm.port_in.serve(
        now, ticks_of(received * byte + plan.port_rows * bytes.part * plan.access->multicast_ctas));
    Ticks near = ticks_of(rates.latency_l2);
    if (merged) {
        Reply reply{std::max(ported + near, lookup.found.arrives), near};
        reply.held = reply.done;
        return reply;
    }
    // Of equal requests of several SMs, some join others that are under way.
    const double times = asked_by(plan, who);
    const double asking = times > 1.0 && plan.runs.size() <= 1 ? l2_.asking(times) : 1.0;
    traffic_.l2_read += bytes.asked * asking * share;
    const Ticks even = ticks_of(bytes.asked * asking * who.sms * rates.l2_byte);
    Ticks served = std::max(ported, chip_.l2.serve(now, even));
    served = std::max(served, ask_fullest(plan, even, now));
    const Place place = place_of(plan, who);
    const L2Slices::Passed passed = chip_.slices.pass(place, bytes.asked * who.sms * part_,
                                                      rates.l2_byte / visits_, who.sm, now, times, asking);
    served = std::max(served, passed.end);
    if (!passed.far) near = ticks_of(rates.latency_near);
    near += plan.late;
    Ticks latency = near;
    const Ticks from_l2 = served + near;
    if (lookup.fetched > 0.0 && !found_from_start(plan, place)) {
        const double fetched = lookup.fetched;
        traffic_.dram_read += fetched * share;
        const Ticks brought = fetch(plan, who, fetched, place, now);
        if (lookup.waits && !plan.by_others) {
            served = std::max(served, brought);
            latency = ticks_of(rates.latency_dram) - chip_.banks.mean_service();
        }
        write_back(who, now);
    }
    const Ticks done = std::max(served + latency, lookup.found.arrives);
    if (!plan.scattered && !plan.local) {
        each_run(plan, who, [&](const Blocks& blocks) {
            for (std::uint64_t block = blocks.first; block <= blocks.last; ++block) {
                l2_.in_flight(block, done, times);
            }
        });
    }
    Reply reply{done, latency};
    reply.held = done;
    if (lookup.lost < 1.0) {
        const double behind = machine::share_behind(sm.places.most(), lookup.lost);
        reply.held = from_l2 + static_cast<Ticks>(behind * static_cast<double>(done - from_l2));
    }
    return reply;
}

MemoryPath::Reply MemoryPath::atomic(Sm& sm, const AccessPlan& plan, const Requester& who, Ticks now) {
    const Rates& rates = chip_.rates;
    const AtomicPlan& atomics = plan.atomics;
    const double lanes = who.lanes * who.enabled;
    const double share = who.sms * who.stands_for * lanes;
    const double changed = atomics.changed_bytes;
    const Ticks left = sm.port_out.serve(now, ticks_of(atomics.sent_bytes * lanes * rates.port_out_byte));
    Ticks served = std::max(left, chip_.atomics.serve(now, ticks_of(atomics.slices * lanes * who.sms)));
    if (plan.skew != 1.0) {
        const Ticks fullest = chip_.fullest.serve(now, ticks_of(atomics.fullest * lanes * who.sms));
        if (asks_fullest(plan)) served = std::max(served, fullest);
    }
    double latency = rates.latency_l2;
    // Operands enter the slices like stores, and the words that they change pass them like loads.
    const double in = atomics.payload_bytes * lanes * who.sms;
    const double out = changed * lanes * who.sms;
    chip_.l2.serve(now, ticks_of(in * rates.l2_stored_byte + out * rates.l2_byte));
    const Place place = place_of(plan, who);
    served = std::max(served, chip_.slices.take_in(place, in * part_, rates.l2_stored_byte, now));
    served =
        std::max(served, chip_.slices.pass(place, out * part_, rates.l2_byte / visits_, who.sm, now).end);
    const Lookup lookup = look_up(plan, who, {changed, changed, changed * lanes, lanes}, false, now);
    if (lookup.fetched > 0.0 && !found_from_start(plan, place)) {
        traffic_.dram_read += lookup.fetched * who.sms * who.stands_for;
        const Ticks brought = fetch(plan, who, lookup.fetched, place, now);
        if (lookup.waits) {
            served = std::max(served, brought);
            latency = rates.latency_dram - cycles_of(chip_.banks.mean_service());
        }
    }
    note_written(plan, changed * share, share);
    traffic_.l2_changed += changed * share;
    traffic_.l2_passes += atomics.passed_bytes * share;
    traffic_.l2_returned += atomics.returned_bytes * share;
    write_back(who, now);
    if (!atomics.waits) return {left, 0};
    const double returned = atomics.returned_bytes;
    traffic_.received += returned * share;
    served = std::max(served, sm.port_in.serve(now, ticks_of(returned * lanes * rates.port_in_byte)));
    served = std::max(served, chip_.atomic_returns.serve(now, ticks_of(atomics.returns * lanes * who.sms)));
    const Ticks back = ticks_of(latency + atomics.latency);
    return {served + back, back};
}

Ticks MemoryPath::write(Sm& sm, const AccessPlan& plan, const Requester& who, const Bytes& bytes, Ticks now,
                        Ticks& arrived) {
    const double share = who.sms * who.stands_for;
    note_written(plan, bytes.moved * share, bytes.part * share);
    const Ticks end = sm.port_out.serve(now, ticks_of(bytes.asked * chip_.rates.port_out_byte));
    const Ticks even = ticks_of(bytes.asked * who.sms * chip_.rates.l2_stored_byte);
    arrived = std::max(end, chip_.l2.serve(now, even));
    arrived = std::max(arrived, ask_fullest(plan, even, now));
    if (plan.hot > 0.0)
        arrived = std::max(arrived, chip_.fullest.serve(now, ticks_of(plan.hot * bytes.part * who.sms)));
    arrived = std::max(arrived, chip_.slices.take_in(place_of(plan, who), bytes.asked * who.sms * part_,
                                                     chip_.rates.l2_stored_byte, now));
    (void)look_up(plan, who, bytes, true, now);
    fill(who, now);
    write_back(who, now);
    return end;
}

bool MemoryPath::carried_out(const AccessPlan& plan, const Requester& who) const {
    const kernel::Access& access = *plan.access;
    if (!plan.by_lanes || access.rank != 1) return false;
    kernel::Coordinates first = *who.at;
    std::fill(std::begin(first.loop), std::end(first.loop), 0);
    const std::int64_t begin = begin_of(kernel_, access, first);
    const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
    return 0 <= begin && begin < kernel::span_elements(buffer);
}

MemoryPath::Reply MemoryPath::access(Sm& sm, const kernel::Op& op, const OpPlan& plan,
                                     const AccessPlan& access, const Requester& from, Ticks now) {
    Requester who = from;
    const kernel::AccessBytes bytes =
        kernel::access_bytes(kernel_, op, *access.access, *who.at, who.execution);
    // A box is moved once by the warps that share it. A bulk copy, which one lane issues, is moved by each
    // warp that a branch lets through.
    const bool alone = plan.bulk && who.chosen;
    const double amount = !access.collective ? op.active * who.lanes
                          : alone            ? 1.0
                                             : 1.0 / access.sharing_warps;
    if (bytes.inside <= 0.0 && carried_out(access, who)) who.chosen = true;
    // Predicates guard the edges of buffers, so enabled executions lie inside.
    const double clipped =
        who.enabled < 1.0 || (who.chosen && access.by_lanes) ? bytes.requested : bytes.inside;
    const double inside = clipped * amount * who.enabled;
    Reply reply{now, 0};
    if (inside <= 0.0) {
        return reply;
    }
    if (access.atomic) {
        return atomic(sm, access, who, now);
    }
    const std::int32_t copies = access.access->multicast_ctas;
    // Share of the lanes that are active and inside of the buffer.
    const double part = bytes.requested > 0.0 ? inside / bytes.requested : 0.0;
    if (access.reads) {
        if (access.by_lanes) {
            const double missed = misses(sm, access);
            if (missed <= 0.0) return {found(sm, access, who, now), ticks_of(chip_.rates.latency_l1)};
            const double share = part * missed;
            reply = read(sm, access, who,
                         {access.moved * share, access.asked * share, access.opened * share, part}, now);
            reply.lines = access.lines_under_way * share;
            note_arrival(access, who, reply.done);
        } else {
            const double fetched = inside * access.fetched_per_requested;
            reply = read(sm, access, who, {fetched, fetched, fetched, part}, now);
        }
    }
    if (access.writes) {
        const double sent = access.by_lanes
                                ? access.sent * part
                                : inside * (access.collective ? access.fetched_per_requested : 1.0);
        const double kept = access.by_lanes ? std::min(inside, access.kept * part) : inside;
        reply.done =
            std::max(reply.done, write(sm, access, who, {kept, sent, kept, part}, now, reply.arrived));
    }
    if (plan.copies && !plan.into_banks) {
        reply.done = std::max(
            reply.done,
            reply.latency + sm.shared_write.serve(now, ticks_of(inside * copies * chip_.rates.shared_byte)));
    }
    if (plan.bulk) {
        const double lines = access.lines * clipped / bytes.requested * amount;
        const Ticks walked = sm.tma.serve(now, ticks_of(lines * copies * chip_.rates.tma_row));
        reply.done = std::max(reply.done, reply.latency + walked) + ticks_of(chip_.rates.latency_bulk);
    }
    return reply;
}

void MemoryPath::begin(std::uint32_t slot) {
    if (waited_ == 0) return;
    if (arrivals_.size() < (slot + 1) * waited_) arrivals_.resize((slot + 1) * waited_);
    std::fill_n(arrivals_.begin() + static_cast<std::ptrdiff_t>(slot * waited_), waited_, Arrival{});
}

void MemoryPath::note_arrival(const AccessPlan& plan, const Requester& who, Ticks done) {
    if (waited_ == 0) return;
    const auto buffer = static_cast<std::size_t>(plan.access->buffer);
    Arrival& of_buffer = arrivals_[who.slot * waited_ + buffer];
    of_buffer.first = of_buffer.execution < 0 ? done : std::min(of_buffer.first, done);
    of_buffer.last = std::max(of_buffer.last, done);
    of_buffer.execution = 0;
    Arrival& own = arrivals_[who.slot * waited_ + kernel_.buffers.size() + plan.place];
    own.last = own.execution == who.execution ? std::max(own.last, done) : done;
    own.execution = who.execution;
}

Ticks MemoryPath::found(Sm& sm, const AccessPlan& plan, const Requester& who, Ticks now) {
    const Ticks there = now + ticks_of(chip_.rates.latency_l1);
    if (waited_ == 0 || plan.access->reuse == 0) return there;
    if (plan.straight) {
        // All that the CTA has touched of the buffer may still be under way.
        const Arrival& of_buffer =
            arrivals_[who.slot * waited_ + static_cast<std::size_t>(plan.access->buffer)];
        return of_buffer.execution >= 0 && now < of_buffer.first ? std::max(there, of_buffer.last) : there;
    }
    if (!(plan.together > 0.0)) return there;
    const Arrival& own = arrivals_[who.slot * waited_ + kernel_.buffers.size() + plan.place];
    if (own.execution != who.execution) return there;
    sm.together_turns.resize(kernel_.accesses.size());
    double& turn = sm.together_turns[plan.place];
    turn += std::min(1.0, plan.together / plan.all_hits);
    if (turn < 1.0) return there;
    turn -= 1.0;
    return std::max(there, own.last);
}

bool MemoryPath::asks_fullest(const AccessPlan& plan) {
    double& turn = fullest_turns_[plan.place];
    turn += plan.in_fullest;
    if (turn < 1.0) return false;
    turn -= 1.0;
    return true;
}

Ticks MemoryPath::ask_fullest(const AccessPlan& plan, Ticks even, Ticks now) {
    if (!skewed_) return now;
    if (plan.skew == 1.0) {
        (void)chip_.fullest.serve(now, even);
        return now;
    }
    const Ticks end = chip_.fullest.serve(now, ticks_of(cycles_of(even) * plan.skew));
    return asks_fullest(plan) ? end : now;
}

double MemoryPath::misses(Sm& sm, const AccessPlan& plan) {
    if (plan.hits <= 0.0) return 1.0;
    sm.hit_turns.resize(kernel_.accesses.size());
    double& turn = sm.hit_turns[plan.place];
    turn += plan.all_hits;
    if (turn >= 1.0) {
        turn -= 1.0;
        return 0.0;
    }
    return plan.all_hits < 1.0 ? (1.0 - plan.hits) / (1.0 - plan.all_hits) : 0.0;
}

}  // namespace warptime::model::simulation
