// How does bandwidth from DRAM, L2 and L1 follow from the bytes in flight?
// The probe varies the way of moving and the number of SMs that move.
// way=load, store and copy are plain instructions of `width` bytes a lane; `unroll` independent ones are in
// flight. way=async is cp.async with a ring of `unroll` groups. way=bulk is one thread that copies `width`
// bytes at a time, with `unroll` copies in a ring. level=dram walks once over `footprint`. level=l2 walks
// again and again over a footprint that fits in the L2. level=l1 walks over a separate footprint for each
// CTA. With cluster = ctas all CTAs share a GPC (with 2: a TPC), and each CTA has an SM of its own.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "vector.cuh"

namespace {

enum class Way { load, store, copy, async, bulk };

/// The bytes that a CTA walks over: from rank * first in steps, going round at `wrap` bytes.
struct Walk {
    unsigned char* from;
    unsigned char* to;
    std::size_t own;    // between the parts of neighbouring CTAs
    std::size_t first;  // rank times this is where a CTA begins within its part
    std::size_t step;
    std::size_t wrap;
    int turns;
};

template <Way way, int Width, int Unroll, probe::Level level>
__global__ void __launch_bounds__(1024, 1) move(Walk walk, std::uint32_t* folded) {
    const unsigned char* from = walk.from + blockIdx.x * walk.own;
    unsigned char* to = walk.to + blockIdx.x * walk.own;
    std::size_t at = blockIdx.x * walk.first;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < walk.turns; ++turn) {
        probe::Vector<Width> word[Unroll];
#pragma unroll
        for (int i = 0; i < Unroll; ++i) {
            const std::size_t offset = at + (static_cast<std::size_t>(i) * blockDim.x + threadIdx.x) * Width;
            if constexpr (way == Way::store) {
                for (auto& one : word[i].word) one = static_cast<std::uint32_t>(offset) * 2654435761U;
            } else {
                word[i] = probe::load_global<Width, level>(from + offset);
            }
        }
#pragma unroll
        for (int i = 0; i < Unroll; ++i) {
            const std::size_t offset = at + (static_cast<std::size_t>(i) * blockDim.x + threadIdx.x) * Width;
            if constexpr (way == Way::load) {
                sum += probe::fold(word[i]);
            } else {
                probe::store_global(to + offset, word[i]);
            }
        }
        at += walk.step;
        if (at >= walk.wrap) at -= walk.wrap;
    }
    if constexpr (way == Way::load) {
        sum = __reduce_add_sync(0xffffffffU, sum);
        if (threadIdx.x % 32 == 0) atomicAdd(folded, sum);
    }
}

// A round copies 16 bytes a thread; `Unroll` rounds are under way.
template <int Unroll>
__global__ void __launch_bounds__(1024, 1) move_async(Walk walk, std::uint32_t* folded) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned char* from = walk.from + blockIdx.x * walk.own + threadIdx.x * 16;
    std::size_t at = blockIdx.x * walk.first;
    std::uint32_t slot = 0;
    const std::uint32_t mine = probe::shared_address(shared) + threadIdx.x * 16;
    const auto issue = [&] {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;" ::"r"(
                         mine + slot * blockDim.x * 16),
                     "l"(from + at)
                     : "memory");
        if (++slot == Unroll) slot = 0;
        at += walk.step;
        if (at >= walk.wrap) at -= walk.wrap;
    };
    for (int i = 0; i < Unroll; ++i) issue();
#pragma unroll 1
    for (int turn = Unroll; turn < walk.turns; ++turn) {
        asm volatile("cp.async.wait_group %0;" ::"n"(Unroll - 1) : "memory");
        issue();
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    std::uint32_t last = 0;
    for (int i = 0; i < Unroll; ++i)
        last += probe::fold(probe::load_shared<16>(mine + static_cast<std::uint32_t>(i) * blockDim.x * 16));
    last = __reduce_add_sync(0xffffffffU, last);
    if (threadIdx.x % 32 == 0) atomicAdd(folded, last);
}

__global__ void move_bulk(Walk walk, int bytes, int stages, std::uint32_t* folded) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) std::uint64_t full[16];
    if (threadIdx.x != 0) return;
    for (int i = 0; i < stages; ++i) probe::barrier_init(&full[i], 1);
    probe::barrier_fence();
    const unsigned char* from = walk.from + blockIdx.x * walk.own;
    std::size_t at = blockIdx.x * walk.first;
    const auto issue = [&](int stage) {
        probe::barrier_expect(&full[stage], static_cast<std::uint32_t>(bytes));
        probe::bulk_copy(shared + stage * bytes, from + at, static_cast<std::uint32_t>(bytes), &full[stage]);
        at += walk.step;
        if (at >= walk.wrap) at -= walk.wrap;
    };
    for (int i = 0; i < stages; ++i) issue(i);
    int stage = 0;
    std::uint32_t parity = 0;
