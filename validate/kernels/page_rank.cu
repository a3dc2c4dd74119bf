// Page ranks of a graph whose degrees follow a power law: pulled by a thread, by 8 lanes and by a warp a
// vertex, pushed by atomic additions with as many a vertex, and with a thread an edge.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr float damping = 0.85F;
constexpr int threads = 256;

/// Row v holds the vertices that v links to (push), or that link to v (pull).
struct Graph {
    const int *offsets, *others;
    int count;
};

__device__ float over_lanes(float value, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffU, value, distance);
    }
    return value;
}

/// What a vertex gives over each of its links.
__global__ void shares(const float* ranks, const int* degrees, float* to, int count) {
    const int v = blockIdx.x * threads + threadIdx.x;
    if (v < count) to[v] = degrees[v] > 0 ? ranks[v] / degrees[v] : 0.0F;
}

__global__ void pull_thread(Graph graph, const float* shares, float* next) {
    const int v = blockIdx.x * threads + threadIdx.x;
    if (v >= graph.count) return;
    float sum = 0.0F;
    for (int i = graph.offsets[v]; i < graph.offsets[v + 1]; ++i) sum += shares[graph.others[i]];
    next[v] = (1.0F - damping) / graph.count + damping * sum;
}

/// So many lanes a vertex; all lanes of a warp have one.
template <int lanes>
__global__ void pull_lanes(Graph graph, const float* shares, float* next) {
    const int v = (blockIdx.x * threads + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (v >= graph.count) return;
    const int end = graph.offsets[v + 1];
    float sum = 0.0F;
    for (int i = graph.offsets[v] + lane; i < end; i += lanes) sum += shares[graph.others[i]];
    sum = over_lanes(sum, lanes);
    if (lane == 0) next[v] = (1.0F - damping) / graph.count + damping * sum;
}

__global__ void push_thread(Graph graph, const float* ranks, float* next) {
    const int v = blockIdx.x * threads + threadIdx.x;
    if (v >= graph.count) return;
    const int begin = graph.offsets[v], end = graph.offsets[v + 1];
    const float share = damping * ranks[v] / max(1, end - begin);
    for (int i = begin; i < end; ++i) atomicAdd(&next[graph.others[i]], share);
}

template <int lanes>
__global__ void push_lanes(Graph graph, const float* ranks, float* next) {
    const int v = (blockIdx.x * threads + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (v >= graph.count) return;
    const int begin = graph.offsets[v], end = graph.offsets[v + 1];
    const float share = damping * ranks[v] / max(1, end - begin);
    for (int i = begin + lane; i < end; i += lanes) atomicAdd(&next[graph.others[i]], share);
}

__global__ void push_edge(const int* from, const int* to, const float* shares, float* next, int edges) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < edges) atomicAdd(&next[to[i]], damping * shares[from[i]]);
}

template <int lanes>
void all_of(int count, int mean) {
    std::vector<int> offsets(count + 1), degrees(count);
    for (int v = 0; v < count; ++v) {
        const double u = (random_bits(1, v) + 1.0) / 4294967296.0;
        offsets[v + 1] = offsets[v] + std::min(1024, static_cast<int>(mean * 0.5 / std::sqrt(u) + u));
    }
    const int edges = offsets[count];
    std::vector<int> others(edges), owners(edges);
    for (int v = 0; v < count; ++v) {
        for (int i = offsets[v]; i < offsets[v + 1]; ++i) {
            // Small numbers are more likely; an odd multiple scatters them.
            const double u = random_bits(2, i) / 4294967296.0;
            others[i] = static_cast<int>(static_cast<unsigned>(u * u * count) * 0x9e3779b1U & (count - 1));
            owners[i] = v;
            ++degrees[others[i]];
        }
    }
    auto numbers = random_values<float>(count, 3);
    for (float& number : numbers) number = (1.0F + 0.5F * number) / count;
    std::vector<double> pulled(count, 0.15 / count), pushed(count);
    for (int v = 0; v < count; ++v) {
        for (int i = offsets[v]; i < offsets[v + 1]; ++i) {
            const int other = others[i];
            pulled[v] += 0.85 * numbers[other] / degrees[other];
            pushed[other] += 0.85 * numbers[v] / (offsets[v + 1] - offsets[v]);
        }
    }

    const Array<int> offset_array(offsets), other_array(others), owner_array(owners), degree_array(degrees);
    const Array<float> ranks(numbers);
    Array<float> share_array(count), next(count), other_shares(count);
    const Graph graph = {offset_array.data(), other_array.data(), count};
    const int blocks = (count + threads - 1) / threads, many = blocks * lanes;
    const auto look = [&](const char* what, const std::vector<double>& expected) {
        finish(what);
        check_close(next.values(), expected, 1e-4, what);
        next.zero();
    };
    prepare();
    shares<<<blocks, threads>>>(ranks.data(), degree_array.data(), share_array.data(), count);
    finish("shares");
    output("shares", share_array);
    prepare();
    pull_thread<<<blocks, threads>>>(graph, share_array.data(), next.data());
    look("pull_thread", pulled);
    prepare();
    pull_lanes<lanes><<<many, threads>>>(graph, share_array.data(), next.data());
    look("pull_lanes", pulled);
    prepare();
    push_thread<<<blocks, threads>>>(graph, ranks.data(), next.data());
    look("push_thread", pushed);
    prepare();
    push_lanes<lanes><<<many, threads>>>(graph, ranks.data(), next.data());
    look("push_lanes", pushed);
    std::vector<float> out(count);
    for (int v = 0; v < count; ++v) out[v] = numbers[v] / std::max(1, offsets[v + 1] - offsets[v]);
    other_shares.copy_from(out);
    prepare();
    push_edge<<<(edges + threads - 1) / threads, threads>>>(owner_array.data(), other_array.data(),
                                                            other_shares.data(), next.data(), edges);
    look("push_edge", pushed);
}

void body() {
    all_of<32>(1 << 17, 16);
    all_of<32>(1 << 18, 12);
    all_of<8>(1 << 20, 8);
}

int main() {
    return run(body);
}
