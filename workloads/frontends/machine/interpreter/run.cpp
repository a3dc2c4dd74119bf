// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/run.hpp"

#include "hw/error.hpp"
#include "model/machine/occupancy/occupancy.hpp"
#include "workloads/frontends/machine/interpreter/constant_bank.hpp"
#include "workloads/frontends/machine/interpreter/groups.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

/// Warp-instructions that a warp runs before another one has its turn.
constexpr std::uint64_t turn = 4096;
/// Warp-instructions after which CTAs that have not ended are joined by others: they may wait for them.
constexpr std::uint64_t patience = 400'000;
/// The same for code that reads nothing as other CTAs may have left it: hardly any waits with plain loads.
constexpr std::uint64_t patience_alone = 64 * patience;

/// Whether an instruction of the code may see what another CTA has just written.
bool watches_others(const Code& code) {
    return std::ranges::any_of(code.lines, [](const AssemblyLine* line) {
        return line->opcode.starts_with("ATOM") || (line->opcode.starts_with("LD") && line->has("STRONG")) ||
               line->opcode == "CCTL";
    });
}

void check_shape(const Function& function, const LaunchShape& shape, std::span<const std::byte> parameters,
                 const model::machine::SmLimits& limits) {
    const auto refuse = [&function](std::string what, std::string value, std::string expected) {
        throw Error(fmt::format("kernel '{}' {}", function.name, what), std::move(value),
                    std::move(expected));
    };
    for (std::size_t d = 0; d < 3; ++d) {
        if (shape.grid[d] == 0 || shape.block[d] == 0 || shape.cluster[d] == 0) {
            refuse("launch", "0", "at least 1 in every dimension of grid, block and cluster");
        }
        if (shape.grid[d] % shape.cluster[d] != 0) {
            refuse("grid", std::to_string(shape.grid[d]),
                   fmt::format("a multiple of the cluster's {}", shape.cluster[d]));
        }
    }
    const std::uint32_t most =
        static_cast<std::uint32_t>(function.max_threads > 0 ? function.max_threads : limits.threads_per_cta);
    const std::int64_t own_shared = function.own_shared();
    if (shape.threads() > most) {
        refuse("block", std::to_string(shape.threads()), fmt::format("at most {} threads", most));
    }
    if (shape.dynamic_shared < 0 || own_shared + shape.dynamic_shared > limits.shared_optin) {
        refuse(
            "dynamic_shared", std::to_string(shape.dynamic_shared),
            fmt::format("0 to {} bytes beside {} static ones", limits.shared_optin - own_shared, own_shared));
    }
    if (resident_ctas(function, shape.threads(), shape.dynamic_shared, limits) == 0) {
        refuse(std::string(registers_of_launch), fmt::format("{} a thread", function.registers),
               fmt::format("so few that {} threads fit into the {} of an SM", shape.threads(),
                           limits.registers));
    }
    if (parameters.size() != function.parameter_bytes) {
        refuse("parameters", fmt::format("{} bytes", parameters.size()),
               fmt::format("{} bytes", function.parameter_bytes));
    }
}

/// CTAs that run together: those of a cluster. Their memory is used again by the next ones.
struct Slot {
    std::vector<std::unique_ptr<Cta>> ctas;
    bool busy = false;
    std::uint32_t depth =
        0;  ///< of the waits of the CTAs that have ended here: the next ones begin behind them
};

