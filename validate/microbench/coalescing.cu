// What does a warp's load cost, against number and place of the lines and sectors touched?
// Lane l loads `width` bytes at word l * stride of a region, moved by `offset` bytes.
// With gather=1, lane l loads from a random multiple of the width within the region.
// `unroll` loads of a warp are in flight, each in a region of its own.
// level=l1: all warps share one set of regions, which stays in the L1.
// level=l2: every warp has its own regions, past the L1. level=dram: each round takes new regions.
// The value is the cycles between two loads of a warp.
// SPDX-License-Identifier: Apache-2.0
#include "vector.cuh"

namespace {

constexpr std::uint32_t seed = 17;
constexpr std::size_t largest = std::size_t{2} << 30;

struct Place {
    int stride;  // words between lanes
    int offset;  // bytes
    bool gather;
    std::size_t region;  // bytes
};

/// The place of lane `lane` in region `part`, in bytes.
__host__ __device__ std::size_t place_of(const Place& place, std::size_t width, std::size_t part, int lane) {
    const std::size_t base = part * place.region;
    if (!place.gather) {
        return base + static_cast<std::size_t>(place.offset) +
               static_cast<std::size_t>(lane * place.stride) * 4;
    }
    const auto key = static_cast<std::uint32_t>(part) * 32U + static_cast<std::uint32_t>(lane);
    return base + probe::hash(key) % (place.region / width) * width;
}

// Region of load i of a warp in the first round. Each round moves `advance` bytes further.
template <int Width, int Unroll, probe::Level level>
__global__ void __launch_bounds__(512, 1)
    load(const unsigned char* data, Place place, bool shared, std::size_t total, std::size_t advance,
         int warm, int rounds, long long* cycles, std::uint32_t* folded) {
    const std::size_t warp = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const unsigned char* from[Unroll];
#pragma unroll
    for (int i = 0; i < Unroll; ++i) {
        const std::size_t part = ((shared ? 0 : warp) * Unroll + i) % total;
        from[i] = data + place_of(place, Width, part, static_cast<int>(threadIdx.x) % 32);
    }
    std::uint32_t sum = 0;
    const auto pass = [&](int times) {
#pragma unroll 1
        for (int round = 0; round < times; ++round) {
            probe::Vector<Width> word[Unroll];
#pragma unroll
            for (int i = 0; i < Unroll; ++i) word[i] = probe::load_global<Width, level>(from[i]);
#pragma unroll
            for (int i = 0; i < Unroll; ++i) {
                sum += probe::fold(word[i]);
                from[i] += advance;
            }
        }
    };
    pass(warm);
    __syncthreads();
    const long long begin = clock64();
    pass(rounds);
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(folded, sum);
}

struct Case {
    const char* level;  // l1, l2 or dram
    int width, unroll, warps, ctas;
    Place place;
};

struct Walk {
    bool shared;
    std::size_t total, advance;
    int warm, rounds;
};

// The sum of all words loaded, from the formula of the data.
__global__ void prepare_expected(Case c, Walk walk, std::uint32_t* folded) {
    const auto warp = static_cast<std::size_t>(blockIdx.x) * c.warps + threadIdx.x / 32;
    std::uint32_t sum = 0;
    for (int round = 0; round < walk.warm + walk.rounds; ++round) {
        for (int i = 0; i < c.unroll; ++i) {
            const std::size_t part = ((walk.shared ? 0 : warp) * c.unroll + i) % walk.total;
            const std::size_t at =
                place_of(c.place, c.width, part, static_cast<int>(threadIdx.x) % 32) + round * walk.advance;
            for (int j = 0; j < c.width / 4; ++j) {
                sum += probe::hash(static_cast<std::uint32_t>(at / 4) + j + seed * 0x9e3779b9U);
            }
        }
    }
    atomicAdd(folded, sum);
}

using Load = void (*)(const unsigned char*, Place, bool, std::size_t, std::size_t, int, int, long long*,
                      std::uint32_t*);

template <int Width>
Load kernel_of(const Case& c) {
    using probe::Level;
    if (c.level[1] == '1') return c.unroll == 1 ? load<Width, 1, Level::ca> : load<Width, 4, Level::ca>;
    return c.unroll == 1 ? load<Width, 1, Level::cg> : load<Width, 4, Level::cg>;
}

struct Bench {
    Bench() { probe::fill_random(data.data(), largest, seed); }
    probe::Buffer<unsigned char> data{largest};
    probe::Buffer<long long> cycles{256};
    probe::Buffer<std::uint32_t> folded{1};
    probe::Flush flush;
};

void run(Bench& bench, const Case& c) {
    const bool dram = c.level[0] == 'd';
    const auto loads = static_cast<std::size_t>(c.ctas * c.warps * c.unroll);  // loads of a round
    Walk walk{c.level[1] == '1', loads, 0, 2, 128};
    if (dram) {
        walk.advance = loads * c.place.region;
        walk.warm = 0;
        walk.rounds = static_cast<int>(std::min<std::size_t>(128, (largest - 4096) / walk.advance));
    } else {
        // Regions lie within 8 MB, which the L2 keeps however little of each line is touched.
        walk.total = std::min(loads, (std::size_t{8} << 20) / c.place.region);
    }
    probe::Params params;
    params.set("level", c.level).set("width", c.width).set("unroll", c.unroll).set("warps", c.warps);
    params.set("ctas", c.ctas).set("rounds", walk.rounds).set("gather", c.place.gather ? 1 : 0);
    params.set("stride", c.place.stride).set("offset", c.place.offset);
    params.set("region", static_cast<long long>(c.place.region));
    probe::Conditions with;
    with.cache = dram ? "cold" : "warm";
    if (!probe::wanted("warp_load", params, with)) return;
    const Load kernel = c.width == 4 ? kernel_of<4>(c) : c.width == 8 ? kernel_of<8>(c) : kernel_of<16>(c);
    const auto launch = [&] {
        kernel<<<c.ctas, c.warps * 32>>>(bench.data.data(), c.place, walk.shared, walk.total, walk.advance,
                                         walk.warm, walk.rounds, bench.cycles.data(), bench.folded.data());
    };
    bench.folded.zero();
    launch();
    PROBE_CHECK(cudaGetLastError());
    const std::uint32_t found = bench.folded.host()[0];
    bench.folded.zero();
    prepare_expected<<<c.ctas, c.warps * 32>>>(c, walk, bench.folded.data());
    probe::require(bench.folded.host()[0] == found, params.text());
    const std::vector<double> samples = probe::sample_cycles(
        bench.cycles, c.ctas, static_cast<double>(walk.rounds) * c.unroll,
        [&] {
            if (dram) bench.flush.clean();
        },
        launch, 7);
    probe::row("warp_load", params, "cycles_per_instruction", "cycle", samples, with);
}

// Bytes that a warp's load spans, in whole lines.
std::size_t span(int stride, int offset, int width) {
    return (static_cast<std::size_t>(31 * stride * 4 + offset + width) + 127) / 128 * 128;
}

}  // namespace

