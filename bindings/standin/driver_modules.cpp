// The functions of the CUDA driver for modules, libraries, kernels and launches, over the stand-in device.
// SPDX-License-Identifier: Apache-2.0
//
// A CUlibrary is a CUmodule, and a CUkernel is a CUfunction and the runtime's handle of a kernel.
#include "bindings/standin/driver.hpp"
#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/machine/tools/cuda_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::standin {

namespace {

struct DriverModule {
    LoadedModule* loaded = nullptr;
    std::map<std::string, KernelHandle*> kernels;
};

struct Modules {
    std::map<const void*, std::unique_ptr<DriverModule>> loaded;
    /// Handles stay when their module goes, so that a late launch is refused.
    std::vector<std::unique_ptr<KernelHandle>> kernels;

    [[nodiscard]] DriverModule* find(const void* handle) const {
        const auto found = loaded.find(handle);
        return found == loaded.end() ? nullptr : found->second.get();
    }
};

Modules& modules() {
    static auto* const all = new Modules;
    return *all;
}

// ---- images

struct FatHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t body_bytes;
};
struct FatWrapper {
    std::uint32_t magic, version;
    const std::byte* data;
};
constexpr std::uint32_t fat_magic = 0xba55ed50, fat_wrapper_magic = 0x466243b1, elf_magic = 0x464c457f;

template <class Value>
Value value_at(const std::byte* image, std::size_t offset) {
    Value value{};
    std::memcpy(&value, image + offset, sizeof value);
    return value;
}

/// An image comes without its length: an ELF ends behind its last section, header or segment.
std::size_t elf_bytes(const std::byte* image) {
    constexpr std::uint32_t empty_section = 8;
    const auto sections = value_at<std::uint64_t>(image, 40);
    const std::size_t section_bytes = value_at<std::uint16_t>(image, 58);
    const std::size_t section_count = value_at<std::uint16_t>(image, 60);
    const std::size_t segments_end =
        value_at<std::uint64_t>(image, 32) +
        std::size_t{value_at<std::uint16_t>(image, 54)} * value_at<std::uint16_t>(image, 56);
    std::size_t end = std::max(sections + section_bytes * section_count, segments_end);
    for (std::size_t i = 0; i < section_count; ++i) {
        const std::byte* const section = image + sections + i * section_bytes;
        if (value_at<std::uint32_t>(section, 4) != empty_section) {
            end = std::max<std::size_t>(
                end, value_at<std::uint64_t>(section, 24) + value_at<std::uint64_t>(section, 32));
        }
    }
    return end;
}

/// "sm_90a" where the text is for this device alone (".target sm_90a"), else "sm_90".
std::string target_of(std::string_view ptx) {
    const std::size_t at = ptx.find(".target");
    const std::size_t digits = at == std::string_view::npos ? at : ptx.find("sm_", at);
    std::string target = fmt::format("sm_{}", device().chip().architecture);
    if (digits != std::string_view::npos) {
        const std::size_t end = ptx.find_first_not_of("0123456789", digits + 3);
        if (end != std::string_view::npos && (ptx[end] == 'a' || ptx[end] == 'f')) {
            target += 'a';
        }
    }
    return target;
}

/// Adds the image's module; otherwise says why not.
DriverError add_image(const std::byte* image, LoadedModule*& module, std::string& log) {
    const auto magic = value_at<std::uint32_t>(image, 0);
    if (magic == fat_wrapper_magic) {
        return add_image(value_at<FatWrapper>(image, 0).data, module, log);
    }
    const bool fat = magic == fat_magic;
    const std::string_view text(fat || magic == elf_magic ? "" : reinterpret_cast<const char*>(image));
    if (!fat && magic != elf_magic && text.find(".version") == std::string_view::npos) {
        log = "the image is neither machine code of CUDA nor PTX";
        return DriverError::invalid_image;
    }
    module = nullptr;
    try {
        if (fat) {
            const auto header = value_at<FatHeader>(image, 0);
            module = device().add_module(
                {image, header.header_bytes + static_cast<std::size_t>(header.body_bytes)}, true);
        } else if (text.empty()) {
            module = device().add_module({image, elf_bytes(image)}, false);
        } else {
            module = device().add_module(machine::compile_ptx(text, target_of(text)).cubin, false);
        }
        const int found =
            module->code(device().chip().architecture, device().memory()).code->module.architecture;
        const int wanted = device().chip().architecture;
        if (found / 10 == wanted / 10 && found <= wanted) {
            return DriverError::success;
        }
        log = fmt::format("the image is for sm_{}, the device is sm_{}", found, wanted);
        device().remove_module(module);
        return DriverError::no_binary;
    } catch (const Error& error) {
        log = error.what();
    }
    if (module != nullptr) {
        device().remove_module(module);
    }
    return fat            ? DriverError::no_binary
           : text.empty() ? DriverError::invalid_image
                          : DriverError::invalid_ptx;
}

