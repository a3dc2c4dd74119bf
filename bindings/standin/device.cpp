// SPDX-License-Identifier: Apache-2.0
#include "bindings/standin/device.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/text.hpp"
#include "workloads/frontends/machine/lowering/lower.hpp"
#include "workloads/frontends/machine/tools/cuda_tools.hpp"
#include "workloads/frontends/machine/tools/demangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>

namespace warptime::standin {

namespace {

/// Of this thread: other programs on the machine do not count.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string variable_of(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string(value);
}

/// The buffers that traced CTAs write, by the kernel's arguments where one of them points there.
std::string written_buffers(const machine::TraceRecorder& trace, const machine::DeviceMemory& memory,
                            const machine::Function& function, std::span<const std::byte> parameters) {
    using machine::AccessKind;
    std::map<std::uint64_t, std::string> buffers;  // By address.
    for (const auto& cta : trace.ctas()) {
        for (const machine::WarpTrace& warp : cta->warps) {
            for (const machine::TracedAccess& access : warp.accesses) {
                const machine::AccessEvent& event = access.event;
                const bool writes = event.kind == AccessKind::store || event.kind == AccessKind::atomic ||
                                    event.kind == AccessKind::reduction;
                if (!writes || event.space != machine::AccessSpace::global || event.lanes == 0) {
                    continue;
                }
                const auto lane = static_cast<std::size_t>(std::countr_zero(event.lanes));
                if (const machine::Allocation* const found = memory.find(event.address[lane])) {
                    buffers.emplace(found->address, fmt::format("{} bytes", found->bytes));
                }
            }
        }
    }
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const machine::Parameter& parameter = function.parameters[i];
        std::uint64_t value = 0;
        if (parameter.bytes != sizeof value) {
            continue;
        }
        std::memcpy(&value, parameters.data() + parameter.offset, sizeof value);
        const machine::Allocation* const found = memory.find(value);
        const auto known = found == nullptr ? buffers.end() : buffers.find(found->address);
        if (known != buffers.end()) {
            known->second = fmt::format("argument {} ({} bytes)", i + 1, found->bytes);
        }
    }
    std::string text;
    for (const auto& [address, name] : buffers) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "no buffer that was seen" : text;
}

hw::Gpu read_gpu() {
    std::istringstream text(variable_of("WARPTIME_DEVICE"));
    std::string sheet;
    std::getline(text, sheet);
    if (sheet.empty()) {
        throw Error("WARPTIME_DEVICE", "nothing", "the id of a GPU; `warptime run` sets it");
    }
    std::vector<hw::Setting> settings;
    for (std::string line; std::getline(text, line);) {
        settings.push_back(hw::parse_setting(line));
    }
    return hw::load_gpu(sheet, settings);
}

/// The image that the driver would take: machine code of this architecture, or of an earlier one of the same
/// generation, the newest first; else PTX.
std::vector<std::byte> choose_image(const std::vector<machine::FatImage>& images, int architecture) {
    const machine::FatImage* best = nullptr;
    for (const machine::FatImage& image : images) {
        const bool suits = image.specific ? image.architecture == architecture
                                          : image.architecture <= architecture &&
                                                image.architecture / 10 == architecture / 10;
        if (!image.ptx && suits &&
            (best == nullptr || image.architecture > best->architecture ||
             (image.specific && !best->specific))) {
            best = &image;
        }
    }
    if (best != nullptr) {
        return best->bytes;
    }
    for (const machine::FatImage& image : images) {
        const bool suits =
            image.specific ? image.architecture == architecture : image.architecture <= architecture;
        if (image.ptx && suits && (best == nullptr || image.architecture > best->architecture)) {
            best = &image;
        }
    }
    if (best == nullptr) {
        std::string held;
        for (const machine::FatImage& image : images) {
            held += fmt::format("{}{}_{}", held.empty() ? "" : ", ", image.ptx ? "compute" : "sm",
                                image.architecture);
        }
        throw Error("program", held.empty() ? "no device code" : held,
                    fmt::format("code or PTX for sm_{}", architecture));
    }
    const std::string text(reinterpret_cast<const char*>(best->bytes.data()), best->bytes.size());
    return machine::compile_ptx(text.substr(0, text.find('\0')),
                                fmt::format("sm_{}{}", architecture, best->specific ? "a" : ""))
        .cubin;
}

}  // namespace

