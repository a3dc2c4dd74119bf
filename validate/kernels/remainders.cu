// Library mathematics that loops or branches, over arguments of small and of large range: remainders, powers,
// gamma, Bessel and normal functions, sines of multiples of pi, roots and angles, and divisions of 64-bit and
// 128-bit integers and of doubles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <utility>

using namespace textbook;

template <class F, class T>
__global__ void map_pairs(F f, const T* a, const T* b, T* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = f(a[i], b[i]);
}

struct Remainders {
    __device__ float operator()(float a, float b) const { return fmodf(a, b) + 0.5F * remainderf(b, a); }
};
struct DoubleRemainder {
    __device__ double operator()(double a, double b) const { return fmod(a, b); }
};
struct Powers {
    __device__ float operator()(float a, float b) const { return powf(fabsf(a), b); }
};
struct DoublePowers {
    __device__ double operator()(double a, double b) const { return pow(fabs(a), b); }
};
struct Gammas {
    __device__ float operator()(float a, float b) const { return tgammaf(a) + lgammaf(b); }
};
struct Bessel {
    __device__ float operator()(float a, float b) const { return j0f(a) + 0.25F * j1f(b); }
};
/// A probability and back: the normal distribution and the inverse of the error function's complement.
struct Normals {
    __device__ float operator()(float a, float b) const {
        return normcdff(a) + erfcinvf(1.0F + 0.999F * tanhf(b));
    }
};
/// An angle in turns, its sine and cosine, and back by the arc tangent.
struct Angles {
    __device__ float operator()(float a, float b) const {
        float sine, cosine;
        sincospif(a, &sine, &cosine);
        return atan2f(sine * b, cosine) + sinf(a * b);
    }
};
struct Roots {
    __device__ float operator()(float a, float b) const {
        return hypotf(a, b) - cbrtf(a * b) + acoshf(1.0F + fabsf(b)) + (nextafterf(a, b) - a);
    }
};
/// Roots of a quadratic equation with a division and a root, in double precision.
struct Quadratic {
    __device__ double operator()(double a, double b) const {
        const double d = b * b + fabs(a), root = sqrt(d);
        return b / (1.0 + root) + (a - 0.5) / (root + fabs(b) + 0.125) + rsqrt(d + 1.0);
    }
};

using Wide = unsigned long long;
/// Quotient and remainder by a variable, unsigned and signed.
struct WideDivision {
    __device__ Wide operator()(Wide a, Wide b) const {
        const long long sa = static_cast<long long>(a), sb = static_cast<long long>(b | 1) >> 3;
        return a / (b | 1) + 3 * (a % (b | 1)) + static_cast<Wide>(sa / (sb == 0 ? 1 : sb));
    }
};
/// A product modulo a number of 64 bits by way of 128 bits.
struct ProductModulo {
    __device__ Wide operator()(Wide a, Wide b) const {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * (b ^ 0x9E3779B97F4A7C15ULL);
        return static_cast<Wide>(product % (b | 1));
    }
};
struct HighProduct {
    __device__ Wide operator()(Wide a, Wide b) const {
        const unsigned __int128 square = static_cast<unsigned __int128>(a) * a + b;
        return static_cast<Wide>(square >> 64) ^ static_cast<Wide>((square * b) >> 37);
    }
};
struct WideQuotient {
    __device__ Wide operator()(Wide a, Wide b) const {
        const unsigned __int128 top = static_cast<unsigned __int128>(a) << 64 | b;
        return static_cast<Wide>(top / ((static_cast<unsigned __int128>(b >> 40) << 45) + a + 1));
    }
};
/// The greatest common divisor, by remainders.
__global__ void common_divisor(const Wide* a, const Wide* b, unsigned* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned x = static_cast<unsigned>(a[i]), y = static_cast<unsigned>(b[i]);
        while (y != 0) {
            const unsigned rest = x % y;
            x = y, y = rest;
        }
        out[i] = x;
    }
}

/// `reference` is the same on the host.
template <class F, class T, class Reference>
void apply(const char* name, const std::vector<T>& a, const std::vector<T>& b, int count, int blocks,
           double tolerance, Reference reference) {
    const Array<T> first(a), second(b);
    Array<T> out(count);
    prepare();
    map_pairs<F, T><<<blocks, 256>>>(F{}, first.data(), second.data(), out.data(), count);
    finish(name);
    const std::vector<T> got = out.values();
    for (int i = 0; i < count; i += 7) {
        if constexpr (std::is_integral_v<T>) {
            check(got[i] == reference(a[i], b[i]), name);
        } else {
            const double expected = reference(static_cast<double>(a[i]), static_cast<double>(b[i]));
            const double error = std::fabs(static_cast<double>(got[i]) - expected);
            if (!(error <= tolerance * std::max(1.0, std::fabs(expected)))) {
                std::printf("wrong %s of %.9g, %.9g: %.9g, expected %.9g\n", name, static_cast<double>(a[i]),
                            static_cast<double>(b[i]), static_cast<double>(got[i]), expected);
                std::exit(1);
            }
        }
    }
    output(name, got);
}
template <class T>
std::vector<T> scaled(int count, std::uint64_t seed, double factor, double offset = 0.0) {
    std::vector<T> values(count);
    for (int i = 0; i < count; ++i) values[i] = static_cast<T>(offset + factor * random_float(seed, i));
    return values;
}
/// Magnitudes over many powers of two.
template <class T>
std::vector<T> spread(int count, std::uint64_t seed, int low, int high) {
    std::vector<T> values(count);
    for (int i = 0; i < count; ++i) {
        const float x = 1.5F + 0.49F * random_float(seed, i);
        values[i] =
            std::ldexp(static_cast<T>(x), low + static_cast<int>(random_bits(seed + 1, i) % (high - low)));
    }
    return values;
}

