// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/lower.hpp"

#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "model/machine/demand/expected_distinct.hpp"
#include "workloads/frontends/machine/lowering/affine.hpp"
#include "workloads/frontends/machine/lowering/grid_order.hpp"
#include "workloads/frontends/machine/lowering/opcode_class.hpp"
#include "workloads/frontends/machine/lowering/registers.hpp"
#include "workloads/frontends/machine/lowering/reuse.hpp"
#include "workloads/frontends/machine/lowering/role_body.hpp"
#include "workloads/frontends/machine/lowering/store_merging.hpp"
#include "workloads/frontends/machine/lowering/transaction_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

namespace mk = model::kernel;

/// Executions whose addresses are written out where no affine function fits.
constexpr std::size_t most_listed = 16;
/// Coordinates of a CTA: m, n and batch of its tile, and a spare one.
constexpr std::size_t cta_variables = 4;
/// Instructions from one store to the next that may leave with it: see joined_share.
constexpr std::uint32_t most_between_joined = 4;
/// Accesses that are asked for the order of the tiles: more of them say the same.
constexpr std::size_t most_accesses_ordered = 32;
/// An instruction that runs in less than this share of the rounds, or fails to in more, stands in a branch.
constexpr double always = 0.995;
/// Barriers that at least this share of the warps reach are reached by all in the description.
constexpr double mostly = 0.5;
/// Share of the accesses whose lanes stand alike where the others, at an edge, are left out.
constexpr double mostly_alike = 0.75;

/// An access of the role with the position of its warp.
struct PlacedAccess {
    const AccessEvent* event = nullptr;
    std::vector<std::int64_t> variables;  ///< CTA x, y, z, warp within the role, rounds of the loops around
};

/// Op that read a register before the trip wrote it.
struct EarlyRead {
    std::uint16_t place = 0;
    mk::Id op = mk::no_id;
};

/// Op that waits for a group of products of a trip before: the `before`th from the last one back.
struct GroupWait {
    mk::Id op = mk::no_id;
    std::size_t before = 1;
};

/// A loop whose ops are being written.
struct OpenLoop {
    mk::Id first = 0;        ///< op
    std::size_t groups = 0;  ///< of products that came before the loop
    std::vector<EarlyRead> reads;
    std::vector<GroupWait> waits;
};

bool is_commit(const AssemblyLine& line) {
    return line.opcode == "LDGDEPBAR";
}
bool is_group_wait(const AssemblyLine& line) {
    return line.opcode == "DEPBAR" && line.has("LE");
}
/// Ends a group of asynchronous products, or waits for such groups.
bool names_products(const AssemblyLine& line) {
    return std::ranges::any_of(line.operands, [](const Operand& own) { return own.text == "gsb0"; });
}
bool is_barrier(const AssemblyLine& line) {
    return line.opcode == "BAR";
}
bool is_wait_for_phase(const AssemblyLine& line) {
    return line.opcode == "SYNCS" && line.has("PHASECHK") && line.has("TRYWAIT");
}
/// Takes part in a token of the description, which must not stand in a branch that some warps skip.
bool synchronizes(const AssemblyLine& line) {
    return is_barrier(line) || is_commit(line) || is_group_wait(line) || is_wait_for_phase(line);
}

class Lowering {
  public:
    explicit Lowering(const LoweringInput& input)
        : input_(input),
          code_(*input.code),
          entry_(code_.module.functions[static_cast<std::size_t>(input.function)]),
          polls_(code_.polls_in(input.function)),
          builder_(kernel_) {}

    mk::Kernel run() {
        if (input_.trace->ctas().empty()) {
            throw Error(fmt::format("kernel '{}' trace", entry_.name), "no CTA", "one that ran to its end");
        }
        bodies_ = role_bodies(code_, *input_.counts, *input_.trace);
        reuse_ = reuse_of(*input_.trace, input_.cache);
        merged_ = merged_stores(*input_.trace, code_, input_.cache);
        order_ = find_order();
        rings_ = transaction_rings(*input_.trace, bodies_.roles);
        ring_tokens_.assign(rings_.rings.size(), mk::no_id);
        describe_launch();
        for (std::size_t r = 0; r < bodies_.roles.size(); ++r) {
            lower_role(bodies_.roles[r], r);
        }
        write_dependences();
        describe_hand_overs();
        builder_.finish();
        find_own_results();
        return std::move(kernel_);
    }

  private:
    /// What a kernel stores before it reads anything of a buffer is in the L2 when it reads it again.
    void find_own_results() {
        std::vector<bool> known(kernel_.buffers.size()), stored(kernel_.buffers.size());
        for (const mk::Op& op : kernel_.ops) {
            for (const mk::Access& access : kernel_.accesses_of(op)) {
                if (access.buffer == mk::no_id) continue;
                const auto b = static_cast<std::size_t>(access.buffer);
                if (!known[b]) stored[b] = op.cls == hw::InstructionClass::st_global;
                known[b] = true;
                const bool read = access.direction == mk::Direction::read;
                if (stored[b] && read) kernel_.buffers[b].before = mk::Before::warm;
            }
        }
    }

    /// Folders are left out: they differ from machine to machine.
    mk::Id file_of(std::string_view path) {
        const std::string_view name = path.substr(path.find_last_of('/') + 1);
        auto& files = kernel_.files;
        const auto at = static_cast<std::size_t>(std::find(files.begin(), files.end(), name) - files.begin());
        if (at == files.size()) files.emplace_back(name);
        return static_cast<mk::Id>(at);
    }

    void describe_launch() {
        const LaunchShape& shape = input_.shape;
        kernel_.clear();
        kernel_.name = entry_.name;
        kernel_.grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
        kernel_.cluster = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
        kernel_.cta = {shape.block[0], shape.block[1], shape.block[2]};
        kernel_.registers_per_thread = entry_.registers;
        kernel_.static_shared = entry_.own_shared();
        kernel_.dynamic_shared = shape.dynamic_shared;
        kernel_.named_barriers = std::clamp(entry_.barriers, 1, 16);
        // Item i is the CTA of that number: x runs fastest, then y.
        kernel_.schedule.raster = mk::Raster::along_n;
        if (order_) {
            kernel_.schedule.tiles = {order_->m, order_->n, shape.grid[1], shape.grid[2]};
            kernel_.schedule.group = order_->group;
        } else {
            kernel_.schedule.tiles = {shape.grid[0], shape.grid[1], shape.grid[2], 1};
            kernel_.schedule.group = shape.grid[0];
        }
        const double exact = 1.0 / std::max(1.0, input_.counts->scale());
        kernel_.coverage = {exact, 1.0 - exact, 0.0};
    }

    /// An op may depend on ops behind it, so its dependences are known only when its loops have ended.
    /// Waits behind one another through the grid, and the two ops between which most of them lie.
    void describe_hand_overs() {
        const HandOvers& own = input_.counts->hand_overs;
        if (own.between.empty() || own.deepest <= own.own) {
            // Nobody is deeper than a CTA by itself, which waits all the same.
            const auto looks = std::ranges::find_if(
                op_of_, [this](const auto& one) { return code_.instructions[one.first].looks; });
            if (own.deepest > 0 && looks != op_of_.end()) {
                kernel_.hand_overs = {0.0, looks->second, looks->second};
            }
            return;
        }
        const auto most =
            std::ranges::max_element(own.between, {}, [](const auto& one) { return one.second; });
        const auto wait = op_of_.find(most->first.first), told = op_of_.find(most->first.second);
        if (wait == op_of_.end() || told == op_of_.end()) {
            return;
        }
        kernel_.hand_overs = {static_cast<double>(own.deepest - own.own), wait->second, told->second};
    }

    void write_dependences() {
        for (std::size_t id = 0; id < dependences_.size(); ++id) {
            mk::Op& op = kernel_.ops[id];
            for (const mk::Dep& dep : dependences_[id]) {
                if (op.dep_count < op.deps.size()) {
                    op.deps[op.dep_count] = dep;
                } else {
                    if (op.dep_count == op.deps.size()) {
                        op.more_deps = static_cast<std::uint32_t>(kernel_.more_deps.size());
                    }
                    kernel_.more_deps.push_back(dep);
                }
                ++op.dep_count;
            }
        }
    }

    // ---- buffers

    /// `pitch`: bytes from one row to the next where an access moves a box of rows; 0: the buffer is a line
    /// of bytes.
    mk::Id buffer(AccessSpace space, std::uint64_t address, std::uint64_t& base, std::uint64_t pitch = 0) {
        mk::Buffer made;
        std::uint64_t key = 0;
        std::int64_t bytes = 0;
        base = 0;
        if (space == AccessSpace::shared || space == AccessSpace::cluster_shared) {
            made.space = space == AccessSpace::shared ? mk::Space::shared : mk::Space::cluster_shared;
            key = static_cast<std::uint64_t>(made.space);
            bytes = std::max<std::int64_t>(1, kernel_.static_shared + kernel_.dynamic_shared);
            base = static_cast<std::uint64_t>(entry_.shared_begin);
            made.name = mk::Name(space == AccessSpace::shared ? "shared" : "peer_shared");
        } else if (space == AccessSpace::local) {
            made.space = mk::Space::local;
            key = static_cast<std::uint64_t>(made.space);
            // Whole warps, whose lanes' words lie side by side.
            const std::int64_t frame = (std::max<std::int64_t>(4, entry_.local_bytes) + 15) / 16 * 16;
            bytes = frame * ((std::int64_t{input_.shape.threads()} + 31) / 32 * 32);
            made.name = mk::Name("local");
        } else {
            const Allocation* allocation = input_.memory->find(address);
            if (allocation == nullptr) {
                return mk::no_id;
            }
            key = allocation->address;
            bytes = static_cast<std::int64_t>(allocation->bytes);
            base = allocation->address;
            made.name = mk::Name(fmt::format("memory{}", kernel_.buffers.size()));
        }
        const auto [known, fresh] = buffers_.try_emplace({key, pitch}, mk::no_id);
        if (!fresh) {
            return known->second;
        }
        made.dtype = hw::Dtype::int8;
        made.extent[0] = bytes;
        if (pitch > 0) {
            made.rank = 2;
            made.extent[0] = static_cast<std::int64_t>(pitch);
            made.extent[1] = (bytes + made.extent[0] - 1) / made.extent[0];
            made.stride[1] = made.extent[0];
        }
        known->second = builder_.buffer(made);
        return known->second;
    }

