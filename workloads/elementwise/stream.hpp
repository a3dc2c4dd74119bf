// Kernels that pass once over flat arrays, each thread over a few whole vectors.
// Ignores: the last CTA's way round its missing elements, which takes more instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/body.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace warptime::workloads::elementwise {

namespace mk = model::kernel;

/// One array of a streaming kernel. An array that is read and written is two operands.
struct Operand {
    std::string_view name;
    mk::Dtype dtype = mk::Dtype::fp32;
    mk::Direction direction = mk::Direction::read;
};

/// How a streaming kernel is launched, and what its threads execute.
struct StreamRule {
    std::int64_t threads = 128;
    std::int64_t elements = 8;  ///< of a thread
    std::int64_t vector = 4;    ///< elements of one access; consecutive accesses stand one CTA apart
    std::int64_t registers = 32;
    bool serial = false;  ///< each element is converted before the next one is loaded
    libraries::Mix start;
    libraries::Mix each_load;
    libraries::Mix body;
    libraries::Mix each_store;
};

/// `vector_bytes` is the size of the vectors of an element where the rule gives none.
[[nodiscard]] StreamRule stream_rule(const libraries::KernelRule& rule, std::int64_t element_bytes);

/// The same arithmetic at full width: 16 bytes of the widest operand an access, several accesses in flight.
[[nodiscard]] StreamRule ideal_stream(const libraries::KernelRule& ideal,
                                      const libraries::Mix& body_of_elements, double elements,
                                      std::int64_t element_bytes);

void lower_stream(std::string_view name, std::int64_t n, std::span<const Operand> operands,
                  const StreamRule& rule, mk::Kernel& kernel);

}  // namespace warptime::workloads::elementwise
