// Durations of one execution of each op at every unit. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/op_plan.hpp"

#include "hw/error.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/code_size.hpp"
#include "model/kernel/matrix_work.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/atomics/atomic_service.hpp"
#include "model/machine/atomics/atomics.hpp"
#include "model/machine/cluster/cluster.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/dram/filled_sectors.hpp"
#include "model/machine/dram/lone_pieces.hpp"
#include "model/machine/issue/instruction_fetch.hpp"
#include "model/machine/issue/op_issue.hpp"
#include "model/machine/issue/operand_turns.hpp"
#include "model/machine/issue/predicate_latency.hpp"
#include "model/machine/l1/access_demand.hpp"
#include "model/machine/l1/constants.hpp"
#include "model/machine/l1/l1_neighbours.hpp"
#include "model/machine/l1/l1_room.hpp"
#include "model/machine/l1/l1_share.hpp"
#include "model/machine/l1/lane_copies.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l1/load_waits.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l1/row_lanes.hpp"
#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/l1/sectors_in_use.hpp"
#include "model/machine/l1/texture.hpp"
#include "model/machine/l2/crossbar.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/machine/l2/l2_room.hpp"
#include "model/machine/l2/others_on_sm.hpp"
#include "model/machine/l2/scattered_reads.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/waves.hpp"
#include "model/machine/shared/matrix_rows.hpp"
#include "model/machine/shared/shared.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warptime::model::simulation {

using hw::InstructionClass;
using hw::Unit;
using kernel::Access;
using kernel::Kernel;
using kernel::Op;
using kernel::PatternKind;

namespace {

/// Share of a read buffer that is in the L2 from the start: caches are warm, all read buffers fit together,
/// and what came since has not pushed it out. `touched`: distinct bytes of the kernel.
double starts_in_l2(const kernel::Buffer& buffer, const prediction::Conditions& conditions, bool fits,
                    double touched, const hw::Gpu& gpu) {
    if (!fits) return 0.0;
    if (buffer.contents == kernel::Contents::written_by && buffer.before == kernel::Before::warm) {
        const auto own = static_cast<double>(buffer.bytes());
        return 1.0 - machine::lost_since_left(own, touched, static_cast<double>(buffer.since_bytes), gpu);
    }
    if (buffer.before == kernel::Before::warm) return 1.0;
    if (buffer.before != kernel::Before::by_conditions || conditions.cache != prediction::Cache::warm)
        return 0.0;
    return 1.0 - machine::lost_between(prediction::touched_between(conditions, buffer.name), touched, gpu);
}

class Planner {
  public:
    Planner(const Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
            KernelPlan& plan)
        : kernel_(kernel),
          gpu_(gpu),
          cache_(conditions.cache),
          conditions_(conditions),
          plan_(plan),
          stores_(kernel.buffers.size()),
          reach_(kernel.buffers.size()) {
        std::vector<bool> read(kernel.buffers.size()), touched(kernel.buffers.size());
        for (const Access& access : kernel.accesses) {
            if (!machine::is_global(kernel, access)) continue;
            const auto buffer = static_cast<std::size_t>(access.buffer);
            touched[buffer] = true;
            if (access.direction != kernel::Direction::write) read[buffer] = true;
        }
        double footprint = 0.0;
        for (std::size_t b = 0; b < read.size(); ++b) {
            const double bytes =
                static_cast<double>(kernel.buffers[b].elements()) * hw::bytes_of(kernel.buffers[b].dtype);
            footprint += read[b] ? bytes : 0.0;
            touched_bytes_ += touched[b] ? bytes : 0.0;
        }
        for (const kernel::Role& role : kernel.roles) {
            warps_ += role.warps * role.instances;
        }
        tensor_cores_read_ = has(InstructionClass::wgmma) || has(InstructionClass::tcgen05_mma);
        barriers_described_ = has(InstructionClass::mbarrier_try_wait);
        shares_path_ = !narrow_rows_ && std::none_of(kernel.ops.begin(), kernel.ops.end(), [&](const Op& op) {
            return machine::is_asynchronous_copy(op.cls) ||
                   (op.cls == InstructionClass::ld_global && op.access_count == 1 &&
                    kernel.accesses[op.first_access].pattern == PatternKind::collective);
        });
        boxes_of_lines_ = kernel.cluster.volume() == 1 && machine::boxes_of_lines(kernel, gpu);
        fits_ = footprint <= machine::room_for_all(gpu);
    }