/// CUjit_option by CUjit_option: the buffers for messages are written, other options change nothing here.
struct JitOptions {
    unsigned count = 0;
    const int* names = nullptr;
    void** values = nullptr;
};

void write_log(const JitOptions& options, const std::string& log) {
    constexpr int information = 3, information_bytes = 4, errors = 5, error_bytes = 6;
    if (options.names == nullptr || options.values == nullptr) {
        return;
    }
    const auto place_of = [&options](int name) -> void** {
        for (unsigned i = 0; i < options.count; ++i) {
            if (options.names[i] == name) {
                return &options.values[i];
            }
        }
        return nullptr;
    };
    const auto write = [&place_of](int buffer, int size, std::string_view text) {
        void** const to = place_of(buffer);
        void** const bytes = place_of(size);
        if (to == nullptr || *to == nullptr || bytes == nullptr) {
            return;
        }
        // The size is passed as a number of 32 bits in the place of a pointer.
        std::uint32_t room = 0;
        std::memcpy(&room, bytes, sizeof room);
        if (room == 0) {
            return;
        }
        const auto length = std::min<std::uint32_t>(room - 1, static_cast<std::uint32_t>(text.size()));
        std::memcpy(*to, text.data(), length);
        static_cast<char*>(*to)[length] = '\0';
        std::memcpy(bytes, &length, sizeof length);
    };
    write(information, information_bytes, {});
    write(errors, error_bytes, log);
}

DriverError load(void** handle, const void* image, const JitOptions& options) {
    if (handle == nullptr || image == nullptr) {
        return DriverError::invalid_value;
    }
    std::string log;
    auto module = std::make_unique<DriverModule>();
    const DriverError error = add_image(static_cast<const std::byte*>(image), module->loaded, log);
    write_log(options, log);
    if (error != DriverError::success) {
        device().records().message("a module was not loaded: " + log);
        return error;
    }
    *handle = module.get();
    modules().loaded[module.get()] = std::move(module);
    return DriverError::success;
}

DriverError load_file(void** handle, const char* path, const JitOptions& options) {
    if (path == nullptr) {
        return DriverError::invalid_value;
    }
    std::optional<std::string> bytes = warptime::hw::text_of_file(path);
    if (!bytes) {
        return DriverError::file_not_found;
    }
    bytes->resize(bytes->size() + sizeof(FatHeader));  // PTX ends with a zero, and a short file has a header.
    return load(handle, bytes->data(), options);
}

DriverError unload(const void* handle) {
    DriverModule* const module = modules().find(handle);
    if (module == nullptr) {
        return DriverError::invalid_handle;
    }
    for (const auto& [name, kernel] : module->kernels) {
        kernel->module = nullptr;
    }
    device().remove_module(module->loaded);
    modules().loaded.erase(handle);
    return DriverError::success;
}

// ---- kernels and variables

const machine::Code& code_of(const DriverModule& module) {
    return *module.loaded->code(device().chip().architecture, device().memory()).code;
}

KernelHandle* kernel_of(DriverModule& module, const std::string& name) {
    if (const auto known = module.kernels.find(name); known != module.kernels.end()) {
        return known->second;
    }
    if (code_of(module).kernel(name) < 0) {
        return nullptr;
    }
    modules().kernels.push_back(
        std::make_unique<KernelHandle>(KernelHandle{.module = module.loaded, .name = name}));
    return module.kernels[name] = modules().kernels.back().get();
}

DriverError give_kernel(KernelHandle** kernel, const void* handle, const char* name) {
    DriverModule* const module = modules().find(handle);
    if (module == nullptr) {
        return DriverError::invalid_handle;
    }
    if (kernel == nullptr || name == nullptr) {
        return DriverError::invalid_value;
    }
    *kernel = kernel_of(*module, name);
    return *kernel == nullptr ? DriverError::not_found : DriverError::success;
}

std::vector<std::string> kernel_names(const DriverModule& module) {
    std::vector<std::string> names;
    for (const machine::Function& function : code_of(module).module.functions) {
        if (function.kernel) {
            names.push_back(function.name);
        }
    }
    return names;
}

