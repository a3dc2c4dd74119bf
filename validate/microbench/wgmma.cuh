// The wgmma and mma.sync instructions as functions, for the probes that need them.
// Accumulators are arrays indexed only by constants, so that they stay in registers. Facts: PTX ISA, sections
// on wgmma.mma_async and its shared memory descriptors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace probe {

__device__ inline void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ inline void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// Descriptor of a K-major operand in shared memory with the 128-byte swizzle: rows of 128 bytes, groups of 8
/// rows.
__device__ inline std::uint64_t wgmma_descriptor(std::uint32_t shared_address) {
    const std::uint64_t start = (shared_address & 0x3ffffU) >> 4;
    return start | (std::uint64_t{1} << 16) | (std::uint64_t{64} << 32) | (std::uint64_t{1} << 62);
}

#define PROBE_D8(i)                                                                             \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
        "+f"(d[i + 6]), "+f"(d[i + 7])

#define PROBE_S0 "%0,%1,%2,%3,%4,%5,%6,%7"
#define PROBE_S1 "%8,%9,%10,%11,%12,%13,%14,%15"
#define PROBE_S2 "%16,%17,%18,%19,%20,%21,%22,%23"
#define PROBE_S3 "%24,%25,%26,%27,%28,%29,%30,%31"
#define PROBE_S4 "%32,%33,%34,%35,%36,%37,%38,%39"
#define PROBE_S5 "%40,%41,%42,%43,%44,%45,%46,%47"
#define PROBE_S6 "%48,%49,%50,%51,%52,%53,%54,%55"
#define PROBE_S7 "%56,%57,%58,%59,%60,%61,%62,%63"
#define PROBE_S8 "%64,%65,%66,%67,%68,%69,%70,%71"
#define PROBE_S9 "%72,%73,%74,%75,%76,%77,%78,%79"
#define PROBE_S10 "%80,%81,%82,%83,%84,%85,%86,%87"
#define PROBE_S11 "%88,%89,%90,%91,%92,%93,%94,%95"
#define PROBE_S12 "%96,%97,%98,%99,%100,%101,%102,%103"
#define PROBE_S13 "%104,%105,%106,%107,%108,%109,%110,%111"
#define PROBE_S14 "%112,%113,%114,%115,%116,%117,%118,%119"
#define PROBE_S15 "%120,%121,%122,%123,%124,%125,%126,%127"

#define PROBE_NAMES_16 PROBE_S0
#define PROBE_OUTPUTS_16 PROBE_D8(0)
#define PROBE_NAMES_32 PROBE_S0 "," PROBE_S1
#define PROBE_OUTPUTS_32 PROBE_D8(0), PROBE_D8(8)
#define PROBE_NAMES_64 PROBE_S0 "," PROBE_S1 "," PROBE_S2 "," PROBE_S3
#define PROBE_OUTPUTS_64 PROBE_D8(0), PROBE_D8(8), PROBE_D8(16), PROBE_D8(24)
#define PROBE_NAMES_96 PROBE_S0 "," PROBE_S1 "," PROBE_S2 "," PROBE_S3 "," PROBE_S4 "," PROBE_S5
#define PROBE_OUTPUTS_96 PROBE_D8(0), PROBE_D8(8), PROBE_D8(16), PROBE_D8(24), PROBE_D8(32), PROBE_D8(40)
#define PROBE_NAMES_128 \
    PROBE_S0 "," PROBE_S1 "," PROBE_S2 "," PROBE_S3 "," PROBE_S4 "," PROBE_S5 "," PROBE_S6 "," PROBE_S7
#define PROBE_OUTPUTS_128                                                                           \
    PROBE_D8(0), PROBE_D8(8), PROBE_D8(16), PROBE_D8(24), PROBE_D8(32), PROBE_D8(40), PROBE_D8(48), \
        PROBE_D8(56)
#define PROBE_NAMES_192                                                                                 \
    PROBE_S0 "," PROBE_S1 "," PROBE_S2 "," PROBE_S3 "," PROBE_S4 "," PROBE_S5 "," PROBE_S6 "," PROBE_S7 \
             "," PROBE_S8 "," PROBE_S9 "," PROBE_S10 "," PROBE_S11
