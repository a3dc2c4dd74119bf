// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/role_body.hpp"

#include "workloads/frontends/machine/lowering/meetings.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::size_t most_roles = 8;

/// The CTA that stands for the others: neither the first nor the last where there are more.
const CtaTrace& typical(const TraceRecorder& trace) {
    return *trace.ctas()[std::min<std::size_t>(2, trace.ctas().size() - 1)];
}

std::vector<bool> loops_run(const std::vector<CodeLoop>& loops, const WarpTrace& warp) {
    std::vector<bool> run;
    for (const LoopRounds& rounds : rounds_of(loops, warp)) {
        run.push_back(rounds.rounds > 0);
    }
    return run;
}

bool is_edge(const CtaTrace& cta, std::uint64_t ctas) {
    return cta.linear_id == 0 || cta.linear_id + 1 == ctas;
}

/// Loops that the same warps run in every CTA that runs them at all. Others depend on data, not on the warp.
/// The first and the last CTA, which may be cut short, do not count where there are others.
std::vector<bool> loops_of_roles(const std::vector<CodeLoop>& loops, const TraceRecorder& trace,
                                 std::uint64_t ctas) {
    const bool only_edges =
        std::ranges::all_of(trace.ctas(), [&](const auto& cta) { return is_edge(*cta, ctas); });
    std::vector<bool> same(loops.size(), true);
    std::vector<std::vector<bool>> who(loops.size());  // by loop: the warps that run it; empty: not seen yet
    for (const auto& cta : trace.ctas()) {
        if (!only_edges && is_edge(*cta, ctas)) continue;
        std::vector<std::vector<bool>> own(loops.size(), std::vector<bool>(cta->warps.size(), false));
        for (std::size_t w = 0; w < cta->warps.size(); ++w) {
            const std::vector<bool> run = loops_run(loops, cta->warps[w]);
            for (std::size_t l = 0; l < loops.size(); ++l) own[l][w] = run[l];
        }
        for (std::size_t l = 0; l < loops.size(); ++l) {
            if (std::ranges::find(own[l], true) == own[l].end()) continue;
            if (!who[l].empty() && who[l] != own[l]) same[l] = false;
            who[l] = std::move(own[l]);
        }
    }
    return same;
}

std::vector<std::vector<int>> roles_of(const std::vector<CodeLoop>& loops, const TraceRecorder& trace,
                                       std::uint64_t ctas) {
    const std::vector<bool> of_roles = loops_of_roles(loops, trace, ctas);
    const CtaTrace& cta = typical(trace);
    std::vector<std::pair<std::vector<bool>, std::vector<int>>> roles;
    for (const WarpTrace& warp : cta.warps) {
        std::vector<bool> run = loops_run(loops, warp);
        for (std::size_t l = 0; l < run.size(); ++l) run[l] = run[l] && of_roles[l];
        const auto known =
            std::ranges::find_if(roles, [&run](const auto& role) { return role.first == run; });
        if (known == roles.end()) {
            roles.push_back({run, {warp.warp}});
        } else {
            known->second.push_back(warp.warp);
        }
    }
    std::vector<std::vector<int>> warps;
    if (roles.size() > most_roles) {
        warps.emplace_back();
        for (const WarpTrace& warp : cta.warps) {
            warps.back().push_back(warp.warp);
        }
        return warps;
    }
    for (auto& [run, members] : roles) {
        warps.push_back(std::move(members));
    }
    return warps;
}

/// First and last CTAs are often cut short: they count as one CTA each, the ones between for all the others.
std::vector<double> weights_of(const TraceRecorder& trace, std::uint64_t ctas) {
    std::vector<double> weights;
    double inner = 0.0;
    for (const auto& cta : trace.ctas()) {
        inner += is_edge(*cta, ctas) ? 0.0 : 1.0;
    }
    for (const auto& cta : trace.ctas()) {
        weights.push_back(is_edge(*cta, ctas) || inner == 0.0
                              ? 1.0
                              : std::max(1.0, (static_cast<double>(ctas) - 2.0) / inner));
    }
    return weights;
}

