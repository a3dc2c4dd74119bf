// Lattice Boltzmann flow in two and three dimensions (9 and 19 velocities): cells or velocities together in
// memory, pulled and pushed from array to array, and in place with steps that take turns.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr float omega = 1.25F;

/// Axis 0 to 2 of a velocity. Opposite ones are neighbours; the first nine lie in a plane.
__host__ __device__ constexpr int velocity(int k, int axis) {
    constexpr int all[19][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0},
                                {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {0, 0, 1},
                                {0, 0, -1}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1},
                                {0, 1, 1},  {0, -1, -1}, {0, 1, -1},  {0, -1, 1}};
    return all[k][axis];
}
__host__ __device__ constexpr int opposite(int k) {
    return k == 0 ? 0 : ((k - 1) ^ 1) + 1;
}
__host__ __device__ constexpr float weight(int count, int k) {
    const int axes =
        velocity(k, 0) * velocity(k, 0) + velocity(k, 1) * velocity(k, 1) + velocity(k, 2) * velocity(k, 2);
    if (count == 9) return axes == 0 ? 4.0F / 9 : axes == 1 ? 1.0F / 9 : 1.0F / 36;
    return axes == 0 ? 1.0F / 3 : axes == 1 ? 1.0F / 18 : 1.0F / 36;
}

struct Box {
    int width, height, depth;

    __host__ __device__ int cells() const { return width * height * depth; }
    /// The cell `sign` times velocity k away; the box is periodic.
    __host__ __device__ int neighbour(int x, int y, int z, int k, int sign) const {
        const int u = x + sign * velocity(k, 0), v = y + sign * velocity(k, 1), w = z + sign * velocity(k, 2);
        const int right = u < 0 ? width - 1 : u == width ? 0 : u;
        const int above = v < 0 ? height - 1 : v == height ? 0 : v;
        const int behind = w < 0 ? depth - 1 : w == depth ? 0 : w;
        return (behind * height + above) * width + right;
    }
};

/// Populations relax towards their equilibrium.
template <int count, class T>
__host__ __device__ void collide(T (&f)[count]) {
    T density = 0, u = 0, v = 0, w = 0;
#pragma unroll
    for (int k = 0; k < count; ++k) {
        density += f[k];
        u += velocity(k, 0) * f[k];
        v += velocity(k, 1) * f[k];
        w += velocity(k, 2) * f[k];
    }
    u /= density;
    v /= density;
    w /= density;
    const T still = 1 - T(1.5) * (u * u + v * v + w * w);
#pragma unroll
    for (int k = 0; k < count; ++k) {
        const T along = velocity(k, 0) * u + velocity(k, 1) * v + velocity(k, 2) * w;
        const T equilibrium = weight(count, k) * density * (still + 3 * along + T(4.5) * along * along);
        f[k] += T(omega) * (equilibrium - f[k]);
    }
}

/// Velocities of a cell together, or cells of a velocity.
template <int count, bool by_velocity>
__host__ __device__ std::size_t place(int cells, int cell, int k) {
    return by_velocity ? static_cast<std::size_t>(k) * cells + cell
                       : static_cast<std::size_t>(cell) * count + k;
}

template <int count, bool by_velocity, bool pull>
__global__ void step(const float* from, float* to, Box box) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= box.width) return;
    const int cells = box.cells(), cell = (z * box.height + y) * box.width + x;
    float f[count];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        f[k] = from[place<count, by_velocity>(cells, pull ? box.neighbour(x, y, z, k, -1) : cell, k)];
    }
    collide(f);
#pragma unroll
    for (int k = 0; k < count; ++k) {
        to[place<count, by_velocity>(cells, pull ? cell : box.neighbour(x, y, z, k, 1), k)] = f[k];
    }
}

/// In place: an even step stays in its cell and turns velocities round, an odd one reads and writes what its
/// neighbours have of it.
template <int count, bool odd>
__global__ void in_place(float* values, Box box) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= box.width) return;
    const int cells = box.cells(), cell = (z * box.height + y) * box.width + x;
    float f[count];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        f[k] = odd ? values[place<count, true>(cells, box.neighbour(x, y, z, k, -1), opposite(k))]
                   : values[place<count, true>(cells, cell, k)];
    }
    collide(f);