    void add(const kernel::Role& role, const Op& op, const kernel::Freedom& free, double lanes,
             std::size_t depth, OpPlan& p) {
        free_ = &free;
        lanes_ = lanes;
        depth_ = depth;
        const hw::InstructionCost& cost = gpu_.instructions[op.cls];
        const auto count = static_cast<double>(op.count);
        p.instructions = count * cost.machine.value();
        p.issue = ticks_of(p.instructions);
        const bool apart = machine::is_matrix(op.cls);
        p.ports = apart ? 0 : ticks_of(p.instructions * machine::port_turns(op.cls, gpu_));
        p.pipe = static_cast<std::uint8_t>(cost.unit);
        const double held = std::max(cost.interval.value(), machine::operand_turns(op, gpu_));
        p.pipe_time = cost.unit == Unit::none ? 0 : ticks_of(p.instructions * held);
        p.last_interval =
            cost.unit == Unit::tensor ? 0 : ticks_of(std::max(1.0, cost.unit == Unit::none ? 0.0 : held));
        if (cost.unit == Unit::sfu) p.passed_on = p.last_interval - ticks_of(1.0);
        p.links = std::max<std::int64_t>(1, std::min(op.chain, op.count));
        p.copies = machine::is_asynchronous_copy(op.cls);
        p.bulk = machine::is_bulk_copy(op.cls);
        // Where the description has the barriers' instructions, they are most of a turn already.
        if (p.bulk && op.cls != InstructionClass::cp_async_bulk_store && !barriers_described_) {
            p.turn = ticks_of(gpu_.pipeline.step_floor.value());
        }
        // A plain load that completes a token parks in registers until the wait.
        p.asynchronous = p.copies || hw::is_group_product(op.cls) || op.completes != kernel::no_id;
        p.has_result = !p.copies && op.returns && op.cls != InstructionClass::st_global &&
                       op.cls != InstructionClass::red_global && op.cls != InstructionClass::st_shared &&
                       op.cls != InstructionClass::st_local && op.cls != InstructionClass::stmatrix;
        p.queued = hw::is_group_product(op.cls);
        p.drains = op.cls == InstructionClass::fence;
        p.holds_warp = machine::is_meeting(op.cls) || op.cls == InstructionClass::branch || p.drains ||
                       op.cls == InstructionClass::nanosleep;
        if (op.cls == InstructionClass::st_global) {
            // Words that CTAs hand to each other lie in lines that the L2 has.
            const bool kept = kernel_.hand_overs.wait != kernel::no_id && op.access_count == 1 &&
                              kernel_.accesses[op.first_access].cache == kernel::CachePolicy::cg;
            p.acknowledged = ticks_of((kept ? gpu_.latency.l2_far : gpu_.latency.store).value());
        }
        if (op.cls == InstructionClass::cp_async_bulk_store)
            p.acknowledged = ticks_of(gpu_.latency.bulk_store.value());
        p.waits_for_memory = machine::is_load(op.cls);
        p.flop = kernel::flop_of(op) * count * op.active;
        double latency = machine::latency_in_sm(op, kernel_, warps_, gpu_).value();
        double shared = 0.0;
        if (machine::is_matrix(op.cls)) {
            add_matrix(op, p, shared);
            if (op.cls == InstructionClass::mma_sync) {
                // Share of its time in which nothing else issues in its sub-partition.
                const double keeps =
                    kernel::matrix_interval(op, gpu_).value() * gpu_.tensor.mma_sync_issue.value();
                p.last_interval = ticks_of(std::max(1.0, keeps));
                p.special = ticks_of(count * machine::kept_from_special_functions(gpu_).value());
                p.issue = std::max(p.issue, ticks_of(count * keeps));
            }
        } else if (machine::is_load(op.cls)) {
            latency = p.bulk || p.copies                  ? 0.0
                      : cache_ == prediction::Cache::warm ? gpu_.latency.l2_far.value()
                                                          : gpu_.latency.dram.value();
        } else if (machine::moves_matrices(op)) {
            const machine::MatrixRows rows = machine::matrix_rows(kernel_, op, machine::banks_of(gpu_));
            shared = count * rows.passes * gpu_.shared.banks.value() * gpu_.shared.bank_width.value();
            const double path = machine::path_passes(op, rows);
            p.pipe_time = ticks_of(p.instructions * cost.interval.value() * path);
            p.last_interval = ticks_of(cost.interval.value() * path);
        } else if (machine::is_meeting(op.cls)) {
            p.barrier = ticks_of(count * cost.interval.value());
            p.pipe_time = 0;
        }
        if (cost.unit == Unit::shuffle) {
            // Shuffles take the path to shared memory, too.
            shared = p.instructions * cost.interval.value() / gpu_.sm.sub_partitions.value() *
                     gpu_.shared.bandwidth.value();
        }
        p.latency = ticks_of(latency * static_cast<double>(p.links));
        const bool through_l1 =
            machine::is_load(op.cls) && !p.bulk && op.cls != InstructionClass::atom_global;
        double l1 = through_l1 ? count * l1_cycles(role, op) : 0.0;
        if (op.cls == InstructionClass::st_local && op.access_count == 1) {
            // Stores go on to the L2, and loads come behind them.
            l1 = count * 32.0 * kernel_.accesses[op.first_access].bytes / gpu_.l2.write_bandwidth.value();
        }
        if (op.cls == InstructionClass::ld_global && through_l1 && op.access_count == 1 &&
            kernel_.accesses[op.first_access].pattern != PatternKind::collective) {
            take_path(op, path_passes_of_load(role, op), p);
        }
        if (op.cls == InstructionClass::cp_async && op.access_count == 1 &&
            kernel_.accesses[op.first_access].pattern == PatternKind::collective &&
            !machine::in_narrow_rows(kernel_.accesses[op.first_access])) {
            add_lane_copies(role, op, l1, shared);
            p.into_banks = !tensor_cores_read_;
        }
        shared += count * data_passes(role, op) * gpu_.shared.bandwidth.value();
        add_accesses(role, op, p, shared);
        if (p.waits_for_memory && p.access_count > 0) {
            p.latency = 0;
        }
        p.shared = ticks_of(shared / gpu_.shared.bandwidth.value());
        if (op.cls == InstructionClass::ld_constant) {
            p.constants = ticks_of((machine::constant_cycles(kernel_, op, gpu_) * count).value());
            const double addresses = machine::constant_addresses(kernel_, op);
            p.constants_missed =
                std::min(1.0, machine::constants_missed(kernel_, op, gpu_) * count * addresses);
            p.constants_wait = ticks_of(std::max(0.0, gpu_.latency.constant.value() - latency));
        }
        if (op.texture != kernel::TextureUse::none) {
            p.texture = ticks_of((machine::texture_cycles(kernel_, op, gpu_) * count).value());
            p.texture_wait = ticks_of(gpu_.latency.texture.value());
        }
        if (machine::goes_to_peers(kernel_, op)) {
            p.cluster = ticks_of((machine::peer_cycles(kernel_, op, gpu_) * count).value());
        }
        // Narrow loads and shared memory take the path to the one array in turn.
        if (narrow_rows_) l1 += shared / gpu_.shared.bandwidth.value();
        p.l1 = ticks_of(l1);
    }

