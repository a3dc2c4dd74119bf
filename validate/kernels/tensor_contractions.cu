// Operators of high-order finite elements by contraction along each direction in turn: mass, diffusion and
// gradients of elements with 4 to 10 points a direction, one or several elements a block, in double and
// float, and the way from degrees of freedom of the whole mesh to elements and back.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Mass: to q points a direction, times weights there, and back. A thread a column of an element; `together`
/// elements.
template <class T, int n, int q, int together>
__global__ void __launch_bounds__(q* q* together)
    mass(const T* __restrict__ basis, const T* __restrict__ weights, const T* __restrict__ in,
         T* __restrict__ out, int elements) {
    __shared__ T b[q][n];
    __shared__ T first[together][n][n][n], second[together][n][n][q];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, element = blockIdx.x * together + z;
    const int thread = (z * q + y) * q + x;
    const bool used = element < elements;
    for (int i = thread; i < q * n; i += q * q * together) b[i / n][i % n] = basis[i];
    const std::size_t start = static_cast<std::size_t>(element) * n * n * n;
    if (used)
        for (int i = y * q + x; i < n * n * n; i += q * q)
            first[z][i / (n * n)][i / n % n][i % n] = in[start + i];
    __syncthreads();
    if (y < n) {
        for (int k = 0; k < n; ++k) {
            T sum = 0;
#pragma unroll
            for (int i = 0; i < n; ++i) sum += b[x][i] * first[z][k][y][i];
            second[z][k][y][x] = sum;
        }
    }
    __syncthreads();
    T column[n], back[n];
#pragma unroll
    for (int k = 0; k < n; ++k) {
        T sum = 0;
#pragma unroll
        for (int j = 0; j < n; ++j) sum += b[y][j] * second[z][k][j][x];
        column[k] = sum;
        back[k] = 0;
    }
    const T* weight = weights + static_cast<std::size_t>(element) * q * q * q + y * q + x;
#pragma unroll
    for (int p = 0; p < q; ++p) {
        T sum = 0;
#pragma unroll
        for (int k = 0; k < n; ++k) sum += b[p][k] * column[k];
        sum *= used ? weight[p * q * q] : T(0);
#pragma unroll
        for (int k = 0; k < n; ++k) back[k] += b[p][k] * sum;
    }
    // Back along y and x, plane by plane.
    __shared__ T plane[together][q][q], rows[together][n][q];
    for (int k = 0; k < n; ++k) {
        T own = 0;
#pragma unroll
        for (int m = 0; m < n; ++m) own = m == k ? back[m] : own;
        plane[z][y][x] = own;
        __syncthreads();
        if (y < n) {
            T sum = 0;
#pragma unroll
            for (int j = 0; j < q; ++j) sum += b[j][y] * plane[z][j][x];
            rows[z][y][x] = sum;
        }
        __syncthreads();
        if (used && x < n && y < n) {
            T sum = 0;
#pragma unroll
            for (int i = 0; i < q; ++i) sum += b[i][x] * rows[z][y][i];
            out[start + (k * n + y) * n + x] = sum;
        }
    }
}

/// What diffusion does at all layers of one element, column by column; factors: six a point, points side by
/// side.
template <class T, int n>
__device__ inline void diffuse(const T (&d)[n][n + 1], T (&plane)[n][n], T (&along_x)[n][n],
                               T (&along_y)[n][n], const T* __restrict__ factors, const T (&column)[n],
                               T (&result)[n], bool used) {
    const int x = threadIdx.x, y = threadIdx.y;
#pragma unroll
    for (int k = 0; k < n; ++k) result[k] = 0;
#pragma unroll
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        plane[y][x] = column[k];
        T g[6];
#pragma unroll
        for (int f = 0; f < 6; ++f) g[f] = used ? factors[f * n * n * n + (k * n + y) * n + x] : T(0);
        __syncthreads();
        T dx = 0, dy = 0, dz = 0;
#pragma unroll
        for (int m = 0; m < n; ++m) {
            dx += d[x][m] * plane[y][m];
            dy += d[y][m] * plane[m][x];
            dz += d[k][m] * column[m];
        }
        along_x[y][x] = g[0] * dx + g[1] * dy + g[2] * dz;
        along_y[y][x] = g[1] * dx + g[3] * dy + g[4] * dz;
        const T along_z = g[2] * dx + g[4] * dy + g[5] * dz;
        __syncthreads();
#pragma unroll
        for (int m = 0; m < n; ++m) {
            result[k] += d[m][x] * along_x[y][m] + d[m][y] * along_y[m][x];
            result[m] += d[k][m] * along_z;
        }
    }
}