#pragma unroll
    for (int k = 0; k < count; ++k) {
        if (odd) {
            values[place<count, true>(cells, box.neighbour(x, y, z, k, 1), k)] = f[k];
        } else {
            values[place<count, true>(cells, cell, opposite(k))] = f[k];
        }
    }
}

template <int count, bool by_velocity>
std::vector<float> start(const Box& box) {
    std::vector<float> values(static_cast<std::size_t>(box.cells()) * count);
    for (int cell = 0; cell < box.cells(); ++cell) {
        for (int k = 0; k < count; ++k) {
            values[place<count, by_velocity>(box.cells(), cell, k)] =
                weight(count, k) * (1.0F + 0.1F * random_float(k, cell));
        }
    }
    return values;
}

/// Every 997th cell after a step.
template <int count, bool by_velocity, bool pull>
void look(const char* what, const std::vector<float>& from, const std::vector<float>& to, const Box& box) {
    const int cells = box.cells();
    for (int cell = 0; cell < cells; cell += 997) {
        const int x = cell % box.width, y = cell / box.width % box.height, z = cell / box.width / box.height;
        double f[count];
        for (int k = 0; k < count; ++k) {
            f[k] = from[place<count, by_velocity>(cells, pull ? box.neighbour(x, y, z, k, -1) : cell, k)];
        }
        collide(f);
        for (int k = 0; k < count; ++k) {
            const int at = pull ? cell : box.neighbour(x, y, z, k, 1);
            check(std::fabs(to[place<count, by_velocity>(cells, at, k)] - f[k]) < 1e-5, what);
        }
    }
}

template <int count, bool by_velocity, bool pull>
std::vector<float> one_step(const char* what, const std::vector<float>& numbers, const Box& box,
                            int threads) {
    const Array<float> from(numbers);
    Array<float> to(numbers.size());
    prepare();
    step<count, by_velocity, pull>
        <<<dim3((box.width + threads - 1) / threads, box.height, box.depth), threads>>>(from.data(),
                                                                                        to.data(), box);
    finish(what);
    const auto found = to.values();
    look<count, by_velocity, pull>(what, numbers, found, box);
    output((what + ("_" + std::to_string(count)) + "_" + std::to_string(box.width)).c_str(), found);
    return found;
}

/// Two steps in place do what two pushed ones do.
template <int count>
void take_turns(const std::vector<float>& numbers, const std::vector<float>& after_one, const Box& box,
                int threads) {
    const dim3 grid((box.width + threads - 1) / threads, box.height, box.depth);
    Array<float> values(numbers);
    prepare();
    in_place<count, false><<<grid, threads>>>(values.data(), box);
    finish("even");
    prepare();
    in_place<count, true><<<grid, threads>>>(values.data(), box);
    finish("odd");
    const auto found = values.values();
    look<count, true, false>("turns", after_one, found, box);
    output(("turns_" + std::to_string(count) + "_" + std::to_string(box.width)).c_str(), found);
}

void body() {
    for (const Box box : {Box{1024, 1024, 1}, Box{256, 160, 1}}) {
        const int threads = box.width / 4;
        one_step<9, false, true>("cells_pull", start<9, false>(box), box, threads);
        one_step<9, false, false>("cells_push", start<9, false>(box), box, threads);
        const auto numbers = start<9, true>(box);
        one_step<9, true, true>("velocities_pull", numbers, box, threads);
        take_turns<9>(numbers, one_step<9, true, false>("velocities_push", numbers, box, threads), box,
                      threads);
    }
    const Box cube{96, 96, 96};
    one_step<19, false, true>("cells_pull", start<19, false>(cube), cube, 96);
    const auto numbers = start<19, true>(cube);
    one_step<19, true, true>("velocities_pull", numbers, cube, 96);
    take_turns<19>(numbers, one_step<19, true, false>("velocities_push", numbers, cube, 96), cube, 96);
}

int main() {
    return run(body);
}
