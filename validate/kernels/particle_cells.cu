// Particles sorted into a grid of cells by counting, and pairs that touch: cells by hashes, places by
// atomics, a scan by one CTA, particles moved or left where they are, and neighbours by a thread and by a
// warp.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;

/// A cube of cells with a side of one; particles beyond its sides are in the cells at the sides.
struct Grid {
    int side;

    __host__ __device__ int along(float value) const {
        const int cell = static_cast<int>(floorf(value));
        return cell < 0 ? 0 : cell >= side ? side - 1 : cell;
    }
    __host__ __device__ int cell(float4 particle) const {
        return (along(particle.z) * side + along(particle.y)) * side + along(particle.x);
    }
    __host__ __device__ int cells() const { return side * side * side; }
};

__host__ __device__ inline bool touch(float4 a, float4 b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, reach = a.w + b.w;
    return fmaf(x, x, fmaf(y, y, z * z)) < reach * reach;
}

/// Counts particles of cells; what an atomic gives back is the particle's place in its cell.
__global__ void count_cells(const float4* particles, int* counts, int* ranks, int count, Grid grid) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) ranks[i] = atomicAdd(&counts[grid.cell(particles[i])], 1);
}

/// One CTA of 1024 threads turns counts into where cells begin.
__global__ void scan_cells(const int* counts, int* begins, int cells) {
    __shared__ int sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int base = 0;
    for (int begin = 0; begin < cells; begin += 4096) {
        const int at = begin + threadIdx.x * 4;
        const int4 four = at < cells ? *reinterpret_cast<const int4*>(counts + at) : int4{0, 0, 0, 0};
        const int own = four.x + four.y + four.z + four.w;
        int sum = own;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(all_lanes, sum, distance);
            if (lane >= distance) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            int all = sums[lane];
            for (int distance = 1; distance < 32; distance *= 2) {
                const int other = __shfl_up_sync(all_lanes, all, distance);
                if (lane >= distance) all += other;
            }
            sums[lane] = all;
        }
        __syncthreads();
        const int first = base + sum - own + (warp > 0 ? sums[warp - 1] : 0);
        if (at < cells) {
            *reinterpret_cast<int4*>(begins + at) = {first, first + four.x, first + four.x + four.y,
                                                     first + four.x + four.y + four.z};
        }
        base += sums[31];
        __syncthreads();
    }
    if (threadIdx.x == 0) begins[cells] = base;
}

/// Particles move to their cells, or only their numbers do.
template <bool move>
__global__ void place_particles(const float4* particles, const int* begins, const int* ranks, float4* sorted,
                                int* numbers, int count, Grid grid) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 particle = particles[i];
    const int to = begins[grid.cell(particle)] + ranks[i];
    if (move) sorted[to] = particle;
    numbers[to] = i;
}

/// A thread a particle, in the order of cells or in its own; three cells in a row lie together.
template <bool moved>
__global__ void touching(const float4* particles, const int* begins, const int* numbers, int* found,
                         int count, Grid grid) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 own = particles[i];
    const int x = grid.along(own.x), y = grid.along(own.y), z = grid.along(own.z);
    int pairs = 0;
    for (int w = max(0, z - 1); w <= min(grid.side - 1, z + 1); ++w) {
        for (int v = max(0, y - 1); v <= min(grid.side - 1, y + 1); ++v) {
            const int row = (w * grid.side + v) * grid.side;
            const int end = begins[row + min(grid.side - 1, x + 1) + 1];
            for (int k = begins[row + max(0, x - 1)]; k < end; ++k) {
                const int other = moved ? k : numbers[k];
                pairs += other != i && touch(own, particles[other]) ? 1 : 0;
            }
        }
    }
    found[moved ? numbers[i] : i] = pairs;
}