    /// Once all ops have been added: what the accesses to each buffer reach together.
    void set_reach() {
        for (AccessPlan& a : plan_.accesses) {
            const auto buffer = static_cast<std::size_t>(a.access->buffer);
            a.whole = reach_[buffer].bytes(machine::bytes_in_use(kernel_.buffers[buffer], 1.0));
            a.completed =
                machine::are_completed(stores_[buffer].written, std::min(stores_[buffer].parted, a.whole));
            if (a.access->pattern == PatternKind::listed && a.part > 0.0) {
                const Places& places = places_[buffer];
                const double lines = std::max(1.0, places.span / pieces_.line);
                const double parts = machine::parts_of_line(a.part, places.sectors, gpu_);
                a.reach = lines * std::min(pieces_.line, parts * a.part);
                a.reach_lines = lines * pieces_.line;
            }
        }
    }

  private:
    /// Executions of the op that is being added, by all warps of the grid.
    [[nodiscard]] double executions(const kernel::Role& role) const {
        double times = static_cast<double>(kernel_.schedule.item_count()) * role.warps *
                       (role.alternate ? 1 : role.instances);
        for (const double further : free_->loop) times *= further + 1.0;
        return times;
    }

    [[nodiscard]] bool has(InstructionClass cls) const {
        return std::any_of(kernel_.ops.begin(), kernel_.ops.end(),
                           [cls](const Op& op) { return op.cls == cls; });
    }

    /// Lanes' copies of a warp's share of a box: their lines pass the L1, and their bytes its array, which is
    /// also the shared memory. Tensor cores that read there by themselves leave the copies room.
    void add_lane_copies(const kernel::Role& role, const Op& op, double& l1, double& shared) const {
        const Access& access = kernel_.accesses[op.first_access];
        const machine::AccessBytes bytes = machine::access_bytes(kernel_, access);
        const machine::AccessBytes served =
            access.cache == kernel::CachePolicy::cg ? bytes.on_sectors(gpu_.l1.sector.value()) : bytes;
        const double share = 1.0 / kernel::box_share(kernel_, role, op, access).warps(role);
        machine::Part part;
        machine::BufferTraffic traffic;
        machine::add_lane_copies(access, served.rows * share, served.row_bytes, served.pitch_bytes, 1.0,
                                 tensor_cores_read_, gpu_, part, traffic);
        l1 = part.demand[machine::Server::l1].value();
        shared += part.demand[machine::Server::shared].value() * gpu_.shared.bandwidth.value();
        const double written = bytes.full * op.active * share;
        if (!tensor_cores_read_) shared += written;
        if (tensor_cores_read_ && role.warps * (role.alternate ? 1 : role.instances) > 4)
            shared += written * gpu_.shared.copy_share.value();
    }

    /// Loads, stores and shared memory share a data path. Passes of global loads and stores through it.
    double data_passes(const kernel::Role& role, const Op& op) const {
        if (!shares_path_ || op.access_count != 1) return 0.0;
        const Access& access = kernel_.accesses[op.first_access];
        if (access.pattern == PatternKind::collective || access.direction == kernel::Direction::atomic ||
            !machine::is_global(kernel_, access)) {
            return 0.0;
        }
        const double active = op.active * lanes_;
        const machine::LaneTouch touch =
            machine::touched_by_share(machine::touch_of(kernel_, access, 1.0, pieces_), active);
        if (access.direction == kernel::Direction::write) return machine::store_passes(touch);
        if (!machine::is_taken_by_line(op, access)) return 0.0;
        return machine::load_passes(touch, access.bytes, l1_hits(role, op), gpu_, active);
    }

