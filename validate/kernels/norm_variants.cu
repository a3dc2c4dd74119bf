// Layer and RMS norms as different users write them: rows in registers, in shared memory or read again,
// persistent blocks that keep the gains, Welford's sums, a warp a head, and statistics apart from their use.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;
using bf16 = __nv_bfloat16;

struct __align__(16) Eight {
    __nv_bfloat162 pairs[4];
};

__device__ inline float add(float a, float b) {
    return a + b;
}

/// A CTA a row, eight numbers a thread in registers; mean and variance one after the other.
__global__ void __launch_bounds__(512)
    register_rows(const Eight* in, const Eight* gains, const Eight* biases, Eight* out, int width) {
    __shared__ float shared[32];
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const Eight own = in[i];
    float values[8], sum = 0.0F, squares = 0.0F;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float2 two = __bfloat1622float2(own.pairs[k]);
        values[2 * k] = two.x;
        values[2 * k + 1] = two.y;
        sum += two.x + two.y;
    }
    const float mean = across_block(sum, shared, add) / width;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        values[k] -= mean;
        squares += values[k] * values[k];
    }
    const float scale = rsqrtf(across_block(squares, shared, add) / width + 1e-5F);
    const Eight gain = gains[threadIdx.x], bias = biases[threadIdx.x];
    Eight result;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float2 g = __bfloat1622float2(gain.pairs[k]), b = __bfloat1622float2(bias.pairs[k]);
        result.pairs[k] = __floats2bfloat162_rn(fmaf(values[2 * k] * scale, g.x, b.x),
                                                fmaf(values[2 * k + 1] * scale, g.y, b.y));
    }
    out[i] = result;
}

/// The row widened to shared memory, one element a thread and step; any width.
__global__ void shared_rows(const bf16* in, const bf16* residual, const float* gains, bf16* sums, bf16* out,
                            int width) {
    extern __shared__ float row[];
    __shared__ float shared[32];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * width;
    float squares = 0.0F;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const float value = __bfloat162float(in[start + i]) + __bfloat162float(residual[start + i]);
        row[i] = value;
        sums[start + i] = __float2bfloat16(value);
        squares = fmaf(value, value, squares);
    }
    const float scale = rsqrtf(across_block(squares, shared, add) / width + 1e-6F);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[start + i] = __float2bfloat16(row[i] * scale * gains[i]);
}

/// Count, mean and squared deviations of a part of a row.
struct Moments {
    float count, mean, squares;
};
__device__ inline Moments join(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0F) return a;
    const float delta = b.mean - a.mean, part = b.count / count;
    return {count, a.mean + delta * part, a.squares + b.squares + delta * delta * a.count * part};
}

/// Welford's update each element, the row read again to be written; warps join by shuffles.
__global__ void welford_rows(const float* in, const float* gains, const float* biases, float* out,
                             int width) {
    __shared__ Moments shared[32];
    const float* from = in + static_cast<std::size_t>(blockIdx.x) * width;
    float* to = out + static_cast<std::size_t>(blockIdx.x) * width;
    Moments own = {};
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const float value = from[i], delta = value - own.mean;
        own.count += 1.0F;
        own.mean += delta / own.count;
        own.squares = fmaf(delta, value - own.mean, own.squares);
    }
    for (int step = 16; step > 0; step /= 2) {
        const Moments other = {__shfl_xor_sync(0xffffffffU, own.count, step),
                               __shfl_xor_sync(0xffffffffU, own.mean, step),
                               __shfl_xor_sync(0xffffffffU, own.squares, step)};
        own = join(own, other);
    }
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = own;
    __syncthreads();
    own = shared[0];
    for (int w = 1; w < blockDim.x / 32; ++w) own = join(own, shared[w]);
    const float scale = rsqrtf(own.squares / width + 1e-5F);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        to[i] = (from[i] - own.mean) * scale * gains[i] + biases[i];
}

