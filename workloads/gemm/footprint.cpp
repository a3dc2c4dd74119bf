// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/footprint.hpp"

#include "hw/architecture_features.hpp"
#include "hw/error.hpp"
#include "hw/tensor_rate.hpp"
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/triton_alignment.hpp"
#include "workloads/gemm/triton_gathers.hpp"
#include "workloads/gemm/triton_multiply_adds.hpp"
#include "workloads/gemm/triton_resources.hpp"
#include "workloads/gemm/triton_turning.hpp"
#include "workloads/gemm/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warptime::workloads::gemm {

namespace {

constexpr int warpgroup_threads = 128;

[[noreturn]] void refuse_tile(const Config& config, std::string expected) {
    throw Error("gemm cta_tile", fmt::format("{}x{}x{}", config.cta_m, config.cta_n, config.cta_k),
                std::move(expected));
}

bool has(const hw::Gpu& gpu, hw::InstructionClass cls) {
    return gpu.instructions[cls].supported;
}

bool has_wgmma(const hw::Gpu& gpu) {
    return has(gpu, hw::InstructionClass::wgmma);
}

/// Data-centre Blackwell feeds its tensor cores through tcgen05. There mma.sync reaches only a fraction of
/// the peak.
bool has_tcgen05(const hw::Gpu& gpu) {
    return hw::features_of(gpu.isa).tensor_memory;
}

std::string capability(const hw::Gpu& gpu) {
    return fmt::format("compute capability {}.{}", gpu.compute_major, gpu.compute_minor);
}

bool wgmma_covers(const Config& config) {
    const int along_m = config.transposed ? config.cta_n : config.cta_m;
    const int along_n = config.transposed ? config.cta_m : config.cta_n;
    return along_m % 64 == 0 && along_n % 8 == 0;
}

MatrixInstruction default_instruction(const Problem& problem, const hw::Gpu& gpu, const Config& config) {
    const Dtype dtype = problem.multiplied();
    if (dtype == Dtype::fp32 || dtype == Dtype::fp64) {
        return MatrixInstruction::simt;
    }
    if (has_tcgen05(gpu) &&
        (config.specialization != Specialization::none || multiplies_by_tcgen05(problem, config))) {
        return MatrixInstruction::tcgen05;
    }
    // A warpgroup is four warps. With fewer warps Triton multiplies by mma.sync as well.
    if (has_wgmma(gpu) && wgmma_covers(config) && config.warps % 4 == 0) {
        return MatrixInstruction::wgmma;
    }
    return MatrixInstruction::mma_sync;
}

/// Compilers multiply by tcgen05 where the GPU has it and the tile fits it. Triton's rule for small tiles is
/// known; any other kernel of mma.sync must be requested by name.
void require_known_default(const hw::Gpu& gpu, const Config& config) {
    if (config.mma == MatrixInstruction::mma_sync && has_tcgen05(gpu) && !config.strides_by_16) {
        throw Error("gemm mma", "auto",
                    fmt::format("simt or mma.sync on {}, or a specialization: kernels there multiply by "
                                "tcgen05, which is modelled for specialised warps and for Triton",
                                gpu.id));
    }
}

void check_schedule(const hw::Gpu& gpu, const Config& config) {
    if (config.schedule == model::kernel::ScheduleKind::cluster_launch_control &&
        !hw::features_of(gpu.isa).cluster_launch_control) {
        throw Error("gemm schedule", "cluster_launch_control",
                    fmt::format("data_parallel or persistent on {} ({} has no cluster launch control)",
                                gpu.id, capability(gpu)));
    }
}

void check_matrix_instruction(const hw::Gpu& gpu, const Config& config) {
    const bool tcgen05 = config.mma == MatrixInstruction::tcgen05;
    if (tcgen05 && has_tcgen05(gpu)) {
        if (config.specialization == Specialization::none && !config.strides_by_16) {
            throw Error("gemm mma", "tcgen05",
                        fmt::format("simt or mma.sync on {}, or specialization=cooperative or pingpong: "
                                    "tcgen05 is modelled for specialised warps and for Triton",
                                    gpu.id));
        }
        return;
    }
    if (tcgen05) {
        throw Error(
            "gemm mma", "tcgen05",
            fmt::format("auto, simt{} on {} ({} has no tcgen05)",
                        has_wgmma(gpu) ? ", mma.sync or wgmma" : " or mma.sync", gpu.id, capability(gpu)));
    }
    if (config.mma == MatrixInstruction::wgmma && !has_wgmma(gpu)) {
        throw Error("gemm mma", "wgmma",
                    fmt::format("simt or mma.sync on {} ({} has no wgmma{})", gpu.id, capability(gpu),
                                has_tcgen05(gpu) ? "; tcgen05 takes its place" : ""));
    }
}

/// Throws Error where the tensor cores lack the type, or where the instruction's rate for the type is
/// unknown.
void check_dtype(const Problem& problem, const hw::Gpu& gpu, const Config& config) {
    if (config.mma == MatrixInstruction::simt) {
        return;
    }
    require_tensor_dtype(problem, gpu);
    // On sm_100 mma.sync first converts 8-bit types, so its rate is far below its share of their peak.
    const Dtype dtype = problem.multiplied();
    const bool known = dtype == Dtype::bf16 || dtype == Dtype::fp16 || dtype == Dtype::tf32;
    if (config.mma == MatrixInstruction::mma_sync && has_tcgen05(gpu) && !known) {
        throw Error("gemm dtype",
                    std::string(problem.scale_block > 0 ? problem.name_of_type() : hw::to_string(dtype)),
                    fmt::format("bf16, fp16 or tf32 for mma.sync on {} (its rate for others is not on the "
                                "sheet), or tcgen05",
                                gpu.id));
    }
}

/// Throws Error where the sums of a CTA have no room in tensor memory, or the tile no instruction. Source:
/// PTX ISA 8.7, tensor memory (128 lanes of 512 words; products of 64 or 128 rows).
void check_tensor_memory(const Config& config) {
    if (!wgmma_covers(config)) refuse_tile(config, "M a multiple of 64 and N a multiple of 8 for tcgen05");
    constexpr int lanes = 128, columns = 512;
    const int along_m = config.transposed ? config.cta_n : config.cta_m;
    const int along_n = config.transposed ? config.cta_m : config.cta_n;
    const int tiles = config.specialization == Specialization::pingpong ? 2 : 1;
    const int used = tiles * ((along_m + lanes - 1) / lanes) * along_n;
    if (used > columns) {
        refuse_tile(config,
                    fmt::format("a smaller tile: its sums take {} columns of tensor memory, and an SM "
                                "has {}",
                                used, columns));
    }
}

/// Throws Error for loops of Triton by tcgen05 that were not described: only those that copy ahead by
/// cp.async, from rows that 16 bytes divide, were looked at.
void check_triton_tcgen05(const Problem& problem, const hw::Gpu& gpu, const Config& config) {
    if (!config.strides_by_16 || config.mma != MatrixInstruction::tcgen05) return;
    const auto refuse = [&gpu](std::string parameter, std::string given, std::string_view expected) {
        throw Error(std::move(parameter), std::move(given), fmt::format("{} on {}", expected, gpu.id));
    };
    if (config.pipeline == Pipeline::tma) {
        refuse("gemm pipeline", "tma",
               "cp.async (Triton's loops over descriptors by tcgen05 are not described)");
    }
    if (config.stages == 1 || config.pipeline == Pipeline::sync) {
        refuse("gemm stages", std::to_string(config.stages),
               "2 or more (loops of one stage by tcgen05 are not described)");
    }
    constexpr int aligned = 16;
    if (config.copy_bytes < aligned || copy_bytes_of(config, false) < aligned) {
        refuse("gemm k", std::to_string(problem.k),
               "rows of A and B that 16 elements divide (gathers by tcgen05 are not described)");
    }
    const bool along_k = problem.a_major == Major::k && problem.b_major == Major::k;
    if (hw::bytes_of(problem.multiplied()) != 2 && !along_k) {
        refuse("gemm dtype", std::string(hw::to_string(problem.a)),
               "a 16-bit type, or A and B along k (operands turned for tcgen05 are not described)");
    }
}

void check_instruction(const hw::Gpu& gpu, const Config& config) {
    check_matrix_instruction(gpu, config);
    if (config.mma == MatrixInstruction::wgmma && !wgmma_covers(config)) {
        refuse_tile(config, "M a multiple of 64 and N a multiple of 8 for wgmma");
    }
    if (config.mma == MatrixInstruction::tcgen05) check_tensor_memory(config);
    if (config.mma == MatrixInstruction::mma_sync && (config.cta_m % 16 != 0 || config.cta_n % 8 != 0)) {
        refuse_tile(config, "M a multiple of 16 and N a multiple of 8 for mma.sync");
    }
    const bool cp_async = has(gpu, hw::InstructionClass::cp_async);
    if (config.pipeline == Pipeline::tma && !has(gpu, hw::InstructionClass::cp_async_bulk_tensor)) {
        throw Error(
            "gemm pipeline", "tma",
            fmt::format("sync{} on {} (no bulk tensor copies)", cp_async ? " or cp.async" : "", gpu.id));
    }
    if (config.pipeline == Pipeline::cp_async && !cp_async) {
        throw Error("gemm pipeline", "cp.async", fmt::format("sync on {} (no asynchronous copies)", gpu.id));
    }
}

/// Throws Error for kernels of block-scaled types that are not described.
void check_block_scales(const Problem& problem, const Config& config) {
    if (problem.scale_block == 0) return;
    if (config.strides_by_16) {
        throw Error("gemm implementation", config.strides_known ? "inductor" : "triton",
                    fmt::format("cublas or cutlass (Triton's kernels with block scales, dtype {}, are not "
                                "described)",
                                problem.name_of_type()));
    }
    if (config.mma == MatrixInstruction::simt) {
        throw Error("gemm mma", "simt",
                    fmt::format("auto, mma.sync or tcgen05 for {}: only tensor cores multiply it",
                                problem.name_of_type()));
    }
}

/// Sliced K is a form of mma.sync kernels whose warps copy for themselves, as CUTLASS 2's.
void check_slices(const Problem& problem, const Config& config) {
    if (config.slice_k == 1) return;
    const std::string given = std::to_string(config.slice_k);
    if (config.mma != MatrixInstruction::mma_sync || config.strides_by_16 ||
        config.stream_k != StreamK::none) {
        throw Error("gemm slice_k", given,
                    "1, or mma mma.sync, an implementation other than Triton's, and no stream-K");
    }
    const int step = config.mma_k > 0 ? config.mma_k : 32 / hw::bytes_of(problem.multiplied());
    if (config.warps % config.slice_k != 0 || config.cta_k % (config.slice_k * step) != 0) {
        throw Error("gemm slice_k", given,
                    fmt::format("a divisor of the {} warps, and of the {} steps of {} of cta_tile",
                                config.warps, config.cta_k / step, step));
    }
}

/// Shared memory that is given must hold the stages. Products without stages keep sums there instead.
void check_shared_bytes(const Problem& problem, const Config& config) {
    if (config.shared_bytes == 0 || config.dot_products || config.streamed_columns) {
        return;
    }
    const std::int64_t least = least_shared_bytes(problem, config);
    if (config.shared_bytes < least) {
        throw Error("gemm shared_bytes", std::to_string(config.shared_bytes),
                    fmt::format("at least {}, which stages={} of cta_tile={}x{}x{} need", least,
                                config.stages, config.cta_m, config.cta_n, config.cta_k));
    }
}

}  // namespace

