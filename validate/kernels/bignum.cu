// Integers of 256 to 1024 bits, one a thread: sums and products with limbs interleaved over threads and with
// a number's limbs together, carries by 64-bit arithmetic and by the carry flag; and 64-bit powers by
// Montgomery.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Limb = std::uint32_t;
using Wide = std::uint64_t;
constexpr int threads = 128;

/// Where limb k of number i lies among numbers of n limbs each.
template <bool interleaved>
__host__ __device__ std::size_t place(int i, int k, int n, int count) {
    return interleaved ? static_cast<std::size_t>(k) * count + i : static_cast<std::size_t>(i) * n + k;
}

template <int n, bool interleaved>
__global__ void add(const Limb* left, const Limb* right, Limb* sums, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    Wide carry = 0;
#pragma unroll
    for (int k = 0; k < n; ++k) {
        const std::size_t at = place<interleaved>(i, k, n, count);
        carry += static_cast<Wide>(left[at]) + right[at];
        sums[at] = static_cast<Limb>(carry);
        carry >>= 32;
    }
}

/// 256 bits by one chain of the carry flag; limbs together, moved by fours.
__global__ void add_flag(const uint4* left, const uint4* right, uint4* sums, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const uint4 a = left[2 * i], b = left[2 * i + 1], c = right[2 * i], d = right[2 * i + 1];
    uint4 e, f;
    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\t"
        "addc.cc.u32 %3, %11, %19;\n\taddc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
        : "=r"(e.x), "=r"(e.y), "=r"(e.z), "=r"(e.w), "=r"(f.x), "=r"(f.y), "=r"(f.z), "=r"(f.w)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w), "r"(c.x), "r"(c.y),
          "r"(c.z), "r"(c.w), "r"(d.x), "r"(d.y), "r"(d.z), "r"(d.w));
    sums[2 * i] = e;
    sums[2 * i + 1] = f;
}

/// The product of 2 n limbs by rows. Unrolled whole it lies in registers, otherwise in a local array.
template <int n, bool interleaved, bool unrolled>
__global__ void multiply(const Limb* left, const Limb* right, Limb* products, int count) {
    constexpr int turns = unrolled ? n : 1;
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    Limb b[n], product[2 * n] = {};
#pragma unroll
    for (int k = 0; k < n; ++k) b[k] = right[place<interleaved>(i, k, n, count)];
#pragma unroll turns
    for (int j = 0; j < n; ++j) {
        const Limb a = left[place<interleaved>(i, j, n, count)];
        Wide carry = 0;
#pragma unroll
        for (int k = 0; k < n; ++k) {
            carry += static_cast<Wide>(a) * b[k] + product[j + k];
            product[j + k] = static_cast<Limb>(carry);
            carry >>= 32;
        }
        product[j + n] = static_cast<Limb>(carry);
    }
#pragma unroll
    for (int k = 0; k < 2 * n; ++k) products[place<interleaved>(i, k, 2 * n, count)] = product[k];
}

/// x y / 2^64 modulo an odd number below 2^63; `inverse` is its inverse, negated, modulo 2^64.
__device__ Wide montgomery(Wide x, Wide y, Wide modulus, Wide inverse) {
    const Wide low = x * y, q = low * inverse;
    const Wide sum = __umul64hi(x, y) + __umul64hi(q, modulus) + (low != 0);
    return sum >= modulus ? sum - modulus : sum;
}

__global__ void powers(const Wide* bases, const Wide* exponents, const Wide* moduli, Wide* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const Wide modulus = moduli[i];
    Wide inverse = modulus;  // Right in 3 bits; each step doubles them.
    for (int step = 0; step < 5; ++step) inverse *= 2 - modulus * inverse;
    inverse = 0 - inverse;
    Wide one = (0 - modulus) % modulus, square = one;  // 2^64 modulo the modulus
    for (int step = 0; step < 64; ++step) square = 2 * square >= modulus ? 2 * square - modulus : 2 * square;
    Wide base = montgomery(bases[i] % modulus, square, modulus, inverse), result = one;
    for (Wide exponent = exponents[i]; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result = montgomery(result, base, modulus, inverse);
        base = montgomery(base, base, modulus, inverse);
    }
    to[i] = montgomery(result, 1, modulus, inverse);
}

