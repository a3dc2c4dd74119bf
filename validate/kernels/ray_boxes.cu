// Rays through a binary tree of boxes, with a stack of their own: the nearest leaf for rays of a camera and
// for random rays, and whether any leaf is hit; and rays against all triangles in tiles of shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr float far_away = 1e30F;
constexpr int tile = 128;

/// Node k of a tree has children 2 k and 2 k + 1; the root is 1, and the last half are leaves.
struct Box {
    float4 low, high;
};
struct Ray {
    float3 from, direction;
};
struct Triangle {
    float3 corner, first, second;  // A corner and the edges from there.
};

__host__ __device__ inline float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__host__ __device__ inline float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__host__ __device__ inline float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Where a ray enters a box, or `far_away`.
__host__ __device__ inline float enter(const Box& box, float3 from, float3 inverse) {
    const float x0 = (box.low.x - from.x) * inverse.x, x1 = (box.high.x - from.x) * inverse.x;
    const float y0 = (box.low.y - from.y) * inverse.y, y1 = (box.high.y - from.y) * inverse.y;
    const float z0 = (box.low.z - from.z) * inverse.z, z1 = (box.high.z - from.z) * inverse.z;
    const float begin = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0F));
    const float end = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
    return begin <= end ? begin : far_away;
}

/// Where a ray hits a triangle, or `far_away`.
__host__ __device__ inline float hit(const Triangle& triangle, const Ray& ray) {
    const float3 p = cross(ray.direction, triangle.second);
    const float determinant = dot(triangle.first, p);
    if (fabsf(determinant) < 1e-12F) return far_away;
    const float inverse = 1.0F / determinant;
    const float3 s = ray.from - triangle.corner, q = cross(s, triangle.first);
    const float u = dot(s, p) * inverse, v = dot(ray.direction, q) * inverse;
    const float t = dot(triangle.second, q) * inverse;
    return u >= 0.0F && v >= 0.0F && u + v <= 1.0F && t > 0.0F ? t : far_away;
}

/// The nearer child first, the other on the stack. With `any` the first leaf ends the search.
template <bool any>
__global__ void __launch_bounds__(128)
    traverse(const Box* boxes, int leaves, const Ray* rays, float* distances, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float3 from = rays[i].from, direction = rays[i].direction;
    const float3 inverse = make_float3(1.0F / direction.x, 1.0F / direction.y, 1.0F / direction.z);
    int stack[24], depth = 0, node = 1;
    float nearest = far_away;
    while (true) {
        if (node >= leaves) {
            nearest = fminf(nearest, enter(boxes[node], from, inverse));
            if (any && nearest < far_away) break;
        } else {
            const float left = enter(boxes[2 * node], from, inverse);
            const float right = enter(boxes[2 * node + 1], from, inverse);
            const int nearer = 2 * node + (right < left);
            if (fmaxf(left, right) < nearest) stack[depth++] = nearer ^ 1;
            if (fminf(left, right) < nearest) {
                node = nearer;
                continue;
            }
        }
        if (depth == 0) break;
        node = stack[--depth];
    }
    distances[i] = any ? (nearest < far_away ? 1.0F : 0.0F) : nearest;
}

/// All rays against all triangles, a tile after another.
__global__ void all_triangles(const Triangle* triangles, int size, const Ray* rays, float* distances) {
    __shared__ Triangle own[tile];
    const int i = blockIdx.x * tile + threadIdx.x;
    const Ray ray = rays[i];
    float nearest = far_away;
    for (int first = 0; first < size; first += tile) {
        __syncthreads();
        own[threadIdx.x] = triangles[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < tile; ++k) nearest = fminf(nearest, hit(own[k], ray));
    }
    distances[i] = nearest;
}

/// The bits of a leaf's number, dealt out to three axes in turn, are its place in the unit cube.
std::vector<Box> tree_of(int levels) {
    const int leaves = 1 << levels;
    std::vector<Box> boxes(2 * leaves);
    for (int leaf = 0; leaf < leaves; ++leaf) {
        float place[3] = {}, width[3] = {1.0F, 1.0F, 1.0F};
        for (int bit = 0; bit < levels; ++bit) {
            width[bit % 3] *= 0.5F;
            if (leaf >> (levels - 1 - bit) & 1) place[bit % 3] += width[bit % 3];
        }
        float corner[3];
        for (int k = 0; k < 3; ++k) corner[k] = place[k] + 0.35F * width[k] * (1.0F + random_float(k, leaf));
        boxes[leaves + leaf] = {make_float4(corner[0], corner[1], corner[2], 0),
                                make_float4(corner[0] + 0.3F * width[0], corner[1] + 0.3F * width[1],
                                            corner[2] + 0.3F * width[2], 0)};
    }
    for (int node = leaves - 1; node > 0; --node) {
        const Box &a = boxes[2 * node], &b = boxes[2 * node + 1];
        boxes[node].low = make_float4(std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y),
                                      std::min(a.low.z, b.low.z), 0);
        boxes[node].high = make_float4(std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y),
                                       std::max(a.high.z, b.high.z), 0);
    }
    return boxes;
}

