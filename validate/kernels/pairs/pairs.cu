// Kernels in pairs, slower and faster: each pair differs by one remedy that performance guides list. advise
// is scored on them; no constant and no mechanism is fitted to them.
// SPDX-License-Identifier: Apache-2.0
#include "../textbook.cuh"

#include <cuda_pipeline.h>
#include <mma.h>

using namespace textbook;

// ---- coalesce: a thread walks along its row, or the lanes of a warp do

__global__ void scale_rows_by_thread(const float* from, float* to, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int c = 0; c < columns; ++c) to[row * columns + c] = 2.0F * from[row * columns + c];
}
__global__ void scale_rows_by_lanes(const float* from, float* to, int rows, int columns) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    for (int c = threadIdx.x % 32; c < columns; c += 32)
        to[row * columns + c] = 2.0F * from[row * columns + c];
}

// ---- coalesce: one field of structures, or an array of each field

struct Body {
    float x, y, z, mass, vx, vy, vz, age;
};
__global__ void drift_structures(Body* bodies, float step, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bodies[i].x += step * bodies[i].vx;
}
__global__ void drift_arrays(float* x, const float* vx, float step, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += step * vx[i];
}

// ---- vectorize

__global__ void invert_bytes(const unsigned char* from, unsigned char* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = static_cast<unsigned char>(255 - from[i]);
}
__global__ void invert_words(const uint4* from, uint4* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint4 v = from[i];
    to[i] = {~v.x, ~v.y, ~v.z, ~v.w};
}

// ---- align

__global__ void copy_from(const float* from, float* to, int n, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i + offset];
}

// ---- pad_shared: columns of a tile are added up

template <int pitch>
__global__ void prefix_of_columns(const float* from, float* to) {
    __shared__ float tile[32 * pitch];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int r = warp; r < 32; r += 8) tile[r * pitch + lane] = from[blockIdx.x * 1024 + r * 32 + lane];
    __syncthreads();
    float sum = 0.0F;
    for (int c = 0; c < 32; ++c) sum = sum * 0.5F + tile[lane * pitch + (c + warp) % 32];
    to[blockIdx.x * 256 + threadIdx.x] = sum;
}

// ---- swizzle_shared: interleaved addresses of a reduction, or sequential ones

__global__ void sum_interleaved(const float* from, float* to) {
    __shared__ float values[1024];
    values[threadIdx.x] = from[blockIdx.x * 1024 + threadIdx.x];
    __syncthreads();
    for (int s = 1; s < 1024; s *= 2) {
        const int i = 2 * s * threadIdx.x;
        if (i < 1024) values[i] += values[i + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) to[blockIdx.x] = values[0];
}
__global__ void sum_sequential(const float* from, float* to) {
    __shared__ float values[1024];
    values[threadIdx.x] = from[blockIdx.x * 1024 + threadIdx.x];
    __syncthreads();
    for (int s = 512; s > 0; s /= 2) {
        if (threadIdx.x < s) values[threadIdx.x] += values[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) to[blockIdx.x] = values[0];
}

// ---- occupancy: shared memory that lets one CTA more be resident

__global__ void look_up(const int* next, int* to, int n, int steps) {
    extern __shared__ int scratch[];
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 7919 % n;
    for (int s = 0; s < steps; ++s) at = next[at];
    scratch[threadIdx.x] = at;
    to[blockIdx.x * blockDim.x + threadIdx.x] = scratch[threadIdx.x];
}

// ---- unspill: an array in local memory, or in registers

__global__ void median_in_memory(const float* from, float* to, const int* order, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float values[16];
    for (int k = 0; k < 16; ++k) values[order[k]] = from[k * n + i];
    float sum = 0.0F;
    for (int k = 0; k < 16; ++k) sum = sum * 0.5F + values[order[15 - k]];
    to[i] = sum;
}
__global__ void median_in_registers(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float values[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) values[k] = from[k * n + i];
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 16; ++k) sum = sum * 0.5F + values[15 - k];
    to[i] = sum;
}

// ---- unroll: loads one after another, or eight in flight

template <int unrolled>
__global__ void sum_of_strips(const float* from, float* to, int n, int trips) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0F;
    if constexpr (unrolled == 1) {
#pragma unroll 1
        for (int t = 0; t < trips; ++t) sum += from[t * n + i];
    } else {
#pragma unroll 4
        for (int t = 0; t < trips; ++t) sum += from[t * n + i];
    }
    to[i] = sum;
}

