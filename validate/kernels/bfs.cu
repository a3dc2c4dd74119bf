// Breadth-first search on a random graph, one launch a level: all vertices each level, one thread for each
// vertex of the frontier, and one warp for each.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Graph {
    const int* offsets;  // of each vertex' edges; one more than vertices
    const int* targets;
    int vertices;
};

__global__ void all_vertices(Graph graph, int* distances, int level, int* changed) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < graph.vertices && distances[vertex] == level) {
        for (int edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; ++edge) {
            const int target = graph.targets[edge];
            // Several threads may write: all write the same.
            if (distances[target] < 0) {
                distances[target] = level + 1;
                *changed = 1;
            }
        }
    }
}

/// The thread that reaches a vertex first puts it on the next frontier.
__device__ void visit(int target, int* distances, int level, int* next, int* next_size) {
    if (distances[target] < 0 && atomicCAS(&distances[target], -1, level + 1) == -1) {
        next[atomicAdd(next_size, 1)] = target;
    }
}

__global__ void thread_for_each(Graph graph, const int* frontier, int frontier_size, int* distances,
                                int level, int* next, int* next_size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < frontier_size) {
        const int vertex = frontier[i];
        for (int edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; ++edge) {
            visit(graph.targets[edge], distances, level, next, next_size);
        }
    }
}

__global__ void warp_for_each(Graph graph, const int* frontier, int frontier_size, int* distances, int level,
                              int* next, int* next_size) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i < frontier_size) {
        const int vertex = frontier[i], end = graph.offsets[vertex + 1];
        for (int edge = graph.offsets[vertex] + lane; edge < end; edge += 32) {
            visit(graph.targets[edge], distances, level, next, next_size);
        }
    }
}

void body() {
    struct Case {
        int vertices, degree;
    };
    for (const auto [vertices, degree] : {Case{20011, 128}, Case{100003, 64}}) {
        std::vector<int> offsets(vertices + 1), targets;
        for (int vertex = 0; vertex < vertices; ++vertex) {
            offsets[vertex + 1] = offsets[vertex] + 1 + random_bits(1, vertex) % (2 * degree);
        }
        targets.resize(offsets.back());
        for (std::size_t edge = 0; edge < targets.size(); ++edge) {
            targets[edge] = random_bits(2, edge) % vertices;
        }
        std::vector<int> expected(vertices, -1), queue{0};
        expected[0] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const int vertex = queue[i];
            for (int edge = offsets[vertex]; edge < offsets[vertex + 1]; ++edge) {
                if (expected[targets[edge]] < 0) {
                    expected[targets[edge]] = expected[vertex] + 1;
                    queue.push_back(targets[edge]);
                }
            }
        }
        std::vector<int> start(vertices, -1);
        start[0] = 0;
        const Array<int> offsets_array(offsets), targets_array(targets);
        const Graph graph{offsets_array.data(), targets_array.data(), vertices};
        Array<int> distances(vertices), first_queue(vertices), second_queue(vertices), size(1);
        const auto verify = [&](const char* what) {
            const auto result = distances.values();
            check(result == expected, what);
            output(what, result);
        };
        const auto search = [&](const char* what, auto kernel, int threads_for_each) {
            distances.copy_from(start);
            first_queue.zero();  // the frontier is vertex 0
            int *frontier = first_queue.data(), *next = second_queue.data();
            int frontier_size = 1;
            for (int level = 0; frontier_size > 0; ++level) {
                size.zero();
                const int blocks = (frontier_size * threads_for_each + 255) / 256;
                prepare();
                kernel<<<blocks, 256>>>(graph, frontier, frontier_size, distances.data(), level, next,
                                        size.data());
                finish(what);
                frontier_size = size.values()[0];
                std::swap(frontier, next);
            }
            verify(what);
        };
        if (vertices < 50000) {
            distances.copy_from(start);
            int changed = 1;
            for (int level = 0; changed != 0; ++level) {
                size.zero();
                prepare();
                all_vertices<<<(vertices + 255) / 256, 256>>>(graph, distances.data(), level, size.data());
                finish("all_vertices");
                changed = size.values()[0];
            }
            verify("all_vertices");
        } else {
            search("thread_for_each", thread_for_each, 1);
            search("warp_for_each", warp_for_each, 32);
        }
    }
}

int main() {
    return run(body);
}