class Runner {
  public:
    Runner(const LoadedCode& code, int function, const LaunchShape& shape,
           std::span<const std::byte> parameters, DeviceMemory& memory, const RunOptions& options)
        : code_(code), instructions_(code.code->instructions.data()), options_(options) {
        const Function& entry = code.code->module.functions[static_cast<std::size_t>(function)];
        launch_.code = code.code;
        launch_.shape = shape;
        launch_.memory = &memory;
        launch_.architecture = code.code->module.architecture;
        launch_.shared_bytes = std::max(entry.static_shared, entry.shared_begin) + shape.dynamic_shared;
        launch_.local_frame = (entry.local_bytes + 15) / 16 * 16;
        launch_.local_bytes_per_thread = launch_.local_frame + stack_reserve;
        launch_.sm_count = options.chip.limits.sm_count;
        launch_.geometry = {options.chip.cache, options.chip.banks};
        resident_ctas_ = static_cast<std::uint64_t>(options.chip.limits.sm_count) *
                         static_cast<std::uint64_t>(resident_ctas(entry, shape.threads(),
                                                                  shape.dynamic_shared, options.chip.limits));
        launch_.constant_banks = code.constant_banks;
        launch_.constant_banks.resize(std::max<std::size_t>(launch_.constant_banks.size(), 5));
        for (const auto& [bank, bytes] : entry.constants) {
            const auto number = static_cast<std::size_t>(bank);
            launch_.constant_banks.resize(std::max(launch_.constant_banks.size(), number + 1));
            launch_.constant_banks[number] = bytes;
        }
        if (shape.cooperative) {
            launch_.grid_workspace = memory.allocate(workspace_bytes).value_or(0);
        }
        launch_.constant_banks[0] = launch_constants(entry, launch_, parameters);
        launch_.counts.resize(code.code->instructions.size());
        launch_.accesses.resize(code.code->instructions.size());
        launch_.touched.resize(code.code->instructions.size());
        launch_.last_touches = LastTouches(shape.ctas());
        launch_.l2 = options.chip.l2;
        load_latency_ = static_cast<std::uint64_t>(options.chip.l2.latency);
        launch_.atomic_places.resize(code.code->instructions.size());
        launch_.slowest.of_ctas.resize(code.code->instructions.size());
        launch_.slowest.of_grid.resize(code.code->instructions.size());
        launch_.patterns.resize(code.code->instructions.size());
        launch_.last_allocations.resize(code.code->instructions.size());
        launch_.instruction_limit = options.warp_limit;
        launch_.last_clock_read = options.last_clock_read;
        launch_.observer = options.observer;
        launch_.polls = code.code->polls_in(function);
        if (code.code->races[static_cast<std::size_t>(function)] && !launch_.polls && !shape.cooperative) {
            launch_.slices.emplace(options.chip, code.code->instructions.size());
        }
        first_instruction_ = code.code->places[static_cast<std::size_t>(function)].first;
        cluster_ctas_ = std::uint64_t{shape.cluster[0]} * shape.cluster[1] * shape.cluster[2];
        units_ = shape.ctas() / cluster_ctas_;
        patience_ = watches_others(*code.code) ? patience : patience_alone;
        fill_constant_rows();
    }

    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;
    ~Runner() {
        if (launch_.grid_workspace != 0) {
            launch_.memory->free(launch_.grid_workspace);
        }
    }

    LaunchCounts run() {
        LaunchCounts result;
        result.ctas = launch_.shape.ctas();
        try {
            const std::vector<std::uint64_t> traced =
                spread(static_cast<std::uint64_t>(std::max(options_.traced_ctas, 0)));
            traced_ = launch_.observer == nullptr ? std::vector<std::uint64_t>{} : traced;
            if (launch_.slices) {
                run_by_clock();
            } else {
                run_units();
            }
        } catch (const Fault& problem) {
            result.error = problem.what();
        }
        result.instructions = std::move(launch_.counts);
        result.accesses = std::move(launch_.accesses);
        for (std::size_t i = 0; i < result.accesses.size(); ++i)
            result.accesses[i].touched = launch_.touched[i].count();
        result.slowest = std::move(launch_.slowest);
        result.hand_overs = std::move(launch_.hand_overs);
        result.load_latency = load_latency_;
        result.executed = launch_.clock;
        result.ctas_run = ended_ * cluster_ctas_;
        result.resident_ctas = resident_ctas_;
        result.touch_unit = launch_.last_touches.unit();
        note_skews(result);
        result.opaque_values = launch_.opaque_values;
        return result;
    }

