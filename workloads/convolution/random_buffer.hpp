// A buffer of a convolution in memory: images, filters or results, with random contents.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::workloads::convolution {

[[nodiscard]] inline model::kernel::Id random_buffer(model::kernel::Builder& builder,
                                                     const model::kernel::Name& name, hw::Dtype dtype,
                                                     std::int64_t elements) {
    model::kernel::Buffer buffer;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.extent[0] = std::max<std::int64_t>(1, elements);
    buffer.contents = model::kernel::Contents::random;
    return builder.buffer(buffer);
}

}  // namespace warptime::workloads::convolution
