// Kernels in the manner of C++20: spans, arrays, tuples, optionals and multidimensional views of three
// layouts and two index types for stencils, transposes and small products, functors given to a for-each
// kernel, power series of complex numbers, expression templates, and visits of tagged alternatives.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <concepts>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

using namespace textbook;
namespace cs = cuda::std;

template <class Index>
using Plane = cs::dextents<Index, 2>;
template <class Index, class T = float>
using Rows = cs::mdspan<T, Plane<Index>, cs::layout_right>;
template <class Index, class T = float>
using Columns = cs::mdspan<T, Plane<Index>, cs::layout_left>;
template <class Index, class T = float>
using Strided = cs::mdspan<T, Plane<Index>, cs::layout_stride>;

/// A five-point step; works on any view of two dimensions.
template <class In, class Out>
requires(In::rank() == 2 && Out::rank() == 2) __global__ void five_points(In in, Out out) {
    using Index = typename In::index_type;
    const Index x = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    const Index y = static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x + 1 >= in.extent(1) || y + 1 >= in.extent(0)) return;
    out(y, x) = 0.5F * in(y, x) + 0.125F * (in(y, x - 1) + in(y, x + 1) + in(y - 1, x) + in(y + 1, x));
}
/// Whatever the layouts are: the same element of both views.
template <class In, class Out>
__global__ void assign(In in, Out out) {
    const auto x = blockIdx.x * blockDim.x + threadIdx.x;
    for (auto y = blockIdx.y * blockDim.y + threadIdx.y; y < in.extent(0); y += gridDim.y * blockDim.y)
        if (x < in.extent(1)) out(y, x) = in(y, x);
}
/// A thread a small matrix, whose extents the compiler knows.
template <class T, std::size_t... fixed>
using Batch = cs::mdspan<T, cs::extents<int, cs::dynamic_extent, fixed...>>;
template <int n>
__global__ void small_products(Batch<const float, n, n> matrices, Batch<const float, n> vectors,
                               Batch<float, n> results) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= matrices.extent(0)) return;
    cs::array<float, n> v{};
    for (int k = 0; k < n; ++k) v[k] = vectors(i, k);
    for (int j = 0; j < n; ++j) {
        float sum = 0.0F;
        for (int k = 0; k < n; ++k) sum += matrices(i, j, k) * v[k];
        results(i, j) = sum;
    }
}

template <std::invocable<std::size_t> F>
__global__ void for_each_index(std::size_t count, F f) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step)
        f(i);
}
/// One by the square root, where there is any and it is not small.
struct MaybeRoot {
    cs::span<const float> in;
    cs::span<float> out;
    __device__ static cs::optional<float> root(float x) {
        return x < 0.0F ? cs::nullopt : cs::optional<float>{sqrtf(x)};
    }
    __device__ static cs::optional<float> inverse(cs::optional<float> x) {
        if (!x || *x < 0.25F) return cs::nullopt;
        return 1.0F / *x;
    }
    __device__ void operator()(std::size_t i) const { out[i] = inverse(root(in[i])).value_or(in[i]); }
};
/// Least, greatest and sum of a window, returned as a tuple.
struct WindowSpread {
    cs::span<const float> in;
    cs::span<float> out;
    __device__ static cs::tuple<float, float, float> spread(cs::span<const float> window) {
        float least = window.front(), most = window.front(), sum = 0.0F;
        for (const float x : window) {
            least = fminf(least, x), most = fmaxf(most, x);
            sum += x;
        }
        return {least, most, sum};
    }
    __device__ void operator()(std::size_t i) const {
        const auto [least, most, sum] = spread(in.subspan(i, in.size() - i < 7 ? in.size() - i : 7));
        out[i] = (most - least) + 0.125F * sum;
    }
};
/// Terms of the exponential's series.
struct ComplexSeries {
    cs::span<const cs::complex<float>> in;
    cs::span<cs::complex<float>> out;
    int terms;
    __device__ void operator()(std::size_t i) const {
        const cs::complex<float> z = in[i];
        cs::complex<float> sum{1.0F, 0.0F}, term{1.0F, 0.0F};
        for (int k = 1; k <= terms; ++k) {
            term *= z / static_cast<float>(k);
            sum += term;
        }
        out[i] = sum;
    }
};