  private:
    void note_skews(LaunchCounts& result) const {
        result.skews =
            launch_.slices ? launch_.slices->skews() : std::vector<double>(launch_.atomic_places.size(), 1.0);
        std::map<const Allocation*, AtomicPlaces> by_buffer;
        for (std::size_t i = 0; i < result.skews.size(); ++i) {
            by_buffer[launch_.last_allocations[i]].add(launch_.atomic_places[i]);
        }
        for (std::size_t i = 0; i < result.skews.size(); ++i) {
            if (launch_.atomic_places[i].passes() == 0) continue;
            result.skews[i] = by_buffer[launch_.last_allocations[i]].skew(launch_.l2, result.whole());
        }
    }

    /// Room for the frames of called functions that the kernel's own frame does not count.
    static constexpr std::int64_t stack_reserve = 1024;
    static constexpr std::uint64_t workspace_bytes = 256;

    void fill_constant_rows() {
        for (const ConstantRow& constant : code_.code->layout.constants) {
            std::uint32_t value = constant.value;
            if (constant.bank == relocated_bank) {
                value = code_.relocated.at(constant.offset);
            } else if (constant.bank != value_bank) {
                const auto bank = static_cast<std::size_t>(constant.bank);
                if (bank < launch_.constant_banks.size() &&
                    constant.offset + sizeof value <= launch_.constant_banks[bank].size()) {
                    std::memcpy(&value, launch_.constant_banks[bank].data() + constant.offset, sizeof value);
                }
            }
            Row row{};
            row.lane.fill(value);
            constant_rows_.push_back(row);
        }
    }

    /// Places that fall evenly over the grid whatever number of them is taken.
    std::uint64_t golden_step(std::uint64_t i) const {
        const double place = static_cast<double>(i) * 0.6180339887498949;
        const double part = place - static_cast<double>(static_cast<std::uint64_t>(place));
        return static_cast<std::uint64_t>(part * static_cast<double>(units_));
    }

    /// Units (clusters) that are traced: the first, its neighbours in every direction, so that steps along
    /// each are seen alone, the last, then ever finer between.
    std::vector<std::uint64_t> spread(std::uint64_t count) const {
        std::vector<std::uint64_t> order;
        const auto add = [&order, count, this](std::uint64_t unit) {
            if (order.size() < count && unit < units_ && std::ranges::find(order, unit) == order.end()) {
                order.push_back(unit);
            }
        };
        const LaunchShape& shape = launch_.shape;
        const std::uint64_t row = shape.grid[0] / shape.cluster[0];
        add(0);
        add(units_ - 1);
        add(1);
        add(row);
        add(row * (shape.grid[1] / shape.cluster[1]));
        // Steps of the golden ratio: halves would all fall on the first columns of tiles.
        for (std::uint64_t i = 1; order.size() < std::min(count, units_) && i <= 8 * units_; ++i) {
            add(golden_step(i));
        }
        return order;
    }

    std::unique_ptr<Cta> make_cta() {
        auto cta = std::make_unique<Cta>();
        cta->launch = &launch_;
        cta->shared.resize(static_cast<std::size_t>(launch_.shared_bytes));
        const std::uint32_t warps = (launch_.shape.threads() + lanes_per_warp - 1) / lanes_per_warp;
        cta->local.resize(static_cast<std::size_t>(launch_.local_bytes_per_thread) * warps * lanes_per_warp);
        cta->warps.resize(warps);
        const RowLayout& layout = code_.code->layout;
        cta->row_storage.resize(layout.rows() * warps);
        cta->warp_counts.resize(code_.code->instructions.size() * warps);
        for (std::uint32_t w = 0; w < warps; ++w) {
            Warp& warp = cta->warps[w];
            warp.rows = cta->row_storage.data() + layout.rows() * w;
            warp.counts = cta->warp_counts.data() + code_.code->instructions.size() * w;
            warp.cta = cta.get();
            warp.launch = &launch_;
            warp.index = static_cast<int>(w);
            std::ranges::copy(constant_rows_, warp.rows + layout.first_constant());
        }
        return cta;
    }

