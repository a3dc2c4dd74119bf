// Triton's main loop over tensor descriptors: all warps multiply, one thread asks the bulk engine for stages.
// Ignores: messages of a box that several warps issue.
// Source: SASS of the 60 kernels of the suite triton_tma (Triton 3.6). An iteration begins with a barrier, a
// look at the stage's mbarrier and the products. Next it waits for the products of the iteration before. Then
// come three more barriers; between these stand the bytes to expect and one copy for each operand. An
// iteration has 66 instructions, and two more for each product.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/stage_copies.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// Adds the work before the first box. The tile's place takes two divisions that depend on one another. One
/// instruction sets two sums of a lane to zero. All warps meet once for each stage's mbarrier, and once more
/// when the first bytes are expected. SASS of four kernels: 185 instructions and six barriers with five
/// stages and 64 sums.
void add_start(Parts& parts) {
    const Config& c = parts.config;
    const compilers::Triton::Descriptor& law = compilers::triton().descriptor;
    const std::int64_t sums = std::int64_t{c.cta_m} * c.cta_n / (std::int64_t{32} * c.warps);
    add_arithmetic(parts, law.before + sums / 2, law.chain_before);
    mk::Op barriers;
    barriers.cls = InstructionClass::bar_sync;
    barriers.count = c.stages + 1;
    barriers.chain = barriers.count;
    barriers.dep_count = 1;
    barriers.deps[0] = {parts.builder.last_op(), 0};
    parts.builder.op(barriers);
}

/// Adds two more barriers after `met`: one around the bytes to expect, one between the boxes.
mk::Id add_barriers(Parts& parts, mk::Id met) {
    mk::Op barrier;
    barrier.cls = InstructionClass::bar_sync;
    barrier.count = 2;
    barrier.chain = 2;
    barrier.dep_count = 1;
    barrier.deps[0] = {met, 0};
    return parts.builder.op(barrier);
}

/// Adds the boxes of A and B, `ahead` iterations on, after `ready`. With `guarded` a box is fetched only if
/// that iteration exists.
void add_boxes(Parts& parts, mk::Id group, int ahead, bool guarded, mk::Id ready) {
    mk::Builder& b = parts.builder;
    for (const bool is_a : {true, false}) {
        mk::Op copy;
        copy.cls = InstructionClass::cp_async_bulk_tensor;
        copy.dtype = is_a ? parts.problem.a : parts.problem.b;
        copy.completes = group;
        if (ready != mk::no_id) {
            copy.dep_count = 1;
            copy.deps[0] = {ready, 0};
        }
        if (guarded) guard_fetch(parts, copy, ahead);
        b.op(copy);
        add_stage_access(parts, is_a ? Matrix::a : Matrix::b, ahead);
    }
    b.signal(group, mk::SignalOn::issue);
}

}  // namespace

void add_descriptor_role(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const int ahead = std::max(1, c.stages - 1);
    const auto [group_id, barrier_id] = add_stage_tokens(parts);

    b.role("warps", c.warps);
    add_start(parts);
    b.loop(b.clamp(parts.trips, 0, ahead));
    add_boxes(parts, group_id, 0, false, mk::no_id);
    b.end();
    b.loop(parts.trips);
    b.wait(group_id, ahead - 1);
    add_wgmma_of_stage(parts, c.warps / 4);
    const mk::Id multiplied = b.last_op();
    // The next copies fill a place that the products of the iteration before must have read.
    mk::Op meet;
    meet.cls = InstructionClass::bar_sync;
    meet.dep_count = 1;
    meet.deps[0] = {multiplied, 1};
    const mk::Id met = b.op(meet);
    b.signal(barrier_id, mk::SignalOn::issue);
    b.wait(barrier_id);
    const mk::Id ready = add_barriers(parts, met);
    add_boxes(parts, group_id, ahead, true, ready);
    mk::Op address;
    address.cls = InstructionClass::add_s32;
    // Issue slots beside those of products, barriers and copies.
    address.count = compilers::triton().descriptor.loop_slots;
    address.dep_count = 1;
    address.deps[0] = {ready, 0};
    const mk::Id addressed = b.op(address);
    mk::Op back;
    back.cls = InstructionClass::branch;
    back.dep_count = 1;
    back.deps[0] = {addressed, 0};
    const mk::Id gone = b.op(back);
    mk::Op top;
    top.cls = InstructionClass::bar_sync;
    top.dep_count = 1;
    top.deps[0] = {gone, 0};
    const mk::Id begun = b.op(top);
    mk::Op look;
    look.cls = InstructionClass::mbarrier_try_wait;
    look.dep_count = 1;
    look.deps[0] = {begun, 0};
    b.op(look);
    b.end();
    add_epilogue(parts, c.warps, true);
    b.finish();
}

}  // namespace warptime::workloads::gemm
