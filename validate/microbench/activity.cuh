// Durations of kernels from CUPTI's activity records; without CUPTI in the build there are none.
// The records of one measurement are collected once the device is idle, in order of their start.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#ifdef WARPTIME_CUPTI
#include <cupti.h>
#endif

namespace probe::activity {

/// One kernel that ran on the device.
struct Kernel {
    std::string name;
    std::uint64_t start = 0;
    double us = 0.0;
    std::array<int, 3> grid{};
    std::array<int, 3> block{};
    int registers = 0;
    int shared = 0;
};

#ifdef WARPTIME_CUPTI

struct Store {
    std::mutex guard;
    std::vector<Kernel> kernels;
    bool active = false;
};

inline Store& store() {
    static Store only;
    return only;
}

/// A memory operation, in the form of a kernel without a grid.
inline Kernel step(const char* name, std::uint64_t start, std::uint64_t end) {
    Kernel found;
    found.name = name;
    found.start = start;
    found.us = static_cast<double>(end - start) * 1e-3;
    return found;
}

inline void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
    *size = std::size_t{1} << 20;
    *records = 0;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
}

inline void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                      std::size_t valid) {
    CUpti_Activity* record = nullptr;
    const std::lock_guard<std::mutex> lock(store().guard);
    while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
            store().kernels.push_back(step("memcpy", copy->start, copy->end));
        }
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
            const auto* set = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
            store().kernels.push_back(step("memset", set->start, set->end));
        }
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
        // This record type belongs to this header; every version of CUPTI has the fields used here.
        const auto* found = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        Kernel kernel;
        kernel.name = found->name != nullptr ? found->name : "";
        kernel.start = found->start;
        kernel.us = static_cast<double>(found->end - found->start) * 1e-3;
        kernel.grid = {found->gridX, found->gridY, found->gridZ};
        kernel.block = {found->blockX, found->blockY, found->blockZ};
        kernel.registers = found->registersPerThread;
        kernel.shared = found->staticSharedMemory + found->dynamicSharedMemory;
        store().kernels.push_back(kernel);
    }
    std::free(buffer);
}

/// Turn recording on; a failure leaves it off, and the caller falls back to events.
inline void start() {
    const bool registered =
        cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) == CUPTI_SUCCESS;
    store().active =
        registered && cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
    if (!store().active) std::fprintf(stderr, "CUPTI could not be started: durations come from events\n");
}

/// Record memory operations too, as kernels named memcpy and memset. For probes that measure memory
/// operations.
inline void record_memory_operations() {
    if (!store().active) return;
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
}

/// Turn recording off, where the recorder's own time stamps between kernels would be part of the measurement.
inline void stop() {
    if (!store().active) return;
    store().active = false;
    cuptiActivityFlushAll(0);
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

/// The kernels since the last call, sorted by start. Kernels whose name contains `preparation` are left out.
inline std::vector<Kernel> collect(const std::string& preparation) {
    if (!store().active) return {};
    cuptiActivityFlushAll(0);
    const std::lock_guard<std::mutex> lock(store().guard);
    std::vector<Kernel> found;
    for (const Kernel& kernel : store().kernels) {
        if (kernel.name.find(preparation) == std::string::npos) found.push_back(kernel);
    }
    store().kernels.clear();
    std::sort(found.begin(), found.end(),
              [](const Kernel& left, const Kernel& right) { return left.start < right.start; });
    return found;
}

/// Forget the kernels that have run so far.
inline void discard() {
    (void)collect("");
}

#else

inline void start() {}
inline void record_memory_operations() {}
inline void stop() {}
inline std::vector<Kernel> collect(const std::string&) {
    return {};
}
inline void discard() {}

#endif

}  // namespace probe::activity
