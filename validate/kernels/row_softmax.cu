// Softmax of rows in the ways users write it: a warp a row in registers, one pass with running sums, rows of
// odd width in pairs of halves, classes strided by pixels, causal rows, tiny rows a thread, and log-sum-exp.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cfloat>

using namespace textbook;

/// A warp a row, `each` numbers a lane in registers; the last of them may be past the end.
template <int each>
__global__ void __launch_bounds__(128) warp_rows(const float* in, float* out, int rows, int width) {
    const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* from = in + static_cast<std::size_t>(row) * width;
    float own[each], most = -FLT_MAX, sum = 0.0F;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = k * 32 + lane;
        own[k] = i < width ? from[i] : -FLT_MAX;
        most = fmaxf(most, own[k]);
    }
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, step));
#pragma unroll
    for (int k = 0; k < each; ++k) {
        own[k] = __expf(own[k] - most);
        sum += own[k];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    const float scale = 1.0F / sum;
    float* to = out + static_cast<std::size_t>(row) * width;
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (k * 32 + lane < width) to[k * 32 + lane] = own[k] * scale;
}

/// What a running softmax holds: the largest so far and the sum relative to it.
struct Running {
    float most, sum;
};
__device__ inline Running merge(Running a, Running b) {
    const float most = fmaxf(a.most, b.most);
    return {most, a.sum * __expf(a.most - most) + b.sum * __expf(b.most - most)};
}
__device__ inline Running merge_warp(Running own) {
    for (int step = 16; step > 0; step /= 2) {
        const Running other = {__shfl_xor_sync(0xffffffffU, own.most, step),
                               __shfl_xor_sync(0xffffffffU, own.sum, step)};
        own = merge(own, other);
    }
    return own;
}

/// A CTA a row, one pass for the largest and the sum together, another to write.
__global__ void __launch_bounds__(256) online_rows(const float4* in, float4* out, int vectors) {
    __shared__ Running shared[8];
    const float4* from = in + static_cast<std::size_t>(blockIdx.x) * vectors;
    float4* to = out + static_cast<std::size_t>(blockIdx.x) * vectors;
    Running own = {-FLT_MAX, 0.0F};
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        const float4 v = from[i];
        const float most = fmaxf(own.most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        own.sum = own.sum * __expf(own.most - most) + __expf(v.x - most) + __expf(v.y - most) +
                  __expf(v.z - most) + __expf(v.w - most);
        own.most = most;
    }
    own = merge_warp(own);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = own;
    __syncthreads();
    own = shared[0];
    for (int w = 1; w < blockDim.x / 32; ++w) own = merge(own, shared[w]);
    const float scale = 1.0F / own.sum;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        const float4 v = from[i];
        to[i] = {__expf(v.x - own.most) * scale, __expf(v.y - own.most) * scale,
                 __expf(v.z - own.most) * scale, __expf(v.w - own.most) * scale};
    }
}

/// Rows of odd width in pairs of halves: rows that start in the middle of a pair peel one element.
__global__ void odd_rows(const __half* in, __half* out, int width) {
    __shared__ float shared[32];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * width;
    const int head = static_cast<int>(start % 2), pairs = (width - head) / 2;
    const __half2* from = reinterpret_cast<const __half2*>(in + start + head);
    const bool tail = (width - head) % 2 == 1;
    const float first = head == 1 ? __half2float(in[start]) : -FLT_MAX;
    const float last = tail ? __half2float(in[start + width - 1]) : -FLT_MAX;
    float most = fmaxf(first, last);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __half22float2(from[i]);
        most = fmaxf(most, fmaxf(v.x, v.y));
    }
    most = across_block(most, shared, [](float a, float b) { return fmaxf(a, b); });
    float sum = threadIdx.x == 0 ? __expf(first - most) + __expf(last - most) : 0.0F;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __half22float2(from[i]);
        sum += __expf(v.x - most) + __expf(v.y - most);
    }
    sum = across_block(sum, shared, [](float a, float b) { return a + b; });
    const float scale = 1.0F / sum;
    __half2* to = reinterpret_cast<__half2*>(out + start + head);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __half22float2(from[i]);
        to[i] = __floats2half2_rn(__expf(v.x - most) * scale, __expf(v.y - most) * scale);
    }
    if (threadIdx.x == 0 && head == 1) out[start] = __float2half(__expf(first - most) * scale);
    if (threadIdx.x == 0 && tail) out[start + width - 1] = __float2half(__expf(last - most) * scale);
}

/// [image][class][pixel]: a thread a pixel walks the classes three times.
__global__ void class_planes(const float* in, float* out, int classes, int pixels) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) return;
    const std::size_t start = static_cast<std::size_t>(blockIdx.y) * classes * pixels + pixel;
    float most = in[start], sum = 0.0F;
    for (int c = 1; c < classes; ++c) most = fmaxf(most, in[start + static_cast<std::size_t>(c) * pixels]);
    for (int c = 0; c < classes; ++c) sum += expf(in[start + static_cast<std::size_t>(c) * pixels] - most);
    for (int c = 0; c < classes; ++c) {
        const std::size_t i = start + static_cast<std::size_t>(c) * pixels;
        out[i] = expf(in[i] - most) / sum;
    }
}