/// A warp a head of 128: four numbers a lane as one load of eight bytes.
__global__ void head_norms(const uint2* in, const float4* gains, uint2* out, int heads) {
    const int head = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (head >= heads) return;
    const uint2 raw = in[static_cast<std::size_t>(head) * 32 + lane];
    const float2 a = __half22float2(*reinterpret_cast<const __half2*>(&raw.x));
    const float2 b = __half22float2(*reinterpret_cast<const __half2*>(&raw.y));
    float sum = a.x * a.x + a.y * a.y + b.x * b.x + b.y * b.y;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    const float scale = rsqrtf(sum / 128.0F + 1e-6F);
    const float4 gain = gains[lane];
    const __half2 x = __floats2half2_rn(a.x * scale * gain.x, a.y * scale * gain.y);
    const __half2 y = __floats2half2_rn(b.x * scale * gain.z, b.y * scale * gain.w);
    out[static_cast<std::size_t>(head) * 32 + lane] = {*reinterpret_cast<const unsigned*>(&x),
                                                       *reinterpret_cast<const unsigned*>(&y)};
}

/// Warps take rows in turn with the gains of their lanes in registers; widths of 32 * 4 * `each`.
template <int each>
__global__ void __launch_bounds__(256)
    resident_gains(const float4* in, const float4* gains, float4* out, int rows) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    float4 gain[each];
#pragma unroll
    for (int k = 0; k < each; ++k) gain[k] = gains[k * 32 + lane];
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
        const std::size_t start = static_cast<std::size_t>(row) * 32 * each + lane;
        float4 own[each];
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < each; ++k) {
            own[k] = in[start + k * 32];
            sum += own[k].x * own[k].x + own[k].y * own[k].y + own[k].z * own[k].z + own[k].w * own[k].w;
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
        const float scale = rsqrtf(sum / (128.0F * each) + 1e-6F);
#pragma unroll
        for (int k = 0; k < each; ++k)
            out[start + k * 32] = {own[k].x * scale * gain[k].x, own[k].y * scale * gain[k].y,
                                   own[k].z * scale * gain[k].z, own[k].w * scale * gain[k].w};
    }
}

/// Two kernels: sums of rows by blocks of a grid of two dimensions, then a flat pass with divisions.
__global__ void row_statistics(const float4* in, float2* statistics, int vectors, int parts) {
    __shared__ float shared[32];
    const float4* from = in + static_cast<std::size_t>(blockIdx.y) * vectors;
    float sum = 0.0F, squares = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += parts * blockDim.x) {
        const float4 v = from[i];
        sum += v.x + v.y + v.z + v.w;
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = across_block(sum, shared, add);
    squares = across_block(squares, shared, add);
    if (threadIdx.x == 0) {
        atomicAdd(&statistics[blockIdx.y].x, sum);
        atomicAdd(&statistics[blockIdx.y].y, squares);
    }
}
__global__ void use_statistics(const float4* in, const float2* statistics, float4* out, int vectors,
                               int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const float2 both = statistics[i / vectors];
    const float count = 4.0F * vectors, mean = both.x / count;
    const float scale = 1.0F / sqrtf(both.y / count - mean * mean + 1e-5F);
    const float4 v = in[i];
    out[i] = {(v.x - mean) * scale, (v.y - mean) * scale, (v.z - mean) * scale, (v.w - mean) * scale};
}

/// Columns scaled to length one: a block 32 columns, warps walk down twice.
__global__ void unit_columns(const float* in, float* out, int rows, int columns) {
    __shared__ float parts[8][33];
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0F;
    if (column < columns)
        for (int r = threadIdx.y; r < rows; r += 8) {
            const float value = in[static_cast<std::size_t>(r) * columns + column];
            sum = fmaf(value, value, sum);
        }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = 0.0F;
    for (int k = 0; k < 8; ++k) sum += parts[k][threadIdx.x];
    const float scale = 1.0F / fmaxf(sqrtf(sum), 1e-12F);
    if (column < columns)
        for (int r = threadIdx.y; r < rows; r += 8) {
            const std::size_t i = static_cast<std::size_t>(r) * columns + column;
            out[i] = in[i] * scale;
        }
}