/// Instructions that a warp ran one after another, all of one loop by its range, or of none.
struct Piece {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    int loop = -1;
};

/// A stretch goes on behind the end of a loop when the last trip falls through: it is cut there.
std::vector<Piece> pieces_of(const std::vector<CodeLoop>& loops, const WarpTrace& warp) {
    std::vector<Piece> pieces;
    for (const Stretch& stretch : warp.stretches) {
        for (std::uint32_t pc = stretch.first; pc < stretch.first + stretch.count; ++pc) {
            const int loop = loop_of(loops, pc);
            if (pc == stretch.first || pieces.back().loop != loop) {
                pieces.push_back({pc, 0, loop});
            }
            ++pieces.back().count;
        }
    }
    return pieces;
}

/// The loop of every instruction that ran: by its range, or by the loop that led to code out of line and
/// back.
std::map<std::uint32_t, int> loops_of_instructions(const std::vector<CodeLoop>& loops,
                                                   const TraceRecorder& trace) {
    std::map<std::uint32_t, int> assigned;
    for (const auto& cta : trace.ctas()) {
        for (const WarpTrace& warp : cta->warps) {
            const std::vector<Piece> pieces = pieces_of(loops, warp);
            int around = -1;
            for (std::size_t i = 0; i < pieces.size(); ++i) {
                const Piece& piece = pieces[i];
                int own = piece.loop;
                if (own < 0 && around >= 0) {
                    std::size_t next = i + 1;
                    while (next < pieces.size() && next < i + 64 && pieces[next].loop < 0) {
                        ++next;
                    }
                    const bool returns = next < pieces.size() && pieces[next].loop == around &&
                                         pieces[next].first != loops[static_cast<std::size_t>(around)].first;
                    own = returns ? around : -1;
                }
                for (std::uint32_t pc = piece.first; pc < piece.first + piece.count; ++pc) {
                    const auto [place, fresh] = assigned.emplace(pc, own);
                    // Code that several places lead to belongs to none of their loops.
                    if (!fresh && place->second != own) {
                        place->second = piece.loop;
                    }
                }
                around = own;
            }
        }
    }
    return assigned;
}

/// How often warps enter a loop and go round it, weighted by the CTAs that a traced one stands for.
struct WeightedRounds {
    double entries = 0.0, rounds = 0.0;
};

void add_loop(BodyLoop& body, const std::vector<CodeLoop>& loops, const std::vector<WeightedRounds>& rounds,
              double warps, int parent) {
    for (std::size_t i = 0; i < loops.size(); ++i) {
        if (loops[i].parent != parent || rounds[i].rounds <= 0.0) {
            continue;
        }
        BodyLoop inner;
        inner.loop = static_cast<int>(i);
        inner.entries = rounds[i].entries / warps;
        inner.rounds = rounds[i].rounds / warps;
        add_loop(inner, loops, rounds, warps, static_cast<int>(i));
        body.inner.push_back(std::move(inner));
    }
}

BodyLoop* find_loop(BodyLoop& body, int loop) {
    if (body.loop == loop) {
        return &body;
    }
    for (BodyLoop& inner : body.inner) {
        if (BodyLoop* found = find_loop(inner, loop)) {
            return found;
        }
    }
    return nullptr;
}

std::uint64_t cycles_of(const WarpTrace& warp, const PaceOfCode& pace) {
    std::uint64_t all = 0;
    for (const Stretch& stretch : warp.stretches) {
        all += pace.of(stretch.first, stretch.count);
    }
    return all;
}