/// Expression templates: sums and products of vectors are evaluated by one kernel.
template <class E>
concept Expression = requires(E e, std::size_t i) {
    { e[i] } -> std::convertible_to<float>;
    typename E::is_expression;
};
struct Vector {
    using is_expression = void;
    const float* data;
    __device__ float operator[](std::size_t i) const { return data[i]; }
};
struct Scalar {
    using is_expression = void;
    float value;
    __device__ float operator[](std::size_t) const { return value; }
};
struct Plus {
    __device__ static float apply(float a, float b) { return a + b; }
};
struct Times {
    __device__ static float apply(float a, float b) { return a * b; }
};
template <class Op, class A, class B>
struct Binary {
    using is_expression = void;
    A a;
    B b;
    __device__ float operator[](std::size_t i) const { return Op::apply(a[i], b[i]); }
};
template <Expression A, Expression B>
Binary<Plus, A, B> operator+(A a, B b) {
    return {a, b};
}
template <Expression A, Expression B>
Binary<Times, A, B> operator*(A a, B b) {
    return {a, b};
}
template <class E>
struct Assign {
    float* out;
    E e;
    __device__ void operator()(std::size_t i) const { out[i] = e[i]; }
};

/// A tagged union of alternatives; a visit tries their tags one after another.
struct Gain {
    float factor;
    __device__ float operator()(float x) const { return factor * x; }
};
struct Clip {
    float low, high;
    __device__ float operator()(float x) const { return fminf(fmaxf(x, low), high); }
};
struct Wave {
    float rate, phase, size;
    __device__ float operator()(float x) const { return size * __sinf(rate * x + phase); }
};
struct Fold {
    float period;
    __device__ float operator()(float x) const { return x - period * floorf(x / period); }
};
template <class... Kinds>
struct Variant {
    float fields[3];
    int tag;
    template <std::size_t... tags>
    __device__ float visit(float x, cs::index_sequence<tags...>) const {
        float result = x;
        ((tag == static_cast<int>(tags) ? (result = as<Kinds>()(x), true) : false) || ...);
        return result;
    }
    template <class Kind>
    __device__ Kind as() const {
        Kind kind;
        memcpy(&kind, fields, sizeof(Kind));
        return kind;
    }
    __device__ float operator()(float x) const { return visit(x, cs::index_sequence_for<Kinds...>{}); }
};
using Effect = Variant<Gain, Clip, Wave, Fold>;
static_assert(sizeof(Effect) == 16);
struct ApplyEffects {
    cs::span<const Effect> effects;
    cs::span<const float> in;
    cs::span<float> out;
    __device__ void operator()(std::size_t i) const {
        float x = in[i];
        for (std::size_t k = 0; k < 3; ++k) x = effects[(i / 8 + k * 5) % effects.size()](x);
        out[i] = x;
    }
};

