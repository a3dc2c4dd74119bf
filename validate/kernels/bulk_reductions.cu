// Bulk reductions from shared memory into global memory: partial sums of many blocks, products split along
// their inner length, histograms of private copies, extremes of columns, gradients in halves; and bulk stores
// beside them.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

enum class Bulk { store, add_f32, add_u32, min_u32, max_u32, add_f16, add_bf16 };

/// One thread sends `bytes` of shared memory off; the pieces of a thread end in groups.
template <Bulk kind>
__device__ void send(void* to, const void* from, unsigned bytes) {
    const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(from));
    const auto global = __cvta_generic_to_global(to);
#define SEND(instruction) \
    asm volatile(instruction " [%0], [%1], %2;" ::"l"(global), "r"(shared), "r"(bytes) : "memory")
    if constexpr (kind == Bulk::store) SEND("cp.async.bulk.global.shared::cta.bulk_group");
    if constexpr (kind == Bulk::add_f32) SEND("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32");
    if constexpr (kind == Bulk::add_u32) SEND("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32");
    if constexpr (kind == Bulk::min_u32) SEND("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32");
    if constexpr (kind == Bulk::max_u32) SEND("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32");
    if constexpr (kind == Bulk::add_f16)
        SEND("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16");
    if constexpr (kind == Bulk::add_bf16)
        SEND("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16");
