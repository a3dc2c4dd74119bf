// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/operator.hpp"

#include "workloads/convolution/request.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace warptime::workloads::convolution {

namespace {

using Kind = ParameterKind;

constexpr std::array<std::string_view, 4> dtypes{"bf16", "fp16", "tf32", "fp32"};
constexpr std::array<std::string_view, 2> paddings{"same", "none"};

constexpr std::array<ParameterInfo, 9> parameters{{
    required_size("batch", "images"),
    required_size("channels", "channels of an input pixel"),
    required_size("out_channels", "channels of an output pixel"),
    required_size("size", "pixels of a side of the square images"),
    required_size("kernel", "taps of a side of the square filter"),
    {"stride", Kind::size, false, "1", {}, "input pixels from one output pixel to the next", true},
    {"padding", Kind::choice, false, "same", paddings, "same: kernel / 2 on each side; none, as of patches",
     true},
    {"groups", Kind::size, false, "1", {}, "groups of channels; as many as channels: depthwise", true},
    {"dtype", Kind::dtype, false, "bf16", dtypes,
     "element type; tf32: fp32 as PyTorch multiplies it by default; fp32: with "
     "torch.backends.cudnn.allow_tf32 off",
     true},
}};

Problem problem_of(const Operation& operation) {
    const auto value = [&](std::string_view name) {
        const auto given = operation.parameters.find(name);
        return given != operation.parameters.end() ? given->second
                                                   : default_value_of(operation, name, parameters, nullptr);
    };
    const auto size = [&](std::string_view name) {
        return parse_size(value(name), fmt::format("conv2d {}", name));
    };
    Problem p;
    p.batch = size("batch");
    p.channels = size("channels");
    p.out_channels = size("out_channels");
    p.size = size("size");
    p.kernel = size("kernel");
    p.stride = size("stride");
    p.groups = size("groups");
    p.padded = value("padding") == paddings.front();
    p.dtype = hw::parse_dtype(value("dtype"), "conv2d dtype");
    return p;
}

std::unique_ptr<Request> read(const Operation& operation) {
    return std::make_unique<ConvolutionRequest>(problem_of(operation));
}

UsefulWork work_of(const Operation& operation) {
    const Problem p = problem_of(operation);
    const double bytes = p.input_bytes() + p.weight_bytes() + p.output_bytes();
    return {p.flop(), bytes, bytes};
}

DataCount data_of(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu) {
    const Problem p = problem_of(operation);
    DataCount count;
    if (p.depthwise()) return count;
    for (const libraries::GemmFamily& family :
         p.plain() && !p.turned() ? libraries.gemm_families : libraries.convolution_families) {
        if (family.runs_on(gpu)) count.library += family.numbers;
    }
    return count;
}

template <std::int64_t Problem::*Field>
bool set_size(Request& request, std::int64_t value) {
    static_cast<ConvolutionRequest&>(request).problem.*Field = value;
    return true;
}

SetNumber find_number(std::string_view parameter) {
    constexpr std::array<NamedSetNumber, 7> numbers{{
        {"batch", set_size<&Problem::batch>},
        {"channels", set_size<&Problem::channels>},
        {"out_channels", set_size<&Problem::out_channels>},
        {"size", set_size<&Problem::size>},
        {"kernel", set_size<&Problem::kernel>},
        {"stride", set_size<&Problem::stride>},
        {"groups", set_size<&Problem::groups>},
    }};
    return number_named(parameter, numbers);
}

}  // namespace

const OperatorInfo& conv2d_operator() {
    static const OperatorInfo info{"conv2d",
                                   "convolution of square images with channels last",
                                   "warptime predict conv2d 32 256 256 56 3 --gpu h200-sxm",
                                   parameters,
                                   nullptr,
                                   nullptr,
                                   work_of,
                                   data_of,
                                   read,
                                   find_number,
                                   nullptr,
                                   false};
    return info;
}

}  // namespace warptime::workloads::convolution
