// Random numbers by cuRAND's functions for kernels: XORWOW states made, kept and drawn from, Philox for four
// numbers at a time, MRG32k3a in double, points in a circle, Brownian paths, Poisson counts, log-normal
// prices and a shuffle of hands of cards.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <curand_kernel.h>

using namespace textbook;

constexpr int state_count = 12288;

/// A subsequence of one seed for each thread, which takes long: each skips ahead.
__global__ void make_sequences(curandState* states, unsigned long long seed, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) curand_init(seed, i, 0, &states[i]);
}
/// A seed of its own for each thread, which is quick.
__global__ void make_seeds(curandState* states, unsigned long long seed, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) curand_init(seed + i, 0, 0, &states[i]);
}

/// Uniform numbers, each thread from its state, strided over the array.
__global__ void __launch_bounds__(256) uniform_numbers(curandState* states, float* out, int count) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    curandState state = states[thread];
    for (int i = thread; i < count; i += threads) out[i] = curand_uniform(&state);
    states[thread] = state;
}

/// Normal numbers in pairs; the state stays in global memory by its pointer.
__global__ void __launch_bounds__(128)
    normal_numbers(curandState* states, float2* out, float mean, float deviation, int count) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = thread; i < count; i += threads) {
        const float2 pair = curand_normal2(&states[thread]);
        out[i] = {mean + deviation * pair.x, mean + deviation * pair.y};
    }
}

/// Four uniform numbers of Philox a turn; the generator is made anew in each thread.
__global__ void __launch_bounds__(256)
    philox_uniform(float4* out, unsigned long long seed, int vectors, int per_thread) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, thread, 0, &state);
    for (int k = 0; k < per_thread; ++k) {
        const int i = k * gridDim.x * blockDim.x + thread;
        if (i < vectors) out[i] = curand_uniform4(&state);
    }
}

/// Noise added to a signal, four normal numbers a thread, placed by the offset of one sequence.
__global__ void __launch_bounds__(256)
    add_noise(float4* signal, float deviation, unsigned long long seed, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, 0, 4ULL * i, &state);
    const float4 noise = curand_normal4(&state);
    float4 v = signal[i];
    v.x += deviation * noise.x;
    v.y += deviation * noise.y;
    v.z += deviation * noise.z;
    v.w += deviation * noise.w;
    signal[i] = v;
}

/// MRG32k3a: exponential waiting times in double.
__global__ void __launch_bounds__(64)
    make_recursive(curandStateMRG32k3a* states, unsigned long long seed, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) curand_init(seed, i, 0, &states[i]);
}
__global__ void __launch_bounds__(64)
    waiting_times(curandStateMRG32k3a* states, double* out, double rate, int per_thread) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    curandStateMRG32k3a state = states[thread];
    double time = 0.0;
    for (int k = 0; k < per_thread; ++k) {
        time -= log(curand_uniform_double(&state)) / rate;
        out[static_cast<std::size_t>(k) * threads + thread] = time;
    }
    states[thread] = state;
}

/// Points of a square that fall into the circle, added up by blocks.
__global__ void __launch_bounds__(256)
    points_in_circle(unsigned* inside, unsigned long long seed, int per_thread) {
    __shared__ unsigned block_sum;
    if (threadIdx.x == 0) block_sum = 0;
    __syncthreads();
    curandStatePhilox4_32_10_t state;
    curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    unsigned hits = 0;
    for (int k = 0; k < per_thread; ++k) {
        const float x = curand_uniform(&state), y = curand_uniform(&state);
        if (x * x + y * y <= 1.0F) ++hits;
    }
    atomicAdd(&block_sum, hits);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(inside, block_sum);
}

/// A path of Brownian motion for each thread, every step kept.
__global__ void __launch_bounds__(128) brownian_paths(float* paths, float step_deviation, float drift,
                                                      unsigned long long seed, int count, int steps) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= count) return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, path, 0, &state);
    float place = 0.0F;
    for (int s = 0; s < steps; ++s) {
        place += drift + step_deviation * curand_normal(&state);
        paths[static_cast<std::size_t>(s) * count + path] = place;
    }
}