    void begin_cta(Cta& cta, std::uint64_t unit, std::uint32_t rank, bool traced) {
        const LaunchShape& shape = launch_.shape;
        const std::array<std::uint64_t, 3> clusters{shape.grid[0] / shape.cluster[0],
                                                    shape.grid[1] / shape.cluster[1],
                                                    shape.grid[2] / shape.cluster[2]};
        const std::array<std::uint64_t, 3> place{unit % clusters[0], unit / clusters[0] % clusters[1],
                                                 unit / clusters[0] / clusters[1]};
        cta.rank_in_cluster = {rank % shape.cluster[0], rank / shape.cluster[0] % shape.cluster[1],
                               rank / shape.cluster[0] / shape.cluster[1]};
        for (std::size_t d = 0; d < 3; ++d) {
            cta.id[d] = static_cast<std::uint32_t>(place[d]) * shape.cluster[d] + cta.rank_in_cluster[d];
        }
        cta.linear_id =
            cta.id[0] + std::uint64_t{shape.grid[0]} * (cta.id[1] + std::uint64_t{shape.grid[1]} * cta.id[2]);
        cta.cluster_rank = rank;
        cta.traced = traced;
        cta.barriers = {};
        cta.cluster_barrier_generation = 0;
        cta.cluster_barrier_arrived = 0;
        cta.live_threads = static_cast<std::int32_t>(shape.threads());
        cta.live_warps = static_cast<std::int32_t>(cta.warps.size());
        cta.depth = cta.waits = cta.waited_by = 0;
        std::ranges::fill(cta.warp_counts, 0U);
        for (Warp& warp : cta.warps) {
            warp.predicates.fill(0);
            warp.predicates[true_predicate_index] = all_lanes;
            warp.predicates[first_uniform_predicate + true_predicate_index] = all_lanes;
            const std::uint32_t threads =
                shape.threads() - static_cast<std::uint32_t>(warp.index * lanes_per_warp);
            warp.alive = threads >= lanes_per_warp ? all_lanes : (1U << threads) - 1U;
            warp.active = warp.alive;
            warp.pc = first_instruction_;
            warp.waiting = false;
            warp.finished = false;
            warp.groups.clear();
            warp.barrier_pending.fill(0);
            warp.executed = 0;
            warp.cycles = 0;
            warp.heard = {};
            warp.depth = warp.waits = warp.looked_by = warp.waited_by = 0;
            warp.poll = 0;
            warp.in_vain = false;
            warp.turn_over = false;
            warp.clock_reads = 0;
            warp.ready = 0.0;
            warp.cluster_generation = 0;
        }
    }

    Slot& begin_unit(std::uint64_t unit) {
        auto free = std::ranges::find_if(slots_, [](const Slot& slot) { return !slot.busy; });
        if (free == slots_.end()) {
            Slot slot;
            for (std::uint64_t rank = 0; rank < cluster_ctas_; ++rank) {
                slot.ctas.push_back(make_cta());
            }
            for (const auto& cta : slot.ctas) {
                for (const auto& peer : slot.ctas) {
                    cta->cluster.push_back(peer.get());
                }
            }
            slots_.push_back(std::move(slot));
            free = std::prev(slots_.end());
        }
        free->busy = true;
        const bool traced = std::ranges::find(traced_, unit) != traced_.end();
        for (std::uint32_t rank = 0; rank < cluster_ctas_; ++rank) {
            begin_cta(*free->ctas[rank], unit, rank, traced);
            for (Warp& warp : free->ctas[rank]->warps) {
                warp.depth = free->depth;
            }
        }
        return *free;
    }

