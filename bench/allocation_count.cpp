// Global operator new and delete that count their calls.
// SPDX-License-Identifier: Apache-2.0
#include "bench/allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) {
        return memory;
    }
    throw std::bad_alloc();
}

void* counted(std::size_t bytes, std::align_val_t alignment) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    const auto unit = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
        return memory;
    }
    throw std::bad_alloc();
}

}  // namespace

std::size_t warptime::bench::allocation_count() noexcept {
    return allocations.load(std::memory_order_relaxed);
}

// The array, sized and non-throwing forms of the standard library call these forms.
void* operator new(std::size_t bytes) {
    return counted(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted(bytes, alignment);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