    // ---- tokens

    mk::Id barrier_token(std::int64_t number, std::int32_t arrivals) {
        const auto known = barrier_tokens_.find(number);
        if (known != barrier_tokens_.end()) {
            return known->second;
        }
        mk::Token token;
        token.name = mk::Name(fmt::format("barrier{}", number));
        token.kind = mk::TokenKind::named_barrier;
        token.arrivals = arrivals;
        const mk::Id id = builder_.token(token);
        barrier_tokens_[number] = id;
        return id;
    }

    /// Stages of a ring that groups of copies fill: those that a wait leaves under way, the one that is
    /// waited for, and the one that is read. A trip may commit several groups for its stage.
    std::int32_t stages_of_groups() const {
        std::int64_t most = 1;
        for (const RoleBody& role : bodies_.roles) {
            for (const auto& [waiting, waits] : role.frequency) {
                const AssemblyLine& wait = line(waiting);
                const int around = loop_of(bodies_.loops, waiting);
                if (!is_group_wait(wait) || wait.operands.size() < 2 || around < 0) {
                    continue;
                }
                const auto commits = std::ranges::count_if(role.frequency, [this, around](const auto& own) {
                    return is_commit(line(own.first)) && loop_of(bodies_.loops, own.first) == around;
                });
                most = std::max(most, wait.operands[1].value / std::max<std::int64_t>(1, commits) + 2);
            }
        }
        return static_cast<std::int32_t>(std::min<std::int64_t>(most, 64));
    }

    mk::Id copy_token() {
        if (copy_token_ == mk::no_id) {
            mk::Token token;
            token.name = mk::Name("copies");
            token.kind = mk::TokenKind::async_group;
            token.scope = mk::Scope::warp;
            token.depth = stages_of_groups();
            copy_token_ = builder_.token(token);
        }
        return copy_token_;
    }

    mk::Id ring_token(std::size_t number) {
        mk::Id& known = ring_tokens_[number];
        if (known == mk::no_id) {
            const TransactionRing& ring = rings_.rings[number];
            mk::Token token;
            token.name = mk::Name(fmt::format("ring{}", number));
            token.kind = mk::TokenKind::mbarrier;
            token.arrivals = ring.arrivals;
            token.initial = ring.free;
            token.depth = ring.stages;
            known = builder_.token(token);
        }
        return known;
    }

    /// A wait is described for all rounds of the code around. Phases that warps do not wait for, as those of
    /// stages that nobody has filled yet, are complete from the start.
    void pass_skipped(std::uint32_t wait, std::size_t ring, mk::Id token) {
        const double skipped = rounds_ - times_of(wait);
        passed_.resize(rings_.rings.size());
        passed_[ring] += std::max(0, static_cast<std::int32_t>(std::lround(skipped)));
        std::int32_t& initial = kernel_.tokens[static_cast<std::size_t>(token)].initial;
        const TransactionRing& known = rings_.rings[ring];
        initial = std::max(initial, std::min(known.stages, known.free + passed_[ring]));
    }

    /// Whether a wait can pass where all warps of the role come to it: not where only the code behind it
    /// completes the phases, which then other warps of the role do.
    [[nodiscard]] bool may_pass(std::uint32_t wait, std::size_t ring, mk::Id token) const {
        if (kernel_.tokens[static_cast<std::size_t>(token)].initial > 0) return true;
        return std::ranges::any_of(rings_.ring_of, [&](const auto& user) {
            if (user.second != ring || is_wait_for_phase(line(user.first))) return false;
            return user.first < wait || !role_->frequency.contains(user.first);
        });
    }

    // ---- roles

    void lower_role(const RoleBody& role, std::size_t number) {
        changed_.clear();
        passed_.clear();
        role_ = &role;
        elected_ = elected_in(*input_.trace, role);
        gather_accesses(role);
        builder_.role(mk::Name(bodies_.roles.size() == 1 ? "warps" : fmt::format("warps{}", number)),
                      static_cast<int>(role.warps.size()));
        writers_.assign(register_places, mk::no_id);
        product_groups_.clear();
        around_.clear();
        commits_ = std::ranges::any_of(role.frequency,
                                       [this](const auto& own) { return is_commit(line(own.first)); });
        lower_loop(role.body, {1.0, {1.0, 1.0}});
    }

    [[nodiscard]] const AssemblyLine& line(std::uint32_t instruction) const {
        return *code_.lines[instruction];
    }

    /// The order of the tiles along x that the accesses to global memory show. Each access is looked at where
    /// all traced CTAs make it for the first time in the same warp.
    [[nodiscard]] std::optional<model::machine::TileOrder> find_order() const {
        std::map<std::pair<std::uint32_t, int>, std::vector<CtaBase>> firsts;  // By instruction and warp.
        for (const auto& cta : input_.trace->ctas()) {
            std::set<std::pair<std::uint32_t, int>> seen;
            for (const WarpTrace& warp : cta->warps) {
                for (const TracedAccess& access : warp.accesses) {
                    const AccessEvent& event = access.event;
                    const std::pair<std::uint32_t, int> key{event.instruction, warp.warp};
                    if (event.space != AccessSpace::global || event.lanes == 0 || !seen.insert(key).second) {
                        continue;
                    }
                    const auto lane = static_cast<std::size_t>(std::countr_zero(event.lanes));
                    firsts[key].push_back({{cta->id[0], cta->id[1], cta->id[2]},
                                           static_cast<std::int64_t>(event.address[lane])});
                }
            }
        }
        std::vector<std::vector<CtaBase>> accesses;
        std::set<std::uint32_t> taken;
        for (auto& [key, bases] : firsts) {
            if (accesses.size() < most_accesses_ordered && taken.insert(key.first).second) {
                accesses.push_back(std::move(bases));
            }
        }
        return order_of_grid(input_.shape.grid[0], accesses);
    }

    void gather_accesses(const RoleBody& role) {
        accesses_.clear();
        for (const auto& cta : input_.trace->ctas()) {
            for (std::size_t w = 0; w < role.warps.size(); ++w) {
                const WarpTrace& warp = cta->warps[static_cast<std::size_t>(role.warps[w])];
                LoopPosition position(bodies_.loops);
                std::size_t entered = 0;
                for (const TracedAccess& access : warp.accesses) {
                    while (entered <= access.stretch) {
                        position.enter(warp.stretches[entered++]);
                    }
                    PlacedAccess placed;
                    placed.event = &access.event;
                    std::vector<std::int64_t> rounds;  // Of the loops around, innermost first.
                    for (int loop = loop_of(bodies_.loops, access.event.instruction); loop >= 0;
                         loop = bodies_.loops[static_cast<std::size_t>(loop)].parent) {
                        rounds.push_back(std::max<std::int64_t>(0, position.round(loop)));
                    }
                    const std::array<std::int64_t, cta_variables> place =
                        coordinates_of({cta->id[0], cta->id[1], cta->id[2]}, order_);
                    placed.variables.assign(place.begin(), place.end());
                    placed.variables.push_back(static_cast<std::int64_t>(w));
                    std::ranges::reverse_copy(rounds, std::back_inserter(placed.variables));
                    accesses_[access.event.instruction].push_back(std::move(placed));
                }
            }
        }
        note_skews();
        keep_one_shared_memory();
    }

