// What the files of the CUDA runtime's functions share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/standin/device.hpp"

#include <mutex>

#define WARPTIME_CUDA extern "C" __attribute__((visibility("default")))

namespace warptime::standin {

/// Keeps a failure of this thread, which cudaGetLastError reports; gives CUDA's number of it.
int failed(Status status);

/// Holds the device for the calling thread.
[[nodiscard]] inline std::lock_guard<std::recursive_mutex> locked() {
    return std::lock_guard<std::recursive_mutex>(device_guard());
}

}  // namespace warptime::standin
