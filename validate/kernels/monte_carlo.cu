// Random sampling with generators that need no state, since they map a counter to random bits: pi from points
// in a square, with divisions and then with none, by Philox for four words at a time, summed by thread and by
// block; and the price of a call option from normal numbers, exact, fast, in pairs of opposite sign, and
// along a path.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 128;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr float spot = 100.0F, strike = 103.0F, rate = 0.03F, volatility = 0.25F;
constexpr int path_steps = 8;

struct Words {
    std::uint32_t values[4];
};

/// Philox with four words and ten rounds.
__host__ __device__ inline Words philox(std::uint32_t counter, std::uint32_t stream) {
    Words state = {{counter, stream, 0, 0}};
    std::uint32_t key_0 = 0x2545f491U, key_1 = 0x4f6cdd1dU;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xd2511f53U} * state.values[0];
        const std::uint64_t second = std::uint64_t{0xcd9e8d57U} * state.values[2];
        state = {{static_cast<std::uint32_t>(second >> 32) ^ state.values[1] ^ key_0,
                  static_cast<std::uint32_t>(second),
                  static_cast<std::uint32_t>(first >> 32) ^ state.values[3] ^ key_1,
                  static_cast<std::uint32_t>(first)}};
        key_0 += 0x9e3779b9U;
        key_1 += 0xbb67ae85U;
    }
    return state;
}

/// Uniform in (0, 1): the middle of one of 2^23 intervals.
__host__ __device__ inline float unit(std::uint32_t bits) {
    return (static_cast<float>(bits >> 9) + 0.5F) * 0x1p-23F;
}

/// Exact, so that host and device agree on every point: coordinates have 31 bits.
__host__ __device__ inline unsigned inside(std::uint32_t x, std::uint32_t y) {
    const std::uint64_t a = x >> 1, b = y >> 1;
    return a * a + b * b < std::uint64_t{1} << 62 ? 1 : 0;
}

/// Numbers of a multiplicative congruence, started anew from each counter; the remainder is by a prime that
/// the compiler does not know.
__global__ void pi_remainder(unsigned* hits, int samples, unsigned modulus) {
    const int thread = blockIdx.x * threads + threadIdx.x;
    unsigned sum = 0;
    for (int i = thread; i < samples; i += gridDim.x * threads) {
        const std::uint64_t x = (random_bits(1, i) % modulus) * std::uint64_t{48271} % modulus;
        const std::uint64_t y = x * 48271 % modulus;
        sum += inside(static_cast<std::uint32_t>(x) << 1, static_cast<std::uint32_t>(y) << 1);
    }
    hits[thread] = sum;
}

__global__ void pi_two_hashes(unsigned* hits, int samples) {
    const int thread = blockIdx.x * threads + threadIdx.x;
    unsigned sum = 0;
    for (int i = thread; i < samples; i += gridDim.x * threads) {
        sum += inside(random_bits(1, i), random_bits(2, i));
    }
    hits[thread] = sum;
}

__global__ void pi_philox(unsigned* hits, int samples) {
    const int thread = blockIdx.x * threads + threadIdx.x;
    unsigned sum = 0;
    for (int i = thread; i < samples / 2; i += gridDim.x * threads) {
        const Words words = philox(i, 0);
        sum += inside(words.values[0], words.values[1]) + inside(words.values[2], words.values[3]);
    }
    hits[thread] = sum;
}

__global__ void pi_block_sums(unsigned* total, int samples) {
    unsigned sum = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < samples / 2; i += gridDim.x * threads) {
        const Words words = philox(i, 0);
        sum += inside(words.values[0], words.values[1]) + inside(words.values[2], words.values[3]);
    }
    __shared__ unsigned warp_sums[threads / 32];
    sum = __reduce_add_sync(all_lanes, sum);
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < threads / 32) {
        sum = __reduce_add_sync((1U << threads / 32) - 1, warp_sums[threadIdx.x]);
        if (threadIdx.x == 0) {
            atomicAdd(total, sum);
        }
    }
}

/// What the option pays, discounted, after one year with the normal number `normal`.
template <class T>
__host__ __device__ inline T payoff(T normal) {
    const T drift = T{rate} - T{0.5} * T{volatility} * T{volatility};
    const T price = T{spot} * exp(drift + T{volatility} * normal);
    return exp(-T{rate}) * (price > T{strike} ? price - T{strike} : T{0});
}

