// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm_request.hpp"

#include "hw/error.hpp"
#include "workloads/defaults.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/vendor_choice.hpp"
#include "workloads/gemm_from_parameters.hpp"

#include <array>
#include <utility>

namespace warptime::workloads {

namespace {

using gemm::Config;
using gemm::Problem;

template <std::int64_t Problem::*Field>
bool set_size(GemmRequest& request, std::int64_t value) {
    request.problem.*Field = value;
    return true;
}

template <auto Field>
bool set_tile_number(GemmRequest& request, std::int64_t value) {
    if (request.config) {
        using Number = std::remove_reference_t<decltype((*request.config).*Field)>;
        (*request.config).*Field = static_cast<Number>(value);
    }
    return !request.config || value <= most_of_a_tile;
}

bool set_shared_bytes(GemmRequest& request, std::int64_t value) {
    if (request.config) {
        request.config->shared_bytes = value;
    }
    return true;
}

constexpr std::array<std::pair<std::string_view, GemmNumber>, 13> numbers{{
    {"m", set_size<&Problem::m>},
    {"n", set_size<&Problem::n>},
    {"k", set_size<&Problem::k>},
    {"batch", set_size<&Problem::batch>},
    {"lda", set_size<&Problem::lda>},
    {"ldb", set_size<&Problem::ldb>},
    {"ldc", set_size<&Problem::ldc>},
    {"stages", set_tile_number<&Config::stages>},
    {"warps", set_tile_number<&Config::warps>},
    {"group_m", set_tile_number<&Config::group>},
    {"split_k", set_tile_number<&Config::split_k>},
    {"registers", set_tile_number<&Config::registers>},
    {"shared_bytes", set_shared_bytes},
}};

}  // namespace

GemmRequest read_gemm(const Operation& operation) {
    GemmRequest request{read_gemm_problem(operation), std::nullopt, false};
    if (!value_or_default(operation, "cta_tile").empty()) {
        request.config = gemm_config_of(operation, request.problem);
        request.heuristic_raster =
            !request.config->strides_by_16 && value_or_default(operation, "raster").empty();
    }
    return request;
}

GemmNumber find_gemm_number(std::string_view parameter) {
    for (const auto& [name, set] : numbers) {
        if (name == parameter) {
            return set;
        }
    }
    return nullptr;
}

void check_sizes(const GemmRequest& request, const hw::Gpu<double>& gpu) {
    check_gemm_pitches(request.problem);
    if (request.problem.bytes() > gpu.dram.capacity.value()) {
        throw Error("gemm size", "more than the memory of the GPU", "a problem that fits");
    }
}

Config ordered_config(const GemmRequest& request) {
    Config config = *request.config;
    if (request.heuristic_raster) {
        config.raster = gemm::heuristic_raster(request.problem, config);
    }
    return config;
}

void lower_gemm(const GemmRequest& request, const libraries::Libraries& libraries, const hw::Gpu<double>& gpu,
                const Score& score, model::kernel::Program& program) {
    check_sizes(request, gpu);
    program.clear();
    if (!request.config) {
        gemm::choose_vendor_kernel(request.problem, libraries, gpu, score, program);
        return;
    }
    gemm::lower(request.problem, ordered_config(request), gpu, program);
}

}  // namespace warptime::workloads