template <class T, int n, int together>
__global__ void __launch_bounds__(n* n* together)
    diffusion(const T* __restrict__ derivative, const T* __restrict__ factors, const T* __restrict__ in,
              T* __restrict__ out, int elements) {
    __shared__ T d[n][n + 1], planes[3][together][n][n];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, element = blockIdx.x * together + z;
    const bool used = element < elements;
    if (z == 0) d[y][x] = derivative[y * n + x];
    const std::size_t start = static_cast<std::size_t>(element) * n * n * n;
    T column[n], result[n];
#pragma unroll
    for (int k = 0; k < n; ++k) column[k] = used ? in[start + (k * n + y) * n + x] : T(0);
    diffuse<T, n>(d, planes[0][z], planes[1][z], planes[2][z], factors + 6 * start, column, result, used);
    if (!used) return;
#pragma unroll
    for (int k = 0; k < n; ++k) out[start + (k * n + y) * n + x] = result[k];
}

/// The same from and to degrees of freedom that elements share.
template <class T, int n, int together>
__global__ void __launch_bounds__(n* n* together)
    assembled_diffusion(const T* __restrict__ derivative, const T* __restrict__ factors,
                        const int* __restrict__ map, const T* __restrict__ in, T* out, int elements) {
    __shared__ T d[n][n + 1], planes[3][together][n][n];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, element = blockIdx.x * together + z;
    const bool used = element < elements;
    if (z == 0) d[y][x] = derivative[y * n + x];
    const std::size_t start = static_cast<std::size_t>(element) * n * n * n;
    int places[n];
    T column[n], result[n];
#pragma unroll
    for (int k = 0; k < n; ++k) {
        places[k] = used ? map[start + (k * n + y) * n + x] : 0;
        column[k] = in[places[k]];
    }
    diffuse<T, n>(d, planes[0][z], planes[1][z], planes[2][z], factors + 6 * start, column, result, used);
    if (!used) return;
#pragma unroll
    for (int k = 0; k < n; ++k) atomicAdd(out + places[k], result[k]);
}

/// Gradients at all points, a thread a point, by the inverse Jacobian of the element (nine numbers each).
template <class T, int n>
__global__ void __launch_bounds__(n* n* n)
    gradients(const T* __restrict__ derivative, const T* __restrict__ jacobians, const T* __restrict__ in,
              T* __restrict__ out, int elements) {
    __shared__ T d[n][n], u[n][n][n], jacobian[9];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, thread = (z * n + y) * n + x;
    if (thread < n * n) d[thread / n][thread % n] = derivative[thread];
    const std::size_t points = static_cast<std::size_t>(elements) * n * n * n;
    for (int element = blockIdx.x; element < elements; element += gridDim.x) {
        const std::size_t at = static_cast<std::size_t>(element) * n * n * n + thread;
        if (thread < 9) jacobian[thread] = jacobians[element * 9 + thread];
        u[z][y][x] = in[at];
        __syncthreads();
        T dx = 0, dy = 0, dz = 0;
#pragma unroll
        for (int m = 0; m < n; ++m) {
            dx += d[x][m] * u[z][y][m];
            dy += d[y][m] * u[z][m][x];
            dz += d[z][m] * u[m][y][x];
        }
#pragma unroll
        for (int c = 0; c < 3; ++c)
            out[c * points + at] = jacobian[3 * c] * dx + jacobian[3 * c + 1] * dy + jacobian[3 * c + 2] * dz;
        __syncthreads();
    }
}