/// Two normal numbers by Box and Muller from each pair of words.
__global__ void option_exact(float* sums, int samples) {
    const int thread = blockIdx.x * threads + threadIdx.x;
    float sum = 0.0F;
    for (int i = thread; i < samples / 4; i += gridDim.x * threads) {
        const Words words = philox(i, 1);
#pragma unroll
        for (int pair = 0; pair < 4; pair += 2) {
            const float radius = sqrtf(-2.0F * logf(unit(words.values[pair])));
            float sine, cosine;
            sincospif(2.0F * unit(words.values[pair + 1]), &sine, &cosine);
            sum += payoff(radius * cosine) + payoff(radius * sine);
        }
    }
    sums[thread] = sum;
}

/// Of two normal numbers. Next to 1 the fast logarithm may give 0 or the wrong sign.
__device__ float fast_radius(std::uint32_t bits) {
    const float square = fmaxf(-2.0F * __logf(unit(bits)), 1e-12F);
    return square * rsqrtf(square);
}

__device__ float payoff_fast(float normal) {
    constexpr float drift = rate - 0.5F * volatility * volatility;
    return fmaxf(spot * __expf(drift + volatility * normal) - strike, 0.0F);
}

__global__ void option_fast(float* sums, int samples) {
    const int thread = blockIdx.x * threads + threadIdx.x;
    float sum = 0.0F;
    for (int i = thread; i < samples / 4; i += gridDim.x * threads) {
        const Words words = philox(i, 1);
#pragma unroll
        for (int pair = 0; pair < 4; pair += 2) {
            const float radius = fast_radius(words.values[pair]);
            // Around 0, where the fast functions are precise.
            const float angle = 6.2831853F * (unit(words.values[pair + 1]) - 0.5F);
            sum += payoff_fast(-radius * __cosf(angle)) + payoff_fast(-radius * __sinf(angle));
        }
    }
    sums[thread] = sum * __expf(-rate);
}

/// Each normal number serves twice, with both signs; `samples` counts both.
__global__ void option_antithetic(float* sums, int samples) {
    const int thread = blockIdx.x * threads + threadIdx.x;
    float sum = 0.0F;
    for (int i = thread; i < samples / 8; i += gridDim.x * threads) {
        const Words words = philox(i, 2);
#pragma unroll
        for (int pair = 0; pair < 4; pair += 2) {
            const float radius = fast_radius(words.values[pair]);
            const float angle = 6.2831853F * (unit(words.values[pair + 1]) - 0.5F);
            const float first = -radius * __cosf(angle), second = -radius * __sinf(angle);
            sum += payoff_fast(first) + payoff_fast(-first) + payoff_fast(second) + payoff_fast(-second);
        }
    }
    sums[thread] = sum * __expf(-rate);
}

/// The payoff is by the mean of the prices at `path_steps` times of the year: an Asian option.
__global__ void option_path(float* sums, int paths) {
    constexpr float drift = (rate - 0.5F * volatility * volatility) / path_steps;
    const float step_volatility = volatility * rsqrtf(static_cast<float>(path_steps));
    const int thread = blockIdx.x * threads + threadIdx.x;
    float sum = 0.0F;
    for (int i = thread; i < paths; i += gridDim.x * threads) {
        float price = spot, prices = 0.0F;
        for (int step = 0; step < path_steps; step += 4) {
            const Words words = philox(i, 3 + step);
#pragma unroll
            for (int pair = 0; pair < 4; pair += 2) {
                const float radius = fast_radius(words.values[pair]);
                const float angle = 6.2831853F * (unit(words.values[pair + 1]) - 0.5F);
                price *= __expf(drift - step_volatility * radius * __cosf(angle));
                prices += price;
                price *= __expf(drift - step_volatility * radius * __sinf(angle));
                prices += price;
            }
        }
        sum += fmaxf(prices / path_steps - strike, 0.0F);
    }
    sums[thread] = sum * __expf(-rate);
}

/// Four normal numbers in double precision.
std::vector<double> normals(std::uint32_t counter, std::uint32_t stream) {
    constexpr double pi = 3.14159265358979323846;
    const Words words = philox(counter, stream);
    std::vector<double> numbers;
    for (int pair = 0; pair < 4; pair += 2) {
        const double radius = std::sqrt(-2.0 * std::log(static_cast<double>(unit(words.values[pair]))));
        const double angle = 2.0 * pi * static_cast<double>(unit(words.values[pair + 1]));
        numbers.push_back(radius * std::cos(angle));
        numbers.push_back(radius * std::sin(angle));
    }
    return numbers;
}