/// Counts of events: few where the light is dim, many where it is bright.
__global__ void __launch_bounds__(256)
    photon_counts(curandState* states, const float* light, unsigned* counts, int pixels) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    curandState state = states[thread];
    for (int i = thread; i < pixels; i += threads) counts[i] = curand_poisson(&state, light[i]);
    states[thread] = state;
}

/// Average of an option on the mean price along a path, whose logarithm is normal.
__global__ void __launch_bounds__(256) mean_prices(float* values, float spot, float strike, float volatility,
                                                   unsigned long long seed, int count, int steps) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= count) return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, path, 0, &state);
    const float drift = -0.5F * volatility * volatility / steps, scale = volatility * sqrtf(1.0F / steps);
    float price = spot, sum = 0.0F;
    for (int s = 0; s < steps; s += 2) {
        const float2 growth = curand_log_normal2(&state, drift, scale);
        price *= growth.x;
        sum += price;
        price *= growth.y;
        sum += price;
    }
    values[path] = fmaxf(sum / steps - strike, 0.0F);
}

/// A pack of cards for each thread, shuffled, of which the first five are kept as a hand.
__global__ void __launch_bounds__(128) deal(unsigned char* hands, unsigned long long seed, int count) {
    __shared__ unsigned char packs[52][128];
    const int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= count) return;
    for (int c = 0; c < 52; ++c) packs[c][threadIdx.x] = static_cast<unsigned char>(c);
    curandStateXORWOW_t state;
    // Seeds in a row would give packs that are alike.
    curand_init(seed + player * 0x9e3779b97f4a7c15ULL, 0, 0, &state);
    for (int c = 0; c < 51; ++c) {
        const int other = c + static_cast<int>(curand(&state) % (52 - c));
        const unsigned char held = packs[c][threadIdx.x];
        packs[c][threadIdx.x] = packs[other][threadIdx.x];
        packs[other][threadIdx.x] = held;
    }
    for (int c = 0; c < 5; ++c) hands[c * count + player] = packs[c][threadIdx.x];
}

/// Mean and deviation of numbers lie near what they should.
template <class T>
void check_moments(const std::vector<T>& values, double mean, double deviation, const char* what) {
    double sum = 0.0, squares = 0.0;
    for (const T value : values) {
        sum += value;
        squares += static_cast<double>(value) * value;
    }
    const double count = static_cast<double>(values.size()), got = sum / count;
    check(std::fabs(got - mean) < 6.0 * deviation / std::sqrt(count) + 1e-7, what);
    check(std::fabs(std::sqrt(squares / count - got * got) / deviation - 1.0) < 0.02, what);
}

/// The words of Philox that cuRAND gives for a seed, subsequence and counter.
void philox_words(unsigned long long seed, unsigned sequence, unsigned counter, unsigned (&words)[4]) {
    unsigned c[4] = {counter, 0, sequence, 0};
    unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xd2511f53U} * c[0],
                            second = std::uint64_t{0xcd9e8d57U} * c[2];
        const unsigned next[4] = {
            static_cast<unsigned>(second >> 32) ^ c[1] ^ key[0], static_cast<unsigned>(second),
            static_cast<unsigned>(first >> 32) ^ c[3] ^ key[1], static_cast<unsigned>(first)};
        std::copy(next, next + 4, c);
        key[0] += 0x9e3779b9U;
        key[1] += 0xbb67ae85U;
    }
    std::copy(c, c + 4, words);
}
/// XORWOW as cuRAND begins it from a seed.
class Xorwow {
  public:
    explicit Xorwow(unsigned long long seed) {
        const unsigned low = 1099087573U * (static_cast<unsigned>(seed) ^ 0xaad26b49U);
        const unsigned high = 2591861531U * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddU);
        sum_ = 6615241U + high + low;
        words_ = {123456789U + low, 362436069U ^ low, 521288629U + high, 88675123U ^ high, 5783321U + low};
    }
    unsigned next() {
        const unsigned t = words_[0] ^ words_[0] >> 2, last = words_.back();
        words_.erase(words_.begin());
        words_.push_back((last ^ last << 4) ^ (t ^ t << 1));
        sum_ += 362437U;
        return words_.back() + sum_;
    }

  private:
    unsigned sum_ = 0;
    std::vector<unsigned> words_;
};
float unit(unsigned word) {
    return static_cast<float>(word) * 2.3283064e-10F + (2.3283064e-10F / 2.0F);
}

