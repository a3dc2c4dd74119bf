// Durations of one execution of each op at every unit. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/op_plan.hpp"

#include "hw/error.hpp"
#include "hw/tensor_rate.hpp"
#include "model/kernel/code_size.hpp"
#include "model/kernel/matrix_work.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/cluster/cluster.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/issue/instruction_fetch.hpp"
#include "model/machine/issue/op_issue.hpp"
#include "model/machine/issue/operand_turns.hpp"
#include "model/machine/l1/l1_room.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l1/row_lanes.hpp"
#include "model/machine/l1/row_sectors.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/waves.hpp"
#include "model/machine/shared/matrix_rows.hpp"
#include "model/machine/shared/shared.hpp"

#include <algorithm>
#include <string>

namespace warptime::model::simulation {

using hw::InstructionClass;
using hw::Unit;
using kernel::Access;
using kernel::Kernel;
using kernel::Op;
using kernel::PatternKind;

namespace {

/// True for read buffers that stay in L2 from the start: caches are warm and all read buffers fit together.
bool starts_in_l2(const kernel::Buffer& buffer, prediction::Cache cache, bool fits) {
    const bool warm = buffer.before == kernel::Before::warm ||
                      (buffer.before == kernel::Before::by_conditions && cache == prediction::Cache::warm);
    return warm && fits;
}

class Planner {
  public:
    Planner(const Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
            KernelPlan& plan)
        : kernel_(kernel), gpu_(gpu), cache_(conditions.cache), plan_(plan) {
        std::vector<bool> read(kernel.buffers.size());
        for (const Access& access : kernel.accesses) {
            if (access.direction != kernel::Direction::write && machine::is_global(kernel, access)) {
                read[static_cast<std::size_t>(access.buffer)] = true;
            }
        }
        double footprint = 0.0;
        for (std::size_t b = 0; b < read.size(); ++b) {
            footprint += read[b] ? static_cast<double>(kernel.buffers[b].elements()) *
                                       hw::bytes_of(kernel.buffers[b].dtype)
                                 : 0.0;
        }
        for (const kernel::Role& role : kernel.roles) {
            warps_ += role.warps * role.instances;
        }
        fits_ = footprint <= gpu.l2.capacity.value() * gpu.l2.shared_capacity.value();
    }

    void add(const kernel::Role& role, const Op& op, OpPlan& p) {
        const hw::InstructionCost& cost = gpu_.instructions[op.cls];
        const auto count = static_cast<double>(op.count);
        p.instructions = count * cost.machine.value();
        p.issue = ticks_of(p.instructions);
        const bool apart = machine::is_matrix(op.cls);
        p.ports = apart ? 0 : ticks_of(p.instructions * machine::port_turns(op.cls, gpu_));
        p.pipe = static_cast<std::size_t>(cost.unit);
        const double held = std::max(cost.interval.value(), machine::operand_turns(op, gpu_));
        p.pipe_time = cost.unit == Unit::none ? 0 : ticks_of(p.instructions * held);
        p.last_interval =
            cost.unit == Unit::tensor ? 0 : ticks_of(std::max(1.0, cost.unit == Unit::none ? 0.0 : held));
        if (cost.unit == Unit::sfu) p.passed_on = p.last_interval - ticks_of(1.0);
        p.links = std::max<std::int64_t>(1, std::min(op.chain, op.count));
        p.copies = machine::is_asynchronous_copy(op.cls);
        p.bulk = machine::is_bulk_copy(op.cls);
        // A plain load that completes a token parks in registers until the wait.
        p.asynchronous = p.copies || op.cls == InstructionClass::wgmma || op.completes != kernel::no_id;
        p.drains = op.cls == InstructionClass::fence;
        p.holds_warp = machine::is_meeting(op.cls) || op.cls == InstructionClass::branch || p.drains;
        if (op.cls == InstructionClass::st_global) p.acknowledged = ticks_of(gpu_.latency.store.value());
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
        double l1 = through_l1 ? count * l1_cycles(op) : 0.0;
        if (op.cls == InstructionClass::st_local && op.access_count == 1) {
            // Stores go on to the L2, and loads come behind them.
            l1 = count * 32.0 * kernel_.accesses[op.first_access].bytes / gpu_.l2.write_bandwidth.value();
        }
        add_accesses(role, op, p, shared);
        if (p.waits_for_memory && p.access_count > 0) {
            p.latency = 0;
        }
        p.shared = ticks_of(shared / gpu_.shared.bandwidth.value());
        if (op.cls == InstructionClass::ld_shared_cluster && op.access_count > 0) {
            const double bytes = count * machine::remote_bytes(kernel_, op);
            p.cluster = ticks_of(machine::cluster_cycles(bytes, gpu_).value());
        }
        // Narrow loads and shared memory take the path to the one array in turn.
        if (narrow_rows_) l1 += shared / gpu_.shared.bandwidth.value();
        p.l1 = ticks_of(l1);
    }

  private:
    /// Cycles of one instruction: lanes of a pattern take a line a cycle, or the time of their bytes.
    double l1_cycles(const Op& op) const {
        if (op.access_count == 1 && machine::in_narrow_rows(kernel_.accesses[op.first_access])) {
            const Access& access = kernel_.accesses[op.first_access];
            const bool copies = op.cls == InstructionClass::cp_async;
            const double written = copies ? 32.0 * access.bytes * machine::copy_pieces(kernel_, access) : 0.0;
            return machine::row_load_cycles(kernel_, access, copies, gpu_.l1.tag_interval.value(),
                                            gpu_.l1.tags.value(), machine::pieces_of(gpu_)) +
                   written / gpu_.shared.bandwidth.value();
        }
        const bool local = op.cls == InstructionClass::ld_local;
        const bool plain = (local || op.cls == InstructionClass::ld_global) && op.access_count == 1;
        if (plain && kernel_.accesses[op.first_access].pattern != PatternKind::collective) {
            const Access& access = kernel_.accesses[op.first_access];
            return std::max(machine::touch_of(kernel_, access, 1.0, machine::pieces_of(gpu_)).lines,
                            32.0 * access.bytes / gpu_.shared.bandwidth.value());
        }
        return gpu_.l1.request_interval.value();
    }

