// Recurrences h = a h + b along time: a thread a channel, a warp a channel by shuffles over chunks of time,
// and 16 states a channel in registers and over lanes; and a causal convolution of width 4 along time.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr int states = 16;

/// Channels lie together in a step of time.
__global__ void channel_scan(const float* a, const float* b, float* to, int time, int channels) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    const std::size_t begin = static_cast<std::size_t>(blockIdx.y) * time * channels + channel;
    float h = 0.0F;
#pragma unroll 4
    for (int t = 0; t < time; ++t) {
        const std::size_t place = begin + static_cast<std::size_t>(t) * channels;
        h = a[place] * h + b[place];
        to[place] = h;
    }
}

/// Time lies together in a channel. A lane joins 4 steps, lanes join by shuffles, chunk follows chunk.
__global__ void warp_scan(const float4* a, const float4* b, float4* to, int time) {
    const int channel = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const std::size_t begin = static_cast<std::size_t>(channel) * (time / 4);
    float carried = 0.0F;
    for (int i = lane; i < time / 4; i += 32) {
        const float4 p = a[begin + i], q = b[begin + i];
        float factor = p.x * p.y * p.z * p.w;
        float sum = ((q.x * p.y + q.y) * p.z + q.z) * p.w + q.w;
        for (int distance = 1; distance < 32; distance *= 2) {
            const float other_factor = __shfl_up_sync(all_lanes, factor, distance);
            const float other_sum = __shfl_up_sync(all_lanes, sum, distance);
            if (lane >= distance) {
                sum += factor * other_sum;
                factor *= other_factor;
            }
        }
        float before = __shfl_up_sync(all_lanes, factor * carried + sum, 1);
        if (lane == 0) before = carried;
        carried = __shfl_sync(all_lanes, factor * carried + sum, 31);
        float4 h;
        h.x = p.x * before + q.x;
        h.y = p.y * h.x + q.y;
        h.z = p.z * h.y + q.z;
        h.w = p.w * h.z + q.w;
        to[begin + i] = h;
    }
}

/// Inputs of the selective scan: x and its steps by time and channel, b and c by time and state.
struct Selective {
    const float *x, *steps, *rates, *b, *c;
    int time, channels;
};

/// A thread a channel, all states in registers.
__global__ void states_in_thread(Selective s, float* to) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    float rates[states], h[states] = {};
#pragma unroll
    for (int n = 0; n < states; ++n) rates[n] = s.rates[channel * states + n];
    for (int t = 0; t < s.time; ++t) {
        const float step = s.steps[t * s.channels + channel], x = s.x[t * s.channels + channel];
        const float scaled = step * x;
        float sum = x;
#pragma unroll
        for (int n = 0; n < states; ++n) {
            h[n] = __expf(step * rates[n]) * h[n] + scaled * s.b[t * states + n];
            sum += h[n] * s.c[t * states + n];
        }
        to[t * s.channels + channel] = sum;
    }
}

/// A lane a state: two channels a warp.
__global__ void states_in_lanes(Selective s, float* to) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, channel = thread / states, n = thread % states;
    const float rate = s.rates[channel * states + n];
    float h = 0.0F;
    for (int t = 0; t < s.time; ++t) {
        const float step = s.steps[t * s.channels + channel], x = s.x[t * s.channels + channel];
        h = __expf(step * rate) * h + step * x * s.b[t * states + n];
        float sum = h * s.c[t * states + n];
        for (int distance = states / 2; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(all_lanes, sum, distance);
        }
        if (n == 0) to[t * s.channels + channel] = sum + x;
    }
}

/// A thread an element.
__global__ void convolve(const float* x, const float4* weights, float* to, int time, int channels) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
    const float4 w = weights[channel];
    float sum = w.w * x[t * channels + channel];
    if (t >= 1) sum += w.z * x[(t - 1) * channels + channel];
    if (t >= 2) sum += w.y * x[(t - 2) * channels + channel];
    if (t >= 3) sum += w.x * x[(t - 3) * channels + channel];
    to[t * channels + channel] = sum / (1.0F + __expf(-sum));
}

/// A thread a channel over `chunk` steps, the last three inputs in registers.
__global__ void convolve_chunk(const float* x, const float4* weights, float* to, int chunk, int channels) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * chunk;
    const float4 w = weights[channel];
    float third = first > 0 ? x[(first - 3) * channels + channel] : 0.0F;
    float second = first > 0 ? x[(first - 2) * channels + channel] : 0.0F;
    float last = first > 0 ? x[(first - 1) * channels + channel] : 0.0F;
    for (int t = first; t < first + chunk; ++t) {
        const float now = x[t * channels + channel];
        const float sum = w.x * third + w.y * second + w.z * last + w.w * now;
        to[t * channels + channel] = sum / (1.0F + __expf(-sum));
        third = second;
        second = last;
        last = now;
    }
}

