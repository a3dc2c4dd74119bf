// The functions of the CUDA driver by their names, and answers for those that the stand-in does not provide.
// SPDX-License-Identifier: Apache-2.0
//
// A linker looks for every name when a program is loaded, so functions that are missing have one too.
#include "bindings/standin/driver.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <iterator>
#include <string>
#include <string_view>

namespace warptime::standin {

namespace {

constexpr std::string_view missing_names[]{
#define WARPTIME_MISSING(name) std::string_view(#name),
#include "bindings/standin/driver_missing.inc"
#undef WARPTIME_MISSING
};

/// Versions of CUDA that brought a function; others are older than any program that runs here.
struct Since {
    std::string_view name;
    int version;
};
constexpr std::array since{Since{"cuCtxCreate_v3", 11040},         Since{"cuCtxCreate_v4", 12050},
                           Since{"cuGetProcAddress_v2", 12000},    Since{"cuEventElapsedTime_v2", 12080},
                           Since{"cuDeviceGetUuid_v2", 11040},     Since{"cuLaunchKernelEx", 11060},
                           Since{"cuTensorMapEncodeTiled", 12000}, Since{"cuTensorMapReplaceAddress", 12000},
                           Since{"cuLibraryLoadData", 12000},      Since{"cuLibraryLoadFromFile", 12000},
                           Since{"cuLibraryUnload", 12000},        Since{"cuLibraryGetKernel", 12000},
                           Since{"cuLibraryGetModule", 12000},     Since{"cuLibraryGetGlobal", 12000},
                           Since{"cuKernelGetFunction", 12000},    Since{"cuKernelGetAttribute", 12000},
                           Since{"cuKernelSetAttribute", 12000}};

int version_of(std::string_view name) {
    const auto* const found =
        std::find_if(since.begin(), since.end(), [name](const Since& entry) { return entry.name == name; });
    return found == since.end() ? 0 : found->version;
}

void* own_library() {
    static void* const own = [] {
        Dl_info self{};
        dladdr(reinterpret_cast<void*>(&own_library), &self);
        return dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return own;
}

/// cudaDriverEntryPointQueryResult and CUdriverProcAddressQueryResult.
enum class Found : int { yes = 0, no = 1, too_old = 2 };

Found look_up(const char* name, void** function, int version) {
    bool too_old = false;
    *function = find_driver_function(name, version, too_old);
    return *function != nullptr ? Found::yes : too_old ? Found::too_old : Found::no;
}

}  // namespace

DriverError not_provided(const char* function) {
    std::fprintf(stderr, "warptime: %s is not provided by the stand-in for CUDA\n", function);
    return DriverError::not_supported;
}

void* find_driver_function(std::string_view name, int version, bool& too_old) {
    too_old = false;
    if (!name.starts_with("cu") || name.starts_with("cuda")) {
        return nullptr;
    }
    for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
        const std::string full = std::string(name) + suffix;
        if (std::find(std::begin(missing_names), std::end(missing_names), full) != std::end(missing_names)) {
            continue;
        }
        void* const found = dlsym(own_library(), full.c_str());
        if (found != nullptr && version >= version_of(full)) {
            return found;
        }
        too_old = too_old || found != nullptr;
    }
    return nullptr;
}

WARPTIME_DRIVER DriverError cuGetProcAddress_v2(const char* name, void** function, int version,
                                                std::uint64_t /*flags*/, Found* status) {
    if (name == nullptr || function == nullptr) {
        return DriverError::invalid_value;
    }
    const Found found = look_up(name, function, version);
    if (status != nullptr) {
        *status = found;
    }
    return found == Found::yes ? DriverError::success : DriverError::not_found;
}
WARPTIME_DRIVER DriverError cuGetProcAddress(const char* name, void** function, int version,
                                             std::uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// The runtime's form of it: a name that is not found is no error.
WARPTIME_DRIVER int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                     unsigned long long /*flags*/, Found* status) {
    if (name == nullptr || function == nullptr) {
        return static_cast<int>(Status::invalid_value);
    }
    const Found found = look_up(name, function, static_cast<int>(version));
    if (status != nullptr) {
        *status = found;
    }
    return 0;
}
WARPTIME_DRIVER int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                            Found* status) {
    return cudaGetDriverEntryPointByVersion(name, function, driver_version, flags, status);
}
WARPTIME_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
WARPTIME_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);

#define WARPTIME_MISSING(name)           \
    WARPTIME_DRIVER DriverError name() { \
        return not_provided(#name);      \
    }
#include "bindings/standin/driver_missing.inc"
#undef WARPTIME_MISSING

}  // namespace warptime::standin