const machine::LoadedCode& LoadedModule::code(int architecture, machine::DeviceMemory& memory) {
    if (!loaded_) {
        std::vector<std::byte> cubin = image_;
        if (fat_) {
            cubin = choose_image(machine::images_of_fat_binary(image_), architecture);
        }
        code_ = std::make_unique<machine::Code>(machine::decode_cubin(cubin, "module"));
        loaded_ = std::make_unique<machine::LoadedCode>(machine::load_code(*code_, memory));
    }
    return *loaded_;
}

Device::Device()
    : gpu_(read_gpu()),
      chip_(machine::chip_of(gpu_)),
      memory_(static_cast<std::uint64_t>(gpu_.dram.capacity.value())) {
    // The first allocation of an empty memory lies at its start.
    arena_ = memory_.allocate(1).value_or(0);
    memory_.free(arena_);
    if (const std::string budget = variable_of("WARPTIME_BUDGET"); !budget.empty()) {
        budget_ = std::strtoull(budget.c_str(), nullptr, 10);
    }
    if (const std::string limit = variable_of("WARPTIME_WARP_LIMIT"); !limit.empty()) {
        warp_limit_ = std::strtoull(limit.c_str(), nullptr, 10);
    }
    if (const std::string read = variable_of("WARPTIME_LAST_CLOCK_READ"); !read.empty()) {
        last_clock_read_ = static_cast<std::uint32_t>(std::strtoul(read.c_str(), nullptr, 10));
    }
    if (const std::string filter = variable_of("WARPTIME_KERNEL"); !filter.empty()) {
        filter_ = std::regex(filter);
    }
    if (const std::string launches = variable_of("WARPTIME_LAUNCHES"); !launches.empty()) {
        reported_left_ = std::strtoull(launches.c_str(), nullptr, 10);
    }
}

LoadedModule* Device::add_module(std::span<const std::byte> image, bool fat) {
    modules_.push_back(
        std::make_unique<LoadedModule>(std::vector<std::byte>(image.begin(), image.end()), fat));
    return modules_.back().get();
}

void Device::remove_module(LoadedModule* module) {
    if (module->is_loaded()) {
        for (const auto& [name, address] : module->loaded().variables) {
            memory_.free(address);
        }
        for (const machine::Variable& variable : module->loaded().code->module.variables) {
            if (variable.constant) {
                const std::vector<std::byte>& bank = module->loaded().constant_banks.at(3);
                memory_.remove_host(reinterpret_cast<std::uint64_t>(bank.data() + variable.offset));
            }
        }
    }
    std::erase_if(modules_, [module](const auto& held) { return held.get() == module; });
}

const KernelHandle* Device::add_kernel(const void* host, LoadedModule* module, std::string name) {
    auto& place = kernels_[host];
    place = std::make_unique<KernelHandle>(KernelHandle{.module = module, .name = std::move(name)});
    return place.get();
}

void Device::add_variable(const void* host, LoadedModule* module, std::string name) {
    variables_[host] = {module, std::move(name)};
}

const KernelHandle* Device::kernel(const void* host) const {
    const auto found = kernels_.find(host);
    return found == kernels_.end() ? nullptr : found->second.get();
}

bool Device::wanted(const std::string& kernel) {
    if (filter_ && !std::regex_search(kernel, *filter_)) {
        return false;
    }
    if (reported_left_ == 0) {
        return false;
    }
    --reported_left_;
    return true;
}

const machine::Function* Device::function(const KernelHandle& kernel) {
    const machine::LoadedCode& code = kernel.module->code(chip_.architecture, memory_);
    return code.code->module.find(kernel.name);
}