void sixteen_bits() {
    const std::size_t count = std::size_t{4096} * 4096;
    const Array<bf16> in(random_values<bf16>(count, 1)), other(random_values<bf16>(count, 2));
    const Array<bf16> gains(random_values<bf16>(4096, 3)), biases(random_values<bf16>(4096, 4));
    const Array<float> wide_gains(random_values<float>(5120, 5));
    Array<bf16> out(count), sums(count);
    prepare();
    register_rows<<<4096, 512>>>(
        reinterpret_cast<const Eight*>(in.data()), reinterpret_cast<const Eight*>(gains.data()),
        reinterpret_cast<const Eight*>(biases.data()), reinterpret_cast<Eight*>(out.data()), 4096);
    finish("registers");
    output("registers_4096", out);
    prepare();
    register_rows<<<16384, 128>>>(
        reinterpret_cast<const Eight*>(in.data()), reinterpret_cast<const Eight*>(gains.data()),
        reinterpret_cast<const Eight*>(biases.data()), reinterpret_cast<Eight*>(out.data()), 1024);
    finish("registers");
    output("registers_1024", out);
    prepare();
    shared_rows<<<3200, 256, 5120 * sizeof(float)>>>(in.data(), other.data(), wide_gains.data(), sums.data(),
                                                     out.data(), 5120);
    finish("shared");
    output("shared_5120", out);
    prepare();
    shared_rows<<<18001, 128, 897 * sizeof(float)>>>(in.data(), other.data(), wide_gains.data(), sums.data(),
                                                     out.data(), 897);
    finish("shared");
    output("shared_897", out);
    prepare();
    head_norms<<<(131001 + 7) / 8, 256>>>(reinterpret_cast<const uint2*>(in.data()),
                                          reinterpret_cast<const float4*>(wide_gains.data()),
                                          reinterpret_cast<uint2*>(out.data()), 131001);
    finish("heads");
}

void body() {
    sixteen_bits();
    const std::size_t count = std::size_t{12} << 20;
    const std::vector<float> values = random_values<float>(count, 6);
    const Array<float> in(values), gains(random_values<float>(6144, 7)),
        biases(random_values<float>(6144, 8));
    Array<float> out(count);
    prepare();
    welford_rows<<<2048, 256>>>(in.data(), gains.data(), biases.data(), out.data(), 6144);
    finish("welford");
    output("welford_6144", out);
    prepare();
    welford_rows<<<9000, 96>>>(in.data(), gains.data(), biases.data(), out.data(), 1387);
    finish("welford");
    output("welford_1387", out);
    prepare();
    resident_gains<8><<<132 * 4, 256>>>(reinterpret_cast<const float4*>(in.data()),
                                        reinterpret_cast<const float4*>(gains.data()),
                                        reinterpret_cast<float4*>(out.data()), 12288);
    finish("resident");
    output("resident", out);
    Array<float2> statistics(192);
    prepare();
    row_statistics<<<dim3(6, 192), 256>>>(reinterpret_cast<const float4*>(in.data()), statistics.data(),
                                          16384, 6);
    finish("statistics");
    prepare();
    use_statistics<<<192 * 16384 / 256, 256>>>(reinterpret_cast<const float4*>(in.data()), statistics.data(),
                                               reinterpret_cast<float4*>(out.data()), 16384, 192 * 16384);
    finish("use");
    output("used", out);
    prepare();
    unit_columns<<<(6145 + 31) / 32, dim3(32, 8)>>>(in.data(), out.data(), 2040, 6145);
    finish("columns");
    const std::vector<float> got = out.values();
    double length = 0.0;
    for (std::size_t r = 0; r < 2040; ++r) length += static_cast<double>(got[r * 6145]) * got[r * 6145];
    check(std::fabs(length - 1.0) < 1e-3, "columns");
    output("columns", got);
}

int main() {
    return run(body);
}
