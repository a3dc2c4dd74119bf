// Memory bandwidth as benchmarks measure it: copy, scale, add, triad and updates of long arrays in float and
// double, by an element a thread, by vectors, by strides of the grid, unrolled by strides of the block, with
// hints for streams and 64-bit indices; and dot products, sums, and one field of an array of structures.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// An element a thread.
template <class T>
__global__ void copy_each(const T* a, T* c, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i];
}
template <class T>
__global__ void triad_each(T* a, const T* b, const T* c, T scalar, int count) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) a[i] = b[i] + scalar * c[i];
}

/// A grid that fits the array exactly and asks for no end.
__global__ void nstream_exact(double* __restrict__ a, const double* __restrict__ b,
                              const double* __restrict__ c, double scalar) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] += b[i] + scalar * c[i];
}

/// Strides of the grid by vectors of two.
__global__ void scale_pairs(double2* __restrict__ b, const double2* __restrict__ c, double scalar,
                            int pairs) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        double2 v = c[i];
        v.x *= scalar;
        v.y *= scalar;
        b[i] = v;
    }
}

/// Strides of the grid by 64-bit indices.
template <class T>
__global__ void add_long(T* __restrict__ c, const T* __restrict__ a, const T* __restrict__ b,
                         std::size_t count) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride)
        c[i] = a[i] + b[i];
}

/// Vectors of four, read and written past the caches as far as hints can say so.
__global__ void __launch_bounds__(256)
    triad_streams(float4* a, const float4* b, const float4* c, float scalar, int vectors) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= vectors) return;
    const float4 p = __ldcs(b + i), q = __ldcs(c + i);
    __stcs(a + i, float4{p.x + scalar * q.x, p.y + scalar * q.y, p.z + scalar * q.z, p.w + scalar * q.w});
}
__global__ void copy_streams(double* to, const double* from, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) __stcs(to + i, __ldcs(from + i));
}

/// Four elements a thread, a block apart, loaded before any is stored.
template <class T, int unroll>
__global__ void __launch_bounds__(256)
    triad_unrolled(T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ c, T scalar, int count) {
    const int first = blockIdx.x * 256 * unroll + threadIdx.x;
    if (first + (unroll - 1) * 256 < count) {
        T left[unroll], right[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            left[k] = b[first + k * 256];
            right[k] = c[first + k * 256];
        }
#pragma unroll
        for (int k = 0; k < unroll; ++k) a[first + k * 256] = left[k] + scalar * right[k];
    } else {
        for (int i = first; i < count; i += 256) a[i] = b[i] + scalar * c[i];
    }
}

/// Dot product: sums of threads fall together in a tree in shared memory; the host adds up the blocks'.
__global__ void __launch_bounds__(1024) dot_tree(const double* a, const double* b, double* sums, int count) {
    __shared__ double parts[1024];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    const int local = threadIdx.x;
    parts[local] = 0.0;
    for (; i < count; i += blockDim.x * gridDim.x) parts[local] += a[i] * b[i];
    for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
        __syncthreads();
        if (local < offset) parts[local] += parts[local + offset];
    }
    if (local == 0) sums[blockIdx.x] = parts[local];
}
/// And by shuffles and one atomic a warp.
__global__ void __launch_bounds__(256)
    dot_atomics(const float4* a, const float4* b, double* total, int vectors) {
    float sum = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const float4 p = a[i], q = b[i];
        sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffU, sum, step);
    if ((threadIdx.x & 31) == 0) atomicAdd(total, static_cast<double>(sum));
}

