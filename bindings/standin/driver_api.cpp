// The functions of the CUDA driver for devices, contexts, memory, streams and events.
// SPDX-License-Identifier: Apache-2.0
//
// Streams and events are those of the runtime, whose functions are called for them.
#include "bindings/standin/driver.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace warptime::standin {

extern "C" {
int cudaDeviceGetAttribute(int* value, int attribute, int number);
int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
int cudaFreeHost(void* pointer);
int cudaStreamCreate(void** stream);
int cudaStreamDestroy(void* stream);
int cudaEventCreate(void** event);
int cudaEventRecord(void* event, void* stream);
int cudaEventElapsedTime(float* milliseconds, void* begin, void* end);
int cudaEventDestroy(void* event);
}

namespace {

struct Context {
    unsigned flags = 0;
    int references = 0;  ///< of the primary context
};

struct Contexts {
    bool initialized = false;
    Context primary;
    std::map<const void*, std::unique_ptr<Context>> others;

    [[nodiscard]] Context* find(const void* handle) {
        if (handle == &primary) {
            return &primary;
        }
        const auto found = others.find(handle);
        return found == others.end() ? nullptr : found->second.get();
    }
};

Contexts& contexts() {
    static auto* const all = new Contexts;
    return *all;
}

std::vector<Context*>& context_stack() {
    thread_local std::vector<Context*> stack;
    return stack;
}

DriverError create_context(void** context, unsigned flags, int number) {
    return with_device([&] {
        if (context == nullptr) {
            return DriverError::invalid_value;
        }
        if (number != 0) {
            return DriverError::invalid_device;
        }
        auto fresh = std::make_unique<Context>(Context{flags, 0});
        Context* const handle = fresh.get();
        contexts().others[handle] = std::move(fresh);
        context_stack().push_back(handle);
        *context = handle;
        return DriverError::success;
    });
}

// NOLINTBEGIN(performance-no-int-to-ptr): device addresses are this process's.
void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}
// NOLINTEND(performance-no-int-to-ptr)

std::uint64_t address_of(const void* place) {
    return reinterpret_cast<std::uint64_t>(place);
}

/// Whether all bytes are of one allocation.
bool holds(std::uint64_t address, std::size_t bytes) {
    const machine::Allocation* const holder = device().memory().find(address);
    return holder != nullptr && bytes <= holder->bytes - (address - holder->address);
}

DriverError allocate(std::uint64_t* address, std::size_t bytes) {
    return in_context([&] {
        if (address == nullptr || bytes == 0) {
            return DriverError::invalid_value;
        }
        const auto got = device().memory().allocate(bytes);
        if (!got) {
            return DriverError::out_of_memory;
        }
        *address = *got;
        return DriverError::success;
    });
}

DriverError release(std::uint64_t address) {
    return in_context([&] {
        return address == 0 || device().memory().free(address) ? DriverError::success
                                                               : DriverError::invalid_value;
    });
}

/// Ends that are named as the device's must lie in an allocation.
DriverError copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, bool to_device, bool from_device,
                 const char* link) {
    return in_context([&] {
        if (bytes == 0) {
            return DriverError::success;
        }
        if ((to_device && !holds(to, bytes)) || (from_device && !holds(from, bytes))) {
            return DriverError::invalid_value;
        }
        return error_of(device().copy(pointer(to), pointer(from), bytes, link));
    });
}

template <class Element>
DriverError fill(std::uint64_t to, std::size_t pitch, Element value, std::size_t width, std::size_t height) {
    return in_context([&] {
        if (width == 0 || height == 0) {
            return DriverError::success;
        }
        const std::size_t span = (height - 1) * pitch + width * sizeof value;
        if (to % sizeof value != 0 || (height > 1 && pitch < width * sizeof value) || !holds(to, span)) {
            return DriverError::invalid_value;
        }
        for (std::size_t row = 0; row < height; ++row) {
            std::fill_n(static_cast<Element*>(pointer(to + row * pitch)), width, value);
        }
        device().records().memory("memset", "device", width * sizeof value * height);
        return DriverError::success;
    });
}

