// What do the operands of multiply-adds cost at the register file, where a lane multiplies a block?
// Each lane multiplies `rows` by `columns` multiplicands and adds the products to rows x columns
// accumulators. Dense products without tensor cores do the same. Two sets of multiplicands take turns. The
// value is the cycles per multiply-add of a sub-partition, all its warps together. Every sum is compared with
// its closed form, which is exact.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"

namespace {

constexpr int steps = 8;
constexpr int trips = 96;

/// Small whole numbers, so that sums of their products are exact.
__host__ __device__ constexpr float multiplicand(int set, int index) {
    return static_cast<float>((index * 5 + set * 3) % 7 - 3);
}

template <int Rows, int Columns, int Threads>
__global__ void __launch_bounds__(Threads)
    run(probe::Region* regions, const float* left, const float* right, unsigned far, float* out) {
    // This adds zero, but the compiler must take the multiplicands for the lane's own.
    left += threadIdx.x >> far;
    right += threadIdx.x >> far;
    float a[2][Rows];
    float b[2][Columns];
    float sum[Rows][Columns];
#pragma unroll
    for (int set = 0; set < 2; ++set) {
#pragma unroll
        for (int i = 0; i < Rows; ++i) a[set][i] = left[set * Rows + i];
#pragma unroll
        for (int j = 0; j < Columns; ++j) b[set][j] = right[set * Columns + j];
    }
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
#pragma unroll
            for (int j = 0; j < Columns; ++j) sum[i][j] = 0.0F;
        }
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
            for (int step = 0; step < steps; ++step) {
#pragma unroll
                for (int j = 0; j < Columns; ++j) {
#pragma unroll
                    for (int i = 0; i < Rows; ++i) {
                        sum[i][j] = fmaf(a[step % 2][i], b[step % 2][j], sum[i][j]);
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
#pragma unroll
            for (int j = 0; j < Columns; ++j) asm volatile("" ::"f"(sum[i][j]) : "memory");
        }
    }
    probe::close_region(regions, begin);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
#pragma unroll
            for (int j = 0; j < Columns; ++j) out[i * Columns + j] = sum[i][j];
        }
    }
}

struct Bench {
    Bench() : regions(1024), left(64), right(64), out(1024) {}
    probe::Buffer<probe::Region> regions;
    probe::Buffer<float> left;
    probe::Buffer<float> right;
    probe::Buffer<float> out;
};

void fill(probe::Buffer<float>& buffer, int count) {
    std::vector<float> values;
    for (int set = 0; set < 2; ++set) {
        for (int i = 0; i < count; ++i) values.push_back(multiplicand(set, i));
    }
    PROBE_CHECK(
        cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
}

template <int Rows, int Columns, int Threads>
void block_case(Bench& bench, int warps) {
    probe::Params params;
    params.set("rows", Rows).set("columns", Columns).set("warps_per_subpartition", warps);
    if (!probe::wanted("register_operands", params)) return;
    fill(bench.left, Rows);
    fill(bench.right, Columns);
    const int grid = probe::device().sms;
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] {
        run<Rows, Columns, Threads><<<grid, warps * 128>>>(bench.regions.data(), bench.left.data(),
                                                           bench.right.data(), 31, bench.out.data());
    });
    const std::vector<float> sums = bench.out.host();
    for (int i = 0; i < Rows; ++i) {
        for (int j = 0; j < Columns; ++j) {
            const float once =
                multiplicand(0, i) * multiplicand(0, j) + multiplicand(1, i) * multiplicand(1, j);
            const float expected = once * static_cast<float>(trips * steps / 2);
            probe::require(sums[static_cast<std::size_t>(i * Columns + j)] == expected, params.text());
        }
    }
    for (double& cycles : found) cycles /= static_cast<double>(Rows * Columns * steps * trips) * warps;
    probe::row("register_operands", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

/// Up to `Warps` warps a sub-partition, as many as their registers allow.
template <int Rows, int Columns, int Warps>
void cases(Bench& bench) {
    for (int warps = 1; warps <= Warps; warps *= 2) block_case<Rows, Columns, 128 * Warps>(bench, warps);
}

}  // namespace

int main() {
    probe::begin("register_operands");
    Bench bench;
    cases<4, 4, 4>(bench);
    cases<4, 8, 4>(bench);
    cases<8, 4, 4>(bench);
    cases<8, 8, 4>(bench);
    cases<16, 4, 4>(bench);
    cases<4, 16, 4>(bench);
    cases<16, 8, 2>(bench);
    cases<8, 16, 2>(bench);
    cases<12, 8, 2>(bench);
    cases<6, 8, 4>(bench);
    cases<8, 6, 4>(bench);
    return 0;
}
