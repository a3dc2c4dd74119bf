// Gravity of many bodies through a tree of cells: a thread a body with a stack of its own, in order along a
// curve and in none; ropes instead of stacks; and a warp that walks together with one stack in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr float softening = 1e-4F;

/// A cell or a leaf of one body. `child` is the first of up to four that lie together; `rope` is what follows
/// when a cell is not opened. `next` only fills the node up.
struct Node {
    float x, y, mass, size_squared;  // The square of side over the opening angle; 0 for a leaf.
    int child, count, rope, next;
};

__device__ void pull(float2& force, float x, float y, float mass, float dx, float dy) {
    const float squared = dx * dx + dy * dy + softening;
    const float inverse = rsqrtf(squared), factor = mass * inverse * inverse * inverse;
    force.x += factor * dx;
    force.y += factor * dy;
}

/// A thread a body, its stack in local memory.
__global__ void own_stack(const Node* nodes, const float2* bodies, float2* forces, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float2 body = bodies[i];
    float2 force{0.0F, 0.0F};
    int stack[48], top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const int at = stack[--top];
        const float4 place = *reinterpret_cast<const float4*>(&nodes[at]);
        const float dx = place.x - body.x, dy = place.y - body.y;
        if (dx * dx + dy * dy >= place.w) {
            pull(force, place.x, place.y, place.z, dx, dy);
        } else {
            const int child = nodes[at].child, children = nodes[at].count;
            for (int k = children - 1; k >= 0; --k) stack[top++] = child + k;
        }
    }
    forces[i] = force;
}

/// The same walk without a stack.
__global__ void by_ropes(const Node* nodes, const float2* bodies, float2* forces, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float2 body = bodies[i];
    float2 force{0.0F, 0.0F};
    int at = 0;
    while (at >= 0) {
        const float4 place = *reinterpret_cast<const float4*>(&nodes[at]);
        const float dx = place.x - body.x, dy = place.y - body.y;
        const int4 links = *reinterpret_cast<const int4*>(&nodes[at].child);
        if (dx * dx + dy * dy >= place.w) {
            pull(force, place.x, place.y, place.z, dx, dy);
            at = links.z;
        } else {
            at = links.x;
        }
    }
    forces[i] = force;
}

/// The warp opens a cell when one of its bodies must: one stack, no divergence, more pulls.
__global__ void by_warp(const Node* nodes, const float2* bodies, float2* forces, int count) {
    __shared__ int stacks[8][48];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int* stack = stacks[threadIdx.x / 32];
    const float2 body = bodies[min(i, count - 1)];
    float2 force{0.0F, 0.0F};
    int top = 1;
    if (lane == 0) stack[0] = 0;
    __syncwarp();
    while (top > 0) {
        const Node node = nodes[stack[--top]];
        __syncwarp();
        const float dx = node.x - body.x, dy = node.y - body.y;
        if (__all_sync(all_lanes, dx * dx + dy * dy >= node.size_squared)) {
            pull(force, node.x, node.y, node.mass, dx, dy);
        } else {
            if (lane < node.count) stack[top + lane] = node.child + node.count - 1 - lane;
            top += node.count;
            __syncwarp();
        }
    }
    if (i < count) forces[i] = force;
}

struct Tree {
    std::vector<float2> bodies;  // along a curve
    std::vector<Node> nodes;
};

unsigned spread_bits(unsigned value) {
    value = (value | value << 8) & 0x00ff00ffU;
    value = (value | value << 4) & 0x0f0f0f0fU;
    value = (value | value << 2) & 0x33333333U;
    return (value | value << 1) & 0x55555555U;
}

/// Cells of a quarter of the square each, until a body is alone. Links follow from the bodies' order.
struct Builder {
    const std::vector<float2>& bodies;
    const std::vector<unsigned>& keys;
    std::vector<Node>& nodes;
    float angle;

    void fill(int at, int begin, int end, int bits) {
        double x = 0, y = 0;
        for (int i = begin; i < end; ++i) {
            x += bodies[i].x;
            y += bodies[i].y;
        }
        Node node{static_cast<float>(x / (end - begin)),
                  static_cast<float>(y / (end - begin)),
                  static_cast<float>(end - begin),
                  0.0F,
                  -1,
                  0,
                  -1,
                  0};
        if (end - begin > 1 && bits > 0) {
            const float side = std::ldexp(2.0F, bits / 2 - 16) / angle;
            node.size_squared = side * side;
            int starts[5] = {begin, end, end, end, end};
            for (int k = 1; k < 4; ++k) {
                starts[k] = static_cast<int>(std::partition_point(keys.begin() + begin, keys.begin() + end,
                                                                  [&](unsigned key) {
                                                                      return (key >> (bits - 2) & 3U) <
                                                                             static_cast<unsigned>(k);
                                                                  }) -
                                             keys.begin());
            }
            node.child = static_cast<int>(nodes.size());
            int children[4], parts = 0;
            for (int k = 0; k < 4; ++k) {
                if (starts[k] < starts[k + 1]) children[parts++] = k;
            }
            node.count = parts;
            nodes.resize(nodes.size() + parts);
            nodes[at] = node;
            for (int k = 0; k < parts; ++k)
                fill(node.child + k, starts[children[k]], starts[children[k] + 1], bits - 2);
        } else {
            nodes[at] = node;
        }
    }
    void link(int at, int rope) {
        nodes[at].rope = rope;
        for (int k = 0; k < nodes[at].count; ++k)
            link(nodes[at].child + k, k + 1 < nodes[at].count ? nodes[at].child + k + 1 : rope);
    }
};