// ---- converge: cases by lane, or by warp

__device__ float long_way(float x, float a) {
#pragma unroll 1
    for (int k = 0; k < 64; ++k) x = x * a + 0.5F;
    return x;
}
template <bool by_lane>
__global__ void two_cases(const float* from, float* to, float a, float b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = from[i];
    const int which = by_lane ? threadIdx.x % 2 : threadIdx.x / 32 % 2;
    if (which == 0) {
        to[i] = long_way(x, a);
    } else {
        to[i] = long_way(x, b) - 1.0F;
    }
}

// ---- fast_math

__global__ void activate_exactly(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = from[i];
#pragma unroll
    for (int k = 0; k < 8; ++k) x = x / (1.0F + expf(-x)) + logf(1.5F + x * x);
    to[i] = x;
}
__global__ void activate_fast(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = from[i];
#pragma unroll
    for (int k = 0; k < 8; ++k) x = __fdividef(x, 1.0F + __expf(-x)) + __logf(1.5F + x * x);
    to[i] = x;
}

// ---- lower_precision

__global__ void add_single(const float4* a, const float4* b, float4* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 x = a[i], y = b[i];
    c[i] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
}
__global__ void add_half(const uint2* a, const uint2* b, uint2* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint2 x = a[i], y = b[i];
    const auto add = [](unsigned p, unsigned q) {
        const __half2 sum =
            __hadd2(*reinterpret_cast<const __half2*>(&p), *reinterpret_cast<const __half2*>(&q));
        return *reinterpret_cast<const unsigned*>(&sum);
    };
    c[i] = {add(x.x, y.x), add(x.y, y.y)};
}

// ---- privatize_atomics

__global__ void count_bytes_globally(const unsigned char* from, unsigned* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[from[i]], 1U);
    }
}
__global__ void count_bytes_in_shared(const unsigned char* from, unsigned* bins, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[from[i]], 1U);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// ---- aggregate_atomics