/// Who takes longest between two meetings is not always who takes longest in all. Where the traced CTAs say
/// so, what a CTA's slowest warp executes becomes what its slowest warps do from meeting to meeting. Warps
/// that wait for words of others execute more the longer they wait, which makes them no slower.
void follow_meetings(const Code& code, const TraceRecorder& trace, const std::vector<double>& weights,
                     const PaceOfCode& pace, RoleBody& role) {
    const bool polls =
        std::ranges::any_of(code.instructions, [](const Instruction& one) { return one.looks; });
    if (polls) return;
    const std::vector<std::uint32_t> meet_at = meetings(code);
    std::map<std::uint32_t, double> between, by_one;
    for (std::size_t c = 0; !meet_at.empty() && c < trace.ctas().size(); ++c) {
        const CtaTrace& cta = *trace.ctas()[c];
        const std::map<std::uint32_t, double> own = slowest_between_meetings(cta, role.warps, meet_at, pace);
        if (own.empty()) return;
        for (const auto& [pc, times] : own) between[pc] += weights[c] * times;
        const int slowest = *std::ranges::max_element(
            role.warps, {}, [&](int w) { return cycles_of(cta.warps[static_cast<std::size_t>(w)], pace); });
        for (const Stretch& stretch : cta.warps[static_cast<std::size_t>(slowest)].stretches) {
            for (std::uint32_t pc = stretch.first; pc < stretch.first + stretch.count; ++pc)
                by_one[pc] += weights[c];
        }
    }
    const double ctas = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (const auto& [pc, times] : between) {
        const auto known = role.frequency.find(pc);
        if (known == role.frequency.end() || known->second.slowest.of_cta < 0.0) continue;
        double& of_cta = known->second.slowest.of_cta;
        const auto one = by_one.find(pc);
        of_cta = one == by_one.end() ? times / ctas : of_cta * times / one->second;
    }
    for (const auto& [pc, times] : by_one) {
        const auto known = role.frequency.find(pc);
        const bool never_slowest = !between.contains(pc);
        if (never_slowest && known != role.frequency.end() && known->second.slowest.of_cta > 0.0)
            known->second.slowest.of_cta = 0.0;
    }
}

/// Executions by the slowest of the role's warps: in each traced CTA, and of all of them.
void note_slowest(const TraceRecorder& trace, const std::vector<int>& members,
                  const std::vector<double>& weights, const PaceOfCode& pace, RoleBody& role) {
    for (auto& [pc, frequency] : role.frequency) {
        frequency.slowest = {0.0, 0.0};
    }
    const auto each = [&role](const WarpTrace& warp, const auto& add) {
        for (const Stretch& stretch : warp.stretches) {
            for (std::uint32_t pc = stretch.first; pc < stretch.first + stretch.count; ++pc) {
                add(role.frequency.at(pc).slowest);
            }
        }
    };
    const double ctas = std::accumulate(weights.begin(), weights.end(), 0.0);
    const WarpTrace* slowest_of_all = nullptr;
    for (std::size_t c = 0; c < trace.ctas().size(); ++c) {
        const WarpTrace* slowest = nullptr;
        for (const int w : members) {
            const WarpTrace& warp = trace.ctas()[c]->warps[static_cast<std::size_t>(w)];
            if (slowest == nullptr || cycles_of(warp, pace) > cycles_of(*slowest, pace)) {
                slowest = &warp;
            }
        }
        each(*slowest, [&](model::kernel::SlowestWarps& own) { own.of_cta += weights[c] / ctas; });
        if (slowest_of_all == nullptr || cycles_of(*slowest, pace) > cycles_of(*slowest_of_all, pace)) {
            slowest_of_all = slowest;
        }
    }
    each(*slowest_of_all, [](model::kernel::SlowestWarps& own) { own.of_grid += 1.0; });
}

}  // namespace