Tree make_tree(int count, float angle, bool clustered) {
    Tree tree;
    std::vector<std::pair<unsigned, float2>> sorted(count);
    for (int i = 0; i < count; ++i) {
        float2 body{random_float(1, i), random_float(2, i)};
        if (clustered && i % 4 != 0) {
            const int cluster = i % 7;
            body.x = random_float(3, cluster) * 0.8F + body.x * std::fabs(body.x) * 0.1F;
            body.y = random_float(4, cluster) * 0.8F + body.y * std::fabs(body.y) * 0.1F;
        }
        const auto cell = [](float value) { return static_cast<unsigned>((value + 1.0F) * 32767.99F); };
        sorted[i] = {spread_bits(cell(body.x)) | spread_bits(cell(body.y)) << 1, body};
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<unsigned> keys;
    for (const auto& [key, body] : sorted) {
        keys.push_back(key);
        tree.bodies.push_back(body);
    }
    tree.nodes.resize(1);
    Builder builder{tree.bodies, keys, tree.nodes, angle};
    builder.fill(0, 0, count, 32);
    builder.link(0, -1);
    return tree;
}

void all_of(int count, float angle, bool clustered, int threads) {
    const Tree tree = make_tree(count, angle, clustered);
    const Array<Node> nodes(tree.nodes);
    const Array<float2> bodies(tree.bodies);
    std::vector<float2> mixed(count);
    for (int i = 0; i < count; ++i) mixed[i] = tree.bodies[i * 0x9e3779b1U & (count - 1U)];
    const Array<float2> mixed_bodies(mixed);
    Array<float2> forces(count);
    const int blocks = (count + threads - 1) / threads;
    const auto look = [&](const char* what, const std::vector<float2>& order, bool same_walk) {
        finish(what);
        const auto found = forces.values();
        double off = 0, all = 0;
        for (int i = 0; i < count; i += 251) {
            double x = 0, y = 0;
            const auto add = [&](float to_x, float to_y, double mass) {
                const double dx = static_cast<double>(to_x) - order[i].x,
                             dy = static_cast<double>(to_y) - order[i].y;
                const double squared = dx * dx + dy * dy + softening;
                x += mass * dx / squared / std::sqrt(squared);
                y += mass * dy / squared / std::sqrt(squared);
            };
            if (same_walk) {
                for (int at = 0; at >= 0;) {
                    const Node& node = tree.nodes[at];
                    const double dx = static_cast<double>(node.x) - order[i].x,
                                 dy = static_cast<double>(node.y) - order[i].y;
                    const bool far = dx * dx + dy * dy >= node.size_squared;
                    if (far) add(node.x, node.y, node.mass);
                    at = far ? node.rope : node.child;
                }
            } else {
                for (const float2 other : tree.bodies) add(other.x, other.y, 1.0);
            }
            off += std::hypot(found[i].x - x, found[i].y - y);
            all += std::hypot(x, y);
        }
        check(off < (same_walk ? 1e-3 : 0.1) * all, what);
        std::vector<float> parts(count);
        for (int i = 0; i < count; ++i) parts[i] = found[i].x;
        output((what + ("_" + std::to_string(count))).c_str(), parts);
        forces.zero();
    };
    prepare();
    own_stack<<<blocks, threads>>>(nodes.data(), mixed_bodies.data(), forces.data(), count);
    look("mixed", mixed, true);
    prepare();
    own_stack<<<blocks, threads>>>(nodes.data(), bodies.data(), forces.data(), count);
    look("in_order", tree.bodies, true);
    prepare();
    by_ropes<<<blocks, threads>>>(nodes.data(), bodies.data(), forces.data(), count);
    look("ropes", tree.bodies, true);
    prepare();
    by_warp<<<blocks, threads>>>(nodes.data(), bodies.data(), forces.data(), count);
    look("warp", tree.bodies, false);
}

void body() {
    all_of(32768, 0.9F, false, 128);
    all_of(16384, 0.8F, true, 256);
    all_of(4096, 0.6F, true, 64);
}

int main() {
    return run(body);
}
