// Elementary functions, eight a thread: exact and fast sines, exponentials and logarithms, powers, roots and
// the error function in single precision, and exponentials and reciprocal roots in double precision.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, evaluations = 8;

// A function has the type of its argument, the range of arguments, the error allowed against the largest
// result, and itself for the device and for the host.
struct Sine {
    using Number = float;
    static constexpr double lowest = -3.0, highest = 3.0, tolerance = 1e-6;
    static __device__ float compute(float x) { return sinf(x); }
    static double exact(double x) { return std::sin(x); }
};
/// Arguments so large that they are reduced with many bits of pi.
struct SineOfLarge : Sine {
    static constexpr double lowest = 200000.0, highest = 9000000.0;
};
struct FastSine : Sine {
    static __device__ float compute(float x) { return __sinf(x); }
};
struct Exponential {
    using Number = float;
    static constexpr double lowest = -4.0, highest = 4.0, tolerance = 1e-6;
    static __device__ float compute(float x) { return expf(x); }
    static double exact(double x) { return std::exp(x); }
};
struct FastExponential : Exponential {
    static constexpr double tolerance = 5e-6;
    static __device__ float compute(float x) { return __expf(x); }
};
struct Logarithm {
    using Number = float;
    static constexpr double lowest = 0.01, highest = 100.0, tolerance = 1e-6;
    static __device__ float compute(float x) { return logf(x); }
    static double exact(double x) { return std::log(x); }
};
struct FastLogarithm : Logarithm {
    static __device__ float compute(float x) { return __logf(x); }
};
struct Power {
    using Number = float;
    static constexpr double lowest = 0.01, highest = 10.0, tolerance = 3e-6;
    static __device__ float compute(float x) { return powf(x, 1.75F + x); }
    static double exact(double x) { return std::pow(x, static_cast<double>(1.75F + static_cast<float>(x))); }
};
struct Root {
    using Number = float;
    static constexpr double lowest = 0.0, highest = 10.0, tolerance = 1e-6;
    static __device__ float compute(float x) { return sqrtf(x); }
    static double exact(double x) { return std::sqrt(x); }
};
struct ApproximateRoot : Root {
    static __device__ float compute(float x) {
        float root;
        asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
        return root;
    }
};
struct ReciprocalRoot {
    using Number = float;
    static constexpr double lowest = 0.1, highest = 10.0, tolerance = 1e-6;
    static __device__ float compute(float x) { return rsqrtf(x); }
    static double exact(double x) { return 1.0 / std::sqrt(x); }
};
struct ErrorFunction {
    using Number = float;
    static constexpr double lowest = -2.0, highest = 2.0, tolerance = 1e-6;
    static __device__ float compute(float x) { return erff(x); }
    static double exact(double x) { return std::erf(x); }
};
struct DoubleExponential {
    using Number = double;
    static constexpr double lowest = -4.0, highest = 4.0, tolerance = 1e-14;
    static __device__ double compute(double x) { return exp(x); }
    static double exact(double x) { return std::exp(x); }
};
struct DoubleReciprocalRoot {
    using Number = double;
    static constexpr double lowest = 0.1, highest = 10.0, tolerance = 1e-14;
    static __device__ double compute(double x) { return rsqrt(x); }
    static double exact(double x) { return 1.0 / std::sqrt(x); }
};

/// Sums eight values: element k of each thread's arguments lies at k * count + i.
template <class Function>
__global__ void evaluate(const typename Function::Number* from, typename Function::Number* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        typename Function::Number sum = 0;
#pragma unroll
        for (int k = 0; k < evaluations; ++k) {
            sum += Function::compute(from[k * count + i]);
        }
        to[i] = sum;
    }
}

template <class Function>
void evaluate_all(const char* name, int count) {
    using Number = typename Function::Number;
    std::vector<Number> arguments(static_cast<std::size_t>(count) * evaluations);
    std::vector<double> expected(count, 0.0);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const double place = 0.5 + 0.5 * random_float(1, i);
        arguments[i] = static_cast<Number>(Function::lowest + (Function::highest - Function::lowest) * place);
        expected[i % count] += Function::exact(arguments[i]);
    }
    const Array<Number> from(arguments), to(count);
    prepare();
    evaluate<Function><<<(count + threads - 1) / threads, threads>>>(from.data(), to.data(), count);
    finish(name);
    const auto result = to.values();
    check_close(result, expected, Function::tolerance, name);
    output(name, result);
}

void body() {
    constexpr int small = 30001, large = (1 << 17) + 77;
    evaluate_all<Sine>("sine", small);
    evaluate_all<Sine>("sine", large);
    evaluate_all<SineOfLarge>("sine_of_large", large);
    evaluate_all<FastSine>("fast_sine", large);
    evaluate_all<Exponential>("exponential", large);
    evaluate_all<FastExponential>("fast_exponential", large);
    evaluate_all<Logarithm>("logarithm", large);
    evaluate_all<FastLogarithm>("fast_logarithm", large);
    evaluate_all<Power>("power", large);
    evaluate_all<Root>("root", large);
    evaluate_all<ApproximateRoot>("approximate_root", large);
    evaluate_all<ReciprocalRoot>("reciprocal_root", large);
    evaluate_all<ErrorFunction>("error_function", large);
    evaluate_all<DoubleExponential>("double_exponential", small);
    evaluate_all<DoubleExponential>("double_exponential", large);
    evaluate_all<DoubleReciprocalRoot>("double_reciprocal_root", large);
}

int main() {
    return run(body);
}
