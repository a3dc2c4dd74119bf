// A program under test: what CUDA programs do with the driver's functions, one scenario a run.
// SPDX-License-Identifier: Apache-2.0
//
// Run as `driver_program SCENARIO IMAGE`; IMAGE holds the kernels of this file, compiled apart. It exits with
// 0 where every result was right, else it says which line was not.
#include <cmath>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define EXPECT(condition)                                                        \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (false)
#define EXPECT_ERROR(call, wanted)                                                          \
    do {                                                                                    \
        const int got = static_cast<int>(call);                                             \
        if (got != static_cast<int>(wanted)) {                                              \
            std::fprintf(stderr, "line %d: %s gives %d and not %d\n", __LINE__, #call, got, \
                         static_cast<int>(wanted));                                         \
            std::exit(1);                                                                   \
        }                                                                                   \
    } while (false)
#define DO(call) EXPECT_ERROR(call, 0)

constexpr int box_width = 32, box_height = 8, tensor_width = 100, tensor_height = 64, tensor_pitch = 448;

__constant__ float offsets[2] = {1.0F, 2.0F};
__device__ int calls = 40;

extern "C" __global__ void add(const float* a, const float* b, float* sum, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        sum[i] = a[i] + b[i] + offsets[1];
    }
    if (i == 0) {
        ++calls;
    }
}

struct Mixed {
    char first;
    double second;
};
extern "C" __global__ void mixed(Mixed value, short third, float* result) {
    result[0] = static_cast<float>(value.first + value.second + third);
}

extern "C" __global__ void reverse(int* data, int n) {
    extern __shared__ int held[];
    held[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = held[n - 1 - static_cast<int>(threadIdx.x)];
}

extern "C" __global__ void outside(float* data) {
    data[1 << 20] = 1.0F;
}

/// Each thread keeps `kept_numbers` in registers while it waits for the others.
constexpr int kept_numbers = 96, most_threads = 1024;
extern "C" __global__ void keeps_many(float* data) {
    float kept[kept_numbers];
    for (int i = 0; i < kept_numbers; ++i) kept[i] = data[i * most_threads + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < kept_numbers; ++i) data[i * most_threads + threadIdx.x] = kept[kept_numbers - 1 - i];
}

extern "C" __global__ void endless(const volatile int* flag) {
    while (*flag == 0) {
    }
}

extern "C" __global__ void cluster_ranks(int* ranks) {
    unsigned rank = 0, count = 0;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
    ranks[blockIdx.x] = static_cast<int>(rank * 100 + count);
}

extern "C" __global__ void grid_total(int* parts, int* total) {
    parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (unsigned i = 0; i < gridDim.x; ++i) {
            *total += parts[i];
        }
    }
}

/// Each CTA copies the box at its row of `origins` to its part of the result.
__device__ void copy_own_box(const CUtensorMap* map, const int2* origins, float* result) {
    __shared__ alignas(128) float box[box_width * box_height];
    __shared__ alignas(8) unsigned long long barrier;
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(box));
    const auto bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                     "r"(static_cast<unsigned>(sizeof box)));
        const int2 origin = origins[blockIdx.x];
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
            "%3}], [%4];" ::"r"(to),
            "l"(map), "r"(origin.x), "r"(origin.y), "r"(bar)
            : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (done == 0) {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(bar)
            : "memory");
    }
    for (unsigned i = threadIdx.x; i < box_width * box_height; i += blockDim.x) {
        result[blockIdx.x * box_width * box_height + i] = box[i];
    }
}

extern "C" __global__ void copy_box(const __grid_constant__ CUtensorMap map, const int2* origins,
                                    float* result) {
    copy_own_box(&map, origins, result);
}

