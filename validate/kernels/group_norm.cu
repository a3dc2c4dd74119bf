// Normalization of pictures by groups of channels and by channels over a batch: groups that lie together in
// two passes and in one, channels last by columns, running means for training, and the scaling afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr float tiny = 1e-5F;

/// Sums of two values over a CTA, in all threads.
__device__ float2 over_block(float2 value) {
    __shared__ float2 parts[32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value.x += __shfl_xor_sync(all_lanes, value.x, distance);
        value.y += __shfl_xor_sync(all_lanes, value.y, distance);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float2 sum{0.0F, 0.0F};
    for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp) {
        sum.x += parts[warp].x;
        sum.y += parts[warp].y;
    }
    return sum;
}

/// A CTA a group, whose channels lie together: mean, then variance, then the result.
__global__ void two_passes(const float* from, float* to, const float* scale, const float* shift, int channels,
                           int groups, int pixels) {
    const int per_group = channels / groups, count = per_group * pixels,
              first = blockIdx.x % groups * per_group;
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * count;
    float sum = 0.0F, squares = 0.0F;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += from[begin + i];
    const float mean = over_block({sum, 0.0F}).x / count;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float difference = from[begin + i] - mean;
        squares += difference * difference;
    }
    const float factor = rsqrtf(over_block({squares, 0.0F}).x / count + tiny);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int channel = first + i / pixels;
        to[begin + i] = (from[begin + i] - mean) * factor * scale[channel] + shift[channel];
    }
}

/// Sums and squares in one pass by four floats; the group may stay in registers.
template <int kept>
__global__ void one_pass(const float4* from, float4* to, const float* scale, const float* shift, int channels,
                         int groups, int quads) {
    const int per_group = channels / groups, count = per_group * quads,
              first = blockIdx.x % groups * per_group;
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * count;
    float4 held[kept > 0 ? kept : 1];
    float2 sums{0.0F, 0.0F};
    const auto take = [&](float4 x) {
        sums.x += x.x + x.y + x.z + x.w;
        sums.y += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    };
    if (kept > 0) {
#pragma unroll
        for (int k = 0; k < kept; ++k) {
            held[k] = from[begin + threadIdx.x + k * blockDim.x];
            take(held[k]);
        }
    } else {
        for (int i = threadIdx.x; i < count; i += blockDim.x) take(from[begin + i]);
    }
    sums = over_block(sums);
    const float mean = sums.x / (4 * count), factor = rsqrtf(sums.y / (4 * count) - mean * mean + tiny);
    const auto put = [&](int i, float4 x) {
        const int channel = first + i / quads;
        const float a = factor * scale[channel], b = shift[channel] - mean * a;
        to[begin + i] = {x.x * a + b, x.y * a + b, x.z * a + b, x.w * a + b};
    };
    if (kept > 0) {
#pragma unroll
        for (int k = 0; k < kept; ++k) put(threadIdx.x + k * blockDim.x, held[k]);
    } else {
        for (int i = threadIdx.x; i < count; i += blockDim.x) put(i, from[begin + i]);
    }
}

/// Channels last: a CTA sums so many pixels of all channels; a thread keeps to its channel.
__global__ void column_parts(const float* from, float2* parts, int rows, int channels, int part) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    float2 sums{0.0F, 0.0F};
    const int end = min(rows, (static_cast<int>(blockIdx.y) + 1) * part);
    for (int row = blockIdx.y * part; row < end; ++row) {
        const float value = from[static_cast<std::size_t>(row) * channels + channel];
        sums.x += value;
        sums.y += value * value;
    }
    parts[blockIdx.y * channels + channel] = sums;
}

/// Mean and variance of a channel, and running ones for later.
__global__ void channel_figures(const float2* parts, const float* scale, const float* shift, float2* factors,
                                float2* running, int part_count, int channels, int rows) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    float2 sums{0.0F, 0.0F};
    for (int part = 0; part < part_count; ++part) {
        sums.x += parts[part * channels + channel].x;
        sums.y += parts[part * channels + channel].y;
    }
    const float mean = sums.x / rows, variance = sums.y / rows - mean * mean;
    const float factor = rsqrtf(variance + tiny) * scale[channel];
    factors[channel] = {factor, shift[channel] - mean * factor};
    running[channel] = {0.9F * running[channel].x + 0.1F * mean, 0.9F * running[channel].y + 0.1F * variance};
}

/// The result of each element, and what is below zero cut off.
__global__ void scale_columns(const float4* from, float4* to, const float2* factors, std::size_t quads,
                              int channels) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        const int channel = static_cast<int>(i % (channels / 4)) * 4;
        const float2 a = factors[channel], b = factors[channel + 1], c = factors[channel + 2],
                     d = factors[channel + 3];
        const float4 x = from[i];
        to[i] = {fmaxf(0.0F, x.x * a.x + a.y), fmaxf(0.0F, x.y * b.x + b.y), fmaxf(0.0F, x.z * c.x + c.y),
                 fmaxf(0.0F, x.w * d.x + d.y)};
    }
}

/// Channels first, over a batch: a CTA a channel jumps from picture to picture.
__global__ void channel_over_batch(const float* from, float* to, const float* scale, const float* shift,
                                   int batch, int channels, int pixels) {
    const int channel = blockIdx.x;
    float2 sums{0.0F, 0.0F};
    for (int b = 0; b < batch; ++b) {
        const float* picture = from + (static_cast<std::size_t>(b) * channels + channel) * pixels;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            sums.x += picture[i];
            sums.y += picture[i] * picture[i];
        }
    }
    sums = over_block(sums);
    const int count = batch * pixels;
    const float mean = sums.x / count, factor = rsqrtf(sums.y / count - mean * mean + tiny) * scale[channel];
    for (int b = 0; b < batch; ++b) {
        const std::size_t begin = (static_cast<std::size_t>(b) * channels + channel) * pixels;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            to[begin + i] = (from[begin + i] - mean) * factor + shift[channel];
        }
    }
}