/// Places in an array and what must be there.
using Expected = std::vector<std::pair<std::size_t, double>>;

void look(const char* what, Array<float>& to, const Expected& expected) {
    finish(what);
    const auto found = to.values();
    for (const auto& [place, value] : expected) check(std::fabs(value - found[place]) < 1e-3, what);
    output(what, found);
    to.zero();
}

void scans(int batch, int time, int channels) {
    const std::size_t count = static_cast<std::size_t>(batch) * time * channels;
    auto a_numbers = random_values<float>(count, 1);
    for (float& a : a_numbers) a = 0.75F + 0.25F * a;
    const auto b_numbers = random_values<float>(count, 2);
    const Array<float> a(a_numbers), b(b_numbers);
    Array<float> to(count);
    // Every 97th sequence, with a channel's steps `stride` apart and then together.
    const auto expected = [&](std::size_t stride) {
        Expected places;
        for (int i = 0; i < batch * channels; i += 97) {
            const std::size_t begin = stride == 1 ? static_cast<std::size_t>(i) * time
                                                  : i / channels * time * stride + i % channels;
            double h = 0;
            for (int t = 0; t < time; ++t) {
                const std::size_t place = begin + t * stride;
                places.emplace_back(place, h = a_numbers[place] * h + b_numbers[place]);
            }
        }
        return places;
    };
    prepare();
    channel_scan<<<dim3(channels / 128, batch), 128>>>(a.data(), b.data(), to.data(), time, channels);
    look("channel_scan", to, expected(channels));
    prepare();
    warp_scan<<<batch * channels / 8, 256>>>(reinterpret_cast<const float4*>(a.data()),
                                             reinterpret_cast<const float4*>(b.data()),
                                             reinterpret_cast<float4*>(to.data()), time);
    look("warp_scan", to, expected(1));
}

void selective(int time, int channels) {
    const int count = time * channels;
    const auto x = random_values<float>(count, 3), b = random_values<float>(time * states, 5);
    const auto c = random_values<float>(time * states, 6);
    auto steps = random_values<float>(count, 4), rates = random_values<float>(channels * states, 7);
    for (float& step : steps) step = 0.1F + 0.09F * step;
    for (float& rate : rates) rate = -4.0F + 3.5F * rate;
    const Array<float> x_array(x), step_array(steps), rate_array(rates), b_array(b), c_array(c);
    Array<float> to(count);
    const Selective s = {x_array.data(), step_array.data(), rate_array.data(), b_array.data(), c_array.data(),
                         time,           channels};
    Expected expected;
    for (int channel = 0; channel < channels; channel += 211) {
        double h[states] = {};
        for (int t = 0; t < time; ++t) {
            const double step = steps[t * channels + channel], value = x[t * channels + channel];
            double sum = value;
            for (int n = 0; n < states; ++n) {
                h[n] = std::exp(step * rates[channel * states + n]) * h[n] + step * value * b[t * states + n];
                sum += h[n] * c[t * states + n];
            }
            expected.emplace_back(t * channels + channel, sum);
        }
    }
    prepare();
    states_in_thread<<<channels / 64, 64>>>(s, to.data());
    look("states_in_thread", to, expected);
    prepare();
    states_in_lanes<<<channels * states / 128, 128>>>(s, to.data());
    look("states_in_lanes", to, expected);

    const auto weights = random_values<float>(channels * 4, 8);
    const Array<float> weight_array(weights);
    const auto* quads = reinterpret_cast<const float4*>(weight_array.data());
    expected.clear();
    for (int i = 3 * channels; i < count; i += 1009) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += weights[i % channels * 4 + k] * x[i - (3 - k) * channels];
        expected.emplace_back(i, sum / (1.0 + std::exp(-sum)));
    }
    prepare();
    convolve<<<dim3(channels / 256, time), 256>>>(x_array.data(), quads, to.data(), time, channels);
    look("convolve", to, expected);
    prepare();
    convolve_chunk<<<dim3(channels / 256, time / 64), 256>>>(x_array.data(), quads, to.data(), 64, channels);
    look("convolve_chunk", to, expected);
}

void body() {
    scans(4, 1024, 1024);
    scans(8, 256, 2048);
    selective(512, 2048);
    selective(256, 6144);
}

int main() {
    return run(body);
}
