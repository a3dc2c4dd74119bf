// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/lower.hpp"

#include "hw/error.hpp"
#include "workloads/arrays/record.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/gemm/parameters.hpp"
#include "workloads/gemm/request.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>

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

/// torch.mv is cuBLAS's product of one row, the vector, with the matrix transposed.
std::unique_ptr<Request> choose_gemv(const Request& open, const libraries::Libraries& libraries,
                                     const hw::Gpu& gpu, const Score& score,
                                     model::kernel::Program& program) {
    const arrays::Sizes& sizes = static_cast<const arrays::ArrayRequest&>(open).sizes;
    gemm::Problem problem;
    problem.m = 1;
    problem.n = sizes.rows;
    problem.k = sizes.cols;
    problem.a = problem.b = problem.out = sizes.dtype;
    problem.accumulator = sizes.dtype == hw::Dtype::fp64 ? hw::Dtype::fp64 : hw::Dtype::fp32;
    try {
        return choose_gemm(gemm::GemmRequest(problem), libraries, gpu, score, program);
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
constexpr std::array<Choice, 2> choices{{{gemm::operator_name, choose_gemm}, {"gemv", choose_gemv}}};

}  // namespace

std::unique_ptr<Request> chosen(const OperatorInfo& info, const Request& open,
                                const libraries::Libraries& libraries, const hw::Gpu& gpu, const Score& score,
                                model::kernel::Program& program) {
    for (const Choice& choice : choices) {
        if (choice.op == info.name) return choice.choose(open, libraries, gpu, score, program);
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