__global__ void total_by_threads(const float* from, float* total) {
    atomicAdd(total, from[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void total_by_warps(const float* from, float* total) {
    float value = from[blockIdx.x * blockDim.x + threadIdx.x];
    for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(0xffffffffU, value, s);
    if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

// ---- async_copy

template <bool asynchronous>
__global__ void smooth_tiles(const float4* from, float* to, int tiles) {
    __shared__ float4 buffer[2][256];
    float sum = 0.0F;
    const auto place = [&](int t) {
        return from + (static_cast<std::size_t>(blockIdx.x) * tiles + t) * 256 + threadIdx.x;
    };
    if constexpr (asynchronous) {
        __pipeline_memcpy_async(&buffer[0][threadIdx.x], place(0), 16);
        __pipeline_commit();
    }
#pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
        if constexpr (asynchronous) {
            if (t + 1 < tiles) __pipeline_memcpy_async(&buffer[(t + 1) % 2][threadIdx.x], place(t + 1), 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            buffer[t % 2][threadIdx.x] = *place(t);
        }
        __syncthreads();
        const float* values = reinterpret_cast<const float*>(buffer[t % 2]);
#pragma unroll
        for (int k = 0; k < 16; ++k) sum = sum * 0.5F + values[(threadIdx.x + k * 32) % 1024];
        __syncthreads();
    }
    to[blockIdx.x * 256 + threadIdx.x] = sum;
}

// ---- tensor_cores

__global__ void product_by_lanes(const float* a, const float* b, float* c, int n) {
    __shared__ float as[32][33], bs[32][32];
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    float sum = 0.0F;
    for (int k = 0; k < n; k += 32) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; ++j) sum += as[threadIdx.y][j] * bs[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
__global__ void product_by_matrices(const float* a, const float* b, float* c, int n) {
    using namespace nvcuda;
    __shared__ float as[32][36], bs[32][36];
    const int warp = threadIdx.y;  // four warps, each with a 16x16 tile
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0F);
    for (int k = 0; k < n; k += 32) {
        for (int r = threadIdx.y; r < 32; r += 4) {
            as[r][threadIdx.x] = a[(blockIdx.y * 32 + r) * n + k + threadIdx.x];
            bs[r][threadIdx.x] = b[(k + r) * n + blockIdx.x * 32 + threadIdx.x];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
            wmma::load_matrix_sync(fa, &as[warp / 2 * 16][j], 36);
            wmma::load_matrix_sync(fb, &bs[j][warp % 2 * 16], 36);
            wmma::mma_sync(sum, fa, fb, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (blockIdx.y * 32 + warp / 2 * 16) * n + blockIdx.x * 32 + warp % 2 * 16, sum,
                            n, wmma::mem_row_major);
}

// ---- wave_align: work of equal length, one CTA more than fit

__global__ void one_wave(float* to, float a, int trips) {
    extern __shared__ float unused[];
    float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
    for (int t = 0; t < trips; ++t) x = x * a + 0.5F;
    to[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// ---- read_only: what compilers already load through L1

__global__ void stencil_plain(float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n - 1) to[i] = from[i - 1] + from[i] + from[i + 1];
}
__global__ void stencil_restrict(const float* __restrict__ from, float* __restrict__ to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n - 1) to[i] = from[i - 1] + from[i] + from[i + 1];
}

// ---- raster: tiles by columns, or in bands of eight

template <int group>
__global__ void sum_rows_and_columns(const float4* rows, const float4* columns, float* to, int tiles,
                                     int length) {
    const int place = blockIdx.x;
    const int band = place / (group * tiles), inside = place % (group * tiles);
    const int row = band * group + inside % group, column = inside / group;
    float sum = 0.0F;
    for (int k = threadIdx.x; k < length; k += blockDim.x) {
        const float4 x = rows[row * length + k], y = columns[column * length + k];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    to[place * blockDim.x + threadIdx.x] = sum;
}

template <class Launch>
void launch(const char* what, Launch start) {
    prepare();
    start();
    finish(what);
}

void body() {
    constexpr int n = 1 << 22;
    const auto values = random_values<float>(n + 64, 1);
    Array<float> from(values), to(n + 64);
    {
        constexpr int rows = 8192, columns = 500;
        launch("scale",
               [&] { scale_rows_by_thread<<<rows / 128, 128>>>(from.data(), to.data(), rows, columns); });
        launch("scale",
               [&] { scale_rows_by_lanes<<<rows / 8, 256>>>(from.data(), to.data(), rows, columns); });
    }
    {
        constexpr int bodies = n / 8;
        launch("drift", [&] {
            drift_structures<<<bodies / 256, 256>>>(reinterpret_cast<Body*>(from.data()), 0.1F, bodies);
        });
        launch("drift", [&] { drift_arrays<<<bodies / 256, 256>>>(from.data(), to.data(), 0.1F, bodies); });
    }
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(from.data());
        auto* out = reinterpret_cast<unsigned char*>(to.data());
        launch("invert", [&] { invert_bytes<<<n / 256, 256>>>(bytes, out, n); });
        launch("invert", [&] {
            invert_words<<<n / 16 / 256, 256>>>(reinterpret_cast<const uint4*>(bytes),
                                                reinterpret_cast<uint4*>(out), n / 16);
        });
    }
    launch("offset", [&] { copy_from<<<n / 256, 256>>>(from.data(), to.data(), n, 1); });
    launch("offset", [&] { copy_from<<<n / 256, 256>>>(from.data(), to.data(), n, 0); });
    launch("columns", [&] { prefix_of_columns<32><<<n / 1024, 256>>>(from.data(), to.data()); });
    launch("columns", [&] { prefix_of_columns<33><<<n / 1024, 256>>>(from.data(), to.data()); });
    launch("sums", [&] { sum_interleaved<<<n / 1024, 1024>>>(from.data(), to.data()); });
    launch("sums", [&] { sum_sequential<<<n / 1024, 1024>>>(from.data(), to.data()); });
    {
        std::vector<int> next(1 << 20);
        for (int i = 0; i < 1 << 20; ++i) next[i] = static_cast<int>(random_bits(3, i) % (1U << 20));
        Array<int> list(next), out(1 << 20);
        require(cudaFuncSetAttribute(look_up, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10),
                "shared");
        launch("look up", [&] { look_up<<<528, 256, 120 << 10>>>(list.data(), out.data(), 1 << 20, 16); });
        launch("look up", [&] { look_up<<<528, 256, 100 << 10>>>(list.data(), out.data(), 1 << 20, 16); });
    }
    {
        std::vector<int> places(16);
        for (int i = 0; i < 16; ++i) places[i] = i;
        Array<int> order(places);
        constexpr int each = n / 16;
        launch("median",
               [&] { median_in_memory<<<each / 256, 256>>>(from.data(), to.data(), order.data(), each); });
        launch("median", [&] { median_in_registers<<<each / 256, 256>>>(from.data(), to.data(), each); });
    }
    launch("strips", [&] { sum_of_strips<1><<<64, 256>>>(from.data(), to.data(), 64 * 256, 256); });
    launch("strips", [&] { sum_of_strips<4><<<64, 256>>>(from.data(), to.data(), 64 * 256, 256); });
    launch("cases", [&] { two_cases<true><<<n / 4 / 256, 256>>>(from.data(), to.data(), 0.9F, 0.8F); });
    launch("cases", [&] { two_cases<false><<<n / 4 / 256, 256>>>(from.data(), to.data(), 0.9F, 0.8F); });
    launch("activate", [&] { activate_exactly<<<n / 256, 256>>>(from.data(), to.data(), n); });
    launch("activate", [&] { activate_fast<<<n / 256, 256>>>(from.data(), to.data(), n); });
    {
        Array<float> other(values);
        constexpr int fours = n / 4;
        launch("add", [&] {
            add_single<<<fours / 256, 256>>>(reinterpret_cast<const float4*>(from.data()),
                                             reinterpret_cast<const float4*>(other.data()),
                                             reinterpret_cast<float4*>(to.data()), fours);
        });
        launch("add", [&] {
            add_half<<<fours / 256, 256>>>(reinterpret_cast<const uint2*>(from.data()),
                                           reinterpret_cast<const uint2*>(other.data()),
                                           reinterpret_cast<uint2*>(to.data()), fours);
        });
    }
    {
        Array<unsigned> bins(256);
        const auto* bytes = reinterpret_cast<const unsigned char*>(from.data());
        launch("count", [&] { count_bytes_globally<<<528, 256>>>(bytes, bins.data(), n / 4); });
        launch("count", [&] { count_bytes_in_shared<<<528, 256>>>(bytes, bins.data(), n / 4); });
    }
    Array<float> total(1);
    launch("total", [&] { total_by_threads<<<n / 16 / 256, 256>>>(from.data(), total.data()); });
    launch("total", [&] { total_by_warps<<<n / 16 / 256, 256>>>(from.data(), total.data()); });
    launch("smooth", [&] {
        smooth_tiles<false><<<132, 256>>>(reinterpret_cast<const float4*>(from.data()), to.data(), 28);
    });
    launch("smooth", [&] {
        smooth_tiles<true><<<132, 256>>>(reinterpret_cast<const float4*>(from.data()), to.data(), 28);
    });
    {
        constexpr int size = 512;
        Array<float> other(values);
        launch("product", [&] {
            product_by_lanes<<<dim3(size / 32, size / 32), dim3(32, 32)>>>(from.data(), other.data(),
                                                                           to.data(), size);
        });
        launch("product", [&] {
            product_by_matrices<<<dim3(size / 32, size / 32), dim3(32, 4)>>>(from.data(), other.data(),
                                                                             to.data(), size);
        });
    }
    require(cudaFuncSetAttribute(one_wave, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10), "shared");
    launch("wave", [&] { one_wave<<<160, 256, 150 << 10>>>(to.data(), 0.9F, 4000); });
    launch("wave", [&] { one_wave<<<132, 256, 150 << 10>>>(to.data(), 0.9F, 4000); });
    launch("stencil", [&] { stencil_plain<<<n / 256, 256>>>(from.data(), to.data(), n); });
    launch("stencil", [&] { stencil_restrict<<<n / 256, 256>>>(from.data(), to.data(), n); });
    {
        constexpr int tiles = 64, length = 8192;
        Array<float> rows(static_cast<std::size_t>(tiles) * length * 4),
            columns(static_cast<std::size_t>(tiles) * length * 4);
        const auto* r = reinterpret_cast<const float4*>(rows.data());
        const auto* c = reinterpret_cast<const float4*>(columns.data());
        launch("raster",
               [&] { sum_rows_and_columns<1><<<tiles * tiles, 256>>>(r, c, to.data(), tiles, length); });
        launch("raster",
               [&] { sum_rows_and_columns<8><<<tiles * tiles, 256>>>(r, c, to.data(), tiles, length); });
    }
    output("last", to.values());
}

int main() {
    return run(body);
}
