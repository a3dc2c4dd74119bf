// The functions of the CUDA runtime that programs call, over the stand-in device.
// SPDX-License-Identifier: Apache-2.0
//
// Declarations are written out here, since CUDA's headers need not be installed; the names and signatures are
// those of the CUDA Runtime API, version 13.0. Work is done when a function returns, so streams and events
// have nothing to wait for.
#include "bindings/standin/runtime_api.hpp"

#include "bindings/standin/driver.hpp"
#include "hw/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// The names are those of CUDA, and addresses of the stand-in device are places of this process.
// NOLINTBEGIN(bugprone-reserved-identifier, performance-no-int-to-ptr)

namespace {

using warptime::standin::device;
using warptime::standin::KernelHandle;
using warptime::standin::Status;
namespace machine = warptime::workloads::frontends::machine;

struct Dim3 {
    unsigned x, y, z;
};

struct CallConfiguration {
    Dim3 grid, block;
    std::size_t shared;
    void* stream;
};

/// Configurations of launches that the compiler's stubs push and pop, of one thread.
std::vector<CallConfiguration>& configurations() {
    thread_local std::vector<CallConfiguration> stack;
    return stack;
}

int& last_error() {
    thread_local int error = 0;
    return error;
}

}  // namespace

int warptime::standin::failed(Status status) {
    if (status != Status::success) {
        last_error() = static_cast<int>(status);
    }
    return static_cast<int>(status);
}

namespace {

using warptime::standin::failed;
using warptime::standin::locked;

int launch(const KernelHandle* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,
           bool cooperative, Dim3 cluster = {1, 1, 1}) {
    if (kernel == nullptr) {
        return failed(Status::invalid_device_function);
    }
    warptime::standin::LaunchRequest request;
    request.kernel = kernel;
    request.shape.grid = {grid.x, grid.y, grid.z};
    request.shape.block = {block.x, block.y, block.z};
    request.shape.cluster = {cluster.x, cluster.y, cluster.z};
    request.shape.dynamic_shared = static_cast<std::int64_t>(shared);
    request.shape.cooperative = cooperative;
    request.arguments = arguments;
    device().use_runtime();
    return failed(device().launch(request));
}

int allocate(void** pointer, std::size_t bytes) {
    const auto lock = locked();
    device().use_runtime();
    const auto address = device().memory().allocate(bytes);
    if (!address) {
        *pointer = nullptr;
        return failed(Status::memory_allocation);
    }
    *pointer = reinterpret_cast<void*>(*address);
    return 0;
}

int release(void* pointer) {
    const auto lock = locked();
    device().use_runtime();
    if (pointer == nullptr) {
        return 0;
    }
    return device().memory().free(reinterpret_cast<std::uint64_t>(pointer)) ? 0
                                                                            : failed(Status::invalid_value);
}

std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

struct Event {
    std::uint64_t time = 0;
};

}  // namespace

// ---- registration of modules by the compiler's stubs

struct FatBinaryWrapper {
    unsigned magic;
    unsigned version;
    const void* data;
    void* unused;
};

WARPTIME_CUDA void** __cudaRegisterFatBinary(void* wrapper) {
    const auto lock = locked();
    const auto* fat = static_cast<const FatBinaryWrapper*>(wrapper);
    // The header of a fat binary: magic, version, bytes of the header, bytes of the rest.
    std::uint16_t header = 0;
    std::uint64_t body = 0;
    std::memcpy(&header, static_cast<const std::byte*>(fat->data) + 6, sizeof header);
    std::memcpy(&body, static_cast<const std::byte*>(fat->data) + 8, sizeof body);
    warptime::standin::LoadedModule* module = device().add_module(
        {static_cast<const std::byte*>(fat->data), header + static_cast<std::size_t>(body)}, true);
    return reinterpret_cast<void**>(module);
}
WARPTIME_CUDA void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
WARPTIME_CUDA void __cudaUnregisterFatBinary(void** /*handle*/) {}
WARPTIME_CUDA char __cudaInitModule(void** /*handle*/) {
    return 1;
}
WARPTIME_CUDA void __cudaRegisterFunction(void** handle, const char* host, char* /*device_function*/,
                                          const char* name, int /*limit*/, void* /*tid*/, void* /*bid*/,
                                          void* /*block*/, void* /*grid*/, int* /*size*/) {
    const auto lock = locked();
    (void)device().add_kernel(host, reinterpret_cast<warptime::standin::LoadedModule*>(handle), name);
}
WARPTIME_CUDA void __cudaRegisterVar(void** handle, char* host, char* /*device_address*/, const char* name,
                                     int /*extern*/, std::size_t /*size*/, int /*constant*/, int /*global*/) {
    const auto lock = locked();
    device().add_variable(host, reinterpret_cast<warptime::standin::LoadedModule*>(handle), name);
}
WARPTIME_CUDA void __cudaRegisterManagedVar(void** /*handle*/, void** /*host*/, char* /*device_address*/,
                                            const char* name, int /*extern*/, std::size_t /*size*/,
                                            int /*constant*/, int /*global*/) {
    std::fprintf(stderr, "warptime: managed variable %s: not provided\n", name);
}

