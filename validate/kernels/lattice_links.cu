// Gauge links of a four-dimensional lattice times the vectors of neighbouring sites: 3 x 3 complex matrices
// as records, as arrays of numbers, and as arrays of pairs; with one direction a launch and all of them in
// one.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Lattice {
    int x, y, z, t;
    __host__ __device__ int sites() const { return x * y * z * t; }
};

/// The next site along a direction, around the torus.
__device__ inline int next_site(const Lattice& l, int site, int direction) {
    int x = site % l.x, rest = site / l.x;
    int y = rest % l.y;
    rest /= l.y;
    int z = rest % l.z, t = rest / l.z;
    if (direction == 0) x = x + 1 == l.x ? 0 : x + 1;
    if (direction == 1) y = y + 1 == l.y ? 0 : y + 1;
    if (direction == 2) z = z + 1 == l.z ? 0 : z + 1;
    if (direction == 3) t = t + 1 == l.t ? 0 : t + 1;
    return ((t * l.z + z) * l.y + y) * l.x + x;
}

struct Link {
    float2 u[9];
};
struct Vector {
    float2 v[3];
};

__device__ inline float2 plus_product(float2 sum, float2 a, float2 b) {
    return {sum.x + a.x * b.x - a.y * b.y, sum.y + a.x * b.y + a.y * b.x};
}

__global__ void hop_records(Lattice l, const Link* links, const Vector* in, Vector* out, int direction) {
    const int site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= l.sites()) return;
    const Link u = links[direction * l.sites() + site];
    const Vector v = in[next_site(l, site, direction)];
    Vector sum = out[site];
    for (int row = 0; row < 3; ++row)
        for (int k = 0; k < 3; ++k) sum.v[row] = plus_product(sum.v[row], u.u[3 * row + k], v.v[k]);
    out[site] = sum;
}

__global__ void hop_arrays(Lattice l, const float* links, const float* in, float* out, int direction) {
    const int sites = l.sites(), site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= sites) return;
    const int other = next_site(l, site, direction);
    const float* u = links + static_cast<std::size_t>(direction) * 18 * sites + site;
    float2 v[3];
    for (int k = 0; k < 3; ++k) v[k] = {in[2 * k * sites + other], in[(2 * k + 1) * sites + other]};
    for (int row = 0; row < 3; ++row) {
        float2 sum = {out[2 * row * sites + site], out[(2 * row + 1) * sites + site]};
        for (int k = 0; k < 3; ++k) {
            const int at = 2 * (3 * row + k);
            sum = plus_product(sum, {u[at * sites], u[(at + 1) * sites]}, v[k]);
        }
        out[2 * row * sites + site] = sum.x;
        out[(2 * row + 1) * sites + site] = sum.y;
    }
}

__global__ void hop_pairs(Lattice l, const float2* links, const float2* in, float2* out) {
    const int sites = l.sites(), site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= sites) return;
    float2 sum[3] = {};
    for (int direction = 0; direction < 4; ++direction) {
        const int other = next_site(l, site, direction);
        const float2* u = links + static_cast<std::size_t>(direction) * 9 * sites + site;
        float2 v[3];
        for (int k = 0; k < 3; ++k) v[k] = in[k * sites + other];
        for (int row = 0; row < 3; ++row)
            for (int k = 0; k < 3; ++k) sum[row] = plus_product(sum[row], u[(3 * row + k) * sites], v[k]);
    }
    for (int row = 0; row < 3; ++row) out[row * sites + site] = sum[row];
}

/// Traces of elementary squares: three products of matrices a site and plane.
__global__ void plaquettes(Lattice l, const float2* links, float* out, int first, int second) {
    const int sites = l.sites(), site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= sites) return;
    const auto load = [&](float2(&m)[9], int direction, int at) {
        for (int i = 0; i < 9; ++i) m[i] = links[(static_cast<std::size_t>(direction) * 9 + i) * sites + at];
    };
    const auto multiply = [](const float2(&a)[9], const float2(&b)[9], float2(&c)[9]) {
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 3; ++column) {
                float2 sum = {};
                for (int k = 0; k < 3; ++k) sum = plus_product(sum, a[3 * row + k], b[3 * k + column]);
                c[3 * row + column] = sum;
            }
    };
    float2 a[9], b[9], there[9], back[9];
    load(a, first, site);
    load(b, second, next_site(l, site, first));
    multiply(a, b, there);
    load(a, second, site);
    load(b, first, next_site(l, site, second));
    multiply(a, b, back);
    float trace = 0.0F;
    for (int i = 0; i < 9; ++i) trace += there[i].x * back[i].x + there[i].y * back[i].y;
    out[site] = trace;
}

void all_of(Lattice l) {
    const std::size_t sites = l.sites();
    const auto numbers = random_values<float>(4 * 18 * sites, 1),
               vectors = random_values<float>(6 * sites, 2);
    const Array<float> links(numbers), in(vectors);
    Array<float> out(6 * sites), traces(sites);
    const std::string name = std::to_string(sites);
    const int blocks = static_cast<int>((sites + 127) / 128);
    for (const int direction : {0, 3}) {
        prepare();
        hop_records<<<blocks, 128>>>(l, reinterpret_cast<const Link*>(links.data()),
                                     reinterpret_cast<const Vector*>(in.data()),
                                     reinterpret_cast<Vector*>(out.data()), direction);
        finish("records");
    }
    output(("records_" + name).c_str(), out);
    out.zero();
    for (const int direction : {0, 3}) {
        prepare();
        hop_arrays<<<blocks, 128>>>(l, links.data(), in.data(), out.data(), direction);
        finish("arrays");
    }
    output(("arrays_" + name).c_str(), out);
    prepare();
    hop_pairs<<<blocks, 128>>>(l, reinterpret_cast<const float2*>(links.data()),
                               reinterpret_cast<const float2*>(in.data()),
                               reinterpret_cast<float2*>(out.data()));
    finish("pairs");
    output(("pairs_" + name).c_str(), out);
    prepare();
    plaquettes<<<blocks, 128>>>(l, reinterpret_cast<const float2*>(links.data()), traces.data(), 0, 2);
    finish("plaquettes");
    output(("traces_" + name).c_str(), traces);
}

void body() {
    all_of({16, 16, 16, 32});
    all_of({24, 12, 12, 12});
}

int main() {
    return run(body);
}