/// The same by a map that each CTA makes at its place of `maps`, field by field; by sm_90a alone.
extern "C" __global__ void copy_box_by_own_map(const float* tensor, CUtensorMap* maps, const int2* origins,
                                               float* result) {
    __shared__ alignas(128) unsigned made[sizeof(CUtensorMap) / sizeof(unsigned)];
    CUtensorMap* const own = maps + blockIdx.x;
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(made));
    if (threadIdx.x < 32) {
        made[threadIdx.x] = 0;
        __syncwarp();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        if (threadIdx.x == 0) {
            asm volatile(
                "{ .reg .b64 m; cvt.u64.u32 m, %0;\n"
                "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [m], %1;\n"
                "tensormap.replace.tile.rank.shared::cta.b1024.b32 [m], 1;\n"  // One less than the
                                                                               // dimensions.
                "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [m], 0, %2;\n"
                "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [m], 1, %3;\n"
                "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [m], 0, %4;\n"
                "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [m], 1, %5;\n"
                "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [m], 0, %6;\n"
                "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [m], 0, 1;\n"
                "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [m], 1, 1;\n"
                "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [m], 7;\n"  // .f32
                "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [m], 0;\n"
                "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [m], 0;\n"
                "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [m], 0; }" ::"r"(at),
                "l"(tensor), "r"(box_width), "r"(box_height), "r"(tensor_width), "r"(tensor_height),
                "l"(static_cast<unsigned long long>(tensor_pitch))
                : "memory");
        }
#endif
        __syncwarp();
        asm volatile(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], "
            "[%1], 128;" ::"l"(own),
            "r"(at)
            : "memory");
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(own) : "memory");
    }
    __syncthreads();
    copy_own_box(own, origins, result);
}

static CUcontext make_context() {
    CUdevice device = -1;
    CUcontext context = nullptr;
    DO(cuInit(0));
    DO(cuDeviceGet(&device, 0));
    DO(cuCtxCreate(&context, nullptr, 0, device));
    return context;
}

static CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    DO(cuMemAlloc(&address, bytes));
    return address;
}

template <class Value>
static std::vector<Value> read(CUdeviceptr from, std::size_t count) {
    std::vector<Value> values(count);
    DO(cuMemcpyDtoH(values.data(), from, count * sizeof(Value)));
    return values;
}

template <class Value>
static CUdeviceptr upload(const std::vector<Value>& values) {
    const CUdeviceptr address = allocate(values.size() * sizeof(Value));
    DO(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(Value)));
    return address;
}

/// Loads the loaded and launches `add` of 1000 elements.
static void launch_add(CUmodule loaded) {
    constexpr int n = 1000;
    CUfunction function = nullptr;
    DO(cuModuleGetFunction(&function, loaded, "add"));
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = 0.5F;
    }
    CUdeviceptr on_device[3] = {upload(a), upload(b), allocate(n * sizeof(float))};
    int count = n;
    void* arguments[] = {&on_device[0], &on_device[1], &on_device[2], &count};
    DO(cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    DO(cuCtxSynchronize());
    const std::vector<float> sum = read<float>(on_device[2], n);
    for (int i = 0; i < n; ++i) {
        EXPECT(sum[i] == static_cast<float>(i) + 2.5F);
    }
    for (const CUdeviceptr address : on_device) {
        DO(cuMemFree(address));
    }
}

static CUmodule load(const char* image) {
    CUmodule loaded = nullptr;
    DO(cuModuleLoad(&loaded, image));
    return loaded;
}