DriverError count_kernels(unsigned* count, const void* handle) {
    const DriverModule* const module = modules().find(handle);
    if (module == nullptr || count == nullptr) {
        return module == nullptr ? DriverError::invalid_handle : DriverError::invalid_value;
    }
    *count = static_cast<unsigned>(kernel_names(*module).size());
    return DriverError::success;
}

DriverError list_kernels(KernelHandle** kernels, unsigned count, const void* handle) {
    DriverModule* const module = modules().find(handle);
    if (module == nullptr || kernels == nullptr) {
        return module == nullptr ? DriverError::invalid_handle : DriverError::invalid_value;
    }
    const std::vector<std::string> names = kernel_names(*module);
    for (unsigned i = 0; i < count && i < names.size(); ++i) {
        kernels[i] = kernel_of(*module, names[i]);
    }
    return DriverError::success;
}

DriverError give_variable(std::uint64_t* address, std::size_t* bytes, const void* handle, const char* name) {
    DriverModule* const module = modules().find(handle);
    if (module == nullptr) {
        return DriverError::invalid_handle;
    }
    if (name == nullptr || (address == nullptr && bytes == nullptr)) {
        return DriverError::invalid_value;
    }
    const auto place = device().variable(module->loaded, name);
    if (!place) {
        return DriverError::not_found;
    }
    if (!device().on_device(place->first)) {
        device().memory().add_host(place->first, place->second);  // A bank of constants may be copied to.
    }
    if (address != nullptr) {
        *address = place->first;
    }
    if (bytes != nullptr) {
        *bytes = place->second;
    }
    return DriverError::success;
}

/// The kernel's code; null when it or its module is gone or cannot be read.
const machine::Function* function_of(const KernelHandle* kernel) {
    try {
        return kernel == nullptr || kernel->module == nullptr ? nullptr : device().function(*kernel);
    } catch (const Error&) {
        return nullptr;
    }
}

/// Calls the body with the kernel's code.
template <class Body>
DriverError with_function(const KernelHandle* kernel, Body body) {
    return in_context([&] {
        const machine::Function* const function = function_of(kernel);
        return function == nullptr ? DriverError::invalid_handle : body(*function);
    });
}

std::int64_t dynamic_shared_limit(const KernelHandle& kernel, const machine::Function& function) {
    return kernel.dynamic_shared_limit >= 0
               ? kernel.dynamic_shared_limit
               : std::max<std::int64_t>(0, device().chip().limits.shared_default - function.own_shared());
}

DriverError function_attribute(int* value, int attribute, const KernelHandle& kernel,
                               const machine::Function& function) {
    const auto give = [value](std::int64_t number) {
        *value = static_cast<int>(number);
        return DriverError::success;
    };
    if (value == nullptr) {
        return DriverError::invalid_value;
    }
    switch (attribute) {
        case 0:
            return give(function.max_threads > 0 ? function.max_threads
                                                 : device().chip().limits.threads_per_cta);
        case 1:
            return give(function.own_shared());
        case 3:
            return give(function.local_bytes);
        case 4:
            return give(function.registers);
        case 5:  // versions of PTX and of the machine code
        case 6:
            return give(device().chip().architecture);
        case 8:
            return give(dynamic_shared_limit(kernel, function));
        case 9:  // the carveout: the driver decides
            return give(-1);
        case 10:  // whether a launch must name a cluster, and the one that the kernel names
            return give(0);
        case 11:
        case 12:
        case 13:
            return give(function.cluster[static_cast<std::size_t>(attribute - 11)]);
        case 2:  // constants, caching, larger clusters, how clusters are placed
        case 7:
        case 14:
        case 15:
            return give(0);
        default:
            return DriverError::invalid_value;
    }
}

DriverError set_function_attribute(KernelHandle& kernel, const machine::Function& function, int attribute,
                                   int value) {
    constexpr int dynamic_shared = 8, carveout = 9, first_of_cluster = 11, last = 15;
    if (attribute == dynamic_shared) {
        if (value < 0 || value + function.own_shared() > device().chip().limits.shared_optin) {
            return DriverError::invalid_value;
        }
        kernel.dynamic_shared_limit = value;
        return DriverError::success;
    }
    return attribute == carveout || (attribute >= first_of_cluster && attribute <= last)
               ? DriverError::success
               : DriverError::invalid_value;
}

// ---- launches

