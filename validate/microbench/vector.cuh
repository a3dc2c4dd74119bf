// Loads and stores of 4, 8 or 16 bytes a lane at a chosen cache level.
// For the probes that sweep the width.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

namespace probe {

/// Words of one lane's access; Width in bytes is 4, 8 or 16. Its fold is their sum.
template <int Width>
struct Vector {
    std::uint32_t word[Width / 4];
};

template <int Width>
__device__ inline std::uint32_t fold(const Vector<Width>& value) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < Width / 4; ++i) sum += value.word[i];
    return sum;
}

/// Uses the words after every earlier load. So what waits for the first of several loads stays behind the
/// last load.
template <int Width>
__device__ inline void use(Vector<Width>& value) {
#pragma unroll
    for (int i = 0; i < Width / 4; ++i) asm volatile("" : "+r"(value.word[i])::"memory");
}

/// ca: the L1 keeps the line; cg: the load fetches from the L2.
enum class Level { ca, cg };

/// Loads at a global address that is a multiple of Width. The compiler neither drops nor merges the load.
template <int Width, Level level>
__device__ inline Vector<Width> load_global(const void* from) {
    Vector<Width> v;
    if constexpr (Width == 4 && level == Level::ca) {
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(from) : "memory");
    } else if constexpr (Width == 4) {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(from) : "memory");
    } else if constexpr (Width == 8 && level == Level::ca) {
        asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2];"
                     : "=r"(v.word[0]), "=r"(v.word[1])
                     : "l"(from)
                     : "memory");
    } else if constexpr (Width == 8) {
        asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];"
                     : "=r"(v.word[0]), "=r"(v.word[1])
                     : "l"(from)
                     : "memory");
    } else if constexpr (level == Level::ca) {
        asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                     : "l"(from)
                     : "memory");
    } else {
        asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                     : "l"(from)
                     : "memory");
    }
    return v;
}

template <int Width>
__device__ inline void store_global(void* to, const Vector<Width>& v) {
    if constexpr (Width == 4) {
        asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(v.word[0]) : "memory");
    } else if constexpr (Width == 8) {
        asm volatile("st.global.v2.u32 [%0], {%1,%2};" ::"l"(to), "r"(v.word[0]), "r"(v.word[1]) : "memory");
    } else {
        asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.word[0]), "r"(v.word[1]),
                     "r"(v.word[2]), "r"(v.word[3])
                     : "memory");
    }
}

template <int Width>
__device__ inline Vector<Width> load_shared(std::uint32_t from) {
    Vector<Width> v;
    if constexpr (Width == 4) {
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v.word[0]) : "r"(from) : "memory");
    } else if constexpr (Width == 8) {
        asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];"
                     : "=r"(v.word[0]), "=r"(v.word[1])
                     : "r"(from)
                     : "memory");
    } else {
        asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                     : "r"(from)
                     : "memory");
    }
    return v;
}

template <int Width>
__device__ inline void store_shared(std::uint32_t to, const Vector<Width>& v) {
    if constexpr (Width == 4) {
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(v.word[0]) : "memory");
    } else if constexpr (Width == 8) {
        asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(to), "r"(v.word[0]), "r"(v.word[1]) : "memory");
    } else {
        asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(v.word[0]), "r"(v.word[1]),
                     "r"(v.word[2]), "r"(v.word[3])
                     : "memory");
    }
}

/// Samples of cycles / divide, each the median over CTAs, after a warm-up; `prepare` runs before every
/// launch.
inline std::vector<double> sample_cycles(const Buffer<long long>& cycles, int ctas, double divide,
                                         const std::function<void()>& prepare,
                                         const std::function<void()>& launch, int samples = 9) {
    std::vector<double> found;
    if (only_read()) samples = 1;
    for (int turn = only_read() ? 1 : 0; turn <= samples; ++turn) {
        prepare();
        launch();
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> all = cycles.host();
        const std::vector<double> each(all.begin(), all.begin() + ctas);
        if (turn > 0) found.push_back(median(each) / divide);
    }
    return found;
}

}  // namespace probe