static void modules(const char* image) {
    const CUcontext context = make_context();
    const CUmodule loaded = load(image);
    launch_add(loaded);

    // Variables, by their mangled names, which are the plain ones outside of namespaces.
    CUdeviceptr place = 0;
    std::size_t bytes = 0;
    DO(cuModuleGetGlobal(&place, &bytes, loaded, "calls"));
    EXPECT(bytes == 4 && read<int>(place, 1)[0] == 41);
    DO(cuModuleGetGlobal(&place, &bytes, loaded, "offsets"));
    EXPECT(bytes == 8);
    const float offsets_before[2] = {1.0F, 7.0F}, offsets_after[2] = {1.0F, 2.0F};
    DO(cuMemcpyHtoD(place, offsets_before, sizeof offsets_before));
    EXPECT(read<float>(place, 2)[1] == 7.0F);
    DO(cuMemcpyHtoDAsync(place, offsets_after, sizeof offsets_after, nullptr));
    launch_add(loaded);

    // Parameters in a buffer, with gaps between them.
    CUfunction function = nullptr;
    DO(cuModuleGetFunction(&function, loaded, "mixed"));
    const CUdeviceptr result = allocate(4);
    struct {
        Mixed value;
        short third;
        CUdeviceptr result;
    } buffer{{3, 0.25}, 4, result};
    std::size_t buffer_bytes = sizeof buffer;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &buffer_bytes,
                     CU_LAUNCH_PARAM_END};
    DO(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
    EXPECT(read<float>(result, 1)[0] == 7.25F);
    buffer_bytes = 8;
    EXPECT_ERROR(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                 CUDA_ERROR_INVALID_VALUE);

    // Attributes, and dynamic shared memory that must be asked for.
    int value = 0;
    DO(cuModuleGetFunction(&function, loaded, "reverse"));
    DO(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    EXPECT(value > 0 && value <= 255);
    DO(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    EXPECT(value == 48 * 1024);
    constexpr int n = 256;
    std::vector<int> numbers(n);
    for (int i = 0; i < n; ++i) {
        numbers[i] = i;
    }
    CUdeviceptr data = upload(numbers);
    int count = n;
    void* arguments[] = {&data, &count};
    EXPECT_ERROR(cuLaunchKernel(function, 1, 1, 1, n, 1, 1, 100 << 10, nullptr, arguments, nullptr),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20),
                 CUDA_ERROR_INVALID_VALUE);
    DO(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
    DO(cuLaunchKernel(function, 1, 1, 1, n, 1, 1, 100 << 10, nullptr, arguments, nullptr));
    EXPECT(read<int>(data, n)[0] == n - 1);
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, n, 100 << 10));
    EXPECT(value == 2);
    int grid = 0, block = 0;
    DO(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
    EXPECT(block >= 512 && grid >= 132);

    unsigned kernels = 0;
    DO(cuModuleGetFunctionCount(&kernels, loaded));
    EXPECT(kernels == 12);
    DO(cuModuleUnload(loaded));
    EXPECT_ERROR(cuLaunchKernel(function, 1, 1, 1, n, 1, 1, 0, nullptr, arguments, nullptr),
                 CUDA_ERROR_INVALID_HANDLE);
    DO(cuCtxDestroy(context));
    EXPECT_ERROR(cuMemAlloc(&place, 16), CUDA_ERROR_INVALID_CONTEXT);
}

static void memory() {
    CUdevice device = 0;
    CUcontext context = nullptr, current = nullptr;
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, device));
    DO(cuCtxSetCurrent(context));
    DO(cuCtxGetCurrent(&current));
    EXPECT(current == context);
    unsigned flags = 0;
    int active = 0;
    DO(cuDevicePrimaryCtxGetState(device, &flags, &active));
    EXPECT(active == 1);

    char name[64];
    int major = 0, count = 0;
    std::size_t total = 0, free_before = 0, free_after = 0;
    CUuuid uuid;
    DO(cuDeviceGetCount(&count));
    DO(cuDeviceGetName(name, sizeof name, device));
    DO(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    DO(cuDeviceTotalMem(&total, device));
    DO(cuDeviceGetUuid(&uuid, device));
    EXPECT(count == 1 && major == 9 && std::strstr(name, "H200") != nullptr && total > 100'000'000'000ULL);

    DO(cuMemGetInfo(&free_before, &total));
    CUdeviceptr data = allocate(4096), other = 0;
    DO(cuMemGetInfo(&free_after, &total));
    EXPECT(free_before - free_after == 4096);
    CUstream stream = nullptr;
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemAllocAsync(&other, 4096, stream));
    DO(cuMemsetD8(data, 0xab, 4096));
    EXPECT(read<unsigned char>(data, 4096)[4095] == 0xab);
    DO(cuMemsetD16(data, 0x1234, 2048));
    EXPECT(read<unsigned short>(data, 2048)[2047] == 0x1234);
    DO(cuMemsetD32Async(data, 77, 1024, stream));
    EXPECT_ERROR(cuMemsetD32(data + 2, 77, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD32(data, 77, 1025), CUDA_ERROR_INVALID_VALUE);
    DO(cuMemcpyDtoDAsync(other, data, 4096, stream));
    DO(cuMemcpy(data, other, 2048));

    int* pinned = nullptr;
    DO(cuMemAllocHost(reinterpret_cast<void**>(&pinned), 4096));
    DO(cuMemcpyDtoHAsync(pinned, other, 4096, stream));
    DO(cuStreamSynchronize(stream));
    EXPECT(pinned[0] == 77 && pinned[1023] == 77);
    CUmemorytype type{};
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data + 5));
    EXPECT(type == CU_MEMORYTYPE_DEVICE);
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(pinned)));
    EXPECT(type == CU_MEMORYTYPE_HOST);
    EXPECT_ERROR(
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)),
        CUDA_ERROR_INVALID_VALUE);

    // Rows of 12 bytes within rows of a pitch.
    CUdeviceptr pitched = 0;
    std::size_t pitch = 0;
    DO(cuMemAllocPitch(&pitched, &pitch, 12, 5, 4));
    EXPECT(pitch >= 12 && pitch % 256 == 0);
    CUDA_MEMCPY2D rows{};
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = pinned;
    rows.srcPitch = 12;
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.dstDevice = pitched;
    rows.dstPitch = pitch;
    rows.WidthInBytes = 12;
    rows.Height = 5;
    DO(cuMemcpy2D(&rows));
    EXPECT(read<int>(pitched + 4 * pitch, 3)[2] == 77);
    rows.Height = 500;
    EXPECT_ERROR(cuMemcpy2D(&rows), CUDA_ERROR_INVALID_VALUE);

    CUevent begin = nullptr, end = nullptr;
    float milliseconds = -1.0F;
    DO(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    DO(cuEventCreate(&end, CU_EVENT_DEFAULT));
    DO(cuEventRecord(begin, stream));
    DO(cuEventRecord(end, stream));
    DO(cuEventSynchronize(end));
    DO(cuEventQuery(end));
    DO(cuEventElapsedTime(&milliseconds, begin, end));
    EXPECT(milliseconds >= 0.0F);
    DO(cuEventDestroy(begin));
    DO(cuEventDestroy(end));
    DO(cuMemFreeAsync(other, stream));
    DO(cuStreamQuery(stream));
    DO(cuStreamDestroy(stream));
    DO(cuMemFreeHost(pinned));
    DO(cuMemFree(data));
    EXPECT_ERROR(cuMemFree(data), CUDA_ERROR_INVALID_VALUE);
    DO(cuDevicePrimaryCtxRelease(device));
}

