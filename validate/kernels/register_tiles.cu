// Matrix products on the plain units: 8 x 8 outputs a thread with two buffers by registers or by cp.async,
// doubles, integers, pairs of halves, a transposed left side with ragged ends, tall and thin, and long sums.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A tile of 128 x 128, steps of 8: the next step waits in registers while this one is multiplied.
__global__ void __launch_bounds__(256)
    two_buffers(const float* a, const float* b, float* out, int columns, int depth) {
    __shared__ __align__(16) float left[2][8][132], right[2][8][128];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const int a_row = thread / 2, a_column = thread % 2 * 4, b_row = thread / 32, b_column = thread % 32 * 4;
    const float* from_a = a + (static_cast<std::size_t>(blockIdx.y) * 128 + a_row) * depth + a_column;
    const float* from_b = b + static_cast<std::size_t>(b_row) * columns + blockIdx.x * 128 + b_column;
    float sums[8][8] = {};
    float4 next_a = *reinterpret_cast<const float4*>(from_a);
    float4 next_b = *reinterpret_cast<const float4*>(from_b);
    int buffer = 0;
    for (int k = 0; k < depth; k += 8) {
        left[buffer][a_column][a_row] = next_a.x;
        left[buffer][a_column + 1][a_row] = next_a.y;
        left[buffer][a_column + 2][a_row] = next_a.z;
        left[buffer][a_column + 3][a_row] = next_a.w;
        *reinterpret_cast<float4*>(&right[buffer][b_row][b_column]) = next_b;
        __syncthreads();
        if (k + 8 < depth) {
            next_a = *reinterpret_cast<const float4*>(from_a + k + 8);
            next_b = *reinterpret_cast<const float4*>(from_b + static_cast<std::size_t>(k + 8) * columns);
        }
#pragma unroll
        for (int s = 0; s < 8; ++s) {
            float x[8], y[8];
            *reinterpret_cast<float4*>(x) = *reinterpret_cast<float4*>(&left[buffer][s][ty * 4]);
            *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<float4*>(&left[buffer][s][64 + ty * 4]);
            *reinterpret_cast<float4*>(y) = *reinterpret_cast<float4*>(&right[buffer][s][tx * 4]);
            *reinterpret_cast<float4*>(y + 4) = *reinterpret_cast<float4*>(&right[buffer][s][64 + tx * 4]);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(x[i], y[j], sums[i][j]);
        }
        buffer ^= 1;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const std::size_t row = blockIdx.y * 128 + (i / 4) * 64 + ty * 4 + i % 4;
        float* to = out + row * columns + blockIdx.x * 128 + tx * 4;
        *reinterpret_cast<float4*>(to) = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
        *reinterpret_cast<float4*>(to + 64) = {sums[i][4], sums[i][5], sums[i][6], sums[i][7]};
    }
}

__device__ inline void copy_later(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
}

