// Additions in global memory of one, two and four floats, of pairs of halves, and of doubles: gradients of
// embeddings and deposits of particles, with few and with many collisions, and warps that first add what has
// the same key.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

// All values are small multiples of a power of two, so every order of additions gives the same sums.
constexpr int width = 128;

template <class V>
__device__ V to_vector(const float* from) {
    if constexpr (std::is_same_v<V, __half2>)
        return __floats2half2_rn(from[0], from[1]);
    else if constexpr (std::is_same_v<V, __nv_bfloat162>)
        return __floats2bfloat162_rn(from[0], from[1]);
    else if constexpr (std::is_same_v<V, double>)
        return static_cast<double>(from[0]);
    else
        return *reinterpret_cast<const V*>(from);
}

/// A warp a token adds its gradient's row to the row of its word, `many` values at once.
template <class V, int many>
__global__ void embedding_gradient(const int* words, const float* gradient, V* table, int tokens) {
    const int token = blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= tokens) return;
    const float* row = gradient + static_cast<std::size_t>(token) * width;
    V* to = table + static_cast<std::size_t>(words[token]) * (width / many);
#pragma unroll
    for (int i = threadIdx.x; i < width / many; i += 32) atomicAdd(to + i, to_vector<V>(row + i * many));
}

/// Each warp takes 32 tokens; the tokens of one word are added in registers by the group's first lane's turn,
/// and the whole warp writes the sum once.
__global__ void embedding_grouped(const int* words, const float* gradient, float4* table, int tokens) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32;
    const int token = first + lane;
    const int word = token < tokens ? words[token] : -1;
    const unsigned group = __match_any_sync(0xffffffffU, word);
    unsigned leaders = __ballot_sync(0xffffffffU, word >= 0 && lane == __ffs(group) - 1);
    for (; leaders != 0; leaders &= leaders - 1) {
        const int leader = __ffs(leaders) - 1;
        const int own_word = __shfl_sync(0xffffffffU, word, leader);
        float4 sum = {};
        for (unsigned rest = __shfl_sync(0xffffffffU, group, leader); rest != 0; rest &= rest - 1) {
            const float4 v = reinterpret_cast<const float4*>(
                gradient)[static_cast<std::size_t>(first + __ffs(rest) - 1) * (width / 4) + lane];
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
        atomicAdd(table + static_cast<std::size_t>(own_word) * (width / 4) + lane, sum);
    }
}

struct Particle {
    float x, y, vx, vy;
};

/// Each particle gives charge, current and energy to four cells, weighted by area.
enum class Way { vector, scalars, doubles };
template <Way way>
__global__ void deposit(const Particle* particles, void* cells, int count, int side) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 p = reinterpret_cast<const float4*>(particles)[i];
    const float cx = floorf(p.x), cy = floorf(p.y), fx = p.x - cx, fy = p.y - cy;
    const float4 moments = {1.0F, p.z, p.w, p.z * p.z + p.w * p.w};
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) {
        const float weight = (corner & 1 ? fx : 1.0F - fx) * (corner & 2 ? fy : 1.0F - fy);
        const int at = (static_cast<int>(cy) + corner / 2) * side + static_cast<int>(cx) + corner % 2;
        const float4 part = {weight * moments.x, weight * moments.y, weight * moments.z, weight * moments.w};
        if constexpr (way == Way::vector) {
            atomicAdd(static_cast<float4*>(cells) + at, part);
        } else if constexpr (way == Way::scalars) {
            float* cell = static_cast<float*>(cells) + 4 * at;
            atomicAdd(cell, part.x);
            atomicAdd(cell + 1, part.y);
            atomicAdd(cell + 2, part.z);
            atomicAdd(cell + 3, part.w);
        } else {
            atomicAdd(static_cast<double*>(cells) + 2 * at, static_cast<double>(part.x));
            atomicAdd(static_cast<double*>(cells) + 2 * at + 1, static_cast<double>(part.w));
        }
    }
}

/// To the nearest cell alone: lanes in the same cell add by shuffles along their group, one of them in
/// memory.
__global__ void deposit_nearest(const Particle* particles, float2* cells, int count, int side) {
    const int lane = threadIdx.x % 32;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < count;
    const float4 p = inside ? reinterpret_cast<const float4*>(particles)[i] : float4{};
    const int cell = inside ? static_cast<int>(p.y + 0.5F) * side + static_cast<int>(p.x + 0.5F) : -1;
    const unsigned group = __match_any_sync(0xffffffffU, cell);
    float2 sum = {p.z, p.w};
    // Each round the lanes at odd places of their group hand their sums to the ones before and leave.
    unsigned waiting = group;
    bool active = true;
    const unsigned before = (1U << lane) - 1U;
    while (__any_sync(0xffffffffU, active && __popc(waiting) > 1)) {
        const int place = __popc(waiting & before);
        const unsigned later = waiting & ~before & ~(1U << lane);
        const int next = later != 0 ? __ffs(later) - 1 : lane;
        const float2 other = {__shfl_sync(0xffffffffU, sum.x, next), __shfl_sync(0xffffffffU, sum.y, next)};
        if (active && place % 2 == 0 && later != 0) sum.x += other.x, sum.y += other.y;
        active = active && place % 2 == 0;
        waiting = group & __ballot_sync(0xffffffffU, active);
    }
    if (active && inside) atomicAdd(cells + cell, sum);
}

