// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/library_kernel.hpp"

#include "hw/error.hpp"
#include "model/system/program.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/gemm/request.hpp"
#include "workloads/registry/registry.hpp"

namespace warptime::workloads::choice::tiles {

namespace {

/// Keeps only the parameters that name the problem.
Operation problem_of(const Operation& operation) {
    Operation problem{operation.op, {}};
    for (const auto& [name, value] : operation.parameters) {
        if (find_parameter(find_operator(operation.op), name)->part_of_key) {
            problem.parameters.emplace(name, value);
        }
    }
    return problem;
}

}  // namespace

std::optional<LibraryKernel> library_kernel(const Operation& operation,
                                            const model::prediction::Engine& engine,
                                            const model::prediction::Engine& chooser, const hw::Gpu& gpu,
                                            const model::prediction::Conditions& conditions) {
    const OperatorInfo& info = find_operator(operation.op);
    const Operation problem = problem_of(operation);
    const libraries::Libraries libraries = libraries::load_libraries();
    const auto stages = chooser.make_stages(gpu);
    const Score score = [&](const model::kernel::Program& candidate, double) {
        return model::system::evaluate(candidate, *stages, conditions).time;
    };
    ChoiceMemory memory(gpu);
    model::kernel::Program program;
    try {
        const std::unique_ptr<Request> open = info.read(problem);
        open->check(gpu);
        const std::unique_ptr<Request> closed = chosen(info, *open, libraries, gpu, score, memory);
        program.clear();
        closed->lower(libraries, gpu, program);
        LibraryKernel kernel;
        kernel.candidate.implementation = Implementation::cublas;
        kernel.candidate.config = static_cast<const gemm::GemmRequest&>(*closed).config.value();
        kernel.time = model::system::evaluate(program, *engine.make_stages(gpu), conditions).time;
        return kernel;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace warptime::workloads::choice::tiles
