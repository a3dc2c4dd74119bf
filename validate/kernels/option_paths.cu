// Prices of options by paths: numbers from Philox written out, Asian options with mirrored paths and a
// geometric mean as control, and points of Sobol's sequence through the inverse of the normal
// distribution; sums are taken by CTAs and added up in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Option {
    float spot, strike, rate, volatility, years;
};

__device__ inline float uniform(unsigned bits) {
    return static_cast<float>(bits >> 8) * 0x1p-24F + 0x1p-25F;
}

__device__ inline float4 normals(uint4 bits) {
    const float r = sqrtf(-2.0F * __logf(uniform(bits.x))), s = sqrtf(-2.0F * __logf(uniform(bits.z)));
    float4 n;
    __sincosf(6.2831853F * uniform(bits.y), &n.y, &n.x);
    __sincosf(6.2831853F * uniform(bits.w), &n.w, &n.z);
    return {r * n.x, r * n.y, s * n.z, s * n.w};
}

/// The sum over the CTA, at its first thread.
__device__ inline float block_sum(float value) {
    __shared__ float shared[32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : 0.0F;
    if (threadIdx.x < 32)
        for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
    return value;
}

/// A thread `paths` pairs of mirrored paths; sums[CTA] of the payoff less that of the geometric mean.
__global__ void asian(Option o, float* sums, int steps, int paths) {
    const float time = o.years / static_cast<float>(steps);
    const float drift = (o.rate - 0.5F * o.volatility * o.volatility) * time;
    const float spread = o.volatility * sqrtf(time);
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.0F;
    for (int path = 0; path < paths; ++path) {
        float up = 0.0F, down = 0.0F, mean_up = 0.0F, mean_down = 0.0F, log_up = 0.0F, log_down = 0.0F;
        for (int step = 0; step < steps; step += 4) {
            const float4 z = normals(
                philox({static_cast<unsigned>(step), static_cast<unsigned>(path), thread, 0U}, {2026U, 11U}));
            const float moves[4] = {z.x, z.y, z.z, z.w};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                up += drift + spread * moves[k];
                down += drift - spread * moves[k];
                mean_up += __expf(up);
                mean_down += __expf(down);
                log_up += up;
                log_down += down;
            }
        }
        const float part = 1.0F / static_cast<float>(steps);
        total += fmaxf(o.spot * mean_up * part - o.strike, 0.0F) -
                 fmaxf(o.spot * __expf(log_up * part) - o.strike, 0.0F);
        total += fmaxf(o.spot * mean_down * part - o.strike, 0.0F) -
                 fmaxf(o.spot * __expf(log_down * part) - o.strike, 0.0F);
    }
    total = block_sum(total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total / static_cast<float>(2 * paths);
}

/// Points of a dimension a row of CTAs, by Gray code: out[dimension][point].
__global__ void sobol(const unsigned* directions, unsigned* out, int points) {
    __shared__ unsigned own[32];
    if (threadIdx.x < 32) own[threadIdx.x] = directions[blockIdx.y * 32 + threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += gridDim.x * blockDim.x) {
        unsigned value = 0;
        unsigned gray = static_cast<unsigned>(i) ^ static_cast<unsigned>(i) >> 1;
        for (int bit = 0; gray != 0; ++bit, gray >>= 1) value ^= (gray & 1U) != 0 ? own[bit] : 0U;
        out[static_cast<std::size_t>(blockIdx.y) * points + i] = value;
    }
}

/// An Asian option on points of Sobol's sequence, a step a dimension.
__global__ void asian_sobol(Option o, const unsigned* points, float* sums, int count, int steps) {
    const float time = o.years / static_cast<float>(steps);
    const float drift = (o.rate - 0.5F * o.volatility * o.volatility) * time;
    const float spread = o.volatility * sqrtf(time);
    float total = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float place = 0.0F, mean = 0.0F;
        for (int step = 0; step < steps; ++step) {
            place +=
                drift + spread * normcdfinvf(uniform(points[static_cast<std::size_t>(step) * count + i]));
            mean += __expf(place);
        }
        total += fmaxf(o.spot * mean / static_cast<float>(steps) - o.strike, 0.0F);
    }
    total = block_sum(total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/// One CTA adds up what others left.
__global__ void mean_of(const float* sums, float* mean, int count, float scale) {
    float total = 0.0F;
    for (int i = threadIdx.x; i < count; i += blockDim.x) total += sums[i];
    total = block_sum(total);
    if (threadIdx.x == 0) *mean = total * scale;
}

/// Direction numbers by primitive polynomials of growing degree, with odd initial numbers by rule.
std::vector<unsigned> directions(int dimensions) {
    constexpr unsigned polynomials[] = {3, 7, 11, 13, 19, 25, 37, 41, 47, 55, 59, 61, 67, 91, 97, 103};
    std::vector<unsigned> out(dimensions * 32);
    for (int d = 0; d < dimensions; ++d) {
        unsigned* v = &out[d * 32];
        const unsigned polynomial = polynomials[d % 16];
        int degree = 0;
        while (polynomial >> (degree + 1) != 0) ++degree;
        for (int i = 0; i < 32; ++i) {
            if (i < degree || d == 0) {
                const unsigned first = d == 0 ? 1U : (random_bits(d, i) | 1U) & ((2U << i) - 1U);
                v[i] = first << (31 - i);
                continue;
            }
            v[i] = v[i - degree] ^ v[i - degree] >> degree;
            for (int k = 1; k < degree; ++k) v[i] ^= (polynomial >> (degree - k) & 1U) != 0 ? v[i - k] : 0U;
        }
    }
    return out;
}

void means(const char* name, const Array<float>& sums, int count, float scale) {
    Array<float> mean(1);
    prepare();
    mean_of<<<1, 256>>>(sums.data(), mean.data(), count, scale);
    finish("mean");
    output(name, sums);
    output((std::string(name) + "_mean").c_str(), mean);
}

void body() {
    const Option option = {100.0F, 102.0F, 0.03F, 0.25F, 1.0F};
    Array<float> sums(8192);
    for (const int threads : {128, 256}) {
        prepare();
        asian<<<132 * 4, threads>>>(option, sums.data(), 64, 2);
        finish("asian");
    }
    means("asian", sums, 132 * 4, 1.0F / (132.0F * 4.0F * 256.0F));
    prepare();
    asian<<<1024, 256>>>(option, sums.data(), 24, 1);
    finish("asian short");
    means("asian_short", sums, 1024, 1.0F / (1024.0F * 256.0F));
    const int count = 1 << 18, steps = 32;
    const Array<unsigned> direction_array(directions(steps));
    Array<unsigned> points(static_cast<std::size_t>(count) * steps);
    prepare();
    sobol<<<dim3(64, steps), 256>>>(direction_array.data(), points.data(), count);
    finish("sobol");
    output("points", points);
    for (const int ctas : {132, 1024}) {
        prepare();
        asian_sobol<<<ctas, 256>>>(option, points.data(), sums.data(), count, steps);
        finish("asian sobol");
        means(ctas == 132 ? "sobol" : "sobol_wide", sums, ctas, 1.0F / static_cast<float>(count));
    }
}

int main() {
    return run(body);
}
