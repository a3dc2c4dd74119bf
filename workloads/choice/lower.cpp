// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/lower.hpp"

#include "hw/error.hpp"
#include "workloads/arrays/record.hpp"
#include "workloads/choice/convolution_choice.hpp"
#include "workloads/convolution/request.hpp"
#include "workloads/gemm/parameters.hpp"
#include "workloads/gemm/request.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace warptime::workloads::choice {

namespace {

using Chooser = std::unique_ptr<Request> (*)(const Request&, const libraries::Libraries&, const hw::Gpu&,
                                             const Score&, ChoiceMemory&);

std::unique_ptr<Request> choose_gemm(const Request& open, const libraries::Libraries& libraries,
                                     const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory) {
    const gemm::Problem& problem = static_cast<const gemm::GemmRequest&>(open).problem;
    return std::make_unique<gemm::GemmRequest>(problem,
                                               choose_vendor_kernel(problem, libraries, gpu, score, memory));
}

std::unique_ptr<Request> choose_conv2d(const Request& open, const libraries::Libraries& libraries,
                                       const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory) {
    const auto& problem = static_cast<const convolution::ConvolutionRequest&>(open).problem;
    return std::make_unique<convolution::ConvolutionRequest>(
        problem, choose_convolution(problem, libraries, gpu, score, memory));
}

/// torch.mv is cuBLAS's product of one row, the vector, with the matrix transposed.
std::unique_ptr<Request> choose_gemv(const Request& open, const libraries::Libraries& libraries,
                                     const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory) {
    const arrays::Sizes& sizes = static_cast<const arrays::ArrayRequest&>(open).sizes;
    gemm::Problem problem;
    problem.m = 1;
    problem.n = sizes.rows;
    problem.k = sizes.cols;
    problem.a = problem.b = problem.out = sizes.dtype;
    problem.accumulator = sizes.dtype == hw::Dtype::fp64 ? hw::Dtype::fp64 : hw::Dtype::fp32;
    try {
        return choose_gemm(gemm::GemmRequest(problem), libraries, gpu, score, memory);
    } catch (const Error&) {
        throw Error("gemv rows x cols", fmt::format("{} x {}", sizes.rows, sizes.cols),
                    fmt::format("sizes for which a kernel of cuBLAS is known on {}, or implementation ideal",
                                gpu.id));
    }
}

/// The chooser of each operator that has one.
struct Choice {
    std::string_view op;
    Chooser choose;
};
constexpr std::array<Choice, 3> choices{
    {{gemm::operator_name, choose_gemm}, {"conv2d", choose_conv2d}, {"gemv", choose_gemv}}};

/// The numbers of a memory that ends mean nothing to the score's next call.
Score without_bodies(const Score& score) {
    return [&score](const model::kernel::Program& candidate, double limit) {
        return score.time({candidate}, limit);
    };
}

}  // namespace

std::unique_ptr<Request> chosen(const OperatorInfo& info, const Request& open,
                                const libraries::Libraries& libraries, const hw::Gpu& gpu, const Score& score,
                                ChoiceMemory& memory) {
    for (const Choice& choice : choices) {
        if (choice.op == info.name) return choice.choose(open, libraries, gpu, score, memory);
    }
    throw Error("op", std::string(info.name), "an operator whose kernel is given");
}

void lower_chosen(const OperatorInfo& info, const Request& closed, const libraries::Libraries& libraries,
                  const hw::Gpu& gpu, model::kernel::Program& program) {
    program.clear();
    closed.lower(libraries, gpu, program);
    if (info.name != gemm::operator_name) return;
    const gemm::Problem& problem = static_cast<const gemm::GemmRequest&>(closed).problem;
    std::string caution = caution_of_choice(problem, libraries.gemm_families, gpu);
    if (!caution.empty()) program.warnings.push_back(std::move(caution));
}

void lower(const OperatorInfo& info, const Request& request, const libraries::Libraries& libraries,
           const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory, model::kernel::Program& program) {
    request.check(gpu);
    if (request.is_open()) {
        lower_chosen(info, *chosen(info, request, libraries, gpu, score, memory), libraries, gpu, program);
        return;
    }
    program.clear();
    request.lower(libraries, gpu, program);
}

void lower(const OperatorInfo& info, const Request& request, const libraries::Libraries& libraries,
           const hw::Gpu& gpu, const Score& score, model::kernel::Program& program) {
    ChoiceMemory memory(gpu);
    lower(info, request, libraries, gpu, without_bodies(score), memory, program);
}

void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu,
           const Score& score, ChoiceMemory& memory, model::kernel::Program& program) {
    const OperatorInfo& info = find_operator(operation.op);
    require_memory(operation, gpu, info.work(operation).memory);
    lower(info, *read_request(info, operation), libraries, gpu, score, memory, program);
}

void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu,
           const Score& score, model::kernel::Program& program) {
    ChoiceMemory memory(gpu);
    lower(operation, libraries, gpu, without_bodies(score), memory, program);
}

}  // namespace warptime::workloads::choice
