// The memory of the stand-in device: allocations in an arena of this process, whose addresses are the
// device's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/memory/textures.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace warptime::workloads::frontends::machine {

struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

/// An arena of lazily backed zero pages at a fixed place, so that addresses are the same in every run. A
/// device address is a host address, hence copies and the interpreter read and write it directly.
class DeviceMemory {
  public:
    /// Reserves `capacity` bytes of address space. Throws Error when the system refuses.
    explicit DeviceMemory(std::uint64_t capacity);
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory();

    /// Address of `bytes` new bytes, a multiple of `alignment` (a power of two; cudaMalloc gives 512 and so
    /// does this by default); nullopt when the arena is full. Neighbouring allocations are at least 512 bytes
    /// apart, so that an access just beyond the end is seen.
    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment = 512);
    /// Frees what `allocate` gave; false when the address is not the start of an allocation. Its pages are
    /// zero when reused.
    bool free(std::uint64_t address);

    /// Makes host memory (pinned, registered) known, so that kernels may use it.
    void add_host(std::uint64_t address, std::uint64_t bytes);
    void remove_host(std::uint64_t address);

    /// The allocation that holds the address, or null.
    [[nodiscard]] const Allocation* find(std::uint64_t address) const;
    /// The allocation nearest below or above the address, for messages.
    [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;

    /// The texture and surface objects that read it.
    [[nodiscard]] TextureTable& textures() { return textures_; }
    [[nodiscard]] const TextureTable& textures() const { return textures_; }

    [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
    [[nodiscard]] std::uint64_t used() const { return used_; }
    [[nodiscard]] const std::map<std::uint64_t, Allocation>& allocations() const { return allocations_; }

  private:
    void begin_at(std::uint64_t base);

    std::uint64_t base_ = 0, capacity_ = 0, used_ = 0;
    std::map<std::uint64_t, Allocation> allocations_;  ///< by address
    std::map<std::uint64_t, std::uint64_t> holes_;     ///< free ranges: address and bytes
    TextureTable textures_;
};

}  // namespace warptime::workloads::frontends::machine