    /// Runs a warp until it waits, ends, or has had its turn. Gives the instructions that it executed.
    std::uint64_t run_warp(Warp& warp) {
        std::uint64_t executed = 0;
        std::uint64_t cycles = 0;
        Observer* const observer = warp.cta->traced ? launch_.observer : nullptr;
        InstructionCounts* const counts = launch_.counts.data();
        while (executed < turn) {
            const Instruction& instruction = instructions_[warp.pc];
            const Mask guarded =
                warp.active & (warp.predicates[instruction.guard.index] ^ instruction.guard.flip);
            // A uniform instruction writes registers that all lanes share.
            const Mask enabled = instruction.counts_all_lanes ? (guarded != 0 ? all_lanes : 0U) : guarded;
            if (warp.poll != 0 && instruction.poll != warp.poll) {
                end_wait(warp, launch_.hand_overs);
            }
            if (!warp.waiting && !warp.in_vain) {
                InstructionCounts& own = counts[warp.pc];
                ++own.warps;
                ++warp.counts[warp.pc];
                if (guarded == all_lanes) {
                    own.threads += lanes_per_warp;
                    own.enabled_threads += lanes_per_warp;
                } else {
                    own.threads += static_cast<unsigned>(std::popcount(warp.active));
                    own.enabled_threads += static_cast<unsigned>(std::popcount(guarded));
                }
                ++executed;
                cycles += pace_of(instruction, load_latency_);
                if (observer != nullptr) {
                    observer->instruction(warp, warp.pc, warp.active, guarded);
                }
            }
            const Flow flow = instruction.execute(warp, instruction, enabled);
            if (flow == Flow::next) {
                warp.waiting = false;
                ++warp.pc;
                if (instruction.ends_turn) {
                    break;
                }
            } else if (flow == Flow::jumped) {
                warp.waiting = false;
                if (warp.poll != 0 && instruction.poll == warp.poll && warp.pc <= instruction.index) {
                    warp.in_vain = true;
                    rotate(warp);
                    break;
                }
                if (warp.turn_over) {
                    warp.turn_over = false;
                    rotate(warp);
                }
            } else if (flow == Flow::waiting) {
                warp.waiting = true;
                rotate(warp);
                break;
            } else {
                warp.waiting = false;
                if (!resume_next(warp)) {
                    end_warp(warp);
                    break;
                }
            }
        }
        // Code between two jumps may count on uniform registers, which all groups of lanes share.
        warp.turn_over = warp.turn_over || executed >= turn;
        warp.executed += executed;
        warp.cycles += cycles;
        launch_.clock += executed;
        if (launch_.instruction_limit != 0 && warp.executed > launch_.instruction_limit) {
            fault(warp, instructions_[warp.pc], 0,
                  fmt::format("an endless loop: a warp has executed {} instructions", warp.executed));
        }
        return executed;
    }

    void end_warp(Warp& warp) {
        if (warp.alive != 0) {
            const Group& group = warp.groups.front();
            fault(warp, instructions_[group.pc], std::countr_zero(group.lanes),
                  fmt::format("a deadlock: lanes {:#010x} wait for lanes {:#010x}, which do not come",
                              group.lanes, group.waits_for & warp.alive & ~group.lanes));
        }
        warp.finished = true;
        --warp.cta->live_warps;
    }

    /// One turn for every warp of the slot. Gives the instructions executed.
    std::uint64_t run_slot(Slot& slot) {
        std::uint64_t executed = 0;
        for (const auto& cta : slot.ctas) {
            for (Warp& warp : cta->warps) {
                if (!warp.finished) {
                    executed += run_warp(warp);
                }
            }
        }
        return executed;
    }

    /// Keeps what the slowest warp of each of the unit's CTAs executed.
    void note_slowest(const Slot& slot) {
        SlowestWarpCounts& slowest = launch_.slowest;
        for (const auto& cta : slot.ctas) {
            const Warp& warp = *std::ranges::max_element(cta->warps, {}, &Warp::cycles);
            const std::span<const std::uint32_t> counts(warp.counts, slowest.of_ctas.size());
            std::ranges::transform(slowest.of_ctas, counts, slowest.of_ctas.begin(), std::plus<>{});
            if (warp.cycles > slowest.cycles) {
                slowest.cycles = warp.cycles;
                std::ranges::copy(counts, slowest.of_grid.begin());
            }
        }
    }