    /// Cycles of one instruction: lanes of a pattern take a line a cycle, or the time of their bytes.
    double l1_cycles(const kernel::Role& role, const Op& op) const {
        if (op.access_count == 1 && machine::in_narrow_rows(kernel_.accesses[op.first_access])) {
            const Access& access = kernel_.accesses[op.first_access];
            const bool copies = op.cls == InstructionClass::cp_async;
            const double written = copies ? 32.0 * access.bytes * machine::copy_pieces(kernel_, access) : 0.0;
            return machine::row_load_cycles(kernel_, access, copies, gpu_.l1.tag_interval.value(),
                                            gpu_.l1.tags.value(), pieces_) +
                   written / gpu_.shared.bandwidth.value();
        }
        const bool plain = op.access_count == 1 && op.cls != InstructionClass::cp_async &&
                           machine::is_taken_by_line(op, kernel_.accesses[op.first_access]);
        if (plain && kernel_.accesses[op.first_access].pattern != PatternKind::collective) {
            const Access& access = kernel_.accesses[op.first_access];
            const double active = op.active * lanes_;
            return machine::line_load_cycles(
                machine::touched_by_share(machine::touch_of(kernel_, access, 1.0, pieces_), active),
                access.bytes, l1_hits(role, op), gpu_, active);
        }
        return gpu_.l1.request_interval.value();
    }

    [[nodiscard]] bool may_meet_neighbours(const Op& op) const {
        return op.cls == InstructionClass::ld_global && op.access_count == 1;
    }

    /// Share of an op's reads that the L1 serves.
    double l1_hits(const kernel::Role& role, const Op& op) const {
        const double own = own_hits(role, op, 1.0);
        return may_meet_neighbours(op) ? own + (1.0 - own) * neighbours_.found(op.first_access) : own;
    }

    /// Share of its warps that find all of their `lines` there. Scattered lines are found one by one, lines
    /// of the same slice together.
    double whole_hits(const kernel::Role& role, const Op& op, double lines) const {
        const double own = own_hits(role, op, lines);
        if (!may_meet_neighbours(op)) return own;
        const PatternKind pattern = kernel_.accesses[op.first_access].pattern;
        const bool apart = pattern == PatternKind::random || pattern == PatternKind::listed;
        const double found = neighbours_.found_at_once(op.first_access);
        return own + (1.0 - own) * (apart ? std::pow(found, lines) : found);
    }

    /// Share of an op's reads that the L1 serves with what the CTA has read before, or of the warps that find
    /// so many lines.
    double own_hits(const kernel::Role& role, const Op& op, double lines) const {
        if (!machine::may_hit_l1(kernel_, op)) return 0.0;
        return machine::l1_hit_share(kernel_, op,
                                     {*free_, static_cast<double>(role.warps * role.instances), lanes_, room_,
                                      gpu_.l1.line.value(), gpu_.cache.ways.value()},
                                     lines);
    }

    /// Each warp's tensor core does its warp's part: for a wgmma a quarter, with a quarter of the operands.
    void add_matrix(const Op& op, OpPlan& p, double& shared) {
        const bool wgmma = hw::is_group_product(op.cls);
        if (hw::tensor_rate(op.dtype, gpu_).value() <= 0.0) {
            throw Error(gpu_.id + " tensor rate", std::string(hw::to_string(op.dtype)),
                        "a type that its tensor cores multiply");
        }
        p.flop = p.tensor_flop = kernel::flop_of(op) * static_cast<double>(op.count);
        p.pipe = static_cast<std::uint8_t>(Unit::tensor);
        p.pipe_time = ticks_of(kernel::matrix_interval(op, gpu_).value() * static_cast<double>(op.count));
        if (wgmma) {
            shared = static_cast<double>(op.count) * kernel::wgmma_operand_bytes(op) / 4.0;
        }
        plan_.uses_tensor = true;
        plan_.tensor_rate = hw::tensor_rate(op.dtype, gpu_).value();
    }

    void add_accesses(const kernel::Role& role, const Op& op, OpPlan& p, double& shared) {
        bool passes_known = false;
        p.first_access = plan_.accesses.size();
        for (const Access& access : kernel_.accesses_of(op)) {
            if (machine::is_global(kernel_, access)) {
                plan_.accesses.push_back(access_plan(role, op, access));
                plan_.accesses.back().place = plan_.accesses.size() - 1;
                machine::note_reach(kernel_, op, access, *free_,
                                    reach_[static_cast<std::size_t>(access.buffer)]);
            } else if (machine::is_shared(op.cls) && !machine::moves_matrices(op) &&
                       access.pattern != PatternKind::collective && access.buffer != kernel::no_id) {
                passes_known = true;
                add_passes(op, access, p, shared);
            }
        }
        p.access_count = plan_.accesses.size() - p.first_access;
        for (std::size_t i = p.first_access; i < plan_.accesses.size(); ++i) {
            const AccessPlan& a = plan_.accesses[i];
            p.lines += a.lines_under_way * op.active * lanes_ * (1.0 - a.hits);
        }
        plan_.uses_bulk = plan_.uses_bulk || (p.bulk && p.access_count > 0);
        plan_.loads = plan_.loads || p.waits_for_memory;
        if (machine::is_shared(op.cls) && !machine::moves_matrices(op) && !passes_known) {
            shared += static_cast<double>(op.count) * machine::widest_shared_bytes;
        }
    }

