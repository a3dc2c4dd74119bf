// Library that the CUDA driver loads into any program (CUDA_INJECTION64_PATH): writes how long each kernel
// ran.
// SPDX-License-Identifier: Apache-2.0
//
// Build: g++ -std=c++20 -O2 -shared -fPIC launch_times.cpp -I CUDA/include -I CUDA/extras/CUPTI/include
// -lcupti The file is named by LAUNCH_TIMES; one line a kernel in order of its start: nanoseconds, grid,
// block, dynamic shared memory, registers, name.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cupti.h>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Launch {
    std::uint64_t start = 0;
    std::string line;
};

std::mutex guard;
std::vector<Launch> launches;

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
    *size = std::size_t{1} << 20;
    *records = 0;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid) {
    CUpti_Activity* record = nullptr;
    const std::lock_guard<std::mutex> lock(guard);
    while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            continue;
        }
        const auto* found = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        char line[256];
        std::snprintf(line, sizeof line, "%llu %dx%dx%d %dx%dx%d %d %u ",
                      static_cast<unsigned long long>(found->end - found->start), found->gridX, found->gridY,
                      found->gridZ, found->blockX, found->blockY, found->blockZ, found->dynamicSharedMemory,
                      static_cast<unsigned>(found->registersPerThread));
        launches.push_back({found->start, std::string(line) + (found->name != nullptr ? found->name : "")});
    }
    std::free(buffer);
}

void write_all() {
    cuptiActivityFlushAll(0);
    const char* path = std::getenv("LAUNCH_TIMES");
    std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) {
        return;
    }
    const std::lock_guard<std::mutex> lock(guard);
    std::sort(launches.begin(), launches.end(),
              [](const Launch& left, const Launch& right) { return left.start < right.start; });
    for (const Launch& launch : launches) {
        std::fprintf(file, "%s\n", launch.line.c_str());
    }
    std::fclose(file);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    if (cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS) {
        std::fprintf(stderr, "launch_times: CUPTI could not be started\n");
        return 0;
    }
    std::atexit(write_all);
    return 1;
}