    /// Whether so many CTAs have ended that more say nothing new: all executed what the first one did.
    bool all_alike() const {
        constexpr std::uint64_t enough = 32;
        return alike_ && ended_ * cluster_ctas_ >= enough;
    }

    void compare_with_first(const Slot& slot) {
        if (first_counts_.empty()) {
            first_counts_ = slot.ctas.front()->warp_counts;
        }
        alike_ = alike_ && std::ranges::all_of(slot.ctas, [this](const auto& cta) {
                     return cta->warp_counts == first_counts_;
                 });
    }

    static bool ended(const Slot& slot) {
        return std::ranges::all_of(slot.ctas, [](const auto& cta) { return cta->live_warps == 0; });
    }

    /// A warp's next turn: at its time, those that wait longest first.
    struct Turn {
        double time = 0.0;
        std::uint64_t order = 0;
        std::size_t slot = 0;
        Warp* warp = nullptr;
        bool operator<(const Turn& other) const {
            return time != other.time ? time > other.time : order > other.order;
        }
    };

    /// Turns of a warp until one gets on: lanes that wait may have let others go first. Gives the
    /// instructions executed; 0: the warp waits for others of its unit.
    std::uint64_t run_on(Warp& warp) {
        std::uint64_t executed = 0;
        for (int i = 0; i <= lanes_per_warp && executed == 0 && !warp.finished; ++i)
            executed = run_warp(warp);
        return executed;
    }

    /// Runs all resident units side by side, whichever warp is ready first; others take their places. Beyond
    /// the budget no further one is begun.
    void run_by_clock() {
        const std::uint64_t most = std::max<std::uint64_t>(1, resident_ctas_ / cluster_ctas_);
        std::priority_queue<Turn> turns;
        std::vector<std::vector<Warp*>> waiting;  // by slot
        std::uint64_t order = 0, next = 0;
        const auto begin = [&](double time) {
            if (next == units_ || (options_.budget != 0 && launch_.clock >= options_.budget)) return;
            Slot& slot = begin_unit(next++);
            const auto place = static_cast<std::size_t>(&slot - slots_.data());
            waiting.resize(slots_.size());
            for (const auto& cta : slot.ctas) {
                for (Warp& warp : cta->warps) {
                    warp.ready = time;
                    turns.push({time, order++, place, &warp});
                }
            }
        };
        while (next < std::min(most, units_)) begin(0.0);
        while (!turns.empty()) {
            const std::size_t place = turns.top().slot;
            Warp& warp = *turns.top().warp;
            turns.pop();
            const std::uint64_t executed = run_on(warp);
            if (executed == 0 && !warp.finished) {
                waiting[place].push_back(&warp);
                continue;
            }
            warp.ready += static_cast<double>(executed);
            if (!warp.finished) turns.push({warp.ready, order++, place, &warp});
            // What it did may be what others of its unit wait for.
            for (Warp* const other : waiting[place]) {
                other->ready = std::max(other->ready, warp.ready);
                turns.push({other->ready, order++, place, other});
            }
            waiting[place].clear();
            Slot& slot = slots_[place];
            if (!warp.finished || !ended(slot)) continue;
            slot.busy = false;
            note_slowest(slot);
            ++ended_;
            begin(warp.ready);
        }
        if (std::ranges::any_of(slots_, &Slot::busy)) report_deadlock();
    }

