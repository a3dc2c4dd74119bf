// One instruction of each arithmetic class as a function, for the probes of latency, rate and mixtures.
// Each instruction depends on the one before in its chain. The compiler cannot know, fold or reorder the
// operands. The names end in the number type. Multiply-adds read two registers, because three registers of
// one bank take a cycle more. PTX has no say in which bank a register lies. Ignores: memory and tensor
// instructions. Facts: PTX ISA, instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

#include <cstdint>

namespace probe {

enum class Instruction {
    fma_f32,
    add_f32,
    mul_f32,
    fma_f16x2,
    fma_bf16x2,
    add_f16x2,
    fma_f64,
    add_f64,
    mad_s32,
    dot_s8,
    add_s32,
    logic,
    shift,
    permute,
    min_max,
    compare_select,
    popc,
    ex2,
    rcp_tanh,
    rsqrt,
    sqrt,
    lg2,
    sin,
    tanh,
    round_f32,
    f16_to_f32,
    f32_s32_f32,
    f32_f64_f32,
    pack_bf16x2,
    shfl,
    vote,
    redux_s32,
    match
};

/// The name in the rows, and the number of machine instructions in one step.
struct InstructionFacts {
    const char* name;
    int machine;
};

inline InstructionFacts facts(Instruction instruction) {
    switch (instruction) {
        case Instruction::fma_f32:
            return {"fma_f32", 1};
        case Instruction::add_f32:
            return {"add_f32", 1};
        case Instruction::mul_f32:
            return {"mul_f32", 1};
        case Instruction::fma_f16x2:
            return {"fma_f16x2", 1};
        case Instruction::fma_bf16x2:
            return {"fma_bf16x2", 1};
        case Instruction::add_f16x2:
            return {"add_f16x2", 1};
        case Instruction::fma_f64:
            return {"fma_f64", 1};
        case Instruction::add_f64:
            return {"add_f64", 1};
        case Instruction::mad_s32:
            return {"mad_s32", 1};
        case Instruction::dot_s8:
            return {"dot_s8", 1};
        case Instruction::add_s32:
            return {"add_s32", 1};
        case Instruction::logic:
            return {"logic", 1};
        case Instruction::shift:
            return {"shift", 1};
        case Instruction::permute:
            return {"permute", 1};
        case Instruction::min_max:
            return {"min_max", 1};
        case Instruction::compare_select:
            return {"compare_select", 2};
        case Instruction::popc:
            return {"popc", 1};
        case Instruction::ex2:
            return {"ex2", 1};
        case Instruction::rcp_tanh:
            return {"rcp_tanh", 1};
        case Instruction::rsqrt:
            return {"rsqrt", 1};
        case Instruction::sqrt:
            return {"sqrt", 1};
        case Instruction::lg2:
            return {"lg2", 1};
        case Instruction::sin:
            return {"sin", 2};
        case Instruction::tanh:
            return {"tanh", 1};
        case Instruction::round_f32:
            return {"round_f32", 1};
        case Instruction::f16_to_f32:
            return {"f16_to_f32", 1};
        case Instruction::f32_s32_f32:
            return {"f32_s32_f32", 2};
        case Instruction::f32_f64_f32:
            return {"f32_f64_f32", 2};
        case Instruction::pack_bf16x2:
            return {"pack_bf16x2", 1};
        case Instruction::shfl:
            return {"shfl", 1};
        case Instruction::vote:
            return {"vote", 2};
        case Instruction::redux_s32:
            return {"redux_s32", 2};
        case Instruction::match:
            return {"match", 1};
    }
    return {"", 0};
}

/// The registers of one chain and the operands that all chains share.
struct Chain {
    std::uint32_t x, y;
    double d;
};
struct Operands {
    std::uint32_t b, c, e;
    double f, g;
};

#define PROBE_UNARY(text) asm volatile(text " %0, %0;" : "+r"(chain.x))
#define PROBE_BINARY(text, b) asm volatile(text " %0, %0, %1;" : "+r"(chain.x) : "r"(b))
#define PROBE_TERNARY(text, b, c) asm volatile(text " %0, %0, %1, %2;" : "+r"(chain.x) : "r"(b), "r"(c))

/// One instruction on the chain; `turn` alternates between 0 and 1 along it.
template <Instruction I>
__device__ __forceinline__ void step(Chain& chain, const Operands& with, int turn) {
    const std::uint32_t b = turn == 0 ? with.b : with.c;
    const std::uint32_t c = turn == 0 ? with.c : with.e;
    if constexpr (I == Instruction::fma_f32) PROBE_TERNARY("fma.rn.f32", b, b);
    if constexpr (I == Instruction::add_f32) PROBE_BINARY("add.rn.f32", b);
    if constexpr (I == Instruction::mul_f32) PROBE_BINARY("mul.rn.f32", b);
    if constexpr (I == Instruction::fma_f16x2) PROBE_TERNARY("fma.rn.f16x2", b, b);
    if constexpr (I == Instruction::fma_bf16x2) PROBE_TERNARY("fma.rn.bf16x2", b, b);
    if constexpr (I == Instruction::add_f16x2) PROBE_BINARY("add.rn.f16x2", b);
    if constexpr (I == Instruction::fma_f64) {
        asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(chain.d) : "d"(turn == 0 ? with.f : with.g));
    }
    if constexpr (I == Instruction::add_f64) {
        asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(chain.d) : "d"(turn == 0 ? with.f : with.g));
    }
    if constexpr (I == Instruction::mad_s32) PROBE_TERNARY("mad.lo.s32", b, b);
    if constexpr (I == Instruction::dot_s8) PROBE_TERNARY("dp4a.s32.s32", b, b);
    if constexpr (I == Instruction::add_s32) {
        if (turn == 0) {
            asm volatile("add.s32 %0, %0, %1;" : "+r"(chain.x) : "r"(chain.y));
        } else {
            asm volatile("add.s32 %0, %0, %1;" : "+r"(chain.y) : "r"(chain.x));
        }
    }
    if constexpr (I == Instruction::logic) {
        asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(chain.x) : "r"(b), "r"(c));
    }
    if constexpr (I == Instruction::shift) PROBE_TERNARY("shf.l.wrap.b32", b, c);
    if constexpr (I == Instruction::permute) PROBE_TERNARY("prmt.b32", b, c);
    if constexpr (I == Instruction::min_max) {
        if (turn == 0) {
            PROBE_BINARY("min.s32", b);
        } else {
            PROBE_BINARY("max.s32", c);
        }
    }
    if constexpr (I == Instruction::compare_select) {
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %3, p; }"
                     : "+r"(chain.x)
                     : "r"(b), "r"(c), "r"(chain.y));
    }
    if constexpr (I == Instruction::popc) PROBE_UNARY("popc.b32");
    if constexpr (I == Instruction::ex2) PROBE_UNARY("ex2.approx.ftz.f32");
    // Two reciprocals in a row would cancel.
    if constexpr (I == Instruction::rcp_tanh) {
        if (turn == 0) {
            PROBE_UNARY("rcp.approx.ftz.f32");
        } else {
            PROBE_UNARY("tanh.approx.f32");
        }
    }
    if constexpr (I == Instruction::rsqrt) PROBE_UNARY("rsqrt.approx.ftz.f32");
    if constexpr (I == Instruction::sqrt) PROBE_UNARY("sqrt.approx.ftz.f32");
    if constexpr (I == Instruction::lg2) PROBE_UNARY("lg2.approx.ftz.f32");
    if constexpr (I == Instruction::sin) PROBE_UNARY("sin.approx.ftz.f32");
    if constexpr (I == Instruction::tanh) PROBE_UNARY("tanh.approx.f32");
    if constexpr (I == Instruction::round_f32) PROBE_UNARY("cvt.rni.f32.f32");
    if constexpr (I == Instruction::f16_to_f32) {
        asm volatile("{ .reg .b16 h, l; mov.b32 {l, h}, %0; cvt.f32.f16 %0, h; }" : "+r"(chain.x));
    }
    if constexpr (I == Instruction::f32_s32_f32) {
        asm volatile("cvt.rni.s32.f32 %0, %0; cvt.rn.f32.s32 %0, %0;" : "+r"(chain.x));
    }
    if constexpr (I == Instruction::f32_f64_f32) {
        asm volatile("{ .reg .f64 d; cvt.f64.f32 d, %0; cvt.rz.f32.f64 %0, d; }" : "+r"(chain.x));
    }
    if constexpr (I == Instruction::pack_bf16x2) PROBE_BINARY("cvt.rn.bf16x2.f32", b);
    if constexpr (I == Instruction::shfl) {
        asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 31, -1;" : "+r"(chain.x) : "r"(b));
    }
    if constexpr (I == Instruction::vote) {
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }"
                     : "+r"(chain.x)
                     : "r"(chain.y));
    }
    if constexpr (I == Instruction::redux_s32) {
        asm volatile("redux.sync.add.s32 %0, %0, -1;" : "+r"(chain.x));
    }
    if constexpr (I == Instruction::match) {
        asm volatile("match.any.sync.b32 %0, %0, -1;" : "+r"(chain.x));
    }
}

/// Operands from memory, one for each start of a chain. So the compiler knows nothing of the operands.
__device__ inline Operands operands_from(const std::uint32_t* words) {
    Operands with;
    with.b = words[0];
    with.c = words[1];
    with.e = words[2];
    with.f = static_cast<double>(__uint_as_float(words[0]));
    with.g = static_cast<double>(__uint_as_float(words[1]));
    return with;
}

__device__ inline Chain chain_from(const std::uint32_t* words, int number) {
    // The word differs between lanes. Otherwise the compiler would know the values that lanes tell each
    // other.
    const std::uint32_t word = words[3 + number] ^ threadIdx.x;
    return {word, word ^ words[2], static_cast<double>(__uint_as_float(word))};
}

/// The result of a chain, folded to one word.
__device__ inline std::uint32_t folded(const Chain& chain) {
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(chain.d));
    return chain.x ^ (chain.y * 3U) ^ static_cast<std::uint32_t>(bits) ^
           static_cast<std::uint32_t>(bits >> 32);
}

}  // namespace probe
