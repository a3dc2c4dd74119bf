// The Ising model of magnets by checkerboard turns with Philox random numbers: a thread a spin in one array,
// four spins a thread with the colours apart, and 32 lattices in the bits of a word; the magnetization.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Spin = signed char;
constexpr int threads = 128;

/// Ten rounds of Philox for a counter and a key.
__host__ __device__ inline uint4 philox(unsigned place, unsigned turn, unsigned seed) {
    uint4 c{place, turn, 0U, 0U};
    unsigned left = seed, right = 0xcafef00dU;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xd2511f53U} * c.x, b = std::uint64_t{0xcd9e8d57U} * c.z;
        c = {static_cast<unsigned>(b >> 32) ^ c.y ^ left, static_cast<unsigned>(b),
             static_cast<unsigned>(a >> 32) ^ c.w ^ right, static_cast<unsigned>(a)};
        left += 0x9e3779b9U;
        right += 0xbb67ae85U;
    }
    return c;
}

/// A spin turns when the random number is below the limit for its energy.
struct Limits {
    unsigned of[5];

    /// `aligned`: the spin times the sum of its neighbours, -4 to 4.
    __host__ __device__ unsigned operator()(int aligned) const {
        return aligned <= 0 ? 0xffffffffU : aligned == 2 ? of[3] : of[4];
    }
};

/// All spins in one array; a thread has one spin of the colour, every second column.
__global__ void one_array(Spin* spins, int width, int height, int colour, unsigned turn, Limits limits) {
    const int half = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (half >= width / 2) return;
    const int x = 2 * half + ((y + colour) & 1);
    const int above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
    const int left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
    const int spin = spins[y * width + x];
    const int around = spins[above * width + x] + spins[below * width + x] + spins[y * width + left] +
                       spins[y * width + right];
    const uint4 random = philox(y * width + x, turn, 1);
    if (random.x < limits(spin * around)) spins[y * width + x] = static_cast<Spin>(-spin);
}

/// The colours apart, `half_width` spins a row; a thread has four neighbouring spins and one random
/// quadruple.
__global__ void two_arrays(char4* own, const char4* other, int quads, int height, int colour, unsigned turn,
                           Limits limits) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (q >= quads) return;
    const int above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
    const char4 up = other[above * quads + q], down = other[below * quads + q], here = other[y * quads + q];
    const bool shifted = ((y + colour) & 1) != 0;
    const int side = shifted ? (q == quads - 1 ? 0 : q + 1) : (q == 0 ? quads - 1 : q - 1);
    const char4 next = other[y * quads + side];
    char4 spin = own[y * quads + q];
    const uint4 random = philox(y * quads + q, turn, 2);
    const int sums[4] = {up.x + down.x + here.x + (shifted ? here.y : next.w),
                         up.y + down.y + here.y + (shifted ? here.z : here.x),
                         up.z + down.z + here.z + (shifted ? here.w : here.y),
                         up.w + down.w + here.w + (shifted ? next.x : here.z)};
    if (random.x < limits(spin.x * sums[0])) spin.x = static_cast<Spin>(-spin.x);
    if (random.y < limits(spin.y * sums[1])) spin.y = static_cast<Spin>(-spin.y);
    if (random.z < limits(spin.z * sums[2])) spin.z = static_cast<Spin>(-spin.z);
    if (random.w < limits(spin.w * sums[3])) spin.w = static_cast<Spin>(-spin.w);
    own[y * quads + q] = spin;
}

/// What 32 spins do whose neighbours are these words: sums by bits, one random number for all.
__host__ __device__ inline unsigned turn_words(unsigned spin, unsigned a, unsigned b, unsigned c, unsigned d,
                                               unsigned random, const Limits& limits) {
    // Neighbours unlike the spin, counted in bits.
    a ^= spin, b ^= spin, c ^= spin, d ^= spin;
    const unsigned two_of_first = a & b, one_of_first = a ^ b, two_of_last = c & d, one_of_last = c ^ d;
    const unsigned any_two = two_of_first | two_of_last | (one_of_first & one_of_last);
    const unsigned one = (one_of_first ^ one_of_last) & ~any_two;
    const unsigned none = ~(a | b | c | d);
    const unsigned turned =
        any_two | (random < limits.of[3] ? one : 0U) | (random < limits.of[4] ? none : 0U);
    return spin ^ turned;
}

__global__ void bit_lattices(unsigned* own, const unsigned* other, int half_width, int height, int colour,
                             unsigned turn, Limits limits) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= half_width) return;
    const int above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
    const bool shifted = ((y + colour) & 1) != 0;
    const int side = shifted ? (x == half_width - 1 ? 0 : x + 1) : (x == 0 ? half_width - 1 : x - 1);
    const int at = y * half_width + x;
    const unsigned random = philox(at, turn, 3).x;
    own[at] = turn_words(own[at], other[above * half_width + x], other[below * half_width + x], other[at],
                         other[y * half_width + side], random, limits);
}