#pragma unroll 1
    for (int turn = 0; turn < walk.turns; ++turn) {
        probe::barrier_wait(&full[stage], parity);
        if (turn + stages < walk.turns) issue(stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
    std::uint32_t last = 0;
    for (int i = 0; i < stages * bytes; i += 4) last += *reinterpret_cast<std::uint32_t*>(shared + i);
    atomicAdd(folded, last);
}

// What a walk should have summed. For stores and copies: how many words are wrong.
__global__ void prepare_reference(Walk walk, Way way, int width, std::size_t piece, int first,
                                  std::uint32_t* folded) {
    for (int turn = first; turn < walk.turns; ++turn) {
        const std::size_t at = (blockIdx.x * walk.first + turn * walk.step) % walk.wrap;
        std::uint32_t sum = 0;
        for (std::size_t i = threadIdx.x * 4; i < piece; i += blockDim.x * 4) {
            const std::size_t word = (at + i + blockIdx.x * walk.own) / 4;
            const std::uint32_t source = reinterpret_cast<const std::uint32_t*>(walk.from)[word];
            const std::uint32_t stored = reinterpret_cast<const std::uint32_t*>(walk.to)[word];
            const auto made = static_cast<std::uint32_t>((at + i) / width * width) * 2654435761U;
            sum += way == Way::store ? stored != made : way == Way::copy ? stored != source : source;
        }
        atomicAdd(folded, sum);
    }
}

struct Case {
    Way way;
    const char* level;
    int width, unroll, threads, ctas, cluster;
};

struct Data {
    Data() {
        probe::fill_random(from.data(), bytes, 5);
        probe::fill_random(to.data(), bytes, 6);
    }
    static constexpr std::size_t bytes = std::size_t{576} << 20;
    probe::Buffer<unsigned char> from{bytes}, to{bytes};
    probe::Buffer<std::uint32_t> folded{1};
    probe::Flush flush;
};

template <int Width, int Unroll>
const void* plain(const Case& c) {
    using probe::Level;
    if (c.way == Way::store) return reinterpret_cast<const void*>(move<Way::store, Width, Unroll, Level::cg>);
    if (c.way == Way::copy) return reinterpret_cast<const void*>(move<Way::copy, Width, Unroll, Level::cg>);
    if (c.level[1] == '1') return reinterpret_cast<const void*>(move<Way::load, Width, Unroll, Level::ca>);
    return reinterpret_cast<const void*>(move<Way::load, Width, Unroll, Level::cg>);
}

template <int Width>
const void* plain(const Case& c) {
    return c.unroll == 1 ? plain<Width, 1>(c) : c.unroll == 2 ? plain<Width, 2>(c) : plain<Width, 4>(c);
}

const void* function(const Case& c) {
    if (c.way == Way::bulk) return reinterpret_cast<const void*>(move_bulk);
    if (c.way == Way::async) {
        if (c.unroll == 1) return reinterpret_cast<const void*>(move_async<1>);
        if (c.unroll == 2) return reinterpret_cast<const void*>(move_async<2>);
        return reinterpret_cast<const void*>(move_async<4>);
    }
    return c.width == 4 ? plain<4>(c) : c.width == 8 ? plain<8>(c) : plain<16>(c);
}

constexpr int shared_bytes = 120 * 1024;  // more than half of an SM's shared memory, so one CTA an SM

void launch(const Case& c, Walk walk, Data& data) {
    const void* kernel = function(c);
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(c.cluster), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(c.ctas));
    config.blockDim = dim3(static_cast<unsigned>(c.threads));
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = c.cluster > 1 ? 1 : 0;
    std::uint32_t* folded = data.folded.data();
    int width = c.width;
    int unroll = c.unroll;
    void* plain_arguments[] = {&walk, &folded};
    void* bulk_arguments[] = {&walk, &width, &unroll, &folded};
    PROBE_CHECK(cudaLaunchKernelExC(&config, kernel, c.way == Way::bulk ? bulk_arguments : plain_arguments));
}

const char* name_of(Way way) {
    const char* names[] = {"load", "store", "copy", "async", "bulk"};
    return names[static_cast<int>(way)];
}

