// One CTA an SM goes round a loop in which each warp loads one line from a place of its own: all warps meet
// after each load, no warp meets another, or each load's place follows from the load before.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

enum class Way { apart, together, next };

template <Way way>
__global__ void walk(const unsigned* lines, unsigned mask, int trips, unsigned* sums) {
    const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned sum = 0, place = warp * 2654435761U;
    for (int trip = 0; trip < trips; ++trip) {
        const unsigned value = lines[(place >> 8 & mask) * 32 + lane];
        sum += value;
        place = place * 1664525U + 1013904223U;
        if constexpr (way == Way::next) {
            place += value & 0x100U;
        }
        if constexpr (way == Way::together) {
            // The sum is needed before the warps meet.
            if (sum == 0xffffffffU) {
                place = 0;
            }
            __syncthreads();
        } else if constexpr (way == Way::apart) {
            if (sum == 0xffffffffU) {
                place = 0;
            }
        }
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <Way way>
std::vector<unsigned> expected(const std::vector<unsigned>& lines, unsigned mask, int trips, int threads,
                               int blocks) {
    std::vector<unsigned> sums(static_cast<std::size_t>(threads) * blocks);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        unsigned place = static_cast<unsigned>(i / 32) * 2654435761U;
        for (int trip = 0; trip < trips; ++trip) {
            const unsigned value = lines[std::size_t{place >> 8 & mask} * 32 + i % 32];
            sums[i] += value;
            place = place * 1664525U + 1013904223U;
            if (way == Way::next) {
                place += value & 0x100U;
            }
        }
    }
    return sums;
}

template <Way way>
void launch(const char* what, const Array<unsigned>& array, const std::vector<unsigned>& lines, unsigned mask,
            int threads) {
    constexpr int trips = 48, blocks = 132;
    const Array<unsigned> sums(static_cast<std::size_t>(threads) * blocks);
    prepare();
    walk<way><<<blocks, threads>>>(array.data(), mask, trips, sums.data());
    finish(what);
    const auto result = sums.values();
    // Every lane of a warp has a value of its own: only walks by arithmetic can be checked lane by lane.
    if (way != Way::next) {
        check(result == expected<way>(lines, mask, trips, threads, blocks), what);
    }
    output(what, result);
}

void body() {
    constexpr unsigned lines = 1U << 19;  // 64 MiB
    auto values = random_values<unsigned>(std::size_t{lines} * 32, 1);
    for (auto& value : values) {
        value &= 0xffffffU;
    }
    const Array<unsigned> array(values);
    for (const int threads : {32, 128, 256, 512, 1024}) {
        for (const unsigned mask : {lines - 1, (1U << 16) - 1}) {
            launch<Way::apart>("apart", array, values, mask, threads);
            launch<Way::together>("together", array, values, mask, threads);
        }
        launch<Way::next>("next", array, values, lines - 1, threads);
    }
}

int main() {
    return run(body);
}
