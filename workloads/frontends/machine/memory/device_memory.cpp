// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <array>
#include <sys/mman.h>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t gap = 512;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

// NOLINTBEGIN(performance-no-int-to-ptr): the arena's addresses are this process's.
void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}
// NOLINTEND(performance-no-int-to-ptr)

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity) : capacity_(rounded_up(capacity, page)) {
    constexpr std::array<std::uint64_t, 4> places{0x2000'0000'0000ULL, 0x3000'0000'0000ULL,
                                                  0x1000'0000'0000ULL, 0x4000'0000'0000ULL};
    for (const std::uint64_t place : places) {
        void* const got = mmap(pointer(place), capacity_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == pointer(place)) {
            begin_at(place);
            return;
        }
        if (got != MAP_FAILED) {
            munmap(got, capacity_);
        }
    }
    // Several memories of one process lie where there is room.
    void* const got =
        mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got != MAP_FAILED) {
        begin_at(reinterpret_cast<std::uint64_t>(got));
        return;
    }
    throw Error("device memory", std::to_string(capacity), "bytes of address space that the system grants");
}

void DeviceMemory::begin_at(std::uint64_t base) {
    base_ = base;
    holes_[base_] = capacity_;
    // Buffers are mostly filled whole, which takes a third of the time where pages are large. A system
    // without large pages goes on with small ones.
    (void)madvise(pointer(base_), capacity_, MADV_HUGEPAGE);
}

DeviceMemory::~DeviceMemory() {
    if (base_ != 0) {
        munmap(pointer(base_), capacity_);
    }
}

std::optional<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t wanted = std::max<std::uint64_t>(bytes, 1);
    const std::uint64_t step = std::max<std::uint64_t>(alignment, gap);
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
        const std::uint64_t address = rounded_up(hole->first, step);
        const std::uint64_t end = hole->first + hole->second;
        const std::uint64_t taken = rounded_up(wanted, gap) + gap;
        if (wanted > capacity_ || address + taken > end) {
            continue;
        }
        const std::uint64_t first = hole->first;
        holes_.erase(hole);
        if (address > first) {
            holes_[first] = address - first;
        }
        if (address + taken < end) {
            holes_[address + taken] = end - (address + taken);
        }
        allocations_[address] = {address, wanted};
        used_ += wanted;
        return address;
    }
    return std::nullopt;
}

bool DeviceMemory::free(std::uint64_t address) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || address < base_ || address >= base_ + capacity_) {
        return false;
    }
    const std::uint64_t taken = rounded_up(found->second.bytes, gap) + gap;
    used_ -= found->second.bytes;
    allocations_.erase(found);
    // Whole pages go back to the system; the rest is cleared, so that new memory is zero.
    const std::uint64_t first_page = rounded_up(address, page);
    const std::uint64_t last_page = (address + taken) / page * page;
    if (last_page > first_page) {
        madvise(pointer(first_page), last_page - first_page, MADV_DONTNEED);
    }
    const auto clear = [](std::uint64_t from, std::uint64_t to) {
        std::fill(static_cast<unsigned char*>(pointer(from)), static_cast<unsigned char*>(pointer(to)),
                  std::uint8_t{0});
    };
    clear(address, std::min(first_page, address + taken));
    if (last_page >= first_page) {
        clear(last_page, address + taken);
    }
    std::uint64_t begin = address;
    std::uint64_t size = taken;
    const auto after = holes_.find(begin + size);
    if (after != holes_.end()) {
        size += after->second;
        holes_.erase(after);
    }
    const auto next = holes_.lower_bound(begin);
    if (next != holes_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == begin) {
            begin = before->first;
            size += before->second;
            holes_.erase(before);
        }
    }
    holes_[begin] = size;
    return true;
}

void DeviceMemory::add_host(std::uint64_t address, std::uint64_t bytes) {
    allocations_[address] = {address, bytes};
}

void DeviceMemory::remove_host(std::uint64_t address) {
    if (address < base_ || address >= base_ + capacity_) {
        allocations_.erase(address);
    }
}

const Allocation* DeviceMemory::find(std::uint64_t address) const {
    const auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) {
        return nullptr;
    }
    const Allocation& before = std::prev(after)->second;
    return address - before.address < before.bytes ? &before : nullptr;
}

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
    if (allocations_.empty()) {
        return nullptr;
    }
    const auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) {
        return &after->second;
    }
    const Allocation& before = std::prev(after)->second;
    const std::uint64_t end = before.address + before.bytes;
    if (after == allocations_.end() || address < end || address - end <= after->second.address - address) {
        return &before;
    }
    return &after->second;
}

}  // namespace warptime::workloads::frontends::machine
