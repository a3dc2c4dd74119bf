// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/chains.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace warptime::validate::microbench {

namespace mk = model::kernel;
using Class = mk::InstructionClass;

namespace {

/// The ops of a body in machine order, with what each op waits for, before the body is written. A chain's
/// first step waits for the chain's last step of the trip before. Only the whole body has the number of that
/// last step.
class Body {
  public:
    explicit Body(const ChainLoop& loop) {
        std::size_t chains = 0;
        for (const Part& part : loop.parts) {
            last_.emplace_back(static_cast<std::size_t>(part.chains), mk::no_id);
            first_.emplace_back(static_cast<std::size_t>(part.chains), mk::no_id);
            chains += static_cast<std::size_t>(part.chains);
        }
        // The order is the compiler's: first the counter, then the comparison once the counter's result is
        // there, five cycles later.
        compare_at_ = std::min<std::size_t>(chains + 2, 6);
        control_ = loop.control;
        counted_ = push(op_of(Class::add_s32));
        if (loop.halves) {
            add_halves(loop);
        } else {
            add_parts(loop);
        }
        if (compared_ == mk::no_id) compare();
        for (std::size_t p = 0; p < first_.size(); ++p) {
            for (std::size_t chain = 0; chain < first_[p].size(); ++chain) {
                if (first_[p][chain] != mk::no_id) wait_for(first_[p][chain], last_[p][chain], 1);
            }
        }
    }

    void write(mk::Builder& build) const {
        for (const mk::Op& op : ops_) build.op(op);
        if (control_ > 0) {
            mk::Op slots = op_of(Class::exit);
            slots.count = control_;
            build.op(slots);
        }
        mk::Op branch = op_of(Class::branch);
        branch.dep_count = 1;
        branch.deps[0] = {compared_, 0};
        build.op(branch);
    }

  private:
    /// The compiler mixes the parts evenly: the part that is furthest behind always goes on.
    void add_parts(const ChainLoop& loop) {
        std::vector<std::int64_t> done(loop.parts.size(), 0);
        for (;;) {
            std::size_t next = loop.parts.size();
            double behind = 1.0;
            for (std::size_t p = 0; p < loop.parts.size(); ++p) {
                const double share =
                    static_cast<double>(done[p]) / static_cast<double>(loop.turns * loop.parts[p].run);
                if (share < behind) {
                    behind = share;
                    next = p;
                }
            }
            if (next == loop.parts.size()) return;
            const Part& part = loop.parts[next];
            // A step of several instructions goes round the chains instruction by instruction.
            const std::int64_t left = loop.turns * part.run - done[next];
            const std::int64_t together = part.step.size() > 1 ? std::min(part.chains, left) : 1;
            add_steps(next, part, done[next], together);
            done[next] += together;
        }
    }

    void add_halves(const ChainLoop& loop) {
        const Part& first = loop.parts[0];
        const Part& second = loop.parts[1];
        const std::int64_t half_of_chains = second.chains / 2;
        const std::int64_t half = loop.turns * second.run / 2;
        std::int64_t beside = 0;
        for (std::int64_t i = 0; i < loop.turns * first.run; ++i) {
            add_steps(0, first, i, 1);
            for (std::int64_t j = 0; j < 3 && beside < half; ++j)
                add_step(1, second, beside++ % half_of_chains);
        }
        while (beside < half) add_step(1, second, beside++ % half_of_chains);
        for (std::int64_t i = half; i < loop.turns * second.run; ++i) {
            add_step(1, second, half_of_chains + i % half_of_chains);
        }
    }

    /// One step of a chain.
    void add_step(std::size_t p, const Part& part, std::int64_t chain) { add_steps(p, part, chain, 1); }

    /// `count` steps of different chains. The first ops of all steps come before the second ops.
    void add_steps(std::size_t p, const Part& part, std::int64_t number, std::int64_t count) {
        for (const mk::Op& op : part.step) {
            for (std::int64_t i = 0; i < count; ++i) {
                const auto chain = static_cast<std::size_t>((number + i) % part.chains);
                const mk::Id id = push(op);
                if (last_[p][chain] != mk::no_id) wait_for(id, last_[p][chain], 0);
                if (first_[p][chain] == mk::no_id) first_[p][chain] = id;
                last_[p][chain] = id;
            }
        }
    }