template <class V>
std::vector<double> spread(const Array<V>& array) {
    std::vector<double> all;
    for (const V& v : array.values()) {
        if constexpr (std::is_same_v<V, double> || std::is_same_v<V, float>)
            all.push_back(v);
        else if constexpr (std::is_same_v<V, __half2> || std::is_same_v<V, __nv_bfloat162>)
            all.insert(all.end(), {as_double(v.x), as_double(v.y)});
        else if constexpr (std::is_same_v<V, float2>)
            all.insert(all.end(), {v.x, v.y});
        else
            all.insert(all.end(), {v.x, v.y, v.z, v.w});
    }
    return all;
}

template <class V, int many>
void gradients(const char* what, int tokens, int vocabulary, bool grouped = false) {
    std::vector<int> words(tokens);
    std::vector<float> gradient(static_cast<std::size_t>(tokens) * width);
    std::vector<double> expected(static_cast<std::size_t>(vocabulary) * width);
    for (int t = 0; t < tokens; ++t) words[t] = static_cast<int>(random_bits(3, t) % vocabulary);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = static_cast<float>(static_cast<int>(random_bits(4, i) % 3U) - 1);
        expected[words[i / width] * width + i % width] += gradient[i];
    }
    const Array<int> words_there(words);
    const Array<float> gradient_there(gradient);
    Array<V> table(static_cast<std::size_t>(vocabulary) * width / many);
    prepare();
    if constexpr (std::is_same_v<V, float4>) {
        if (grouped)
            embedding_grouped<<<(tokens + 127) / 128, 128>>>(words_there.data(), gradient_there.data(),
                                                             table.data(), tokens);
    }
    if (!grouped)
        embedding_gradient<V, many><<<(tokens + 7) / 8, dim3(32, 8)>>>(
            words_there.data(), gradient_there.data(), table.data(), tokens);
    finish(what);
    const std::vector<double> got = spread(table);
    check(got == expected, what);
    output(what, got);
}

template <class V, class Launch>
void deposits(const char* what, int side, const std::vector<Particle>& particles, int values, Launch launch) {
    const Array<Particle> there(particles);
    constexpr int lanes = std::is_same_v<V, float4> ? 4 : std::is_same_v<V, float2> ? 2 : 1;
    Array<V> cells(static_cast<std::size_t>(side) * side * values / lanes);
    prepare();
    launch(there.data(), cells.data(), static_cast<int>(particles.size()));
    finish(what);
    std::vector<double> expected(static_cast<std::size_t>(side) * side * values);
    for (const Particle& p : particles) {
        const double moments[4] = {1.0, p.vx, p.vy, p.vx * p.vx + p.vy * p.vy};
        if (values == 2 && !std::is_same_v<V, double>) {
            const int at = static_cast<int>(p.y + 0.5F) * side + static_cast<int>(p.x + 0.5F);
            expected[2 * at] += p.vx, expected[2 * at + 1] += p.vy;
            continue;
        }
        const int cx = static_cast<int>(p.x), cy = static_cast<int>(p.y);
        for (int corner = 0; corner < 4; ++corner) {
            const double fx = p.x - cx, fy = p.y - cy,
                         weight = (corner & 1 ? fx : 1 - fx) * (corner & 2 ? fy : 1 - fy);
            const std::size_t at = static_cast<std::size_t>(cy + corner / 2) * side + cx + corner % 2;
            for (int m = 0; m < values; ++m)
                expected[at * values + m] += weight * moments[values == 2 ? 3 * m : m];
        }
    }
    const std::vector<double> got = spread(cells);
    check(got == expected, what);
    output(what, got);
}

void body() {
    gradients<float, 1>("float, large vocabulary", 20000, 50000);
    gradients<float, 1>("float, small vocabulary", 12000, 61);
    gradients<float2, 2>("float2, large vocabulary", 40001, 50000);
    gradients<float4, 4>("float4, large vocabulary", 40001, 50000);
    gradients<float4, 4>("float4, small vocabulary", 12000, 61);
    gradients<float4, 4>("grouped, small vocabulary", 30011, 61, true);
    gradients<__half2, 2>("half2, large vocabulary", 40001, 30000);
    gradients<__nv_bfloat162, 2>("bfloat162, small vocabulary", 12000, 61);
    std::vector<Particle> even(600'000), dense(150'001);
    const auto fill = [](std::vector<Particle>& particles, unsigned side) {
        for (std::size_t i = 0; i < particles.size(); ++i)
            particles[i] = {(random_bits(5, i) % ((side - 1) * 8U)) / 8.0F,
                            (random_bits(6, i) % ((side - 1) * 8U)) / 8.0F,
                            static_cast<int>(random_bits(7, i) % 9U - 4U) / 4.0F,
                            static_cast<int>(random_bits(8, i) % 9U - 4U) / 4.0F};
    };
    fill(even, 1024);
    fill(dense, 24);
    const auto by = [](auto kernel, int side) {
        return [=](const Particle* p, auto* cells, int count) {
            kernel<<<(count + 255) / 256, 256>>>(p, cells, count, side);
        };
    };
    deposits<float4>("float4, wide", 1024, even, 4, by(deposit<Way::vector>, 1024));
    deposits<float>("floats, wide", 1024, even, 4, by(deposit<Way::scalars>, 1024));
    deposits<float4>("float4, dense", 24, dense, 4, by(deposit<Way::vector>, 24));
    deposits<double>("doubles, wide", 1024, even, 2, by(deposit<Way::doubles>, 1024));
    deposits<float2>("nearest, dense", 24, dense, 2, by(deposit_nearest, 24));
}

int main() {
    return run(body);
}
