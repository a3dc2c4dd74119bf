// How long do the kernels take that the library ranks first to eighth for a product?
// The probe asks cuBLASLt's heuristics for the best eight, runs each over a flushed L2, and checks that all
// agree. Rows library_pick: pick is the rank, from 0. kernel_us adds the kernels and memory sets of one call.
// The column steps names these kernels and memory sets. The library is looked up when the probe runs
// (WARPTIME_CUBLASLT, otherwise the system's).
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

#include <cmath>
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <dlfcn.h>

namespace {

constexpr int most_picks = 8;
constexpr int samples = 7;
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

struct Shape {
    int m, n, k;
};

// Squares, products a little over a wave, wide and tall products, prefill and decode, and long K. All shapes
// are rows of gemm_bf16 or similar to such rows.
constexpr Shape shapes[] = {
    {256, 256, 256},     {512, 512, 512},     {1024, 1024, 1024}, {2048, 2048, 2048}, {3072, 3072, 3072},
    {4096, 4096, 4096},  {8192, 8192, 8192},  {1408, 1536, 4096}, {3200, 3072, 2048}, {2304, 2048, 1024},
    {4096, 4096, 256},   {16384, 4096, 256},  {6144, 6144, 448},  {32768, 128, 2048}, {128, 8192, 8192},
    {128, 2048, 65536},  {64, 64, 32768},     {256, 8192, 1024},  {512, 4096, 14336}, {1024, 4096, 14336},
    {2048, 4096, 14336}, {2048, 28672, 4096}, {4096, 6144, 4096}, {1, 4096, 4096},    {4, 4096, 4096},
    {8, 8192, 8192},     {16, 2048, 2048},    {16, 8192, 28672},  {16, 32000, 4096},  {32, 3584, 18944},
    {32, 12288, 12288},  {48, 5120, 5120},    {64, 14336, 4096},  {96, 4096, 11008},  {128, 57344, 8192},
    {192, 1280, 8192},   {256, 3584, 2560},   {320, 18432, 7168}, {640, 5120, 1536},  {777, 1552, 3336},
    {1000, 1000, 1000},  {1400, 1528, 2504},  {2728, 1040, 5000}, {5000, 2048, 2048}};

template <typename Function>
Function look_up(void* library, const char* name) {
    void* found = dlsym(library, name);
    probe::require(found != nullptr, std::string("cuBLASLt has no ") + name);
    return reinterpret_cast<Function>(found);
}

#define CUBLASLT(name) const decltype(&::name) name

/// The functions used, under the names of the library's header.
struct Library {
    void* handle;
    CUBLASLT(cublasLtCreate) = look_up<decltype(&::cublasLtCreate)>(handle, "cublasLtCreate");
    CUBLASLT(cublasLtGetVersion) = look_up<decltype(&::cublasLtGetVersion)>(handle, "cublasLtGetVersion");
    CUBLASLT(cublasLtMatmul) = look_up<decltype(&::cublasLtMatmul)>(handle, "cublasLtMatmul");
    CUBLASLT(cublasLtMatmulAlgoGetHeuristic) =
        look_up<decltype(&::cublasLtMatmulAlgoGetHeuristic)>(handle, "cublasLtMatmulAlgoGetHeuristic");
    CUBLASLT(cublasLtMatmulDescCreate) =
        look_up<decltype(&::cublasLtMatmulDescCreate)>(handle, "cublasLtMatmulDescCreate");
    CUBLASLT(cublasLtMatmulDescSetAttribute) =
        look_up<decltype(&::cublasLtMatmulDescSetAttribute)>(handle, "cublasLtMatmulDescSetAttribute");
    CUBLASLT(cublasLtMatrixLayoutCreate) =
        look_up<decltype(&::cublasLtMatrixLayoutCreate)>(handle, "cublasLtMatrixLayoutCreate");
    CUBLASLT(cublasLtMatmulPreferenceCreate) =
        look_up<decltype(&::cublasLtMatmulPreferenceCreate)>(handle, "cublasLtMatmulPreferenceCreate");
    CUBLASLT(cublasLtMatmulPreferenceSetAttribute) =
        look_up<decltype(&::cublasLtMatmulPreferenceSetAttribute)>(handle,
                                                                   "cublasLtMatmulPreferenceSetAttribute");
};

#undef CUBLASLT

void fine(cublasStatus_t status, const std::string& what) {
    probe::require(status == CUBLAS_STATUS_SUCCESS, what + ": status " + std::to_string(status));
}

/// Uniform between -1 and 1: random, and small enough to compare results.
__global__ void prepare_operand(__nv_bfloat16* data, std::size_t count, std::uint32_t seed) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const std::uint32_t word = probe::hash(static_cast<std::uint32_t>(i) + seed * 0x9e3779b9U);
        data[i] = __float2bfloat16(static_cast<float>(word) * 0x1p-31F - 1.0F);
    }
}

/// Largest difference of two results, and the largest value.
__global__ void prepare_comparison(const __nv_bfloat16* left, const __nv_bfloat16* right, std::size_t count,
                                   float* found) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    float difference = 0.0F;
    float largest = 0.0F;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        difference = fmaxf(difference, fabsf(__bfloat162float(left[i]) - __bfloat162float(right[i])));
        largest = fmaxf(largest, fabsf(__bfloat162float(left[i])));
    }
    // The order of positive floats is the order of their bits.
    atomicMax(reinterpret_cast<int*>(found), __float_as_int(difference));
    atomicMax(reinterpret_cast<int*>(found) + 1, __float_as_int(largest));
}

struct Bench {
    Library library;
    cublasLtHandle_t handle;
    probe::Buffer<unsigned char> workspace{workspace_bytes};
    probe::Buffer<float> compared{2};
    probe::Flush flush;
};

