// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/profiler_counters.hpp"

#include <string_view>

namespace warptime::workloads::frontends::machine {

namespace {

struct Sums {
    double requests = 0.0, sectors = 0.0, passes = 0.0, instructions = 0.0;

    void add(const AccessCounts& access, const InstructionCounts& instruction) {
        requests += static_cast<double>(access.requests);
        sectors += static_cast<double>(access.sectors);
        passes += static_cast<double>(access.passes);
        instructions += static_cast<double>(instruction.warps);
    }
};

}  // namespace

std::vector<std::pair<std::string, double>> profiler_counters(const Code& code, const LaunchCounts& counts) {
    double instructions = 0.0, threads = 0.0, enabled = 0.0;
    Sums global_load, global_store, global_atomic, global_reduction, local_load, local_store;
    Sums shared_load, shared_store, shared_atomic;
    for (std::size_t i = 0; i < counts.instructions.size(); ++i) {
        const InstructionCounts& own = counts.instructions[i];
        if (own.warps == 0) {
            continue;
        }
        instructions += static_cast<double>(own.warps);
        threads += static_cast<double>(own.threads);
        enabled += static_cast<double>(own.enabled_threads);
        const AccessCounts& access = counts.accesses[i];
        const std::string_view opcode = code.lines[i]->opcode;
        if (opcode == "LDG" || opcode == "LD" || opcode == "LDGSTS") {
            global_load.add(access, own);
        } else if (opcode == "STG" || opcode == "ST") {
            global_store.add(access, own);
        } else if (opcode == "ATOM" || opcode == "ATOMG") {
            // An atomic whose old value nobody takes is a reduction.
            global_atomic.add(access, own);
        } else if (opcode == "RED" || opcode == "REDG") {
            global_reduction.add(access, own);
        } else if (opcode == "LDL") {
            local_load.add(access, own);
        } else if (opcode == "STL") {
            local_store.add(access, own);
        } else if (opcode == "LDS" || opcode == "LDSM") {
            shared_load.add(access, own);
        } else if (opcode == "STS" || opcode == "STSM") {
            shared_store.add(access, own);
        } else if (opcode == "ATOMS") {
            shared_atomic.add(access, own);
        }
    }
    const double scale = counts.scale();
    std::vector<std::pair<std::string, double>> named;
    const auto put = [&named, scale](const char* name, double value) {
        named.emplace_back(name, value * scale);
    };
    put("smsp__inst_executed.sum", instructions);
    put("smsp__thread_inst_executed.sum", threads);
    put("smsp__thread_inst_executed_pred_on.sum", enabled);
    put("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", global_load.requests);
    put("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", global_load.sectors);
    put("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", global_store.requests);
    put("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", global_store.sectors);
    put("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", global_atomic.requests);
    put("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", global_atomic.sectors);
    put("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", global_reduction.requests);
    put("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", global_reduction.sectors);
    put("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", local_load.requests);
    put("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", local_load.sectors);
    put("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", local_store.requests);
    put("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", local_store.sectors);
    put("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", shared_load.passes);
    put("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", shared_store.passes);
    put("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", shared_atomic.passes);
    return named;
}

}  // namespace warptime::workloads::frontends::machine