static void errors(const char* image) {
    CUcontext context = nullptr;
    CUdeviceptr address = 0;
    int number = 0;
    EXPECT_ERROR(cuDeviceGetCount(&number), CUDA_ERROR_NOT_INITIALIZED);
    DO(cuInit(0));
    EXPECT_ERROR(cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuDeviceGet(&number, 1), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_ERROR(cuCtxSetCurrent(reinterpret_cast<CUcontext>(&context)), CUDA_ERROR_INVALID_CONTEXT);
    context = make_context();
    // Another thread has none.
    std::thread([&] {
        CUcontext mine = context;
        DO(cuCtxGetCurrent(&mine));
        EXPECT(mine == nullptr);
        DO(cuCtxPushCurrent(context));
        allocate(16);
        DO(cuCtxPopCurrent(&mine));
        EXPECT(mine == context);
    }).join();
    EXPECT_ERROR(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAlloc(&address, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
    address = allocate(16);
    char bytes[64] = {};
    EXPECT_ERROR(cuMemcpyHtoD(address, bytes, 17), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyDtoH(bytes, address + 16, 1), CUDA_ERROR_INVALID_VALUE);

    CUmodule loaded = nullptr;
    CUfunction function = nullptr;
    EXPECT_ERROR(cuModuleLoad(&loaded, "/nowhere"), CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_ERROR(cuModuleLoadData(&loaded, bytes), CUDA_ERROR_INVALID_IMAGE);
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    EXPECT_ERROR(cuModuleLoadDataEx(&loaded, ".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n", 2,
                                    options, values),
                 CUDA_ERROR_INVALID_PTX);
    EXPECT(std::strlen(log) > 0);
    loaded = load(image);
    EXPECT_ERROR(cuModuleGetFunction(&function, loaded, "nothing"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuModuleGetGlobal(&address, nullptr, loaded, "nothing"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuModuleUnload(reinterpret_cast<CUmodule>(bytes)), CUDA_ERROR_INVALID_HANDLE);

    const char* text = nullptr;
    DO(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    EXPECT(std::strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    DO(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT(std::strcmp(text, "out of memory") == 0);
    EXPECT_ERROR(cuGetErrorString(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
    // A function that is not provided says so.
    CUarray array = nullptr;
    CUDA_ARRAY_DESCRIPTOR description{};
    EXPECT_ERROR(cuArrayCreate(&array, &description), CUDA_ERROR_NOT_SUPPORTED);
}

static void library(const char* image) {
    make_context();
    std::ifstream file(image, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CUlibrary held = nullptr;
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    DO(cuLibraryLoadData(&held, bytes.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    std::fill(bytes.begin(), bytes.end(), 'x');  // The library has its own copy.
    DO(cuLibraryGetKernel(&kernel, held, "cluster_ranks"));
    DO(cuKernelGetFunction(&function, kernel));

    CUdeviceptr ranks = allocate(8 * sizeof(int));
    void* arguments[] = {&ranks};
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 4;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig configuration{};
    configuration.gridDimX = 8;
    configuration.gridDimY = configuration.gridDimZ = 1;
    configuration.blockDimX = configuration.blockDimY = configuration.blockDimZ = 1;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    DO(cuLaunchKernelEx(&configuration, reinterpret_cast<CUfunction>(kernel), arguments, nullptr));
    const std::vector<int> got = read<int>(ranks, 8);
    for (int i = 0; i < 8; ++i) {
        EXPECT(got[i] == i % 4 * 100 + 4);
    }

    DO(cuLibraryGetKernel(&kernel, held, "grid_total"));
    DO(cuKernelGetFunction(&function, kernel));
    CUdeviceptr parts = allocate(100 * sizeof(int)), total = allocate(sizeof(int));
    DO(cuMemsetD32(total, 0, 1));
    void* sums[] = {&parts, &total};
    DO(cuLaunchCooperativeKernel(function, 100, 1, 1, 32, 1, 1, 0, nullptr, sums));
    EXPECT(read<int>(total, 1)[0] == 5050);
    EXPECT_ERROR(cuLaunchCooperativeKernel(function, 1 << 20, 1, 1, 32, 1, 1, 0, nullptr, sums),
                 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    DO(cuLibraryUnload(held));
}

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

static CUtensorMap make_map(EncodeTiled encode, CUdeviceptr tensor) {
    CUtensorMap map;
    const cuuint64_t extents[] = {tensor_width, tensor_height};
    const cuuint64_t strides[] = {tensor_pitch};
    const cuuint32_t box[] = {box_width, box_height}, steps[] = {1, 1};
    const auto make = [&](CUtensorMap* to, unsigned rank, CUdeviceptr at, const cuuint64_t* pitches,
                          const cuuint32_t* boxes, CUtensorMapSwizzle swizzle) {
        return encode(to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, reinterpret_cast<void*>(at), extents,
                      pitches, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    const cuuint32_t large[] = {257, 8}, uneven[] = {3, 8}, wide[] = {64, 8};
    const cuuint64_t odd[] = {tensor_pitch + 4};
    constexpr CUtensorMapSwizzle none = CU_TENSOR_MAP_SWIZZLE_NONE;
    EXPECT_ERROR(make(&map, 0, tensor, strides, box, none), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(make(&map, 6, tensor, strides, box, none), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(make(&map, 2, tensor + 4, strides, box, none), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(make(&map, 2, tensor, odd, box, none), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(make(&map, 2, tensor, strides, large, none), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(make(&map, 2, tensor, strides, uneven, none), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(make(&map, 2, tensor, strides, wide, CU_TENSOR_MAP_SWIZZLE_128B), CUDA_ERROR_INVALID_VALUE);
    DO(make(&map, 2, tensor, strides, box, none));
    return map;
}

static std::vector<float> tensor_values() {
    std::vector<float> values(tensor_height * tensor_pitch / sizeof(float), -1.0F);
    for (int y = 0; y < tensor_height; ++y) {
        for (int x = 0; x < tensor_width; ++x) {
            values[y * tensor_pitch / sizeof(float) + x] = static_cast<float>(y * 1000 + x);
        }
    }
    return values;
}

static const std::vector<int2> box_origins{{0, 0}, {32, 8}, {80, 60}};

static void check_boxes(const std::vector<float>& boxes) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const int2 origin = box_origins[i / (box_width * box_height)];
        const int x = origin.x + static_cast<int>(i) % box_width;
        const int y = origin.y + static_cast<int>(i) / box_width % box_height;
        EXPECT(boxes[i] == (x < tensor_width && y < tensor_height ? static_cast<float>(y * 1000 + x) : 0.0F));
    }
}

static void tensor_map(const char* image) {
    make_context();
    const CUmodule loaded = load(image);
    CUfunction function = nullptr;
    DO(cuModuleGetFunction(&function, loaded, "copy_box"));
    CUtensorMap map = make_map(cuTensorMapEncodeTiled, upload(tensor_values()));
    CUdeviceptr origins = upload(box_origins);
    const std::size_t count = box_origins.size() * box_width * box_height;
    CUdeviceptr result = allocate(count * sizeof(float));
    void* arguments[] = {&map, &origins, &result};
    DO(cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    check_boxes(read<float>(result, count));

    CUfunction by_own_map = nullptr;
    DO(cuModuleGetFunction(&by_own_map, loaded, "copy_box_by_own_map"));
    CUdeviceptr tensor = upload(tensor_values()), maps = allocate(3 * sizeof(CUtensorMap));
    CUdeviceptr second = allocate(count * sizeof(float));
    void* its_arguments[] = {&tensor, &maps, &origins, &second};
    DO(cuLaunchKernel(by_own_map, 3, 1, 1, 64, 1, 1, 0, nullptr, its_arguments, nullptr));
    check_boxes(read<float>(second, count));
}

/// The same with the runtime, and the driver's function from it.
static void entry_point() {
    void* encode = nullptr;
    void* nothing = &encode;
    cudaDriverEntryPointQueryResult status{};
    DO(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                        &status));
    EXPECT(encode != nullptr && status == cudaDriverEntryPointSuccess);
    DO(cudaGetDriverEntryPointByVersion("cuNothing", &nothing, 12000, cudaEnableDefault, &status));
    EXPECT(nothing == nullptr && status == cudaDriverEntryPointSymbolNotFound);
    DO(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &nothing, 11080, cudaEnableDefault,
                                        &status));
    EXPECT(nothing == nullptr && status == cudaDriverEntryPointVersionNotSufficent);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    void* again = nullptr;
    DO(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &again, cudaEnableDefault, &status));
    EXPECT(again == encode);
#pragma GCC diagnostic pop

    const std::vector<float> values = tensor_values();
    const std::size_t count = box_origins.size() * box_width * box_height;
    float* tensor = nullptr;
    float* result = nullptr;
    int2* origins = nullptr;
    DO(cudaMalloc(&tensor, values.size() * sizeof(float)));
    DO(cudaMalloc(&origins, box_origins.size() * sizeof(int2)));
    DO(cudaMalloc(&result, count * sizeof(float)));
    DO(cudaMemcpy(tensor, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    DO(cudaMemcpy(origins, box_origins.data(), box_origins.size() * sizeof(int2), cudaMemcpyHostToDevice));
    const CUtensorMap map =
        make_map(reinterpret_cast<EncodeTiled>(encode), reinterpret_cast<CUdeviceptr>(tensor));
    copy_box<<<3, 64>>>(map, origins, result);
    DO(cudaDeviceSynchronize());
    std::vector<float> boxes(count);
    DO(cudaMemcpy(boxes.data(), result, count * sizeof(float), cudaMemcpyDeviceToHost));
    check_boxes(boxes);

    // The driver's functions take the runtime's kernels and memory, in its context.
    cudaFunction_t function = nullptr;
    CUcontext context = nullptr;
    DO(cuCtxGetCurrent(&context));
    EXPECT(context != nullptr);
    DO(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&copy_box)));
    DO(cudaMemset(result, 0, count * sizeof(float)));
    void* arguments[] = {const_cast<CUtensorMap*>(&map), &origins, &result};
    DO(cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    check_boxes(read<float>(reinterpret_cast<CUdeviceptr>(result), count));
}

/// The driver as a library that the program opens.
static void opened(const char* image) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT(driver != nullptr);
    EXPECT(dlsym(driver, "cuInit") != nullptr);
    const auto find =
        reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*)>(
            dlsym(driver, "cuGetProcAddress_v2"));
    EXPECT(find != nullptr);
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    EXPECT_ERROR(find("cuNothing", &function, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
    EXPECT(function == nullptr && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_ERROR(find("cuArrayCreate", &function, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
    DO(find("cuMemAlloc", &function, 12000, 0, &status));
    EXPECT(function == dlsym(driver, "cuMemAlloc_v2"));
    DO(find("cuCtxCreate", &function, 12000, 0, &status));
    EXPECT(function == dlsym(driver, "cuCtxCreate_v3"));
    DO(find("cuInit", &function, 12000, 0, nullptr));
    DO(reinterpret_cast<decltype(&cuInit)>(function)(0));
    EXPECT(function == reinterpret_cast<void*>(&cuInit));
    make_context();
    launch_add(load(image));
}

static void fault(const char* image) {
    make_context();
    const CUmodule loaded = load(image);
    launch_add(loaded);
    CUfunction function = nullptr;
    DO(cuModuleGetFunction(&function, loaded, "outside"));
    CUdeviceptr data = allocate(64);
    void* arguments[] = {&data};
    // The fault is told by the launch or by the next call that waits for it.
    (void)cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuMemcpyDtoH(arguments, data, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void registers(const char* image) {
    make_context();
    CUfunction function = nullptr;
    DO(cuModuleGetFunction(&function, load(image), "keeps_many"));
    int of_thread = 0;
    DO(cuFuncGetAttribute(&of_thread, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    EXPECT(of_thread * most_threads > 65536);
    CUdeviceptr data = allocate(kept_numbers * most_threads * sizeof(float));
    void* arguments[] = {&data};
    const auto launched = [&](int threads) {
        return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
    };
    DO(launched(most_threads / 4));
    EXPECT_ERROR(launched(most_threads), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    // The program goes on, also with the runtime, which says the same.
    DO(launched(most_threads / 4));
    keeps_many<<<1, most_threads>>>(reinterpret_cast<float*>(data));
    EXPECT_ERROR(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    DO(cudaDeviceSynchronize());
}

static void loop(const char* image) {
    make_context();
    const CUmodule loaded = load(image);
    launch_add(loaded);
    CUfunction function = nullptr;
    DO(cuModuleGetFunction(&function, loaded, "endless"));
    CUdeviceptr flag = allocate(4);
    void* arguments[] = {&flag};
    DO(cuMemsetD32(flag, 0, 1));
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS);
    EXPECT(cuCtxSynchronize() != CUDA_SUCCESS);
}

/// A child of this program, one that runs it anew, and the program itself launch once each.
static void children(const char* program, const char* image) {
    for (const bool anew : {false, true}) {
        const pid_t child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            if (anew) {
                execl(program, program, "add", image, nullptr);
                _exit(9);
            }
            make_context();
            launch_add(load(image));
            _exit(0);
        }
        int status = 0;
        EXPECT(waitpid(child, &status, 0) == child);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    make_context();
    launch_add(load(image));
}

__global__ void read_texels(cudaTextureObject_t texture, const float2* places, float* values) {
    values[threadIdx.x] = tex2D<float>(texture, places[threadIdx.x].x, places[threadIdx.x].y);
}
__global__ void read_layers(cudaTextureObject_t texture, float* values) {
    values[threadIdx.x] = tex1DLayered<float>(texture, static_cast<float>(threadIdx.x) + 0.5F, 2);
}

static float read_at(cudaTextureObject_t texture, float x, float y) {
    float2* places = nullptr;
    float *values = nullptr, value = 0.0F;
    const float2 place{x, y};
    DO(cudaMalloc(&places, sizeof place));
    DO(cudaMalloc(&values, sizeof value));
    DO(cudaMemcpy(places, &place, sizeof place, cudaMemcpyHostToDevice));
    read_texels<<<1, 1>>>(texture, places, values);
    DO(cudaMemcpy(&value, values, sizeof value, cudaMemcpyDeviceToHost));
    DO(cudaFree(places));
    DO(cudaFree(values));
    return value;
}

/// Arrays of texels: parts of them copied in and out, how coordinates outside are read, and wrong arguments.
static void textures() {
    constexpr int width = 37, height = 21;
    std::vector<float> texels(width * height), back(texels.size());
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    DO(cudaMallocArray(&array, &format, width, height));
    const std::size_t row = width * sizeof(float);
    DO(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, height, cudaMemcpyHostToDevice));
    DO(cudaMemcpy2DFromArray(back.data(), row, array, 0, 0, row, height, cudaMemcpyDeviceToHost));
    EXPECT(back == texels);
    // Five texels of three rows, from column 9 and row 6 on.
    std::vector<float> part(15);
    DO(cudaMemcpy2DFromArray(part.data(), 20, array, 36, 6, 20, 3, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 15; ++i) EXPECT(part[i] == texels[(6 + i / 5) * width + 9 + i % 5]);
    EXPECT_ERROR(cudaMemcpy2DFromArray(part.data(), 20, array, row - 16, 6, 20, 3, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpy2DFromArray(part.data(), 16, array, 36, 6, 20, 3, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidValue);
    cudaChannelFormatDesc told{};
    cudaExtent extent{};
    unsigned flags = 7;
    DO(cudaArrayGetInfo(&told, &extent, &flags, array));
    EXPECT(told.x == 32 && told.y == 0 && extent.width == width && extent.height == height &&
           extent.depth == 0);
    EXPECT(flags == 0);

    // Without a word on it coordinates count texels, and those outside are read at the edge.
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    DO(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    EXPECT(read_at(texture, -3.5F, 4.5F) == texels[4 * width]);
    EXPECT(read_at(texture, width + 6.5F, 4.5F) == texels[4 * width + width - 1]);
    DO(cudaDestroyTextureObject(texture));
    EXPECT_ERROR(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
    // From 0 to 1 they come again, or go back.
    how.normalizedCoords = 1;
    DO(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    EXPECT(read_at(texture, 2.0F + 3.5F / width, 4.5F / height) == texels[4 * width + 3]);
    DO(cudaDestroyTextureObject(texture));
    how.addressMode[0] = cudaAddressModeMirror;
    DO(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    EXPECT(read_at(texture, 7.0F + 3.5F / width, 4.5F / height) == texels[4 * width + width - 4]);
    DO(cudaDestroyTextureObject(texture));

    // Layers of lines.
    cudaArray_t lines = nullptr;
    DO(cudaMalloc3DArray(&lines, &format, make_cudaExtent(width, 0, 3), cudaArrayLayered));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), row, width, 1);
    copy.dstArray = lines;
    copy.extent = make_cudaExtent(width, 1, 3);
    copy.kind = cudaMemcpyHostToDevice;
    DO(cudaMemcpy3D(&copy));
    DO(cudaArrayGetInfo(nullptr, &extent, nullptr, lines));
    EXPECT(extent.height == 0 && extent.depth == 3);
    resource.res.array.array = lines;
    how = {};
    DO(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    float* values = nullptr;
    DO(cudaMalloc(&values, 128));
    read_layers<<<1, 32>>>(texture, values);
    DO(cudaMemcpy(back.data(), values, 128, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(back[i] == texels[2 * width + i]);
    DO(cudaFreeArray(lines));
    EXPECT_ERROR(cudaFreeArray(lines), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidValue);

    // Rows in plain memory, and what is no texture.
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {values, format, 8, 2, 64};
    DO(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    EXPECT(read_at(texture, 3.5F, 1.5F) == texels[2 * width + 19]);
    resource.res.pitch2D.height = 5;
    EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidValue);
    resource.res.pitch2D = {values, format, 8, 2, 16};
    EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidValue);
    resource.res.pitch2D = {values, cudaCreateChannelDesc<int>(), 8, 2, 64};
    how.filterMode = cudaFilterModeLinear;
    EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorInvalidFilterSetting);
    const cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    EXPECT_ERROR(cudaMallocArray(&lines, &three, 8, 8), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMalloc3DArray(&lines, &format, make_cudaExtent(8, 0, 4), 0), cudaErrorInvalidValue);
    (void)cudaGetLastError();
    // Memory that is gone ends the kernel that reads it.
    float2* places = nullptr;
    float* result = nullptr;
    DO(cudaMalloc(&places, sizeof *places));
    DO(cudaMalloc(&result, sizeof *result));
    DO(cudaFree(values));
    read_texels<<<1, 1>>>(texture, places, result);
    EXPECT(cudaDeviceSynchronize() != cudaSuccess);
}

int main(int count, char** arguments) {
    EXPECT(count == 3);
    const std::string scenario = arguments[1];
    const char* const image = arguments[2];
    if (scenario == "modules") {
        modules(image);
    } else if (scenario == "memory") {
        memory();
    } else if (scenario == "errors") {
        errors(image);
    } else if (scenario == "library") {
        library(image);
    } else if (scenario == "tensor_map") {
        tensor_map(image);
    } else if (scenario == "textures") {
        textures();
    } else if (scenario == "entry_point") {
        entry_point();
    } else if (scenario == "opened") {
        opened(image);
    } else if (scenario == "fault") {
        fault(image);
    } else if (scenario == "registers") {
        registers(image);
    } else if (scenario == "loop") {
        loop(image);
    } else if (scenario == "children") {
        children(arguments[0], image);
    } else if (scenario == "add" || scenario == "crash" || scenario == "early") {
        make_context();
        launch_add(load(image));
        if (scenario == "crash") {
            std::abort();
        }
        if (scenario == "early") {
            _exit(7);
        }
    } else {
        EXPECT(!"a known scenario");
    }
    std::puts("right");
    return 0;
}