/// Figures of what `place(k)` gives for k below count.
template <class Place>
double normalized(const std::vector<float>& numbers, int count, Place place, double value) {
    double sum = 0, squares = 0;
    for (int k = 0; k < count; ++k) sum += numbers[place(k)];
    const double mean = sum / count;
    for (int k = 0; k < count; ++k) squares += (numbers[place(k)] - mean) * (numbers[place(k)] - mean);
    return (value - mean) / std::sqrt(squares / count + tiny);
}

template <int kept>
void by_groups(int batch, int channels, int groups, int pixels, int threads) {
    const std::size_t all = static_cast<std::size_t>(batch) * channels * pixels;
    auto numbers = random_values<float>(all, 1);
    for (std::size_t i = 0; i < all; ++i) numbers[i] += static_cast<float>(i / pixels % 7) * 0.25F;
    const auto scales = random_values<float>(channels, 2), shifts = random_values<float>(channels, 3);
    const Array<float> from(numbers), scale(scales), shift(shifts);
    Array<float> to(all);
    const int count = channels / groups * pixels;
    const std::string name = std::to_string(channels) + "_" + std::to_string(pixels);
    const auto look = [&](const char* what) {
        finish(what);
        const auto found = to.values();
        for (int group = 0; group < batch * groups; group += 13) {
            const std::size_t begin = static_cast<std::size_t>(group) * count, at = begin + group % count;
            const std::size_t channel = at / pixels % channels;
            const double value = normalized(
                numbers, count, [&](int k) { return begin + k; }, numbers[at]);
            check(std::fabs(found[at] - (value * scales[channel] + shifts[channel])) < 1e-3, what);
        }
        output((what + ("_" + name)).c_str(), found);
        to.zero();
    };
    const auto* quads = reinterpret_cast<const float4*>(from.data());
    auto* result = reinterpret_cast<float4*>(to.data());
    prepare();
    two_passes<<<batch * groups, threads>>>(from.data(), to.data(), scale.data(), shift.data(), channels,
                                            groups, pixels);
    look("two_passes");
    prepare();
    one_pass<0><<<batch * groups, threads>>>(quads, result, scale.data(), shift.data(), channels, groups,
                                             pixels / 4);
    look("one_pass");
    if constexpr (kept > 0) {
        check(count == kept * threads * 4, "kept");
        prepare();
        one_pass<kept><<<batch * groups, threads>>>(quads, result, scale.data(), shift.data(), channels,
                                                    groups, pixels / 4);
        look("kept");
    }
    prepare();
    channel_over_batch<<<channels, threads>>>(from.data(), to.data(), scale.data(), shift.data(), batch,
                                              channels, pixels);
    finish("batch");
    const auto found = to.values();
    for (int channel = 0; channel < channels; channel += 5) {
        const auto place = [&](int k) {
            return (static_cast<std::size_t>(k / pixels) * channels + channel) * pixels + k % pixels;
        };
        const double value = normalized(numbers, batch * pixels, place, numbers[place(channel)]);
        check(std::fabs(found[place(channel)] - (value * scales[channel] + shifts[channel])) < 1e-3, "batch");
    }
    output(("batch_" + name).c_str(), found);
}

void channels_last(int rows, int channels, int parts) {
    const std::size_t all = static_cast<std::size_t>(rows) * channels;
    const auto numbers = random_values<float>(all, 4);
    const auto scales = random_values<float>(channels, 5), shifts = random_values<float>(channels, 6);
    const Array<float> from(numbers), scale(scales), shift(shifts);
    Array<float> to(all);
    Array<float2> part_array(static_cast<std::size_t>(parts) * channels), factors(channels),
        running(channels);
    prepare();
    column_parts<<<dim3((channels + 127) / 128, parts), std::min(channels, 128)>>>(
        from.data(), part_array.data(), rows, channels, (rows + parts - 1) / parts);
    finish("parts");
    prepare();
    channel_figures<<<(channels + 31) / 32, 32>>>(part_array.data(), scale.data(), shift.data(),
                                                  factors.data(), running.data(), parts, channels, rows);
    finish("figures");
    prepare();
    scale_columns<<<1056, 256>>>(reinterpret_cast<const float4*>(from.data()),
                                 reinterpret_cast<float4*>(to.data()), factors.data(), all / 4, channels);
    finish("scale");
    const auto found = to.values();
    for (int channel = 0; channel < channels; channel += 7) {
        const auto place = [&](int k) { return static_cast<std::size_t>(k) * channels + channel; };
        const double value = normalized(numbers, rows, place, numbers[place(channel)]);
        check(std::fabs(found[place(channel)] - std::max(0.0, value * scales[channel] + shifts[channel])) <
                  1e-3,
              "scale");
    }
    output(("last_" + std::to_string(channels)).c_str(), found);
}

void body() {
    by_groups<8>(32, 128, 32, 2048, 256);
    by_groups<4>(8, 320, 32, 1024, 640);
    by_groups<0>(4, 64, 8, 4096, 512);
    channels_last(65536, 128, 264);
    channels_last(8192, 64, 32);
    channels_last(16384, 512, 128);
}

int main() {
    return run(body);
}