#undef SEND
}
/// What threads wrote to shared memory becomes visible to the copies.
__device__ void before_sending() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
__device__ void end_group() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int left>
__device__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}
__device__ void wait_written() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Each block walks over its rows of a matrix in pieces of `piece` columns, two buffers in turn, and adds (or
/// takes the least or largest of) all into one row.
template <Bulk kind, class T, int piece>
__global__ void fold_rows(const T* rows, T* folded, int count, int width) {
    __shared__ __align__(128) T buffer[2][piece];
    const int first = blockIdx.x * piece;
    int use = 0;
    for (int row = blockIdx.y; row < count; row += gridDim.y, use ^= 1) {
        if (threadIdx.x == 0) wait_read<1>();
        __syncthreads();
        for (int i = threadIdx.x; i < piece; i += blockDim.x) {
            T value = rows[static_cast<std::size_t>(row) * width + first + i];
            if constexpr (kind == Bulk::add_f32 || kind == Bulk::add_f16 || kind == Bulk::add_bf16)
                value = value * T(2.0F);
            else
                value = value ^ (value >> 16);
            buffer[use][i] = value;
        }
        before_sending();
        if (threadIdx.x == 0) {
            send<kind>(folded + first, buffer[use], sizeof(buffer[use]));
            end_group();
        }
    }
    if (threadIdx.x == 0) wait_read<0>();
}

/// C += A B for a part of the inner length: 64 x 64 outputs a block, 4 x 4 a thread, each row of them one
/// reduction of 256 bytes.
__global__ void __launch_bounds__(256)
    split_product(const float* a, const float* b, float* c, int n, int inner, int part) {
    __shared__ __align__(16) float left[16][64 + 4], right[16][64];
    __shared__ __align__(128) float result[64][64];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    float sum[4][4] = {};
    const int end = min((blockIdx.z + 1) * part, inner);
    for (int k0 = blockIdx.z * part; k0 < end; k0 += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += 256) {
            left[i % 16][i / 16] = a[static_cast<std::size_t>(row0 + i / 16) * inner + k0 + i % 16];
            right[i / 64][i % 64] = b[static_cast<std::size_t>(k0 + i / 64) * n + column0 + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float4 l = *reinterpret_cast<const float4*>(&left[k][4 * y]);
            const float4 r = *reinterpret_cast<const float4*>(&right[k][4 * x]);
            const float ls[4] = {l.x, l.y, l.z, l.w}, rs[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
            for (int i = 0; i < 16; ++i) sum[i / 4][i % 4] += ls[i / 4] * rs[i % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float4*>(&result[4 * y + i][4 * x]) = {sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
    before_sending();
    if (threadIdx.x < 64) {
        send<Bulk::add_f32>(c + static_cast<std::size_t>(row0 + threadIdx.x) * n + column0,
                            result[threadIdx.x], 256);
        end_group();
        wait_read<0>();
    }
}

/// A histogram in shared memory a block, added to the common one at the end in pieces.
template <int bins>
__global__ void histogram(const uint4* keys, unsigned* counts, int count, int pieces) {
    __shared__ __align__(128) unsigned own[bins];
    for (int i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uint4 four = keys[i];
        atomicAdd(own + four.x % bins, 1U);
        atomicAdd(own + four.y % bins, 1U);
        atomicAdd(own + four.z % bins, 1U);
        atomicAdd(own + four.w % bins, 1U);
    }
    before_sending();
    if (threadIdx.x < pieces) {
        // Blocks begin with different pieces, so that they do not meet.
        const int at = (threadIdx.x + blockIdx.x) % pieces * (bins / pieces);
        send<Bulk::add_u32>(counts + at, own + at, bins / pieces * 4);
        end_group();
        wait_written();
    }
}

/// Bulk stores: each block makes tiles of 8 KB of a function in shared memory and sends them while making the
/// next.
__global__ void __launch_bounds__(256) tabulate(float* out, int tiles, float step) {
    __shared__ __align__(128) float buffer[4][2048];
    int use = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, use = (use + 1) % 4) {
        if (threadIdx.x == 0) wait_read<3>();
        __syncthreads();
        for (int i = threadIdx.x; i < 2048; i += 256) {
            const float t = (tile % 512 * 2048 + i) * step;
            buffer[use][i] = fmaf(t, fmaf(t, fmaf(t, -0.25F, 0.5F), -1.0F), 1.0F) * rsqrtf(1.0F + t * t);
        }
        before_sending();
        if (threadIdx.x == 0) {
            send<Bulk::store>(out + static_cast<std::size_t>(tile) * 2048, buffer[use], 8192);
            end_group();
        }
    }
    if (threadIdx.x == 0) wait_written();
}

/// Folds rows of small numbers, whose sums are exact in every type and order.
template <Bulk kind, class T, int piece>
void fold(const char* what, int rows, int width, int slices) {
    constexpr bool sums = kind == Bulk::add_f32 || kind == Bulk::add_f16 || kind == Bulk::add_bf16;
    std::vector<T> values(static_cast<std::size_t>(rows) * width), start(width, T(0));
    std::vector<double> expected(width);
    if (kind == Bulk::min_u32) {
        start.assign(width, static_cast<T>(0xffffffffU));
        expected.assign(width, 4294967295.0);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const unsigned bits = random_bits(1, i);
        double& to = expected[i % width];
        if constexpr (sums) {
            values[i] = T(static_cast<float>(static_cast<int>(bits % 3U) - 1));
            to += 2.0 * (static_cast<int>(bits % 3U) - 1);
        } else {
            values[i] = bits;
            const double value = bits ^ (bits >> 16);
            to = kind == Bulk::min_u32 ? std::min(to, value) : std::max(to, value);
        }
    }
    const Array<T> there(values);
    Array<T> folded(start);
    prepare();
    fold_rows<kind, T, piece><<<dim3(width / piece, slices), 256>>>(there.data(), folded.data(), rows, width);
    finish(what);
    check_close(folded.values(), expected, 0.0, what);
    output(what, folded);
}

void body() {
    fold<Bulk::add_f32, float, 4096>("sums in pieces of 16 KB", 2000, 8192, 66);
    fold<Bulk::add_f32, float, 512>("sums in pieces of 2 KB", 1501, 8192, 33);
    fold<Bulk::add_f32, float, 64>("sums in pieces of 256 B", 300, 16384, 4);
    fold<Bulk::min_u32, unsigned, 1024>("least", 1600, 8192, 40);
    fold<Bulk::max_u32, unsigned, 256>("largest", 640, 4096, 64);
    fold<Bulk::add_bf16, __nv_bfloat16, 2048>("bfloat16 sums", 100, 131072, 5);
    fold<Bulk::add_f16, __half, 1024>("half sums", 250, 32768, 10);
    for (const auto& [n, inner, parts] : {int3{256, 4096, 16}, int3{512, 2080, 5}}) {
        std::vector<float> a(n * inner), b(inner * n);
        for (int i = 0; i < n * inner; ++i) {
            a[i] = static_cast<float>(random_bits(2, i) % 9U) - 4.0F;
            b[i] = static_cast<float>(random_bits(3, i) % 5U) - 2.0F;
        }
        const Array<float> a_there(a), b_there(b);
        Array<float> c(n * n);
        prepare();
        split_product<<<dim3(n / 64, n / 64, parts), 256>>>(a_there.data(), b_there.data(), c.data(), n,
                                                            inner, inner / parts);
        finish("product");
        const std::vector<float> got = c.values();
        for (int i = 0; i < n * n; i += 37) {
            double sum = 0.0;
            for (int k = 0; k < inner; ++k) sum += a[i / n * inner + k] * b[k * n + i % n];
            check(got[i] == sum, "product");
        }
        output("product", got);
    }
    const int count = 12'000'000;
    const std::vector<unsigned> keys = random_values<unsigned>(count, 4);
    const Array<unsigned> keys_there(keys);
    const auto counted = [&](auto kernel, int bins, int used, int pieces, const char* what) {
        Array<unsigned> counts(bins);
        prepare();
        kernel<<<132 * 4, 512>>>(reinterpret_cast<const uint4*>(keys_there.data()), counts.data(), used / 4,
                                 pieces);
        finish(what);
        std::vector<unsigned> expected(bins);
        for (int i = 0; i < used; ++i) ++expected[keys[i] % bins];
        check(counts.values() == expected, what);
        output(what, counts);
    };
    counted(histogram<256>, 256, count, 1, "256 bins");
    counted(histogram<4096>, 4096, count, 8, "4096 bins");
    counted(histogram<8192>, 8192, 400'000, 2, "8192 bins");
    const int tiles = 9000;
    Array<float> table(static_cast<std::size_t>(tiles) * 2048);
    prepare();
    tabulate<<<132 * 3, 256>>>(table.data(), tiles, 0x1p-19F);
    finish("tabulate");
    const std::vector<float> got = table.values();
    std::vector<double> expected(2048 * 512);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double t = i * 0x1p-19;
        expected[i] = (((-0.25 * t + 0.5) * t - 1.0) * t + 1.0) / std::sqrt(1.0 + t * t);
    }
    check_close(got, expected, 1e-5, "tabulate");
    for (std::size_t i = 0; i < got.size(); i += 11) check(got[i] == got[i % expected.size()], "tabulate");
    output("table", got);
}

int main() {
    return run(body);
}