WARPTIME_CUDA unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
    configurations().push_back({grid, block, shared, stream});
    return 0;
}
WARPTIME_CUDA int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
    if (configurations().empty()) {
        return failed(Status::invalid_configuration);
    }
    const CallConfiguration last = configurations().back();
    configurations().pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared = last.shared;
    std::memcpy(stream, &last.stream, sizeof last.stream);
    return 0;
}

// ---- launches

WARPTIME_CUDA int __cudaGetKernel(void** kernel, const void* host) {
    const auto lock = locked();
    *kernel = const_cast<KernelHandle*>(device().kernel(host));
    return *kernel != nullptr ? 0 : failed(Status::invalid_device_function);
}
WARPTIME_CUDA int cudaGetKernel(void** kernel, const void* host) {
    return __cudaGetKernel(kernel, host);
}
/// The driver's functions take the same handle.
WARPTIME_CUDA int cudaGetFuncBySymbol(void** function, const void* host) {
    return __cudaGetKernel(function, host);
}
WARPTIME_CUDA int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                     std::size_t shared, void* /*stream*/) {
    const auto lock = locked();
    return launch(static_cast<const KernelHandle*>(kernel), grid, block, arguments, shared, false);
}
WARPTIME_CUDA int cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                   std::size_t shared, void* /*stream*/) {
    const auto lock = locked();
    return launch(device().kernel(host), grid, block, arguments, shared, false);
}
WARPTIME_CUDA int cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                              std::size_t shared, void* /*stream*/) {
    const auto lock = locked();
    return launch(device().kernel(host), grid, block, arguments, shared, true);
}

/// cudaLaunchConfig_t and its attributes.
struct LaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        Dim3 cluster;
        int number;
    } value;
};
struct LaunchConfiguration {
    Dim3 grid, block;
    std::size_t shared;
    void* stream;
    LaunchAttribute* attributes;
    unsigned count;
};
WARPTIME_CUDA int cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* host,
                                      void** arguments) {
    constexpr int cooperative_attribute = 2, cluster_attribute = 4;
    const auto lock = locked();
    bool cooperative = false;
    Dim3 cluster{1, 1, 1};
    for (unsigned i = 0; i < configuration->count; ++i) {
        const LaunchAttribute& attribute = configuration->attributes[i];
        if (attribute.id == cooperative_attribute) {
            cooperative = attribute.value.number != 0;
        } else if (attribute.id == cluster_attribute) {
            cluster = attribute.value.cluster;
        }
    }
    return launch(device().kernel(host), configuration->grid, configuration->block, arguments,
                  configuration->shared, cooperative, cluster);
}

// ---- memory