RoleBodies role_bodies(const Code& code, const LaunchCounts& counts, const TraceRecorder& trace) {
    RoleBodies result;
    const PaceOfCode pace(code.instructions, counts.load_latency);
    std::vector<const WarpTrace*> warps;
    for (const auto& cta : trace.ctas()) {
        for (const WarpTrace& warp : cta->warps) {
            warps.push_back(&warp);
        }
    }
    result.loops = find_loops(code, warps);
    const std::map<std::uint32_t, int> assigned = loops_of_instructions(result.loops, trace);
    const std::vector<double> weights = weights_of(trace, counts.ctas);
    const std::vector<std::vector<int>> roles = roles_of(result.loops, trace, counts.ctas);
    const double all_warps =
        static_cast<double>(counts.ctas_run) * static_cast<double>(typical(trace).warps.size());
    for (const std::vector<int>& members : roles) {
        RoleBody role;
        role.warps = members;
        double weight = 0.0;
        std::vector<WeightedRounds> rounds(result.loops.size());
        bool truncated = false;
        for (std::size_t c = 0; c < trace.ctas().size(); ++c) {
            for (const int w : members) {
                const WarpTrace& warp = trace.ctas()[c]->warps[static_cast<std::size_t>(w)];
                truncated = truncated || warp.truncated;
                weight += weights[c];
                const std::vector<LoopRounds> own = rounds_of(result.loops, warp);
                for (std::size_t l = 0; l < own.size(); ++l) {
                    rounds[l].entries += static_cast<double>(own[l].entries) * weights[c];
                    rounds[l].rounds += static_cast<double>(own[l].rounds) * weights[c];
                }
                for (const Stretch& stretch : warp.stretches) {
                    for (std::uint32_t pc = stretch.first; pc < stretch.first + stretch.count; ++pc) {
                        Frequency& frequency =
                            role.frequency.try_emplace(pc, Frequency{0.0, 0.0, {}}).first->second;
                        frequency.times += weights[c];
                        frequency.lanes += weights[c] * std::popcount(stretch.active);
                    }
                }
            }
        }
        if (!truncated && roles.size() > 1) note_slowest(trace, members, weights, pace, role);
        for (auto& [pc, frequency] : role.frequency) {
            frequency.lanes /= std::max(frequency.times, 1e-9);
            frequency.times /= weight;
        }
        add_loop(role.body, result.loops, rounds, weight, -1);
        const bool alone = roles.size() == 1;
        if (alone || truncated) {
            for (std::uint32_t pc = 0; pc < counts.instructions.size(); ++pc) {
                const InstructionCounts& own = counts.instructions[pc];
                if (own.warps == 0 || (!alone && !role.frequency.contains(pc))) {
                    continue;
                }
                const double runners =
                    alone ? all_warps
                          : static_cast<double>(counts.ctas_run) * static_cast<double>(members.size());
                role.frequency[pc] = {static_cast<double>(own.warps) / runners,
                                      static_cast<double>(own.threads) / static_cast<double>(own.warps),
                                      {}};
                if (alone) {
                    role.frequency[pc].slowest = {static_cast<double>(counts.slowest.of_ctas[pc]) /
                                                      static_cast<double>(counts.ctas_run),
                                                  static_cast<double>(counts.slowest.of_grid[pc])};
                }
            }
            for (std::size_t l = 0; l < result.loops.size(); ++l) {
                BodyLoop* loop = find_loop(role.body, static_cast<int>(l));
                const auto header = role.frequency.find(result.loops[l].first);
                if (loop != nullptr && header != role.frequency.end() && loop->rounds > 0.0) {
                    // A cut trace saw all entries of few rounds: the header's count gives the rounds.
                    loop->entries =
                        truncated ? loop->entries : loop->entries * header->second.times / loop->rounds;
                    loop->rounds = header->second.times;
                }
            }
        }
        follow_meetings(code, trace, weights, pace, role);
        for (const auto& [pc, frequency] : role.frequency) {
            const auto place = assigned.find(pc);
            BodyLoop* loop =
                find_loop(role.body, place == assigned.end() ? loop_of(result.loops, pc) : place->second);
            (loop == nullptr ? role.body : *loop).instructions.push_back(pc);
        }
        result.roles.push_back(std::move(role));
    }
    return result;
}

}  // namespace warptime::workloads::frontends::machine
