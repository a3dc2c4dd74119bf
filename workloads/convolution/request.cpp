// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/request.hpp"

#include "hw/error.hpp"
#include "hw/tensor_rate.hpp"
#include "workloads/convolution/depthwise.hpp"
#include "workloads/convolution/direct.hpp"
#include "workloads/convolution/lower.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace warptime::workloads::convolution {

namespace {

[[noreturn]] void refuse(std::string_view parameter, std::int64_t value, std::string expected) {
    throw Error(fmt::format("conv2d {}", parameter), std::to_string(value), std::move(expected));
}

}  // namespace

bool ConvolutionRequest::is_open() const {
    return !config && !problem.depthwise() && !is_direct(problem);
}

void ConvolutionRequest::check(const hw::Gpu& gpu) const {
    const Problem& p = problem;
    if (p.channels % p.groups != 0)
        refuse("groups", p.groups, fmt::format("a divisor of the {} channels", p.channels));
    if (p.out_channels % p.groups != 0) {
        refuse("groups", p.groups, fmt::format("a divisor of the {} out_channels", p.out_channels));
    }
    if (p.kernel > p.size + 2 * p.padding()) {
        refuse("kernel", p.kernel, fmt::format("at most the padded size, {}", p.size + 2 * p.padding()));
    }
    if (p.plain() && !p.turned() && hw::tensor_rate(p.dtype, gpu).value() == 0.0) {
        throw Error(
            "conv2d dtype", std::string(hw::to_string(p.dtype)),
            fmt::format("a type that the tensor cores of {} have: {}", gpu.id, hw::tensor_dtypes(gpu)));
    }
    const double bytes = p.input_bytes() + p.weight_bytes() + p.output_bytes();
    if (bytes > gpu.dram.capacity.value()) {
        throw Error(
            "conv2d size", fmt::format("{:.3g} GB", bytes / 1e9),
            fmt::format("a problem that fits the {:.0f} GB of {}", gpu.dram.capacity.value() / 1e9, gpu.id));
    }
}

void ConvolutionRequest::lower(const libraries::Libraries& /*libraries*/, const hw::Gpu& gpu,
                               model::kernel::Program& program) const {
    if (problem.depthwise()) {
        // No tensor core takes part, so tf32 is fp32.
        Problem direct = problem;
        if (direct.dtype == hw::Dtype::tf32) direct.dtype = hw::Dtype::fp32;
        lower_depthwise(direct, program.add_kernel());
        return;
    }
    if (is_direct(problem)) {
        lower_direct(problem, program.add_kernel());
        return;
    }
    if (!config) throw Error("conv2d tile", "none", "a tile, which workloads/choice finds for a library");
    lower_convolution(problem, *config, gpu, program);
}

}  // namespace warptime::workloads::convolution
