// Logs the launches of a library, by CUPTI's callbacks, so that nothing has to be timed.
// A launch is a kernel with name, grid, block, cluster and shared bytes, or a memset.
// picks_recorder.py loads this library into the process that calls the logged library.
// Ignores: host copies and kernels of graphs.
// Build: g++ -O2 -fPIC -shared -I$CUDA/include launch_log.cpp -o liblaunch_log.so
// The process that loads this library must have CUPTI and the driver.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cuda.h>
#include <cupti.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

/// "NAME BLOCK CLUSTER SHARED": what is the same in all launches of a kernel, as the library launches it.
std::vector<std::string> variants;
std::unordered_map<std::string, int> numbers;
std::unordered_map<CUfunction, std::string> names;
std::string launched;  ///< since the last take: VARIANT@GRID or mBYTES, separated by |

const std::string& name_of(CUfunction function, const char* symbol) {
    const auto [place, fresh] = names.try_emplace(function);
    if (fresh) {
        const char* name = symbol;
        if (name == nullptr && cuFuncGetName(&name, function) != CUDA_SUCCESS) {
            cuKernelGetName(&name, reinterpret_cast<CUkernel>(function));
        }
        place->second = name != nullptr ? name : "?";
    }
    return place->second;
}

void separate() {
    if (!launched.empty()) launched += '|';
}

struct Launch {
    unsigned grid[3], block[3], cluster[3] = {1, 1, 1};
    unsigned shared;
};

void log_launch(CUfunction function, const char* symbol, const Launch& launch) {
    char text[160];
    std::snprintf(text, sizeof text, " %ux%ux%u %ux%ux%u %u", launch.block[0], launch.block[1],
                  launch.block[2], launch.cluster[0], launch.cluster[1], launch.cluster[2], launch.shared);
    const std::string variant = name_of(function, symbol) + text;
    const auto [place, fresh] = numbers.try_emplace(variant, static_cast<int>(variants.size()));
    if (fresh) variants.push_back(variant);
    separate();
    std::snprintf(text, sizeof text, "%d@%ux%ux%u", place->second, launch.grid[0], launch.grid[1],
                  launch.grid[2]);
    launched += text;
}

void log_memset(unsigned long long bytes) {
    separate();
    launched += 'm' + std::to_string(bytes);
}

void CUPTIAPI see(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* opaque) {
    const auto& data = *static_cast<const CUpti_CallbackData*>(opaque);
    if (data.callbackSite != CUPTI_API_ENTER) return;
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
            // The parameters of a cooperative launch begin with the same fields as those of a plain launch.
            const auto& p = *static_cast<const cuLaunchKernel_params*>(data.functionParams);
            log_launch(p.f, data.symbolName,
                       {{p.gridDimX, p.gridDimY, p.gridDimZ},
                        {p.blockDimX, p.blockDimY, p.blockDimZ},
                        {1, 1, 1},
                        p.sharedMemBytes});
            break;
        }
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
            const auto& p = *static_cast<const cuLaunchKernelEx_params*>(data.functionParams);
            const CUlaunchConfig& c = *p.config;
            Launch launch{{c.gridDimX, c.gridDimY, c.gridDimZ},
                          {c.blockDimX, c.blockDimY, c.blockDimZ},
                          {1, 1, 1},
                          c.sharedMemBytes};
            for (unsigned i = 0; i < c.numAttrs; ++i) {
                if (c.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
                const auto& cluster = c.attrs[i].value.clusterDim;
                launch.cluster[0] = cluster.x;
                launch.cluster[1] = cluster.y;
                launch.cluster[2] = cluster.z;
            }
            log_launch(p.f, data.symbolName, launch);
            break;
        }
        case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async:
        case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz: {
            log_memset(static_cast<const cuMemsetD8Async_params*>(data.functionParams)->N);
            break;
        }
        case CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async:
        case CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz: {
            log_memset(4ULL * static_cast<const cuMemsetD32Async_params*>(data.functionParams)->N);
            break;
        }
        default:
            break;
    }
}

std::string answer;

}  // namespace

extern "C" {

/// Begins to log. Returns 0 or CUPTI's error.
int launch_log_start() {
    CUpti_SubscriberHandle subscriber;
    if (const CUptiResult result = cuptiSubscribe(&subscriber, see, nullptr)) return result;
    for (const CUpti_CallbackId id :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
          CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
          CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz}) {
        if (const CUptiResult result = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id)) {
            return result;
        }
    }
    return 0;
}

/// The launches since the last call, "VARIANT@GRID|mBYTES|...".
const char* launch_log_take() {
    answer.swap(launched);
    launched.clear();
    return answer.c_str();
}

int launch_log_variants() {
    return static_cast<int>(variants.size());
}

const char* launch_log_variant(int number) {
    return variants[static_cast<std::size_t>(number)].c_str();
}
}