/// Only read: a sum that nobody keeps unless it is odd, so that nothing else is written.
__global__ void __launch_bounds__(512) read_only(const uint4* __restrict__ in, unsigned* sums, int vectors) {
    unsigned sum = 0;
#pragma unroll 4
    for (int i = blockIdx.x * 512 + threadIdx.x; i < vectors; i += gridDim.x * 512) {
        const uint4 v = in[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    sum = __reduce_add_sync(0xffffffffU, sum);
    if ((sum & 1U) != 0 && threadIdx.x % 32 == 0) sums[(blockIdx.x * 512 + threadIdx.x) / 32] = sum;
}

/// In place, each thread a run of its own of four vectors.
__global__ void update_in_place(float4* values, float scalar, int runs) {
    const int run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run >= runs) return;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        float4 v = values[4 * run + k];
        v.x = v.x * scalar + 1.0F;
        v.y = v.y * scalar + 1.0F;
        v.z = v.z * scalar + 1.0F;
        v.w = v.w * scalar + 1.0F;
        values[4 * run + k] = v;
    }
}

/// Of particles, places move by speeds; mass and charge lie between them untouched.
struct Particle {
    float x, y, z, mass;
    float vx, vy, vz, charge;
};
__global__ void move_particles(Particle* particles, float step, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    particles[i].x += step * particles[i].vx;
    particles[i].y += step * particles[i].vy;
    particles[i].z += step * particles[i].vz;
}
/// One field of twelve.
struct Cell {
    float fields[12];
};
__global__ void read_field(const Cell* __restrict__ cells, float* __restrict__ out, int field, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = 2.0F * cells[i].fields[field];
}

/// Element i of array number `which`: quarters, so that sums are exact.
template <class T>
T element(int which, std::size_t i) {
    return static_cast<T>(static_cast<int>((i * (which == 1 ? 7U : 13U) + which) % 1021U) - 500) * T(0.25);
}
template <class T>
std::vector<T> elements(int which, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = element<T>(which, i);
    return values;
}

template <class T, class Expected>
void check_all(const Array<T>& array, std::size_t count, const char* what, Expected expected) {
    const auto got = array.values();
    bool right = true;
    for (std::size_t i = 0; i < count; ++i) right = right && got[i] == expected(i);
    check(right, what);
    output(what, got);
}

void doubles() {
    const int count = 128 << 16;
    const Array<double> a(elements<double>(1, count)), b(elements<double>(2, count));
    Array<double> c(count);
    prepare();
    copy_each<<<count / 1024, 1024>>>(a.data(), c.data(), count);
    finish("copy");
    check_all(c, count, "copy", [](std::size_t i) { return element<double>(1, i); });
    prepare();
    scale_pairs<<<132 * 2, 512>>>(reinterpret_cast<double2*>(c.data()),
                                  reinterpret_cast<const double2*>(b.data()), -3.0, count / 2);
    finish("scale");
    check_all(c, count, "scale", [](std::size_t i) { return -3.0 * element<double>(2, i); });
    prepare();
    nstream_exact<<<count / 128, 128>>>(c.data(), a.data(), b.data(), 0.5);
    finish("nstream");
    check_all(c, count, "nstream",
              [](std::size_t i) { return element<double>(1, i) - 2.5 * element<double>(2, i); });
    const int fewer = count / 4 - 5;
    prepare();
    copy_streams<<<(fewer + 255) / 256, 256>>>(c.data(), b.data() + 1, fewer);
    finish("copy of streams");
    check_all(c, fewer, "copy_of_streams", [](std::size_t i) { return element<double>(2, i + 1); });
    prepare();
    triad_unrolled<double, 4>
        <<<(count - 300 + 1023) / 1024, 256>>>(c.data(), a.data(), b.data(), 0.25, count - 300);
    finish("triad unrolled");
    check_all(c, count - 300, "triad_unrolled",
              [](std::size_t i) { return element<double>(1, i) + 0.25 * element<double>(2, i); });

    double expected = 0.0;
    for (int i = 0; i < count; ++i) expected += element<double>(1, i) * element<double>(2, i);
    const Array<double> sums(264);
    prepare();
    dot_tree<<<264, 1024>>>(a.data(), b.data(), sums.data(), count);
    finish("dot product");
    double sum = 0.0;
    for (const double part : sums.values()) sum += part;
    check(sum == expected, "dot product");
    output("dot_product", sums);
}

