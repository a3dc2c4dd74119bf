// Heat that spreads over a plate: steps of five points through the L1, through a shared tile with its halo,
// and several steps a launch in a shared tile whose valid part shrinks.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// The next temperature of a place: its neighbours warm it, a source heats it, and it loses some heat.
template <class T>
__host__ __device__ T step(T middle, T north, T south, T west, T east, T source) {
    const T across = west + east - T(2) * middle, along = north + south - T(2) * middle;
    return middle + T(0.15) * across + T(0.1) * along + T(0.05) * source - T(0.002) * middle;
}

/// One thread a place; the edge of the plate is its own neighbour.
template <class T>
__global__ void plain_step(const T* from, const T* sources, T* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int west = max(x - 1, 0), east = min(x + 1, width - 1);
    const int north = max(y - 1, 0), south = min(y + 1, height - 1);
    to[y * width + x] = step(from[y * width + x], from[north * width + x], from[south * width + x],
                             from[y * width + west], from[y * width + east], sources[y * width + x]);
}

/// A tile and the rim around it wait in shared memory.
template <class T, int columns, int rows>
__global__ void tiled_step(const T* from, const T* sources, T* to, int width, int height) {
    __shared__ T tile[rows + 2][columns + 2];
    const int left = blockIdx.x * columns, top = blockIdx.y * rows;
    for (int i = threadIdx.y * columns + threadIdx.x; i < (rows + 2) * (columns + 2); i += rows * columns) {
        const int r = i / (columns + 2), c = i % (columns + 2);
        const int x = min(max(left + c - 1, 0), width - 1), y = min(max(top + r - 1, 0), height - 1);
        tile[r][c] = from[y * width + x];
    }
    __syncthreads();
    const int x = left + threadIdx.x, y = top + threadIdx.y, c = threadIdx.x + 1, r = threadIdx.y + 1;
    if (x < width && y < height) {
        to[y * width + x] = step(tile[r][c], tile[r - 1][c], tile[r + 1][c], tile[r][c - 1], tile[r][c + 1],
                                 sources[y * width + x]);
    }
}

/// `steps` steps in one launch: of size * size threads, those less than `steps` from the rim only help.
template <class T, int size, int steps>
__global__ void pyramid_steps(const T* from, const T* sources, T* to, int width, int height) {
    __shared__ T tile[size][size];
    const int inner = size - 2 * steps, c = threadIdx.x, r = threadIdx.y;
    const int left = blockIdx.x * inner - steps, top = blockIdx.y * inner - steps;
    const int x = left + c, y = top + r;
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    T value = 0, source = 0;
    if (inside) {
        value = from[y * width + x];
        source = sources[y * width + x];
    }
    tile[r][c] = value;
    const int west = max(c - 1, max(0, -left)), east = min(c + 1, min(size, width - left) - 1);
    const int north = max(r - 1, max(0, -top)), south = min(r + 1, min(size, height - top) - 1);
    __syncthreads();
    for (int done = 1; done <= steps; ++done) {
        const bool valid = inside && c >= done && c < size - done && r >= done && r < size - done;
        if (valid) value = step(value, tile[north][c], tile[south][c], tile[r][west], tile[r][east], source);
        __syncthreads();
        if (valid) tile[r][c] = value;
        __syncthreads();
    }
    if (inside && c >= steps && c < size - steps && r >= steps && r < size - steps) to[y * width + x] = value;
}

template <class T>
struct Plate {
    int size;
    std::vector<T> temperatures, heat;
    Array<T> from, sources, to;

    explicit Plate(int side)
        : size(side),
          temperatures(random_values<T>(static_cast<std::size_t>(side) * side, 3)),
          heat(random_values<T>(static_cast<std::size_t>(side) * side, 4)),
          from(temperatures),
          sources(heat),
          to(temperatures.size()) {}

    /// What a place has after some steps, from the steps of its neighbours.
    double reference(int x, int y, int steps) const {
        x = std::min(std::max(x, 0), size - 1);
        y = std::min(std::max(y, 0), size - 1);
        if (steps == 0) return temperatures[y * size + x];
        return step(reference(x, y, steps - 1), reference(x, y - 1, steps - 1),
                    reference(x, y + 1, steps - 1), reference(x - 1, y, steps - 1),
                    reference(x + 1, y, steps - 1), static_cast<double>(heat[y * size + x]));
    }

    void done(const char* what, int steps) {
        finish(what);
        const auto results = to.values();
        for (int i = 0; i < 400; ++i) {
            // The first are around a corner, the others anywhere.
            const int x = i < 100 ? size - 1 - i % 10 : random_bits(1, i) % size;
            const int y = i < 100 ? size - 1 - i / 10 : random_bits(2, i) % size;
            check(std::fabs(results[y * size + x] - reference(x, y, steps)) < 1e-5, what);
        }
        output(what, results);
        to.zero();
    }

    void plain(int columns, int rows) {
        prepare();
        plain_step<<<dim3(size / columns, size / rows), dim3(columns, rows)>>>(from.data(), sources.data(),
                                                                               to.data(), size, size);
        done("plain", 1);
    }
    template <int columns, int rows>
    void tiled() {
        prepare();
        tiled_step<T, columns, rows><<<dim3(size / columns, size / rows), dim3(columns, rows)>>>(
            from.data(), sources.data(), to.data(), size, size);
        done("tiled", 1);
    }
    template <int tile, int steps>
    void pyramid() {
        const int inner = tile - 2 * steps, tiles = (size + inner - 1) / inner;
        prepare();
        pyramid_steps<T, tile, steps>
            <<<dim3(tiles, tiles), dim3(tile, tile)>>>(from.data(), sources.data(), to.data(), size, size);
        done("pyramid", steps);
    }
};

void body() {
    for (const int size : {512, 1024, 2048, 4096}) {
        Plate<float> plate(size);
        plate.plain(32, 8);
        plate.plain(16, 16);
        if (size == 1024 || size == 2048) plate.tiled<16, 16>();
        if (size == 2048) plate.tiled<32, 8>();
        if (size <= 1024) plate.pyramid<32, 4>();
        if (size == 1024 || size == 2048) plate.pyramid<16, 2>();
    }
    Plate<float> large(3072);
    large.tiled<16, 16>();
    large.tiled<32, 8>();
    Plate<double> fine(2048);
    fine.plain(32, 8);
    fine.tiled<16, 16>();
    fine.pyramid<16, 1>();
}

int main() {
    return run(body);
}
