// Functions of the CUDA runtime that libraries call beside their kernels: what a pointer is, what a stream
// does, which other devices and pools of memory there are. PyTorch asks all of these before its first kernel.
// SPDX-License-Identifier: Apache-2.0
//
// There is one device, streams never record graphs, and work is done when a function returns. Where the
// driver has the same function, it answers.
#include "bindings/standin/driver.hpp"
#include "bindings/standin/runtime_api.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

// The names are those of CUDA, and addresses of the stand-in device are places of this process.
// NOLINTBEGIN(bugprone-reserved-identifier, performance-no-int-to-ptr)

namespace {

using warptime::standin::device;
using warptime::standin::DriverError;
using warptime::standin::failed;
using warptime::standin::locked;
using warptime::standin::Status;

/// Both number their errors alike.
int answer(DriverError error) {
    return failed(static_cast<Status>(error));
}

int not_supported(const char* function) {
    static_cast<void>(warptime::standin::not_provided(function));
    return failed(Status::not_supported);
}

/// cudaPointerAttributes.
struct PointerAttributes {
    int type;  ///< 0: memory that CUDA does not know, 1: of the host, 2: of the device
    int device;
    void* on_device;
    void* on_host;
    long reserved[8];
};

}  // namespace

extern "C" int cudaEventRecord(void* event, void* stream);
extern "C" int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
extern "C" DriverError cuDeviceCanAccessPeer(int* can, int number, int peer);
extern "C" DriverError cuDeviceGetPCIBusId(char* text, int bytes, int number);
extern "C" DriverError cuCtxGetStreamPriorityRange(int* least, int* greatest);
extern "C" DriverError cuStreamGetPriority(void* stream, int* priority);
extern "C" DriverError cuStreamIsCapturing(void* stream, int* capturing);

// ---- devices

WARPTIME_CUDA int cudaDeviceCanAccessPeer(int* can, int number, int peer) {
    device().use_runtime();
    return answer(cuDeviceCanAccessPeer(can, number, peer));
}
WARPTIME_CUDA int cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
    return failed(Status::invalid_value);
}
WARPTIME_CUDA int cudaDeviceGetPCIBusId(char* text, int bytes, int number) {
    device().use_runtime();
    return answer(cuDeviceGetPCIBusId(text, bytes, number));
}
WARPTIME_CUDA int cudaProfilerStart() {
    return 0;
}
WARPTIME_CUDA int cudaProfilerStop() {
    return 0;
}

// ---- pointers

WARPTIME_CUDA int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
    const auto lock = locked();
    if (attributes == nullptr) {
        return failed(Status::invalid_value);
    }
    std::memset(attributes, 0, sizeof *attributes);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    void* const place = reinterpret_cast<void*>(address);
    if (device().memory().find(address) == nullptr) {
        attributes->device = -2;  // cudaInvalidDeviceId
        attributes->on_host = place;
        return 0;
    }
    const bool of_device = device().on_device(address);
    attributes->type = of_device ? 2 : 1;
    attributes->on_device = place;
    attributes->on_host = of_device ? nullptr : place;
    return 0;
}
WARPTIME_CUDA int cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                                      std::size_t bytes, void* /*stream*/) {
    constexpr int within_the_device = 3;
    return cudaMemcpy(to, from, bytes, within_the_device);
}

// ---- streams and events

WARPTIME_CUDA int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    device().use_runtime();
    return answer(cuCtxGetStreamPriorityRange(least, greatest));
}
WARPTIME_CUDA int cudaStreamGetPriority(void* stream, int* priority) {
    device().use_runtime();
    return answer(cuStreamGetPriority(stream, priority));
}
WARPTIME_CUDA int cudaStreamIsCapturing(void* stream, int* status) {
    device().use_runtime();
    return answer(cuStreamIsCapturing(stream, status));
}
/// The places beyond `status` depend on the version of CUDA, and only a stream that records fills them.
WARPTIME_CUDA int cudaStreamGetCaptureInfo(void* /*stream*/, int* status, ...) {
    *status = 0;
    return 0;
}
WARPTIME_CUDA int cudaThreadExchangeStreamCaptureMode(int* mode) {
    thread_local int current = 0;  // cudaStreamCaptureModeGlobal, which a thread begins with
    std::swap(*mode, current);
    return 0;
}
WARPTIME_CUDA int cudaEventRecordWithFlags(void* event, void* stream, unsigned /*flags*/) {
    return cudaEventRecord(event, stream);
}
WARPTIME_CUDA int cudaLaunchHostFunc(void* /*stream*/, void (*function)(void*), void* data) {
    if (function == nullptr) {
        return failed(Status::invalid_value);
    }
    function(data);
    return 0;
}
WARPTIME_CUDA int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data,
                                        unsigned /*flags*/) {
    if (function == nullptr) {
        return failed(Status::invalid_value);
    }
    function(stream, 0, data);
    return 0;
}

// ---- what is not there: pools of memory, sharing with other processes, graphs

#define WARPTIME_NOT_THERE(name)     \
    WARPTIME_CUDA int name() {       \
        return not_supported(#name); \
    }
WARPTIME_NOT_THERE(cudaDeviceGetDefaultMemPool)
WARPTIME_NOT_THERE(cudaMemPoolGetAttribute)
WARPTIME_NOT_THERE(cudaMemPoolSetAccess)
WARPTIME_NOT_THERE(cudaMemPoolSetAttribute)
WARPTIME_NOT_THERE(cudaMemPoolTrimTo)
WARPTIME_NOT_THERE(cudaIpcCloseMemHandle)
WARPTIME_NOT_THERE(cudaIpcGetEventHandle)
WARPTIME_NOT_THERE(cudaIpcGetMemHandle)
WARPTIME_NOT_THERE(cudaIpcOpenEventHandle)
WARPTIME_NOT_THERE(cudaIpcOpenMemHandle)
WARPTIME_NOT_THERE(cudaStreamBeginCapture)
WARPTIME_NOT_THERE(cudaStreamEndCapture)
WARPTIME_NOT_THERE(cudaGraphDebugDotPrint)
WARPTIME_NOT_THERE(cudaGraphDestroy)
WARPTIME_NOT_THERE(cudaGraphExecDestroy)
WARPTIME_NOT_THERE(cudaGraphGetNodes)
WARPTIME_NOT_THERE(cudaGraphInstantiateWithFlags)
WARPTIME_NOT_THERE(cudaGraphLaunch)
WARPTIME_NOT_THERE(cudaGraphNodeGetDependencies)
#undef WARPTIME_NOT_THERE

// NOLINTEND(bugprone-reserved-identifier, performance-no-int-to-ptr)