    void run_units() {
        // Whole grids run in the order of the hardware; samples take units from all over the grid.
        std::vector<std::uint64_t> order;
        // CTAs that wait for others run all together: what one sees of another depends on it.
        const bool all_together = launch_.shape.cooperative || launch_.polls;
        bool sampled = options_.budget != 0 && !all_together;
        std::uint64_t limit = options_.budget;
        std::uint64_t limit_of_alike = limit;  ///< where the units that have ended say the same
        std::uint64_t next = 0;
        const std::uint64_t most = std::max<std::uint64_t>(1, resident_ctas_ / cluster_ctas_);
        std::uint64_t together = all_together ? most : 1;
        std::uint64_t running = 0;
        std::uint64_t since_change = 0;
        int idle_passes = 0;
        std::uint64_t needed = all_together ? most : 1;
        std::uint64_t units = units_;
        const auto decide = [&] {
            if (!sampled || next != 1) {
                return;
            }
            if (running != 0) {
                // A first unit that is too long already shows that the launch will be sampled.
                launch_.skips_matrices = launch_.skips_matrices || !fits(launch_.clock + launch_.matrix_work);
                return;
            }
            if (fits(launch_.clock + launch_.matrix_work)) {
                // The first unit may have been a small one; a few times the budget is still worth it.
                limit = 4 * options_.budget;
                limit_of_alike = limit;
            } else if (order.empty()) {
                // Counts need no values of matrices, and a tenth of the budget shows what a sample can show;
                // a hundredth does where CTAs are alike.
                order = sample_order();
                units = order.size();
                limit = options_.budget / 10;
                limit_of_alike = options_.budget / 100;
                launch_.skips_matrices = true;
            }
        };
        for (;;) {
            decide();
            // Beyond the budget only those are begun that others may be waiting for.
            while (running < together && next < units &&
                   (!sampled || next < needed || launch_.clock < (all_alike() ? limit_of_alike : limit))) {
                begin_unit(order.empty() ? next : order[next]);
                ++next;
                ++running;
            }
            if (running == 0) {
                break;
            }
            std::uint64_t executed = 0;
            bool one_ended = false;
            for (std::size_t s = 0; s < slots_.size(); ++s) {
                // Later CTAs first: what an earlier one tells is heard a turn later, not in the same turn.
                Slot& slot = slots_[launch_.polls ? slots_.size() - 1 - s : s];
                if (!slot.busy) {
                    continue;
                }
                executed += run_slot(slot);
                if (ended(slot)) {
                    slot.busy = false;
                    for (const auto& cta : slot.ctas) {
                        for (const Warp& warp : cta->warps) {
                            slot.depth = std::max(slot.depth, warp.depth);
                        }
                    }
                    note_slowest(slot);
                    if (sampled) {
                        compare_with_first(slot);
                    }
                    --running;
                    ++ended_;
                    one_ended = true;
                }
            }
            if (one_ended) {
                idle_passes = 0;
                since_change = 0;
                continue;
            }
            since_change += executed;
            // A pass without an instruction may have turned to another group of a warp's lanes.
            idle_passes = executed == 0 ? idle_passes + 1 : 0;
            const bool stuck = idle_passes > lanes_per_warp;
            if (stuck || since_change > patience_ * together) {
                since_change = 0;
                idle_passes = 0;
                if (together < most && next < units) {
                    together = std::min(most, together * 2);
                    needed = next + together - running;
                } else if (stuck) {
                    report_deadlock();
                }
            }
        }
    }

    /// The traced units, then others at steps of the golden ratio, which fall evenly whatever number is
    /// taken.
    std::vector<std::uint64_t> sample_order() const {
        // Beyond this number of units, more of them say nothing new.
        constexpr std::uint64_t most_sampled = 4096;
        std::vector<std::uint64_t> order =
            spread(static_cast<std::uint64_t>(std::max(options_.traced_ctas, 2)));
        std::set<std::uint64_t> taken(order.begin(), order.end());
        const std::uint64_t most = std::min(most_sampled, units_);
        for (std::uint64_t i = 1; order.size() < most && i <= 8 * most; ++i) {
            const std::uint64_t unit = golden_step(i);
            if (taken.insert(unit).second) {
                order.push_back(unit);
            }
        }
        return order;
    }

    /// Does the whole grid fit the budget, if every unit is like the first?
    bool fits(std::uint64_t of_first) const {
        return options_.budget == 0 || static_cast<double>(of_first) * static_cast<double>(units_) <=
                                           static_cast<double>(options_.budget);
    }

