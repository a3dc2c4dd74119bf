// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/convolution_choice.hpp"

#include "hw/error.hpp"
#include "workloads/convolution/lower.hpp"
#include "workloads/gemm/library_kernel.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace warptime::workloads::choice {

namespace {

/// Several groups make one product where a group has few channels.
bool serves(const libraries::GemmFamily& family, const convolution::Problem& problem, const hw::Gpu& gpu) {
    const std::int64_t channels = problem.channels / problem.groups * convolution::packed_groups(problem);
    return family.runs_on(gpu) && channels >= family.channels_least &&
           std::find(family.dtypes.begin(), family.dtypes.end(), problem.dtype) != family.dtypes.end();
}

}  // namespace

gemm::Config choose_convolution(const convolution::Problem& problem, const libraries::Libraries& libraries,
                                const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory) {
    const gemm::Problem product = convolution::as_product(problem);
    const bool whole = convolution::whole_words(problem.channels, problem.dtype) == problem.channels &&
                       convolution::whole_words(problem.out_channels, problem.dtype) == problem.out_channels;
    gemm::Config best;
    double best_time = std::numeric_limits<double>::infinity();
    model::kernel::Program program;
    const auto consider = [&](const gemm::Config& config) {
        program.clear();
        convolution::lower_convolution(problem, config, gpu, program);
        memory.count_call();
        const double time = score.time({program}, best_time);
        if (time < best_time) {
            best_time = time;
            memory.choose_call(memory.calls() - 1);
            best = config;
        }
    };
    if (problem.plain() && whole && !problem.turned()) {
        // The product's own prediction is not the convolution's, which is asked for last.
        consider(choose_vendor_kernel(product, libraries, gpu, score, memory));
        return best;
    }
    memory.begin_choice();
    for (const libraries::GemmFamily& family : libraries.convolution_families) {
        if (!serves(family, problem, gpu)) continue;
        for (const libraries::Tile& tile : family.tiles) {
            consider(gemm::vendor_config(product, family, tile, family.clusters.front(), gpu));
        }
    }
    if (best_time == std::numeric_limits<double>::infinity()) {
        throw Error("conv2d gpu", gpu.id,
                    "a GPU of compute capability 8.x or 9.x, whose cuDNN kernels are known");
    }
    return best;
}

}  // namespace warptime::workloads::choice
