// A ladder of loads under way: warps that take 1 to 32 requests at a time, of 64 to 512 bytes each, from DRAM
// and from the L2, with 4 to 64 warps an SM. It asks whether an SM keeps more than so many requests under
// way. The rows are in validate/recorded/h200-sxm/ladders/requests_in_flight.csv: the median of six launches.
// Prints CSV; cycles are those of an SM for one request at 1980 MHz, and `spread` says whether a warp's trips
// lie side by side (1) or a grid apart (0). The compiler keeps fewer requests under way than `unroll` says
// where it gives a thread fewer registers. Build: nvcc -O3 -std=c++17 -arch=sm_90a
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
template <int W>
struct T;
template <>
struct T<2> {
    using t = unsigned short;
    static __device__ unsigned u(t v) { return v; }
};
template <>
struct T<4> {
    using t = unsigned;
    static __device__ unsigned u(t v) { return v; }
};
template <>
struct T<8> {
    using t = uint2;
    static __device__ unsigned u(t v) { return v.x ^ v.y; }
};
template <>
struct T<16> {
    using t = uint4;
    static __device__ unsigned u(t v) { return v.x ^ v.y ^ v.z ^ v.w; }
};
// A warp takes U requests of 32 W bytes side by side at a time; warps of the whole grid go over the
// footprint.
template <int W, int U>
__global__ void stream(const typename T<W>::t* in, unsigned* out, long long pieces, int trips, int spread) {
    using V = typename T<W>::t;
    long long warp = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    long long warps = (long long)gridDim.x * (blockDim.x / 32);
    unsigned s = 0;
    for (int t = 0; t < trips; ++t) {
        long long piece = spread ? ((warp * trips + t) % pieces) : ((t * warps + warp) % pieces);
        const V* p = in + piece * 32 * U + threadIdx.x % 32;
        V v[U];
#pragma unroll
        for (int u = 0; u < U; ++u) v[u] = __ldg(p + u * 32);
#pragma unroll
        for (int u = 0; u < U; ++u) s += T<W>::u(v[u]);
    }
    if (s == 0x12345679u) out[0] = s;
}
template <int W, int U>
void one(void* in, unsigned* out, const char* level, long long footprint, int threads, int per_sm,
         int spread) {
    int sms = 132;
    long long pieces = footprint / (32LL * U * W);
    long long warps = (long long)sms * per_sm * threads / 32;
    long long total = level[0] == 'd' ? footprint : 512LL << 20;
    int trips = (int)std::max(1LL, total / (32LL * U * W) / warps);
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, stream<W, U>);
    int occ = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occ, stream<W, U>, threads, 0);
    std::vector<float> ms;
    cudaEvent_t x, y;
    cudaEventCreate(&x);
    cudaEventCreate(&y);
    for (int r = 0; r < 7; ++r) {
        cudaEventRecord(x);
        stream<W, U><<<sms * per_sm, threads>>>((const typename T<W>::t*)in, out, pieces, trips, spread);
        cudaEventRecord(y);
        cudaEventSynchronize(y);
        float t;
        cudaEventElapsedTime(&t, x, y);
        if (r) ms.push_back(t);
    }
    std::sort(ms.begin(), ms.end());
    double us = ms[ms.size() / 2] * 1e3;
    double requests = (double)warps * trips * U / sms;
    printf("%s,%d,%d,%d,%d,%d,%d,%d,%lld,%.2f,%.3f,%.1f\n", level, W, U, threads, per_sm, occ, a.numRegs,
           spread, footprint, us, us * 1980 / requests, requests * sms * 32.0 * W / us / 1e6);
    cudaEventDestroy(x);
    cudaEventDestroy(y);
}
template <int W>
void width(void* in, unsigned* out) {
    struct {
        int threads, per_sm;
    } shapes[] = {{128, 1}, {512, 1}, {640, 1}, {1024, 1}, {1024, 2}};
    for (int spread = 0; spread < 2; ++spread)
        for (auto& s : shapes)
            for (int level = 0; level < 2; ++level) {
                const char* n = level ? "l2" : "dram";
                long long f = level ? 12LL << 20 : 1024LL << 20;
                one<W, 1>(in, out, n, f, s.threads, s.per_sm, spread);
                one<W, 4>(in, out, n, f, s.threads, s.per_sm, spread);
                one<W, 8>(in, out, n, f, s.threads, s.per_sm, spread);
                one<W, 16>(in, out, n, f, s.threads, s.per_sm, spread);
                one<W, 32>(in, out, n, f, s.threads, s.per_sm, spread);
            }
}
__global__ void fill(unsigned* p, long long n) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x)
        p[i] = (unsigned)(i * 2654435761u) ^ (unsigned)(i >> 7) * 40503u;
}
int main() {
    void* in;
    unsigned* out;
    cudaMalloc(&in, 1100LL << 20);
    cudaMalloc(&out, 4096);
    fill<<<1024, 256>>>((unsigned*)in, 1100LL << 18);
    cudaDeviceSynchronize();
    printf(
        "level,width,unroll,threads,ctas_per_sm,occupancy,registers,spread,footprint,us,cycles_per_request,"
        "TBps\n");
    width<2>(in, out);
    width<4>(in, out);
    width<8>(in, out);
    width<16>(in, out);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