    mk::Id push(const mk::Op& op) {
        if (ops_.size() == compare_at_ && compared_ == mk::no_id) compare();
        ops_.push_back(op);
        return static_cast<mk::Id>(ops_.size() - 1);
    }

    void compare() {
        mk::Op op = op_of(Class::set_predicate);
        op.dep_count = 1;
        op.deps[0] = {counted_, 0};
        ops_.push_back(op);
        compared_ = static_cast<mk::Id>(ops_.size() - 1);
    }

    void wait_for(mk::Id id, mk::Id other, std::int16_t distance) {
        mk::Op& op = ops_[static_cast<std::size_t>(id)];
        op.deps[op.dep_count++] = {other, distance};
    }

    std::vector<mk::Op> ops_;
    std::vector<std::vector<mk::Id>> first_, last_;
    std::size_t compare_at_ = 0;  ///< ops before the comparison
    std::int64_t control_ = 0;
    mk::Id counted_ = mk::no_id, compared_ = mk::no_id;
};

}  // namespace

mk::Op op_of(Class cls) {
    mk::Op op;
    op.cls = cls;
    return op;
}

void add_chain_loop(mk::Program& program, const ChainLoop& loop) {
    mk::Kernel& k = program.add_kernel();
    k.name = "chains";
    k.grid = {loop.ctas, 1, 1};
    k.cta = {32 * loop.warps, 1, 1};
    k.registers_per_thread = static_cast<std::int32_t>(loop.registers);
    k.schedule.tiles = {loop.ctas, 1, 1, 1};
    mk::Builder build(k);
    build.role("warps", static_cast<int>(loop.warps));
    build.loop(loop.trips);
    Body(loop).write(build);
    build.end();
    build.finish();
}

Probe chain_probe(ChainLoop loop, double units) {
    Probe probe;
    add_chain_loop(probe.without, loop);
    loop.trips *= 2;
    add_chain_loop(probe.program, loop);
    probe.units = units;
    return probe;
}

std::vector<mk::Op> step_of(std::string_view instruction) {
    struct Named {
        std::string_view name;
        Class first, second = Class::count;
    };
    constexpr std::array names{
        Named{"fma_f32", Class::fma_f32},
        Named{"add_f32", Class::add_f32},
        Named{"mul_f32", Class::mul_f32},
        Named{"fma_f16x2", Class::fma_f16x2},
        Named{"fma_bf16x2", Class::fma_f16x2},
        Named{"add_f16x2", Class::fma_f16x2},
        Named{"fma_f64", Class::fma_f64},
        Named{"add_f64", Class::fma_f64},
        Named{"mad_s32", Class::mad_s32},
        Named{"dot_s8", Class::mad_s32},
        Named{"add_s32", Class::add_s32},
        Named{"logic", Class::logic},
        Named{"shift", Class::shift},
        Named{"permute", Class::logic},
        Named{"min_max", Class::compare_select},
        Named{"compare_select", Class::compare_select, Class::compare_select},
        Named{"popc", Class::convert},
        Named{"ex2", Class::mufu},
        Named{"rcp_tanh", Class::mufu},
        Named{"rsqrt", Class::mufu},
        Named{"sqrt", Class::mufu},
        Named{"lg2", Class::mufu},
        Named{"tanh", Class::mufu},
        Named{"sin", Class::mul_f32, Class::mufu},
        Named{"round_f32", Class::convert},
        Named{"f16_to_f32", Class::convert_pack},
        Named{"f32_s32_f32", Class::convert, Class::convert_pack},
        Named{"f32_f64_f32", Class::convert, Class::convert},
        Named{"pack_bf16x2", Class::convert_pack},
        Named{"shfl", Class::shfl},
        Named{"vote", Class::compare_select, Class::vote},
        Named{"redux_s32", Class::redux, Class::move},
        Named{"match", Class::redux},
    };
    const auto* const found = std::find_if(names.begin(), names.end(),
                                           [&](const Named& named) { return named.name == instruction; });
    if (found == names.end()) {
        throw Error("params instruction", std::string(instruction), "an instruction of instructions.cuh");
    }
    std::vector<mk::Op> step{op_of(found->first)};
    if (found->second != Class::count) step.push_back(op_of(found->second));
    // The instruction tells different lanes apart one after another.
    if (instruction == "match") step[0].count = 32;
    return step;
}

}  // namespace warptime::validate::microbench
