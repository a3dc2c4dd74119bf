// The device that programs see under `warptime run`: its memory, modules and launches, behind every face of
// CUDA.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/standin/records.hpp"
#include "hw/gpu.hpp"
#include "workloads/frontends/machine/interpreter/run.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace warptime::standin {

namespace machine = workloads::frontends::machine;

/// A module of the program: a fat binary or an image, read when one of its kernels or variables is first
/// needed.
class LoadedModule {
  public:
    explicit LoadedModule(std::vector<std::byte> image, bool fat) : image_(std::move(image)), fat_(fat) {}
    /// Throws Error when no image of the module suits the device.
    const machine::LoadedCode& code(int architecture, machine::DeviceMemory& memory);
    [[nodiscard]] bool is_loaded() const { return loaded_ != nullptr; }
    [[nodiscard]] machine::LoadedCode& loaded() { return *loaded_; }

  private:
    std::vector<std::byte> image_;
    bool fat_;
    std::unique_ptr<machine::Code> code_;
    std::unique_ptr<machine::LoadedCode> loaded_;
};

struct KernelHandle {
    LoadedModule* module = nullptr;  ///< null once the module is unloaded
    std::string name;
    std::int64_t dynamic_shared_limit = -1;  ///< that the program asked for; negative: the device's default
};

struct VariableHandle {
    LoadedModule* module = nullptr;
    std::string name;
};

struct LaunchRequest {
    const KernelHandle* kernel = nullptr;
    machine::LaunchShape shape;
    void** arguments = nullptr;
};

/// Error codes of the runtime that the stand-in gives.
enum class Status : int {
    success = 0,
    invalid_value = 1,
    memory_allocation = 2,
    invalid_configuration = 9,
    invalid_symbol = 13,
    invalid_filter_setting = 26,
    invalid_device_function = 98,
    no_kernel_image = 209,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_failure = 719,
    not_supported = 801,
    unknown = 999
};

/// An array of texels, which cudaArray_t points at (texture_api.cpp).
struct Image;

class Device {
  public:
    /// The GPU is named by the variable WARPTIME_DEVICE: the id of a sheet or its path, then a line for each
    /// setting. Throws Error when it is none.
    Device();

    /// The sheet of the GPU that the program sees.
    [[nodiscard]] const hw::Gpu& gpu() const { return gpu_; }
    [[nodiscard]] const machine::Chip& chip() const { return chip_; }
    [[nodiscard]] machine::DeviceMemory& memory() { return memory_; }
    [[nodiscard]] Records& records() { return records_; }

    LoadedModule* add_module(std::span<const std::byte> image, bool fat);
    /// Frees the module's variables and code; handles of its kernels must not be used afterwards.
    void remove_module(LoadedModule* module);
    const KernelHandle* add_kernel(const void* host, LoadedModule* module, std::string name);
    void add_variable(const void* host, LoadedModule* module, std::string name);
    [[nodiscard]] const KernelHandle* kernel(const void* host) const;
    /// The runtime makes the primary context current with the first call that needs one.
    void use_runtime() { runtime_in_use_ = true; }
    [[nodiscard]] bool runtime_in_use() const { return runtime_in_use_; }

    Status launch(const LaunchRequest& request);
    /// Address of a variable of the device; constants live in their bank, at host addresses.
    [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> variable(const void* host);
    [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> variable(LoadedModule* module,
                                                                                  const std::string& name);
    [[nodiscard]] const machine::Function* function(const KernelHandle& kernel);

    /// CTAs of so many threads that an SM holds; 0 when it cannot hold one.
    [[nodiscard]] int resident_ctas(const machine::Function& function, int threads,
                                    std::size_t dynamic_shared) const;

    /// Whether the address is of the device's own memory; pinned host memory is not.
    [[nodiscard]] bool on_device(std::uint64_t address) const {
        return address - arena_ < memory_.capacity();
    }
    /// `link` as in Records::memory; null: told from the addresses.
    Status copy(void* to, const void* from, std::size_t bytes, const char* link = nullptr);
    Status set(void* to, int value, std::size_t bytes);

    /// The error that the next call reports.
    Status sticky = Status::success;

    /// Arrays of texels that the program has made and not freed.
    std::set<const Image*> images;

  private:
    [[nodiscard]] bool wanted(const std::string& kernel);

    hw::Gpu gpu_;
    machine::Chip chip_;
    machine::DeviceMemory memory_;
    std::uint64_t arena_ = 0;  ///< first address of memory_
    bool runtime_in_use_ = false;
    Records records_;
    std::uint64_t budget_ = 60'000'000;
    std::uint64_t warp_limit_ = machine::RunOptions{}.warp_limit;
    std::uint32_t last_clock_read_ = 0;
    std::optional<std::regex> filter_;
    std::uint64_t reported_left_ = ~std::uint64_t{0};
    std::vector<std::unique_ptr<LoadedModule>> modules_;
    std::map<const void*, std::unique_ptr<KernelHandle>> kernels_;
    std::map<const void*, VariableHandle> variables_;
};

/// The one device of the process: CUDA's functions have no other place to keep it.
[[nodiscard]] Device& device();
/// Guards the device: programs call from several threads.
[[nodiscard]] std::recursive_mutex& device_guard();

}  // namespace warptime::standin
