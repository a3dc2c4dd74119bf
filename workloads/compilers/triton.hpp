// Numbers that describe how the Triton compiler, and its ptxas, treat the loop of a matrix product.
// Each number comes from triton-<version>.toml with its source.
// Ignores: all versions except the embedded one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::workloads::compilers {

/// A law for the registers that a loop wants: (a * ga + b * gb + sums * s) / over + copies * c + rest. For a
/// lane, ga and gb count gathered elements of A and B, s sums, and c copies.
struct RegisterLaw {
    int a = 0, b = 0, sums = 0, over = 1, copies = 0, rest = 0;
};

/// The numbers of the file. The fields follow its tables, which give each number's meaning and source.
struct Triton {
    /// The compiler's knowledge of strides.
    struct Alignment {
        int divisor = 0;
    } alignment;

    /// Buffers in shared memory.
    struct Pipeline {
        int buffers_less_of_mma_sync = 0;
    } pipeline;

    /// Registers of a thread in loops that copy whole lanes.
    struct Registers {
        int pointer = 0;
        int rest_of_wgmma = 0;
        int rest_of_mma_sync = 0;
        int many_sums = 0;
        int with_many_sums = 0;
        int eight_bit_rest = 0;
        int eight_bit_copies = 0;
        int eight_bit_over = 0;
        int by_descriptor = 0;
    } registers;

    /// Products by tcgen05, whose sums lie in tensor memory: which tiles, and a thread's registers.
    struct TensorMemory {
        int rows = 0;
        int columns = 0;
        int warps_max = 0;
        int sums_held = 0;
        int sums_over = 0;
        int rest = 0;
    } tensor_memory;

    /// Loops whose products wait for one another.
    struct Series {
        int warps = 0;
        int columns = 0;
        int bytes = 0;
        int columns_of_split = 0;
        int bytes_of_split = 0;
    } series;

    /// Instructions of a lane for each weight of 8 or 4 bits that it converts to 16.
    struct Weights {
        struct Bits {
            double logic = 0.0, shifts = 0.0, moves = 0.0, halves = 0.0;
        };
        Bits eight, four;
    } weights;

    /// Instructions of a warp that are neither copies, products nor accesses.
    struct Instructions {
        struct Wgmma {
            int before = 0;
            int before_a = 0;
            int before_b = 0;
            int stage = 0;
            int stage_copies = 0;
            int stage_over = 0;
            int trip = 0;
            int trip_a = 0;
            int trip_b = 0;
            int trip_products = 0;
            int trip_over = 0;
        } wgmma;
        struct MmaSync {
            int before = 0;
            int before_a = 0;
            int before_b = 0;
            int before_outputs_over = 0;
            int stage = 0;
            int stage_copies = 0;
            int stage_over = 0;
            int trip = 0;
            int trip_a = 0;
            int trip_b = 0;
            int trip_over = 0;
            int places = 0;
            int places_from_stages = 0;
        } mma_sync;
        struct Tcgen05 {
            int before = 0;
            int before_copies = 0;
            int stage = 0;
            int stage_copies = 0;
            int stage_over = 0;
            int trip = 0;
            int trip_copies = 0;
        } tcgen05;
        struct KnownStrides {
            int before = 0;
            int before_copies = 0;
            int before_outputs_over = 0;
            int stage = 0;
            int trip = 0;
            int trip_copies = 0;
            int trip_over = 0;
        } known_strides;
        int chain_before = 0;
        int chain_after = 0;
        int after = 0;
        int outputs_after_over = 0;
    } instructions;

    /// Loops of one stage: loads of a trip that the warp issues together.
    struct SingleStage {
        int together = 0;
        int part_of_b = 0;
    } single_stage;

    /// Loops over tensor descriptors.
    struct Descriptor {
        int loop_slots = 0;
        int before = 0;
        int chain_before = 0;
    } descriptor;

    /// Loops that fetch elements one by one.
    struct Gathers {
        struct Uniform {
            int rows_max = 0;
            int copied_cta_k = 0;
            int copied_cta_n_max = 0;
            int copied_cta_m_max = 0;
            int narrow_columns = 0;
            int narrow_warps = 0;
            int narrow_rows = 0;
            int square = 0;
            int square_k = 0;
        } uniform;
        struct Registers {
            RegisterLaw mma_sync, uniform, wgmma, in_all;
            RegisterLaw b_alone;
            int b_alone_warps = 0;
        } registers;
        struct Room {
            int granule = 0;
            int wanted = 0;
            int fewer = 0;
        } room;
        struct Spills {
            int registers_found = 0;
            double loads_of_word = 0;
            double loads_spared = 0;
            double loads_at_once = 0;
            double loads_at_once_beside_copies = 0;
            int rounds_that_wait_for_b = 0;
        } spills;
        struct GivenUp {
            int registers = 0;
            int pointer = 0;
            double words_of_element = 0;
            double loads_of_word = 0;
            double stores_of_word = 0;
            double loads_at_once = 0;
        } given_up;
        struct Instructions {
            int before = 0;
            int before_element = 0;
            int before_copies = 0;
            int stage = 0;
            int stage_copies = 0;
            int trip_element = 0;
            int trip_element_over = 0;
            int trip_beside_copies = 0;
            int trip_copies = 0;
            int after = 0;
            int after_narrow_output = 0;
            int after_outputs_over = 0;
        } instructions;
        int registers_max = 0;
    } gathers;

    /// Operands that lanes transpose.
    struct Turning {
        int lane_bytes = 0;
        int instructions_of_bytes = 0;
        int instructions_of_bytes_over = 0;
    } turning;

    int numbers = 0;  ///< how many were read from the file
};

/// The compiler version that predictions describe.
[[nodiscard]] const Triton& triton();

/// Reads the text of such a file. Throws Error naming `origin` and the field. Errors are a number that is
/// missing, of another form, or unknown, and a table without a source.
[[nodiscard]] Triton read_triton(std::string_view text, std::string_view origin);

}  // namespace warptime::workloads::compilers
