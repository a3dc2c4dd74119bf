// Names of the element types. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dtype.hpp"

#include "hw/dtype_alias.hpp"
#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <array>
#include <string>

namespace warptime::hw {
namespace {

constexpr std::array<std::string_view, 13> dtype_names{
    "bf16", "fp16", "tf32", "fp32", "fp8", "int8", "fp64", "int32", "int64", "b1", "mxfp8", "mxfp6", "fp4x2"};

}  // namespace

std::string_view to_string(Dtype dtype) {
    return dtype_names[static_cast<std::size_t>(dtype)];
}

Dtype parse_dtype(std::string_view text, std::string_view parameter) {
    auto index = find_name(text, dtype_names);
    if (!index) {
        index = find_name(without_dtype_alias(text), dtype_names);
    }
    if (index) {
        return static_cast<Dtype>(*index);
    }
    throw Error(std::string(parameter), std::string(text), expected_names(text, dtype_names));
}

}  // namespace warptime::hw