/// The same tile in steps of 16, two steps ahead by cp.async; the left side stays in rows.
__global__ void __launch_bounds__(256)
    async_stages(const float* a, const float* b, float* out, int columns, int depth) {
    extern __shared__ __align__(16) float stages[];
    constexpr int left_size = 128 * 20, stage_size = left_size + 16 * 128;
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const auto fetch = [&](int step) {
        float* left = stages + step % 3 * stage_size;
        float* right = left + left_size;
#pragma unroll
        for (int i = thread; i < 512; i += 256) {
            copy_later(
                left + i / 4 * 20 + i % 4 * 4,
                a + (static_cast<std::size_t>(blockIdx.y) * 128 + i / 4) * depth + step * 16 + i % 4 * 4);
            copy_later(
                right + i / 32 * 128 + i % 32 * 4,
                b + static_cast<std::size_t>(step * 16 + i / 32) * columns + blockIdx.x * 128 + i % 32 * 4);
        }
    };
    const int steps = depth / 16;
    fetch(0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    fetch(1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    float sums[8][8] = {};
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (step + 2 < steps) fetch(step + 2);
        asm volatile("cp.async.commit_group;" ::: "memory");
        const float* left = stages + step % 3 * stage_size;
        const float* right = left + left_size;
#pragma unroll
        for (int s = 0; s < 16; ++s) {
            float x[8], y[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = left[(ty + 16 * i) * 20 + s];
            *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(right + s * 128 + tx * 4);
            *reinterpret_cast<float4*>(y + 4) =
                *reinterpret_cast<const float4*>(right + s * 128 + 64 + tx * 4);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(x[i], y[j], sums[i][j]);
        }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const std::size_t row = blockIdx.y * 128 + ty + 16 * i;
        float* to = out + row * columns + blockIdx.x * 128 + tx * 4;
        *reinterpret_cast<float4*>(to) = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
        *reinterpret_cast<float4*>(to + 64) = {sums[i][4], sums[i][5], sums[i][6], sums[i][7]};
    }
}

/// 64 x 64 outputs, 4 x 4 a thread, any size and type; the left side may lie transposed.
template <class T, bool turned>
__global__ void __launch_bounds__(256)
    ragged(const T* a, const T* b, T* out, int rows, int columns, int depth, T scale) {
    __shared__ T left[16][65], right[16][64];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    T sums[4][4] = {};
    for (int k = 0; k < depth; k += 16) {
#pragma unroll
        for (int i = thread; i < 1024; i += 256) {
            const int s = turned ? i / 64 : i % 16, r = turned ? i % 64 : i / 16;
            const bool inside = first_row + r < rows && k + s < depth;
            const std::size_t at = turned ? static_cast<std::size_t>(k + s) * rows + first_row + r
                                          : static_cast<std::size_t>(first_row + r) * depth + k + s;
            left[s][r] = inside ? a[at] : T(0);
            const int c = i % 64, t = i / 64;
            right[t][c] = first_column + c < columns && k + t < depth
                              ? b[static_cast<std::size_t>(k + t) * columns + first_column + c]
                              : T(0);
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 16; ++s) {
            T x[4], y[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i] = left[s][ty + 16 * i];
                y[i] = right[s][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int row = first_row + ty + 16 * i, column = first_column + tx + 16 * j;
            if (row < rows && column < columns)
                out[static_cast<std::size_t>(row) * columns + column] = sums[i][j] * scale;
        }
}

/// Pairs of columns by one instruction; sums of 32 steps in half precision, then in single.
__global__ void __launch_bounds__(128)
    half_pairs(const __half* a, const __half2* b, float2* out, int columns, int depth) {
    __shared__ __half left[32][33];
    __shared__ __half2 right[32][32];
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    float2 sums[8] = {};
    for (int k = 0; k < depth; k += 32) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int row = ty + 4 * i;
            left[row][tx] = a[static_cast<std::size_t>(blockIdx.y * 32 + row) * depth + k + tx];
            right[row][tx] = b[static_cast<std::size_t>(k + row) * (columns / 2) + blockIdx.x * 32 + tx];
        }
        __syncthreads();
        __half2 part[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) part[i] = __float2half2_rn(0.0F);
#pragma unroll
        for (int s = 0; s < 32; ++s) {
            const __half2 y = right[s][tx];
#pragma unroll
            for (int i = 0; i < 8; ++i) part[i] = __hfma2(__half2half2(left[ty + 4 * i][s]), y, part[i]);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float2 two = __half22float2(part[i]);
            sums[i].x += two.x;
            sums[i].y += two.y;
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        out[static_cast<std::size_t>(blockIdx.y * 32 + ty + 4 * i) * (columns / 2) + blockIdx.x * 32 + tx] =
            sums[i];
}

/// Tall and thin: a thread a row of 64, the 64 x 16 right side in shared memory.
__global__ void __launch_bounds__(128) thin(const float4* a, const float* b, float* out, int rows) {
    __shared__ float right[64][16];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) right[i / 16][i % 16] = b[i];
    __syncthreads();
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sums[16] = {};
    for (int k = 0; k < 16; ++k) {
        const float4 v = a[static_cast<std::size_t>(row) * 16 + k];
#pragma unroll
        for (int c = 0; c < 16; ++c) {
            sums[c] = fmaf(v.x, right[4 * k][c], sums[c]);
            sums[c] = fmaf(v.y, right[4 * k + 1][c], sums[c]);
            sums[c] = fmaf(v.z, right[4 * k + 2][c], sums[c]);
            sums[c] = fmaf(v.w, right[4 * k + 3][c], sums[c]);
        }
    }
    for (int c = 0; c < 16; ++c) out[static_cast<std::size_t>(c) * rows + row] = sums[c];
}

/// Products of all pairs of 64 columns over many rows: blocks take rows in turn and add up at the end.
__global__ void __launch_bounds__(256) gram(const float* a, float* out, int rows) {
    __shared__ float part[16][64];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sums[4][4] = {};
    for (int first = blockIdx.x * 16; first < rows; first += gridDim.x * 16) {
        for (int i = threadIdx.x; i < 1024; i += 256)
            part[i / 64][i % 64] = first + i / 64 < rows ? a[static_cast<std::size_t>(first) * 64 + i] : 0.0F;
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 16; ++s)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    sums[i][j] = fmaf(part[s][ty * 4 + i], part[s][tx * 4 + j], sums[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) atomicAdd(out + (ty * 4 + i) * 64 + tx * 4 + j, sums[i][j]);
}

/// A few outputs by hand; `turned` as the kernel's.
template <class T>
void check_product(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& out, int rows,
                   int columns, int depth, bool turned, const char* what) {
    std::vector<double> expected;
    std::vector<T> got;
    for (int i = 0; i < 64; ++i) {
        const std::size_t row = static_cast<std::size_t>(i) * 613 % rows;
        const std::size_t column = static_cast<std::size_t>(i) * 331 % columns;
        double sum = 0.0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k)
            sum += as_double(turned ? a[k * rows + row] : a[row * depth + k]) *
                   as_double(b[k * columns + column]);
        expected.push_back(sum);
        got.push_back(out[row * columns + column]);
    }
    check_close(got, expected, 1e-4, what);
}

template <class T, bool turned>
void any_size(int rows, int columns, int depth, const char* name) {
    std::vector<T> a_values = random_values<T>(static_cast<std::size_t>(rows) * depth, 1);
    std::vector<T> b_values = random_values<T>(static_cast<std::size_t>(depth) * columns, 2);
    if constexpr (std::is_integral_v<T>) {
        for (T& value : a_values) value %= 1000;
        for (T& value : b_values) value %= 100;
    }
    const Array<T> a(a_values), b(b_values);
    Array<T> out(static_cast<std::size_t>(rows) * columns);
    prepare();
    ragged<T, turned><<<dim3((columns + 63) / 64, (rows + 63) / 64), 256>>>(a.data(), b.data(), out.data(),
                                                                            rows, columns, depth, T(1));
    finish(name);
    check_product(a_values, b_values, out.values(), rows, columns, depth, turned, name);
    output(name, out);
}

void body() {
    const int rows = 1536, columns = 1408, depth = 1024;
    const std::vector<float> a_values = random_values<float>(rows * depth, 3);
    const std::vector<float> b_values = random_values<float>(depth * columns, 4);
    const Array<float> a(a_values), b(b_values);
    Array<float> out(rows * columns);
    prepare();
    two_buffers<<<dim3(columns / 128, rows / 128), 256>>>(a.data(), b.data(), out.data(), columns, depth);
    finish("two buffers");
    check_product(a_values, b_values, out.values(), rows, columns, depth, false, "two buffers");
    output("two_buffers", out);
    out.zero();
    const int stages = 3 * (128 * 20 + 16 * 128) * static_cast<int>(sizeof(float));
    require(cudaFuncSetAttribute(async_stages, cudaFuncAttributeMaxDynamicSharedMemorySize, stages),
            "shared");
    prepare();
    async_stages<<<dim3(columns / 128, rows / 128), 256, stages>>>(a.data(), b.data(), out.data(), columns,
                                                                   depth);
    finish("async");
    check_product(a_values, b_values, out.values(), rows, columns, depth, false, "async");
    output("async", out);
    any_size<double, false>(1024, 1024, 768, "doubles");
    any_size<int, false>(1000, 900, 800, "integers");
    any_size<float, true>(1111, 777, 1000, "turned");
    any_size<double, true>(300, 200, 2500, "turned_doubles");
    const std::vector<__half> half_a = random_values<__half>(1024 * 512, 5);
    const std::vector<__half> half_b = random_values<__half>(512 * 2048, 6);
    const Array<__half> left(half_a), right(half_b);
    Array<float> wide(1024 * 2048);
    prepare();
    half_pairs<<<dim3(2048 / 64, 1024 / 32), 128>>>(left.data(),
                                                    reinterpret_cast<const __half2*>(right.data()),
                                                    reinterpret_cast<float2*>(wide.data()), 2048, 512);
    finish("halves");
    output("halves", wide);
    const int tall = 200100;
    const Array<float> long_a(random_values<float>(static_cast<std::size_t>(tall) * 64, 7));
    const Array<float> thin_b(random_values<float>(64 * 16, 8));
    Array<float> thin_out(static_cast<std::size_t>(tall) * 16), squares(64 * 64);
    prepare();
    thin<<<(tall + 127) / 128, 128>>>(reinterpret_cast<const float4*>(long_a.data()), thin_b.data(),
                                      thin_out.data(), tall);
    finish("thin");
    output("thin", thin_out);
    prepare();
    gram<<<132 * 4, 256>>>(long_a.data(), squares.data(), tall);
    finish("gram");
    output("gram", squares);
}

int main() {
    return run(body);
}
