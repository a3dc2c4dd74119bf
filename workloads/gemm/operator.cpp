// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/operator.hpp"

#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/parameters.hpp"
#include "workloads/gemm/request.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace {

UsefulWork work_of(const Operation& operation) {
    const Problem problem = problem_of(operation);
    return {problem.flop(), problem.bytes(), problem.bytes()};
}

DataCount data_of(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu) {
    const GemmRequest request = read_request(operation);
    DataCount count;
    if (request.config) {
        count.compiler = request.config->strides_by_16 ? compilers::triton().numbers : 0;
        return count;
    }
    for (const libraries::GemmFamily& family : libraries.gemm_families) {
        count.library += family.runs_on(gpu) ? family.numbers : 0;
    }
    for (const libraries::PickTable& table : libraries.pick_tables) {
        if (std::find(table.gpus.begin(), table.gpus.end(), gpu.id) == table.gpus.end()) continue;
        count.learned += static_cast<int>(table.nodes.size() + table.leaf_picks.size());
    }
    return count;
}

std::unique_ptr<Request> read(const Operation& operation) {
    return std::make_unique<GemmRequest>(read_request(operation));
}

}  // namespace

const OperatorInfo& gemm_operator() {
    static const OperatorInfo info{operator_name,
                                   "matrix product C[m, n] = A[m, k] B[k, n]",
                                   "warptime predict gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm",
                                   parameters(),
                                   default_of,
                                   why_unused,
                                   work_of,
                                   data_of,
                                   read,
                                   find_number,
                                   make_keeper,
                                   true};
    return info;
}

}  // namespace warptime::workloads::gemm
