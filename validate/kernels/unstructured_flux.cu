// Flows through the faces of cells that know their four neighbours by number: neighbours that are near and
// neighbours anywhere, five variables apart, side by side, and padded to eight.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Variables of a cell: density, three momenta and energy.
template <class T>
struct State {
    T values[5];
};

/// Where variable v of cell i is.
struct Apart {
    __host__ __device__ static int at(int i, int v, int cells) { return v * cells + i; }
    static constexpr int width = 5;
};
struct Together {
    __host__ __device__ static int at(int i, int v, int) { return i * 5 + v; }
    static constexpr int width = 5;
};
struct Padded {
    __host__ __device__ static int at(int i, int v, int) { return i * 8 + v; }
    static constexpr int width = 8;
};

template <class T>
__host__ __device__ T pressure_of(const State<T>& cell) {
    const T* const u = cell.values;
    return T(0.4) * (u[4] - T(0.5) * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

/// What flows along a normal out of a cell, and its fastest wave's speed.
template <class T>
__host__ __device__ T flow(const State<T>& cell, const T* normal, State<T>& out) {
    const T* const u = cell.values;
    const T pressure = pressure_of(cell);
    const T through = (u[1] * normal[0] + u[2] * normal[1] + u[3] * normal[2]) / u[0];
    out.values[0] = u[0] * through;
    for (int d = 0; d < 3; ++d) out.values[1 + d] = u[1 + d] * through + pressure * normal[d];
    out.values[4] = (u[4] + pressure) * through;
    const T area = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
    return (through < T(0) ? -through : through) + sqrt(T(1.4) * pressure / u[0] * area);
}

/// Sum of the flows through a cell's four faces; a neighbour below zero is a wall.
template <class T, class Layout>
__host__ __device__ State<T> balance(const T* cells, const int* neighbours, const T* normals, int i,
                                     int count) {
    State<T> mine, sum{};
    for (int v = 0; v < 5; ++v) mine.values[v] = cells[Layout::at(i, v, count)];
    for (int face = 0; face < 4; ++face) {
        T normal[3];
        for (int d = 0; d < 3; ++d) normal[d] = normals[(face * 3 + d) * count + i];
        const int neighbour = neighbours[face * count + i];
        if (neighbour < 0) {
            const T pressure = pressure_of(mine);
            for (int d = 0; d < 3; ++d) sum.values[1 + d] += pressure * normal[d];
            continue;
        }
        State<T> other, here, there;
        for (int v = 0; v < 5; ++v) other.values[v] = cells[Layout::at(neighbour, v, count)];
        const T speed = flow(mine, normal, here), other_speed = flow(other, normal, there);
        const T wave = speed > other_speed ? speed : other_speed;
        for (int v = 0; v < 5; ++v) {
            sum.values[v] += T(0.5) * (here.values[v] + there.values[v]) -
                             T(0.5) * wave * (other.values[v] - mine.values[v]);
        }
    }
    return sum;
}

template <class T, class Layout>
__global__ void flux(const T* cells, const int* neighbours, const T* normals, T* results, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const State<T> sum = balance<T, Layout>(cells, neighbours, normals, i, count);
    for (int v = 0; v < 5; ++v) results[Layout::at(i, v, count)] = sum.values[v];
}

/// Neighbours of cell i: `reach` cells away at most, or anywhere when that is zero; one face in 64 is a wall.
std::vector<int> mesh(int count, int reach) {
    std::vector<int> neighbours(static_cast<std::size_t>(count) * 4);
    for (int face = 0; face < 4; ++face) {
        for (int i = 0; i < count; ++i) {
            const unsigned bits = random_bits(40 + face, i);
            int neighbour = static_cast<int>(bits >> 6) % count;
            if (reach > 0) {
                neighbour = i + static_cast<int>(bits >> 6) % (2 * reach + 1) - reach;
                neighbour = std::min(std::max(neighbour, 0), count - 1);
            }
            neighbours[face * count + i] = bits % 64 == 0 ? -1 : neighbour;
        }
    }
    return neighbours;
}

template <class T, class Layout>
void flows(const std::vector<int>& neighbours, int threads, const char* what) {
    const int count = static_cast<int>(neighbours.size() / 4);
    std::vector<T> start(static_cast<std::size_t>(count) * Layout::width);
    for (int i = 0; i < count; ++i) {
        for (int v = 0; v < 5; ++v) {
            const T value = static_cast<T>(0.25F * random_float(50 + v, i));
            start[Layout::at(i, v, count)] = value + (v == 0 ? T(1) : v == 4 ? T(2.5) : T(0));
        }
    }
    const auto directions = random_values<T>(static_cast<std::size_t>(count) * 12, 60);
    const Array<T> cells(start), normals(directions);
    const Array<int> links(neighbours);
    Array<T> results(start.size());
    prepare();
    flux<T, Layout><<<(count + threads - 1) / threads, threads>>>(cells.data(), links.data(), normals.data(),
                                                                  results.data(), count);
    finish(what);
    const auto flown = results.values();
    for (int k = 0; k < 1000; ++k) {
        const int i = random_bits(70, k) % count;
        const auto expected =
            balance<T, Layout>(start.data(), neighbours.data(), directions.data(), i, count);
        for (int v = 0; v < 5; ++v) {
            check(std::fabs(flown[Layout::at(i, v, count)] - expected.values[v]) < 1e-4, what);
        }
    }
    output((std::string(what) + "_" + std::to_string(count)).c_str(), flown);
}

void body() {
    for (const int count : {50000, 250000, 800000}) {
        const auto near = mesh(count, 600), far = mesh(count, 0);
        flows<float, Apart>(near, 192, "apart_near");
        flows<float, Apart>(far, 192, "apart_far");
        flows<float, Together>(near, 192, "together_near");
        flows<float, Together>(far, 192, "together_far");
        if (count == 250000) {
            flows<float, Padded>(near, 128, "padded_near");
            flows<float, Padded>(far, 128, "padded_far");
            flows<double, Apart>(near, 128, "double_near");
            flows<double, Together>(far, 128, "double_far");
        }
    }
}

int main() {
    return run(body);
}