    /// Each warp's tensor core does its warp's part: for a wgmma a quarter, with a quarter of the operands.
    void add_matrix(const Op& op, OpPlan& p, double& shared) {
        const bool wgmma = op.cls == InstructionClass::wgmma;
        if (hw::tensor_rate(op.dtype, gpu_).value() <= 0.0) {
            throw Error(gpu_.id + " tensor rate", std::string(hw::to_string(op.dtype)),
                        "a type that its tensor cores multiply");
        }
        p.flop = p.tensor_flop = kernel::flop_of(op) * static_cast<double>(op.count);
        p.pipe = static_cast<std::size_t>(Unit::tensor);
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
            } else if (machine::is_shared(op.cls) && !machine::moves_matrices(op) &&
                       access.pattern != PatternKind::collective && access.buffer != kernel::no_id) {
                passes_known = true;
                add_passes(op, access, p, shared);
            }
        }
        p.access_count = plan_.accesses.size() - p.first_access;
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
        const double path = machine::path_cycles(passes, gpu_).value();
        const Ticks turns = ticks_of(path * p.instructions);
        if (turns <= p.pipe_time) return;
        // Stores queue on the path and let their warp go on.
        if (op.cls == InstructionClass::st_shared) p.passed_on = turns - p.pipe_time;
        p.pipe_time = turns;
        p.last_interval = std::max(p.last_interval, ticks_of(path));
    }

    AccessPlan access_plan(const kernel::Role& role, const Op& op, const Access& access) const {
        const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
        const double size = hw::bytes_of(buffer.dtype);
        const double sector = gpu_.l1.sector.value();
        AccessPlan a;
        a.access = &access;
        a.reads = access.direction != kernel::Direction::write;
        a.writes = access.direction != kernel::Direction::read;
        a.atomic = access.direction == kernel::Direction::atomic;
        if (a.atomic) {
            a.atomics = atomic_plan(kernel_, role, op, access, gpu_);
        }
        a.collective = access.pattern == PatternKind::collective;
        a.starts_in_l2 = starts_in_l2(buffer, cache_, fits_);
        const double lane_bytes = access.bytes;
        switch (access.pattern) {
            case PatternKind::collective: {
                a.share = kernel::box_share(kernel_, role, op, access);
                a.sharing_warps = a.share.warps(role);
                for (std::size_t d = 1; d < access.rank; ++d) {
                    a.rows *= static_cast<double>(access.box[d]);
                }
                const double row = static_cast<double>(access.box[0]) * size;
                const auto pitch = static_cast<std::int64_t>(static_cast<double>(buffer.stride[1]) * size);
                a.in_rows = a.rows > 1.0 && row < static_cast<double>(pitch);
                a.lines = a.rows * machine::lines_per_row(row, pitch, gpu_.l1.line.value());
                a.fetched_per_requested = machine::sector_bytes_per_row(row, pitch, sector) / row;
                break;
            }
            case PatternKind::stride: {
                const double apart = std::clamp(static_cast<double>(access.inner) * size, lane_bytes,
                                                std::max(sector, lane_bytes));
                a.fetched_per_requested = apart / lane_bytes;
                const double sectors =
                    machine::touch_of(kernel_, access, 1.0, machine::pieces_of(gpu_)).sectors * sector;
                if (a.writes && !a.reads && sectors > 32.0 * apart) {
                    // The L2 keeps the mask of a partly written sector and merges it.
                    a.sent_per_written = 2.0 * sectors / (32.0 * lane_bytes);
                }
                break;
            }
            case PatternKind::contiguous:
                if (a.reads && machine::is_local(buffer)) {
                    a.fetched_per_requested =
                        1.0 - machine::local_hits(buffer,
                                                  machine::bytes_passing(kernel_, gpu_.l1.line.value()),
                                                  machine::l1_room(kernel_, gpu_));
                }
                break;
            default:
                a.fetched_per_requested = std::max(1.0, sector / lane_bytes);
                break;
        }
        return a;
    }

    const Kernel& kernel_;
    const hw::Gpu& gpu_;
    prediction::Cache cache_;
    KernelPlan& plan_;
    bool narrow_rows_ = machine::has_narrow_rows(kernel_);
    bool fits_ = false;
    int warps_ = 0;  ///< of a CTA
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
    for (const kernel::Role& role : kernel.roles) {
        for (std::size_t n = role.first_node; n < role.last_node; ++n) {
            if (kernel.nodes[n].kind == kernel::NodeKind::op) {
                const std::size_t op = kernel.nodes[n].payload;
                planner.add(role, kernel.ops[op], ops[op]);
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
    for (const Op& op : kernel.ops) {
        for (std::size_t d = 0; d < op.dep_count; ++d) {
            OpPlan& from = ops[static_cast<std::size_t>(op.deps[d].op)];
            from.kept = std::max<std::int64_t>(from.kept, op.deps[d].distance + 1);
        }
    }
    for (OpPlan& p : ops) {
        p.history = history_size;
        history_size += static_cast<std::size_t>(p.kept);
    }
}

}  // namespace warptime::model::simulation