int main() {
    probe::begin("coalescing");
    Bench bench;
    const int sms = probe::device().sms;
    const std::vector<std::pair<const char*, int>> places = {
        {"l1", 1}, {"l2", sms}, {"l2", 1}, {"dram", sms}, {"dram", 1}};
    for (const auto& [warps, unroll] : std::vector<std::pair<int, int>>{{16, 4}, {1, 1}, {4, 4}}) {
        for (const auto& [level, ctas] : places) {
            const auto strided = [&](int width, int stride, int offset) {
                run(bench, {level,
                            width,
                            unroll,
                            warps,
                            ctas,
                            {stride, offset, false, span(stride, offset, width)}});
            };
            for (const int stride : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) strided(4, stride, 0);
            for (const int stride : {2, 4, 6, 8, 16, 32, 64}) strided(8, stride, 0);
            for (const int stride : {4, 8, 12, 16, 32, 64}) strided(16, stride, 0);
            for (const int offset : {4, 16, 28, 32, 64, 96, 124}) strided(4, 1, offset);
            for (const int offset : {16, 32, 112}) strided(16, 4, offset);
            for (const std::size_t region : {128, 256, 512, 1024, 2048, 4096, 16384}) {
                run(bench, {level, 4, unroll, warps, ctas, {0, 0, true, region}});
            }
        }
    }
    return 0;
}