void require_tensor_dtype(const Problem& problem, const hw::Gpu& gpu) {
    if (hw::tensor_rate(problem.multiplied(), gpu).value() == 0.0) {
        throw Error(
            "gemm dtype",
            std::string(problem.scale_block > 0 ? problem.name_of_type()
                                                : hw::to_string(problem.multiplied())),
            fmt::format("a type that the tensor cores of {} have: {}", gpu.id, hw::tensor_dtypes(gpu)));
    }
}

std::int64_t shared_bytes(const Problem& problem, const Config& config) {
    return config.shared_bytes > 0 ? config.shared_bytes : least_shared_bytes(problem, config);
}

std::int64_t least_shared_bytes(const Problem& problem, const Config& config) {
    if (gathers_as_triton(config) || turned_in_its_trip(config)) {
        return gather_shared_bytes(problem, config);
    }
    // A Triton-like pipeline reuses the stages for the epilogue. Where TMA signals, a stage has two 8-byte
    // barriers, or one with tensor descriptors.
    const std::int64_t barriers =
        config.pipeline == Pipeline::tma ? 8 * config.stages * (copies_by_descriptor(config) ? 1 : 2) : 0;
    const int buffers = copies_as_triton(config) ? triton_buffers(config) : config.stages;
    // What is converted is read from its stage early, so that its stages are one fewer.
    const std::int64_t converted = converted_bytes(problem, config);
    const std::int64_t early = converted > 0 && buffers > 1 ? tile_bytes(problem, config, false) : 0;
    // Triton's loop by tcgen05 has a barrier for the products under way and one for those before.
    const std::int64_t of_products =
        copies_as_triton(config) && config.mma == MatrixInstruction::tcgen05 ? 16 : 0;
    const std::int64_t stages =
        buffers * stage_bytes(problem, config) + barriers + of_products + converted - early;
    if (copies_as_triton(config) && config.mma == MatrixInstruction::mma_sync) {
        // The tile of results is transposed in the memory of the stages (all of 138 compiled kernels).
        const std::int64_t results = std::int64_t{config.cta_m} * config.cta_n * hw::bytes_of(problem.out);
        std::int64_t held_once = 0;
        for (const bool is_a : {true, false}) {
            if (!loaded_in_its_trip(config, is_a)) continue;
            held_once += tile_bytes(problem, config, is_a);
        }
        return std::max(stages - (buffers - 1) * held_once, results);
    }
    return stages;
}

