// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/lower.hpp"

#include "hw/error.hpp"
#include "workloads/choice/convolution_choice.hpp"
#include "workloads/convolution/operator.hpp"
#include "workloads/convolution/request.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/gemm/request.hpp"
#include "workloads/registry/registry.hpp"

#include <array>

namespace warptime::workloads::choice {

namespace {

using Chooser = std::unique_ptr<Request> (*)(const Request&, const libraries::Libraries&, const hw::Gpu&,
                                             const Score&, model::kernel::Program&);

std::unique_ptr<Request> choose_gemm(const Request& open, const libraries::Libraries& libraries,
                                     const hw::Gpu& gpu, const Score& score,
                                     model::kernel::Program& program) {
    const gemm::Problem& problem = static_cast<const gemm::GemmRequest&>(open).problem;
    return std::make_unique<gemm::GemmRequest>(problem,
                                               choose_vendor_kernel(problem, libraries, gpu, score, program));
}

std::unique_ptr<Request> choose_conv2d(const Request& open, const libraries::Libraries& libraries,
                                       const hw::Gpu& gpu, const Score& score,
                                       model::kernel::Program& program) {
    const auto& problem = static_cast<const convolution::ConvolutionRequest&>(open).problem;
    return std::make_unique<convolution::ConvolutionRequest>(
        problem, choose_convolution(problem, libraries, gpu, score, program));
}

/// The chooser of each operator that has one.
struct Choice {
    const OperatorInfo& (*info)();
    Chooser choose;
};
constexpr std::array<Choice, 2> choices{
    {{gemm::gemm_operator, choose_gemm}, {convolution::conv2d_operator, choose_conv2d}}};

}  // namespace

std::unique_ptr<Request> chosen(const OperatorInfo& info, const Request& open,
                                const libraries::Libraries& libraries, const hw::Gpu& gpu, const Score& score,
                                model::kernel::Program& program) {
    for (const Choice& choice : choices) {
        if (choice.info().name == info.name) return choice.choose(open, libraries, gpu, score, program);
    }
    throw Error("op", std::string(info.name), "an operator whose kernel is given");
}

void lower(const OperatorInfo& info, const Request& request, const libraries::Libraries& libraries,
           const hw::Gpu& gpu, const Score& score, model::kernel::Program& program) {
    request.check(gpu);
    const std::unique_ptr<Request> closed =
        request.is_open() ? chosen(info, request, libraries, gpu, score, program) : nullptr;
    program.clear();
    (closed != nullptr ? *closed : request).lower(libraries, gpu, program);
}

void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu,
           const Score& score, model::kernel::Program& program) {
    const OperatorInfo& info = find_operator(operation.op);
    require_memory(operation, gpu, info.work(operation).memory);
    lower(info, *read_request(info, operation), libraries, gpu, score, program);
}

}  // namespace warptime::workloads::choice
