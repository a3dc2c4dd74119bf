// Detection: boxes decoded from offsets, overlaps of all pairs as bits, the serial sweep over them by one
// block, features averaged over regions, and their backward pass by atomics.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void decode_boxes(const float4* anchors, const float4* offsets, const float* scores, float4* boxes,
                             int* kept, float least, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 a = anchors[i], d = offsets[i];
    const float w = a.z - a.x, h = a.w - a.y;
    const float x = a.x + 0.5F * w + d.x * w * 0.1F, y = a.y + 0.5F * h + d.y * h * 0.1F;
    const float bw = expf(fminf(d.z * 0.2F, 4.0F)) * w * 0.5F, bh = expf(fminf(d.w * 0.2F, 4.0F)) * h * 0.5F;
    boxes[i] = {fmaxf(x - bw, 0.0F), fmaxf(y - bh, 0.0F), fminf(x + bw, 1024.0F), fminf(y + bh, 1024.0F)};
    kept[i] = 1.0F / (1.0F + expf(-scores[i])) > least ? 1 : 0;
}

__device__ inline float overlap(const float4& a, const float4& b) {
    const float w = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.0F);
    const float h = fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.0F);
    const float both = w * h;
    return both / ((a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - both);
}

/// A block of 64 threads compares 64 boxes with 64 others.
__global__ void overlaps(const float4* boxes, unsigned long long* bits, float most, int n) {
    const int row = blockIdx.y, column = blockIdx.x;
    if (row > column) return;
    __shared__ float4 others[64];
    const int theirs = column * 64 + threadIdx.x, own = row * 64 + threadIdx.x;
    if (theirs < n) others[threadIdx.x] = boxes[theirs];
    __syncthreads();
    if (own >= n) return;
    const float4 box = boxes[own];
    unsigned long long found = 0;
    for (int k = row == column ? threadIdx.x + 1 : 0; k < min(n - column * 64, 64); ++k)
        if (overlap(box, others[k]) > most) found |= 1ULL << k;
    bits[static_cast<std::size_t>(own) * gridDim.x + column] = found;
}

/// One block: box after box, its row of bits joins what is suppressed.
__global__ void sweep(const unsigned long long* bits, int* alive, int n, int words) {
    extern __shared__ unsigned long long gone[];
    for (int w = threadIdx.x; w < words; w += blockDim.x) gone[w] = 0;
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        const bool lives = (gone[i / 64] >> i % 64 & 1) == 0;
        if (lives)
            for (int w = i / 64 + threadIdx.x; w < words; w += blockDim.x)
                gone[w] |= bits[static_cast<std::size_t>(i) * words + w];
        if (threadIdx.x == 0) alive[i] = lives ? 1 : 0;
        __syncthreads();
    }
}

struct Sample {
    int at[4];
    float weight[4];
};

__device__ inline Sample sample(float x, float y, int width, int height) {
    const float cx = fminf(fmaxf(x, 0.0F), width - 1.0F), cy = fminf(fmaxf(y, 0.0F), height - 1.0F);
    const int x0 = static_cast<int>(cx), y0 = static_cast<int>(cy);
    const int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    const float fx = cx - x0, fy = cy - y0;
    return {{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
            {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}};
}

/// A thread an output: 7 x 7 bins a region and channel, four samples a bin.
__global__ void region_average(const float* features, const float4* regions, float* out, int channels,
                               int width, int height, int total) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int px = i % 7, py = i / 7 % 7, channel = i / 49 % channels;
        const float4 box = regions[i / 49 / channels];
        const float scale = width / 1024.0F, bw = (box.z - box.x) * scale / 7,
                    bh = (box.w - box.y) * scale / 7;
        const float* plane = features + static_cast<std::size_t>(channel) * width * height;
        float sum = 0.0F;
        for (int sy = 0; sy < 2; ++sy)
            for (int sx = 0; sx < 2; ++sx) {
                const Sample s = sample(box.x * scale + (px + 0.25F + 0.5F * sx) * bw,
                                        box.y * scale + (py + 0.25F + 0.5F * sy) * bh, width, height);
                for (int k = 0; k < 4; ++k) sum += s.weight[k] * plane[s.at[k]];
            }
        out[i] = sum * 0.25F;
    }
}