/// Small elements by half warps, which need no barrier of the block: values on a finer grid of 4 to 4 + 1
/// points.
template <class T>
__global__ void __launch_bounds__(128)
    refine(const T* __restrict__ basis, const T* __restrict__ in, T* __restrict__ out, int elements) {
    constexpr int n = 4, q = 5;
    __shared__ T b[q][n], u[8][n * n * n], along_x[8][n * n * q], along_y[8][n * q * q];
    const int group = threadIdx.x / 16, lane = threadIdx.x % 16;
    if (threadIdx.x < q * n) b[threadIdx.x / n][threadIdx.x % n] = basis[threadIdx.x];
    __syncthreads();
    const int element = min(static_cast<int>(blockIdx.x) * 8 + group, elements - 1);
    for (int i = lane; i < n * n * n; i += 16)
        u[group][i] = in[static_cast<std::size_t>(element) * n * n * n + i];
    __syncwarp();
    for (int i = lane; i < n * n * q; i += 16) {
        T sum = 0;
#pragma unroll
        for (int m = 0; m < n; ++m) sum += b[i % q][m] * u[group][i / q * n + m];
        along_x[group][i] = sum;
    }
    __syncwarp();
    for (int i = lane; i < n * q * q; i += 16) {
        T sum = 0;
#pragma unroll
        for (int m = 0; m < n; ++m)
            sum += b[i / q % q][m] * along_x[group][(i / (q * q) * n + m) * q + i % q];
        along_y[group][i] = sum;
    }
    __syncwarp();
    for (int i = lane; i < q * q * q; i += 16) {
        T sum = 0;
#pragma unroll
        for (int m = 0; m < n; ++m) sum += b[i / (q * q)][m] * along_y[group][m * q * q + i % (q * q)];
        out[static_cast<std::size_t>(element) * q * q * q + i] = sum;
    }
}

/// From the whole mesh to elements, and back by atomic sums.
__global__ void gather(const int* __restrict__ map, const double* __restrict__ in, double* out, int points) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < points) out[i] = in[map[i]];
}
__global__ void scatter(const int* __restrict__ map, const double* __restrict__ in, double* out, int points) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += gridDim.x * blockDim.x)
        atomicAdd(out + map[i], in[i]);
}

/// Points of an element along a direction, and polynomials through them.
struct Basis {
    explicit Basis(int n) {
        for (int i = 0; i < n; ++i) {
            nodes.push_back(-std::cos(3.14159265358979 * i / (n - 1)));
            scales.push_back((i % 2 == 0 ? 1.0 : -1.0) * (i == 0 || i == n - 1 ? 0.5 : 1.0));
        }
    }
    template <class T>
    std::vector<T> derivative() const {
        const std::size_t n = nodes.size();
        std::vector<T> d(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0.0;
            for (std::size_t j = 0; j < n; ++j)
                if (j != i) {
                    const double value = scales[j] / scales[i] / (nodes[i] - nodes[j]);
                    d[i * n + j] = static_cast<T>(value);
                    sum -= value;
                }
            d[i * n + i] = static_cast<T>(sum);
        }
        return d;
    }
    template <class T>
    std::vector<T> at_points(int q) const {
        std::vector<T> b;
        for (int p = 0; p < q; ++p) {
            const double x = -std::cos(3.14159265358979 * (p + 0.47) / q);
            double sum = 0.0;
            for (std::size_t j = 0; j < nodes.size(); ++j) sum += scales[j] / (x - nodes[j]);
            for (std::size_t j = 0; j < nodes.size(); ++j)
                b.push_back(static_cast<T>(scales[j] / (x - nodes[j]) / sum));
        }
        return b;
    }
    std::vector<double> nodes, scales;
};