    [[noreturn]] void report_deadlock() {
        std::string who;
        const Warp* first = nullptr;
        int shown = 0;
        for (const Slot& slot : slots_) {
            for (const auto& cta : slot.ctas) {
                for (const Warp& warp : cta->warps) {
                    if (!slot.busy || warp.finished || shown++ >= 8) {
                        continue;
                    }
                    first = first == nullptr ? &warp : first;
                    who += fmt::format("{}warp {} of CTA {} at {}", who.empty() ? "" : ", ", warp.index,
                                       cta->linear_id, code_.code->lines[warp.pc]->text);
                }
            }
        }
        if (first == nullptr) {
            throw Fault("a deadlock: no warp is left to go on");
        }
        fault(*first, instructions_[first->pc], std::countr_zero(first->active | 1U),
              "a deadlock: every warp waits (" + who + ")");
    }

    const LoadedCode& code_;
    const Instruction* instructions_;
    const RunOptions& options_;
    Launch launch_;
    std::uint32_t first_instruction_ = 0;
    std::uint64_t resident_ctas_ = 1;  ///< of the chip, for CTAs that wait for each other
    std::uint64_t cluster_ctas_ = 1;
    std::uint64_t units_ = 1;
    std::uint64_t patience_ = patience;
    std::uint64_t ended_ = 0;
    std::vector<Row> constant_rows_;
    std::vector<std::uint32_t> first_counts_;  ///< of the first CTA that ended, by warp and instruction
    std::uint64_t load_latency_ = 1;           ///< cycles from a load to its data in the L2
    bool alike_ = true;                        ///< all CTAs that have ended executed the same
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> traced_;
};

/// " at x.cu:12" where the module has lines.
std::string source_place(const Code& code, const std::string& function, std::uint32_t address) {
    const auto lines = code.module.lines.functions.find(function);
    if (lines == code.module.lines.functions.end()) {
        return {};
    }
    const SourceLine* found = nullptr;
    for (const SourceLine& line : lines->second) {
        if (line.address <= address) {
            found = &line;
        }
    }
    if (found == nullptr || found->file < 0) {
        return {};
    }
    return fmt::format(" ({}:{})", code.module.lines.files[static_cast<std::size_t>(found->file)],
                       found->line);
}

}  // namespace

void fault(const Warp& warp, const Instruction& instruction, int lane, const std::string& what) {
    const Code& code = *warp.launch->code;
    const AssemblyLine& line = *code.lines[instruction.index];
    const std::string& function = code.function_of(instruction.index);
    const Cta& cta = *warp.cta;
    const std::uint32_t thread = static_cast<std::uint32_t>(warp.index * lanes_per_warp + lane);
    const auto& block = warp.launch->shape.block;
    throw Fault(fmt::format("{} in kernel {} at {:#x}{}, thread ({}, {}, {}) of block ({}, {}, {}): {}", what,
                            function, line.address, source_place(code, function, line.address),
                            thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1],
                            cta.id[0], cta.id[1], cta.id[2], line.text));
}

int resident_ctas(const Function& function, std::uint32_t threads, std::int64_t dynamic_shared,
                  const model::machine::SmLimits& limits) {
    model::machine::CtaResources cta;
    cta.threads = static_cast<int>(threads);
    cta.registers_per_thread = function.registers;
    cta.static_shared = function.own_shared();
    cta.dynamic_shared = dynamic_shared;
    cta.named_barriers = function.barriers;
    return model::machine::occupancy(cta, limits).ctas_per_sm;
}

LaunchCounts run_launch(const LoadedCode& code, int function, const LaunchShape& shape,
                        std::span<const std::byte> parameters, DeviceMemory& memory,
                        const RunOptions& options) {
    if (function < 0 || static_cast<std::size_t>(function) >= code.code->module.functions.size()) {
        throw Error("kernel", std::to_string(function), "the number of a kernel of the module");
    }
    check_shape(code.code->module.functions[static_cast<std::size_t>(function)], shape, parameters,
                options.chip.limits);
    return Runner(code, function, shape, parameters, memory, options).run();
}

}  // namespace warptime::workloads::frontends::machine
