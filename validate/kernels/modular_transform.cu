// Number theoretic transforms: batches modulo a prime of 31 bits, most stages in shared memory and the rest
// in global memory, for cyclic convolutions; and butterflies and powers modulo a 62-bit prime in Montgomery
// form.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t prime = 2013265921U;  // 15 * 2^27 + 1
constexpr uint32_t generator = 31;
constexpr int log_size = 13;
constexpr int size = 1 << log_size;
constexpr int log_tile = 11;
constexpr int tile = 1 << log_tile;

__host__ __device__ inline uint32_t mod_mul(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(static_cast<uint64_t>(a) * b % prime);
}
__host__ __device__ inline uint32_t mod_add(uint32_t a, uint32_t b) {
    const uint32_t sum = a + b;
    return sum >= prime ? sum - prime : sum;
}
__host__ __device__ inline uint32_t mod_sub(uint32_t a, uint32_t b) {
    return a >= b ? a - b : a + prime - b;
}

/// A power by squaring; `multiply` is the product modulo the prime.
template <class T, class Multiply>
T power(T base, T exponent, Multiply multiply) {
    T result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1U) != 0) result = multiply(result, base);
        base = multiply(base, base);
    }
    return result;
}
uint32_t mod_pow(uint32_t base, uint32_t exponent) {
    return power(base, exponent, mod_mul);
}

/// Each transform's elements in bit-reversed order.
__global__ void bit_reverse(const uint32_t* in, uint32_t* out, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int within = i & (size - 1);
    out[i - within + static_cast<int>(__brev(within) >> (32 - log_size))] = in[i];
}

/// The first eleven stages: 256 threads take 2048 elements through shared memory.
__global__ void __launch_bounds__(256) stages_in_shared(uint32_t* data, const uint32_t* __restrict__ roots) {
    __shared__ uint32_t values[tile];
    uint32_t* own = data + static_cast<size_t>(blockIdx.x) * tile;
    for (int i = threadIdx.x; i < tile; i += blockDim.x) values[i] = own[i];
    __syncthreads();
    for (int half = 1; half < tile; half *= 2) {
        for (int t = threadIdx.x; t < tile / 2; t += blockDim.x) {
            const int position = t & (half - 1);
            const int first = 2 * (t - position) + position;
            const uint32_t w = roots[position * (size / 2 / half)];
            const uint32_t u = values[first], v = mod_mul(values[first + half], w);
            values[first] = mod_add(u, v);
            values[first + half] = mod_sub(u, v);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < tile; i += blockDim.x) own[i] = values[i];
}

/// One stage in global memory, a butterfly a thread.
__global__ void stage(uint32_t* data, const uint32_t* roots, int half, int butterflies) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= butterflies) return;
    const int position = t % half, first = t / half * 2 * half + position;
    const uint32_t u = data[first], v = mod_mul(data[first + half], roots[position * (size / 2 / half)]);
    data[first] = mod_add(u, v);
    data[first + half] = mod_sub(u, v);
}

/// a * b * factor, four at a time.
__global__ void pointwise(const uint4* __restrict__ a, const uint4* __restrict__ b, uint4* out,
                          uint32_t factor, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uint4 p = a[i], q = b[i];
        out[i] = {mod_mul(mod_mul(p.x, q.x), factor), mod_mul(mod_mul(p.y, q.y), factor),
                  mod_mul(mod_mul(p.z, q.z), factor), mod_mul(mod_mul(p.w, q.w), factor)};
    }
}

constexpr uint64_t big_prime = 4179340454199820289ULL;  // 29 * 2^57 + 1

constexpr uint64_t inverse_of(uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
}
constexpr uint64_t big_inverse = inverse_of(big_prime);
static_assert(big_prime * big_inverse == 1);

/// a * b / 2^64.
__device__ inline uint64_t montgomery(uint64_t a, uint64_t b) {
    const uint64_t high = __umul64hi(a, b), reduced = __umul64hi(a * b * big_inverse, big_prime);
    return high >= reduced ? high - reduced : high + big_prime - reduced;
}

/// A stage the other way round (sums and differences first); the roots are in Montgomery form.
__global__ void big_stage(uint64_t* data, const uint64_t* __restrict__ roots, int half, int step,
                          int butterflies) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < butterflies; t += gridDim.x * blockDim.x) {
        const int position = t & (half - 1), first = 2 * t - position;
        const uint64_t u = data[first], v = data[first + half];
        const uint64_t sum = u + v, difference = u >= v ? u - v : u + big_prime - v;
        data[first] = sum >= big_prime ? sum - big_prime : sum;
        data[first + half] = montgomery(difference, roots[static_cast<size_t>(position) * step]);
    }
}

/// Each value to its own power; `one` is 2^64 and `square` is 2^128 modulo the prime.
__global__ void big_powers(const uint64_t* values, const unsigned short* exponents, uint64_t* out,
                           uint64_t one, uint64_t square, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint64_t base = montgomery(values[i], square), result = one;
    for (unsigned exponent = exponents[i]; exponent != 0; exponent >>= 1) {
        if ((exponent & 1U) != 0) result = montgomery(result, base);
        base = montgomery(base, base);
    }
    out[i] = montgomery(result, 1);
}

