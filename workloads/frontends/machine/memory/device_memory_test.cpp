// Tests of the device's memory: properties against a model map, reused holes, and what happens when it is
// full.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t apart = 512;

/// The bytes at a device address, which is an address of this process.
std::span<unsigned char> at(std::uint64_t address, std::uint64_t bytes) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the memory documents.
    return {reinterpret_cast<unsigned char*>(address), bytes};
}

bool all_are(std::uint64_t address, std::uint64_t bytes, unsigned char value) {
    return std::ranges::all_of(at(address, bytes), [value](unsigned char byte) { return byte == value; });
}

/// Live allocations by address.
using Model = std::map<std::uint64_t, std::uint64_t>;

std::uint64_t distance(std::uint64_t address, std::uint64_t begin, std::uint64_t bytes) {
    return address < begin ? begin - address : address < begin + bytes ? 0 : address - (begin + bytes);
}

TEST_CASE("an allocation is aligned, zero, known and writable to its last byte") {
    DeviceMemory memory(kib * kib);
    CHECK(memory.capacity() >= kib * kib);
    CHECK(memory.used() == 0);
    for (const std::uint64_t alignment : {std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{512},
                                          std::uint64_t{4096}, std::uint64_t{65536}}) {
        CAPTURE(alignment);
        const auto address = memory.allocate(1000, alignment);
        REQUIRE(address);
        CHECK(*address % std::max<std::uint64_t>(alignment, 1) == 0);
        CHECK(all_are(*address, 1000, 0));
        std::ranges::fill(at(*address, 1000), std::uint8_t{0xff});
        REQUIRE(memory.find(*address) != nullptr);
        CHECK(memory.find(*address)->address == *address);
        CHECK(memory.find(*address)->bytes == 1000);
    }
    CHECK(memory.used() == 5000);
    CHECK(memory.allocations().size() == 5);
    CHECK(*memory.allocate(1) % 512 == 0);
}

TEST_CASE("the same requests get the same addresses in a new memory") {
    std::vector<std::uint64_t> first;
    for (int round = 0; round < 2; ++round) {
        DeviceMemory memory(kib * kib);
        std::vector<std::uint64_t> addresses;
        for (const std::uint64_t bytes : {100U, 5000U, 1U, 70000U}) {
            addresses.push_back(memory.allocate(bytes).value());
        }
        CHECK(memory.free(addresses[1]));
        addresses.push_back(memory.allocate(3000).value());
        if (round == 0) {
            first = addresses;
        }
        CHECK(addresses == first);
    }
}

TEST_CASE("two memories of one process share no address") {
    DeviceMemory one(64 * kib);
    DeviceMemory other(64 * kib);
    const std::uint64_t first = one.allocate(4096).value();
    const std::uint64_t second = other.allocate(4096).value();
    CHECK(distance(first, second, 4096) + distance(second, first, 4096) > 0);
    std::ranges::fill(at(first, 4096), std::uint8_t{1});
    CHECK(all_are(second, 4096, 0));
    CHECK(one.find(second) == nullptr);
    CHECK_FALSE(one.free(second));
}

TEST_CASE("address space that the system does not have is refused") {
    for (const std::uint64_t bytes : {std::uint64_t{1} << 62U, std::uint64_t{1} << 57U}) {
        try {
            const DeviceMemory memory(bytes);
            FAIL("no Error");
        } catch (const Error& error) {
            const std::string what = error.what();
            CHECK(what.find("device memory: got '" + std::to_string(bytes) + "'") != std::string::npos);
            CHECK(what.find("address space") != std::string::npos);
        }
    }
}

TEST_CASE("a full memory gives nothing, and gives again what was freed") {
    DeviceMemory memory(64 * kib);
    CHECK_FALSE(memory.allocate(64 * kib + 1));
    CHECK_FALSE(memory.allocate(std::numeric_limits<std::uint64_t>::max()));
    CHECK_FALSE(memory.allocate(std::numeric_limits<std::uint64_t>::max() - 511));
    CHECK(memory.used() == 0);
    std::vector<std::uint64_t> addresses;
    while (const auto address = memory.allocate(3000)) {
        addresses.push_back(*address);
    }
    CHECK(addresses.size() >= 64 * kib / (3072 + 2 * apart));
    CHECK(addresses.size() <= 64 * kib / 3000);
    CHECK(memory.used() == 3000 * addresses.size());
    CHECK_FALSE(memory.allocate(3000));
    CHECK(memory.free(addresses[3]));
    CHECK(memory.allocate(3000) == addresses[3]);
    CHECK_FALSE(memory.allocate(3000));
}