Status Device::launch(const LaunchRequest& request) {
    const std::string plain = machine::plain_name(request.kernel->name);
    const bool reported = wanted(plain);
    LaunchRecord record;
    record.kernel = plain;
    record.mangled = request.kernel->name;
    record.shape = request.shape;
    Status status = Status::success;
    machine::LaunchCounts counts;
    try {
        const machine::LoadedCode& code = request.kernel->module->code(chip_.architecture, memory_);
        const int number = code.code->kernel(request.kernel->name);
        if (number < 0) {
            throw Error("kernel", request.kernel->name, "one that the module holds");
        }
        const machine::Function& function = code.code->module.functions[static_cast<std::size_t>(number)];
        record.registers = function.registers;
        record.code = code.code;
        std::vector<std::byte> parameters(function.parameter_bytes);
        for (std::size_t i = 0; i < function.parameters.size(); ++i) {
            const machine::Parameter& parameter = function.parameters[i];
            std::memcpy(parameters.data() + parameter.offset, request.arguments[i], parameter.bytes);
        }
        machine::LaunchShape shape = request.shape;
        if (function.cluster[0] > 0 && shape.cluster == std::array<std::uint32_t, 3>{1, 1, 1}) {
            for (std::size_t d = 0; d < 3; ++d) {
                shape.cluster[d] = static_cast<std::uint32_t>(std::max(1, function.cluster[d]));
            }
        }
        record.shape = shape;
        machine::TraceRecorder trace;
        machine::RunOptions options;
        options.budget = reported ? budget_ : 0;
        options.warp_limit = warp_limit_;
        options.last_clock_read = last_clock_read_;
        options.observer = reported ? &trace : nullptr;
        options.traced_ctas = 12;
        options.chip = chip_;
        const double begun = processor_seconds();
        counts = machine::run_launch(code, number, shape, parameters, memory_, options);
        const double ended = processor_seconds();
        record.seconds = ended - begun;
        record.counts = &counts;
        record.error = counts.error;
        if (!counts.error.empty()) {
            status = counts.error.find("out-of-bounds") != std::string::npos ? Status::illegal_address
                                                                             : Status::launch_failure;
            sticky = status;
        } else if (reported) {
            model::kernel::Kernel kernel =
                machine::lower({code.code, number, shape, &counts, &trace, &memory_, chip_.cache});
            kernel.name = plain;
            model::kernel::check(kernel);
            record.description = model::kernel::to_text(kernel);
            record.lowering_seconds = processor_seconds() - ended;
            if (!counts.whole()) {
                records_.message(
                    fmt::format("{}: a part of the grid was run, so that what it writes is incomplete: {} "
                                "(--whole runs all)",
                                plain, written_buffers(trace, memory_, function, parameters)));
            }
        }
    } catch (const Error& error) {
        record.error = error.what();
        // A launch that ran but could not be described leaves the program alone.
        if (record.counts == nullptr) {
            status = error.parameter().ends_with(machine::registers_of_launch)
                         ? Status::launch_out_of_resources
                         : Status::invalid_configuration;
        }
    }
    if (reported) {
        records_.launch(record);
    }
    return status;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> Device::variable(const void* host) {
    const auto found = variables_.find(host);
    if (found == variables_.end()) {
        return std::nullopt;
    }
    return variable(found->second.module, found->second.name);
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> Device::variable(LoadedModule* module,
                                                                        const std::string& name) {
    (void)module->code(chip_.architecture, memory_);
    machine::LoadedCode& loaded = module->loaded();
    for (const machine::Variable& variable : loaded.code->module.variables) {
        if (variable.name != name) {
            continue;
        }
        if (variable.constant) {
            std::vector<std::byte>& bank = loaded.constant_banks.at(3);
            bank.resize(std::max<std::size_t>(bank.size(), variable.offset + variable.bytes));
            return std::pair(reinterpret_cast<std::uint64_t>(bank.data() + variable.offset), variable.bytes);
        }
        return std::pair(loaded.variables.at(variable.name), variable.bytes);
    }
    return std::nullopt;
}

int Device::resident_ctas(const machine::Function& function, int threads, std::size_t dynamic_shared) const {
    return machine::resident_ctas(function, static_cast<std::uint32_t>(std::max(threads, 0)),
                                  static_cast<std::int64_t>(dynamic_shared), chip_.limits);
}

Status Device::copy(void* to, const void* from, std::size_t bytes, const char* link) {
    if (bytes == 0) {
        return Status::success;
    }
    const bool to_device = on_device(reinterpret_cast<std::uint64_t>(to));
    const bool from_device = on_device(reinterpret_cast<std::uint64_t>(from));
    std::memmove(to, from, bytes);
    if (link == nullptr) {
        link = to_device && from_device ? "device" : to_device ? "host_to_device" : "device_to_host";
    }
    records_.memory("memcpy", link, bytes);
    return Status::success;
}

Status Device::set(void* to, int value, std::size_t bytes) {
    const machine::Allocation* holder = memory_.find(reinterpret_cast<std::uint64_t>(to));
    if (holder == nullptr || reinterpret_cast<std::uint64_t>(to) + bytes > holder->address + holder->bytes) {
        return Status::invalid_value;
    }
    std::memset(to, value, bytes);
    records_.memory("memset", "device", bytes);
    return Status::success;
}

Device& device() {
    static auto* const only = [] {
        try {
            return new Device;  // Lives until the process ends: programs free memory in their last
                                // destructors.
        } catch (const Error& error) {
            std::fprintf(stderr, "warptime: %s\n", error.what());
            std::_Exit(1);
        }
    }();
    return *only;
}

std::recursive_mutex& device_guard() {
    static auto* const only = new std::recursive_mutex;
    return *only;
}

}  // namespace warptime::standin
