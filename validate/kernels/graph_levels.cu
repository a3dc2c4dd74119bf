// Graphs by rows of neighbours: breadth-first levels with a queue by threads and by warps, ranks pulled by
// threads and by warps, triangles by merging and by search, colours by local maxima, and shortest ways.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A thread a vertex of the frontier; the next one is a queue filled by an atomic for each new vertex.
__global__ void queue_by_threads(const int* starts, const int* neighbours, int* levels, const int* frontier,
                                 int* next, int* next_size, int size, int level) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const int vertex = frontier[i];
    for (int e = starts[vertex]; e < starts[vertex + 1]; ++e) {
        const int other = neighbours[e];
        if (levels[other] < 0 && atomicCAS(levels + other, -1, level) == -1)
            next[atomicAdd(next_size, 1)] = other;
    }
}
/// A warp a vertex; new vertices wait in shared memory and a block asks for their places at once.
__global__ void __launch_bounds__(128)
    queue_by_warps(const int* starts, const int* neighbours, int* levels, const int* frontier, int* next,
                   int* next_size, int size, int level) {
    __shared__ int waiting[1024], count, base;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i < size) {
        const int vertex = frontier[i], end = starts[vertex + 1];
        for (int e = starts[vertex] + lane; e < end; e += 32) {
            const int other = neighbours[e];
            if (levels[other] < 0 && atomicCAS(levels + other, -1, level) == -1) {
                const int place = atomicAdd(&count, 1);
                if (place < 1024)
                    waiting[place] = other;
                else
                    next[atomicAdd(next_size, 1)] = other;
            }
        }
    }
    __syncthreads();
    const int found = min(count, 1024);
    if (threadIdx.x == 0 && found > 0) base = atomicAdd(next_size, found);
    __syncthreads();
    for (int k = threadIdx.x; k < found; k += 128) next[base + k] = waiting[k];
}

__global__ void ranks_by_threads(const int* starts, const int* neighbours, const float* shares,
                                 const int* degrees, float* ranks, float* next_shares, int vertices) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    float sum = 0.0F;
    for (int e = starts[v]; e < starts[v + 1]; ++e) sum += shares[neighbours[e]];
    const float rank = 0.15F / static_cast<float>(vertices) + 0.85F * sum;
    ranks[v] = rank;
    next_shares[v] = degrees[v] > 0 ? rank / static_cast<float>(degrees[v]) : 0.0F;
}
__global__ void ranks_by_warps(const int* starts, const int* neighbours, const float* shares,
                               const int* degrees, float* ranks, float* next_shares, int vertices) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= vertices) return;
    float sum = 0.0F;
    for (int e = starts[v] + lane; e < starts[v + 1]; e += 32) sum += __ldg(shares + __ldg(neighbours + e));
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
    if (lane != 0) return;
    const float rank = 0.15F / static_cast<float>(vertices) + 0.85F * sum;
    ranks[v] = rank;
    next_shares[v] = degrees[v] > 0 ? rank / static_cast<float>(degrees[v]) : 0.0F;
}

/// Common larger neighbours of both ends of an edge: two sorted lists merged, a thread an edge.
__global__ void triangles_by_merge(const int* starts, const int* neighbours, const int* sources, int* counts,
                                   int edges) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const int u = sources[e], v = neighbours[e], u_end = starts[u + 1], v_end = starts[v + 1];
    int count = 0;
    if (u < v)
        for (int i = e + 1, j = starts[v]; i < u_end && j < v_end;) {
            const int a = neighbours[i], b = neighbours[j];
            count += a == b ? 1 : 0;
            i += a <= b ? 1 : 0;
            j += b <= a ? 1 : 0;
        }
    counts[e] = count;
}
/// Each lane of a group of eight looks for one neighbour of u in the list of v by halving.
__global__ void triangles_by_search(const int* starts, const int* neighbours, const int* sources, int* counts,
                                    int edges) {
    const int e = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    int count = 0;
    if (e < edges) {
        const int u = sources[e], v = neighbours[e], u_end = starts[u + 1];
        if (u < v)
            for (int i = e + 1 + lane; i < u_end; i += 8) {
                const int wanted = neighbours[i], v_end = starts[v + 1];
                int low = starts[v], high = v_end;
                while (low < high) {
                    const int middle = (low + high) / 2;
                    if (neighbours[middle] < wanted)
                        low = middle + 1;
                    else
                        high = middle;
                }
                count += low < v_end && neighbours[low] == wanted ? 1 : 0;
            }
    }
    for (int step = 4; step > 0; step /= 2) count += __shfl_xor_sync(0xffffffffU, count, step);
    if (e < edges && lane == 0) counts[e] = count;
}

/// A round of colouring: whoever has the largest number among its uncoloured neighbours takes the colour.
__global__ void colour_round(const int* starts, const int* neighbours, const int* colours, int* next,
                             int colour, int vertices) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    int own = colours[v];
    if (own < 0) {
        const unsigned mine = random_bits(5, v);
        bool largest = true;
        for (int e = starts[v]; e < starts[v + 1]; ++e) {
            const int other = neighbours[e];
            if (colours[other] >= 0) continue;
            const unsigned theirs = random_bits(5, other);
            if (theirs > mine || (theirs == mine && other > v)) {
                largest = false;
                break;
            }
        }
        if (largest) own = colour;
    }
    next[v] = own;
}

/// Shortest ways: every edge offers its source's distance, read from another array.
__global__ void relax(const int* sources, const int* neighbours, const int* weights, const int* distances,
                      int* next, int edges) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += gridDim.x * blockDim.x) {
        const int from = distances[sources[e]];
        if (from < 1000000) {
            const int offered = from + weights[e];
            if (offered < next[neighbours[e]]) atomicMin(next + neighbours[e], offered);
        }
    }
}

