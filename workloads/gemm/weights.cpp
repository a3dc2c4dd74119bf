// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/weights.hpp"

#include "hw/error.hpp"
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/warp_products.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::int64_t lanes = 32, widest = 16;

mk::Op op_after(InstructionClass cls, double count, mk::Id before) {
    mk::Op op;
    op.cls = cls;
    op.count = std::max<std::int64_t>(1, std::llround(count));
    op.dep_count = before == mk::no_id ? 0 : 1;
    op.deps[0] = {before, 0};
    return op;
}

/// From integers of a lane to 16-bit numbers, two at a time.
mk::Id add_conversion(Parts& parts, double elements, mk::Id loaded) {
    mk::Builder& b = parts.builder;
    const compilers::Triton::Weights& law = compilers::triton().weights;
    const compilers::Triton::Weights::Bits& of = parts.problem.packed_b ? law.four : law.eight;
    // The compiler interleaves about two chains, so that each instruction waits for the one before the last.
    // Only wgmma waits for all of them: mma.sync multiplies while later operands are converted.
    const bool waits = parts.config.mma == MatrixInstruction::wgmma;
    const auto in_two_chains = [&](InstructionClass cls, double count, mk::Id before) {
        mk::Op op = op_after(cls, count, before);
        op.chain = waits ? std::max<std::int64_t>(1, op.count / 2) : 1;
        return b.op(op);
    };
    mk::Id last = in_two_chains(InstructionClass::logic, of.logic * elements, loaded);
    if (of.shifts > 0.0) last = in_two_chains(InstructionClass::shift, of.shifts * elements, last);
    if (of.moves > 0.0) b.op(op_after(InstructionClass::move, of.moves * elements, mk::no_id));
    return b.op(op_after(InstructionClass::fma_f16x2, of.halves * elements, last));
}

}  // namespace

bool converts_weights(const Problem& p, const Config& c) {
    return c.strides_by_16 && hw::bits_of(p.a) == 16 && p.b == Dtype::int8;
}

std::int64_t converted_bytes(const Problem& p, const Config& c) {
    if (!converts_weights(p, c) || c.mma != MatrixInstruction::wgmma) return 0;
    return std::int64_t{c.cta_n} * c.cta_k * hw::bytes_of(p.a);
}

void check_weights(const Problem& p, const Config& c) {
    if (!p.packed_b) return;
    if (!converts_weights(p, c)) {
        throw Error("gemm dtype_b", "int4", "bf16 or fp16 for A, and implementation triton or inductor");
    }
    if (p.b_major != Major::k || p.k % 2 != 0) {
        throw Error("gemm dtype_b", "int4", "b_major k and an even k: two weights share a byte along K");
    }
    if (c.cta_k % 32 != 0) {
        throw Error("gemm cta_tile", std::to_string(c.cta_k), "a multiple of 32 along K with int4 weights");
    }
}

mk::Id add_converted_products(Parts& parts) {
    mk::Builder& b = parts.builder;
    const Config& c = parts.config;
    const Problem& p = parts.problem;
    const double elements =
        static_cast<double>(std::int64_t{c.cta_n} * c.cta_k) / static_cast<double>(lanes * c.warps);
    const int turns = p.packed_b ? 2 : 1;
    const double bytes = static_cast<double>(tile_bytes(p, c, false)) / static_cast<double>(lanes * c.warps);
    const bool warpgroups = c.mma == MatrixInstruction::wgmma;
    // Warps that multiply by mma.sync read the places of their own operands, 8 bytes at a time.
    const WarpCounts counts = warpgroups ? WarpCounts{} : mma_sync_counts(p, c);
    const double loads =
        warpgroups ? bytes / static_cast<double>(p.packed_b ? widest / 2 : widest) : elements / 4;
    const mk::Id loaded = b.op(op_after(InstructionClass::ld_shared, loads, mk::no_id));
    mk::Id last = mk::no_id;
    for (int turn = 0; turn < turns; ++turn) {
        const mk::Id converted = add_conversion(parts, elements / turns, loaded);
        if (warpgroups) {
            const double stores = elements / turns * hw::bytes_of(p.a) / static_cast<double>(widest);
            // The second half waits until the products of the first have read their operands.
            mk::Op store = op_after(InstructionClass::st_shared, stores, converted);
            if (last != mk::no_id) store.deps[store.dep_count++] = {last, 0};
            const mk::Id stored = b.op(store);
            const mk::Id met = b.op(op_after(InstructionClass::bar_sync, 1, stored));
            mk::Op& product = add_wgmma_of_stage(parts, c.warps / 4);
            product.count = std::max<std::int64_t>(1, product.count / turns);
            product.chain = product.count;
            product.dep_count = 1;
            product.deps[0] = {met, 0};
            last = b.last_op();
            continue;
        }
        // A's rows: four ldmatrix for 128 elements along K.
        const std::int64_t rows = std::max<std::int64_t>(1, c.cta_k / 32);
        b.op(op_after(parts.ldmatrix ? InstructionClass::ldmatrix : InstructionClass::ld_shared,
                      static_cast<double>(rows) / turns, mk::no_id));
        mk::Op product =
            op_after(InstructionClass::mma_sync, static_cast<double>(counts.products) / turns, converted);
        product.dtype = p.a;
        product.shape = {16, 8, mma_sync_k(p, c)};
        last = b.op(product);
    }
    return last;
}

}  // namespace warptime::workloads::gemm