/// Sums of a CTA's spins are added to one number.
__global__ void magnetization(const int* spins, int words, int* sum) {
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        mine = __dp4a(spins[i], 0x01010101, mine);
    }
    mine = __reduce_add_sync(0xffffffffU, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

Limits limits_at(double coupling) {
    Limits limits{};
    limits.of[3] = static_cast<unsigned>(4294967295.0 * std::exp(-4.0 * coupling));
    limits.of[4] = static_cast<unsigned>(4294967295.0 * std::exp(-8.0 * coupling));
    return limits;
}

void spins_in_one(int width, int height, const Limits& limits) {
    std::vector<Spin> spins(static_cast<std::size_t>(width) * height);
    for (std::size_t i = 0; i < spins.size(); ++i) spins[i] = random_bits(1, i) % 3 == 0 ? -1 : 1;
    Array<Spin> array(spins);
    for (int colour = 0; colour < 2; ++colour) {
        prepare();
        one_array<<<dim3((width / 2 + threads - 1) / threads, height), threads>>>(array.data(), width, height,
                                                                                  colour, colour, limits);
        finish("one array");
        for (int y = 0; y < height; ++y) {
            for (int x = (y + colour) & 1; x < width; x += 2) {
                const int around =
                    spins[(y + height - 1) % height * width + x] + spins[(y + 1) % height * width + x] +
                    spins[y * width + (x + width - 1) % width] + spins[y * width + (x + 1) % width];
                Spin& spin = spins[y * width + x];
                if (philox(y * width + x, colour, 1).x < limits(spin * around))
                    spin = static_cast<Spin>(-spin);
            }
        }
    }
    check(array.values() == spins, "one array");
    output(("one_array_" + std::to_string(width)).c_str(), spins);
    Array<int> sum(1);
    const int words = width * height / 4;
    prepare();
    magnetization<<<std::min(words / 1024, 528), 256>>>(reinterpret_cast<const int*>(array.data()), words,
                                                        sum.data());
    finish("magnetization");
    int expected = 0;
    for (const Spin spin : spins) expected += spin;
    check(sum.values()[0] == expected, "magnetization");
}

void spins_in_two(int width, int height, const Limits& limits) {
    const int half = width / 2, quads = half / 4;
    const std::size_t count = static_cast<std::size_t>(half) * height;
    std::vector<Spin> spins[2] = {std::vector<Spin>(count), std::vector<Spin>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        for (int colour = 0; colour < 2; ++colour)
            spins[colour][i] = random_bits(2 + colour, i) % 3 == 0 ? -1 : 1;
    }
    const Array<Spin> black(spins[0]), white(spins[1]);
    char4* const arrays[2] = {reinterpret_cast<char4*>(black.data()), reinterpret_cast<char4*>(white.data())};
    for (int colour = 0; colour < 2; ++colour) {
        prepare();
        two_arrays<<<dim3((quads + threads - 1) / threads, height), threads>>>(
            arrays[colour], arrays[1 - colour], quads, height, colour, colour, limits);
        finish("two arrays");
        const auto& other = spins[1 - colour];
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < half; ++x) {
                const int side = ((y + colour) & 1) != 0 ? (x + 1) % half : (x + half - 1) % half;
                const int around = other[(y + height - 1) % height * half + x] +
                                   other[(y + 1) % height * half + x] + other[y * half + x] +
                                   other[y * half + side];
                const uint4 four = philox(y * quads + x / 4, colour, 2);
                const unsigned random[4] = {four.x, four.y, four.z, four.w};
                Spin& spin = spins[colour][y * half + x];
                if (random[x % 4] < limits(spin * around)) spin = static_cast<Spin>(-spin);
            }
        }
    }
    check(black.values() == spins[0] && white.values() == spins[1], "two arrays");
    output(("two_arrays_" + std::to_string(width)).c_str(), spins[1]);
}

void spins_in_bits(int width, int height, const Limits& limits) {
    const int half = width / 2;
    std::vector<unsigned> spins[2];
    for (int colour = 0; colour < 2; ++colour) {
        spins[colour] = random_values<unsigned>(static_cast<std::size_t>(half) * height, 7 + colour);
    }
    const Array<unsigned> black(spins[0]), white(spins[1]);
    unsigned* const arrays[2] = {black.data(), white.data()};
    for (int colour = 0; colour < 2; ++colour) {
        prepare();
        bit_lattices<<<dim3((half + threads - 1) / threads, height), threads>>>(
            arrays[colour], arrays[1 - colour], half, height, colour, colour, limits);
        finish("bits");
        const auto& other = spins[1 - colour];
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < half; ++x) {
                const int side = ((y + colour) & 1) != 0 ? (x + 1) % half : (x + half - 1) % half;
                unsigned& spin = spins[colour][y * half + x];
                spin = turn_words(spin, other[(y + height - 1) % height * half + x],
                                  other[(y + 1) % height * half + x], other[y * half + x],
                                  other[y * half + side], philox(y * half + x, colour, 3).x, limits);
            }
        }
    }
    check(black.values() == spins[0] && white.values() == spins[1], "bits");
    output(("bits_" + std::to_string(width)).c_str(), spins[1]);
}

void body() {
    const Limits limits = limits_at(0.44);
    spins_in_one(2048, 2048, limits);
    spins_in_one(256, 256, limits);
    spins_in_two(4096, 2048, limits);
    spins_in_two(1024, 512, limits);
    spins_in_bits(4096, 1024, limits);
    spins_in_bits(512, 256, limits);
}

int main() {
    return run(body);
}