    /// Passes over the banks, and the turns that they take on the sub-partition's path to the banks.
    void add_passes(const Op& op, const Access& access, OpPlan& p, double& shared) const {
        const double passes = machine::shared_passes(op, access, kernel_, gpu_);
        shared += static_cast<double>(op.count) * passes * gpu_.shared.bandwidth.value();
        const bool counted = op.cls == InstructionClass::atom_shared && !op.returns;
        if (counted) return;
        take_path(op, passes, p);
    }

    /// Passes over the array, or through the tags, that a load through the L1 takes.
    double path_passes_of_load(const kernel::Role& role, const Op& op) const {
        const machine::LaneTouch touch =
            machine::touch_of(kernel_, kernel_.accesses[op.first_access], op.active, pieces_);
        const double hits = l1_hits(role, op);
        return touch.lines * (1.0 - hits) + machine::hit_cycles(touch, gpu_) * hits;
    }

    void take_path(const Op& op, double passes, OpPlan& p) const {
        const double path = machine::path_cycles(passes, gpu_).value();
        const Ticks turns = ticks_of(path * p.instructions);
        if (turns <= p.pipe_time) return;
        // Stores queue on the path and let their warp go on.
        if (op.cls == InstructionClass::st_shared) p.passed_on = turns - p.pipe_time;
        p.pipe_time = turns;
        // The last of several passes of a load is under way once the pass before has gone through.
        const double last =
            machine::is_load(op.cls) ? std::min(path, machine::path_cycles(1.0, gpu_).value()) : path;
        p.last_interval = std::max(p.last_interval, ticks_of(last));
    }

    AccessPlan access_plan(const kernel::Role& role, const Op& op, const Access& access) {
        const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
        const double size = hw::bytes_of(buffer.dtype);
        const double sector = gpu_.l1.sector.value();
        AccessPlan a;
        a.access = &access;
        // The first bytes of copies by lanes come later from the L2 than a load's.
        if (op.cls == InstructionClass::cp_async) a.late = ticks_of(gpu_.latency.cp_async_l2.value());
        a.reads = access.direction != kernel::Direction::write;
        a.writes = access.direction != kernel::Direction::read;
        a.atomic = access.direction == kernel::Direction::atomic;
        a.local = machine::is_local(buffer);
        if (a.atomic) {
            a.atomics = atomic_plan(kernel_, op, access, window_of(access.buffer), gpu_);
            if (access.pattern == PatternKind::listed) {
                const machine::AtomicTouch touch = machine::atomic_touch(kernel_, access, op.active, pieces_);
                note_lines(access, static_cast<double>(op.count), touch.lines, touch.sectors, a);
            }
            note_skew(access, static_cast<double>(op.count), a);
        }
        a.collective = access.pattern == PatternKind::collective;
        a.starts_in_l2 = starts_in_l2(buffer, conditions_, fits_, touched_bytes_, gpu_);
        a.by_others = machine::written_by_others(kernel_, op);
        switch (access.pattern) {
            case PatternKind::collective: {
                a.share = kernel::box_share(kernel_, role, op, access);
                a.sharing_warps = a.share.warps(role);
                for (std::size_t d = 1; d < access.rank; ++d) {
                    a.rows *= static_cast<double>(access.box[d]);
                }
                const double row = static_cast<double>(access.box[0]) * size;
                const auto pitch = static_cast<std::int64_t>(static_cast<double>(buffer.stride[1]) * size);
                if (op.cls == InstructionClass::cp_async_bulk_tensor) {
                    if (boxes_of_lines_) a.most_port_byte = 1.0 / gpu_.l2.box_bandwidth.value();
                    a.port_rows = machine::short_rows_cycles(a.rows, row, gpu_).value();
                }
                if (a.rows > 1.0 && row < static_cast<double>(pitch)) {
                    a.row_bytes = machine::sector_bytes_per_row(row, pitch, sector);
                    a.pitch_bytes = pitch;
                }
                const double rows_of_warp = std::max(1.0, a.rows / a.sharing_warps);
                a.warp_bytes = static_cast<std::int64_t>(
                    rows_of_warp * (a.pitch_bytes > 0 ? static_cast<double>(pitch) : row));
                a.in_rows = a.rows > 1.0 && row < static_cast<double>(pitch);
                a.lines = a.rows * machine::lines_per_row(row, pitch, gpu_.l1.line.value());
                a.fetched_per_requested = machine::sector_bytes_per_row(row, pitch, sector) / row;
                break;
            }
            default:
                add_lanes(role, op, access, a);
                break;
        }
        return a;
    }

