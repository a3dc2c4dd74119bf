// Forces between the particles of a box and of the up to 27 boxes around it: a CTA a box, whose neighbours
// wait in shared memory one after another; forces by an exponential and by a reciprocal root.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

template <class T>
struct alignas(4 * sizeof(T)) Four {
    T x, y, z, w;
};

/// How two particles push each other, by the square of their distance.
struct Screened {
    __device__ static float push(float square) { return __expf(-2.0F * square); }
    __device__ static double push(double square) { return exp(-2.0 * square); }
    static double expected(double square) { return std::exp(-2.0 * square); }
};
struct Coulomb {
    __device__ static float push(float square) {
        const float inverse = rsqrtf(square + 0.01F);
        return inverse * inverse * inverse;
    }
    __device__ static double push(double square) {
        const double inverse = rsqrt(square + 0.01);
        return inverse * inverse * inverse;
    }
    static double expected(double square) { return std::pow(square + 0.01, -1.5); }
};

/// As many threads as a box has particles; w of a particle is its charge, w of a force its potential.
template <class Law, class T>
__global__ void box_forces(const Four<T>* particles, Four<T>* forces, int side) {
    extern __shared__ char room[];
    auto* const others = reinterpret_cast<Four<T>*>(room);
    const int count = blockDim.x, box = blockIdx.x;
    const int x = box % side, y = box / side % side, z = box / side / side;
    const Four<T> mine = particles[box * count + threadIdx.x];
    Four<T> force{0, 0, 0, 0};
    for (int dz = -1; dz <= 1; ++dz) {
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                const int nx = x + dx, ny = y + dy, nz = z + dz;
                if (nx < 0 || nx >= side || ny < 0 || ny >= side || nz < 0 || nz >= side) continue;
                const int neighbour = (nz * side + ny) * side + nx;
                __syncthreads();
                others[threadIdx.x] = particles[neighbour * count + threadIdx.x];
                __syncthreads();
                for (int j = 0; j < count; ++j) {
                    const Four<T> other = others[j];
                    const T away_x = mine.x - other.x, away_y = mine.y - other.y, away_z = mine.z - other.z;
                    const T push = other.w * Law::push(away_x * away_x + away_y * away_y + away_z * away_z);
                    force.x += push * away_x;
                    force.y += push * away_y;
                    force.z += push * away_z;
                    force.w += push;
                }
            }
        }
    }
    forces[box * count + threadIdx.x] = force;
}

template <class Law, class T>
void push_all(int side, int count, const char* what) {
    const int boxes = side * side * side;
    std::vector<Four<T>> start(boxes * count);
    for (int i = 0; i < boxes * count; ++i) {
        const int box = i / count;
        start[i] = {static_cast<T>(box % side + 0.5 * random_float(1, i)),
                    static_cast<T>(box / side % side + 0.5 * random_float(2, i)),
                    static_cast<T>(box / side / side + 0.5 * random_float(3, i)),
                    static_cast<T>(1.0 + 0.5 * random_float(4, i))};
    }
    const Array<Four<T>> particles(start);
    Array<Four<T>> forces(start.size());
    prepare();
    box_forces<Law, T><<<boxes, count, count * sizeof(Four<T>)>>>(particles.data(), forces.data(), side);
    finish(what);
    const auto result = forces.values();
    for (int i = 0; i < 100; ++i) {
        const int place = random_bits(5, i) % (boxes * count), box = place / count;
        const Four<T> mine = start[place];
        double potential = 0.0, force = 0.0, scale = 1.0;
        for (int other = 0; other < boxes; ++other) {
            if (std::abs(other % side - box % side) > 1 ||
                std::abs(other / side / side - box / side / side) > 1 ||
                std::abs(other / side % side - box / side % side) > 1) {
                continue;
            }
            for (int j = 0; j < count; ++j) {
                const Four<T> theirs = start[other * count + j];
                const double away_x = double(mine.x) - theirs.x, away_y = double(mine.y) - theirs.y,
                             away_z = double(mine.z) - theirs.z;
                const double push =
                    theirs.w * Law::expected(away_x * away_x + away_y * away_y + away_z * away_z);
                potential += push;
                force += push * away_x;
                scale += push;
            }
        }
        check(std::fabs(result[place].w - potential) < 1e-4 * scale, what);
        check(std::fabs(result[place].x - force) < 1e-4 * scale, what);
    }
    std::vector<T> potentials(result.size());
    for (std::size_t i = 0; i < result.size(); ++i) potentials[i] = result[i].w;
    output((std::string(what) + "_" + std::to_string(side) + "_" + std::to_string(count)).c_str(),
           potentials);
}

void body() {
    for (const auto& [side, count] : {std::pair{4, 64}, std::pair{6, 64}, std::pair{8, 64}, std::pair{4, 100},
                                      std::pair{4, 128}, std::pair{5, 128}, std::pair{12, 32}}) {
        push_all<Screened, float>(side, count, "screened");
        if (count != 100) push_all<Coulomb, float>(side, count, "coulomb");
    }
    push_all<Screened, double>(4, 64, "screened_double");
    push_all<Screened, double>(5, 64, "screened_double");
    push_all<Coulomb, double>(4, 96, "coulomb_double");
    push_all<Coulomb, double>(6, 64, "coulomb_double");
}

int main() {
    return run(body);
}