void kept_states() {
    const Array<curandState> states(state_count);
    prepare();
    make_sequences<<<state_count / 64, 64>>>(states.data(), 1234ULL, state_count);
    finish("make sequences");

    const int count = 5'000'000;
    const Array<float> uniform(count);
    prepare();
    uniform_numbers<<<state_count / 256, 256>>>(states.data(), uniform.data(), count);
    finish("uniform numbers");
    const auto drawn = uniform.values();
    Xorwow first(1234ULL);
    for (int i = 0; i < count; i += state_count)
        check(std::fabs(drawn[i] - unit(first.next())) < 1e-6F, "first sequence");
    check_moments(drawn, 0.5, std::sqrt(1.0 / 12.0), "uniform numbers");
    output("uniform_numbers", uniform);

    const int many = 132 * 6 * 128;
    const Array<curandState> more(many);
    prepare();
    make_seeds<<<many / 256, 256>>>(more.data(), 77ULL, many);
    finish("make seeds");
    const Array<float> normal(12'000'002);
    prepare();
    normal_numbers<<<132 * 6, 128>>>(more.data(), reinterpret_cast<float2*>(normal.data()), 3.0F, 0.5F,
                                     6'000'001);
    finish("normal numbers");
    check_moments(normal.values(), 3.0, 0.5, "normal numbers");
    output("normal_numbers", normal);

    const int pixels = 1024 * 700;
    std::vector<float> light(pixels);
    double sum = 0.0;
    for (int i = 0; i < pixels; ++i) {
        // A bright disc before a dim ground.
        const int x = i % 1024 - 512, y = i / 1024 - 350;
        light[i] = x * x + y * y < 150 * 150 ? 90.0F : 0.5F + static_cast<float>(i % 1024) / 128.0F;
        sum += light[i];
    }
    const Array<float> light_array(light);
    const Array<unsigned> counts(pixels);
    prepare();
    photon_counts<<<132 * 3, 256>>>(more.data(), light_array.data(), counts.data(), pixels);
    finish("photon counts");
    const auto got = counts.values();
    double total = 0.0;
    for (const unsigned value : got) total += value;
    check(std::fabs(total - sum) < 6.0 * std::sqrt(sum), "photon counts");
    output("photon_counts", std::vector<float>(got.begin(), got.end()));
}