void body() {
    const int height = 2500, width = 3001, cells = height * width;
    const std::vector<float> host = random_values<float>(cells, 1), other = random_values<float>(cells, 2);
    const Array<float> in(host), second(other);
    Array<float> out(cells);
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    const auto stepped = [&](int y, int x) {
        const float* at = host.data() + y * width + x;
        return y < 1 || x < 1 || y + 1 >= height || x + 1 >= width
                   ? 0.0
                   : 0.5 * at[0] + 0.125 * (at[-1] + at[1] + at[-width] + at[width]);
    };
    std::vector<double> expected(cells);
    for (int i = 0; i < cells; ++i) expected[i] = stepped(i / width, i % width);
    prepare();
    five_points<<<grid, block>>>(Rows<int, const float>(in.data(), height, width),
                                 Rows<int>(out.data(), height, width));
    finish("rows");
    check_close(out.values(), expected, 1e-6, "rows");
    output("rows", out);
    out.zero();
    prepare();
    five_points<<<grid, block>>>(Rows<std::size_t, const float>(in.data(), height, width),
                                 Columns<std::size_t>(out.data(), height, width));
    finish("rows to columns");
    const std::vector<float> columns = out.values();
    for (int y = 1; y + 1 < height; ++y)
        for (int x = 1; x + 1 < width; ++x)
            check(std::fabs(columns[x * height + y] - expected[y * width + x]) < 1e-6, "columns");
    output("columns", out);
    // Every second column of every second row, in place of a copy.
    const int half_height = height / 2, half_width = width / 2;
    const Strided<long long, const float> halves(
        in.data(), {Plane<long long>(half_height, half_width), cs::array<long long, 2>{2LL * width, 2}});
    out.zero();
    prepare();
    five_points<<<dim3((half_width + 31) / 32, (half_height + 7) / 8), block>>>(
        halves, Rows<long long>(out.data(), half_height, half_width));
    finish("strided");
    output("strided", out);
    prepare();
    assign<<<dim3((width + 31) / 32, 160), block>>>(Rows<unsigned, const float>(in.data(), height, width),
                                                    Columns<unsigned>(out.data(), height, width));
    finish("assign");
    const std::vector<float> transposed = out.values();
    for (int i = 0; i < cells; ++i)
        check(transposed[i % width * height + i / width] == host[i], "transposed");
    output("transposed", transposed);
    const int batch4 = 400001, batch7 = 60000;
    prepare();
    small_products<4><<<(batch4 + 127) / 128, 128>>>(Batch<const float, 4, 4>(in.data(), batch4),
                                                     Batch<const float, 4>(second.data(), batch4),
                                                     Batch<float, 4>(out.data(), batch4));
    finish("products of 4");
    std::vector<float> got = out.values();
    for (int i = 0; i < batch4 * 4; ++i) {
        double sum = 0.0;
        for (int k = 0; k < 4; ++k) sum += static_cast<double>(host[i * 4 + k]) * other[i / 4 * 4 + k];
        check(std::fabs(got[i] - sum) < 1e-5, "products of 4");
    }
    output("products of 4", got);
    prepare();
    small_products<7><<<(batch7 + 63) / 64, 64>>>(Batch<const float, 7, 7>(in.data(), batch7),
                                                  Batch<const float, 7>(second.data(), batch7),
                                                  Batch<float, 7>(out.data(), batch7));
    finish("products of 7");
    output("products of 7", out);
    const auto size = static_cast<std::size_t>(cells);
    const cs::span<const float> from(in.data(), size);
    const cs::span<float> to(out.data(), size);
    prepare();
    for_each_index<<<132 * 8, 256>>>(size, MaybeRoot{from, to});
    finish("optional");
    output("optional", out);
    prepare();
    for_each_index<<<132 * 16, 128>>>(size, WindowSpread{from, to});
    finish("windows");
    output("windows", out);
    using Complex = cs::complex<float>;
    const std::size_t numbers = 700000;
    prepare();
    for_each_index<<<(numbers + 255) / 256, 256>>>(
        numbers, ComplexSeries{{reinterpret_cast<const Complex*>(in.data()), numbers},
                               {reinterpret_cast<Complex*>(out.data()), numbers},
                               10});
    finish("series");
    got = out.values();
    for (std::size_t i = 0; i < numbers; ++i) {
        const double size_of = std::exp(static_cast<double>(host[2 * i]));
        check(std::fabs(got[2 * i] - size_of * std::cos(host[2 * i + 1])) < 1e-5, "series");
    }
    output("series", got);
    const Vector a{in.data()}, b{second.data()};
    const auto expression = a * b + Scalar{2.0F} * a * a + (b + Scalar{0.5F}) * (a + b);
    prepare();
    for_each_index<<<(cells + 255) / 256, 256>>>(size, Assign<decltype(expression)>{out.data(), expression});
    finish("expression");
    for (int i = 0; i < cells; ++i)
        expected[i] = host[i] * other[i] + 2.0 * host[i] * host[i] + (other[i] + 0.5) * (host[i] + other[i]);
    check_close(out.values(), expected, 1e-6, "expression");
    output("expression", out);
    std::vector<Effect> host_effects(29);
    for (int i = 0; i < 29; ++i)
        host_effects[i] = {{0.3F + 0.05F * i, 1.0F + 0.1F * i, 0.8F},
                           static_cast<int>(random_bits(3, i) % 4)};
    Array<Effect> effects(host_effects);
    prepare();
    for_each_index<<<132 * 8, 256>>>(size / 2, ApplyEffects{{effects.data(), effects.size()}, from, to});
    finish("effects");
    output("effects", out);
}

int main() {
    return run(body);
}
