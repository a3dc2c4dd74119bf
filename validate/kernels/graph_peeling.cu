// Steps on graphs by rows of neighbours: triangles by merging or searching sorted rows, shortest paths
// relaxed with a warp or a thread a vertex, smallest labels passed on, and vertices of few neighbours peeled
// off.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <climits>

using namespace textbook;

/// A thread an edge (from < to): both rows are merged, and what is above `to` counted.
__global__ void triangles_merged(const int* rows, const int* columns, const int2* edges,
                                 unsigned long long* total, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned found = 0;
    if (i < count) {
        const int2 edge = edges[i];
        int a = rows[edge.x], b = rows[edge.y];
        const int a_end = rows[edge.x + 1], b_end = rows[edge.y + 1];
        while (a < a_end && b < b_end) {
            const int left = columns[a], right = columns[b];
            found += left == right && left > edge.y ? 1 : 0;
            a += left <= right ? 1 : 0;
            b += right <= left ? 1 : 0;
        }
    }
    found = __reduce_add_sync(0xffffffffU, found);
    if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(total, static_cast<unsigned long long>(found));
}

/// A warp an edge: lanes take neighbours of the shorter row and look for them in the other by halving.
__global__ void triangles_searched(const int* rows, const int* columns, const int2* edges,
                                   unsigned long long* total, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= count) return;
    const int2 edge = edges[i];
    int from = edge.x, into = edge.y;
    if (rows[from + 1] - rows[from] > rows[into + 1] - rows[into]) {
        from = edge.y;
        into = edge.x;
    }
    unsigned found = 0;
    for (int k = rows[from] + lane; k < rows[from + 1]; k += 32) {
        const int wanted = columns[k];
        if (wanted <= edge.y) continue;
        int low = rows[into], high = rows[into + 1];
        while (low < high) {
            const int middle = (low + high) / 2;
            if (columns[middle] < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        found += low < rows[into + 1] && columns[low] == wanted ? 1 : 0;
    }
    found = __reduce_add_sync(0xffffffffU, found);
    if (lane == 0 && found > 0) atomicAdd(total, static_cast<unsigned long long>(found));
}

/// `lanes` threads a vertex: distances of the round before are read, those of the next lowered.
template <int lanes>
__global__ void relax(const int* rows, const int* columns, const int* lengths, const int* before, int* next,
                      int vertices) {
    const int vertex = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (vertex >= vertices) return;
    const int distance = before[vertex];
    if (distance == INT_MAX) return;
    for (int k = rows[vertex] + lane; k < rows[vertex + 1]; k += lanes) {
        const int other = columns[k], through = distance + lengths[k];
        if (through < before[other]) atomicMin(next + other, through);
    }
}

__global__ void pass_labels(const int* rows, const int* columns, const int* before, int* next, int* changed,
                            int vertices) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    bool lowered = false;
    if (vertex < vertices) {
        const int own = before[vertex];
        int label = own;
        for (int k = rows[vertex]; k < rows[vertex + 1]; ++k) label = min(label, before[columns[k]]);
        next[vertex] = label;
        lowered = label < own;
    }
    const unsigned lanes = __ballot_sync(0xffffffffU, lowered);
    if (threadIdx.x % 32 == 0 && lanes != 0) atomicAdd(changed, __popc(lanes));
}

__global__ void mark(const int* degrees, int* rounds, int vertices, int least, int round) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < vertices && rounds[vertex] == 0 && degrees[vertex] < least) rounds[vertex] = round;
}

/// A warp takes 32 vertices in turn, its lanes the neighbours of each that was marked.
__global__ void peel(const int* rows, const int* columns, const int* rounds, int* degrees, int vertices,
                     int round) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned marked = __ballot_sync(0xffffffffU, vertex < vertices && rounds[vertex] == round);
    while (marked != 0) {
        const int peeled = vertex - lane + __ffs(marked) - 1;
        marked &= marked - 1;
        for (int k = rows[peeled] + lane; k < rows[peeled + 1]; k += 32) atomicSub(degrees + columns[k], 1);
    }
}

