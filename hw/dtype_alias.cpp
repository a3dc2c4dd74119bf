// Names that other software gives the element types. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dtype_alias.hpp"

#include "hw/nearest_name.hpp"

#include <algorithm>
#include <array>

namespace warptime::hw {
namespace {

struct Alias {
    std::string_view alias;
    std::string_view name;
};

/// Plain "float" is left out: it has 32 bits in CUDA and 64 in Python.
constexpr auto aliases = std::to_array<Alias>({
    {"bfloat16", "bf16"},   {"float16", "fp16"},      {"half", "fp16"},       {"f16", "fp16"},
    {"tfloat32", "tf32"},   {"float32", "fp32"},      {"f32", "fp32"},        {"float64", "fp64"},
    {"double", "fp64"},     {"f64", "fp64"},          {"float8", "fp8"},      {"e4m3", "fp8"},
    {"e4m3fn", "fp8"},      {"e5m2", "fp8"},          {"fp8_e4m3", "fp8"},    {"fp8_e5m2", "fp8"},
    {"float8_e4m3", "fp8"}, {"float8_e4m3fn", "fp8"}, {"float8_e5m2", "fp8"}, {"fp8e4nv", "fp8"},
    {"fp8e5", "fp8"},       {"i8", "int8"},           {"s8", "int8"},         {"i32", "int32"},
    {"s32", "int32"},       {"i64", "int64"},         {"s64", "int64"},       {"fp4", "nvfp4"},
    {"fp6", "mxfp6"},
});

constexpr std::array<std::string_view, 8> modules{"torch",           "np",  "numpy",     "tl",
                                                  "triton.language", "jnp", "jax.numpy", "ml_dtypes"};

}  // namespace

std::string_view without_dtype_alias(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    if (dot != std::string_view::npos && find_name(text.substr(0, dot), modules)) {
        text.remove_prefix(dot + 1);
    }
    const auto found = std::find_if(aliases.begin(), aliases.end(),
                                    [text](const Alias& a) { return same_name(a.alias, text); });
    return found == aliases.end() ? text : found->name;
}

}  // namespace warptime::hw