void require_shared_bytes(const Config& config, std::int64_t bytes, const hw::Gpu& gpu) {
    const auto most = static_cast<std::int64_t>(gpu.shared.per_cta_optin.value());
    if (bytes <= most) {
        return;
    }
    if (config.shared_bytes > 0) {
        throw Error("gemm shared_bytes", std::to_string(bytes),
                    fmt::format("at most {} for a CTA of {}", most, gpu.id));
    }
    refuse_tile(config,
                fmt::format("a smaller tile or fewer stages: stages={} need {} bytes of shared memory, "
                            "and a CTA of {} has at most {}",
                            config.stages, bytes, gpu.id, most));
}

bool copies_by_descriptor(const Config& config) {
    return config.pipeline == Pipeline::tma && config.specialization == Specialization::none &&
           config.mma == MatrixInstruction::wgmma && config.stages > 1;
}

int threads(const Config& config) {
    const int consumers = config.warps * 32;
    return config.specialization == Specialization::none ? consumers : consumers + warpgroup_threads;
}

int registers_wanted(const Problem& problem, const Config& config) {
    if (gathers_as_triton(config)) {
        // The loop spills pointers and values for which a thread has no registers. The sums must always fit.
        return std::max(gather_registers(config), config.cta_m * config.cta_n / threads(config));
    }
    if (multiplies_as_triton(config) && problem.a == problem.b) {
        return (multiply_add_registers(config) + 7) / 8 * 8;
    }
    if (copies_as_triton(config)) {
        return (triton_registers(problem, config) + 7) / 8 * 8;
    }
    const int consumers = config.warps * 32;
    if (copies_by_descriptor(config)) {
        // The bulk engine and uniform registers hold the addresses (all 60 kernels of triton_tma).
        return (config.cta_m * config.cta_n / consumers + compilers::triton().registers.by_descriptor + 7) /
               8 * 8;
    }
    // In ping-pong kernels each warpgroup holds its own tile.
    const int tiles_held = config.specialization == Specialization::pingpong ? config.warps / 4 : 1;
    const int accumulators = tiles_held * config.slice_k * config.cta_m * config.cta_n / consumers;
    int fragments = 0;
    if (config.mma == MatrixInstruction::mma_sync) {
        const int bytes_per_step = (config.cta_m + config.cta_n) * 16 * hw::bytes_of(problem.multiplied());
        fragments = std::max(8, bytes_per_step / (consumers * 2));
    } else if (config.mma == MatrixInstruction::simt) {
        fragments = 2 * 16;
    }
    const int allowance = 40;
    return (accumulators + fragments + allowance + 7) / 8 * 8;
}