/// A warp a cell: lanes take the cell's particles, and neighbours are staged in shared memory.
__global__ void touching_by_cells(const float4* particles, const int* begins, const int* numbers, int* found,
                                  Grid grid) {
    __shared__ float4 stage[4][32];
    const int cell = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float4* staged = stage[threadIdx.x / 32];
    if (cell >= grid.cells()) return;
    const int x = cell % grid.side, y = cell / grid.side % grid.side, z = cell / grid.side / grid.side;
    for (int first = begins[cell]; first < begins[cell + 1]; first += 32) {
        const int i = first + lane;
        const bool mine = i < begins[cell + 1];
        const float4 own = mine ? particles[i] : float4{-100.0F, -100.0F, -100.0F, 0.0F};
        int pairs = 0;
        for (int w = max(0, z - 1); w <= min(grid.side - 1, z + 1); ++w) {
            for (int v = max(0, y - 1); v <= min(grid.side - 1, y + 1); ++v) {
                const int row = (w * grid.side + v) * grid.side;
                const int end = begins[row + min(grid.side - 1, x + 1) + 1];
                for (int k = begins[row + max(0, x - 1)]; k < end; k += 32) {
                    __syncwarp();
                    if (k + lane < end) staged[lane] = particles[k + lane];
                    __syncwarp();
                    for (int part = 0; part < min(32, end - k); ++part) {
                        pairs += k + part != i && touch(own, staged[part]) ? 1 : 0;
                    }
                }
            }
        }
        if (mine) found[numbers[i]] = pairs;
    }
}

void all_of(int count, int side, bool clustered) {
    const Grid grid{side};
    std::vector<float4> particles(count);
    for (int i = 0; i < count; ++i) {
        float at[3];
        for (int k = 0; k < 3; ++k) {
            at[k] = random_float(k + 1, i);
            if (clustered) at[k] *= std::fabs(at[k]);
            at[k] = (at[k] + 1.0F) * 0.5F * side;
        }
        particles[i] = {at[0], at[1], at[2], 0.2F + 0.15F * random_float(5, i)};
    }
    std::vector<int> counts(grid.cells()), begins(grid.cells() + 1), expected(count);
    for (const float4 particle : particles) ++counts[grid.cell(particle)];
    for (int cell = 0; cell < grid.cells(); ++cell) begins[cell + 1] = begins[cell] + counts[cell];
    const Array<float4> particle_array(particles);
    Array<float4> sorted(count);
    Array<int> count_array(counts.size()), begin_array(begins.size()), ranks(count), numbers(count),
        found(count);
    const int blocks = (count + 127) / 128;
    prepare();
    count_cells<<<blocks, 128>>>(particle_array.data(), count_array.data(), ranks.data(), count, grid);
    finish("count");
    check(count_array.values() == counts, "count");
    prepare();
    scan_cells<<<1, 1024>>>(count_array.data(), begin_array.data(), grid.cells());
    finish("scan");
    check(begin_array.values() == begins, "scan");
    output(("begins_" + std::to_string(count)).c_str(), begin_array);
    // Places in a cell depend on which atomic came first; they are given anew in the particles' order, so
    // that every run reads alike.
    auto again = begins;
    std::vector<int> fixed(count);
    for (int i = 0; i < count; ++i) {
        const int cell = grid.cell(particles[i]);
        fixed[i] = again[cell]++ - begins[cell];
    }
    ranks.copy_from(fixed);
    const auto look = [&](const char* what) {
        finish(what);
        const auto values = found.values();
        for (int i = 0; i < count; i += 509) {
            int pairs = 0;
            for (int k = 0; k < count; ++k) pairs += k != i && touch(particles[i], particles[k]) ? 1 : 0;
            check(values[i] == pairs, what);
        }
        output((what + ("_" + std::to_string(count))).c_str(), values);
        found.zero();
    };
    prepare();
    place_particles<false><<<blocks, 128>>>(particle_array.data(), begin_array.data(), ranks.data(), nullptr,
                                            numbers.data(), count, grid);
    finish("numbers");
    prepare();
    touching<false><<<blocks, 128>>>(particle_array.data(), begin_array.data(), numbers.data(), found.data(),
                                     count, grid);
    look("left");
    prepare();
    place_particles<true><<<blocks, 128>>>(particle_array.data(), begin_array.data(), ranks.data(),
                                           sorted.data(), numbers.data(), count, grid);
    finish("move");
    prepare();
    touching<true>
        <<<blocks, 128>>>(sorted.data(), begin_array.data(), numbers.data(), found.data(), count, grid);
    look("moved");
    prepare();
    touching_by_cells<<<(grid.cells() + 3) / 4, 128>>>(sorted.data(), begin_array.data(), numbers.data(),
                                                       found.data(), grid);
    look("by_cells");
}

void body() {
    all_of(1 << 16, 24, false);
    all_of(24576, 16, true);
    all_of(1 << 14, 32, false);
}

int main() {
    return run(body);
}