/// Contraction of a cube of values along a direction with a matrix of `rows` rows, or with its transpose.
std::vector<double> contract(const std::vector<double>& in, const std::vector<double>& matrix, int rows,
                             int columns, bool transposed, int inner) {
    const int from = transposed ? rows : columns, to = transposed ? columns : rows;
    const int outer = static_cast<int>(in.size()) / from / inner;
    std::vector<double> out(static_cast<std::size_t>(outer) * to * inner);
    for (int o = 0; o < outer; ++o)
        for (int r = 0; r < to; ++r)
            for (int k = 0; k < from; ++k)
                for (int i = 0; i < inner; ++i)
                    out[(o * to + r) * inner + i] +=
                        (transposed ? matrix[k * columns + r] : matrix[r * columns + k]) *
                        in[(o * from + k) * inner + i];
    return out;
}

template <class T>
std::vector<double> element_of(const std::vector<T>& values, int element, int points) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(element) * points;
    return {first, first + points};
}
template <class T>
void check_element(const std::vector<T>& got, int element, const std::vector<double>& expected,
                   const char* what) {
    const auto first =
        got.begin() + static_cast<std::ptrdiff_t>(element) * static_cast<std::ptrdiff_t>(expected.size());
    check_close(std::vector<T>(first, first + static_cast<std::ptrdiff_t>(expected.size())), expected,
                sizeof(T) == 4 ? 2e-5 : 1e-12, what);
}

template <class T, int n, int q, int together>
void mass_launch(const char* name, int elements) {
    const auto basis = Basis(n).at_points<T>(q);
    const auto values = random_values<T>(static_cast<std::size_t>(elements) * n * n * n, 1);
    auto weights = random_values<T>(static_cast<std::size_t>(elements) * q * q * q, 2);
    for (T& weight : weights) weight += T(1.5);
    const Array<T> basis_array(basis), in(values), weight_array(weights), out(values.size());
    prepare();
    mass<T, n, q, together><<<(elements + together - 1) / together, dim3(q, q, together)>>>(
        basis_array.data(), weight_array.data(), in.data(), out.data(), elements);
    finish(name);
    const auto got = out.values();
    const std::vector<double> b(basis.begin(), basis.end());
    for (const int element : {0, elements / 3, elements - 1}) {
        auto u = element_of(values, element, n * n * n);
        u = contract(contract(contract(u, b, q, n, false, 1), b, q, n, false, q), b, q, n, false, q * q);
        const auto w = element_of(weights, element, q * q * q);
        for (int i = 0; i < q * q * q; ++i) u[i] *= w[i];
        u = contract(contract(contract(u, b, q, n, true, 1), b, q, n, true, n), b, q, n, true, n * n);
        check_element(got, element, u, name);
    }
    output(name, got);
}

/// Diffusion of one element, on the host.
std::vector<double> diffused(const std::vector<double>& u, const std::vector<double>& d,
                             const std::vector<double>& g, int n) {
    const int points = n * n * n;
    const auto dx = contract(u, d, n, n, false, 1), dy = contract(u, d, n, n, false, n),
               dz = contract(u, d, n, n, false, n * n);
    std::vector<double> x(points), y(points), z(points);
    for (int i = 0; i < points; ++i) {
        const auto factor = [&](int f) { return g[f * points + i]; };
        x[i] = factor(0) * dx[i] + factor(1) * dy[i] + factor(2) * dz[i];
        y[i] = factor(1) * dx[i] + factor(3) * dy[i] + factor(4) * dz[i];
        z[i] = factor(2) * dx[i] + factor(4) * dy[i] + factor(5) * dz[i];
    }
    x = contract(x, d, n, n, true, 1);
    y = contract(y, d, n, n, true, n);
    z = contract(z, d, n, n, true, n * n);
    for (int i = 0; i < points; ++i) x[i] += y[i] + z[i];
    return x;
}