std::string steps_of(const std::vector<probe::activity::Kernel>& kernels) {
    std::string joined;
    for (const probe::activity::Kernel& kernel : kernels) {
        char text[320];
        std::snprintf(
            text, sizeof text, "%s%.120s grid=%dx%dx%d block=%dx%dx%d registers=%d shared=%d us=%.6g",
            joined.empty() ? "" : " | ", kernel.name.c_str(), kernel.grid[0], kernel.grid[1], kernel.grid[2],
            kernel.block[0], kernel.block[1], kernel.block[2], kernel.registers, kernel.shared, kernel.us);
        joined += text;
    }
    return joined;
}

void measure(Bench& bench, const Shape& shape) {
    const std::size_t m = static_cast<std::size_t>(shape.m);
    const std::size_t n = static_cast<std::size_t>(shape.n);
    const std::size_t k = static_cast<std::size_t>(shape.k);
    const auto params_of = [&](int pick) {
        probe::Params params;
        return params.set("dtype", "bf16")
            .set("m", shape.m)
            .set("n", shape.n)
            .set("k", shape.k)
            .set("pick", pick);
    };
    probe::Conditions with{.cache = "flushed", .method = "cupti"};
    if (!probe::wanted("library_pick", params_of(0), with)) return;
    probe::Buffer<__nv_bfloat16> a(m * k);
    probe::Buffer<__nv_bfloat16> b(n * k);
    probe::Buffer<__nv_bfloat16> first(m * n);
    probe::Buffer<__nv_bfloat16> out(m * n);
    prepare_operand<<<1056, 256>>>(a.data(), a.size(), 1);
    prepare_operand<<<1056, 256>>>(b.data(), b.size(), 2);
    // Row-major C = A B' is column-major C' = B A'.
    const Library& lt = bench.library;
    cublasLtMatmulDesc_t product;
    fine(lt.cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "description");
    const cublasOperation_t turned = CUBLAS_OP_T;
    fine(lt.cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned),
         "transposition");
    cublasLtMatrixLayout_t layout_a;
    cublasLtMatrixLayout_t layout_b;
    cublasLtMatrixLayout_t layout_c;
    fine(lt.cublasLtMatrixLayoutCreate(&layout_b, CUDA_R_16BF, k, n, static_cast<std::int64_t>(k)), "B");
    fine(lt.cublasLtMatrixLayoutCreate(&layout_a, CUDA_R_16BF, k, m, static_cast<std::int64_t>(k)), "A");
    fine(lt.cublasLtMatrixLayoutCreate(&layout_c, CUDA_R_16BF, n, m, static_cast<std::int64_t>(n)), "C");
    cublasLtMatmulPreference_t preference;
    fine(lt.cublasLtMatmulPreferenceCreate(&preference), "preference");
    fine(lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                 &workspace_bytes, sizeof workspace_bytes),
         "workspace");
    cublasLtMatmulHeuristicResult_t picks[most_picks] = {};
    int count = 0;
    fine(lt.cublasLtMatmulAlgoGetHeuristic(bench.handle, product, layout_b, layout_a, layout_c, layout_c,
                                           preference, most_picks, picks, &count),
         "heuristics");
    const float one = 1.0F;
    const float zero = 0.0F;
    for (int pick = 0; pick < count; ++pick) {
        const probe::Params params = params_of(pick);
        const auto run = [&](__nv_bfloat16* result) {
            fine(lt.cublasLtMatmul(bench.handle, product, &one, b.data(), layout_b, a.data(), layout_a, &zero,
                                   result, layout_c, result, layout_c, &picks[pick].algo,
                                   bench.workspace.data(), workspace_bytes, nullptr),
                 params.text());
        };
        run(pick == 0 ? first.data() : out.data());
        if (pick > 0) {
            bench.compared.zero();
            prepare_comparison<<<1056, 256>>>(first.data(), out.data(), out.size(), bench.compared.data());
            const std::vector<float> compared = bench.compared.host();
            probe::require(compared[0] <= 0.02F * compared[1] && compared[1] > 0.0F, params.text());
        }
        std::vector<double> us;
        for (int sample = 0; sample <= samples; ++sample) {
            bench.flush.dirty();
            PROBE_CHECK(cudaDeviceSynchronize());
            probe::activity::discard();
            run(out.data());
            PROBE_CHECK(cudaDeviceSynchronize());
            const auto kernels = probe::activity::collect("prepare_");
            probe::require(!kernels.empty(), "durations of kernels need CUPTI: " + params.text());
            double sum = 0.0;
            for (const probe::activity::Kernel& kernel : kernels) sum += kernel.us;
            if (sample > 0) us.push_back(sum);
            with.steps = steps_of(kernels);
            probe::pause_ms(0.2);
        }
        probe::row("library_pick", params, "kernel_us", "us", us, with);
    }
}

}  // namespace

int main() {
    probe::begin("library_picks");
    probe::activity::record_memory_operations();
    void* library = nullptr;
    for (const std::string& name :
         {probe::environment("WARPTIME_CUBLASLT", ""), std::string("libcublasLt.so.13"),
          std::string("libcublasLt.so"), std::string("/usr/local/cuda/lib64/libcublasLt.so")}) {
        if (library == nullptr && !name.empty()) library = dlopen(name.c_str(), RTLD_NOW);
    }
    probe::require(library != nullptr, "libcublasLt.so could not be loaded; set WARPTIME_CUBLASLT");
    Bench bench{.library = Library{library}, .handle = nullptr, .flush = {}};
    fine(bench.library.cublasLtCreate(&bench.handle), "handle");
    std::fprintf(stderr, "cuBLASLt %zu\n", bench.library.cublasLtGetVersion());
    for (const Shape& shape : shapes) measure(bench, shape);
    return 0;
}