std::vector<uint32_t> powers_of(uint32_t root) {
    std::vector<uint32_t> powers(size / 2);
    uint32_t power = 1;
    for (auto& one : powers) {
        one = power;
        power = mod_mul(power, root);
    }
    return powers;
}

void transform(const uint32_t* in, uint32_t* out, const Array<uint32_t>& roots, int total) {
    prepare();
    bit_reverse<<<(total + 511) / 512, 512>>>(in, out, total);
    finish("bit reverse");
    prepare();
    stages_in_shared<<<total / tile, 256>>>(out, roots.data());
    finish("stages in shared");
    for (int half = tile; half < size; half *= 2) {
        prepare();
        stage<<<(total / 2 + 127) / 128, 128>>>(out, roots.data(), half, total / 2);
        finish("stage");
    }
}

void convolutions(int batch) {
    const int total = batch * size;
    // The first half of the array holds one side of the convolutions, the second half the other.
    auto values = random_values<uint32_t>(static_cast<size_t>(total) * 2, 1);
    for (auto& value : values) value %= prime;
    const uint32_t root = mod_pow(generator, (prime - 1) / size);
    const Array<uint32_t> in(values), roots(powers_of(root)), back_roots(powers_of(mod_pow(root, prime - 2)));
    const Array<uint32_t> spectra(values.size()), products(total), result(total);
    transform(in.data(), spectra.data(), roots, 2 * total);
    output("spectra", spectra);
    prepare();
    pointwise<<<132 * 4, 256>>>(reinterpret_cast<const uint4*>(spectra.data()),
                                reinterpret_cast<const uint4*>(spectra.data() + total),
                                reinterpret_cast<uint4*>(products.data()), mod_pow(size, prime - 2),
                                total / 4);
    finish("pointwise");
    transform(products.data(), result.data(), back_roots, total);
    const auto got = result.values();
    for (int k = 0; k < 64; ++k) {
        const int which = k * (batch - 1) / 63, at = static_cast<int>(random_bits(2, k) % size);
        const uint32_t *a = values.data() + static_cast<size_t>(which) * size, *b = a + total;
        uint32_t expected = 0;
        for (int i = 0; i < size; ++i) expected = mod_add(expected, mod_mul(a[i], b[(at - i) & (size - 1)]));
        check(got[static_cast<size_t>(which) * size + at] == expected, "convolution");
    }
    output("convolutions", result);
}

uint64_t big_mul(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % big_prime);
}
uint64_t big_pow(uint64_t base, uint64_t exponent) {
    return power(base, exponent, big_mul);
}

void big(int log_count, int power_count) {
    const int count = 1 << log_count;
    const uint64_t one = static_cast<uint64_t>((static_cast<unsigned __int128>(1) << 64) % big_prime);
    std::vector<uint64_t> values(count), roots(count / 2);
    for (int i = 0; i < count; ++i)
        values[i] = (static_cast<uint64_t>(random_bits(3, i)) << 32 | random_bits(4, i)) % big_prime;
    const uint64_t root = big_pow(3, (big_prime - 1) >> log_count);
    uint64_t power = one;
    for (auto& entry : roots) {
        entry = power;
        power = big_mul(power, root);
    }
    Array<uint64_t> data(values);
    const Array<uint64_t> root_array(roots);
    prepare();
    big_stage<<<132 * 10, 192>>>(data.data(), root_array.data(), count / 2, 1, count / 2);
    finish("big stage");
    const auto got_first = data.values();
    const uint64_t back = big_pow(one, big_prime - 2);
    for (int t = 0; t < count / 2; t += 1001) {
        const uint64_t u = values[t], v = values[t + count / 2];
        check(got_first[t] == (u + v) % big_prime, "big sum");
        check(got_first[t + count / 2] == big_mul(big_mul((u + big_prime - v) % big_prime, roots[t]), back),
              "big difference");
    }
    prepare();
    big_stage<<<132 * 10, 192>>>(data.data(), root_array.data(), 256, count / 512, count / 2);
    finish("big stage of 256");
    output("big_stages", data);
    const auto base = data.values();
    auto exponents = random_values<unsigned short>(power_count, 5);
    for (auto& exponent : exponents) exponent = static_cast<unsigned short>(exponent >> (exponent % 8));
    const Array<unsigned short> exponent_array(exponents);
    Array<uint64_t> out(power_count);
    prepare();
    big_powers<<<(power_count + 127) / 128, 128>>>(data.data(), exponent_array.data(), out.data(), one,
                                                   big_mul(one, one), power_count);
    finish("big powers");
    const auto got = out.values();
    for (int i = 0; i < power_count; i += 501) check(got[i] == big_pow(base[i], exponents[i]), "big powers");
    output("big_powers", out);
}

void body() {
    convolutions(256);
    big(21, 400000);
}

int main() {
    return run(body);
}