/// Addresses of the parameters within the buffer that `extra` names.
DriverError split_buffer(void** extra, const machine::Function& function, std::vector<void*>& places) {
    std::byte* buffer = nullptr;
    std::size_t bytes = 0;
    for (; *extra != nullptr; extra += 2) {
        // The names are small numbers in the place of pointers.
        const auto name = reinterpret_cast<std::uintptr_t>(*extra);
        if (name == 1) {
            buffer = static_cast<std::byte*>(extra[1]);
        } else if (name == 2) {
            bytes = *static_cast<const std::size_t*>(extra[1]);
        } else {
            return DriverError::invalid_value;
        }
    }
    for (const machine::Parameter& parameter : function.parameters) {
        if (buffer == nullptr || parameter.offset + std::size_t{parameter.bytes} > bytes) {
            return DriverError::invalid_value;
        }
        places.push_back(buffer + parameter.offset);
    }
    return DriverError::success;
}

std::int64_t resident_grid(const machine::Function& function, const machine::LaunchShape& shape) {
    return std::int64_t{device().resident_ctas(function, static_cast<int>(shape.threads()),
                                               static_cast<std::size_t>(shape.dynamic_shared))} *
           device().chip().limits.sm_count;
}

DriverError launch(const KernelHandle* kernel, const machine::LaunchShape& shape, void** parameters,
                   void** extra) {
    return in_context([&] {
        if (kernel == nullptr || kernel->module == nullptr) {
            return DriverError::invalid_handle;
        }
        std::vector<void*> places;
        const machine::Function* const function = function_of(kernel);
        if (function != nullptr) {
            if (parameters != nullptr && extra != nullptr) {
                return DriverError::invalid_value;
            }
            if (extra != nullptr) {
                if (const DriverError error = split_buffer(extra, *function, places);
                    error != DriverError::success) {
                    return error;
                }
                parameters = places.data();
            }
            if (parameters == nullptr && !function->parameters.empty()) {
                return DriverError::invalid_value;
            }
            if (shape.dynamic_shared > dynamic_shared_limit(*kernel, *function)) {
                device().records().message(fmt::format(
                    "{} was not launched: {} bytes of dynamic shared memory, and "
                    "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is {}",
                    kernel->name, shape.dynamic_shared, dynamic_shared_limit(*kernel, *function)));
                return DriverError::invalid_value;
            }
            if (shape.cooperative &&
                static_cast<std::int64_t>(shape.ctas()) > resident_grid(*function, shape)) {
                return DriverError::cooperative_too_large;
            }
        }
        // A module that cannot be read is reported by the launch.
        LaunchRequest request;
        request.kernel = kernel;
        request.shape = shape;
        request.arguments = parameters;
        return error_of(device().launch(request));
    });
}

/// CUlaunchConfig and its attributes.
struct DriverLaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        std::array<std::uint32_t, 3> cluster;
        int number;
    } value;
};
struct DriverLaunchConfiguration {
    std::array<std::uint32_t, 3> grid, block;
    std::uint32_t dynamic_shared;
    void* stream;
    DriverLaunchAttribute* attributes;
    unsigned count;
};

machine::LaunchShape shape_of(const DriverLaunchConfiguration& configuration) {
    constexpr int cooperative = 2, cluster = 4;
    machine::LaunchShape shape;
    shape.grid = configuration.grid;
    shape.block = configuration.block;
    shape.dynamic_shared = configuration.dynamic_shared;
    for (unsigned i = 0; i < configuration.count && configuration.attributes != nullptr; ++i) {
        const DriverLaunchAttribute& attribute = configuration.attributes[i];
        if (attribute.id == cooperative) {
            shape.cooperative = attribute.value.number != 0;
        } else if (attribute.id == cluster) {
            shape.cluster = attribute.value.cluster;
        }
    }
    return shape;
}

}  // namespace

// ---- modules