template <class T, int n, int together>
void diffusion_launch(const char* name, int elements) {
    const int points = n * n * n;
    const auto derivative = Basis(n).derivative<T>();
    const auto values = random_values<T>(static_cast<std::size_t>(elements) * points, 3);
    const auto factors = random_values<T>(static_cast<std::size_t>(elements) * points * 6, 4);
    const Array<T> matrix(derivative), in(values), factor_array(factors), out(values.size());
    prepare();
    diffusion<T, n, together><<<(elements + together - 1) / together, dim3(n, n, together)>>>(
        matrix.data(), factor_array.data(), in.data(), out.data(), elements);
    finish(name);
    const auto got = out.values();
    const std::vector<double> d(derivative.begin(), derivative.end());
    for (const int element : {0, elements / 2, elements - 1})
        check_element(
            got, element,
            diffused(element_of(values, element, points), d, element_of(factors, element, points * 6), n),
            name);
    output(name, got);
}

template <class T, int n>
void gradient_launch(const char* name, int elements, int blocks) {
    const int points = n * n * n;
    const auto derivative = Basis(n).derivative<T>();
    const auto values = random_values<T>(static_cast<std::size_t>(elements) * points, 5);
    const auto jacobians = random_values<T>(static_cast<std::size_t>(elements) * 9, 6);
    const Array<T> matrix(derivative), in(values), jacobian_array(jacobians), out(values.size() * 3);
    prepare();
    gradients<T, n>
        <<<blocks, dim3(n, n, n)>>>(matrix.data(), jacobian_array.data(), in.data(), out.data(), elements);
    finish(name);
    const auto got = out.values();
    const std::vector<double> d(derivative.begin(), derivative.end());
    for (const int element : {0, elements / 2, elements - 1}) {
        const auto u = element_of(values, element, points);
        const auto dx = contract(u, d, n, n, false, 1), dy = contract(u, d, n, n, false, n),
                   dz = contract(u, d, n, n, false, n * n);
        const auto j = element_of(jacobians, element, 9);
        for (int c = 0; c < 3; ++c) {
            std::vector<double> expected(points);
            for (int i = 0; i < points; ++i)
                expected[i] = j[3 * c] * dx[i] + j[3 * c + 1] * dy[i] + j[3 * c + 2] * dz[i];
            check_element(got, c * elements + element, expected, name);
        }
    }
    output(name, got);
}

/// Elements side by side in a box, `side` a direction, and which degree of freedom each point is.
std::vector<int> make_map(int side, int n) {
    const int line = side * (n - 1) + 1;
    std::vector<int> map;
    for (int e = 0; e < side * side * side; ++e)
        for (int i = 0; i < n * n * n; ++i) {
            const int x = e % side * (n - 1) + i % n, y = e / side % side * (n - 1) + i / n % n,
                      z = e / side / side * (n - 1) + i / n / n;
            map.push_back((z * line + y) * line + x);
        }
    return map;
}

