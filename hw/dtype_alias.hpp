// What other software calls the element types: CUDA, NumPy, PyTorch, JAX and Triton.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::hw {

/// The project's name of an element type for one of another software, in any case: "fp16" for "float16",
/// "half" and "torch.float16". Any other text comes back as it is, without the module that it names.
[[nodiscard]] std::string_view without_dtype_alias(std::string_view text);

}  // namespace warptime::hw
