// Classes of warp-instructions, named after PTX, and the execution unit that each occupies.
// Ignores: single opcodes within a class; the cost of a class on an architecture is data in hw/isa/.
// Source: PTX ISA 8.7, chapter 9 (instruction set).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warptime::hw {

enum class InstructionClass : std::uint8_t {
    // arithmetic
    fma_f32,
    add_f32,
    mul_f32,
    fma_f16x2,
    fma_f64,
    mad_s32,
    mad_wide_s32,  // products of 64 bits, or their upper half
    add_s32,
    logic,
    shift,
    compare_select,
    set_predicate,  // comparison that a branch waits for
    move,
    convert,
    mufu,
    convert_pack,  // two fp32 to one packed 16-bit pair
    // communication within the warp
    shfl,
    vote,
    redux,
    // tensor core
    mma_sync,
    wgmma,
    wgmma_fence,
    wgmma_commit,
    tcgen05_mma,
    tcgen05_ld,  // 32 words a lane from tensor memory to registers
    // memory
    ld_global,
    st_global,
    ld_shared,
    st_shared,
    ldmatrix,
    stmatrix,
    ld_local,
    st_local,
    ld_constant,
    atom_global,
    red_global,
    atom_shared,
    ld_shared_cluster,
    st_shared_cluster,
    // asynchronous copies
    cp_async,
    cp_async_commit,
    cp_async_bulk,
    cp_async_bulk_tensor,
    cp_async_bulk_store,
    bulk_commit,
    // synchronization: the instruction itself; waiting is a Wait node
    bar_sync,
    bar_arrive,
    mbarrier_arrive,
    mbarrier_try_wait,
    cluster_barrier,
    fence,
    nanosleep,
    // control
    branch,
    exit,
    setmaxnreg,
    count
};

inline constexpr std::size_t instruction_class_count = static_cast<std::size_t>(InstructionClass::count);

/// Execution unit that an instruction occupies. `none`: only an issue slot.
enum class Unit : std::uint8_t {
    none,
    fp32,
    fp64,
    fp16,
    integer,
    sfu,
    tensor,
    lsu,
    shuffle,
    tma,
    branch,
    count
};

inline constexpr std::size_t unit_count = static_cast<std::size_t>(Unit::count);

/// Warps of the group that issues such a product together (PTX ISA, wgmma: a warpgroup is four warps).
inline constexpr int warps_of_group = 4;

/// True for products of a group of four warps that the tensor cores of a whole SM run, with operands in
/// shared memory: wgmma, and tcgen05, whose sums stay in tensor memory.
[[nodiscard]] constexpr bool is_group_product(InstructionClass cls) {
    return cls == InstructionClass::wgmma || cls == InstructionClass::tcgen05_mma;
}

[[nodiscard]] std::string_view to_string(InstructionClass cls);
[[nodiscard]] std::string_view to_string(Unit unit);

/// Reads a class name as spelled in the enumeration; throws Error naming the nearest one.
[[nodiscard]] InstructionClass parse_instruction_class(std::string_view text);
[[nodiscard]] Unit parse_unit(std::string_view text);

}  // namespace warptime::hw