template <class T, int n, int together>
void assembled_launch(const char* name, int side) {
    const int elements = side * side * side, points = n * n * n, line = side * (n - 1) + 1;
    const auto map = make_map(side, n);
    const auto derivative = Basis(n).derivative<T>();
    const auto values = random_values<T>(static_cast<std::size_t>(line) * line * line, 7);
    const auto factors = random_values<T>(static_cast<std::size_t>(elements) * points * 6, 8);
    const Array<T> matrix(derivative), in(values), factor_array(factors), out(values.size());
    const Array<int> map_array(map);
    prepare();
    assembled_diffusion<T, n, together><<<(elements + together - 1) / together, dim3(n, n, together)>>>(
        matrix.data(), factor_array.data(), map_array.data(), in.data(), out.data(), elements);
    finish(name);
    // Elements about a corner of the mesh tell their shared points' sums.
    const std::vector<double> d(derivative.begin(), derivative.end());
    std::vector<double> expected(values.size());
    for (int e = 0; e < elements; ++e) {
        if (e % side > 2 || e / side % side > 2 || e / side / side > 2) continue;
        std::vector<double> u(points);
        for (int i = 0; i < points; ++i) u[i] = values[map[e * points + i]];
        const auto own = diffused(u, d, element_of(factors, e, points * 6), n);
        for (int i = 0; i < points; ++i) expected[map[e * points + i]] += own[i];
    }
    const auto got = out.values();
    double scale = 0.0;
    for (const double value : expected) scale = std::max(scale, std::fabs(value));
    for (int z = 0; z < 2 * n; ++z)
        for (int y = 0; y < 2 * n; ++y)
            for (int x = 0; x < 2 * n; ++x) {
                const int i = (z * line + y) * line + x;
                check(std::fabs(got[i] - expected[i]) < scale * (sizeof(T) == 4 ? 3e-5 : 1e-12), name);
            }
}

void gather_and_scatter() {
    const int side = 19, n = 8, line = side * (n - 1) + 1;
    const auto map = make_map(side, n);
    const int points = static_cast<int>(map.size());
    const auto values = random_values<double>(static_cast<std::size_t>(line) * line * line, 9);
    const Array<double> whole(values), apart(map.size());
    const Array<int> map_array(map);
    prepare();
    gather<<<(points + 255) / 256, 256>>>(map_array.data(), whole.data(), apart.data(), points);
    finish("gather");
    const auto got = apart.values();
    bool right = true;
    for (int i = 0; i < points; ++i) right = right && got[i] == values[map[i]];
    check(right, "gather");
    output("gather", got);
    Array<double> sums(values.size());
    prepare();
    scatter<<<132 * 8, 256>>>(map_array.data(), apart.data(), sums.data(), points);
    finish("scatter");
    std::vector<double> expected(values.size());
    for (int i = 0; i < points; ++i) expected[map[i]] += got[i];
    check_close(sums.values(), expected, 1e-13, "scatter");
}

void refine_launch() {
    const int elements = 40'003;
    const auto basis = Basis(4).at_points<float>(5);
    const auto values = random_values<float>(static_cast<std::size_t>(elements) * 64, 10);
    const Array<float> basis_array(basis), in(values), out(static_cast<std::size_t>(elements) * 125);
    prepare();
    refine<<<(elements + 7) / 8, 128>>>(basis_array.data(), in.data(), out.data(), elements);
    finish("refine");
    const auto got = out.values();
    const std::vector<double> b(basis.begin(), basis.end());
    for (const int element : {0, 17, elements - 1})
        check_element(got, element,
                      contract(contract(contract(element_of(values, element, 64), b, 5, 4, false, 1), b, 5, 4,
                                        false, 5),
                               b, 5, 4, false, 25),
                      "refine");
    output("refine", got);
}

void body() {
    mass_launch<double, 4, 5, 8>("mass_of_4", 40'001);
    mass_launch<float, 6, 8, 4>("mass_of_6_float", 12'345);
    mass_launch<double, 8, 9, 1>("mass_of_8", 5'000);
    diffusion_launch<double, 6, 4>("diffusion_of_6", 14'003);
    diffusion_launch<float, 8, 2>("diffusion_of_8_float", 7'001);
    diffusion_launch<double, 10, 1>("diffusion_of_10", 2'500);
    gradient_launch<double, 8>("gradients_of_8", 6'000, 132 * 4);
    gradient_launch<float, 10>("gradients_of_10_float", 5'000, 5'000);
    refine_launch();
    assembled_launch<double, 6, 4>("assembled_of_6", 22);
    assembled_launch<float, 8, 4>("assembled_of_8_float", 17);
    gather_and_scatter();
}

int main() {
    return run(body);
}
