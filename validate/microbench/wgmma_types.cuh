// wgmma of every number type, dense and 2:4 sparse, on accumulators held as 32-bit words.
// Facts: PTX ISA, sections on wgmma.mma_async and wgmma.mma_async.sp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wgmma.cuh"

namespace probe {

enum class WgmmaType { bf16, fp16, tf32, fp8, int8 };

/// Bytes of one element of A and B.
constexpr int wgmma_bytes(WgmmaType type) {
    return type == WgmmaType::tf32 ? 4 : (type == WgmmaType::fp8 || type == WgmmaType::int8 ? 1 : 2);
}

#define PROBE_R8(i)                                                                             \
    "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
        "+r"(d[i + 6]), "+r"(d[i + 7])
#define PROBE_WORDS_8 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define PROBE_WORDS_16 PROBE_R8(0)
#define PROBE_WORDS_32 PROBE_R8(0), PROBE_R8(8)
#define PROBE_WORDS_64 PROBE_R8(0), PROBE_R8(8), PROBE_R8(16), PROBE_R8(24)
#define PROBE_WORDS_128                                                                             \
    PROBE_R8(0), PROBE_R8(8), PROBE_R8(16), PROBE_R8(24), PROBE_R8(32), PROBE_R8(40), PROBE_R8(48), \
        PROBE_R8(56)
#define PROBE_WORDS_256                                                                                    \
    PROBE_R8(0), PROBE_R8(8), PROBE_R8(16), PROBE_R8(24), PROBE_R8(32), PROBE_R8(40), PROBE_R8(48),        \
        PROBE_R8(56), PROBE_R8(64), PROBE_R8(72), PROBE_R8(80), PROBE_R8(88), PROBE_R8(96), PROBE_R8(104), \
        PROBE_R8(112), PROBE_R8(120)

/// One product of 64 x N x 32 bytes, or 64 bytes of B where A is sparse. A comes from shared memory or from
/// registers.
template <int N>
struct WgmmaOf;

#define PROBE_START "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async."
// P0 to P3 are the numbers of the operands after the accumulators.
#define PROBE_SHARED(N, TYPE, TAIL, P0, P1)                                                        \
    asm volatile(PROBE_START "sync.aligned.m64n" #N TYPE " {" PROBE_NAMES_##N "}, %" #P0 ", %" #P1 \
                                                                              ", p" TAIL "; }"     \
                 : PROBE_WORDS_##N                                                                 \
                 : "l"(a), "l"(b))
#define PROBE_REGISTERS(N, TYPE, TAIL, P0, P1, P2, P3, P4)                          \
    asm volatile(PROBE_START "sync.aligned.m64n" #N TYPE " {" PROBE_NAMES_##N       \
                 "}, {%" #P0 ",%" #P1 ",%" #P2 ",%" #P3 "}, %" #P4 ", p" TAIL "; }" \
                 : PROBE_WORDS_##N                                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define PROBE_SPARSE(N, TYPE, TAIL, P0, P1, P2)                                  \
    asm volatile(PROBE_START "sp.sync.aligned.m64n" #N TYPE " {" PROBE_NAMES_##N \
                 "}, %" #P0 ", %" #P1 ", %" #P2 ", 0, p" TAIL "; }"              \
                 : PROBE_WORDS_##N                                               \
                 : "l"(a), "l"(b), "r"(0x44444444U))

#define PROBE_WGMMA_OF(N, P0, P1, P2, P3, P4)                                                                \
    template <>                                                                                              \
    struct WgmmaOf<N> {                                                                                      \
        template <WgmmaType T>                                                                               \
        __device__ static void shared(std::uint32_t (&d)[N / 2], std::uint64_t a, std::uint64_t b) {         \
            if constexpr (T == WgmmaType::bf16) PROBE_SHARED(N, "k16.f32.bf16.bf16", ",1,1,0,0", P0, P1);    \
            if constexpr (T == WgmmaType::fp16) PROBE_SHARED(N, "k16.f32.f16.f16", ",1,1,0,0", P0, P1);      \
            if constexpr (T == WgmmaType::tf32) PROBE_SHARED(N, "k8.f32.tf32.tf32", ",1,1", P0, P1);         \
            if constexpr (T == WgmmaType::fp8) PROBE_SHARED(N, "k32.f32.e4m3.e4m3", ",1,1", P0, P1);         \
            if constexpr (T == WgmmaType::int8) PROBE_SHARED(N, "k32.s32.s8.s8", "", P0, P1);                \
        }                                                                                                    \
        template <WgmmaType T>                                                                               \
        __device__ static void registers(std::uint32_t (&d)[N / 2], const std::uint32_t (&a)[4],             \
                                         std::uint64_t b) {                                                  \
            if constexpr (T == WgmmaType::bf16)                                                              \
                PROBE_REGISTERS(N, "k16.f32.bf16.bf16", ",1,1,0", P0, P1, P2, P3, P4);                       \
            if constexpr (T == WgmmaType::fp16)                                                              \
                PROBE_REGISTERS(N, "k16.f32.f16.f16", ",1,1,0", P0, P1, P2, P3, P4);                         \
            if constexpr (T == WgmmaType::tf32)                                                              \
                PROBE_REGISTERS(N, "k8.f32.tf32.tf32", ",1,1", P0, P1, P2, P3, P4);                          \
            if constexpr (T == WgmmaType::fp8)                                                               \
                PROBE_REGISTERS(N, "k32.f32.e4m3.e4m3", ",1,1", P0, P1, P2, P3, P4);                         \
            if constexpr (T == WgmmaType::int8) PROBE_REGISTERS(N, "k32.s32.s8.s8", "", P0, P1, P2, P3, P4); \
        }                                                                                                    \
        template <WgmmaType T>                                                                               \
        __device__ static void sparse(std::uint32_t (&d)[N / 2], std::uint64_t a, std::uint64_t b) {         \
            if constexpr (T == WgmmaType::bf16)                                                              \
                PROBE_SPARSE(N, "k32.f32.bf16.bf16", ",1,1,0,0", P0, P1, P2);                                \
            if constexpr (T == WgmmaType::fp16) PROBE_SPARSE(N, "k32.f32.f16.f16", ",1,1,0,0", P0, P1, P2);  \
            if constexpr (T == WgmmaType::tf32) PROBE_SPARSE(N, "k16.f32.tf32.tf32", ",1,1", P0, P1, P2);    \
            if constexpr (T == WgmmaType::fp8) PROBE_SPARSE(N, "k64.f32.e4m3.e4m3", ",1,1", P0, P1, P2);     \
            if constexpr (T == WgmmaType::int8) PROBE_SPARSE(N, "k64.s32.s8.s8", "", P0, P1, P2);            \
        }                                                                                                    \
    };

PROBE_WGMMA_OF(8, 4, 5, 6, 7, 8)
PROBE_WGMMA_OF(16, 8, 9, 10, 11, 12)
PROBE_WGMMA_OF(32, 16, 17, 18, 19, 20)
PROBE_WGMMA_OF(64, 32, 33, 34, 35, 36)
PROBE_WGMMA_OF(128, 64, 65, 66, 67, 68)
PROBE_WGMMA_OF(256, 128, 129, 130, 131, 132)

}  // namespace probe