#define PROBE_OUTPUTS_192                                                                           \
    PROBE_D8(0), PROBE_D8(8), PROBE_D8(16), PROBE_D8(24), PROBE_D8(32), PROBE_D8(40), PROBE_D8(48), \
        PROBE_D8(56), PROBE_D8(64), PROBE_D8(72), PROBE_D8(80), PROBE_D8(88)
#define PROBE_NAMES_256                                                                                      \
    PROBE_S0 "," PROBE_S1 "," PROBE_S2 "," PROBE_S3 "," PROBE_S4 "," PROBE_S5 "," PROBE_S6 "," PROBE_S7      \
             "," PROBE_S8 "," PROBE_S9 "," PROBE_S10 "," PROBE_S11 "," PROBE_S12 "," PROBE_S13 "," PROBE_S14 \
             "," PROBE_S15
#define PROBE_OUTPUTS_256                                                                                  \
    PROBE_D8(0), PROBE_D8(8), PROBE_D8(16), PROBE_D8(24), PROBE_D8(32), PROBE_D8(40), PROBE_D8(48),        \
        PROBE_D8(56), PROBE_D8(64), PROBE_D8(72), PROBE_D8(80), PROBE_D8(88), PROBE_D8(96), PROBE_D8(104), \
        PROBE_D8(112), PROBE_D8(120)
#define PROBE_NAMES_8 "%0,%1,%2,%3"
#define PROBE_OUTPUTS_8 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])

/// One m64nNk16 (bf16) or m64nNk32 (fp8) product, added to the accumulators d[N / 2] of each thread.
template <int N>
struct Wgmma;

// P0 to P4 are the numbers of the operands after the accumulators.
#define PROBE_WGMMA(N, P0, P1, P2, P3, P4)                                                                  \
    template <>                                                                                             \
    struct Wgmma<N> {                                                                                       \
        __device__ static void shared(float (&d)[N / 2], std::uint64_t a, std::uint64_t b) {                \
            asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n" #N        \
                         "k16.f32.bf16.bf16 {" PROBE_NAMES_##N "}, %" #P0 ", %" #P1 ", p, 1, 1, 0, 0; }"    \
                         : PROBE_OUTPUTS_##N                                                                \
                         : "l"(a), "l"(b));                                                                 \
        }                                                                                                   \
        __device__ static void registers(float (&d)[N / 2], const std::uint32_t (&a)[4], std::uint64_t b) { \
            asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n" #N        \
                         "k16.f32.bf16.bf16 {" PROBE_NAMES_##N "}, {%" #P0 ",%" #P1 ",%" #P2 ",%" #P3       \
                                                               "}, %" #P4 ", p, 1, 1, 0; }"                 \
                         : PROBE_OUTPUTS_##N                                                                \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                             \
        }                                                                                                   \
        __device__ static void shared_fp8(float (&d)[N / 2], std::uint64_t a, std::uint64_t b) {            \
            asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n" #N        \
                         "k32.f32.e4m3.e4m3 {" PROBE_NAMES_##N "}, %" #P0 ", %" #P1 ", p, 1, 1; }"          \
                         : PROBE_OUTPUTS_##N                                                                \
                         : "l"(a), "l"(b));                                                                 \
        }                                                                                                   \
    };

PROBE_WGMMA(8, 4, 5, 6, 7, 8)
PROBE_WGMMA(16, 8, 9, 10, 11, 12)
PROBE_WGMMA(32, 16, 17, 18, 19, 20)
PROBE_WGMMA(64, 32, 33, 34, 35, 36)
PROBE_WGMMA(96, 48, 49, 50, 51, 52)
PROBE_WGMMA(128, 64, 65, 66, 67, 68)
PROBE_WGMMA(192, 96, 97, 98, 99, 100)
PROBE_WGMMA(256, 128, 129, 130, 131, 132)

/// One warp's mma.sync m16n8k16 in bf16 with fp32 accumulators.
__device__ inline void mma_sync(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace probe