    /// Accesses to the CTA of a cluster that other CTAs ask most, by the mean of all: whole clusters are
    /// traced.
    void note_skews() {
        skews_.clear();
        const auto ctas = static_cast<std::size_t>(kernel_.cluster.volume());
        if (ctas == 1) return;
        std::vector<double> asked(ctas);
        for (const auto& [instruction, placed] : accesses_) {
            std::ranges::fill(asked, 0.0);
            double all = 0.0;
            for (const PlacedAccess& one : placed) {
                const AccessEvent& event = *one.event;
                all += std::popcount(event.lanes);
                if (event.space != AccessSpace::cluster_shared) continue;
                for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
                    if ((event.lanes >> lane & 1U) != 0) asked.at(event.rank[lane]) += 1.0;
                }
            }
            const double most = std::ranges::max(asked);
            if (most > 0.0) skews_[instruction] = static_cast<double>(ctas) * most / all;
        }
    }

    /// An instruction that goes to shared memory of several CTAs in turn, its own among them, is described by
    /// the more frequent of the two.
    void keep_one_shared_memory() {
        for (auto& [instruction, placed] : accesses_) {
            const auto of = [&placed](AccessSpace space) {
                return std::ranges::count_if(
                    placed, [space](const PlacedAccess& one) { return one.event->space == space; });
            };
            const auto own = of(AccessSpace::shared), others = of(AccessSpace::cluster_shared);
            if (own == 0 || others == 0) continue;
            const AccessSpace rarer = own > others ? AccessSpace::cluster_shared : AccessSpace::shared;
            std::erase_if(placed, [rarer](const PlacedAccess& one) { return one.event->space == rarer; });
        }
    }

    /// Class of an instruction where it stands. Generic accesses are those of the memory that they touched;
    /// one that mostly goes to other CTAs of the cluster is theirs. A barrier of the cluster is one op with
    /// its arrival, and with the fence right before it.
    [[nodiscard]] OpcodeClass class_at(std::uint32_t instruction) const {
        const AssemblyLine& own = line(instruction);
        OpcodeClass cls = class_of(own);
        const auto traced = accesses_.find(instruction);
        if (traced != accesses_.end()) {
            const AccessSpace space = traced->second.front().event->space;
            const bool atomic = own.opcode == "ATOM" || own.opcode == "ATOMG" || own.opcode == "RED";
            if (atomic && (space == AccessSpace::shared || space == AccessSpace::cluster_shared)) {
                cls.cls = hw::InstructionClass::atom_shared;
            }
            const bool generic = own.opcode == "LD" || own.opcode == "ST";
            const bool loads = own.opcode == "LD" || own.opcode == "LDS";
            if (generic ||
                ((own.opcode == "LDS" || own.opcode == "STS") && space == AccessSpace::cluster_shared)) {
                using hw::InstructionClass;
                cls.cls = space == AccessSpace::cluster_shared ? (loads ? InstructionClass::ld_shared_cluster
                                                                        : InstructionClass::st_shared_cluster)
                          : space == AccessSpace::shared
                              ? (loads ? InstructionClass::ld_shared : InstructionClass::st_shared)
                          : space == AccessSpace::local
                              ? (loads ? InstructionClass::ld_local : InstructionClass::st_local)
                              : cls.cls;
            }
        }
        if (own.opcode == "UCGABAR_ARV" || (own.opcode == "MEMBAR" && releases_to_cluster(instruction))) {
            cls.cls = hw::InstructionClass::move;
        }
        return cls;
    }

    /// Whether the L1 forgets its lines behind the cluster's barrier: the fence before it then takes its
    /// time.
    [[nodiscard]] bool forgets_behind(std::uint32_t arrival) const {
        constexpr std::uint32_t nearest = 8;
        bool waited = false;
        for (std::uint32_t i = arrival + 1; i < code_.lines.size() && i <= arrival + nearest; ++i) {
            if (waited && line(i).opcode == "CCTL") return true;
            waited = waited || line(i).opcode == "UCGABAR_WAIT";
        }
        return false;
    }

    /// Whether the cluster's barrier follows a fence at once.
    [[nodiscard]] bool releases_to_cluster(std::uint32_t fence) const {
        constexpr std::uint32_t nearest = 6;
        for (std::uint32_t i = fence + 1; i < code_.lines.size() && i <= fence + nearest; ++i) {
            const std::string& opcode = line(i).opcode;
            if (opcode == "UCGABAR_ARV") return !forgets_behind(i);
            if (opcode != "ERRBAR" && opcode != "CGAERRBAR" && opcode != "WARPSYNC" && opcode != "NOP") break;
        }
        return false;
    }

    /// How often warps go through a body: on average, and the slowest ones.
    struct Rounds {
        double mean = 1.0;
        mk::SlowestWarps slowest;
    };

    /// Lowers the loop's own instructions and inner loops in the order of their addresses. `rounds`: how
    /// often a warp goes through this body.
    void lower_loop(const BodyLoop& loop, const Rounds& rounds) {
        const double around = std::exchange(rounds_, rounds.mean);
        std::size_t inner = 0;
        std::size_t i = 0;
        while (i < loop.instructions.size() || inner < loop.inner.size()) {
            const bool loop_next = inner < loop.inner.size() &&
                                   (i >= loop.instructions.size() ||
                                    bodies_.loops[static_cast<std::size_t>(loop.inner[inner].loop)].first <
                                        loop.instructions[i]);
            if (loop_next) {
                lower_inner(loop.inner[inner++], rounds);
                continue;
            }
            const std::uint32_t limit =
                inner < loop.inner.size()
                    ? bodies_.loops[static_cast<std::size_t>(loop.inner[inner].loop)].first
                    : std::numeric_limits<std::uint32_t>::max();
            const double share = share_of(loop.instructions[i], rounds.mean);
            std::size_t end = i + 1;
            while (end < loop.instructions.size() && loop.instructions[end] < limit &&
                   alike(share, share_of(loop.instructions[end], rounds.mean))) {
                ++end;
            }
            lower_stretch({loop.instructions.begin() + static_cast<std::ptrdiff_t>(i),
                           loop.instructions.begin() + static_cast<std::ptrdiff_t>(end)},
                          share, slowest_shares(loop.instructions[i], rounds, share));
            i = end;
        }
        rounds_ = around;
    }

    /// Executions of an instruction by the slowest warps, for each time that they go through the body around;
    /// -1 where they are not known or do as all warps do.
    [[nodiscard]] mk::SlowestWarps slowest_shares(std::uint32_t instruction, const Rounds& rounds,
                                                  double mean) const {
        const auto known = role_->frequency.find(instruction);
        if (known == role_->frequency.end()) {
            return {};
        }
        const mk::SlowestWarps& times = known->second.slowest;
        const auto share = [mean](double own, double around) {
            if (own < 0.0 || around <= 0.0) return -1.0;
            return alike(own / around, mean) ? -1.0 : own / around;
        };
        return {share(times.of_cta, rounds.slowest.of_cta), share(times.of_grid, rounds.slowest.of_grid)};
    }

    /// Executions for each time that a warp goes through the body around: by an elected warp where only some
    /// warps do what the instruction does.
    [[nodiscard]] double share_of(std::uint32_t instruction, double rounds) const {
        return times_of(instruction) / std::max(rounds, 1e-12);
    }
    /// Executions by a warp, or by an elected one.
    [[nodiscard]] double times_of(std::uint32_t instruction) const {
        const auto elected = elected_.find(instruction);
        return elected == elected_.end() ? role_->frequency.at(instruction).times : elected->second.times;
    }
    static bool alike(double a, double b) {
        return (a >= always && b >= always && a < 2.0 - always && b < 2.0 - always) ||
               std::abs(a - b) <= 0.01 * std::max(a, b);
    }

    [[nodiscard]] bool has_barrier(const BodyLoop& loop) const {
        return std::ranges::any_of(loop.instructions,
                                   [this](std::uint32_t i) { return synchronizes(line(i)); }) ||
               std::ranges::any_of(loop.inner, [this](const BodyLoop& inner) { return has_barrier(inner); });
    }

    /// Whether a part of the warps uses barriers or the bulk engine in the loop.
    [[nodiscard]] bool elects(const BodyLoop& loop) const {
        return std::ranges::any_of(loop.instructions,
                                   [this](std::uint32_t i) { return elected_.contains(i); }) ||
               std::ranges::any_of(loop.inner, [this](const BodyLoop& inner) { return elects(inner); });
    }

    /// Warps of the role for each one that runs the loop.
    [[nodiscard]] double warps_per_runner(const BodyLoop& loop) const {
        const std::uint32_t header = bodies_.loops[static_cast<std::size_t>(loop.loop)].first;
        std::size_t runners = 0;
        for (const int w : role_->warps) {
            runners += std::ranges::any_of(input_.trace->ctas(), [w, header](const auto& cta) {
                return std::ranges::any_of(
                    cta->warps[static_cast<std::size_t>(w)].stretches,
                    [header](const Stretch& stretch) { return header - stretch.first < stretch.count; });
            });
        }
        return static_cast<double>(role_->warps.size()) /
               static_cast<double>(std::max<std::size_t>(1, runners));
    }

    /// The instruction of the loop that writes the register last before instruction `at`, round the loop;
    /// none where the loop leaves the register as it is.
    [[nodiscard]] std::optional<std::uint32_t> writer_before(const BodyLoop& loop, std::uint32_t at,
                                                             int number) const {
        const auto writes = [this, number](std::uint32_t i) {
            const AssemblyLine& own = line(i);
            return !own.operands.empty() && own.operands.front().kind == OperandKind::general &&
                   own.operands.front().number == number;
        };
        std::optional<std::uint32_t> before, behind;
        for (const std::uint32_t i : loop.instructions) {
            if (writes(i)) (i < at ? before : behind) = i;
        }
        return before ? before : behind;
    }

    /// Whether the loop's own arithmetic moves the place of access `at` from trip to trip. The number of
    /// places that a search goes through is in the data, whoever comes first.
    [[nodiscard]] bool walks(const BodyLoop& loop, std::uint32_t at) const {
        const AssemblyLine& access = line(at);
        const auto place = std::ranges::find(access.operands, OperandKind::address, &Operand::kind);
        if (place == access.operands.end() || place->base < 0) return false;
        const auto writer = writer_before(loop, at, place->base);
        if (!writer) return false;
        const AssemblyLine& own = line(*writer);
        const bool adds =
            own.opcode.starts_with("IMAD") || own.opcode.starts_with("IADD") || own.opcode.starts_with("LEA");
        // A place that is written anew from what stays is no other place.
        return adds && std::any_of(own.operands.begin() + 1, own.operands.end(), [&](const Operand& source) {
                   return source.kind == OperandKind::general &&
                          writer_before(loop, *writer, source.number).has_value();
               });
    }

    /// Whether the loop reads what other CTAs write, as one that tries again does. How often it goes round
    /// depends on the time that others take, so the slowest warp's rounds say nothing. Where loops wait,
    /// looks in vain are not counted, and CTAs have run side by side.
    [[nodiscard]] bool watches_others(const BodyLoop& loop) const {
        if (polls_) return false;
        return std::ranges::any_of(loop.instructions,
                                   [this, &loop](std::uint32_t i) {
                                       const AssemblyLine& own = line(i);
                                       return (own.opcode.starts_with("ATOM") && !walks(loop, i)) ||
                                              (own.opcode.starts_with("LD") && own.has("STRONG"));
                                   }) ||
               std::ranges::any_of(loop.inner,
                                   [this](const BodyLoop& inner) { return watches_others(inner); });
    }

    /// Trips of each CTA by its place in the grid, where CTAs differ and the warps of one do not: those of
    /// a loop over the blocks before a diagonal, say. None where the traced CTAs follow no such function.
    [[nodiscard]] std::optional<AffineFit> trips_by_place(std::uint32_t header) const {
        std::vector<AffineSample> samples;
        std::set<std::int64_t> values;
        for (const auto& cta : input_.trace->ctas()) {
            std::optional<std::int64_t> trips;
            for (const WarpTrace& warp : cta->warps) {
                if (std::ranges::find(role_->warps, warp.warp) == role_->warps.end()) continue;
                if (warp.truncated) return {};
                const auto own = std::ranges::count_if(warp.stretches, [header](const Stretch& stretch) {
                    return stretch.first <= header && header < stretch.first + stretch.count;
                });
                if (trips && *trips != own) return {};
                trips = own;
            }
            if (!trips) return {};
            const std::array<std::int64_t, cta_variables> place =
                coordinates_of({cta->id[0], cta->id[1], cta->id[2]}, order_);
            samples.push_back({{place.begin(), place.end()}, *trips});
            values.insert(*trips);
        }
        // Fewer counts follow some function by chance.
        constexpr std::size_t least_samples = cta_variables + 2, least_values = 3;
        if (samples.size() < least_samples || values.size() < least_values) return {};
        return fit_affine(samples);
    }

    void lower_inner(const BodyLoop& loop, const Rounds& around) {
        // Warps meet at barriers, so a loop with one cannot stand in a branch that some warps skip: CTAs that
        // skip it make the loop shorter instead.
        const bool meets = has_barrier(loop);
        const double rounds = around.mean;
        // A loop of elected warps is the role's loop; what elected warps alone do in it stands in branches.
        const double elected = elects(loop) ? warps_per_runner(loop) : 1.0;
        const double own_rounds = loop.rounds * elected;
        const double own_entries = loop.entries * elected;
        const double entries = meets ? 1.0 : own_entries / std::max(rounds, 1e-12);
        const double trips = own_rounds / std::max(meets ? rounds : own_entries, 1e-12);
        const bool deep =
            static_cast<int>(around_.size()) >= mk::max_loop_depth || depth_ >= mk::max_nesting - 2;
        if (deep) {
            throw Error(fmt::format("kernel '{}' loops", entry_.name), std::to_string(around_.size() + 1),
                        fmt::format("at most {} within one another", mk::max_loop_depth));
        }
        const bool branches = entries < always;
        const std::uint32_t header = bodies_.loops[static_cast<std::size_t>(loop.loop)].first;
        const bool watches = watches_others(loop);
        mk::SlowestWarps times =
            watches ? mk::SlowestWarps{} : slowest_shares(header, around, branches ? entries * trips : trips);
        if (branches) {
            const auto entering = [trips](double own) {
                return own < 0.0 ? -1.0 : std::min(1.0, own / trips);
            };
            const mk::SlowestWarps enter{entering(times.of_cta), entering(times.of_grid)};
            builder_.branch({std::clamp(entries, 1e-9, 1.0), 32.0, enter});
            const auto inside = [](double own, double share) { return own <= 0.0 ? -1.0 : own / share; };
            times = {inside(times.of_cta, enter.of_cta), inside(times.of_grid, enter.of_grid)};
            ++depth_;
            ++branches_;
        }
        const double whole = std::round(trips);
        // Loops that all CTAs go round alike are not searched.
        const bool apart = around_.empty() && !branches && times.of_grid > trips;
        const std::optional<AffineFit> by_place = apart ? trips_by_place(header) : std::nullopt;
        if (!by_place && std::abs(trips - whole) < 1e-6 * std::max(1.0, trips)) {
            builder_.loop(static_cast<std::int64_t>(whole));
        } else {
            mk::Trips expected;
            expected.expected = true;
            expected.mean = trips;
            expected.max_over_lanes = expected.max_over_warps = std::max(trips, times.of_grid);
            if (by_place) expected.index = index_of(*by_place);
            builder_.loop(expected);
        }
        kernel_.loops.back().slowest = times;
        kernel_.loops.back().overlap = true;
        ++depth_;
        around_.push_back(loop.loop);
        open_.push_back({static_cast<mk::Id>(kernel_.ops.size()), product_groups_.size(), {}, {}});
        const auto header_times = watches ? role_->frequency.end() : role_->frequency.find(header);
        lower_loop(loop, {own_rounds, header_times == role_->frequency.end() ? mk::SlowestWarps{}
                                                                             : header_times->second.slowest});
        around_.pop_back();
        carry_over();
        builder_.end();
        --depth_;
        if (branches) {
            builder_.end();
            --depth_;
            --branches_;
        }
    }

    [[nodiscard]] bool is_product(mk::Id op) const {
        return kernel_.ops[static_cast<std::size_t>(op)].cls == hw::InstructionClass::wgmma;
    }

    /// At the end of a loop: what its ops read before the trip writes it was written in the trip before.
    /// What the loop does not write comes from the loop around, if from any.
    void carry_over() {
        const OpenLoop loop = std::move(open_.back());
        open_.pop_back();
        for (const EarlyRead& read : loop.reads) {
            const mk::Id writer = writers_[read.place];
            if (writer < loop.first) {
                read_early(read);
            } else if (!is_product(writer) || !is_product(read.op)) {
                add_dep(dependences_[static_cast<std::size_t>(read.op)], {writer, 1});
            }
        }
        const std::size_t groups = product_groups_.size() - loop.groups;
        for (const GroupWait& wait : loop.waits) {
            // Groups of a trip, counted back from the last one of the trip before.
            const std::size_t back = wait.before - 1;
            if (groups > 0) {
                const auto trips = static_cast<std::int32_t>(back / groups + 1);
                add_dep(dependences_[static_cast<std::size_t>(wait.op)],
                        {product_groups_[product_groups_.size() - 1 - back % groups], trips});
            }
        }
    }

    /// Notes a read in the innermost loop around whose trip has not written the register yet.
    void read_early(const EarlyRead& read) {
        if (!open_.empty() && writers_[read.place] < open_.back().first) {
            open_.back().reads.push_back(read);
        }
    }

    /// Instructions that ran equally often: in a branch where some warps skip them, in a loop where they ran
    /// repeatedly.
    void lower_stretch(const std::vector<std::uint32_t>& instructions, double share,
                       const mk::SlowestWarps& slowest) {
        const bool repeated = share > 2.0 - always;
        const bool meets = std::ranges::any_of(
            instructions, [this](std::uint32_t instruction) { return synchronizes(line(instruction)); });
        const bool skipped = share < (meets ? mostly : always);
        if (repeated) {
            mk::Trips trips;
            trips.expected = true;
            trips.mean = share;
            trips.max_over_lanes = trips.max_over_warps = std::max(share, slowest.of_grid);
            builder_.loop(trips);
            kernel_.loops.back().slowest = slowest;
        } else if (skipped) {
            const mk::SlowestWarps taking{std::min(slowest.of_cta, 1.0), std::min(slowest.of_grid, 1.0)};
            // Each op says itself how many of its lanes are active.
            builder_.branch({std::clamp(share, 1e-9, 1.0), lanes_per_warp, taking});
        }
        for (std::size_t i = 0; i < instructions.size();) {
            i = lower_op(instructions, i, skipped || repeated);
        }
        if (skipped || repeated) {
            builder_.end();
        }
    }

    /// Writes the op that begins with instruction i and gives the index behind it.
    std::size_t lower_op(const std::vector<std::uint32_t>& instructions, std::size_t i, bool conditional) {
        const std::uint32_t first = instructions[i];
        const OpcodeClass cls = class_at(first);
        const bool products = cls.cls == hw::InstructionClass::wgmma;
        if (products) {
            products_.instructions.push_back(first);
            if (joins_next(instructions, i)) {
                return i + 1;
            }
        }
        const auto traced = accesses_.find(first);
        const auto ring = rings_.ring_of.find(first);
        const auto elected = elected_.find(first);
        const bool alone = products || traced != accesses_.end() || is_barrier(line(first)) ||
                           is_commit(line(first)) || is_group_wait(line(first)) ||
                           ring != rings_.ring_of.end() || elected != elected_.end();
        std::size_t end = i + 1;
        while (!alone && end < instructions.size() && instructions[end] == instructions[end - 1] + 1) {
            const OpcodeClass next = class_at(instructions[end]);
            if (next.cls != cls.cls || next.dtype != cls.dtype || next.shape != cls.shape ||
                bytes_of_table(line(instructions[end])) != bytes_of_table(line(first)) ||
                accesses_.contains(instructions[end]) || rings_.ring_of.contains(instructions[end]) ||
                elected_.contains(instructions[end]) || is_barrier(line(instructions[end])) ||
                is_group_wait(line(instructions[end])) ||
                (cls.cls == hw::InstructionClass::set_predicate && reads_of(instructions, i, end))) {
                break;
            }
            ++end;
        }
        mk::Op& op = builder_.op(cls.cls);
        const mk::Id id = builder_.last_op();
        if (code_.instructions[first].looks || code_.instructions[first].tells) {
            op_of_[first] = id;
        }
        const bool changes = line(first).opcode.starts_with("ATOM") || line(first).opcode.starts_with("RED");
        const auto place = std::ranges::find(line(first).operands, OperandKind::address, &Operand::kind);
        if (changes && place != line(first).operands.end()) {
            changed_[place->text] = id;
        }
        op.dtype = cls.dtype;
        op.shape = cls.shape;
        op.count = static_cast<std::int64_t>(end - i);
        if (const SourceLine source = code_.line_of(first); source.file >= 0) {
            op.file = file_of(code_.module.lines.files[static_cast<std::size_t>(source.file)]);
            op.line = source.line;
        }
        const bool accesses = traced != accesses_.end() && elected == elected_.end();
        const Enabled enabled = accesses && ring == rings_.ring_of.end()
                                    ? enabled_accesses(first, *traced->second.front().event)
                                    : Enabled{1.0, enabled_lanes(first)};
        op.active = std::clamp(enabled.lanes / 32.0, 1.0 / 32.0, 1.0);
        op.enabled = enabled.share;
        std::vector<mk::Dep> deps;
        op.chain = products ? chain_and_dependences(products_.instructions, 0, products_.instructions.size(),
                                                    id, deps)
                            : chain_and_dependences(instructions, i, end, id, deps);
        if (products) {
            op.count = static_cast<std::int64_t>(products_.instructions.size());
            op.chain = 1 + products_.links;
            products_ = {};
            // Products on the same sums follow one another in the tensor cores; none waits for the last one.
            std::erase_if(deps, [this](const mk::Dep& dep) { return is_product(dep.op); });
        }
        follow_products(instructions, i, end, id, deps);
        // A look at a word follows the warp's own change of the word through the memory.
        if (code_.instructions[first].looks && !changes && place != line(first).operands.end() &&
            changed_.contains(place->text)) {
            add_dep(deps, {changed_[place->text], 0});
        }
        dependences_.resize(static_cast<std::size_t>(id) + 1);
        dependences_[static_cast<std::size_t>(id)] = std::move(deps);
        op.returns = !returns_nothing(line(first));
        if (const InstructionCounts& counts = input_.counts->instructions[first]; counts.warps > 0) {
            op.asleep = counts.asleep / static_cast<double>(counts.warps);
            op.texture = counts.texture;
        }
        if (elected != elected_.end()) {
            op.when = {true, builder_.variable(mk::Variable::warp), elected->second.warp,
                       elected->second.warp + 1};
            op.active = 1.0 / 32.0;
        }
        const bool waits = is_wait_for_phase(line(first));
        if (ring != rings_.ring_of.end() && !waits) {
            kernel_.ops[static_cast<std::size_t>(id)].completes = ring_token(ring->second);
        }
        if (traced != accesses_.end()) {
            add_accesses(first, traced->second);
        } else if (const int bytes = bytes_of_table(line(first)); bytes > 0) {
            add_constants(first, bytes);
        }
        if (conditional || branches_ > 0) {
            return end;
        }
        if (is_barrier(line(first))) {
            add_barrier(first);
        }
        if (ring != rings_.ring_of.end() && waits) {
            const mk::Id token = ring_token(ring->second);
            pass_skipped(first, ring->second, token);
            if (may_pass(first, ring->second, token)) builder_.wait(token);
        }
        if (is_commit(line(first))) {
            builder_.signal(copy_token(), mk::SignalOn::issue);
        }
        if (is_group_wait(line(first)) && commits_) {
            const std::vector<Operand>& operands = line(first).operands;
            builder_.wait(copy_token(), operands.size() > 1 ? static_cast<int>(operands[1].value) : 0);
        }
        return end;
    }

    /// Whether the asynchronous product at `i` is one op with the next one: alike, with nothing between them
    /// that uses its sums, and of one group, or with a wait between them that puts them in series.
    bool joins_next(const std::vector<std::uint32_t>& instructions, std::size_t i) {
        const AssemblyLine& own = line(instructions[i]);
        const RegisterUse sums = registers_of(own);
        bool waits = false;
        for (std::size_t next = i + 1; next < instructions.size(); ++next) {
            const AssemblyLine& other = line(instructions[next]);
            if (other.opcode == own.opcode && other.modifiers == own.modifiers) {
                products_.links += waits ? 1 : 0;
                return waits || !names_products(own);
            }
            const RegisterUse use = registers_of(other);
            const bool uses = std::ranges::any_of(use.reads, [&sums](std::uint16_t place) {
                return std::ranges::find(sums.writes, place) != sums.writes.end();
            });
            if (synchronizes(other) || uses || accesses_.contains(instructions[next])) {
                return false;
            }
            waits = waits || (other.opcode == "WARPGROUP" && other.has("DEPBAR") &&
                              other.operands.size() > 1 && other.operands[1].value == 0);
        }
        return false;
    }

    /// A wait for asynchronous products depends on the newest group that it does not leave under way.
    void follow_products(const std::vector<std::uint32_t>& instructions, std::size_t begin, std::size_t end,
                         mk::Id id, std::vector<mk::Dep>& deps) {
        const AssemblyLine& first = line(instructions[begin]);
        if (first.opcode == "WARPGROUP" && first.has("DEPBAR") && first.operands.size() > 1) {
            const auto left = static_cast<std::size_t>(std::max<std::int64_t>(0, first.operands[1].value));
            if (left < product_groups_.size()) {
                add_dep(deps, {product_groups_[product_groups_.size() - 1 - left], 0});
            }
            if (!open_.empty() && left >= product_groups_.size() - open_.back().groups) {
                open_.back().waits.push_back({id, left - (product_groups_.size() - open_.back().groups) + 1});
            }
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            if (names_products(line(instructions[i]))) {
                product_groups_.push_back(id);
            }
        }
    }

    /// Reductions, and atomic operations that throw the old value away. The destination is the first general
    /// register: a predicate may stand before it.
    static bool returns_nothing(const AssemblyLine& line) {
        if (!line.opcode.starts_with("ATOM")) {
            return line.opcode == "RED" || line.opcode == "REDG";
        }
        const auto destination = std::ranges::find_if(
            line.operands, [](const Operand& operand) { return operand.kind == OperandKind::general; });
        return destination != line.operands.end() && destination->number == zero_register;
    }

    /// Share of the executions that make an access, and the lanes in these.
    struct Enabled {
        double share = 1.0;
        double lanes = 32.0;
    };

    /// Copies of the last trips, which have nothing left to bring, are off by a predicate: all lanes write
    /// zeros to shared memory and read nothing. The waits of guarded loads are those of warps that load.
    [[nodiscard]] Enabled enabled_accesses(std::uint32_t instruction, const AccessEvent& sample) const {
        const InstructionCounts& counts = input_.counts->instructions[instruction];
        const AccessCounts& made = input_.counts->accesses[instruction];
        Enabled enabled{1.0, enabled_lanes(instruction)};
        if (sample.kind == AccessKind::asynchronous_copy && sample.width > 0 && counts.enabled_threads > 0) {
            const auto threads = static_cast<double>(counts.enabled_threads);
            const double read = static_cast<double>(made.bytes) / sample.width - threads;
            enabled.share = std::clamp(read / threads, 0.0, 1.0);
        }
        return enabled;
    }

    [[nodiscard]] double enabled_lanes(std::uint32_t instruction) const {
        const InstructionCounts& counts = input_.counts->instructions[instruction];
        return counts.warps == 0
                   ? 32.0
                   : static_cast<double>(counts.enabled_threads) / static_cast<double>(counts.warps);
    }

    /// Whether instruction `end` reads what one of [begin, end) writes. Another comparison waits less for a
    /// comparison than a guard does. So comparisons that follow each other are ops of their own.
    [[nodiscard]] bool reads_of(const std::vector<std::uint32_t>& instructions, std::size_t begin,
                                std::size_t end) const {
        const RegisterUse use = registers_of(line(instructions[end]));
        for (std::size_t i = begin; i < end; ++i) {
            const RegisterUse before = registers_of(line(instructions[i]));
            const auto read = [&](std::uint16_t place) { return std::ranges::count(use.reads, place) > 0; };
            if (std::ranges::any_of(before.writes, read)) return true;
        }
        return false;
    }

    /// Longest chain within the op's instructions; the ops before that they need.
    std::int64_t chain_and_dependences(const std::vector<std::uint32_t>& instructions, std::size_t begin,
                                       std::size_t end, mk::Id id, std::vector<mk::Dep>& deps) {
        std::map<std::uint16_t, std::int64_t> depth;  // Of values written within the op.
        std::int64_t longest = 1;
        for (std::size_t i = begin; i < end; ++i) {
            const RegisterUse use = registers_of(line(instructions[i]));
            std::int64_t own = 1;
            for (const std::uint16_t place : use.reads) {
                const auto inside = depth.find(place);
                if (inside != depth.end()) {
                    own = std::max(own, inside->second + 1);
                    continue;
                }
                const mk::Id writer = writers_[place];
                if (writer != mk::no_id && writer != id) {
                    add_dep(deps, {writer, 0});
                }
                read_early({place, id});
            }
            for (const std::uint16_t place : use.writes) {
                depth[place] = own;
            }
            longest = std::max(longest, own);
        }
        for (const auto& [place, value] : depth) {
            writers_[place] = id;
        }
        return std::min<std::int64_t>(longest, static_cast<std::int64_t>(end - begin));
    }

    static void add_dep(std::vector<mk::Dep>& deps, mk::Dep dep) {
        const bool known = std::ranges::any_of(deps, [dep](const mk::Dep& other) { return other == dep; });
        if (!known) {
            deps.push_back(dep);
            std::ranges::sort(deps, [](const mk::Dep& a, const mk::Dep& b) { return a.op > b.op; });
        }
    }

    void add_barrier(std::uint32_t instruction) {
        const AssemblyLine& barrier = line(instruction);
        const std::int64_t number =
            !barrier.operands.empty() && barrier.operands[0].kind == OperandKind::immediate
                ? barrier.operands[0].value
                : 0;
        std::int32_t arrivals = 0;
        for (const RoleBody& role : bodies_.roles) {
            const bool runs = std::ranges::any_of(role.frequency, [this, number](const auto& own) {
                const AssemblyLine& other = line(own.first);
                return is_barrier(other) && !other.operands.empty() &&
                       (other.operands[0].kind != OperandKind::immediate ||
                        other.operands[0].value == number);
            });
            arrivals += runs ? static_cast<std::int32_t>(role.warps.size()) : 0;
        }
        const mk::Id token = barrier_token(number, std::max(arrivals, 1));
        builder_.signal(token, mk::SignalOn::issue);
        if (!barrier.has("ARV")) {
            builder_.wait(token);
        }
    }

    // ---- accesses

    /// One access for each space: a copy from global to shared memory has two.
    void add_accesses(std::uint32_t instruction, const std::vector<PlacedAccess>& traced) {
        std::map<AccessSpace, std::vector<PlacedAccess>> by_space;
        for (const PlacedAccess& placed : traced) {
            by_space[placed.event->space].push_back(placed);
        }
        for (const auto& [space, own] : by_space) {
            add_access(instruction, own);
        }
    }

    void add_access(std::uint32_t instruction, const std::vector<PlacedAccess>& traced) {
        const AccessEvent& sample = *traced.front().event;
        if (sample.lanes == 0) {
            return;
        }
        const bool global = sample.space == AccessSpace::global;
        std::uint64_t base = 0;
        const auto first = static_cast<std::size_t>(std::countr_zero(sample.lanes));
        // A box of several rows lies in a matrix whose rows are as far apart as those of the box.
        const bool in_rows = sample.bulk_bytes > sample.bulk_row_bytes && sample.bulk_row_bytes > 0 &&
                             sample.bulk_row_step > sample.bulk_row_bytes;
        const std::uint64_t pitch = in_rows ? sample.bulk_row_step : 0;
        const mk::Id target = buffer(sample.space, sample.address[first], base, pitch);
        if (target == mk::no_id) {
            return;
        }
        mk::Access access;
        access.buffer = target;
        const bool fills_shared =
            sample.kind == AccessKind::asynchronous_copy && sample.space != AccessSpace::global;
        access.direction = sample.kind == AccessKind::store || fills_shared ? mk::Direction::write
                           : sample.kind == AccessKind::atomic || sample.kind == AccessKind::reduction
                               ? mk::Direction::atomic
                               : mk::Direction::read;
        access.bytes = std::max<std::int32_t>(1, sample.width);
        if (const auto skew = skews_.find(instruction);
            skew != skews_.end() && sample.space == AccessSpace::cluster_shared) {
            access.skew = skew->second;
        }
        if (sample.space == AccessSpace::global && instruction < input_.counts->skews.size()) {
            access.skew = std::max(1.0, input_.counts->skews[instruction]);
        }
        access.bounds = mk::Bounds::clip;
        const AssemblyLine& text = line(instruction);
        // Copies to shared memory that pass by the L1: cp.async.cg. STRONG.SM looks in the L1, which the
        // threads of an SM share.
        if ((text.has("STRONG") && !text.has("SM")) || text.has("SYS") || text.has("GPU") ||
            text.has("BYPASS")) {
            access.cache = mk::CachePolicy::cg;
        } else if (text.has("EF")) {
            access.cache = mk::CachePolicy::cs;
        }
        if (const auto reuse = reuse_.find(instruction);
            reuse != reuse_.end() && mk::looks_in_l1(access.cache) &&
            (access.direction == mk::Direction::read || sample.space == AccessSpace::local) &&
            (sample.space == AccessSpace::global || sample.space == AccessSpace::local)) {
            kernel_.reuse.push_back(reuse->second);
            access.reuse = static_cast<std::uint16_t>(kernel_.reuse.size());
        }
        if (sample.kind == AccessKind::store && global) {
            const auto merged = merged_.find(instruction);
            const MergedStores others = merged == merged_.end() ? MergedStores{} : merged->second;
            access.joined = std::max(joined_share(instruction, traced, others.in_step), others.share);
            last_store_ = instruction;
        }
        std::vector<LaneAddresses> lanes;
        for (const PlacedAccess& placed : traced) {
            LaneAddresses own;
            own.lanes = placed.event->lanes;
            for (std::size_t l = 0; l < lanes_per_warp; ++l) {
                own.address[l] = static_cast<std::int64_t>(placed.event->address[l] - base);
            }
            lanes.push_back(own);
        }
        if (sample.bulk_bytes > 0) {
            add_box(access, traced, static_cast<std::int64_t>(base));
            return;
        }
        // Banks need the lanes' own addresses; for global memory, the lines of most warps are enough.
        const std::optional<LanePattern> pattern = fit_lanes(lanes, global ? mostly_alike : 1.0);
        std::optional<AffineFit> origin;
        if (pattern) {
            std::vector<AffineSample> samples;
            for (std::size_t i = 0; i < traced.size(); ++i) {
                if (lanes[i].lanes == 0 || !follows(lanes[i], *pattern)) {
                    continue;
                }
                const int lane = std::countr_zero(lanes[i].lanes);
                samples.push_back({traced[i].variables,
                                   lanes[i].address[static_cast<std::size_t>(lane)] - pattern->offset(lane)});
            }
            origin = fit_exact(samples);
            if (!origin && global) {
                origin = fit_most(samples, cta_variables);
            }
        }
        if (!pattern || !origin) {
            list_addresses(access, traced, lanes, input_.counts->accesses[instruction]);
        } else {
            set_pattern(access, *pattern);
            access.origin[0] = index_of(*origin);
            if (sample.space != AccessSpace::shared) spread_lanes(instruction, access);
        }
        builder_.access(access);
    }

    /// Bytes that a load takes from a table in constant memory, at a place in a register; 0 for parameters
    /// and for all else.
    [[nodiscard]] static int bytes_of_table(const AssemblyLine& own) {
        if (own.opcode != "LDC") return 0;
        const bool placed = std::ranges::any_of(own.operands, [](const Operand& operand) {
            return operand.kind == OperandKind::constant && operand.base >= 0;
        });
        return !placed ? 0 : own.has("128") ? 16 : own.has("64") ? 8 : 4;
    }

    /// Lists places in a bank of the lanes of a load, where they ever differ; at most `most_listed` of the
    /// traced executions.
    void list_constants(std::uint32_t instruction, mk::Access& access) {
        std::vector<const ConstantLanes*> traced;
        bool differ = false;
        for (const auto& cta : input_.trace->ctas()) {
            for (const WarpTrace& warp : cta->warps) {
                for (const ConstantLanes& load : warp.constant_lanes) {
                    if (load.instruction != instruction) continue;
                    traced.push_back(&load);
                    const auto first = load.offset[static_cast<std::size_t>(std::countr_zero(load.lanes))];
                    for (std::size_t l = 0; l < lanes_per_warp; ++l)
                        differ = differ || (((load.lanes >> l) & 1U) != 0 && load.offset[l] != first);
                }
            }
        }
        if (!differ) return;
        access.pattern = mk::PatternKind::listed;
        access.pool_first = static_cast<std::uint32_t>(kernel_.address_list.size());
        const std::size_t rows = std::min(most_listed, traced.size());
        for (std::size_t row = 0; row < rows; ++row) {
            const ConstantLanes& load = *traced[row * traced.size() / rows];
            for (std::size_t l = 0; l < lanes_per_warp; ++l)
                kernel_.address_list.push_back(((load.lanes >> l) & 1U) != 0 ? load.offset[l] : -1);
        }
        access.pool_length = static_cast<std::uint32_t>(rows) * lanes_per_warp;
    }

    /// A load from a table in constant memory.
    void add_constants(std::uint32_t instruction, int bytes) {
        constexpr std::int64_t bank_bytes = 65536;  // CUDA C++ Programming Guide, Constant Memory.
        const auto [known, fresh] =
            buffers_.try_emplace({static_cast<std::uint64_t>(mk::Space::constant), 0}, mk::no_id);
        if (fresh) {
            mk::Buffer made;
            made.space = mk::Space::constant;
            made.name = mk::Name("constants");
            made.dtype = hw::Dtype::int8;
            made.extent[0] = bank_bytes;
            known->second = builder_.buffer(made);
        }
        mk::Access access;
        access.buffer = known->second;
        access.pattern = mk::PatternKind::broadcast;
        access.bytes = bytes;
        if (const auto reuse = reuse_.find(instruction); reuse != reuse_.end()) {
            kernel_.reuse.push_back(reuse->second);
            access.reuse = static_cast<std::uint16_t>(kernel_.reuse.size());
        }
        list_constants(instruction, access);
        builder_.access(access);
    }

    /// A bulk copy is one box, which the engine moves by itself: of rows in a matrix, or a line of bytes.
    void add_box(mk::Access access, const std::vector<PlacedAccess>& traced, std::int64_t base) {
        const mk::Buffer& target = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
        const AccessEvent& sample = *traced.front().event;
        const std::int64_t pitch = target.rank == 2 ? target.stride[1] : 0;
        const std::int64_t modulus = pitch > 0 ? pitch : std::numeric_limits<std::int64_t>::max();
        double bytes = 0.0;
        std::vector<AffineSample> within;  // Places within a row, and rows.
        std::vector<AffineSample> rows;
        for (const PlacedAccess& placed : traced) {
            bytes += static_cast<double>(placed.event->bulk_bytes);
            const std::int64_t offset = static_cast<std::int64_t>(placed.event->address[0]) - base;
            within.push_back({placed.variables, offset % modulus});
            rows.push_back({placed.variables, offset / modulus});
        }
        bytes /= static_cast<double>(traced.size());
        access.pattern = mk::PatternKind::collective;
        access.rank = target.rank;
        const auto box_row = pitch > 0 ? static_cast<double>(sample.bulk_row_bytes) : bytes;
        access.box[0] = std::llround(box_row);
        access.origin[0] = origin_of_box(within);
        if (pitch > 0) {
            access.box[1] = std::max<std::int64_t>(1, std::llround(bytes / box_row));
            access.origin[1] = origin_of_box(rows);
        }
        builder_.access(access);
    }

    /// Where no affine function says the place of most copies, the CTAs' first ones are spread evenly.
    mk::Index origin_of_box(const std::vector<AffineSample>& samples) {
        std::optional<AffineFit> fit = fit_exact(samples);
        if (!fit) {
            fit = fit_most(samples);
        }
        return fit ? index_of(*fit) : mk::Builder::constant(samples.front().value);
    }

    /// Whether a warp waits, on its way from one instruction to a later one, for a load that it issues there.
    [[nodiscard]] bool waits_for_load_between(std::uint32_t from, std::uint32_t to) const {
        std::set<std::uint16_t> loaded;
        for (std::uint32_t i = from + 1; i <= to; ++i) {
            const RegisterUse use = registers_of(line(i));
            const auto late = [&loaded](std::uint16_t place) { return loaded.contains(place); };
            if (std::ranges::any_of(use.reads, late)) return true;
            const auto access = accesses_.find(i);
            if (access != accesses_.end() && access->second.front().event->kind == AccessKind::load &&
                access->second.front().event->space == AccessSpace::global) {
                loaded.insert(use.writes.begin(), use.writes.end());
            }
        }
        return false;
    }

    /// Share of a store's sectors that the warp's store right before it has touched, too. Such stores leave
    /// the SM together while they wait for their turn. Counted on an H200: four stores of a struct's words
    /// become 2.2 to 2.5, seven become 1.5; four stores of which others run 18 instructions apart stay four,
    /// and so do four with a load before each that it waits for (`append_cache`, counted on an H100). Of
    /// warps in step others store in between (`add_sums`: eight stores of 8 lines stay seven).
    [[nodiscard]] double joined_share(std::uint32_t instruction, const std::vector<PlacedAccess>& traced,
                                      bool in_step) const {
        const auto before = accesses_.find(last_store_);
        if (before == accesses_.end() || instruction <= last_store_ ||
            instruction - last_store_ > most_between_joined || before->second.size() != traced.size() ||
            waits_for_load_between(last_store_, instruction)) {
            return 0.0;
        }
        JoinedSectors sum;
        for (std::size_t i = 0; i < traced.size(); ++i) {
            if (before->second[i].variables != traced[i].variables) {
                return 0.0;
            }
            const JoinedSectors sectors =
                joined_sectors(*before->second[i].event, *traced[i].event, in_step, input_.cache);
            sum.joined += sectors.joined;
            sum.all += sectors.all;
        }
        return sum.all > 0.0 ? sum.joined / sum.all : 0.0;
    }

    /// A function that every sample follows, of the CTA, of the warp or its digits, and of loops; or one that
    /// they follow within each CTA.
    std::optional<AffineFit> fit_exact(const std::vector<AffineSample>& samples) const {
        if (std::optional<AffineFit> fit = fit_affine(samples)) return fit;
        const std::vector<AffineSample> spelled = spell_digits(samples, cta_variables);
        const std::size_t variables = samples.empty() ? 0 : samples.front().variables.size();
        if (const std::optional<AffineFit> fit = fit_affine(spelled)) return with_digits(*fit, variables);
        if (std::optional<AffineFit> fit = fit_within_ctas(samples)) return fit;
        const std::optional<AffineFit> fit = fit_within_ctas(spelled);
        return fit ? std::optional(with_digits(*fit, variables)) : std::nullopt;
    }

    /// Where the CTA's own part of an address is no affine function of its place (tiles in a grouped order, a
    /// row taken from a table): warps and loops as they are, and the CTAs' parts spread evenly over the range
    /// that the traced ones span. Ignores which CTAs share lines.
    std::optional<AffineFit> fit_within_ctas(const std::vector<AffineSample>& samples) const {
        const std::int64_t sector = input_.cache.sector;
        std::map<std::vector<std::int64_t>, const AffineSample*> firsts;  // By CTA.
        std::vector<AffineSample> within;
        for (const AffineSample& sample : samples) {
            const std::vector<std::int64_t> cta(sample.variables.begin(),
                                                sample.variables.begin() + cta_variables);
            const AffineSample& first = *firsts.emplace(cta, &sample).first->second;
            AffineSample difference;
            for (std::size_t v = cta_variables; v < sample.variables.size(); ++v) {
                difference.variables.push_back(sample.variables[v] - first.variables[v]);
            }
            difference.value = sample.value - first.value;
            within.push_back(std::move(difference));
        }
        const std::optional<AffineFit> fitted = fit_affine(within);
        if (!fitted || fitted->constant != 0 || firsts.size() < 2) {
            return std::nullopt;
        }
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        for (const auto& [cta, first] : firsts) {
            std::int64_t base = first->value;
            for (std::size_t v = cta_variables; v < first->variables.size(); ++v) {
                base -= fitted->coefficients[v - cta_variables] * first->variables[v];
            }
            least = std::min(least, base);
            most = std::max(most, base);
        }
        const auto ctas = static_cast<std::int64_t>(input_.shape.ctas());
        const std::int64_t step = (most - least) / std::max<std::int64_t>(1, ctas - 1) / sector * sector;
        AffineFit fit;
        fit.constant = least;
        std::int64_t all = step;
        for (std::size_t d = 0; d < cta_variables; ++d) {
            fit.coefficients.push_back(all);
            all *= kernel_.schedule.tiles[d];
        }
        fit.coefficients.insert(fit.coefficients.end(), fitted->coefficients.begin(),
                                fitted->coefficients.end());
        return fit;
    }

    /// Lanes of a row that data have chosen lie anywhere in it and touch most of its sectors: the op counts
    /// as so much of a row as it touches.
    void spread_lanes(std::uint32_t instruction, const mk::Access& access) {
        mk::Op& op = kernel_.ops.back();
        const bool row = access.pattern == mk::PatternKind::contiguous;
        // Each lane of an atomic is an operation of its own.
        if (!row || access.direction == mk::Direction::atomic || op.active >= 1.0) return;
        const double sectors = std::max(1.0, static_cast<double>(lanes_per_warp * access.bytes) /
                                                 static_cast<double>(input_.cache.sector));
        const double rows = static_cast<double>(input_.counts->instructions[instruction].warps) * sectors;
        const auto touched = static_cast<double>(input_.counts->accesses[instruction].sectors);
        if (rows > 0.0) op.active = std::clamp(touched / rows, op.active, 1.0);
    }

    static void set_pattern(mk::Access& access, const LanePattern& pattern) {
        if (pattern.inner == 0 && pattern.outer == 0) {
            access.pattern = mk::PatternKind::broadcast;
        } else if (pattern.inner == access.bytes && pattern.inner_extent == 32) {
            access.pattern = mk::PatternKind::contiguous;
        } else {
            access.pattern = mk::PatternKind::stride;
            access.inner = pattern.inner;
            access.inner_extent = pattern.inner_extent;
            access.outer = pattern.outer;
        }
    }

    void list_addresses(mk::Access& access, const std::vector<PlacedAccess>& traced,
                        const std::vector<LaneAddresses>& lanes, const AccessCounts& made) {
        access.pattern = mk::PatternKind::listed;
        access.pool_first = static_cast<std::uint32_t>(kernel_.address_list.size());
        // Spread over the trace, so that several CTAs are among them: one of each sixteenth, at places that
        // no number of trips or warps divides evenly.
        constexpr double golden = 0.6180339887498949;
        const std::size_t listed = std::min(most_listed, lanes.size());
        std::uint32_t rows = 0;
        for (std::size_t k = 0; k < listed; ++k) {
            const std::size_t first = k * lanes.size() / listed;
            const std::size_t count = (k + 1) * lanes.size() / listed - first;
            const double part = std::fmod(golden * static_cast<double>(k), 1.0);
            std::size_t i = first + static_cast<std::size_t>(part * static_cast<double>(count));
            for (std::size_t tried = 0; tried < count && lanes[i].lanes == 0; ++tried) {
                i = first + (i - first + 1) % count;
            }
            if (lanes[i].lanes == 0) {
                continue;
            }
            ++rows;
            for (std::size_t l = 0; l < lanes_per_warp; ++l) {
                const bool active = ((lanes[i].lanes >> l) & 1U) != 0;
                kernel_.address_list.push_back(active ? lanes[i].address[l] : -1);
            }
        }
        access.pool_length = rows * lanes_per_warp;
        // Atomics wait for one another at the places that come often. A sample of them tells so, and all
        // places ever touched do not.
        const bool meet = access.direction == mk::Direction::atomic;
        const bool counted = input_.counts->whole() && !meet;
        access.distinct = bytes_in_reach(traced, lanes, access.bytes, meet, counted ? &made : nullptr);
        if (counted && access.direction == mk::Direction::read) access.far = far_share(made);
        access.origin[0] = mk::Builder::constant(0);
    }

    /// Share of the sectors that were read before, so many CTAs ago that the L2 may have lost them. CTAs on
    /// the chip at once come in any order, and all that CTAs ask for may pass meanwhile. Of CTAs that go
    /// through the grid in few waves nothing is known: each may read much between.
    [[nodiscard]] double far_share(const AccessCounts& made) const {
        const LaunchCounts& counts = *input_.counts;
        constexpr std::uint64_t least_waves = 4;
        if (!made.distances.known() || made.sectors == 0 ||
            counts.ctas < least_waves * counts.resident_ctas) {
            return 1.0;
        }
        double asked = 0.0;
        for (const AccessCounts& access : counts.accesses) {
            if (access.touched.sectors > 0) asked += static_cast<double>(access.sectors);
        }
        const double by_cta =
            asked * static_cast<double>(input_.cache.sector) / static_cast<double>(counts.ctas);
        const double ctas = input_.l2_room / by_cta - static_cast<double>(counts.resident_ctas);
        if (ctas <= 0.0) return 1.0;
        const double units = ctas / static_cast<double>(counts.touch_unit);
        return std::min(1.0, made.distances.further_than(units) / static_cast<double>(made.sectors));
    }

    /// The number between `touched` and `most` of places of which the expected number touched is that.
    template <class Expected>
    static double places_that_give(double touched, double most, Expected expected) {
        double least = touched;
        most = std::max(touched, most);
        for (int step = 0; step < 60 && most - least > 0.5; ++step) {
            const double places = 0.5 * (least + most);
            (expected(places) < touched ? least : most) = places;
        }
        return most;
    }

    /// Places among which samples fall that are `sizes` large each and touch `touched` places together: the
    /// expected union of independent samples, solved for the places; at most `range`.
    static double places_of(const std::vector<double>& sizes, double touched, double range) {
        return places_that_give(touched, range, [&](double places) {
            double untouched = 0.0;  // Logarithm of the share.
            for (const double size : sizes) {
                untouched += std::log1p(-std::min(size / places, 1.0 - 1e-12));
            }
            return places * -std::expm1(untouched);
        });
    }

    /// Whether two CTAs differ by no more than one along each axis of the grid.
    static bool are_neighbours(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
        return std::ranges::equal(one, other,
                                  [](std::int64_t a, std::int64_t b) { return std::abs(a - b) <= 1; });
    }

    /// Bytes among which listed addresses fall. A whole run tells which sectors were touched (`whole`; null
    /// where that is not known). Of a sample, as far as repeats tell: many repeats say that there are few
    /// places. Warps of a CTA may share what CTAs do not, and neighbours in a sector are no repeats of an
    /// address: so both the addresses of single accesses and the sectors of whole CTAs are looked at, and
    /// what says more places holds. Neighbours in the grid may share a border and are no independent sample:
    /// one of them counts, but where accesses wait for one another (`meet`). Without repeats the addresses
    /// may fall anywhere between the least and the last. Sectors of a line that no address falls into count
    /// as well.
    std::int64_t bytes_in_reach(const std::vector<PlacedAccess>& traced,
                                const std::vector<LaneAddresses>& accesses, std::int64_t width, bool meet,
                                const AccessCounts* whole) const {
        const std::int64_t sector = input_.cache.sector;
        const std::int64_t in_line = input_.cache.line / sector;
        std::set<std::int64_t> in_use;  // sectors of a line
        std::map<std::vector<std::int64_t>, std::set<std::int64_t>> of_ctas;
        std::set<std::int64_t> sectors;
        std::set<std::int64_t> addresses;
        std::vector<double> of_accesses;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            const std::vector<std::int64_t>& place = traced[i].variables;
            std::set<std::int64_t>& of_cta = of_ctas[{place.begin(), place.begin() + cta_variables}];
            std::set<std::int64_t> own;
            for (std::size_t l = 0; l < lanes_per_warp; ++l) {
                if (((accesses[i].lanes >> l) & 1U) != 0) {
                    own.insert(accesses[i].address[l]);
                    of_cta.insert(accesses[i].address[l] / sector);
                    in_use.insert(accesses[i].address[l] / sector % in_line);
                }
            }
            of_accesses.push_back(static_cast<double>(own.size()));
            addresses.insert(own.begin(), own.end());
        }
        std::vector<double> sizes;
        std::set<std::int64_t> independent;
        std::vector<std::vector<std::int64_t>> counted;
        for (const auto& [cta, own] : of_ctas) {
            sectors.insert(own.begin(), own.end());
            if (!meet &&
                std::ranges::any_of(counted, [&](const auto& other) { return are_neighbours(cta, other); }))
                continue;
            counted.push_back(cta);
            sizes.push_back(static_cast<double>(own.size()));
            independent.insert(own.begin(), own.end());
        }
        const auto sector_bytes = static_cast<double>(sector);
        const auto touched = static_cast<double>(sectors.size());
        const auto distinct = static_cast<double>(addresses.size());
        const double range = static_cast<double>(*sectors.rbegin() - *sectors.begin() + 1) * sector_bytes;
        // Bytes of a line for each sector in use.
        const double apart = sector_bytes * static_cast<double>(in_line) / static_cast<double>(in_use.size());
        if (whole != nullptr && whole->touched.sectors > 0) {
            const double all = static_cast<double>(whole->touched.span) * sector_bytes;
            const double cells = places_that_give(
                static_cast<double>(whole->touched.sectors), all / apart, [&](double places) {
                    return model::machine::expected_distinct(static_cast<double>(whole->sectors), places);
                });
            return std::llround(std::min(all, cells * apart));
        }
        // A single CTA shares with none.
        const double by_ctas =
            sizes.size() > 1
                ? places_of(sizes, static_cast<double>(independent.size()), range / apart) * apart
                : 0.0;
        const double each = touched / distinct * apart;
        const double by_accesses =
            places_of(of_accesses, distinct, range / static_cast<double>(width)) * each;
        return std::llround(std::min(range, std::max(by_ctas, by_accesses)));
    }

    mk::Index index_of(const AffineFit& fit) {
        mk::Index index = builder_.begin(fit.constant);
        // Neighbouring digits whose coefficients double are one number.
        for (std::size_t first = 0, end = 0; first < fit.digits.size(); first = end) {
            for (end = first + 1; end < fit.digits.size() && fit.digits[end] == 2 * fit.digits[end - 1];)
                ++end;
            if (fit.digits[first] == 0) continue;
            mk::Term& number = builder_.add(index, mk::Variable::warp, fit.digits[first]);
            number.divisor = std::int64_t{1} << first;
            number.modulus = end == fit.digits.size() ? 0 : std::int64_t{1} << (end - first);
        }
        for (std::size_t v = 0; v < fit.coefficients.size(); ++v) {
            if (fit.coefficients[v] == 0) {
                continue;
            }
            if (v < cta_variables) {
                builder_.add(index, mk::Variable::tile, fit.coefficients[v], static_cast<std::uint16_t>(v));
            } else if (v == cta_variables) {
                builder_.add(index, mk::Variable::warp, fit.coefficients[v]);
            } else {
                builder_.add(index, mk::Variable::loop, fit.coefficients[v],
                             static_cast<std::uint16_t>(v - cta_variables - 1));
            }
        }
        return index;
    }

    const LoweringInput& input_;
    const Code& code_;
    const Function& entry_;
    bool polls_;  ///< the kernel may wait for other warps
    mk::Kernel kernel_;
    mk::Builder builder_;
    RoleBodies bodies_;
    std::optional<model::machine::TileOrder> order_;
    /// Asynchronous products that the next op stands for.
    struct Products {
        std::vector<std::uint32_t> instructions;
        std::int64_t links = 0;  ///< waits of one product for the product before
    };
    Products products_;
    std::uint32_t last_store_ = 0;        ///< instruction of the last store to global memory
    std::vector<mk::Id> product_groups_;  ///< ops that end a group of asynchronous products, as they come
    const RoleBody* role_ = nullptr;
    TransactionRings rings_;
    std::vector<mk::Id> ring_tokens_;           ///< by ring
    std::vector<std::int32_t> passed_;          ///< by ring: waits that warps of the role skip
    double rounds_ = 1.0;                       ///< of the loop that is being described, by a warp
    std::map<std::uint32_t, Elected> elected_;  ///< of the role
    std::map<std::string, mk::Id> changed_;  ///< by address: the last atomic of the role that changes a word
    std::map<std::uint32_t, mk::Id> op_of_;  ///< by instruction that looks at words or tells of them
    std::map<std::uint32_t, std::vector<PlacedAccess>> accesses_;  ///< by instruction
    std::map<std::uint32_t, double> skews_;  ///< Access::skew of those to other CTAs' shared memory
    std::map<std::pair<std::uint64_t, std::uint64_t>, mk::Id> buffers_;  ///< by key and pitch
    std::map<std::uint32_t, mk::Reuse> reuse_;                           ///< by instruction
    std::map<std::uint32_t, MergedStores> merged_;                       ///< stores by instruction
    std::map<std::int64_t, mk::Id> barrier_tokens_;
    mk::Id copy_token_ = mk::no_id;
    bool commits_ = false;
    std::vector<mk::Id> writers_;                    ///< by register: the op that wrote it last
    std::vector<OpenLoop> open_;                     ///< loops around, outermost first
    std::vector<std::vector<mk::Dep>> dependences_;  ///< by op
    std::vector<int> around_;                        ///< loops around, outermost first
    int depth_ = 0;
    int branches_ = 0;  ///< around
};

}  // namespace

mk::Kernel lower(const LoweringInput& input) {
    return Lowering(input).run();
}

}  // namespace warptime::workloads::frontends::machine
