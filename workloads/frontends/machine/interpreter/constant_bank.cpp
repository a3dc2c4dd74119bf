// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/constant_bank.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace warptime::workloads::frontends::machine {

namespace {

template <class T>
void put(std::vector<std::byte>& bank, std::size_t offset, T value) {
    if (bank.size() < offset + sizeof value) {
        bank.resize(offset + sizeof value);
    }
    std::memcpy(bank.data() + offset, &value, sizeof value);
}

/// The least float whose product with each multiple of n, cut off, is the quotient.
float reciprocal(std::uint32_t n) {
    const float nearest = 1.0F / static_cast<float>(n);
    return std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

}  // namespace

std::vector<std::byte> launch_constants(const Function& function, const Launch& launch,
                                        std::span<const std::byte> parameters) {
    std::vector<std::byte> bank(std::max<std::size_t>(function.parameter_base + parameters.size(), 0x210));
    const LaunchShape& shape = launch.shape;
    for (std::size_t d = 0; d < 3; ++d) {
        put(bank, 4 * d, shape.block[d]);
        put(bank, 0xc + 4 * d, shape.grid[d]);
    }
    put(bank, 0x20, local_window);
    put(bank, 0x28, static_cast<std::uint32_t>(launch.local_bytes_per_thread));
    put(bank, 0x2c, static_cast<std::uint32_t>(shape.dynamic_shared));
    // The workspace of barriers of the whole grid, upper word first.
    put(bank, 0x44, static_cast<std::uint32_t>(launch.grid_workspace >> 32U));
    put(bank, 0x48, static_cast<std::uint32_t>(launch.grid_workspace));
    if (launch.architecture >= 90) {
        // Generic address of the parameters, which tensor maps among them are reached by.
        put(bank, 0x198, constant_window + 0x210);
        put(bank, 0x10c, static_cast<std::uint32_t>(launch.sm_count));
        put(bank, 0x140, shape.cluster == std::array<std::uint32_t, 3>{1, 1, 1} ? 0U : 1U);
        for (std::size_t d = 0; d < 3; ++d) {
            put(bank, 0x144 + 4 * d, shape.cluster[d]);
            put(bank, 0x150 + 4 * d, reciprocal(shape.cluster[d]));
            put(bank, 0x15c + 4 * d, shape.grid[d] / shape.cluster[d]);
        }
        put(bank, 0x188, shape.cluster[0] * shape.cluster[1] * shape.cluster[2]);
    }
    if (!parameters.empty()) {
        std::memcpy(bank.data() + function.parameter_base, parameters.data(), parameters.size());
    }
    return bank;
}

}  // namespace warptime::workloads::frontends::machine