TEST_CASE("holes side by side become one, in whatever order they come") {
    CHECK(rc::check("order", [] {
        DeviceMemory memory(64 * kib);
        const auto whole = memory.allocate(60 * kib);
        RC_ASSERT(whole);
        RC_ASSERT(memory.free(*whole));
        std::vector<std::uint64_t> addresses;
        const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 9000);
        while (const auto address = memory.allocate(bytes)) {
            addresses.push_back(*address);
        }
        while (!addresses.empty()) {
            const auto i = *rc::gen::inRange<std::size_t>(0, addresses.size());
            RC_ASSERT(memory.free(addresses[i]));
            addresses.erase(addresses.begin() + static_cast<std::ptrdiff_t>(i));
        }
        RC_ASSERT(memory.used() == 0U);
        RC_ASSERT(memory.allocations().empty());
        RC_ASSERT(memory.allocate(60 * kib) == whole);
    }));
}

TEST_CASE("memory that is used again is zero, at any size and place in its pages") {
    CHECK(rc::check("zero", [] {
        DeviceMemory memory(kib * kib);
        const auto before = *rc::gen::inRange<std::uint64_t>(1, 5000);
        const auto bytes = *rc::gen::oneOf(
            rc::gen::inRange<std::uint64_t>(1, 600), rc::gen::inRange<std::uint64_t>(3000, 20000),
            rc::gen::element<std::uint64_t>(511, 512, 513, 3584, 4095, 4096, 4097, 7680, 8192, 12288));
        const std::uint64_t left = memory.allocate(before).value();
        const std::uint64_t middle = memory.allocate(bytes).value();
        const std::uint64_t right = memory.allocate(before).value();
        std::ranges::fill(at(left, before), std::uint8_t{1});
        std::ranges::fill(at(middle, bytes), std::uint8_t{2});
        std::ranges::fill(at(right, before), std::uint8_t{3});
        RC_ASSERT(memory.free(middle));
        RC_ASSERT(memory.allocate(bytes) == middle);
        RC_ASSERT(all_are(middle, bytes, 0));
        RC_ASSERT(all_are(left, before, 1));
        RC_ASSERT(all_are(right, before, 3));
    }));
}

TEST_CASE("only the start of an allocation can be freed, and once") {
    DeviceMemory memory(64 * kib);
    const std::uint64_t address = memory.allocate(1000).value();
    CHECK_FALSE(memory.free(0));
    CHECK_FALSE(memory.free(address + 1));
    CHECK_FALSE(memory.free(address - 1));
    CHECK_FALSE(memory.free(address + 512));
    CHECK(memory.used() == 1000);
    CHECK(memory.free(address));
    CHECK_FALSE(memory.free(address));
    CHECK(memory.used() == 0);
}

TEST_CASE("host memory is known until it is removed, and cannot be freed") {
    DeviceMemory memory(64 * kib);
    std::vector<unsigned char> host(100, 7);
    const auto address = reinterpret_cast<std::uint64_t>(host.data());
    memory.add_host(address, host.size());
    REQUIRE(memory.find(address + 99) != nullptr);
    CHECK(memory.find(address + 99)->address == address);
    CHECK(memory.find(address + 100) == nullptr);
    CHECK(memory.used() == 0);
    CHECK_FALSE(memory.free(address));
    CHECK(memory.find(address) != nullptr);
    CHECK(std::ranges::count(host, 7) == 100);
    memory.remove_host(address);
    CHECK(memory.find(address) == nullptr);
    memory.remove_host(address);

    const std::uint64_t device = memory.allocate(10).value();
    memory.remove_host(device);
    CHECK(memory.find(device) != nullptr);
    CHECK(memory.free(device));
}

TEST_CASE("the nearest of no allocations, of one, and of two") {
    DeviceMemory memory(64 * kib);
    CHECK(memory.nearest(12345) == nullptr);
    const std::uint64_t first = memory.allocate(100).value();
    CHECK(memory.nearest(0)->address == first);
    CHECK(memory.nearest(first + 100)->address == first);
    CHECK(memory.nearest(std::numeric_limits<std::uint64_t>::max())->address == first);
    const std::uint64_t second = memory.allocate(100).value();
    REQUIRE(second > first + 100);
    CHECK(memory.nearest(first + 101)->address == first);
    CHECK(memory.nearest(second - 1)->address == second);
}