/// Rays of a camera before the cube, `side` by `side`, in tiles of 8 by 4; or random rays within the cube.
std::vector<Ray> rays_of(int side, bool camera) {
    std::vector<Ray> rays(side * side);
    for (int i = 0; i < side * side; ++i) {
        const int block = i / 32, x = block % (side / 8) * 8 + i % 8, y = block / (side / 8) * 4 + i % 32 / 8;
        if (camera) {
            rays[i] = {{0.5F, 0.5F, -1.0F}, {(x + 0.37F) / side - 0.5F, (y + 0.41F) / side - 0.5F, 1.0F}};
        } else {
            rays[i] = {{0.5F + 0.5F * random_float(11, i), 0.5F + 0.5F * random_float(12, i),
                        0.5F + 0.5F * random_float(13, i)},
                       {random_float(14, i), random_float(15, i), random_float(16, i)}};
        }
    }
    return rays;
}

void trees(int levels, int side) {
    const int leaves = 1 << levels, count = side * side;
    const auto boxes = tree_of(levels);
    const Array<Box> tree(boxes);
    Array<float> distances(count);
    for (const bool camera : {true, false}) {
        const auto rays = rays_of(side, camera);
        const Array<Ray> ray_array(rays);
        for (const bool any : {false, true}) {
            prepare();
            (any ? traverse<true> : traverse<false>)<<<count / 128, 128>>>(
                tree.data(), leaves, ray_array.data(), distances.data(), count);
            finish("traverse");
            const auto found = distances.values();
            for (int i = 0; i < count; i += 4099) {
                const float3 d = rays[i].direction;
                float nearest = far_away;
                for (int leaf = leaves; leaf < 2 * leaves; ++leaf) {
                    nearest =
                        std::min(nearest, enter(boxes[leaf], rays[i].from, {1 / d.x, 1 / d.y, 1 / d.z}));
                }
                if (any) nearest = nearest < far_away ? 1.0F : 0.0F;
                check(std::fabs(found[i] - nearest) <= 1e-4F * std::max(1.0F, nearest), "traverse");
            }
            std::vector<int> found_any(count);
            for (int i = 0; i < count; ++i) found_any[i] = any ? found[i] > 0.5F : found[i] < far_away;
            output(camera ? "camera" : "random", found_any);
        }
    }
}

void brute_force(int size, int side) {
    std::vector<Triangle> triangles(size);
    for (int i = 0; i < size; ++i) {
        const auto number = [&](int k) { return random_float(20 + k, i); };
        triangles[i] = {{0.5F + 0.5F * number(0), 0.5F + 0.5F * number(1), 0.5F + 0.5F * number(2)},
                        {0.2F * number(3), 0.2F * number(4), 0.2F * number(5)},
                        {0.2F * number(6), 0.2F * number(7), 0.2F * number(8)}};
    }
    const auto rays = rays_of(side, true);
    const Array<Triangle> triangle_array(triangles);
    const Array<Ray> ray_array(rays);
    Array<float> distances(rays.size());
    prepare();
    all_triangles<<<side * side / tile, tile>>>(triangle_array.data(), size, ray_array.data(),
                                                distances.data());
    finish("triangles");
    const auto found = distances.values();
    for (int i = 0; i < side * side; i += 1021) {
        float nearest = far_away;
        for (const Triangle& triangle : triangles) nearest = std::min(nearest, hit(triangle, rays[i]));
        check(std::fabs(found[i] - nearest) <= 1e-3F * std::max(1.0F, nearest), "triangles");
    }
    std::vector<int> hits(found.size());
    for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = found[i] < far_away;
    output("triangles", hits);
}

void body() {
    trees(12, 256);
    trees(14, 288);
    trees(16, 256);
    brute_force(2048, 64);
    brute_force(512, 128);
    brute_force(256, 224);
}

int main() {
    return run(body);
}