/// CUDA_MEMCPY2D.
struct RectangleEnd {
    std::size_t first_byte, first_row;
    int memory;
    void* host;
    std::uint64_t device;
    void* array;
    std::size_t pitch;

    [[nodiscard]] bool is_linear() const { return memory != 3; }
    [[nodiscard]] bool is_device() const { return memory == 2; }
    [[nodiscard]] std::uint64_t begin() const {
        return (memory == 1 ? address_of(host) : device) + first_row * pitch + first_byte;
    }
};
struct Rectangle {
    RectangleEnd from, to;
    std::size_t width, height;
};

DriverError copy_rectangle(const Rectangle* rectangle) {
    return in_context([&] {
        if (rectangle == nullptr) {
            return DriverError::invalid_value;
        }
        const RectangleEnd& to = rectangle->to;
        const RectangleEnd& from = rectangle->from;
        if (!to.is_linear() || !from.is_linear()) {
            return not_provided("cuMemcpy2D with arrays");
        }
        if (rectangle->width == 0 || rectangle->height == 0) {
            return DriverError::success;
        }
        const auto fits = [rectangle](const RectangleEnd& end) {
            return (rectangle->height == 1 || end.pitch >= rectangle->width) &&
                   (!end.is_device() ||
                    holds(end.begin(), (rectangle->height - 1) * end.pitch + rectangle->width));
        };
        if (!fits(to) || !fits(from)) {
            return DriverError::invalid_value;
        }
        for (std::size_t row = 0; row < rectangle->height; ++row) {
            std::memmove(pointer(to.begin() + row * to.pitch), pointer(from.begin() + row * from.pitch),
                         rectangle->width);
        }
        const bool to_device = device().on_device(to.begin());
        const bool from_device = device().on_device(from.begin());
        device().records().memory("memcpy",
                                  to_device && from_device ? "device"
                                  : to_device              ? "host_to_device"
                                                           : "device_to_host",
                                  rectangle->width * rectangle->height);
        return DriverError::success;
    });
}

template <class Value>
DriverError give(void* place, Value value) {
    std::memcpy(place, &value, sizeof value);
    return DriverError::success;
}

DriverError pointer_attribute(void* value, int attribute, std::uint64_t address) {
    const machine::Allocation* const holder = device().memory().find(address);
    if (value == nullptr || holder == nullptr) {
        return DriverError::invalid_value;
    }
    const bool of_device = device().on_device(address);
    switch (attribute) {
        case 1:
            return give(value, current_context());
        case 2:  // CU_MEMORYTYPE_DEVICE or CU_MEMORYTYPE_HOST
            return give(value, of_device ? 2U : 1U);
        case 3:
            return give(value, address);
        case 4:
            return of_device ? DriverError::invalid_value : give(value, address);
        case 7:  // a number of the allocation
            return give(value, holder->address);
        case 8:  // managed
            return give(value, char{0});
        case 9:  // the device's number
            return give(value, 0);
        case 11:
            return give(value, holder->address);
        case 12:
            return give(value, std::size_t{holder->bytes});
        case 13:  // mapped
            return give(value, char{1});
        default:
            return DriverError::not_supported;
    }
}

bool is_default_stream(const void* stream) {
    return address_of(stream) <= 2;
}

}  // namespace

DriverError error_of(Status status) {
    switch (status) {
        case Status::invalid_configuration:
            return DriverError::invalid_value;
        case Status::invalid_symbol:
        case Status::invalid_device_function:
            return DriverError::not_found;
        default:
            return static_cast<DriverError>(status);
    }
}

void initialize_driver() {
    contexts().initialized = true;
}

bool is_initialized() {
    return contexts().initialized || device().runtime_in_use();
}