void body() {
    const int vertices = 200000;
    std::vector<std::vector<int>> lists(vertices);
    for (int k = 0; k < 1500000; ++k) {  // squares make some vertices far more common
        const float r = (random_float(1, k) + 1.0F) / 2.0F;
        const int u = std::min(vertices - 1, static_cast<int>(r * r * vertices));
        const std::uint32_t bits = random_bits(2, k);
        const int v =
            k % 2 == 0 ? static_cast<int>(bits % vertices) : (u + 1 + static_cast<int>(bits % 60)) % vertices;
        if (u == v) continue;
        lists[u].push_back(v);
        lists[v].push_back(u);
    }
    std::vector<int> start_values = {0}, neighbour_values, source_values, degree_values(vertices);
    for (int v = 0; v < vertices; ++v) {
        std::sort(lists[v].begin(), lists[v].end());
        lists[v].erase(std::unique(lists[v].begin(), lists[v].end()), lists[v].end());
        for (const int other : lists[v]) {
            neighbour_values.push_back(other);
            source_values.push_back(v);
        }
        degree_values[v] = static_cast<int>(lists[v].size());
        start_values.push_back(static_cast<int>(neighbour_values.size()));
    }
    const int edges = static_cast<int>(neighbour_values.size());
    const Array<int> starts(start_values), neighbours(neighbour_values), sources(source_values);
    const Array<int> degrees(degree_values);
    std::vector<int> expected(vertices, -1), frontier = {7}, after;
    expected[7] = 0;
    for (int level = 1; level < 3; ++level) {  // two levels by the host
        after.clear();
        for (const int v : frontier)
            for (const int other : lists[v])
                if (expected[other] < 0) {
                    expected[other] = level;
                    after.push_back(other);
                }
        frontier = after;
    }
    const int size = static_cast<int>(frontier.size());
    std::vector<int> padded = frontier;
    padded.resize(vertices);
    const Array<int> frontier_array(padded);
    Array<int> levels(vertices), next(vertices), next_size(2);
    levels.copy_from(expected);
    prepare();
    queue_by_threads<<<(size + 127) / 128, 128>>>(starts.data(), neighbours.data(), levels.data(),
                                                  frontier_array.data(), next.data(), next_size.data(), size,
                                                  3);
    finish("threads");
    const std::vector<int> third = levels.values();
    output("levels", third);
    levels.copy_from(expected);
    prepare();
    queue_by_warps<<<(size + 3) / 4, 128>>>(starts.data(), neighbours.data(), levels.data(),
                                            frontier_array.data(), next.data(), next_size.data() + 1, size,
                                            3);
    finish("warps");
    check(levels.values() == third, "levels");
    const std::vector<int> sizes = next_size.values();
    check(sizes[0] == sizes[1] && sizes[0] == std::count(third.begin(), third.end(), 3), "queues");
    std::vector<float> share_values(vertices);
    for (int v = 0; v < vertices; ++v)
        share_values[v] =
            degree_values[v] > 0 ? 1.0F / static_cast<float>(vertices) / degree_values[v] : 0.0F;
    const Array<float> shares(share_values);
    Array<float> ranks(vertices), again(vertices), next_shares(vertices);
    prepare();
    ranks_by_threads<<<(vertices + 255) / 256, 256>>>(starts.data(), neighbours.data(), shares.data(),
                                                      degrees.data(), ranks.data(), next_shares.data(),
                                                      vertices);
    finish("ranks");
    prepare();
    ranks_by_warps<<<(vertices + 7) / 8, 256>>>(starts.data(), neighbours.data(), shares.data(),
                                                degrees.data(), again.data(), next_shares.data(), vertices);
    finish("ranks");
    const std::vector<float> rank_values = ranks.values();
    check_close(again.values(), std::vector<double>(rank_values.begin(), rank_values.end()), 1e-4, "ranks");
    output("ranks", again);
    Array<int> merged(edges), searched(edges);
    prepare();
    triangles_by_merge<<<(edges + 127) / 128, 128>>>(starts.data(), neighbours.data(), sources.data(),
                                                     merged.data(), edges);
    finish("merge");
    prepare();
    triangles_by_search<<<(edges + 31) / 32, 256>>>(starts.data(), neighbours.data(), sources.data(),
                                                    searched.data(), edges);
    finish("search");
    check(merged.values() == searched.values(), "triangles");
    output("triangles", merged);
    Array<int> colours(std::vector<int>(vertices, -1)), coloured(vertices);
    for (int round = 0; round < 2; ++round) {
        prepare();
        colour_round<<<(vertices + 255) / 256, 256>>>(
            starts.data(), neighbours.data(), round == 0 ? colours.data() : coloured.data(),
            round == 0 ? coloured.data() : colours.data(), round, vertices);
        finish("colours");
    }
    output("colours", colours);
    std::vector<int> weight_values(edges), distance_values(vertices, 1000000);
    for (int e = 0; e < edges; ++e) weight_values[e] = 1 + static_cast<int>(random_bits(4, e) % 100);
    for (int v = 0; v < vertices; ++v)
        if (third[v] >= 0) distance_values[v] = third[v] * 50;
    const Array<int> weights(weight_values), distances(distance_values);
    Array<int> shorter(distance_values);
    prepare();
    relax<<<132 * 8, 256>>>(sources.data(), neighbours.data(), weights.data(), distances.data(),
                            shorter.data(), edges);
    finish("relax");
    output("relaxed", shorter);
}

int main() {
    return run(body);
}
