// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/candidate.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/gemm/from_parameters.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

namespace warptime::workloads::choice::tiles {

namespace {

namespace mk = model::kernel;

struct TritonName {
    std::string_view triton;
    std::string_view gemm;  ///< "M", "N", "K": a side of cta_tile; empty: the value must be 1
};
constexpr std::array<TritonName, 12> triton_names{{{"BLOCK_M", "M"},
                                                   {"BLOCK_N", "N"},
                                                   {"BLOCK_K", "K"},
                                                   {"BLOCK_SIZE_M", "M"},
                                                   {"BLOCK_SIZE_N", "N"},
                                                   {"BLOCK_SIZE_K", "K"},
                                                   {"GROUP_M", "group_m"},
                                                   {"GROUP_SIZE_M", "group_m"},
                                                   {"SPLIT_K", "split_k"},
                                                   {"num_warps", "warps"},
                                                   {"num_stages", "stages"},
                                                   {"num_ctas", ""}}};

const TritonName* find_triton_name(std::string_view name) {
    for (const TritonName& known : triton_names) {
        if (hw::same_name(known.triton, name)) {
            return &known;
        }
    }
    return nullptr;
}

[[noreturn]] void refuse_name(const OperatorInfo& info, std::string_view name) {
    std::vector<std::string_view> names;
    for (const ParameterInfo& parameter : info.parameters) {
        if (!parameter.part_of_key) {
            names.push_back(parameter.name);
        }
    }
    for (const TritonName& known : triton_names) {
        names.push_back(known.triton);
    }
    throw Error("tile parameter", std::string(name), hw::expected_names(name, names));
}

/// Adds one parameter of a candidate to `merged`; sides of the tile go to `tile`.
void take(const OperatorInfo& info, const std::string& name, const std::string& value, Parameters& merged,
          std::array<std::string, 3>& tile) {
    const TritonName* triton = find_triton_name(name);
    if (triton == nullptr) {
        const ParameterInfo* known = find_parameter(info, name);
        if (known == nullptr) {
            refuse_name(info, name);
        }
        if (known->part_of_key) {
            throw Error("tile parameter", name, "a parameter of the kernel: the problem is the same for all");
        }
        merged[std::string(known->name)] = value;
        return;
    }
    merged.try_emplace("implementation", "triton");
    if (triton->gemm.empty()) {
        if (value != "1") {
            throw Error(fmt::format("tile {}", name), value,
                        "1: clusters of Triton CTAs are not lowered yet");
        }
    } else if (triton->gemm.size() == 1) {
        tile[static_cast<std::size_t>(std::string_view("MNK").find(triton->gemm))] = value;
    } else {
        merged[std::string(triton->gemm)] = value;
    }
}

Implementation implementation_of(const Operation& operation) {
    const auto found = operation.parameters.find("implementation");
    if (found == operation.parameters.end()) {
        return Implementation::cublas;
    }
    return found->second == "triton"     ? Implementation::triton
           : found->second == "inductor" ? Implementation::inductor
           : found->second == "cutlass"  ? Implementation::cutlass
                                         : Implementation::cublas;
}

void put(Parameters& parameters, const char* name, int value, int unset) {
    if (value != unset) {
        parameters.emplace(name, std::to_string(value));
    }
}

}  // namespace

const OperatorInfo& require_tiled(std::string_view op) {
    const OperatorInfo& info = find_operator(op);
    if (!info.tiled) {
        std::string names;
        for (const OperatorInfo& known : operators()) {
            if (known.tiled) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
        }
        throw Error("op", std::string(op), fmt::format("an operator with tiles: {}", names));
    }
    return info;
}

void require_problem(const Operation& operation) {
    const OperatorInfo& info = require_tiled(operation.op);
    for (const auto& [name, value] : operation.parameters) {
        const ParameterInfo* parameter = find_parameter(info, name);
        if (parameter != nullptr && !parameter->part_of_key) {
            throw Error(fmt::format("{} {}", info.name, name), value,
                        "nothing beside a space, whose tiles have their own");
        }
    }
}

Parameters parameters_of(const Candidate& candidate) {
    const gemm::Config& c = candidate.config;
    Parameters result;
    const bool triton = c.strides_by_16;
    result["implementation"] = candidate.implementation == Implementation::triton     ? "triton"
                               : candidate.implementation == Implementation::inductor ? "inductor"
                               : candidate.implementation == Implementation::cutlass  ? "cutlass"
                                                                                      : "cublas";
    result["cta_tile"] = fmt::format("{}x{}x{}", c.cta_m, c.cta_n, c.cta_k);
    if (c.cluster_m * c.cluster_n > 1) {
        result["cluster"] = fmt::format("{}x{}", c.cluster_m, c.cluster_n);
    }
    put(result, "stages", c.stages, 0);
    put(result, "warps", c.warps, 0);
    put(result, "group_m", c.group, 1);
    put(result, "split_k", c.split_k, 1);
    put(result, "registers", c.registers, 0);
    if (c.shared_bytes > 0) {
        result["shared_bytes"] = std::to_string(c.shared_bytes);
    }
    if (!triton || c.raster != mk::Raster::along_n) {
        result["raster"] = c.raster == mk::Raster::along_m ? "along_m" : "along_n";
    }
    const gemm::Reduction usual = triton ? gemm::Reduction::atomic : gemm::Reduction::workspace;
    if (c.split_k > 1 && c.reduction != usual) {
        result["reduction"] = c.reduction == gemm::Reduction::atomic   ? "atomic"
                              : c.reduction == gemm::Reduction::serial ? "serial"
                                                                       : "workspace";
    }
    if (c.schedule != mk::ScheduleKind::one_per_cta) {
        result["schedule"] =
            c.schedule == mk::ScheduleKind::static_stride ? "persistent" : "cluster_launch_control";
    }
    if (c.pipeline != gemm::Pipeline::automatic) {
        result["pipeline"] = c.pipeline == gemm::Pipeline::sync       ? "sync"
                             : c.pipeline == gemm::Pipeline::cp_async ? "cp.async"
                                                                      : "tma";
    }
    if (c.specialization != gemm::Specialization::none) {
        result["specialization"] =
            c.specialization == gemm::Specialization::cooperative ? "cooperative" : "pingpong";
    }
    if (c.mma != gemm::MatrixInstruction::automatic) {
        result["mma"] = c.mma == gemm::MatrixInstruction::simt       ? "simt"
                        : c.mma == gemm::MatrixInstruction::mma_sync ? "mma.sync"
                        : c.mma == gemm::MatrixInstruction::wgmma    ? "wgmma"
                                                                     : "tcgen05";
    }
    return result;
}

Candidate candidate_of(const Operation& problem, const Parameters& chosen) {
    const OperatorInfo& info = require_tiled(problem.op);
    Parameters merged = problem.parameters;
    std::array<std::string, 3> tile;
    for (const auto& [name, value] : chosen) {
        take(info, name, value, merged, tile);
    }
    if (!tile[0].empty() || !tile[1].empty() || !tile[2].empty()) {
        for (std::size_t side = 0; side < tile.size(); ++side) {
            if (tile[side].empty()) {
                throw Error(fmt::format("tile BLOCK_{}", "MNK"[side]), "", "a size, as the other two sides");
            }
        }
        merged["cta_tile"] = fmt::format("{}x{}x{}", tile[0], tile[1], tile[2]);
    }
    if (merged.find("cta_tile") == merged.end()) {
        throw Error("tile", "", "cta_tile, or BLOCK_M, BLOCK_N and BLOCK_K");
    }
    const Operation operation = make_operation(info.name, merged);
    refuse_unused(info, operation);
    return {gemm::config_of(operation, gemm::problem_of(operation)), implementation_of(operation)};
}

}  // namespace warptime::workloads::choice::tiles