void* current_context() {
    std::vector<Context*>& stack = context_stack();
    // Another thread may have destroyed what this one holds.
    if (!stack.empty()) {
        return contexts().find(stack.back());
    }
    return device().runtime_in_use() ? &contexts().primary : nullptr;
}

DriverError ready() {
    if (!is_initialized()) {
        return DriverError::not_initialized;
    }
    return current_context() == nullptr ? DriverError::invalid_context : error_of(device().sticky);
}

// ---- the driver and its device

WARPTIME_DRIVER DriverError cuInit(unsigned flags) {
    const std::lock_guard<std::recursive_mutex> lock(device_guard());
    if (flags != 0) {
        return DriverError::invalid_value;
    }
    initialize_driver();
    return DriverError::success;
}
WARPTIME_DRIVER DriverError cuDriverGetVersion(int* version) {
    if (version == nullptr) {
        return DriverError::invalid_value;
    }
    *version = driver_version;
    return DriverError::success;
}
WARPTIME_DRIVER DriverError cuDeviceGetCount(int* count) {
    return with_device([&] {
        if (count == nullptr) {
            return DriverError::invalid_value;
        }
        *count = 1;
        return DriverError::success;
    });
}

namespace {

/// Runs the body for a result of the one device.
template <class Result, class Body>
DriverError of_device(Result* result, int number, Body body) {
    return with_device([&] {
        if (result == nullptr) {
            return DriverError::invalid_value;
        }
        return number == 0 ? body() : DriverError::invalid_device;
    });
}

}  // namespace

