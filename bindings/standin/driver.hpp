// What the functions of the CUDA driver share: its error codes, the current context, and how a call begins.
// SPDX-License-Identifier: Apache-2.0
//
// Declarations are written out, since CUDA's headers need not be installed; names, signatures and numbers are
// those of the CUDA Driver API, version 13.0. Work is done when a function returns.
#pragma once

#include "bindings/standin/device.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#define WARPTIME_DRIVER extern "C" __attribute__((visibility("default")))
/// The name that programs with a default stream of each thread call; streams are alike here.
#define WARPTIME_ALIAS(name, function) \
    extern "C" __attribute__((visibility("default"), alias(#function))) decltype(function) name

namespace warptime::standin {

/// CUresult.
enum class DriverError : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    no_binary = 209,
    invalid_ptx = 218,
    file_not_found = 301,
    invalid_handle = 400,
    not_found = 500,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_failed = 719,
    cooperative_too_large = 720,
    not_supported = 801,
    unknown = 999
};

inline constexpr int driver_version = 13000;

[[nodiscard]] DriverError error_of(Status status);
/// Whether cuInit was called, by the program or within the runtime.
[[nodiscard]] bool is_initialized();
/// What cuInit does. The runtime does the same when it looks for devices.
void initialize_driver();
/// The context of this thread; null: none.
[[nodiscard]] void* current_context();
/// What a call that needs a context gives when there is none, or after a fault.
[[nodiscard]] DriverError ready();
/// Tells the user that the program called a function that is not provided.
DriverError not_provided(const char* function);
/// The address of an exported function of the driver by its name with or without "_v2", for programs of this
/// version of CUDA; null: there is none. `too_old`: there is one for later versions.
[[nodiscard]] void* find_driver_function(std::string_view name, int version, bool& too_old);

/// Runs the body with the device held.
template <class Body>
DriverError with_device(Body body) {
    const std::lock_guard<std::recursive_mutex> lock(device_guard());
    return is_initialized() ? body() : DriverError::not_initialized;
}

/// The same where the thread needs a context.
template <class Body>
DriverError in_context(Body body) {
    const std::lock_guard<std::recursive_mutex> lock(device_guard());
    const DriverError error = ready();
    return error == DriverError::success ? body() : error;
}

}  // namespace warptime::standin
