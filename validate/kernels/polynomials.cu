// Polynomials in double and single precision: by Horner with one and four chains and by Estrin, Chebyshev
// sums, a quotient with a square root, coefficients of each place's own from memory, and roots by Newton's
// steps.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int most = 64;
__constant__ double coefficients[most];

/// One long chain a thread.
template <class T, int degree>
__global__ void horner(const T* x, T* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const T at = x[i];
    T value = static_cast<T>(coefficients[degree]);
#pragma unroll
    for (int k = degree - 1; k >= 0; --k) value = value * at + static_cast<T>(coefficients[k]);
    to[i] = value;
}

/// Four places a thread: four chains at once.
template <class T, int degree>
__global__ void horner_of_four(const T* x, T* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = count / 4;
    if (i >= quarter) return;
    T at[4], values[4];
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        at[part] = x[i + part * quarter];
        values[part] = static_cast<T>(coefficients[degree]);
    }
#pragma unroll
    for (int k = degree - 1; k >= 0; --k) {
#pragma unroll
        for (int part = 0; part < 4; ++part)
            values[part] = values[part] * at[part] + static_cast<T>(coefficients[k]);
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) to[i + part * quarter] = values[part];
}

/// So many terms from `begin` on, by halves; `powers` are x, x^2, x^4 and so on.
template <class T, int begin, int width, int level>
__device__ T halves(const T* powers) {
    if constexpr (width == 1) {
        return static_cast<T>(coefficients[begin]);
    } else {
        return halves<T, begin, width / 2, level - 1>(powers) +
               powers[level - 1] * halves<T, begin + width / 2, width / 2, level - 1>(powers);
    }
}

/// Pairs, then pairs of pairs: short chains, more registers.
template <class T, int levels>
__global__ void estrin(const T* x, T* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    T powers[levels];
    powers[0] = x[i];
#pragma unroll
    for (int k = 1; k < levels; ++k) powers[k] = powers[k - 1] * powers[k - 1];
    to[i] = halves<T, 0, 1 << levels, levels>(powers);
}

/// Chebyshev's sum by Clenshaw.
template <class T, int degree>
__global__ void clenshaw(const T* x, T* to, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const T at = x[i];
        T a = 0, b = 0;
#pragma unroll
        for (int k = degree; k > 0; --k) {
            const T c = 2 * at * a - b + static_cast<T>(coefficients[k]);
            b = a;
            a = c;
        }
        to[i] = at * a - b + static_cast<T>(coefficients[0]);
    }
}

/// The quotient of two polynomials, and its square root.
template <class T, int degree>
__global__ void rational(const T* x, T* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const T at = x[i];
    T above = static_cast<T>(coefficients[degree]), below = above;
#pragma unroll
    for (int k = degree - 1; k >= 0; --k) {
        above = above * at + static_cast<T>(coefficients[k]);
        below = below * -at + static_cast<T>(coefficients[k]);
    }
    to[i] = above / (T(4) + below * below) + sqrt(T(1) + at * at);
}

/// Each place has coefficients of its own, one row after another.
template <class T, int degree>
__global__ void own_coefficients(const T* x, const T* rows, T* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const T at = x[i], *row = rows + static_cast<std::size_t>(i) * (degree + 1);
    T value = row[degree];
    for (int k = degree - 1; k >= 0; --k) value = value * at + row[k];
    to[i] = value;
}

/// A root near each place, by Newton's steps until they are small.
template <class T, int degree>
__global__ void newton(const T* x, T* roots, int* turns, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    T at = x[i] * T(2);
    int turn = 0;
    for (; turn < 40; ++turn) {
        T value = static_cast<T>(coefficients[degree]), slope = 0;
#pragma unroll
        for (int k = degree - 1; k >= 0; --k) {
            slope = slope * at + value;
            value = value * at + static_cast<T>(coefficients[k]);
        }
        const T step = value / slope;
        at -= step;
        if (fabs(step) < T(sizeof(T) == 8 ? 1e-12 : 1e-5)) break;
    }
    roots[i] = at;
    turns[i] = turn;
}