WARPTIME_DRIVER DriverError cuDeviceGet(int* handle, int number) {
    return of_device(handle, number, [&] {
        *handle = 0;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDeviceGetName(char* name, int bytes, int number) {
    return of_device(name, number, [&] {
        if (bytes <= 0) {
            return DriverError::invalid_value;
        }
        std::snprintf(name, static_cast<std::size_t>(bytes), "%s", device().gpu().name.c_str());
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDeviceGetAttribute(int* value, int attribute, int number) {
    return of_device(value, number, [&] {
        return static_cast<DriverError>(cudaDeviceGetAttribute(value, attribute, number));
    });
}
WARPTIME_DRIVER DriverError cuDeviceTotalMem_v2(std::size_t* bytes, int number) {
    return of_device(bytes, number, [&] {
        *bytes = device().memory().capacity();
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDeviceGetUuid(void* uuid, int number) {
    return of_device(uuid, number, [&] {
        std::memcpy(uuid, "warptime standin", 16);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDeviceGetUuid_v2(void* uuid, int number) {
    return cuDeviceGetUuid(uuid, number);
}
WARPTIME_DRIVER DriverError cuDeviceComputeCapability(int* major, int* minor, int number) {
    return of_device(major, number, [&] {
        *major = device().chip().architecture / 10;
        *minor = device().chip().architecture % 10;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDeviceGetPCIBusId(char* text, int bytes, int number) {
    return of_device(text, number, [&] {
        if (bytes <= 0) {
            return DriverError::invalid_value;
        }
        std::snprintf(text, static_cast<std::size_t>(bytes), "0000:00:00.0");
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDeviceGetByPCIBusId(int* handle, const char* /*text*/) {
    return cuDeviceGet(handle, 0);
}
WARPTIME_DRIVER DriverError cuDeviceCanAccessPeer(int* can, int number, int /*peer*/) {
    return of_device(can, number, [&] {
        *can = 0;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuProfilerStart() {
    return DriverError::success;
}
WARPTIME_DRIVER DriverError cuProfilerStop() {
    return DriverError::success;
}

// ---- errors

namespace {

struct ErrorText {
    DriverError error;
    const char* name;
    const char* text;
};

const ErrorText* find_error(DriverError error) {
    static constexpr std::array texts{
        ErrorText{DriverError::success, "CUDA_SUCCESS", "no error"},
        ErrorText{DriverError::invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
        ErrorText{DriverError::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
        ErrorText{DriverError::not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
        ErrorText{DriverError::invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
        ErrorText{DriverError::invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
        ErrorText{DriverError::invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
        ErrorText{DriverError::no_binary, "CUDA_ERROR_NO_BINARY_FOR_GPU",
                  "no kernel image is available for execution on the device"},
        ErrorText{DriverError::invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
        ErrorText{DriverError::file_not_found, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
        ErrorText{DriverError::invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
        ErrorText{DriverError::not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
        ErrorText{DriverError::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                  "an illegal memory access was encountered"},
        ErrorText{DriverError::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                  "too many resources requested for launch"},
        ErrorText{DriverError::launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
        ErrorText{DriverError::cooperative_too_large, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
                  "too many blocks in cooperative launch"},
        ErrorText{DriverError::not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
        ErrorText{DriverError::unknown, "CUDA_ERROR_UNKNOWN", "unknown error"}};
    const auto* const found = std::find_if(texts.begin(), texts.end(),
                                           [error](const ErrorText& known) { return known.error == error; });
    return found == texts.end() ? nullptr : found;
}

DriverError give_text(const char** text, const char* given) {
    if (text == nullptr) {
        return DriverError::invalid_value;
    }
    *text = given;
    return given == nullptr ? DriverError::invalid_value : DriverError::success;
}

}  // namespace

WARPTIME_DRIVER DriverError cuGetErrorString(DriverError error, const char** text) {
    const ErrorText* const known = find_error(error);
    return give_text(text, known == nullptr ? nullptr : known->text);
}
WARPTIME_DRIVER DriverError cuGetErrorName(DriverError error, const char** name) {
    const ErrorText* const known = find_error(error);
    return give_text(name, known == nullptr ? nullptr : known->name);
}

// ---- contexts

WARPTIME_DRIVER DriverError cuCtxCreate_v2(void** context, unsigned flags, int number) {
    return create_context(context, flags, number);
}
WARPTIME_DRIVER DriverError cuCtxCreate_v3(void** context, void* /*affinities*/, int /*count*/,
                                           unsigned flags, int number) {
    return create_context(context, flags, number);
}
WARPTIME_DRIVER DriverError cuCtxCreate_v4(void** context, void* /*parameters*/, unsigned flags, int number) {
    return create_context(context, flags, number);
}
WARPTIME_DRIVER DriverError cuCtxDestroy_v2(void* context) {
    return with_device([&] {
        if (contexts().others.erase(context) == 0) {
            return DriverError::invalid_context;
        }
        if (!context_stack().empty() && context_stack().back() == context) {
            context_stack().pop_back();
        }
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxGetCurrent(void** context) {
    return with_device([&] {
        if (context == nullptr) {
            return DriverError::invalid_value;
        }
        *context = current_context();
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxPushCurrent_v2(void* context) {
    return with_device([&] {
        auto* const known = contexts().find(context);
        if (known == nullptr) {
            return DriverError::invalid_context;
        }
        context_stack().push_back(known);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxPopCurrent_v2(void** context) {
    return with_device([&] {
        if (context_stack().empty()) {
            return DriverError::invalid_context;
        }
        if (context != nullptr) {
            *context = context_stack().back();
        }
        context_stack().pop_back();
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxSetCurrent(void* context) {
    return with_device([&] {
        auto* const known = contexts().find(context);
        if (context != nullptr && known == nullptr) {
            return DriverError::invalid_context;
        }
        if (!context_stack().empty()) {
            context_stack().pop_back();
        }
        if (known != nullptr) {
            context_stack().push_back(known);
        }
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxSynchronize() {
    return in_context([] { return DriverError::success; });
}
WARPTIME_DRIVER DriverError cuCtxGetDevice(int* handle) {
    return in_context([&] { return cuDeviceGet(handle, 0); });
}
WARPTIME_DRIVER DriverError cuCtxGetFlags(unsigned* flags) {
    return in_context([&] {
        if (flags == nullptr) {
            return DriverError::invalid_value;
        }
        *flags = contexts().find(current_context())->flags;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxGetApiVersion(void* /*context*/, unsigned* version) {
    return in_context([&] {
        if (version == nullptr) {
            return DriverError::invalid_value;
        }
        *version = driver_version;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return in_context([&] {
        if (least != nullptr) {
            *least = 0;
        }
        if (greatest != nullptr) {
            *greatest = 0;
        }
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxSetLimit(int /*limit*/, std::size_t /*value*/) {
    return in_context([] { return DriverError::success; });
}
WARPTIME_DRIVER DriverError cuCtxGetLimit(std::size_t* value, int limit) {
    return in_context([&] {
        // The stack of a thread, what printf may hold, and the heap of kernels.
        static constexpr std::array<std::size_t, 3> values{1024, std::size_t{1} << 20U,
                                                           std::size_t{8} << 20U};
        if (value == nullptr || limit < 0 || limit >= static_cast<int>(values.size())) {
            return DriverError::invalid_value;
        }
        *value = values[static_cast<std::size_t>(limit)];
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuCtxSetCacheConfig(int /*preference*/) {
    return in_context([] { return DriverError::success; });
}
WARPTIME_DRIVER DriverError cuCtxSetFlags(unsigned /*flags*/) {
    return in_context([] { return DriverError::success; });
}

WARPTIME_DRIVER DriverError cuDevicePrimaryCtxRetain(void** context, int number) {
    return of_device(context, number, [&] {
        ++contexts().primary.references;
        *context = &contexts().primary;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDevicePrimaryCtxRelease_v2(int number) {
    return of_device(&contexts().primary, number, [&] {
        if (contexts().primary.references == 0) {
            return DriverError::invalid_context;
        }
        --contexts().primary.references;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDevicePrimaryCtxGetState(int number, unsigned* flags, int* active) {
    return of_device(active, number, [&] {
        if (flags != nullptr) {
            *flags = contexts().primary.flags;
        }
        *active = contexts().primary.references > 0 || device().runtime_in_use() ? 1 : 0;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDevicePrimaryCtxSetFlags_v2(int number, unsigned flags) {
    return of_device(&contexts().primary, number, [&] {
        contexts().primary.flags = flags;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuDevicePrimaryCtxReset_v2(int number) {
    return of_device(&contexts().primary, number, [&] {
        contexts().primary.references = 0;
        return DriverError::success;
    });
}

// ---- memory

WARPTIME_DRIVER DriverError cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return in_context([&] {
        if (free == nullptr || total == nullptr) {
            return DriverError::invalid_value;
        }
        *total = device().memory().capacity();
        *free = *total - device().memory().used();
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    return allocate(address, bytes);
}
WARPTIME_DRIVER DriverError cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void* /*stream*/) {
    return allocate(address, bytes);
}
WARPTIME_DRIVER DriverError cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned /*flags*/) {
    return allocate(address, bytes);
}
WARPTIME_DRIVER DriverError cuMemAllocPitch_v2(std::uint64_t* address, std::size_t* pitch, std::size_t width,
                                               std::size_t height, unsigned element) {
    if (pitch == nullptr || (element != 4 && element != 8 && element != 16)) {
        return DriverError::invalid_value;
    }
    *pitch = (width + 511) / 512 * 512;
    return allocate(address, *pitch * height);
}
WARPTIME_DRIVER DriverError cuMemFree_v2(std::uint64_t address) {
    return release(address);
}
WARPTIME_DRIVER DriverError cuMemFreeAsync(std::uint64_t address, void* /*stream*/) {
    return release(address);
}
WARPTIME_DRIVER DriverError cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* bytes,
                                                    std::uint64_t address) {
    return in_context([&] {
        const machine::Allocation* const holder = device().memory().find(address);
        if (holder == nullptr) {
            return DriverError::not_found;
        }
        if (base != nullptr) {
            *base = holder->address;
        }
        if (bytes != nullptr) {
            *bytes = holder->bytes;
        }
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuMemHostAlloc(void** place, std::size_t bytes, unsigned flags) {
    return in_context([&] {
        return place == nullptr || bytes == 0
                   ? DriverError::invalid_value
                   : error_of(static_cast<Status>(cudaHostAlloc(place, bytes, flags)));
    });
}
WARPTIME_DRIVER DriverError cuMemAllocHost_v2(void** place, std::size_t bytes) {
    return cuMemHostAlloc(place, bytes, 0);
}
WARPTIME_DRIVER DriverError cuMemFreeHost(void* place) {
    return in_context([&] {
        const machine::Allocation* const holder = device().memory().find(address_of(place));
        if (holder == nullptr || holder->address != address_of(place) ||
            device().on_device(address_of(place))) {
            return DriverError::invalid_value;
        }
        return error_of(static_cast<Status>(cudaFreeHost(place)));
    });
}
WARPTIME_DRIVER DriverError cuMemHostRegister_v2(void* place, std::size_t bytes, unsigned /*flags*/) {
    return in_context([&] {
        if (place == nullptr || bytes == 0) {
            return DriverError::invalid_value;
        }
        device().memory().add_host(address_of(place), bytes);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuMemHostUnregister(void* place) {
    return in_context([&] {
        device().memory().remove_host(address_of(place));
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* place,
                                                         unsigned /*flags*/) {
    return in_context([&] {
        if (address == nullptr || device().memory().find(address_of(place)) == nullptr) {
            return DriverError::invalid_value;
        }
        *address = address_of(place);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
    return in_context([&] { return pointer_attribute(value, attribute, address); });
}
WARPTIME_DRIVER DriverError cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                                   std::uint64_t address) {
    return in_context([&] {
        if (attributes == nullptr || values == nullptr) {
            return DriverError::invalid_value;
        }
        // Attributes that an address does not have are zero here, and no error.
        for (unsigned i = 0; i < count; ++i) {
            if (pointer_attribute(values[i], attributes[i], address) != DriverError::success) {
                const bool flag = attributes[i] == 8 || attributes[i] == 13;
                const bool number = attributes[i] == 2 || attributes[i] == 9;
                std::memset(values[i], 0, flag ? 1 : number ? 4 : 8);
            }
        }
        return DriverError::success;
    });
}

// ---- copies and memsets

WARPTIME_DRIVER DriverError cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
    return copy(to, address_of(from), bytes, true, false, "host_to_device");
}
WARPTIME_DRIVER DriverError cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
    return copy(address_of(to), from, bytes, false, true, "device_to_host");
}
WARPTIME_DRIVER DriverError cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    return copy(to, from, bytes, true, true, "device");
}
WARPTIME_DRIVER DriverError cuMemcpy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    return copy(to, from, bytes, false, false, nullptr);
}
WARPTIME_DRIVER DriverError cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes,
                                                 void* /*stream*/) {
    return cuMemcpyHtoD_v2(to, from, bytes);
}
WARPTIME_DRIVER DriverError cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes,
                                                 void* /*stream*/) {
    return cuMemcpyDtoH_v2(to, from, bytes);
}
WARPTIME_DRIVER DriverError cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes,
                                                 void* /*stream*/) {
    return cuMemcpyDtoD_v2(to, from, bytes);
}
WARPTIME_DRIVER DriverError cuMemcpyAsync(std::uint64_t to, std::uint64_t from, std::size_t bytes,
                                          void* /*stream*/) {
    return cuMemcpy(to, from, bytes);
}
WARPTIME_DRIVER DriverError cuMemcpy2D_v2(const Rectangle* rectangle) {
    return copy_rectangle(rectangle);
}
WARPTIME_DRIVER DriverError cuMemcpy2DUnaligned_v2(const Rectangle* rectangle) {
    return copy_rectangle(rectangle);
}
WARPTIME_DRIVER DriverError cuMemcpy2DAsync_v2(const Rectangle* rectangle, void* /*stream*/) {
    return copy_rectangle(rectangle);
}
WARPTIME_DRIVER DriverError cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t count) {
    return fill(to, 0, value, count, 1);
}
WARPTIME_DRIVER DriverError cuMemsetD16_v2(std::uint64_t to, unsigned short value, std::size_t count) {
    return fill(to, 0, value, count, 1);
}
WARPTIME_DRIVER DriverError cuMemsetD32_v2(std::uint64_t to, unsigned value, std::size_t count) {
    return fill(to, 0, value, count, 1);
}
WARPTIME_DRIVER DriverError cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t count,
                                            void* /*stream*/) {
    return fill(to, 0, value, count, 1);
}
WARPTIME_DRIVER DriverError cuMemsetD16Async(std::uint64_t to, unsigned short value, std::size_t count,
                                             void* /*stream*/) {
    return fill(to, 0, value, count, 1);
}
WARPTIME_DRIVER DriverError cuMemsetD32Async(std::uint64_t to, unsigned value, std::size_t count,
                                             void* /*stream*/) {
    return fill(to, 0, value, count, 1);
}
WARPTIME_DRIVER DriverError cuMemsetD2D8_v2(std::uint64_t to, std::size_t pitch, unsigned char value,
                                            std::size_t width, std::size_t height) {
    return fill(to, pitch, value, width, height);
}
WARPTIME_DRIVER DriverError cuMemsetD2D16_v2(std::uint64_t to, std::size_t pitch, unsigned short value,
                                             std::size_t width, std::size_t height) {
    return fill(to, pitch, value, width, height);
}
WARPTIME_DRIVER DriverError cuMemsetD2D32_v2(std::uint64_t to, std::size_t pitch, unsigned value,
                                             std::size_t width, std::size_t height) {
    return fill(to, pitch, value, width, height);
}

// ---- streams and events

WARPTIME_DRIVER DriverError cuStreamCreate(void** stream, unsigned /*flags*/) {
    return in_context([&] {
        return stream == nullptr ? DriverError::invalid_value
                                 : error_of(static_cast<Status>(cudaStreamCreate(stream)));
    });
}
WARPTIME_DRIVER DriverError cuStreamCreateWithPriority(void** stream, unsigned flags, int /*priority*/) {
    return cuStreamCreate(stream, flags);
}
WARPTIME_DRIVER DriverError cuStreamDestroy_v2(void* stream) {
    return in_context([&] {
        return is_default_stream(stream) ? DriverError::invalid_handle
                                         : error_of(static_cast<Status>(cudaStreamDestroy(stream)));
    });
}
WARPTIME_DRIVER DriverError cuStreamSynchronize(void* /*stream*/) {
    return in_context([] { return DriverError::success; });
}
WARPTIME_DRIVER DriverError cuStreamQuery(void* /*stream*/) {
    return in_context([] { return DriverError::success; });
}
WARPTIME_DRIVER DriverError cuStreamWaitEvent(void* /*stream*/, void* event, unsigned /*flags*/) {
    return in_context([&] { return event == nullptr ? DriverError::invalid_handle : DriverError::success; });
}

namespace {

/// A property of streams that is zero for all of them.
DriverError zero_of_stream(void* value, std::size_t bytes) {
    return in_context([&] {
        if (value == nullptr) {
            return DriverError::invalid_value;
        }
        std::memset(value, 0, bytes);
        return DriverError::success;
    });
}

}  // namespace

WARPTIME_DRIVER DriverError cuStreamGetFlags(void* /*stream*/, unsigned* flags) {
    return zero_of_stream(flags, sizeof *flags);
}
WARPTIME_DRIVER DriverError cuStreamGetPriority(void* /*stream*/, int* priority) {
    return zero_of_stream(priority, sizeof *priority);
}
WARPTIME_DRIVER DriverError cuStreamGetDevice(void* /*stream*/, int* handle) {
    return zero_of_stream(handle, sizeof *handle);
}
WARPTIME_DRIVER DriverError cuStreamIsCapturing(void* /*stream*/, int* capturing) {
    return zero_of_stream(capturing, sizeof *capturing);
}
WARPTIME_DRIVER DriverError cuStreamGetCtx(void* /*stream*/, void** context) {
    return cuCtxGetCurrent(context);
}
WARPTIME_DRIVER DriverError cuStreamAddCallback(void* stream, void (*callback)(void*, DriverError, void*),
                                                void* data, unsigned /*flags*/) {
    // The callback runs without the device held, for it may wait for another thread.
    const DriverError error = cuStreamSynchronize(stream);
    if (error == DriverError::success) {
        callback(stream, error, data);
    }
    return error;
}
WARPTIME_DRIVER DriverError cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    const DriverError error = cuStreamSynchronize(stream);
    if (error == DriverError::success) {
        function(data);
    }
    return error;
}
WARPTIME_DRIVER DriverError cuEventCreate(void** event, unsigned /*flags*/) {
    return in_context([&] {
        return event == nullptr ? DriverError::invalid_value
                                : error_of(static_cast<Status>(cudaEventCreate(event)));
    });
}
WARPTIME_DRIVER DriverError cuEventDestroy_v2(void* event) {
    return in_context([&] {
        return event == nullptr ? DriverError::invalid_handle
                                : error_of(static_cast<Status>(cudaEventDestroy(event)));
    });
}
WARPTIME_DRIVER DriverError cuEventRecord(void* event, void* stream) {
    return in_context([&] {
        return event == nullptr ? DriverError::invalid_handle
                                : error_of(static_cast<Status>(cudaEventRecord(event, stream)));
    });
}
WARPTIME_DRIVER DriverError cuEventRecordWithFlags(void* event, void* stream, unsigned /*flags*/) {
    return cuEventRecord(event, stream);
}
WARPTIME_DRIVER DriverError cuEventQuery(void* event) {
    return cuStreamWaitEvent(nullptr, event, 0);
}
WARPTIME_DRIVER DriverError cuEventSynchronize(void* event) {
    return cuStreamWaitEvent(nullptr, event, 0);
}
WARPTIME_DRIVER DriverError cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    return in_context([&] {
        if (milliseconds == nullptr || begin == nullptr || end == nullptr) {
            return DriverError::invalid_handle;
        }
        return error_of(static_cast<Status>(cudaEventElapsedTime(milliseconds, begin, end)));
    });
}
WARPTIME_DRIVER DriverError cuEventElapsedTime_v2(float* milliseconds, void* begin, void* end) {
    return cuEventElapsedTime(milliseconds, begin, end);
}

WARPTIME_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);
WARPTIME_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);
WARPTIME_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
WARPTIME_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
WARPTIME_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
WARPTIME_ALIAS(cuMemcpy_ptds, cuMemcpy);
WARPTIME_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);
WARPTIME_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);
WARPTIME_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);
WARPTIME_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);
WARPTIME_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
WARPTIME_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2);
WARPTIME_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2);
WARPTIME_ALIAS(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
WARPTIME_ALIAS(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
WARPTIME_ALIAS(cuMemsetD32_v2_ptds, cuMemsetD32_v2);
WARPTIME_ALIAS(cuMemsetD8Async_ptsz, cuMemsetD8Async);
WARPTIME_ALIAS(cuMemsetD16Async_ptsz, cuMemsetD16Async);
WARPTIME_ALIAS(cuMemsetD32Async_ptsz, cuMemsetD32Async);
WARPTIME_ALIAS(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2);
WARPTIME_ALIAS(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2);
WARPTIME_ALIAS(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2);
WARPTIME_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);
WARPTIME_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);
WARPTIME_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);
WARPTIME_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);
WARPTIME_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);
WARPTIME_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice);
WARPTIME_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
WARPTIME_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);
WARPTIME_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback);
WARPTIME_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);
WARPTIME_ALIAS(cuEventRecord_ptsz, cuEventRecord);
WARPTIME_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);

}  // namespace warptime::standin