WARPTIME_CUDA int cudaMalloc(void** pointer, std::size_t bytes) {
    return allocate(pointer, bytes);
}
WARPTIME_CUDA int cudaMallocAsync(void** pointer, std::size_t bytes, void* /*stream*/) {
    return allocate(pointer, bytes);
}
WARPTIME_CUDA int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned /*flags*/) {
    return allocate(pointer, bytes);
}
WARPTIME_CUDA int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return allocate(pointer, *pitch * height);
}
WARPTIME_CUDA int cudaFree(void* pointer) {
    return release(pointer);
}
WARPTIME_CUDA int cudaFreeAsync(void* pointer, void* /*stream*/) {
    return release(pointer);
}
WARPTIME_CUDA int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
    const auto lock = locked();
    *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (*pointer == nullptr) {
        return failed(Status::memory_allocation);
    }
    device().memory().add_host(reinterpret_cast<std::uint64_t>(*pointer), bytes);
    return 0;
}
WARPTIME_CUDA int cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags) {
    return cudaHostAlloc(pointer, bytes, flags);
}
WARPTIME_CUDA int cudaFreeHost(void* pointer) {
    const auto lock = locked();
    device().memory().remove_host(reinterpret_cast<std::uint64_t>(pointer));
    std::free(pointer);
    return 0;
}
WARPTIME_CUDA int cudaHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
    const auto lock = locked();
    device().memory().add_host(reinterpret_cast<std::uint64_t>(pointer), bytes);
    return 0;
}
WARPTIME_CUDA int cudaHostUnregister(void* pointer) {
    const auto lock = locked();
    device().memory().remove_host(reinterpret_cast<std::uint64_t>(pointer));
    return 0;
}
WARPTIME_CUDA int cudaHostGetDevicePointer(void** pointer, void* host, unsigned /*flags*/) {
    *pointer = host;
    return 0;
}
WARPTIME_CUDA int cudaMemcpy(void* to, const void* from, std::size_t bytes, int /*kind*/) {
    const auto lock = locked();
    device().use_runtime();
    return failed(device().copy(to, from, bytes));
}
WARPTIME_CUDA int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* /*stream*/) {
    return cudaMemcpy(to, from, bytes, kind);
}
WARPTIME_CUDA int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                               std::size_t width, std::size_t height, int /*kind*/) {
    const auto lock = locked();
    for (std::size_t row = 0; row < height; ++row) {
        std::memmove(static_cast<std::byte*>(to) + row * to_pitch,
                     static_cast<const std::byte*>(from) + row * from_pitch, width);
    }
    device().records().memory("memcpy", "device", width * height);
    return 0;
}
WARPTIME_CUDA int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                    std::size_t width, std::size_t height, int kind, void* /*stream*/) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
WARPTIME_CUDA int cudaMemset(void* to, int value, std::size_t bytes) {
    const auto lock = locked();
    device().use_runtime();
    return failed(device().set(to, value, bytes));
}
WARPTIME_CUDA int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* /*stream*/) {
    return cudaMemset(to, value, bytes);
}
WARPTIME_CUDA int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                     std::size_t offset, int /*kind*/) {
    const auto lock = locked();
    const auto place = device().variable(symbol);
    if (!place || offset + bytes > place->second) {
        return failed(Status::invalid_symbol);
    }
    std::memcpy(reinterpret_cast<std::byte*>(place->first) + offset, from, bytes);
    device().records().memory("memcpy", "host_to_device", bytes);
    return 0;
}
WARPTIME_CUDA int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                          std::size_t offset, int kind, void* /*stream*/) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
WARPTIME_CUDA int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                       int /*kind*/) {
    const auto lock = locked();
    const auto place = device().variable(symbol);
    if (!place || offset + bytes > place->second) {
        return failed(Status::invalid_symbol);
    }
    std::memcpy(to, reinterpret_cast<std::byte*>(place->first) + offset, bytes);
    device().records().memory("memcpy", "device_to_host", bytes);
    return 0;
}
WARPTIME_CUDA int cudaGetSymbolAddress(void** pointer, const void* symbol) {
    const auto lock = locked();
    device().use_runtime();
    const auto place = device().variable(symbol);
    if (!place) {
        return failed(Status::invalid_symbol);
    }
    *pointer = reinterpret_cast<void*>(place->first);
    return 0;
}
WARPTIME_CUDA int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    const auto lock = locked();
    const auto place = device().variable(symbol);
    if (!place) {
        return failed(Status::invalid_symbol);
    }
    *bytes = place->second;
    return 0;
}
WARPTIME_CUDA int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    const auto lock = locked();
    *total = device().memory().capacity();
    *free = *total - device().memory().used();
    return 0;
}

// ---- errors

WARPTIME_CUDA int cudaGetLastError() {
    const int error = last_error();
    last_error() = 0;
    return error;
}
WARPTIME_CUDA int cudaPeekAtLastError() {
    return last_error();
}
WARPTIME_CUDA const char* cudaGetErrorName(int error) {
    switch (error) {
        case 0:
            return "cudaSuccess";
        case 1:
            return "cudaErrorInvalidValue";
        case 2:
            return "cudaErrorMemoryAllocation";
        case 9:
            return "cudaErrorInvalidConfiguration";
        case 13:
            return "cudaErrorInvalidSymbol";
        case 98:
            return "cudaErrorInvalidDeviceFunction";
        case 209:
            return "cudaErrorNoKernelImageForDevice";
        case 700:
            return "cudaErrorIllegalAddress";
        case 701:
            return "cudaErrorLaunchOutOfResources";
        case 719:
            return "cudaErrorLaunchFailure";
        case 801:
            return "cudaErrorNotSupported";
        default:
            return "cudaErrorUnknown";
    }
}
WARPTIME_CUDA const char* cudaGetErrorString(int error) {
    return error == 0 ? "no error" : cudaGetErrorName(error);
}