/// Scores of heads: row r sees columns up to r, the rest becomes zero; the row waits in shared memory.
__global__ void causal_rows(const float* in, float* out, int size, float scale) {
    extern __shared__ float row[];
    __shared__ float shared[32];
    const int seen = blockIdx.x + 1;
    const std::size_t start = (static_cast<std::size_t>(blockIdx.y) * size + blockIdx.x) * size;
    float most = -FLT_MAX, sum = 0.0F;
    for (int i = threadIdx.x; i < seen; i += blockDim.x) {
        row[i] = in[start + i] * scale;
        most = fmaxf(most, row[i]);
    }
    most = across_block(most, shared, [](float a, float b) { return fmaxf(a, b); });
    for (int i = threadIdx.x; i < seen; i += blockDim.x) {
        row[i] = __expf(row[i] - most);
        sum += row[i];
    }
    sum = across_block(sum, shared, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < size; i += blockDim.x) out[start + i] = i < seen ? row[i] / sum : 0.0F;
}

/// Ten classes a thread, loads ten apart between neighbours.
__global__ void tiny_rows(const float* in, float* out, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float own[10], most = -FLT_MAX, sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 10; ++k) {
        own[k] = in[row * 10 + k];
        most = fmaxf(most, own[k]);
    }
#pragma unroll
    for (int k = 0; k < 10; ++k) {
        own[k] = expf(own[k] - most);
        sum += own[k];
    }
#pragma unroll
    for (int k = 0; k < 10; ++k) out[row * 10 + k] = own[k] / sum;
}

/// Warps take rows in turn and only the logarithm of the sum is stored.
__global__ void log_sums(const float* in, float* out, int rows, int width) {
    const int warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
        const float* from = in + static_cast<std::size_t>(row) * width;
        Running own = {-FLT_MAX, 0.0F};
        for (int i = lane; i < width; i += 32) own = merge(own, {from[i], 1.0F});
        own = merge_warp(own);
        if (lane == 0) out[row] = own.most + logf(own.sum);
    }
}

void body() {
    const std::size_t most = std::size_t{20} << 20;
    const std::vector<float> values = random_values<float>(most, 1);
    const Array<float> in(values);
    Array<float> out(most);
    const auto close_row = [&](int width, int stride, const char* what) {
        std::vector<float> got(static_cast<std::size_t>(width) * stride);
        require(cudaMemcpy(got.data(), out.data(), got.size() * sizeof(float), cudaMemcpyDeviceToHost), what);
        double sum = 0.0;
        for (int i = 0; i < width; ++i) sum += got[static_cast<std::size_t>(i) * stride];
        check(std::fabs(sum - 1.0) < 1e-3, what);
    };
    prepare();
    warp_rows<8><<<40000 / 4, 128>>>(in.data(), out.data(), 40000, 256);
    finish("warp 256");
    close_row(256, 1, "warp 256");
    output("warp_256", out);
    prepare();
    warp_rows<31><<<(17001 + 3) / 4, 128>>>(in.data(), out.data(), 17001, 963);
    finish("warp 963");
    close_row(963, 1, "warp 963");
    output("warp_963", out);
    prepare();
    online_rows<<<600, 256>>>(reinterpret_cast<const float4*>(in.data()),
                              reinterpret_cast<float4*>(out.data()), 32000 / 4);
    finish("online");
    close_row(32000, 1, "online");
    output("online", out);
    prepare();
    class_planes<<<dim3((9409 + 191) / 192, 16), 192>>>(in.data(), out.data(), 81, 9409);
    finish("planes");
    close_row(81, 9409, "planes");
    output("planes", out);
    prepare();
    causal_rows<<<dim3(1024, 16), 128, 1024 * sizeof(float)>>>(in.data(), out.data(), 1024, 0.125F);
    finish("causal");
    output("causal", out);
    prepare();
    tiny_rows<<<(2000000 + 255) / 256, 256>>>(in.data(), out.data(), 2000000);
    finish("tiny");
    close_row(10, 1, "tiny");
    output("tiny", out);
    Array<float> logs(4096);
    prepare();
    log_sums<<<132 * 4, 256>>>(in.data(), logs.data(), 4096, 5003);
    finish("logs");
    output("logs", logs);
    std::vector<__half> halves(4099 * 3001);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = __float2half(4.0F * values[i]);
    const Array<__half> half_in(halves);
    Array<__half> half_out(halves.size());
    prepare();
    odd_rows<<<4099, 256>>>(half_in.data(), half_out.data(), 3001);
    finish("odd");
    output("odd_3001", half_out);
    prepare();
    odd_rows<<<25033, 64>>>(half_in.data(), half_out.data(), 491);
    finish("odd");
    output("odd_491", half_out);
}

int main() {
    return run(body);
}