    void add_lanes(const kernel::Role& role, const Op& op, const Access& access, AccessPlan& a) {
        const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
        const std::int64_t size = hw::bytes_of(buffer.dtype);
        const machine::AccessBytes bytes = machine::access_bytes(kernel_, access);
        // Requests multiply by the share of active lanes.
        const double active = op.active * lanes_;
        const machine::AccessDemand demand =
            machine::access_demand(kernel_, op, access, bytes, bytes, pieces_, gpu_, active);
        const double count = static_cast<double>(op.count) / active;
        a.by_lanes = true;
        a.moved = count * demand.moved;
        a.asked = count * demand.asked;
        a.opened = count * demand.opened;
        a.sent = count * demand.sent * (1.0 - access.joined);
        a.kept = count * std::min(demand.useful, bytes.inside);
        a.straight = depth_ == 0;
        if (op.cls == InstructionClass::ld_global || op.cls == InstructionClass::st_global)
            note_skew(access, count * demand.touch.lines, a);
        if (a.straight && access.pattern == PatternKind::stride)
            a.strided_lines = count * demand.touch.lines * pieces_.line;
        if (a.strided_lines > 0.0 && a.opened > 0.0) a.gaps = std::max(0.0, a.strided_lines / a.opened - 1.0);
        if (a.writes && access.pattern == PatternKind::listed && !a.local)
            note_lines(access, count, demand.touch.lines, demand.touch.sectors, a);
        if (a.local && a.writes) a.local_sectors = count * demand.touch.sectors * pieces_.sector;
        if (access.pattern == PatternKind::broadcast && op.cls == InstructionClass::st_global) {
            const double sent =
                count * (1.0 - access.joined) * (demand.touch.sectors + demand.touch.parted) * pieces_.sector;
            const double items = machine::items_at_work(kernel_, gpu_);
            const machine::Window window = machine::window_in_step(kernel_, role, op, access, items);
            a.hot = machine::hot_store_cycles({sent, window}, 1.0, gpu_).value();
            plan_.skewed = plan_.skewed || a.hot > 0.0;
        }
        if (a.local && a.writes && access.pattern == PatternKind::listed) {
            const double of_line = demand.touch.sectors * pieces_.sector / demand.touch.lines;
            a.again_apart = pieces_.granule / pieces_.sector *
                            machine::lone_share(of_line, pieces_.granule, pieces_.line);
        }
        if (op.cls == InstructionClass::st_global) {
            machine::BufferTraffic stores;
            machine::note_parted(demand.touch, count, gpu_, stores);
            a.parted = stores.parted_bytes;
            if (access.pattern == kernel::PatternKind::listed)
                a.apart = machine::bytes_apart(kernel_, access);
            const double times = executions(role) * active;
            Stores& all = stores_[static_cast<std::size_t>(access.buffer)];
            all.parted += times * a.parted;
            all.written += times * a.kept;
        }
        if (a.reads && !a.atomic) {
            a.hits = l1_hits(role, op);
            a.all_hits = a.hits > 0.0 ? std::min(a.hits, whole_hits(role, op, demand.touch.lines)) : 0.0;
            if (!a.straight && access.reuse > 0 && role.warps > 1)
                a.together = kernel_.reuse[access.reuse - 1U].together;
            const bool copies = machine::is_asynchronous_copy(op.cls);
            if (machine::is_load(op.cls) && !copies && machine::is_taken_by_line(op, access))
                a.lines_under_way = count * demand.touch.lines;
        }
        a.scattered = access.pattern == PatternKind::random || access.pattern == PatternKind::listed ||
                      access.pattern == PatternKind::stream;
        if (a.scattered && demand.touch.lines > 0.0) {
            a.part = std::max(demand.opened / demand.touch.lines, 1.0);
            a.alone = machine::lone_share(a.part, pieces_.granule, pieces_.line);
        }
        if (a.reads && access.pattern == PatternKind::listed) {
            Places& places = places_[static_cast<std::size_t>(access.buffer)];
            places.span = std::max(places.span, static_cast<double>(access.distinct * size));
            places.sectors |= machine::sectors_in_use(kernel_, access, pieces_);
        }
        a.reach = static_cast<double>(access.distinct * size);
        if (!(a.reach > 0.0)) a.reach = static_cast<double>(buffer.bytes());
        for (std::int64_t lane = 0; access.pattern == PatternKind::stride && lane < 32; ++lane) {
            const std::int64_t at =
                (lane % access.inner_extent * access.inner + lane / access.inner_extent * access.outer) *
                size;
            a.low = std::min(a.low, at);
            a.high = std::max(a.high, at);
        }
        if (access.pattern == PatternKind::contiguous) a.high = std::int64_t{31} * access.bytes;
        a.high += access.bytes + (op.count - 1) * access.step * size;
        // Few lines that lie side by side, at least half of them touched.
        constexpr double most_lines = 8.0;
        const double lines = static_cast<double>(a.high - a.low) / pieces_.line;
        const bool dense = lines <= most_lines && lines <= 2.0 * count * demand.touch.lines;
        if (dense) {
            a.runs = {{a.low, a.high}};
        } else if (access.pattern == PatternKind::stride) {
            a.runs = runs_of(access, op.count, size);
        }
        if (!dense && access.pattern == PatternKind::stride && demand.touch.lines > 1.0) {
            // Lanes far apart touch as many places, a stride apart.
            const bool within = std::abs(access.inner * size) >= static_cast<std::int64_t>(pieces_.line) &&
                                access.inner_extent > 1;
            a.pitch_bytes = (within ? access.inner : access.outer) * size;
            if (a.pitch_bytes != 0) a.row_bytes = demand.opened / demand.touch.lines;
        }
    }