// ---- devices

WARPTIME_CUDA int cudaGetDeviceCount(int* count) {
    const auto lock = locked();
    warptime::standin::initialize_driver();
    *count = 1;
    return 0;
}
WARPTIME_CUDA int cudaGetDevice(int* number) {
    *number = 0;
    return 0;
}
WARPTIME_CUDA int cudaSetDevice(int number) {
    const auto lock = locked();
    device().use_runtime();
    return number == 0 ? 0 : failed(Status::invalid_value);
}
WARPTIME_CUDA int cudaDeviceSynchronize() {
    const auto lock = locked();
    device().use_runtime();
    return failed(device().sticky);
}
WARPTIME_CUDA int cudaDeviceReset() {
    return 0;
}
WARPTIME_CUDA int cudaSetDeviceFlags(unsigned /*flags*/) {
    return 0;
}
WARPTIME_CUDA int cudaDeviceSetLimit(int /*limit*/, std::size_t /*value*/) {
    return 0;
}
WARPTIME_CUDA int cudaDeviceSetCacheConfig(int /*preference*/) {
    return 0;
}
WARPTIME_CUDA int cudaDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}
WARPTIME_CUDA int cudaRuntimeGetVersion(int* version) {
    *version = 13000;
    return 0;
}
WARPTIME_CUDA int cudaDeviceGetAttribute(int* value, int attribute, int /*number*/) {
    const auto lock = locked();
    const warptime::hw::Gpu& gpu = device().gpu();
    const warptime::standin::machine::Chip& chip = device().chip();
    const warptime::model::machine::SmLimits& limits = chip.limits;
    switch (attribute) {
        case 1:  // maximum threads of a block
        case 2:  // and its dimensions
        case 3:
            *value = limits.threads_per_cta;
            break;
        case 4:
            *value = 64;
            break;
        case 5:
            *value = 2147483647;
            break;
        case 6:
        case 7:
            *value = 65535;
            break;
        case 8:
            *value = static_cast<int>(limits.shared_default);
            break;
        case 9:
            *value = 65536;
            break;
        case 10:
            *value = 32;
            break;
        case 11:
            *value = 2147483647;
            break;
        case 12:
            *value = limits.registers;
            break;
        case 13:
            *value = static_cast<int>(gpu.clock.boost.value() / 1e3);
            break;
        case 16:
            *value = limits.sm_count;
            break;
        case 15:  // copies beside kernels, mapped host memory, several kernels at once, one address space
        case 19:
        case 31:
        case 41:
        case 78:  // priorities of streams, caches, managed and registered memory
        case 79:
        case 80:
        case 83:
        case 99:
            *value = 1;
            break;
        case 40:
            *value = 3;
            break;
        case 38:
            *value = static_cast<int>(gpu.l2.capacity.value());
            break;
        case 39:
            *value = limits.threads;
            break;
        case 75:
            *value = chip.architecture / 10;
            break;
        case 76:
            *value = chip.architecture % 10;
            break;
        case 81:
            *value = static_cast<int>(limits.shared_capacity());
            break;
        case 82:
            *value = limits.registers;
            break;
        case 95:  // cooperative launch
            *value = 1;
            break;
        case 97:
            *value = static_cast<int>(limits.shared_optin);
            break;
        case 106:
            *value = limits.ctas;
            break;
        case 111:  // shared memory that a CTA has reserved
            *value = static_cast<int>(limits.shared_reserved);
            break;
        case 120:  // clusters and tensor maps
        case 127:
            *value = chip.architecture >= 90 ? 1 : 0;
            break;
        default:
            *value = 0;
            break;
    }
    return 0;
}