/// The mean payoff in closed form, after Black and Scholes.
double closed_form() {
    const double first =
        (std::log(static_cast<double>(spot) / strike) + rate + 0.5 * volatility * volatility) / volatility;
    const auto distribution = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    return spot * distribution(first) -
           strike * std::exp(-static_cast<double>(rate)) * distribution(first - volatility);
}

void body() {
    constexpr double pi = 3.14159265358979323846;
    constexpr unsigned modulus = 2147483647;
    struct Case {
        int blocks, samples;
    };
    for (const Case& size : {Case{80, 200024}, Case{1056, 2000008}}) {
        const int blocks = size.blocks, samples = size.samples;
        const int count = blocks * threads;
        const Array<unsigned> hits(count), total(1);
        Array<float> sums(count);
        const auto verify_pi = [&](const char* what, const std::vector<unsigned>& result,
                                   const std::vector<unsigned>& expected) {
            check(result == expected, what);
            double sum = 0.0;
            for (const unsigned value : result) {
                sum += value;
            }
            check(std::fabs(4.0 * sum / samples - pi) < 8.0 / std::sqrt(samples), what);
            output(what, result);
        };
        std::vector<unsigned> by_remainder(count), by_hashes(count), by_philox(count);
        for (int i = 0; i < samples; ++i) {
            const std::uint64_t x = (random_bits(1, i) % modulus) * std::uint64_t{48271} % modulus;
            const std::uint64_t y = x * 48271 % modulus;
            by_remainder[i % count] +=
                inside(static_cast<std::uint32_t>(x) << 1, static_cast<std::uint32_t>(y) << 1);
            by_hashes[i % count] += inside(random_bits(1, i), random_bits(2, i));
        }
        unsigned all = 0;
        for (int i = 0; i < samples / 2; ++i) {
            const Words words = philox(i, 0);
            const unsigned both =
                inside(words.values[0], words.values[1]) + inside(words.values[2], words.values[3]);
            by_philox[i % count] += both;
            all += both;
        }
        prepare();
        pi_remainder<<<blocks, threads>>>(hits.data(), samples, modulus);
        finish("pi_remainder");
        verify_pi("pi_remainder", hits.values(), by_remainder);
        prepare();
        pi_two_hashes<<<blocks, threads>>>(hits.data(), samples);
        finish("pi_two_hashes");
        verify_pi("pi_two_hashes", hits.values(), by_hashes);
        prepare();
        pi_philox<<<blocks, threads>>>(hits.data(), samples);
        finish("pi_philox");
        verify_pi("pi_philox", hits.values(), by_philox);
        prepare();
        pi_block_sums<<<blocks, threads>>>(total.data(), samples);
        finish("pi_block_sums");
        verify_pi("pi_block_sums", total.values(), {all});

        const auto verify_option = [&](const char* what, const std::vector<double>& expected) {
            finish(what);
            const auto result = sums.values();
            check_close(result, expected, 1e-4, what);
            output(what, result);
            sums.zero();
        };
        std::vector<double> exact(count), antithetic(count), path(count);
        double sum = 0.0;
        for (int i = 0; i < samples / 4; ++i) {
            for (const double normal : normals(i, 1)) {
                const double pays = payoff(normal);
                exact[i % count] += pays;
                sum += pays;
            }
        }
        // The deviation of one payoff is about 18.
        check(std::fabs(sum / samples - closed_form()) < 80.0 / std::sqrt(samples), "closed form");
        for (int i = 0; i < samples / 8; ++i) {
            for (const double normal : normals(i, 2)) {
                antithetic[i % count] += payoff(normal) + payoff(-normal);
            }
        }
        const int paths = samples / 8;
        for (int i = 0; i < paths; ++i) {
            double price = spot, prices = 0.0;
            for (int step = 0; step < path_steps; step += 4) {
                for (const double normal : normals(i, 3 + step)) {
                    price *= std::exp((rate - 0.5 * volatility * volatility) / path_steps +
                                      volatility / std::sqrt(path_steps) * normal);
                    prices += price;
                }
            }
            path[i % count] +=
                std::exp(-static_cast<double>(rate)) * std::max(prices / path_steps - strike, 0.0);
        }
        prepare();
        option_exact<<<blocks, threads>>>(sums.data(), samples);
        verify_option("option_exact", exact);
        prepare();
        option_fast<<<blocks, threads>>>(sums.data(), samples);
        verify_option("option_fast", exact);
        prepare();
        option_antithetic<<<blocks, threads>>>(sums.data(), samples);
        verify_option("option_antithetic", antithetic);
        prepare();
        option_path<<<blocks, threads>>>(sums.data(), paths);
        verify_option("option_path", path);
    }
}

int main() {
    return run(body);
}
