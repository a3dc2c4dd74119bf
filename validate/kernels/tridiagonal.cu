// Many tridiagonal systems: a thread a system from front to back, with systems interleaved and with a
// system's numbers together; a CTA a system in shared memory by cyclic reduction and by its parallel form.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Row k of a system: a x[k - 1] + b x[k] + c x[k + 1] = d.
template <class T>
struct Systems {
    const T *a, *b, *c, *d;
    T *x, *factors;  // the solution, and room for as many numbers
    int count, size;
};

template <class T, bool interleaved>
__global__ void front_to_back(Systems<T> systems) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= systems.count) return;
    const int step = interleaved ? systems.count : 1, begin = interleaved ? i : i * systems.size;
    T factor = 0, value = 0;
    for (int k = 0; k < systems.size; ++k) {
        const int place = begin + k * step;
        const T a = systems.a[place], inverse = T(1) / (systems.b[place] - a * factor);
        factor = systems.c[place] * inverse;
        value = (systems.d[place] - a * value) * inverse;
        systems.factors[place] = factor;
        systems.x[place] = value;
    }
    value = 0;
    for (int k = systems.size - 1; k >= 0; --k) {
        const int place = begin + k * step;
        value = systems.x[place] - systems.factors[place] * value;
        systems.x[place] = value;
    }
}

/// A thread a row. Each step removes the neighbours that the step before left.
template <class T>
__global__ void parallel_reduction(Systems<T> systems) {
    extern __shared__ __align__(8) unsigned char room[];
    const int n = systems.size, k = threadIdx.x, place = blockIdx.x * n + k;
    T *as = reinterpret_cast<T*>(room), *bs = as + n, *cs = bs + n, *ds = cs + n;
    T a = systems.a[place], b = systems.b[place], c = systems.c[place], d = systems.d[place];
    for (int distance = 1; distance < n; distance *= 2) {
        as[k] = a;
        bs[k] = b;
        cs[k] = c;
        ds[k] = d;
        __syncthreads();
        T new_a = 0, new_c = 0;
        if (k >= distance) {
            const T factor = a / bs[k - distance];
            new_a = -factor * as[k - distance];
            b -= factor * cs[k - distance];
            d -= factor * ds[k - distance];
        }
        if (k + distance < n) {
            const T factor = c / bs[k + distance];
            new_c = -factor * cs[k + distance];
            b -= factor * as[k + distance];
            d -= factor * ds[k + distance];
        }
        a = new_a;
        c = new_c;
        __syncthreads();
    }
    systems.x[place] = d / b;
}

/// A thread two rows; half of the rows fall away in each step, and come back in turn.
template <class T>
__global__ void cyclic_reduction(Systems<T> systems) {
    extern __shared__ __align__(8) unsigned char room[];
    const int n = systems.size, threads = n / 2, begin = blockIdx.x * n;
    T *a = reinterpret_cast<T*>(room), *b = a + n, *c = b + n, *d = c + n, *x = d + n;
    for (int k = threadIdx.x; k < n; k += threads) {
        a[k] = systems.a[begin + k];
        b[k] = systems.b[begin + k];
        c[k] = systems.c[begin + k];
        d[k] = systems.d[begin + k];
    }
    __syncthreads();
    int distance = 1;
    for (int rows = n / 2; rows > 0; rows /= 2, distance *= 2) {
        if (static_cast<int>(threadIdx.x) < rows) {
            const int k = 2 * distance * (threadIdx.x + 1) - 1, left = k - distance, right = k + distance;
            const T factor = a[k] / b[left];
            b[k] -= factor * c[left];
            d[k] -= factor * d[left];
            a[k] = -factor * a[left];
            if (right < n) {
                const T other = c[k] / b[right];
                b[k] -= other * a[right];
                d[k] -= other * d[right];
                c[k] = -other * c[right];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) x[n - 1] = d[n - 1] / b[n - 1];
    __syncthreads();
    for (int rows = 1; rows < n; rows *= 2) {
        distance /= 2;
        if (static_cast<int>(threadIdx.x) < rows) {
            const int k = distance * (2 * threadIdx.x + 1) - 1;
            T value = d[k] - c[k] * x[k + distance];
            if (k >= distance) value -= a[k] * x[k - distance];
            x[k] = value / b[k];
        }
        __syncthreads();
    }
    for (int k = threadIdx.x; k < n; k += threads) systems.x[begin + k] = x[k];
}

template <class T>
void all_of(int count, int size, bool by_threads) {
    const std::size_t elements = static_cast<std::size_t>(count) * size;
    auto a = random_values<T>(elements, 1), b = random_values<T>(elements, 2);
    auto c = random_values<T>(elements, 3);
    const auto d = random_values<T>(elements, 4);
    for (T& number : b) number += 4;
    const Array<T> b_array(b), d_array(d);
    Array<T> a_array(elements), c_array(elements), x(elements), factors(elements);
    const Systems<T> systems = {a_array.data(), b_array.data(), c_array.data(), d_array.data(),
                                x.data(),       factors.data(), count,          size};
    // The first row has no row before it, the last none behind.
    const auto begin = [&](bool interleaved) {
        a = random_values<T>(elements, 1);
        c = random_values<T>(elements, 3);
        for (int i = 0; i < count; ++i) {
            a[interleaved ? i : static_cast<std::size_t>(i) * size] = 0;
            c[interleaved ? elements - 1 - i : static_cast<std::size_t>(i + 1) * size - 1] = 0;
        }
        a_array.copy_from(a);
        c_array.copy_from(c);
        x.zero();
        prepare();
    };
    // The rows of every 31st system must come out right.
    const auto look = [&](const std::string& what, bool interleaved) {
        finish(what.c_str());
        const auto found = x.values();
        const std::size_t step = interleaved ? count : 1;
        for (int i = 0; i < count; i += 31) {
            for (int k = 0; k < size; ++k) {
                const std::size_t place = (interleaved ? i : static_cast<std::size_t>(i) * size) + k * step;
                double sum = static_cast<double>(b[place]) * found[place] - d[place];
                if (k > 0) sum += static_cast<double>(a[place]) * found[place - step];
                if (k + 1 < size) sum += static_cast<double>(c[place]) * found[place + step];
                check(std::fabs(sum) < (sizeof(T) == 4 ? 1e-5 : 1e-13), what.c_str());
            }
        }
        output((what + (sizeof(T) == 4 ? "_float_" : "_double_") + std::to_string(size)).c_str(), found);
    };
    if (by_threads) {
        begin(true);
        front_to_back<T, true><<<(count + 63) / 64, 64>>>(systems);
        look("interleaved", true);
        begin(false);
        front_to_back<T, false><<<(count + 63) / 64, 64>>>(systems);
        look("together", false);
    }
    begin(false);
    parallel_reduction<T><<<count, size, 4 * size * sizeof(T)>>>(systems);
    look("parallel_reduction", false);
    begin(false);
    cyclic_reduction<T><<<count, size / 2, 5 * size * sizeof(T)>>>(systems);
    look("cyclic_reduction", false);
}

void body() {
    all_of<float>(16384, 64, true);
    all_of<float>(4096, 256, true);
    all_of<float>(768, 1024, false);
    all_of<double>(8192, 64, true);
    all_of<double>(4096, 128, true);
    all_of<double>(1024, 512, false);
}

int main() {
    return run(body);
}