__global__ void region_backward(const float* gradients, const float4* regions, float* features, int channels,
                                int width, int height, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int px = i % 7, py = i / 7 % 7, channel = i / 49 % channels;
    const float4 box = regions[i / 49 / channels];
    const float scale = width / 1024.0F, bw = (box.z - box.x) * scale / 7, bh = (box.w - box.y) * scale / 7;
    float* plane = features + static_cast<std::size_t>(channel) * width * height;
    const float gradient = gradients[i] * 0.25F;
    for (int k = 0; k < 4; ++k) {
        const Sample s = sample(box.x * scale + (px + 0.25F + 0.5F * (k % 2)) * bw,
                                box.y * scale + (py + 0.25F + 0.5F * (k / 2)) * bh, width, height);
        for (int c = 0; c < 4; ++c) atomicAdd(plane + s.at[c], s.weight[c] * gradient);
    }
}

float4* boxes_on_device(int n, int seed, bool anchors) {
    std::vector<float4> boxes(n);
    for (int i = 0; i < n; ++i) {
        const float x = random_bits(seed, 2 * i) % 960, y = random_bits(seed, 2 * i + 1) % 960;
        boxes[i] = anchors ? float4{x, y, x + 16 + i % 5 * 12, y + 16 + i % 3 * 20}
                           : float4{random_float(seed + 1, 4 * i), random_float(seed + 1, 4 * i + 1),
                                    random_float(seed + 1, 4 * i + 2), random_float(seed + 1, 4 * i + 3)};
    }
    float4* data = nullptr;
    require(cudaMalloc(&data, n * sizeof(float4)), "boxes");
    require(cudaMemcpy(data, boxes.data(), n * sizeof(float4), cudaMemcpyHostToDevice), "boxes");
    return data;
}

void suppress(int n) {
    float4 *anchors = boxes_on_device(n, 1, true), *offsets = boxes_on_device(n, 2, false);
    float4* boxes = boxes_on_device(n, 1, true);
    const Array<float> scores(random_values<float>(n, 3));
    const int words = (n + 63) / 64;
    Array<int> kept(n), alive(n);
    Array<unsigned long long> bits(static_cast<std::size_t>(n) * words);
    prepare();
    decode_boxes<<<(n + 127) / 128, 128>>>(anchors, offsets, scores.data(), boxes, kept.data(), 0.5F, n);
    finish("decode");
    output(("kept_" + std::to_string(n)).c_str(), kept);
    prepare();
    overlaps<<<dim3(words, words), 64>>>(anchors, bits.data(), 0.5F, n);
    finish("overlaps");
    if (n <= 2048) {
        prepare();
        sweep<<<1, 64, words * sizeof(unsigned long long)>>>(bits.data(), alive.data(), n, words);
        finish("sweep");
        output("alive", alive);
    }
    cudaFree(anchors);
    cudaFree(offsets);
    cudaFree(boxes);
}

void regions(int count, int channels, int width) {
    float4* boxes = boxes_on_device(count, 5, true);
    const Array<float> features(random_values<float>(static_cast<std::size_t>(channels) * width * width, 6));
    const int total = count * channels * 49;
    Array<float> out(total), back(features.size());
    prepare();
    region_average<<<132 * 6, 256>>>(features.data(), boxes, out.data(), channels, width, width, total);
    finish("average");
    prepare();
    region_backward<<<(total + 255) / 256, 256>>>(out.data(), boxes, back.data(), channels, width, width,
                                                  total);
    finish("backward");
    output(("regions_" + std::to_string(width)).c_str(), out);
    cudaFree(boxes);
}

void body() {
    suppress(2048);
    suppress(12000);
    regions(512, 64, 128);
    regions(200, 128, 64);
}

int main() {
    return run(body);
}
