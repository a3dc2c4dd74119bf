// Elementwise work behind rings of tiles: a warp that asks the bulk copy engine for tiles and warps that work
// on them, with barriers for full and for empty stages, one to four stages, beside plain loops; results
// stored by threads and by the engine.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"
#include "transaction_barriers.cuh"

using namespace textbook;

constexpr int workers = 256, tile_words = 2048;

/// a x + y with little work, or a tanh of it with much.
template <bool heavy>
__host__ __device__ float work(float x, float y) {
    const float value = 1.5F * x + y;
    if (!heavy) return value;
    float sum = value;
#pragma unroll
    for (int k = 0; k < 6; ++k) sum = 0.5F * sum * (1.0F + tanhf(0.8F * sum)) + value;
    return sum;
}

/// A thread an element after another.
template <bool heavy>
__global__ void plain(const float* x, const float* y, float* to, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        to[i] = work<heavy>(x[i], y[i]);
}

/// Four elements a turn.
template <bool heavy>
__global__ void plain_by_four(const float4* x, const float4* y, float4* to, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float4 a = x[i], b = y[i];
        to[i] = {work<heavy>(a.x, b.x), work<heavy>(a.y, b.y), work<heavy>(a.z, b.z), work<heavy>(a.w, b.w)};
    }
}

template <int stages>
struct Ring {
    alignas(128) float x[stages][tile_words], y[stages][tile_words];
    std::uint64_t full[stages], empty[stages];
};

/// The last warp loads, the others work. `by_engine`: results go back over the tile of x, by the engine.
template <bool heavy, int stages, bool by_engine>
__global__ void roles(const float* x, const float* y, float* to, int tiles) {
    extern __shared__ __align__(128) unsigned char memory[];
    auto& ring = *reinterpret_cast<Ring<stages>*>(memory);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            start_barrier(&ring.full[stage], 1);
            start_barrier(&ring.empty[stage], by_engine ? 1 : workers);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= workers) {
        if (threadIdx.x > workers) return;
        int turn = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++turn) {
            const int stage = turn % stages;
            if (turn >= stages) wait_for(&ring.empty[stage], (turn / stages + 1) & 1);
            expect_bytes(&ring.full[stage], 2 * tile_words * 4);
            bulk_load(ring.x[stage], x + static_cast<std::size_t>(tile) * tile_words, tile_words * 4,
                      &ring.full[stage]);
            bulk_load(ring.y[stage], y + static_cast<std::size_t>(tile) * tile_words, tile_words * 4,
                      &ring.full[stage]);
        }
        return;
    }
    int turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++turn) {
        const int stage = turn % stages;
        wait_for(&ring.full[stage], turn / stages & 1);
        float* out = to + static_cast<std::size_t>(tile) * tile_words;
        for (int i = threadIdx.x; i < tile_words; i += workers) {
            const float value = work<heavy>(ring.x[stage][i], ring.y[stage][i]);
            if (by_engine) {
                ring.x[stage][i] = value;
            } else {
                out[i] = value;
            }
        }
        if (by_engine) {
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
            if (threadIdx.x == 0) {
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                                 __cvta_generic_to_global(out)),
                             "r"(shared_address(ring.x[stage])), "r"(tile_words * 4)
                             : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
                arrive(&ring.empty[stage]);
            }
        } else {
            arrive(&ring.empty[stage]);
        }
    }
    if (by_engine && threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <bool heavy>
class Work {
  public:
    explicit Work(int tiles)
        : tiles_(tiles),
          xs_(random_values<float>(static_cast<std::size_t>(tiles) * tile_words, 1)),
          ys_(random_values<float>(static_cast<std::size_t>(tiles) * tile_words, 2)),
          x_(xs_),
          y_(ys_),
          to_(xs_.size()) {}

    void loops(int blocks) {
        const int count = tiles_ * tile_words;
        prepare();
        plain<heavy><<<blocks, 256>>>(x_.data(), y_.data(), to_.data(), count);
        look("plain");
        prepare();
        plain_by_four<heavy><<<blocks, 256>>>(reinterpret_cast<const float4*>(x_.data()),
                                              reinterpret_cast<const float4*>(y_.data()),
                                              reinterpret_cast<float4*>(to_.data()), count / 4);
        look("by_four");
    }
    template <int stages, bool by_engine>
    void ring(int blocks) {
        constexpr int bytes = sizeof(Ring<stages>);
        require(cudaFuncSetAttribute(roles<heavy, stages, by_engine>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "size");
        prepare();
        roles<heavy, stages, by_engine>
            <<<blocks, workers + 32, bytes>>>(x_.data(), y_.data(), to_.data(), tiles_);
        look(("ring_" + std::to_string(stages) + (by_engine ? "_engine" : "")).c_str());
    }

  private:
    void look(const char* what) {
        finish(what);
        const auto found = to_.values();
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (heavy && i % 61 != 0) continue;
            const float expected = work<heavy>(xs_[i], ys_[i]);
            check(std::fabs(found[i] - expected) <= 1e-4F * (1.0F + std::fabs(expected)), what);
        }
        output((what + ("_" + std::to_string(tiles_))).c_str(), found);
        to_.zero();
    }
    int tiles_;
    std::vector<float> xs_, ys_;
    Array<float> x_, y_, to_;
};

void body() {
    Work<false> light(4096);
    light.loops(1056);
    light.ring<1, false>(264);
    light.ring<2, false>(264);
    light.ring<4, false>(264);
    light.ring<4, true>(264);
    light.ring<4, true>(132);
    light.ring<2, true>(792);
    Work<true> heavy(1024);
    heavy.loops(1056);
    heavy.ring<1, false>(132);
    heavy.ring<3, false>(264);
    heavy.ring<3, true>(264);
    Work<false> small(132);
    small.loops(132);
    small.ring<2, false>(132);
}

int main() {
    return run(body);
}