void philox_numbers() {
    const int vectors = 5'000'003, per_thread = 8, threads = (vectors / per_thread + 256) / 256 * 256;
    const unsigned long long seed = 0x1234567890abcULL;
    const Array<float> uniform(static_cast<std::size_t>(vectors) * 4);
    prepare();
    philox_uniform<<<threads / 256, 256>>>(reinterpret_cast<float4*>(uniform.data()), seed, vectors,
                                           per_thread);
    finish("philox uniform");
    const auto got = uniform.values();
    for (int i = 0; i < vectors; i += 501) {
        unsigned words[4];
        philox_words(seed, i % threads, i / threads, words);
        for (int k = 0; k < 4; ++k)
            check(std::fabs(got[i * 4 + k] - unit(words[k])) < 1e-6F, "philox uniform");
    }
    output("philox_uniform", got);

    const int samples = 9'000'000;
    std::vector<float> wave(samples);
    for (int i = 0; i < samples; ++i) wave[i] = static_cast<float>(i % 100) - 49.5F;
    const Array<float> signal(wave);
    prepare();
    add_noise<<<(samples / 4 + 255) / 256, 256>>>(reinterpret_cast<float4*>(signal.data()), 0.125F, 9ULL,
                                                  samples / 4);
    finish("add noise");
    auto noise = signal.values();
    output("noisy_signal", noise);
    for (int i = 0; i < samples; ++i) noise[i] -= wave[i];
    check_moments(noise, 0.0, 0.125, "add noise");

    const Array<unsigned> inside(1);
    const int blocks = 132 * 8, points = 200;
    prepare();
    points_in_circle<<<blocks, 256>>>(inside.data(), 31ULL, points);
    finish("points in circle");
    const double pi = 4.0 * inside.values()[0] / (static_cast<double>(blocks) * 256 * points);
    check(std::fabs(pi - 3.14159265) < 1.5e-3, "points in circle");

    const int paths = 100'003, steps = 120;
    const Array<float> places(static_cast<std::size_t>(paths) * steps);
    prepare();
    brownian_paths<<<(paths + 127) / 128, 128>>>(places.data(), std::sqrt(1.0F / steps), 0.5F / steps, 5ULL,
                                                 paths, steps);
    finish("brownian paths");
    const auto walked = places.values();
    check_moments(std::vector<float>(walked.end() - paths, walked.end()), 0.5, 1.0, "brownian paths");
    output("brownian_paths", walked);

    const int prices = 250'000;
    const Array<float> values(prices);
    prepare();
    mean_prices<<<(prices + 255) / 256, 256>>>(values.data(), 100.0F, 95.0F, 0.2F, 6ULL, prices, 50);
    finish("mean prices");
    double sum = 0.0;
    for (const float value : values.values()) sum += value;
    check(std::fabs(sum / prices - 7.5) < 0.5, "mean prices");
    output("mean_prices", values);
}

void other_generators() {
    const int states = 4096, per_thread = 250;
    const Array<curandStateMRG32k3a> recursive(states);
    prepare();
    make_recursive<<<states / 64, 64>>>(recursive.data(), 99ULL, states);
    finish("make recursive");
    const Array<double> times(static_cast<std::size_t>(states) * per_thread);
    prepare();
    waiting_times<<<states / 64, 64>>>(recursive.data(), times.data(), 2.0, per_thread);
    finish("waiting times");
    const auto waited = times.values();
    check_moments(std::vector<double>(waited.end() - states, waited.end()), per_thread / 2.0,
                  std::sqrt(per_thread) / 2.0, "waiting times");
    output("waiting_times", waited);

    const int players = 300'007;
    const Array<unsigned char> hands(static_cast<std::size_t>(players) * 5);
    prepare();
    deal<<<(players + 127) / 128, 128>>>(hands.data(), 17ULL, players);
    finish("deal");
    const auto dealt = hands.values();
    std::vector<int> seen(52);
    for (int p = 0; p < players; ++p) {
        std::uint64_t cards = 0;
        for (int c = 0; c < 5; ++c) {
            cards |= std::uint64_t{1} << dealt[c * players + p];
            ++seen[dealt[c * players + p]];
        }
        check(__builtin_popcountll(cards) == 5, "deal");
    }
    for (int p = 0; p < players; p += 100) {
        Xorwow generator(17ULL + p * 0x9e3779b97f4a7c15ULL);
        std::vector<unsigned char> pack(52);
        for (int c = 0; c < 52; ++c) pack[c] = static_cast<unsigned char>(c);
        for (int c = 0; c < 51; ++c) std::swap(pack[c], pack[c + generator.next() % (52 - c)]);
        for (int c = 0; c < 5; ++c) check(dealt[c * players + p] == pack[c], "hands");
    }
    for (const int times_seen : seen) check(std::abs(times_seen - players * 5 / 52) < 1500, "deal");
    output("deal", hands);
}

void body() {
    kept_states();
    philox_numbers();
    other_generators();
}

int main() {
    return run(body);
}
