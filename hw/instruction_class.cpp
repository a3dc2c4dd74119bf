// Names of instruction classes and execution units.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/instruction_class.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <array>
#include <string>

namespace warptime::hw {
namespace {

constexpr std::array<std::string_view, instruction_class_count> class_names{"fma_f32",
                                                                            "add_f32",
                                                                            "mul_f32",
                                                                            "fma_f16x2",
                                                                            "fma_f64",
                                                                            "mad_s32",
                                                                            "mad_wide_s32",
                                                                            "add_s32",
                                                                            "logic",
                                                                            "shift",
                                                                            "compare_select",
                                                                            "set_predicate",
                                                                            "move",
                                                                            "convert",
                                                                            "mufu",
                                                                            "convert_pack",
                                                                            "shfl",
                                                                            "vote",
                                                                            "redux",
                                                                            "mma_sync",
                                                                            "wgmma",
                                                                            "wgmma_fence",
                                                                            "wgmma_commit",
                                                                            "tcgen05_mma",
                                                                            "tcgen05_ld",
                                                                            "ld_global",
                                                                            "st_global",
                                                                            "ld_shared",
                                                                            "st_shared",
                                                                            "ldmatrix",
                                                                            "stmatrix",
                                                                            "ld_local",
                                                                            "st_local",
                                                                            "ld_constant",
                                                                            "atom_global",
                                                                            "red_global",
                                                                            "atom_shared",
                                                                            "ld_shared_cluster",
                                                                            "st_shared_cluster",
                                                                            "cp_async",
                                                                            "cp_async_commit",
                                                                            "cp_async_bulk",
                                                                            "cp_async_bulk_tensor",
                                                                            "cp_async_bulk_store",
                                                                            "bulk_commit",
                                                                            "bar_sync",
                                                                            "bar_arrive",
                                                                            "mbarrier_arrive",
                                                                            "mbarrier_try_wait",
                                                                            "cluster_barrier",
                                                                            "fence",
                                                                            "nanosleep",
                                                                            "branch",
                                                                            "exit",
                                                                            "setmaxnreg"};

constexpr std::array<std::string_view, unit_count> unit_names{
    "none", "fp32", "fp64", "fp16", "integer", "sfu", "tensor", "lsu", "shuffle", "tma", "branch"};

}  // namespace

std::string_view to_string(InstructionClass cls) {
    return class_names[static_cast<std::size_t>(cls)];
}

std::string_view to_string(Unit unit) {
    return unit_names[static_cast<std::size_t>(unit)];
}

InstructionClass parse_instruction_class(std::string_view text) {
    for (std::size_t i = 0; i < class_names.size(); ++i) {
        if (class_names[i] == text) {
            return static_cast<InstructionClass>(i);
        }
    }
    throw Error("instruction class", std::string(text), expected_names(text, class_names));
}

Unit parse_unit(std::string_view text) {
    for (std::size_t i = 0; i < unit_names.size(); ++i) {
        if (unit_names[i] == text) {
            return static_cast<Unit>(i);
        }
    }
    throw Error("execution unit", std::string(text), expected_names(text, unit_names));
}

}  // namespace warptime::hw