template <class T>
void all_of(int count, const std::string& type) {
    constexpr int levels = 6, degree = (1 << levels) - 1, own_degree = 31;
    std::vector<double> numbers(most);
    for (int k = 0; k < most; ++k) numbers[k] = random_float(1, k) + (k == 0 ? 2.0 : 0.0);
    require(cudaMemcpyToSymbol(coefficients, numbers.data(), most * sizeof(double)), "coefficients");
    const auto places = random_values<T>(count, 2);
    const auto rows = random_values<T>(static_cast<std::size_t>(count) * (own_degree + 1), 3);
    std::vector<double> plain(count), chebyshev(count), quotients(count), own(count);
    for (int i = 0; i < count; ++i) {
        const double at = places[i];
        double below = 0, last = at, before = 1;
        chebyshev[i] = numbers[0];
        for (int k = degree; k >= 0; --k) {
            plain[i] = plain[i] * at + numbers[k];
            below = below * -at + numbers[k];
            if (k <= own_degree)
                own[i] = own[i] * at + rows[static_cast<std::size_t>(i) * (own_degree + 1) + k];
        }
        for (int k = 1; k <= degree; ++k) {
            chebyshev[i] += numbers[k] * last;
            const double next = 2 * at * last - before;
            before = last;
            last = next;
        }
        quotients[i] = plain[i] / (4 + below * below) + std::sqrt(1 + at * at);
    }
    const Array<T> x(places), row_array(rows);
    Array<T> to(count);
    const double tolerance = sizeof(T) == 8 ? 1e-11 : 1e-4;
    const int blocks = (count + 255) / 256;
    const auto look = [&](const char* what, const std::vector<double>& expected) {
        finish(what);
        check_close(to.values(), expected, tolerance, what);
        output((what + ("_" + type)).c_str(), to);
        to.zero();
    };
    prepare();
    horner<T, degree><<<blocks, 256>>>(x.data(), to.data(), count);
    look("horner", plain);
    prepare();
    horner_of_four<T, degree><<<(count / 4 + 127) / 128, 128>>>(x.data(), to.data(), count);
    look("horner_of_four", plain);
    prepare();
    estrin<T, levels><<<blocks, 256>>>(x.data(), to.data(), count);
    look("estrin", plain);
    prepare();
    clenshaw<T, degree><<<264, 512>>>(x.data(), to.data(), count);
    look("clenshaw", chebyshev);
    prepare();
    rational<T, degree><<<blocks, 256>>>(x.data(), to.data(), count);
    look("rational", quotients);
    prepare();
    own_coefficients<T, own_degree><<<(count + 63) / 64, 64>>>(x.data(), row_array.data(), to.data(), count);
    look("own", own);

    const std::vector<double> quartic = {0.25, 2.2, -3.3, -0.6, 1.0};
    numbers.assign(most, 0.0);
    std::copy(quartic.begin(), quartic.end(), numbers.begin());
    require(cudaMemcpyToSymbol(coefficients, numbers.data(), most * sizeof(double)), "coefficients");
    Array<int> turns(count);
    prepare();
    newton<T, 4><<<blocks, 256>>>(x.data(), to.data(), turns.data(), count);
    finish("newton");
    const auto roots = to.values();
    const auto steps = turns.values();
    for (int i = 0; i < count; ++i) {
        double value = 0;
        for (int k = 4; k >= 0; --k) value = value * roots[i] + quartic[k];
        check(steps[i] == 40 || std::fabs(value) < (sizeof(T) == 8 ? 1e-9 : 1e-2), "newton");
    }
    output(("steps_" + type).c_str(), std::vector<float>(steps.begin(), steps.end()));
}

void body() {
    all_of<double>(1 << 20, "double");
    all_of<float>(1 << 19, "float");
    all_of<double>(1 << 14, "few_doubles");
}

int main() {
    return run(body);
}