/// Compares every 101st number with the sum or product of long arithmetic.
template <int n, bool interleaved>
void look(const std::string& what, bool product, const std::vector<Limb>& left,
          const std::vector<Limb>& right, Array<Limb>& to, int count) {
    finish(what.c_str());
    const auto found = to.values();
    for (int i = 0; i < count; i += 101) {
        std::vector<Limb> expected(2 * n);
        Wide carry = 0;
        for (int j = 0; j < n; ++j) {
            const Limb a = left[place<interleaved>(i, j, n, count)];
            if (product) carry = 0;
            for (int k = 0; k < (product ? n : 1); ++k) {
                const Limb b = right[place<interleaved>(i, product ? k : j, n, count)];
                carry += product ? static_cast<Wide>(a) * b + expected[j + k] : static_cast<Wide>(a) + b;
                expected[j + k] = static_cast<Limb>(carry);
                carry >>= 32;
            }
            if (product) expected[j + n] = static_cast<Limb>(carry);
        }
        const int size = product ? 2 * n : n;
        for (int k = 0; k < size; ++k) {
            check(found[place<interleaved>(i, k, size, count)] == expected[k], what.c_str());
        }
    }
    output((what + "_" + std::to_string(32 * n)).c_str(), found);
    to.zero();
}

template <int n, bool interleaved, bool unrolled>
void all_of(int sums, int products) {
    const auto left = random_values<Limb>(static_cast<std::size_t>(sums) * n, 1);
    const auto right = random_values<Limb>(static_cast<std::size_t>(sums) * n, 2);
    const Array<Limb> a(left), b(right);
    Array<Limb> sum(left.size()), product(static_cast<std::size_t>(products) * 2 * n);
    prepare();
    add<n, interleaved><<<sums / threads, threads>>>(a.data(), b.data(), sum.data(), sums);
    look<n, interleaved>(interleaved ? "add_interleaved" : "add", false, left, right, sum, sums);
    prepare();
    multiply<n, interleaved, unrolled>
        <<<products / threads, threads>>>(a.data(), b.data(), product.data(), products);
    look<n, interleaved>(interleaved ? "multiply_interleaved" : "multiply", true, left, right, product,
                         products);
    if constexpr (n == 8 && !interleaved) {
        prepare();
        add_flag<<<sums / threads, threads>>>(reinterpret_cast<const uint4*>(a.data()),
                                              reinterpret_cast<const uint4*>(b.data()),
                                              reinterpret_cast<uint4*>(sum.data()), sums);
        look<n, false>("add_flag", false, left, right, sum, sums);
    }
}

void modular(int count, bool same_exponent) {
    std::vector<Wide> bases(count), exponents(count, 65537), moduli(count);
    for (int i = 0; i < count; ++i) {
        bases[i] = static_cast<Wide>(random_bits(3, i)) << 32 | random_bits(4, i);
        moduli[i] = (static_cast<Wide>(random_bits(5, i)) << 32 | random_bits(6, i)) >> 1 | 1 | Wide{1} << 40;
        if (!same_exponent) exponents[i] = static_cast<Wide>(random_bits(7, i)) << 32 | random_bits(8, i);
    }
    const Array<Wide> base_array(bases), exponent_array(exponents), modulus_array(moduli);
    Array<Wide> to(count);
    prepare();
    powers<<<count / threads, threads>>>(base_array.data(), exponent_array.data(), modulus_array.data(),
                                         to.data(), count);
    finish("powers");
    const auto found = to.values();
    for (int i = 0; i < count; i += 101) {
        unsigned __int128 base = bases[i] % moduli[i], result = 1;
        for (Wide exponent = exponents[i]; exponent != 0; exponent >>= 1) {
            if (exponent & 1) result = result * base % moduli[i];
            base = base * base % moduli[i];
        }
        check(found[i] == static_cast<Wide>(result), "powers");
    }
    output("powers", found);
}

void body() {
    all_of<8, true, true>(1 << 19, 1 << 18);
    all_of<8, false, true>(1 << 19, 1 << 18);
    all_of<16, true, true>(1 << 18, 1 << 16);
    all_of<16, false, true>(1 << 18, 1 << 16);
    all_of<32, true, false>(1 << 17, 1 << 15);
    all_of<32, false, false>(1 << 17, 1 << 15);
    modular(1 << 17, true);
    modular(1 << 16, false);
}

int main() {
    return run(body);
}