/// cudaDeviceProp of CUDA 13 up to the shared memory that a CTA has reserved. Those of CUDA 11 and 12 begin
/// alike, and none is shorter.
struct DeviceProperties {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
    std::size_t total_memory;
    std::size_t shared_per_block;
    int registers_per_block;
    int warp_size;
    std::size_t pitch;
    int max_threads;
    int max_block[3];
    int max_grid[3];
    std::size_t constant_memory;
    int major, minor;
    std::size_t texture_alignment, texture_pitch_alignment;
    int sm_count;
    int integrated;
    int maps_host_memory;
    int sizes_of_textures[39];
    std::size_t surface_alignment;
    int concurrent_kernels;
    int ecc;
    int pci[3];
    int tcc;
    int copy_engines;
    int unified_addressing;
    int bus_width;
    int l2_bytes, l2_persisting_bytes;
    int threads_per_sm;
    int stream_priorities;
    int global_in_l1, local_in_l1;
    std::size_t shared_per_sm;
    int registers_per_sm;
    int managed_memory;
    int multi_gpu_board, board_group;
    int native_host_atomics;
    int pageable_memory;
    int concurrent_managed_access;
    int preemption;
    int registered_pointers;
    int cooperative_launch;
    std::size_t shared_per_block_optin;
    int host_page_tables;
    int direct_managed_access;
    int blocks_per_sm;
    int policy_window;
    std::size_t shared_reserved;
};
static_assert(offsetof(DeviceProperties, sm_count) == 384 &&
              offsetof(DeviceProperties, threads_per_sm) == 604 && sizeof(DeviceProperties) == 704);

/// Members up to the alignments of textures, whose places all versions share.
DeviceProperties first_properties() {
    const warptime::hw::Gpu& gpu = device().gpu();
    const warptime::standin::machine::Chip& chip = device().chip();
    const warptime::model::machine::SmLimits& limits = chip.limits;
    DeviceProperties known{};
    std::snprintf(known.name, sizeof known.name, "%s", gpu.name.c_str());
    known.total_memory = static_cast<std::size_t>(gpu.dram.capacity.value());
    known.shared_per_block = static_cast<std::size_t>(limits.shared_default);
    known.registers_per_block = limits.registers;
    known.warp_size = 32;
    known.pitch = 2147483647;
    known.max_threads = limits.threads_per_cta;
    const int block[3] = {limits.threads_per_cta, limits.threads_per_cta, 64},
              grid[3] = {2147483647, 65535, 65535};
    std::copy_n(block, 3, known.max_block);
    std::copy_n(grid, 3, known.max_grid);
    known.constant_memory = 65536;
    known.major = chip.architecture / 10;
    known.minor = chip.architecture % 10;
    known.texture_alignment = 512;
    known.texture_pitch_alignment = 32;
    return known;
}

WARPTIME_CUDA int cudaGetDeviceProperties(void* properties, int number) {
    const auto lock = locked();
    if (properties == nullptr || number != 0) {
        return failed(Status::invalid_value);
    }
    DeviceProperties known = first_properties();
    const auto attribute = [&](int which) {
        int value = 0;
        cudaDeviceGetAttribute(&value, which, number);
        return value;
    };
    known.sm_count = device().chip().limits.sm_count;
    known.maps_host_memory = 1;
    known.concurrent_kernels = attribute(31);
    known.l2_bytes = attribute(38);
    known.threads_per_sm = attribute(39);
    known.copy_engines = attribute(40);
    known.unified_addressing = attribute(41);
    known.stream_priorities = attribute(78);
    known.global_in_l1 = attribute(79);
    known.local_in_l1 = attribute(80);
    known.shared_per_sm = static_cast<std::size_t>(attribute(81));
    known.registers_per_sm = attribute(82);
    known.managed_memory = attribute(83);
    known.cooperative_launch = attribute(95);
    known.shared_per_block_optin = static_cast<std::size_t>(attribute(97));
    known.blocks_per_sm = attribute(106);
    known.shared_reserved = static_cast<std::size_t>(attribute(111));
    std::memcpy(properties, &known, sizeof known);
    return 0;
}
/// The form of CUDA 12, which has another member before the number of SMs. Programs ask
/// cudaDeviceGetAttribute for what comes later.
WARPTIME_CUDA int cudaGetDeviceProperties_v2(void* properties, int number) {
    const auto lock = locked();
    if (properties == nullptr || number != 0) {
        return failed(Status::invalid_value);
    }
    const DeviceProperties known = first_properties();
    const int rest[2] = {1, device().chip().limits.sm_count};
    std::memcpy(properties, &known, offsetof(DeviceProperties, sm_count));
    std::memcpy(static_cast<std::byte*>(properties) + offsetof(DeviceProperties, sm_count), rest,
                sizeof rest);
    return 0;
}

