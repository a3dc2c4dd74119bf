// How fast do cp.async copies fill shared memory from the L2, against the length and the start of contiguous
// rows? Every CTA walks along the rows of a matrix in the L2, one tile of rows x row_bytes a step. The main
// loop of a tiled product walks in the same way. Each lane copies 16 bytes, with lanes side by side along a
// row and `stages` groups in a ring.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

namespace {

constexpr int walk_bytes = 8192;                          // of each row; then the walk begins again
constexpr std::size_t footprint = std::size_t{16} << 20;  // fits in either half of the L2

/// CTAs share blocks of rows, so that the rows of all CTAs together stay within the footprint.
int row_blocks(int rows, int pitch_bytes) {
    return static_cast<int>(footprint) / pitch_bytes / rows;
}

// Folds what was copied when `verify` is set; otherwise the kernel only copies.
template <int row_bytes, int stages, bool verify>
__global__ void copy_rows(const char* data, int blocks, int pitch_bytes, int tile_bytes, int steps,
                          std::uint32_t* folded) {
    extern __shared__ __align__(128) char tiles[];
    constexpr int lanes_per_row = row_bytes / 16;
    const int rows = tile_bytes / row_bytes;
    const char* const base = data + static_cast<std::size_t>(blockIdx.x) % static_cast<std::size_t>(blocks) *
                                        static_cast<std::size_t>(rows) *
                                        static_cast<std::size_t>(pitch_bytes);
    const int lane_row = static_cast<int>(threadIdx.x) / lanes_per_row;
    const int lane_byte = static_cast<int>(threadIdx.x) % lanes_per_row * 16;
    const int rows_per_pass = static_cast<int>(blockDim.x) / lanes_per_row;
    const auto fetch = [&](int step) {
        const int column = step * row_bytes % walk_bytes;
        char* const to = tiles + step % stages * tile_bytes;
        for (int row = lane_row; row < rows; row += rows_per_pass) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                             probe::shared_address(to + row * row_bytes + lane_byte)),
                         "l"(base + static_cast<std::size_t>(row) * static_cast<std::size_t>(pitch_bytes) +
                             column + lane_byte));
        }
        asm volatile("cp.async.commit_group;");
    };
    std::uint32_t sum = 0;
    for (int step = 0; step < stages - 1; ++step) fetch(step);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2));
        __syncthreads();
        if (verify) {
            const char* const from = tiles + step % stages * tile_bytes;
            for (int row = lane_row; row < rows; row += rows_per_pass) {
                const uint4 word = *reinterpret_cast<const uint4*>(from + row * row_bytes + lane_byte);
                sum += word.x ^ word.y ^ word.z ^ word.w;
            }
            __syncthreads();
        }
        fetch(step + stages - 1);
    }
    asm volatile("cp.async.wait_all;");
    if (verify) {
        sum = __reduce_add_sync(0xffffffffU, sum);
        if (threadIdx.x % 32 == 0) atomicAdd(folded, sum);
    }
}

std::uint32_t expected(const std::vector<uint4>& host, int row_bytes, int pitch_bytes, int tile_bytes,
                       int steps, int ctas) {
    std::uint32_t sum = 0;
    const int rows = tile_bytes / row_bytes;
    for (int cta = 0; cta < ctas; ++cta) {
        for (int step = 0; step < steps; ++step) {
            for (int row = 0; row < rows; ++row) {
                for (int byte = 0; byte < row_bytes; byte += 16) {
                    const std::size_t at =
                        static_cast<std::size_t>(cta % row_blocks(rows, pitch_bytes) * rows + row) *
                            static_cast<std::size_t>(pitch_bytes) +
                        static_cast<std::size_t>(step * row_bytes % walk_bytes + byte);
                    const uint4 word = host[at / 16];
                    sum += word.x ^ word.y ^ word.z ^ word.w;
                }
            }
        }
    }
    return sum;
}

struct Probe {
    probe::Buffer<uint4> data{footprint / 16};
    probe::Buffer<std::uint32_t> folded{1};
    std::vector<uint4> host;

    Probe() {
        probe::fill_random(data.data(), footprint, 31);
        host = data.host();
    }
    [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(data.data()); }
};

// One more parameter tells rows that begin off a line or a sector from rows that begin with a line.
template <int row_bytes, int stages>
void record(Probe& p, int pitch_bytes = walk_bytes) {
    const bool aligned = pitch_bytes == walk_bytes;
    bool checked = false;
    PROBE_CHECK(cudaFuncSetAttribute(copy_rows<row_bytes, stages, false>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    PROBE_CHECK(cudaFuncSetAttribute(copy_rows<row_bytes, stages, true>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    for (const int tile_bytes : {8192, 16384, 32768}) {
        const int shared = stages * tile_bytes;
        const int blocks = row_blocks(tile_bytes / row_bytes, pitch_bytes);
        for (const int warps : {4, 8}) {
            for (const int per_sm : {1, 2, 4}) {
                if (!aligned && (warps != 8 || per_sm > 2)) continue;
                if (per_sm * (shared + 1024) > 227 * 1024) continue;
                const int ctas = probe::device().sms * per_sm;
                const int steps = (4 << 20) / tile_bytes;
                const double bytes = static_cast<double>(steps + stages - 1) * tile_bytes * ctas;
                probe::Params params;
                params.set("row_bytes", row_bytes).set("stages", stages).set("tile_bytes", tile_bytes);
                params.set("warps", warps).set("ctas_per_sm", per_sm);
                params.set("bytes", static_cast<long long>(bytes));
                if (!aligned) params.set("pitch_bytes", pitch_bytes);
                if (!probe::wanted("cp_async_rows", params)) continue;
                if (!checked) {
                    p.folded.zero();
                    copy_rows<row_bytes, stages, true><<<16, warps * 32, shared>>>(
                        p.bytes(), blocks, pitch_bytes, tile_bytes, 9, p.folded.data());
                    PROBE_CHECK(cudaGetLastError());
                    probe::require(
                        p.folded.host()[0] == expected(p.host, row_bytes, pitch_bytes, tile_bytes, 9, 16),
                        "rows copied");
                    checked = true;
                }
                const auto found = probe::time_kernel(
                    7,
                    [&] {
                        if (!probe::only_read())
                            probe::prepare_read<<<probe::device().sms * 8, 256>>>(
                                p.data.data(), p.data.size(), p.folded.data());
                    },
                    [&] {
                        copy_rows<row_bytes, stages, false><<<ctas, warps * 32, shared>>>(
                            p.bytes(), blocks, pitch_bytes, tile_bytes, steps, p.folded.data());
                    });
                probe::row_of_bytes("cp_async_rows", params, found, bytes, "warm");
            }
        }
    }
}

}  // namespace

int main() {
    probe::begin("cp_async_rows");
    Probe p;
    record<64, 3>(p);
    record<128, 3>(p);
    record<256, 3>(p);
    record<32, 3>(p);
    record<64, 2>(p);
    record<128, 2>(p);
    record<64, 4>(p);
    record<128, 4>(p);
    for (const int pitch_bytes : {8192 + 16, 8192 + 32, 8192 + 48, 8192 + 64}) {
        record<32, 3>(p, pitch_bytes);
        record<64, 3>(p, pitch_bytes);
        record<128, 3>(p, pitch_bytes);
    }
    return 0;
}