int registers_per_thread(const Problem& problem, const Config& config, int most, int of_sm) {
    if (config.registers > 0) {
        return config.registers;
    }
    if (config.specialization != Specialization::none) {
        // One third of the CTA gives registers to the consumers (setmaxnreg). The launch takes the average.
        return 168;
    }
    // The compiler knows the number of threads (.reqntid) and must make their registers fit.
    const int room = std::max(8, of_sm / threads(config) / 8 * 8);
    const int wanted = std::min({most, room, registers_wanted(problem, config)});
    return gathers_as_triton(config) ? registers_with_room(wanted, config, of_sm) : wanted;
}

void complete(const Problem& problem, const hw::Gpu& gpu, Config& config) {
    if (config.cta_m <= 0 || config.cta_n <= 0 || config.cta_k <= 0) {
        refuse_tile(config, "three positive sizes MxNxK");
    }
    if (config.mma == MatrixInstruction::automatic) {
        config.mma = default_instruction(problem, gpu, config);
        require_known_default(gpu, config);
    }
    if (config.strides_by_16) {
        respect_triton_alignment(problem, config);
    }
    if (config.pipeline == Pipeline::automatic) {
        if (config.specialization != Specialization::none) {
            config.pipeline = Pipeline::tma;
        } else {
            config.pipeline = has(gpu, hw::InstructionClass::cp_async) ? Pipeline::cp_async : Pipeline::sync;
        }
    }
    check_weights(problem, config);
    note_turned_operands(problem, config);
    check_schedule(gpu, config);
    if (config.mma != MatrixInstruction::simt) require_tensor_dtype(problem, gpu);
    check_block_scales(problem, config);
    check_instruction(gpu, config);
    check_dtype(problem, gpu, config);
    if (config.stages == 0) {
        config.stages = config.pipeline == Pipeline::sync ? 1 : 3;
    }
    check_triton_tcgen05(problem, gpu, config);
    if (config.warps == 0) {
        config.warps = config.specialization != Specialization::none
                           ? 8
                           : (config.cta_m * config.cta_n >= 16384 ? 8 : 4);
    }
    if (config.specialization != Specialization::none) {
        const bool group = config.mma == MatrixInstruction::wgmma || config.mma == MatrixInstruction::tcgen05;
        if (!group || config.pipeline != Pipeline::tma) {
            throw Error("gemm specialization",
                        config.specialization == Specialization::pingpong ? "pingpong" : "cooperative",
                        fmt::format("none, or bulk tensor copies (tma) and {}, on {}",
                                    has_tcgen05(gpu) ? "tcgen05" : "wgmma", gpu.id));
        }
        if (config.specialization == Specialization::pingpong && config.warps < 8) {
            throw Error("gemm warps", std::to_string(config.warps),
                        "two warpgroups (8) or more to take turns");
        }
    }
    if (config.strides_by_16 && !std::has_single_bit(static_cast<unsigned>(config.warps))) {
        throw Error("gemm warps", std::to_string(config.warps), "a power of two, as Triton's num_warps is");
    }
    const bool by_warpgroups =
        config.mma == MatrixInstruction::wgmma || config.mma == MatrixInstruction::tcgen05;
    if (by_warpgroups && config.warps % 4 != 0) {
        throw Error("gemm warps", std::to_string(config.warps),
                    fmt::format("a multiple of 4 (whole warpgroups) for {}",
                                config.mma == MatrixInstruction::wgmma ? "wgmma" : "tcgen05"));
    }
    check_slices(problem, config);
    check_shared_bytes(problem, config);
}

}  // namespace warptime::workloads::gemm