// ---- functions

struct FunctionAttributes {
    std::size_t shared, constant, local;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
};
WARPTIME_CUDA int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host) {
    const auto lock = locked();
    const KernelHandle* kernel = device().kernel(host);
    try {
        const machine::Function* function = kernel == nullptr ? nullptr : device().function(*kernel);
        if (function == nullptr) {
            return failed(Status::invalid_device_function);
        }
        *attributes = {};
        attributes->shared = static_cast<std::size_t>(function->own_shared());
        attributes->local = static_cast<std::size_t>(function->local_bytes);
        attributes->max_threads =
            function->max_threads > 0 ? function->max_threads : device().chip().limits.threads_per_cta;
        attributes->registers = function->registers;
        attributes->ptx_version = device().chip().architecture;
        attributes->binary_version = device().chip().architecture;
        attributes->max_dynamic_shared = static_cast<int>(device().chip().limits.shared_optin);
    } catch (const warptime::Error&) {
        return failed(Status::no_kernel_image);
    }
    return 0;
}
WARPTIME_CUDA int cudaFuncSetAttribute(const void* host, int /*attribute*/, int /*value*/) {
    const auto lock = locked();
    return device().kernel(host) != nullptr ? 0 : failed(Status::invalid_device_function);
}
WARPTIME_CUDA int cudaFuncSetCacheConfig(const void* /*host*/, int /*preference*/) {
    return 0;
}
WARPTIME_CUDA int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host,
                                                                         int threads, std::size_t shared,
                                                                         unsigned /*flags*/) {
    const auto lock = locked();
    const KernelHandle* kernel = device().kernel(host);
    const machine::Function* function = kernel == nullptr ? nullptr : device().function(*kernel);
    if (function == nullptr || threads <= 0) {
        return failed(Status::invalid_value);
    }
    *blocks = device().resident_ctas(*function, threads, shared);
    return 0;
}
WARPTIME_CUDA int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                                std::size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

// ---- streams and events

WARPTIME_CUDA int cudaStreamCreate(void** stream) {
    *stream = new int(0);
    return 0;
}
WARPTIME_CUDA int cudaStreamCreateWithFlags(void** stream, unsigned /*flags*/) {
    return cudaStreamCreate(stream);
}
WARPTIME_CUDA int cudaStreamCreateWithPriority(void** stream, unsigned /*flags*/, int /*priority*/) {
    return cudaStreamCreate(stream);
}
WARPTIME_CUDA int cudaStreamDestroy(void* stream) {
    delete static_cast<int*>(stream);
    return 0;
}
WARPTIME_CUDA int cudaStreamSynchronize(void* /*stream*/) {
    return cudaDeviceSynchronize();
}
WARPTIME_CUDA int cudaStreamQuery(void* /*stream*/) {
    return 0;
}
WARPTIME_CUDA int cudaStreamWaitEvent(void* /*stream*/, void* /*event*/, unsigned /*flags*/) {
    return 0;
}
WARPTIME_CUDA int cudaEventCreate(void** event) {
    *event = new Event;
    return 0;
}
WARPTIME_CUDA int cudaEventCreateWithFlags(void** event, unsigned /*flags*/) {
    return cudaEventCreate(event);
}
WARPTIME_CUDA int cudaEventRecord(void* event, void* /*stream*/) {
    static_cast<Event*>(event)->time = now();
    return 0;
}
WARPTIME_CUDA int cudaEventSynchronize(void* /*event*/) {
    return cudaDeviceSynchronize();
}
WARPTIME_CUDA int cudaEventQuery(void* /*event*/) {
    return 0;
}
/// Time that the interpreter took between the two, not the GPU's: that one is predicted after the program has
/// ended.
WARPTIME_CUDA int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds =
        static_cast<float>(static_cast<Event*>(end)->time - static_cast<Event*>(begin)->time) * 1e-6F;
    return 0;
}
WARPTIME_CUDA int cudaEventElapsedTime_v2(float* milliseconds, void* begin, void* end) {
    return cudaEventElapsedTime(milliseconds, begin, end);
}
WARPTIME_CUDA int cudaEventDestroy(void* event) {
    delete static_cast<Event*>(event);
    return 0;
}

// NOLINTEND(bugprone-reserved-identifier, performance-no-int-to-ptr)