void run(const Case& c, Data& data) {
    const bool dram = c.level[0] == 'd';
    const bool l1 = c.level[1] == '1';
    const auto ctas = static_cast<std::size_t>(c.ctas);
    const auto width = static_cast<std::size_t>(c.width);
    const auto threads = static_cast<std::size_t>(c.threads);
    const bool many = c.way < Way::async;
    const std::size_t piece = c.way == Way::bulk    ? width
                              : c.way == Way::async ? threads * 16
                                                    : threads * width * static_cast<std::size_t>(c.unroll);
    if (c.way == Way::bulk && c.width * c.unroll > shared_bytes) return;
    const std::size_t each = std::size_t{4} << 20;  // bytes that a CTA moves
    Walk walk{data.from.data(), data.to.data(), 0, piece, ctas * piece, 0, static_cast<int>(each / piece)};
    if (l1) {
        walk = {walk.from, walk.to, std::size_t{64} << 10, 0, piece, std::size_t{64} << 10, walk.turns};
    } else {
        const std::size_t within = dram ? each * ctas : std::min<std::size_t>(each * ctas / 2, 16U << 20);
        walk.wrap = std::max<std::size_t>(1, within / walk.step) * walk.step;
    }
    const std::size_t footprint = l1 ? ctas * walk.own : walk.wrap;
    const std::size_t bytes = piece * static_cast<std::size_t>(walk.turns) * ctas;
    probe::Params params;
    params.set("way", name_of(c.way)).set("level", c.level).set("width", c.width).set("unroll", c.unroll);
    params.set("threads", c.threads).set("ctas", c.ctas).set("cluster", c.cluster).set("turns", walk.turns);
    params.set("bytes", static_cast<long long>(bytes)).set("footprint", static_cast<long long>(footprint));
    params.set("shared", shared_bytes);
    probe::Conditions with;
    with.cache = dram ? "cold" : "warm";
    if (!probe::wanted("move", params, with)) return;
    data.folded.zero();
    launch(c, walk, data);
    PROBE_CHECK(cudaGetLastError());
    const std::uint32_t found = data.folded.host()[0];
    data.folded.zero();
    const int first = many ? 0 : walk.turns - c.unroll;
    prepare_reference<<<c.ctas, 1024>>>(walk, c.way, c.width, piece, first, data.folded.data());
    PROBE_CHECK(cudaGetLastError());
    const bool writes = c.way == Way::store || c.way == Way::copy;
    probe::require(data.folded.host()[0] == (writes ? 0U : found), params.text());
    const auto prepare = [&] {
        if (dram) return data.flush.clean();
        for (const auto* part : {data.from.data(), data.to.data()}) {
            if (!probe::only_read())
                probe::prepare_read<<<264, 256>>>(reinterpret_cast<const uint4*>(part), footprint / 16,
                                                  data.folded.data());
        }
    };
    const auto times = probe::time_kernel(7, prepare, [&] { launch(c, walk, data); });
    const double moved = static_cast<double>(bytes) * (c.way == Way::copy ? 2.0 : 1.0);
    probe::row_of_bytes("move", params, times, moved, with.cache);
}

}  // namespace

int main() {
    probe::begin("bandwidth_in_flight");
    Data data;
    const int sms = probe::device().sms;
    for (const char* level : {"dram", "l2", "l1"}) {
        for (const int width : {16, 4, 8}) {
            for (const int unroll : {1, 2, 4}) {
                for (const int threads : {64, 256, 512, 1024}) {
                    run({Way::load, level, width, unroll, threads, sms, 1}, data);
                }
            }
        }
    }
    for (const char* level : {"dram", "l2"}) {
        for (const int ctas : {1, 2, 4, 8, 16}) {
            for (int both = 0; both < (ctas > 1 ? 2 : 1); ++both) {
                const int cluster = both == 1 ? ctas : 1;
                for (const int threads : {256, 1024})
                    run({Way::load, level, 16, 4, threads, ctas, cluster}, data);
                run({Way::store, level, 16, 4, 1024, ctas, cluster}, data);
                run({Way::bulk, level, 16384, 4, 32, ctas, cluster}, data);
            }
        }
        for (const int unroll : {1, 2, 4}) {
            for (const int threads : {64, 256, 1024})
                run({Way::async, level, 16, unroll, threads, sms, 1}, data);
        }
        for (const int stages : {1, 2, 4, 8}) {
            for (const int bytes : {1024, 4096, 16384})
                run({Way::bulk, level, bytes, stages, 32, sms, 1}, data);
        }
        for (const Way way : {Way::store, Way::copy}) {
            for (const int width : {4, 16}) {
                for (const int unroll : {1, 4}) {
                    for (const int threads : {128, 512, 1024})
                        run({way, level, width, unroll, threads, sms, 1}, data);
                }
            }
        }
    }
    return 0;
}