    /// Bytes side by side that the lanes of a strided access touch. None where there are more than a warp has
    /// lanes.
    [[nodiscard]] std::vector<AccessPlan::Run> runs_of(const Access& access, std::int64_t count,
                                                       std::int64_t size) const {
        constexpr std::int64_t warp = 32;
        std::vector<AccessPlan::Run> all, runs;
        if (count > warp) return runs;
        for (std::int64_t lane = 0; lane < warp; ++lane) {
            const std::int64_t at =
                (lane % access.inner_extent * access.inner + lane / access.inner_extent * access.outer) *
                size;
            for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t first = at + i * access.step * size;
                all.push_back({first, first + access.bytes});
            }
        }
        std::sort(all.begin(), all.end(),
                  [](const AccessPlan::Run& x, const AccessPlan::Run& y) { return x.low < y.low; });
        const auto near = static_cast<std::int64_t>(pieces_.sector);
        for (const AccessPlan::Run& own : all) {
            if (!runs.empty() && own.low < runs.back().high + near) {
                runs.back().high = std::max(runs.back().high, own.high);
            } else {
                runs.push_back(own);
            }
        }
        if (runs.size() > static_cast<std::size_t>(warp)) runs.clear();
        return runs;
    }

    /// Which part of the executions ask the slice that is asked most.
    void note_skew(const Access& access, double lines, AccessPlan& a) {
        a.skew = access.skew;
        if (access.skew == 1.0) return;
        plan_.skewed = true;
        const double share = std::min(1.0, access.skew / machine::slices_of(gpu_));
        a.in_fullest = 1.0 - std::pow(1.0 - share, std::max(1.0, lines));
    }

    /// Lines that a store or an atomic at listed places makes dirty.
    void note_lines(const Access& access, double count, double lines, double sectors, AccessPlan& a) const {
        a.lines_stored = count * lines * pieces_.line;
        a.sectors_stored = count * sectors * pieces_.sector;
        a.apart = std::max(a.apart, machine::bytes_apart(kernel_, access));
    }

    /// Places of all atomics on a buffer that are under way at a time.
    [[nodiscard]] const machine::Window& window_of(kernel::Id buffer) {
        std::optional<machine::Window>& window = windows_[static_cast<std::size_t>(buffer)];
        if (!window)
            window = machine::atomic_window_of(kernel_, buffer, machine::items_at_work(kernel_, gpu_));
        return *window;
    }

    const Kernel& kernel_;
    const hw::Gpu& gpu_;
    prediction::Cache cache_;
    const prediction::Conditions& conditions_;
    KernelPlan& plan_;
    std::vector<std::optional<machine::Window>> windows_ =
        std::vector<std::optional<machine::Window>>(kernel_.buffers.size());
    machine::Neighbours neighbours_{kernel_, gpu_};
    std::size_t depth_ = 0;  ///< loops around the op that is being added
    struct Places {
        double span = 0.0;          ///< bytes among which listed reads fall
        std::uint32_t sectors = 0;  ///< of a line, that they ever ask for
    };
    std::vector<Places> places_ = std::vector<Places>(kernel_.buffers.size());  ///< by buffer
    bool narrow_rows_ = machine::has_narrow_rows(kernel_);
    bool fits_ = false;
    double touched_bytes_ = 0.0;      ///< of all buffers that the kernel touches
    bool tensor_cores_read_ = false;  ///< operands in shared memory, by themselves
    bool shares_path_ = false;        ///< global loads and stores pass through the path to shared memory
    bool boxes_of_lines_ = false;
    bool barriers_described_ = false;  ///< instructions that wait for barriers in shared memory
    int warps_ = 0;                    ///< of a CTA
    machine::MemoryPieces pieces_ = machine::pieces_of(gpu_);
    double room_ = machine::l1_room(kernel_, gpu_);
    const kernel::Freedom* free_ = nullptr;  ///< of the op that is being added
    double lanes_ = 1.0;                     ///< share of active lanes in the branches around it
    struct Stores {
        double parted = 0.0, written = 0.0;  ///< bytes, as of machine::PartStores
    };
    std::vector<Stores> stores_;         ///< by buffer: of the whole grid, as if all branches were taken
    std::vector<machine::Reach> reach_;  ///< by buffer: what accesses of lanes reach
};

/// Gives all accesses of a buffer that touch bytes side by side the same blocks. A block has up to eight
/// pieces of DRAM, and is no larger than what the smallest access touches. The other accesses are known by
/// the piece in which their first lane is.
void set_blocks(const Kernel& kernel, std::vector<AccessPlan>& accesses, const hw::Gpu& gpu) {
    const auto piece =
        static_cast<std::int64_t>(std::exp2(std::round(std::log2(gpu.dram.access_bytes.value()))));
    std::vector<std::int64_t> of_buffer(kernel.buffers.size(), 8 * piece);
    for (const AccessPlan& a : accesses) {
        if (a.runs.size() != 1) continue;
        std::int64_t& block = of_buffer[static_cast<std::size_t>(a.access->buffer)];
        while (block > piece && block > a.high - a.low) block /= 2;
    }
    for (AccessPlan& a : accesses) {
        a.block = !a.runs.empty() ? of_buffer[static_cast<std::size_t>(a.access->buffer)] : piece;
        a.piece = piece;
    }
}