void floats() {
    const int count = 20'000'004;
    const Array<float> a(elements<float>(1, count)), b(elements<float>(2, count));
    Array<float> c(count);
    prepare();
    triad_each<<<(count + 255) / 256, 256>>>(c.data(), a.data(), b.data(), 3.0F, count);
    finish("triad");
    check_all(c, count, "triad",
              [](std::size_t i) { return element<float>(1, i) + 3.0F * element<float>(2, i); });
    prepare();
    triad_streams<<<(count / 4 + 255) / 256, 256>>>(
        reinterpret_cast<float4*>(c.data()), reinterpret_cast<const float4*>(a.data()),
        reinterpret_cast<const float4*>(b.data()), -2.0F, count / 4);
    finish("triad of streams");
    check_all(c, count, "triad_of_streams",
              [](std::size_t i) { return element<float>(1, i) - 2.0F * element<float>(2, i); });
    c.zero();
    prepare();
    add_long<<<132 * 16, 128>>>(c.data(), a.data(), b.data(), static_cast<std::size_t>(count) / 2);
    finish("add by long indices");
    check_all(c, count / 2, "add_by_long_indices",
              [](std::size_t i) { return element<float>(1, i) + element<float>(2, i); });

    double expected = 0.0;
    for (int i = 0; i < count; ++i) expected += element<double>(1, i) * element<double>(2, i);
    const Array<double> total(1);
    prepare();
    dot_atomics<<<132 * 8, 256>>>(reinterpret_cast<const float4*>(a.data()),
                                  reinterpret_cast<const float4*>(b.data()), total.data(), count / 4);
    finish("dot product by atomics");
    check(std::fabs(total.values()[0] - expected) < 1e-5 * expected, "dot product by atomics");

    prepare();
    update_in_place<<<(count / 16 + 191) / 192, 192>>>(reinterpret_cast<float4*>(a.data()), 0.5F, count / 16);
    finish("update in place");
    check_all(a, count / 16 * 16, "update_in_place",
              [](std::size_t i) { return 0.5F * element<float>(1, i) + 1.0F; });
}

void others() {
    const auto words = random_values<unsigned>(32 << 20, 3);
    const Array<unsigned> in(words), sums(132 * 4 * 16);
    prepare();
    read_only<<<132 * 4, 512>>>(reinterpret_cast<const uint4*>(in.data()), sums.data(), (32 << 20) / 4);
    finish("read only");
    std::vector<unsigned> expected(sums.size());
    for (std::size_t v = 0; v < words.size() / 4; ++v)
        expected[v % (132 * 4 * 512) / 32] +=
            words[4 * v] ^ words[4 * v + 1] ^ words[4 * v + 2] ^ words[4 * v + 3];
    for (unsigned& sum : expected) sum = (sum & 1U) != 0 ? sum : 0U;
    check(sums.values() == expected, "read only");
    output("read_only", sums);

    const int particles = 1'500'017;
    const Array<float> fields(elements<float>(1, static_cast<std::size_t>(particles) * 8));
    prepare();
    move_particles<<<(particles + 127) / 128, 128>>>(reinterpret_cast<Particle*>(fields.data()), 0.5F,
                                                     particles);
    finish("move particles");
    check_all(fields, fields.size(), "move_particles", [](std::size_t i) {
        return element<float>(1, i) + (i % 8 < 3 ? 0.5F * element<float>(1, i + 4) : 0.0F);
    });

    const int cells = 2'000'000;
    const Array<float> cell_fields(elements<float>(2, static_cast<std::size_t>(cells) * 12)), out(cells);
    prepare();
    read_field<<<132 * 4, 256>>>(reinterpret_cast<const Cell*>(cell_fields.data()), out.data(), 5, cells);
    finish("read field");
    check_all(out, cells, "read_field", [](std::size_t i) { return 2.0F * element<float>(2, 12 * i + 5); });
}

void body() {
    doubles();
    floats();
    others();
}

int main() {
    return run(body);
}
