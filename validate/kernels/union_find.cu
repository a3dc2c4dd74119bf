// Connected components of a graph: by labels that spread along edges, by trees that hook onto smaller ones
// and are flattened after each round, and by a union-find forest in one pass, without and with shorter paths.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Edge {
    int first, second;
};

/// Each vertex takes the least label among its own and its neighbours'. Labels are read from the last round,
/// so that the number of rounds is always the same; `next` begins as their copy.
__global__ void spread_labels(const Edge* edges, int count, const int* labels, int* next, int* changed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const Edge edge = edges[i];
        const int first = labels[edge.first], second = labels[edge.second];
        if (first != second) {
            atomicMin(&next[first < second ? edge.second : edge.first], min(first, second));
            *changed = 1;
        }
    }
}

/// All trees are flat. Each tree hooks onto the least tree that an edge leads to, if that is less.
__global__ void hook_trees(const Edge* edges, int count, const int* parents, int* next, int* changed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const Edge edge = edges[i];
        const int first = parents[edge.first], second = parents[edge.second];
        if (first != second) {
            atomicMin(&next[max(first, second)], min(first, second));
            *changed = 1;
        }
    }
}

/// Makes each vertex a child of its root.
__global__ void flatten(const int* parents, int* roots, int vertices) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < vertices) {
        int root = parents[vertex];
        while (parents[root] != root) {
            root = parents[root];
        }
        roots[vertex] = root;
    }
}

/// Parents are always less than their children. They change meanwhile, but only to other ancestors: volatile,
/// so that none is read twice from a cache.
template <bool halving>
__device__ int root_of(volatile int* parents, int vertex) {
    int parent = parents[vertex];
    while (parent != vertex) {
        const int grandparent = parents[parent];
        if (halving && grandparent != parent) {
            parents[vertex] = grandparent;
        }
        vertex = parent;
        parent = grandparent;
    }
    return vertex;
}

/// Hooks the greater root onto the lesser one; tries again when another thread was first.
template <bool halving>
__global__ void unite(const Edge* edges, int count, int* parents) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    int first = edges[i].first, second = edges[i].second;
    for (;;) {
        first = root_of<halving>(parents, first);
        second = root_of<halving>(parents, second);
        if (first == second) {
            return;
        }
        const int greater = max(first, second);
        if (atomicCAS(&parents[greater], greater, min(first, second)) == greater) {
            return;
        }
    }
}

/// Vertices in groups of very different sizes, edges within groups only; neither in order.
std::vector<Edge> random_edges(int vertices, int degree) {
    std::vector<int> names(vertices);
    for (int i = 0; i < vertices; ++i) {
        names[i] = i;
    }
    for (int i = vertices - 1; i > 0; --i) {
        std::swap(names[i], names[random_bits(1, i) % (i + 1)]);
    }
    std::vector<Edge> edges;
    for (int begin = 0, group = 0; begin < vertices; ++group) {
        const int wanted = 1 + static_cast<int>(random_bits(2, group) % (1U << random_bits(3, group) % 14));
        const int size = std::min(wanted, vertices - begin);
        for (int k = 0; k < size * degree / 2; ++k) {
            const int first = begin + static_cast<int>(random_bits(4, edges.size()) % size);
            const int second = begin + static_cast<int>(random_bits(5, edges.size()) % size);
            edges.push_back({names[first], names[second]});
        }
        begin += size;
    }
    for (std::size_t i = edges.size() - 1; i > 0; --i) {
        std::swap(edges[i], edges[random_bits(6, i) % (i + 1)]);
    }
    return edges;
}

/// The least vertex of each vertex' component.
std::vector<int> components(const std::vector<Edge>& edges, int vertices) {
    std::vector<int> parents(vertices);
    for (int i = 0; i < vertices; ++i) {
        parents[i] = i;
    }
    const auto root = [&](int vertex) {
        while (parents[vertex] != vertex) {
            parents[vertex] = parents[parents[vertex]];
            vertex = parents[vertex];
        }
        return vertex;
    };
    for (const Edge& edge : edges) {
        const int first = root(edge.first), second = root(edge.second);
        parents[std::max(first, second)] = std::min(first, second);
    }
    for (int i = 0; i < vertices; ++i) {
        parents[i] = root(i);
    }
    return parents;
}

void body() {
    struct Case {
        int vertices, degree;
    };
    for (const auto& [vertices, degree] : {Case{20011, 26}, Case{200003, 9}}) {
        const bool small = vertices < 100000;
        const auto edge_list = random_edges(vertices, degree);
        const auto expected = components(edge_list, vertices);
        const int count = static_cast<int>(edge_list.size());
        std::vector<int> own_labels(vertices);
        for (int i = 0; i < vertices; ++i) {
            own_labels[i] = i;
        }
        const Array<Edge> edges(edge_list);
        Array<int> labels(own_labels), next(own_labels), changed(1);
        constexpr int threads = 256;
        const int edge_blocks = (count + threads - 1) / threads;
        const int vertex_blocks = (vertices + threads - 1) / threads;
        const auto verify = [&](const char* what) {
            const auto found = labels.values();
            check(found == expected, what);
            output(what, found);
            labels.copy_from(own_labels);
            next.copy_from(own_labels);
        };
        const auto copy = [](const Array<int>& from, const Array<int>& to) {
            require(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(int), cudaMemcpyDeviceToDevice),
                    "copy");
        };

        if (small) {
            do {
                changed.zero();
                prepare();
                spread_labels<<<edge_blocks, threads>>>(edges.data(), count, labels.data(), next.data(),
                                                        changed.data());
                finish("spread_labels");
                copy(next, labels);
            } while (changed.values()[0] != 0);
            verify("spread_labels");
        } else {
            for (;;) {
                changed.zero();
                prepare();
                hook_trees<<<edge_blocks, threads>>>(edges.data(), count, labels.data(), next.data(),
                                                     changed.data());
                finish("hook_trees");
                if (changed.values()[0] == 0) {
                    break;
                }
                prepare();
                flatten<<<vertex_blocks, threads>>>(next.data(), labels.data(), vertices);
                finish("flatten");
                copy(labels, next);
            }
            verify("hook_trees");
        }
        prepare();
        if (small) {
            unite<false><<<edge_blocks, threads>>>(edges.data(), count, next.data());
        } else {
            unite<true><<<edge_blocks, threads>>>(edges.data(), count, next.data());
        }
        finish("unite");
        prepare();
        flatten<<<vertex_blocks, threads>>>(next.data(), labels.data(), vertices);
        finish("flatten");
        verify(small ? "unite" : "unite_halving");
    }
}

int main() {
    return run(body);
}