void body() {
    const auto remainders = [](double a, double b) { return std::fmod(a, b) + 0.5 * std::remainder(b, a); };
    const int million = 1 << 20, wide = 132 * 8;
    const std::vector<float> near = scaled<float>(3 * million, 1, 2.0, 4.0),
                             nearby = scaled<float>(3 * million, 2, 3.0);
    apply<Remainders>("near remainders", near, nearby, 3 * million, wide, 1e-6, remainders);
    apply<Remainders>("far remainders", spread<float>(million, 3, -10, 40),
                      spread<float>(million, 5, -20, 10), million, wide, 1e-6, remainders);
    apply<DoubleRemainder>("double remainders", spread<double>(million / 4, 7, 0, 60),
                           spread<double>(million / 4, 9, -8, 4), million / 4 - 5, 132 * 4, 1e-15,
                           [](double a, double b) { return std::fmod(a, b); });
    apply<Powers>("powers", near, nearby, 3 * million - 100, wide, 1e-5,
                  [](double a, double b) { return std::pow(std::fabs(a), b); });
    apply<DoublePowers>("double powers", scaled<double>(million / 2, 11, 5.0),
                        scaled<double>(million / 2, 12, 9.0), million / 2, wide, 1e-12,
                        [](double a, double b) { return std::pow(std::fabs(a), b); });
    apply<Gammas>("gammas", scaled<float>(million, 13, 7.5, 8.0), scaled<float>(million, 14, 30.0, 30.5),
                  million, wide, 1e-4, [](double a, double b) { return std::tgamma(a) + std::lgamma(b); });
    apply<Bessel>("bessel", scaled<float>(million, 15, 12.0), scaled<float>(million, 16, 40.0), million, wide,
                  1e-4, [](double a, double b) { return ::j0(a) + 0.25 * ::j1(b); });
    const std::vector<float> wider = scaled<float>(2 * million, 17, 3e6),
                             small = scaled<float>(2 * million, 18, 3.0);
    {
        const Array<float> first(small), second(near);
        Array<float> out(2 * million);
        prepare();
        map_pairs<<<wide, 256>>>(Normals{}, first.data(), second.data(), out.data(), 2 * million);
        finish("normals");
        output("normals", out);
        prepare();
        map_pairs<<<2 * million / 256, 256>>>(Angles{}, first.data(), second.data(), out.data(), 2 * million);
        finish("angles");
        output("angles", out);
        const Array<float> far(wider);
        prepare();
        map_pairs<<<2 * million / 256, 256>>>(Angles{}, far.data(), second.data(), out.data(), million + 33);
        finish("far angles");
        output("far angles", out);
    }
    apply<Roots>("roots", small, wider, 2 * million, wide, 1e-5, [](double a, double b) {
        return std::hypot(a, b) - std::cbrt(a * b) + std::acosh(1.0 + std::fabs(b));
    });
    apply<Quadratic>("quadratic", scaled<double>(million, 19, 2.0), scaled<double>(million, 20, 1.0), million,
                     wide, 1e-14, [](double a, double b) {
                         const double d = b * b + std::fabs(a), root = std::sqrt(d);
                         return b / (1.0 + root) + (a - 0.5) / (root + std::fabs(b) + 0.125) +
                                1.0 / std::sqrt(d + 1.0);
                     });
    std::vector<Wide> a(million), b(million);
    for (int i = 0; i < million; ++i) {
        a[i] = static_cast<Wide>(random_bits(21, i)) << 32 | random_bits(22, i);
        b[i] = (static_cast<Wide>(random_bits(23, i)) << 32 | random_bits(24, i)) >> random_bits(25, i) % 60;
    }
    apply<WideDivision>("wide division", a, b, million, wide, 0.0, [](Wide x, Wide y) {
        const long long sy = static_cast<long long>(y | 1) >> 3;
        return x / (y | 1) + 3 * (x % (y | 1)) +
               static_cast<Wide>(static_cast<long long>(x) / (sy == 0 ? 1 : sy));
    });
    apply<HighProduct>("high product", a, b, million, wide, 0.0, [](Wide x, Wide y) {
        const unsigned __int128 square = static_cast<unsigned __int128>(x) * x + y;
        return static_cast<Wide>(square >> 64) ^ static_cast<Wide>((square * y) >> 37);
    });
    apply<ProductModulo>("product modulo", a, b, million / 4, wide, 0.0, [](Wide x, Wide y) {
        return static_cast<Wide>(static_cast<unsigned __int128>(x) * (y ^ 0x9E3779B97F4A7C15ULL) % (y | 1));
    });
    apply<WideQuotient>("wide quotient", a, b, million / 4, wide, 0.0, [](Wide x, Wide y) {
        const unsigned __int128 top = static_cast<unsigned __int128>(x) << 64 | y;
        return static_cast<Wide>(top / ((static_cast<unsigned __int128>(y >> 40) << 45) + x + 1));
    });
    const Array<Wide> first(a), second(b);
    Array<unsigned> divisors(million);
    prepare();
    common_divisor<<<132 * 4, 128>>>(first.data(), second.data(), divisors.data(), million / 2);
    finish("common divisor");
    const std::vector<unsigned> got = divisors.values();
    for (int i = 0; i < million / 2; i += 3) {
        unsigned x = static_cast<unsigned>(a[i]), y = static_cast<unsigned>(b[i]);
        while (y != 0) x = std::exchange(y, x % y);
        check(got[i] == x, "common divisor");
    }
    output("divisors", divisors);
}

int main() {
    return run(body);
}
