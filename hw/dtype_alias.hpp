// Names of the element types in other software: CUDA, NumPy, PyTorch, JAX and Triton.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::hw {

/// The project's name of an element type, for another software's name in any letter case. For example "fp16"
/// for "float16", "half" and "torch.float16". Any other text comes back unchanged, except that a leading
/// module name is removed.
[[nodiscard]] std::string_view without_dtype_alias(std::string_view text);

}  // namespace warptime::hw
