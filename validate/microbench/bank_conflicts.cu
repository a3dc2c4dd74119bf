// How many cycles does a shared-memory instruction take, against the way its lanes spread over the banks?
// way=load or store: lane l accesses `width` bytes at word l * stride.
// With columns > 0, lane l accesses row l / columns and column l % columns of a matrix instead.
// The rows of the matrix are `pitch` bytes long. swizzle=1 permutes the 16-byte parts of a row by its row
// number. way=ldmatrix: lane l names the row of 16 bytes at l * pitch. Each of `warps` warps issues `unroll`
// independent instructions a round. The result is the cycles between two instructions of one warp.
// SPDX-License-Identifier: Apache-2.0
#include "vector.cuh"

namespace {

constexpr int rounds = 256;
constexpr int unroll = 8;
constexpr int bytes = 48 * 1024;

struct Place {
    int stride;   // words between lanes, when columns = 0
    int columns;  // lanes in a row of the matrix
    int pitch;    // bytes
    bool swizzle;
};

__host__ __device__ int place_of(int lane, const Place& place, int width) {
    if (place.columns == 0) return lane * place.stride * 4;
    const int row = lane / place.columns;
    int column = lane % place.columns * width;
    if (place.swizzle) column ^= row % 8 * 16;
    return row * place.pitch + column;
}

enum class Way { load, store, matrix };

// `moved` is zero at run time; so the compiler cannot see that all addresses are equal.
template <Way way, int Width>
__global__ void access(Place place, int moved, long long* cycles, std::uint32_t* folded) {
    extern __shared__ __align__(1024) unsigned char shared[];
    for (int i = static_cast<int>(threadIdx.x); i < bytes / 4; i += static_cast<int>(blockDim.x)) {
        reinterpret_cast<std::uint32_t*>(shared)[i] = probe::hash(static_cast<std::uint32_t>(i));
    }
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::uint32_t at[unroll];
    for (int i = 0; i < unroll; ++i) {
        at[i] = probe::shared_address(shared) +
                static_cast<std::uint32_t>(place_of(lane, place, Width) + i * moved);
    }
    std::uint32_t sum = 0;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        probe::Vector<Width> word[unroll];
#pragma unroll
        for (int i = 0; i < unroll; ++i) {
            if constexpr (way == Way::load) {
                word[i] = probe::load_shared<Width>(at[i]);
            } else if constexpr (way == Way::store) {
                for (auto& one : word[i].word) one = static_cast<std::uint32_t>(round);
                probe::store_shared(at[i], word[i]);
            } else {
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(word[i].word[0]), "=r"(word[i].word[1]), "=r"(word[i].word[2]),
                               "=r"(word[i].word[3])
                             : "r"(at[i])
                             : "memory");
            }
        }
        if constexpr (way != Way::store) {
#pragma unroll
            for (int i = 0; i < unroll; ++i) sum += way == Way::load ? probe::fold(word[i]) : word[i].word[0];
        }
#pragma unroll
        for (auto& one : at) one += static_cast<std::uint32_t>(moved);
    }
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) *cycles = end - begin;
    if constexpr (way == Way::store)
        sum = *reinterpret_cast<std::uint32_t*>(shared + place_of(lane, place, Width));
    if (threadIdx.x < 32) folded[threadIdx.x] = sum;
}

using Access = void (*)(Place, int, long long*, std::uint32_t*);

struct Case {
    Way way;
    int width, warps;
    Place place;
};

Access kernel_of(const Case& c) {
    if (c.way == Way::matrix) return access<Way::matrix, 16>;
    if (c.way == Way::load)
        return c.width == 4   ? access<Way::load, 4>
               : c.width == 8 ? access<Way::load, 8>
                              : access<Way::load, 16>;
    return c.width == 4   ? access<Way::store, 4>
           : c.width == 8 ? access<Way::store, 8>
                          : access<Way::store, 16>;
}

void run(const Case& c, const probe::Buffer<long long>& cycles, const probe::Buffer<std::uint32_t>& folded) {
    // The last lane's access must lie within the shared memory.
    if (place_of(31, c.place, c.width) + c.width > bytes) return;
    probe::Params params;
    const char* names[] = {"load", "store", "ldmatrix"};
    params.set("way", names[static_cast<int>(c.way)]).set("width", c.width).set("warps", c.warps);
    params.set("stride", c.place.stride).set("columns", c.place.columns).set("pitch", c.place.pitch);
    params.set("swizzle", c.place.swizzle ? 1 : 0).set("rounds", rounds).set("unroll", unroll);
    if (!probe::wanted("shared_access", params)) return;
    const Access kernel = kernel_of(c);
    const std::vector<double> found = probe::sample_cycles(
        cycles, 1, static_cast<double>(rounds) * unroll, [] {},
        [&] { kernel<<<1, c.warps * 32, bytes>>>(c.place, 0, cycles.data(), folded.data()); });
    // Lane 0 reads the first words. Of a matrix it holds the first two elements of row 0.
    std::uint32_t words = probe::hash(0U);
    for (std::uint32_t i = 1; c.way == Way::load && i < static_cast<std::uint32_t>(c.width) / 4; ++i)
        words += probe::hash(i);
    const std::uint32_t expected = c.way == Way::store ? rounds - 1U : words * (rounds * unroll);
    probe::require(folded.host()[0] == expected, params.text());
    probe::row("shared_access", params, "cycles_per_instruction", "cycle", found, {});
}

}  // namespace

int main() {
    probe::begin("bank_conflicts");
    const probe::Buffer<long long> cycles(1);
    const probe::Buffer<std::uint32_t> folded(32);
    for (const Way way : {Way::load, Way::store}) {
        for (const int width : {4, 8, 16}) {
            for (const int warps : {1, 4, 16}) {
                for (const int stride : {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 20, 24, 32, 33, 40, 48, 64}) {
                    if (stride * 4 % width != 0) continue;
                    run({way, width, warps, {stride, 0, 0, false}}, cycles, folded);
                }
                run({way, width, warps, {0, 0, 0, false}}, cycles, folded);  // all lanes access the same word
            }
        }
        for (const int pitch : {64, 72, 80, 128, 132, 136, 144, 160, 256, 264, 272, 288, 320}) {
            for (const int columns : {1, 2, 4, 8}) {
                if (pitch % 16 == 0) run({way, 16, 4, {0, columns, pitch, false}}, cycles, folded);
                if (pitch % 8 == 0) run({way, 8, 4, {0, columns, pitch, false}}, cycles, folded);
                run({way, 4, 4, {0, columns, pitch, false}}, cycles, folded);
            }
        }
        for (const int pitch : {128, 256}) {
            for (const int columns : {1, 2, 4, 8})
                run({way, 16, 4, {0, columns, pitch, true}}, cycles, folded);
        }
    }
    for (const int warps : {1, 4, 16}) {
        for (const int pitch :
             {16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 208, 256, 272, 288, 320, 512, 528}) {
            run({Way::matrix, 16, warps, {0, 1, pitch, false}}, cycles, folded);
        }
        for (const int pitch : {128, 256, 512})
            run({Way::matrix, 16, warps, {0, 1, pitch, true}}, cycles, folded);
    }
    return 0;
}