struct Graph {
    int vertices;
    std::vector<int> rows, columns;
    std::vector<int2> edges;
};

/// Pairs drawn so that vertices of small numbers have most neighbours; both directions, sorted, each once.
Graph make(int vertices, int pairs, bool skewed) {
    std::vector<std::vector<int>> neighbours(vertices);
    const auto draw = [&](int seed, int i) {
        const double x = random_bits(seed, i) / 4294967296.0;
        return static_cast<int>((skewed ? x * std::sqrt(x) : x) * vertices);
    };
    for (int i = 0; i < pairs; ++i) {
        const int a = draw(1, i), b = draw(2, i);
        if (a == b) continue;
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }
    Graph graph{vertices, {0}, {}, {}};
    for (int v = 0; v < vertices; ++v) {
        auto& row = neighbours[v];
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        graph.columns.insert(graph.columns.end(), row.begin(), row.end());
        graph.rows.push_back(static_cast<int>(graph.columns.size()));
        for (const int other : row)
            if (other > v) graph.edges.push_back({v, other});
    }
    return graph;
}

void all_of(const char* name, const Graph& graph) {
    const int n = graph.vertices, edges = static_cast<int>(graph.edges.size()), blocks = (n + 255) / 256;
    const Array<int> rows(graph.rows), columns(graph.columns);
    std::vector<int> lengths(graph.columns.size()), degrees(n), labels(n), distances(n, INT_MAX);
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = 1 + static_cast<int>(random_bits(3, i) % 100);
    for (int v = 0; v < n; ++v) degrees[v] = graph.rows[v + 1] - graph.rows[v];
    for (int v = 0; v < n; ++v) labels[v] = static_cast<int>(random_bits(4, v) >> 1);
    for (int v = 0; v < n; v += 97) distances[v] = v % 50;
    int2* pairs = nullptr;
    require(cudaMalloc(&pairs, edges * sizeof(int2)), "edges");
    require(cudaMemcpy(pairs, graph.edges.data(), edges * sizeof(int2), cudaMemcpyHostToDevice), "edges");
    Array<unsigned long long> total(2);
    prepare();
    triangles_merged<<<(edges + 127) / 128, 128>>>(rows.data(), columns.data(), pairs, total.data(), edges);
    finish("merged");
    prepare();
    triangles_searched<<<(edges + 7) / 8, 256>>>(rows.data(), columns.data(), pairs, total.data() + 1, edges);
    finish("searched");
    check(total.values()[0] == total.values()[1], "triangles");
    output((std::string(name) + "_triangles").c_str(), total);
    cudaFree(pairs);
    const Array<int> length_array(lengths);
    Array<int> before(distances), next(distances);
    prepare();
    relax<32><<<(n + 7) / 8, 256>>>(rows.data(), columns.data(), length_array.data(), before.data(),
                                    next.data(), n);
    finish("relax");
    before.copy_from(next.values());
    prepare();
    relax<1>
        <<<blocks, 256>>>(rows.data(), columns.data(), length_array.data(), before.data(), next.data(), n);
    finish("relax a thread");
    output((std::string(name) + "_distances").c_str(), next);
    Array<int> label_array(labels), changed(1), degree_array(degrees), rounds(n);
    prepare();
    pass_labels<<<blocks, 256>>>(rows.data(), columns.data(), label_array.data(), next.data(), changed.data(),
                                 n);
    finish("labels");
    output((std::string(name) + "_labels").c_str(), next);
    for (int round = 1; round <= 2; ++round) {
        prepare();
        mark<<<blocks, 256>>>(degree_array.data(), rounds.data(), n, 12, round);
        finish("mark");
        prepare();
        peel<<<blocks, 256>>>(rows.data(), columns.data(), rounds.data(), degree_array.data(), n, round);
        finish("peel");
    }
    output((std::string(name) + "_degrees").c_str(), degree_array);
}

void body() {
    all_of("skewed", make(100000, 500000, true));
    all_of("even", make(200000, 1200000, false));
}

int main() {
    return run(body);
}
