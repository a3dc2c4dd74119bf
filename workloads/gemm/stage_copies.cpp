// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/stage_copies.hpp"

#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/triton_gathers.hpp"
#include "workloads/gemm/triton_instructions.hpp"
#include "workloads/gemm/triton_single_stage.hpp"
#include "workloads/gemm/triton_turning.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// Adds the shared-memory time of `copies` copies of one element a lane. The stage has its rows along M or N
/// and no padding. Lanes that copy a row of K therefore write to one bank.
void add_conflicts(Parts& parts, int extent, std::int64_t copies) {
    mk::Op store;
    store.cls = InstructionClass::st_shared;
    mk::Access lanes;
    lanes.buffer = parts.stages;
    lanes.direction = mk::Direction::write;
    lanes.pattern = mk::PatternKind::stride;
    lanes.bytes = hw::bytes_of(parts.problem.a);
    lanes.inner = extent;
    lanes.inner_extent = parts.config.cta_k;
    lanes.outer = 1;
    // Each store takes one pass for every element of the row.
    store.count = std::max<std::int64_t>(1, copies * parts.config.copy_conflicts / parts.config.cta_k);
    parts.builder.op(store, {lanes});
}

}  // namespace

void add_loads_of_trip(Parts& parts) {
    const Config& c = parts.config;
    for (const bool is_a : {true, false}) {
        if (!loaded_in_its_trip(c, is_a)) continue;
        mk::Op& load = parts.builder.op(InstructionClass::ld_global);
        load.dtype = is_a ? parts.problem.a : parts.problem.b;
        load.count = copies_of(parts.problem, c, is_a);
        // Spilled pointers leave too few registers to issue all loads at once. One of three rounds of
        // pointers waits for elements of B (142 rows of triton_bf16_third). A's rows show no such law.
        if (!is_a && parts.spilled != mk::no_id) {
            load.chain = std::max(
                1, gather_spills(c).rounds / compilers::triton().gathers.spills.rounds_that_wait_for_b);
        }
        const mk::Id loaded = parts.builder.last_op();
        add_stage_access(parts, is_a ? Matrix::a : Matrix::b, 0);
        if (turned_in_its_trip(c, is_a)) {
            const std::int64_t bytes = copies_of(parts.problem, c, is_a) * copy_bytes_of(c, is_a);
            // Bytes are extracted from words; three of four bytes need their own instruction.
            const compilers::Triton::Turning& law = compilers::triton().turning;
            add_arithmetic(parts, law.instructions_of_bytes * bytes / law.instructions_of_bytes_over, 1);
            add_turned_stores(parts, is_a, bytes, loaded);
            continue;
        }
        mk::Op& store = parts.builder.op(InstructionClass::st_shared);
        store.count = copies_of(parts.problem, c, is_a);
        store.dep_count = 1;
        store.deps[0] = {loaded, 0};
        mk::Access& access = parts.builder.access();
        access.buffer = parts.stages;
        access.direction = mk::Direction::write;
        access.bytes = copy_bytes_of(c, is_a);
    }
}

Fetches add_copies(Parts& parts, mk::Id group, int ahead, bool guarded, mk::Id behind) {
    const Config& c = parts.config;
    mk::Builder& b = parts.builder;
    Fetches fetches{};
    for (const bool is_a : {true, false}) {
        if (loaded_in_its_trip(c, is_a)) continue;
        const std::int64_t copies = copies_of(parts.problem, c, is_a);
        const bool tma = c.pipeline == Pipeline::tma;
        mk::Op& copy = b.op(tma                                ? InstructionClass::cp_async_bulk_tensor
                            : c.pipeline == Pipeline::cp_async ? InstructionClass::cp_async
                                                               : InstructionClass::ld_global);
        copy.dtype = is_a ? parts.problem.a : parts.problem.b;
        copy.count = tma ? 1 : copies;
        if (!is_a && loads_stage_in_turns(c))
            copy.chain = turns_of_loads(copies_of(parts.problem, c, true), copies);
        // A plain load waits in registers until the iteration that stores it. It therefore completes the
        // group as a copy does.
        copy.completes = group;
        if (behind != mk::no_id) {
            copy.dep_count = 1;
            copy.deps[0] = {behind, 0};
        }
        if (guarded) guard_fetch(parts, copy, ahead);
        fetches[is_a ? 0 : 1] = b.last_op();
        add_stage_access(parts, is_a ? Matrix::a : Matrix::b, ahead);
        if (is_a ? c.turned_a : c.turned_b) add_turned_stores(parts, is_a, copies, mk::no_id);
        if (c.copy_conflicts > 0) add_conflicts(parts, is_a ? c.cta_m : c.cta_n, copies);
    }
    for (const bool is_a : {true, false}) {
        const std::int64_t bytes = scale_bytes(parts.problem, c, is_a);
        if (bytes == 0) continue;
        mk::Op& copy = b.op(InstructionClass::cp_async);
        copy.count = copies_per_warp(bytes, c);
        copy.completes = group;
        if (guarded) guard_fetch(parts, copy, ahead);
        add_scale_access(parts, is_a ? Matrix::a : Matrix::b, ahead);
    }
    b.signal(group, mk::SignalOn::issue);
    return fetches;
}

void wait_for_stage(Parts& parts, const StageTokens& tokens, int ahead) {
    mk::Builder& b = parts.builder;
    b.wait(tokens.group, ahead - 1);
    b.op(InstructionClass::bar_sync);
    b.signal(tokens.barrier, mk::SignalOn::issue);
    b.wait(tokens.barrier);
}

void copy_stages_ahead(Parts& parts, const StageTokens& tokens, int ahead) {
    mk::Builder& b = parts.builder;
    b.loop(b.clamp(parts.trips, 0, ahead));
    add_copies(parts, tokens.group, 0, false);
    b.end();
    wait_for_stage(parts, tokens, ahead);
}

void add_arithmetic(Parts& parts, std::int64_t count, std::int64_t chain) {
    mk::Op& op = parts.builder.op(InstructionClass::add_s32);
    op.count = count;
    op.chain = chain;
}

void add_iterators(Parts& parts) {
    add_arithmetic(parts, 340, 170);
}

}  // namespace warptime::workloads::gemm
