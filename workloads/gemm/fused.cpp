// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/fused.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::array<std::pair<std::string_view, Epilogue>, 7> words{{
    {"none", Epilogue::none},
    {"bias", Epilogue::bias},
    {"relu", Epilogue::relu},
    {"gelu", Epilogue::gelu},
    {"silu", Epilogue::silu},
    {"residual", Epilogue::residual},
    {"scale", Epilogue::scale},
}};

mk::Id add_op(mk::Builder& b, InstructionClass cls, std::int64_t count, mk::Id first,
              mk::Id second = mk::no_id) {
    mk::Op op;
    op.cls = cls;
    op.count = std::max<std::int64_t>(1, count);
    for (const mk::Id dep : {first, second}) {
        if (dep != mk::no_id) op.deps[op.dep_count++] = {dep, 0};
    }
    return b.op(op);
}

/// Reads the part of a vector of n elements, or of a matrix like C, that belongs to a tile.
mk::Id add_read(mk::Builder& b, const Problem& p, const FusedTile& tile, bool matrix, std::int64_t loads) {
    mk::Buffer buffer;
    buffer.name = matrix ? "residual" : "bias";
    buffer.dtype = p.out;
    buffer.rank = 3;
    const std::int64_t pitch = p.ldc > 0 && matrix ? p.ldc : p.n;
    buffer.extent = {p.n, matrix ? p.m : 1, matrix ? p.batch : 1, 1, 1};
    buffer.stride = {1, pitch, pitch * p.m, 0, 0};
    buffer.contents = mk::Contents::random;
    const mk::Id source = b.buffer(buffer);
    mk::Access access;
    access.buffer = source;
    access.pattern = mk::PatternKind::collective;
    access.rank = 3;
    access.origin[0] = tile.column;
    if (matrix) {
        access.origin[1] = tile.row;
        access.origin[2] = tile.slice;
    }
    access.box = {tile.columns, matrix ? tile.rows : 1, 1, 1, 1};
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.dtype = p.out;
    load.count = std::max<std::int64_t>(1, loads);
    return b.op(load, {access});
}

}  // namespace

Epilogue parse_epilogue(std::string_view word) {
    for (const auto& [name, epilogue] : words) {
        if (name == word) return epilogue;
    }
    throw Error("gemm epilogue", std::string(word), "none, bias, relu, gelu, silu, residual or scale");
}

mk::Id add_fused(mk::Builder& b, const Problem& p, const FusedTile& tile, std::int64_t sums, int warps,
                 mk::Id last) {
    // A lane reads as many elements at once as 16 bytes hold.
    const std::int64_t elements_at_once = 16 / hw::bytes_of(p.out);
    switch (p.epilogue) {
        case Epilogue::none:
            return last;
        case Epilogue::bias: {
            const std::int64_t loads = tile.columns / (std::int64_t{32} * elements_at_once * warps);
            const mk::Id read = add_read(b, p, tile, false, loads);
            return add_op(b, InstructionClass::add_f32, sums, read, last);
        }
        case Epilogue::relu:
            return add_op(b, InstructionClass::compare_select, sums, last);
        case Epilogue::gelu: {
            // By tanh: a polynomial before it and a product behind it.
            const mk::Id inner = add_op(b, InstructionClass::fma_f32, 4 * sums, last);
            const mk::Id tanh = add_op(b, InstructionClass::mufu, sums, inner);
            return add_op(b, InstructionClass::fma_f32, 2 * sums, tanh);
        }
        case Epilogue::silu: {
            // x / (1 + exp(-x)): an exponential and a reciprocal.
            const mk::Id inner = add_op(b, InstructionClass::mul_f32, sums, last);
            const mk::Id power = add_op(b, InstructionClass::mufu, sums, inner);
            const mk::Id below = add_op(b, InstructionClass::add_f32, sums, power);
            const mk::Id inverse = add_op(b, InstructionClass::mufu, sums, below);
            return add_op(b, InstructionClass::mul_f32, sums, inverse);
        }
        case Epilogue::residual: {
            const mk::Id read = add_read(b, p, tile, true, sums / elements_at_once);
            const mk::Id wide =
                hw::bytes_of(p.out) < 4 ? add_op(b, InstructionClass::shift, sums, read) : read;
            return add_op(b, InstructionClass::fma_f32, sums, wide, last);
        }
        case Epilogue::scale:
            break;
    }
    return add_op(b, InstructionClass::mul_f32, sums, last);
}

}  // namespace warptime::workloads::gemm