/// Loop or branch around an op: its end, and the share of active lanes outside of it.
struct Around {
    std::size_t end = 0;
    bool loop = false;
    double lanes = 1.0;
};

machine::Fetchers fetchers_of(const Kernel& kernel, const hw::Gpu& gpu) {
    const auto resident = std::min<std::int64_t>(
        machine::residency(kernel, machine::limits_of(gpu)).ctas_per_sm,
        machine::ceil_divide(kernel.grid.volume(), static_cast<std::int64_t>(gpu.sm.count.value())));
    const std::int64_t warps = resident * (kernel.cta.volume() / 32);
    return {static_cast<double>(warps) / gpu.sm.sub_partitions.value(),
            kernel.cta.volume() == 32 && kernel.grid.volume() > 1};
}

}  // namespace

KernelPlan::KernelPlan(const Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions)
    : ops(kernel.ops.size()) {
    Planner planner(kernel, gpu, conditions, *this);
    const std::vector<double> around = kernel::code_around(kernel, gpu);
    const machine::Fetchers by = fetchers_of(kernel, gpu);
    const kernel::Coordinates item = kernel::typical_item(kernel);
    for (const kernel::Role& role : kernel.roles) {
        kernel::Freedom free;
        free.warps = role.warps - 1;
        free.instances = role.instances - 1;
        free.lanes = 32.0 * role.warps * role.instances - 1.0;
        std::vector<Around> around_op;
        double lanes = 1.0;
        std::size_t depth = 0;
        for (std::size_t n = role.first_node; n < role.last_node; ++n) {
            const kernel::Node& node = kernel.nodes[n];
            while (!around_op.empty() && n >= around_op.back().end) {
                if (around_op.back().loop) free.loop[--depth] = 0.0;
                lanes = around_op.back().lanes;
                around_op.pop_back();
            }
            if (node.kind == kernel::NodeKind::loop) {
                around_op.push_back({node.end, true, lanes});
                const double trips = kernel::mean_trips_of(kernel, kernel.loops[node.payload], item);
                free.loop[depth++] = std::max(0.0, trips - 1.0);
            } else if (node.kind == kernel::NodeKind::branch) {
                around_op.push_back({node.end, false, lanes});
                lanes *= kernel.branches[node.payload].mean_lanes / 32.0;
            }
            if (kernel.nodes[n].kind == kernel::NodeKind::op) {
                const std::size_t op = kernel.nodes[n].payload;
                planner.add(role, kernel.ops[op], free, lanes, depth, ops[op]);
                if (kernel.ops[op].cls == InstructionClass::branch) {
                    ops[op].latency += ticks_of(machine::jump_cycles(around[op], gpu).value());
                }
                const bool flushed = conditions.cache != prediction::Cache::warm;
                ops[op].fetch =
                    ticks_of(machine::fetch_interval(around[op], by, gpu).value() * ops[op].instructions);
                ops[op].first_fetch =
                    ticks_of(machine::first_fetch_interval(around[op], by, flushed, gpu).value() *
                             ops[op].instructions);
            }
        }
    }
    planner.set_reach();
    set_blocks(kernel, accesses, gpu);
    for (const Op& op : kernel.ops) {
        for (const kernel::Dep& dep : kernel.deps_of(op)) {
            OpPlan& from = ops[static_cast<std::size_t>(dep.op)];
            const auto needed = static_cast<std::uint32_t>(dep.distance) + 1U;
            from.kept = std::max(from.kept, std::bit_ceil(needed));
        }
    }
    for (OpPlan& p : ops) {
        p.history = static_cast<std::uint32_t>(history_size);
        history_size += 1 + p.kept;
    }
    for (std::size_t id = 0; id < ops.size(); ++id) {
        OpPlan& p = ops[id];
        p.first_input = static_cast<std::uint32_t>(inputs.size());
        for (const kernel::Dep& dep : kernel.deps_of(kernel.ops[id])) {
            // Distance counts executions back; for ops later in the body one less.
            const auto from = static_cast<std::size_t>(dep.op);
            const std::int64_t back = dep.distance + (from < id ? 1 : 0);
            if (back > 0) {
                inputs.push_back(
                    {ops[from].history, ops[from].kept, static_cast<std::uint32_t>(back),
                     ticks_of(machine::sooner_for(kernel.ops[from], kernel.ops[id].cls, gpu).value())});
            }
        }
        p.input_count = static_cast<std::uint32_t>(inputs.size()) - p.first_input;
        p.plain = !p.copies && !p.drains && !p.queued && p.access_count == 0 && p.special == 0 &&
                  p.shared == 0 && p.l1 == 0 && p.texture == 0 && p.cluster == 0 && p.constants == 0 &&
                  p.constants_missed == 0.0 && p.barrier == 0 && p.first_fetch == 0 && p.acknowledged == 0 &&
                  p.turn == 0 && kernel.ops[id].completes == kernel::no_id;
    }
}

}  // namespace warptime::model::simulation