WARPTIME_DRIVER DriverError cuModuleLoadDataEx(void** module, const void* image, unsigned count,
                                               const int* options, void** values) {
    return in_context([&] { return load(module, image, {count, options, values}); });
}
WARPTIME_DRIVER DriverError cuModuleLoadData(void** module, const void* image) {
    return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
WARPTIME_DRIVER DriverError cuModuleLoadFatBinary(void** module, const void* image) {
    return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
WARPTIME_DRIVER DriverError cuModuleLoad(void** module, const char* path) {
    return in_context([&] { return load_file(module, path, {}); });
}
WARPTIME_DRIVER DriverError cuModuleUnload(void* module) {
    return in_context([&] { return unload(module); });
}
WARPTIME_DRIVER DriverError cuModuleGetLoadingMode(int* mode) {
    if (mode == nullptr) {
        return DriverError::invalid_value;
    }
    *mode = 1;  // eager
    return DriverError::success;
}
WARPTIME_DRIVER DriverError cuModuleGetFunction(KernelHandle** function, void* module, const char* name) {
    return in_context([&] { return give_kernel(function, module, name); });
}
WARPTIME_DRIVER DriverError cuModuleGetFunctionCount(unsigned* count, void* module) {
    return in_context([&] { return count_kernels(count, module); });
}
WARPTIME_DRIVER DriverError cuModuleEnumerateFunctions(KernelHandle** functions, unsigned count,
                                                       void* module) {
    return in_context([&] { return list_kernels(functions, count, module); });
}
WARPTIME_DRIVER DriverError cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void* module,
                                                 const char* name) {
    return in_context([&] { return give_variable(address, bytes, module, name); });
}

// ---- libraries: modules that belong to no context

WARPTIME_DRIVER DriverError cuLibraryLoadData(void** library, const void* image, const int* options,
                                              void** values, unsigned count, const int* /*own_options*/,
                                              void** /*own_values*/, unsigned /*own_count*/) {
    return with_device([&] { return load(library, image, {count, options, values}); });
}
WARPTIME_DRIVER DriverError cuLibraryLoadFromFile(void** library, const char* path, const int* options,
                                                  void** values, unsigned count, const int* /*own_options*/,
                                                  void** /*own_values*/, unsigned /*own_count*/) {
    return with_device([&] { return load_file(library, path, {count, options, values}); });
}
WARPTIME_DRIVER DriverError cuLibraryUnload(void* library) {
    return with_device([&] { return unload(library); });
}
WARPTIME_DRIVER DriverError cuLibraryGetKernel(KernelHandle** kernel, void* library, const char* name) {
    return with_device([&] { return give_kernel(kernel, library, name); });
}
WARPTIME_DRIVER DriverError cuLibraryGetKernelCount(unsigned* count, void* library) {
    return with_device([&] { return count_kernels(count, library); });
}
WARPTIME_DRIVER DriverError cuLibraryEnumerateKernels(KernelHandle** kernels, unsigned count, void* library) {
    return with_device([&] { return list_kernels(kernels, count, library); });
}
WARPTIME_DRIVER DriverError cuLibraryGetModule(void** module, void* library) {
    return in_context([&] {
        if (module == nullptr || modules().find(library) == nullptr) {
            return DriverError::invalid_handle;
        }
        *module = library;
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuLibraryGetGlobal(std::uint64_t* address, std::size_t* bytes, void* library,
                                               const char* name) {
    return in_context([&] { return give_variable(address, bytes, library, name); });
}
WARPTIME_DRIVER DriverError cuKernelGetFunction(KernelHandle** function, KernelHandle* kernel) {
    return with_function(kernel, [&](const machine::Function& /*code*/) {
        if (function == nullptr) {
            return DriverError::invalid_value;
        }
        *function = kernel;
        return DriverError::success;
    });
}

// ---- functions

WARPTIME_DRIVER DriverError cuFuncGetAttribute(int* value, int attribute, KernelHandle* function) {
    return with_function(function, [&](const machine::Function& code) {
        return function_attribute(value, attribute, *function, code);
    });
}
WARPTIME_DRIVER DriverError cuFuncSetAttribute(KernelHandle* function, int attribute, int value) {
    return with_function(function, [&](const machine::Function& code) {
        return set_function_attribute(*function, code, attribute, value);
    });
}
WARPTIME_DRIVER DriverError cuKernelGetAttribute(int* value, int attribute, KernelHandle* kernel,
                                                 int /*number*/) {
    return cuFuncGetAttribute(value, attribute, kernel);
}
WARPTIME_DRIVER DriverError cuKernelSetAttribute(int attribute, int value, KernelHandle* kernel,
                                                 int /*number*/) {
    return cuFuncSetAttribute(kernel, attribute, value);
}
WARPTIME_DRIVER DriverError cuFuncSetCacheConfig(KernelHandle* function, int /*preference*/) {
    return with_function(function, [](const machine::Function& /*code*/) { return DriverError::success; });
}
WARPTIME_DRIVER DriverError cuFuncSetSharedMemConfig(KernelHandle* function, int /*bank_bytes*/) {
    return cuFuncSetCacheConfig(function, 0);
}
WARPTIME_DRIVER DriverError cuFuncLoad(KernelHandle* function) {
    return cuFuncSetCacheConfig(function, 0);
}
WARPTIME_DRIVER DriverError cuFuncGetName(const char** name, KernelHandle* function) {
    return with_function(function, [&](const machine::Function& code) {
        if (name == nullptr) {
            return DriverError::invalid_value;
        }
        *name = code.name.c_str();
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuKernelGetName(const char** name, KernelHandle* kernel) {
    return cuFuncGetName(name, kernel);
}
WARPTIME_DRIVER DriverError cuFuncGetParamInfo(KernelHandle* function, std::size_t number,
                                               std::size_t* offset, std::size_t* bytes) {
    return with_function(function, [&](const machine::Function& code) {
        if (offset == nullptr || number >= code.parameters.size()) {
            return DriverError::invalid_value;
        }
        *offset = code.parameters[number].offset;
        if (bytes != nullptr) {
            *bytes = code.parameters[number].bytes;
        }
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuKernelGetParamInfo(KernelHandle* kernel, std::size_t number,
                                                 std::size_t* offset, std::size_t* bytes) {
    return cuFuncGetParamInfo(kernel, number, offset, bytes);
}
WARPTIME_DRIVER DriverError cuFuncGetModule(void** module, KernelHandle* function) {
    return with_function(function, [&](const machine::Function& /*code*/) {
        for (const auto& [handle, candidate] : modules().loaded) {
            if (module != nullptr && candidate->loaded == function->module) {
                *module = candidate.get();
                return DriverError::success;
            }
        }
        return DriverError::invalid_handle;
    });
}

// ---- occupancy

WARPTIME_DRIVER DriverError cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, KernelHandle* function,
                                                                        int threads, std::size_t shared) {
    return with_function(function, [&](const machine::Function& code) {
        if (blocks == nullptr || threads <= 0) {
            return DriverError::invalid_value;
        }
        *blocks = device().resident_ctas(code, threads, shared);
        return DriverError::success;
    });
}
WARPTIME_DRIVER DriverError cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, KernelHandle* function, int threads, std::size_t shared, unsigned /*flags*/) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
/// The block with the most resident threads, the largest of those.
WARPTIME_DRIVER DriverError cuOccupancyMaxPotentialBlockSize(int* grid, int* block, KernelHandle* function,
                                                             std::size_t (*shared_of)(int),
                                                             std::size_t shared, int limit) {
    return with_function(function, [&](const machine::Function& code) {
        if (grid == nullptr || block == nullptr) {
            return DriverError::invalid_value;
        }
        const int own = code.max_threads > 0 ? code.max_threads : 1024;
        const int most = limit > 0 ? std::min(limit, own) : own;
        int best = 0;
        for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
            const std::size_t bytes = shared_of != nullptr ? shared_of(threads) : shared;
            const int resident = device().resident_ctas(code, threads, bytes);
            if (resident * threads > best) {
                best = resident * threads;
                *block = threads;
                *grid = resident * device().chip().limits.sm_count;
            }
        }
        return best > 0 ? DriverError::success : DriverError::invalid_value;
    });
}

// ---- launches

WARPTIME_DRIVER DriverError cuLaunchKernel(KernelHandle* function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y,
                                           unsigned block_z, unsigned dynamic_shared, void* /*stream*/,
                                           void** parameters, void** extra) {
    machine::LaunchShape shape;
    shape.grid = {grid_x, grid_y, grid_z};
    shape.block = {block_x, block_y, block_z};
    shape.dynamic_shared = dynamic_shared;
    return launch(function, shape, parameters, extra);
}
WARPTIME_DRIVER DriverError cuLaunchCooperativeKernel(KernelHandle* function, unsigned grid_x,
                                                      unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                      unsigned block_y, unsigned block_z,
                                                      unsigned dynamic_shared, void* /*stream*/,
                                                      void** parameters) {
    machine::LaunchShape shape;
    shape.grid = {grid_x, grid_y, grid_z};
    shape.block = {block_x, block_y, block_z};
    shape.dynamic_shared = dynamic_shared;
    shape.cooperative = true;
    return launch(function, shape, parameters, nullptr);
}
WARPTIME_DRIVER DriverError cuLaunchKernelEx(const DriverLaunchConfiguration* configuration,
                                             KernelHandle* function, void** parameters, void** extra) {
    return configuration == nullptr ? DriverError::invalid_value
                                    : launch(function, shape_of(*configuration), parameters, extra);
}

WARPTIME_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);
WARPTIME_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel);
WARPTIME_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);

}  // namespace warptime::standin