/// Checks the memory against the model, and that the bytes of every allocation hold its tag.
void check_against(const DeviceMemory& memory, const Model& model, std::uint64_t arena,
                   const std::map<std::uint64_t, unsigned char>& tags) {
    std::uint64_t used = 0;
    std::uint64_t free_from = arena;
    for (const auto& [address, bytes] : model) {
        RC_ASSERT(address >= free_from);
        RC_ASSERT(address + bytes <= arena + memory.capacity());
        RC_ASSERT(all_are(address, bytes, tags.at(address)));
        free_from = address + bytes + apart;
        used += bytes;
    }
    RC_ASSERT(memory.used() == used);
    RC_ASSERT(memory.allocations().size() == model.size());
    RC_ASSERT(std::ranges::equal(memory.allocations(), model, [](const auto& has, const auto& expected) {
        return has.first == expected.first && has.second.address == expected.first &&
               has.second.bytes == expected.second;
    }));
}

void check_lookup(const DeviceMemory& memory, const Model& model, std::uint64_t address) {
    const Allocation* const found = memory.find(address);
    const auto holder = std::ranges::find_if(model, [address](const auto& one) {
        return address >= one.first && address < one.first + one.second;
    });
    RC_ASSERT((found != nullptr) == (holder != model.end()));
    if (found != nullptr) {
        RC_ASSERT(found->address == holder->first);
        RC_ASSERT(found->bytes == holder->second);
        return;
    }
    const Allocation* const near = memory.nearest(address);
    RC_ASSERT((near == nullptr) == model.empty());
    for (const auto& [begin, bytes] : model) {
        RC_ASSERT(distance(address, near->address, near->bytes) <= distance(address, begin, bytes));
    }
}

/// True when some gap of the model is so large that no way of laying out can miss the request.
bool has_ample_room(const Model& model, std::uint64_t arena, std::uint64_t capacity, std::uint64_t bytes,
                    std::uint64_t alignment) {
    const std::uint64_t ample = bytes + 4 * apart + std::max(alignment, apart);
    std::uint64_t from = arena;
    for (const auto& [address, own] : model) {
        if (address - from >= ample) {
            return true;
        }
        from = address + own;
    }
    return arena + capacity - from >= ample;
}

TEST_CASE("any sequence of requests keeps to the model") {
    CHECK(rc::check("model", [] {
        DeviceMemory memory(*rc::gen::inRange<std::uint64_t>(16, 129) * kib);
        const std::uint64_t arena = memory.allocate(1).value();  // first of a new memory: its first byte
        RC_ASSERT(memory.free(arena));
        Model model;
        std::map<std::uint64_t, unsigned char> tags;
        const int steps = *rc::gen::inRange(1, 40);
        for (int step = 0; step < steps; ++step) {
            if (*rc::gen::inRange(0, 3) != 0) {
                const auto bytes = *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(1, 2000),
                                                   rc::gen::inRange<std::uint64_t>(1, 30000));
                const auto alignment = *rc::gen::element<std::uint64_t>(1, 16, 512, 1024, 4096, 8192);
                const bool ample = has_ample_room(model, arena, memory.capacity(), bytes, alignment);
                const auto address = memory.allocate(bytes, alignment);
                RC_ASSERT(address || !ample);
                if (address) {
                    RC_ASSERT(*address % alignment == 0U);
                    RC_ASSERT(*address % apart == 0U);
                    RC_ASSERT(all_are(*address, bytes, 0));
                    const auto tag = static_cast<unsigned char>(1 + step);
                    std::ranges::fill(at(*address, bytes), tag);
                    RC_ASSERT(model.emplace(*address, bytes).second);
                    tags[*address] = tag;
                }
            } else if (!model.empty()) {
                const auto i = *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(model));
                const auto one = std::next(model.begin(), i);
                RC_ASSERT_FALSE(memory.free(one->first + 1));
                RC_ASSERT(memory.free(one->first));
                tags.erase(one->first);
                model.erase(one);
            }
            check_against(memory, model, arena, tags);
            check_lookup(memory, model, arena + *rc::gen::inRange<std::uint64_t>(0, memory.capacity()));
        }
        for (const auto& [address, bytes] : model) {
            check_lookup(memory, model, address);
            check_lookup(memory, model, address + bytes - 1);
            check_lookup(memory, model, address + bytes);
            check_lookup(memory, model, address - 1);
        }
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
