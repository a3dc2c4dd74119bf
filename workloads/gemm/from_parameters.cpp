// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/from_parameters.hpp"

#include "hw/error.hpp"
#include "workloads/gemm/fused.hpp"
#include "workloads/gemm/parameters.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

int numbers_of_block(const Problem& problem) {
    constexpr int of_16_bytes = 32, of_96_bytes = 128;
    if (problem.scale_block == 0) return 1;
    return problem.a == hw::Dtype::mxfp6 ? of_96_bytes : of_16_bytes;
}

namespace {

std::string parameter_name(std::string_view name) {
    return std::string("gemm ").append(name);
}

std::int64_t size_of(const Operation& operation, std::string_view name) {
    const std::string text = value_of(operation, name);
    return text.empty() ? 0 : parse_size(text, parameter_name(name));
}

std::int64_t given_size(const Operation& operation, std::string_view name) {
    const auto given = operation.parameters.find(name);
    return given == operation.parameters.end() ? 0 : parse_size(given->second, parameter_name(name));
}

int small_of(const Operation& operation, std::string_view name, int fallback) {
    const std::string text = value_of(operation, name);
    if (text.empty()) {
        return fallback;
    }
    const std::int64_t value = parse_size(text, parameter_name(name));
    if (value > most_of_a_tile) {
        throw Error(parameter_name(name), text, fmt::format("a whole number of at most {}", most_of_a_tile));
    }
    return static_cast<int>(value);
}

hw::Dtype dtype_of(const Operation& operation, std::string_view name) {
    const std::string text = value_of(operation, name);
    if (text == "mxfp4" || text == "nvfp4") return hw::Dtype::fp4x2;
    return hw::parse_dtype(text, parameter_name(name));
}

/// Throws Error where operands with block scales are not of one type along K, or end within a block.
void check_blocks(const Operation& operation, const Problem& p) {
    const std::string dtype = value_of(operation, "dtype"), of_b = value_of(operation, "dtype_b");
    if (dtype != of_b && scale_block_of(dtype) + scale_block_of(of_b) > 0) {
        throw Error(
            parameter_name("dtype_b"), of_b,
            fmt::format("{}, as A: products with block scales are known with operands of one type", dtype));
    }
    if (p.scale_block == 0) return;
    for (const auto& [name, major] : {std::pair{"a_major", p.a_major}, std::pair{"b_major", p.b_major}}) {
        if (major == Major::k) continue;
        throw Error(parameter_name(name), value_of(operation, name),
                    fmt::format("k: products of {} are known with both operands along K", dtype));
    }
}

/// Numbers along K as elements of the stored type, of which a block of scales holds a whole number.
std::int64_t in_blocks(const Operation& operation, std::string_view name, std::int64_t numbers,
                       const Problem& p) {
    if (p.scale_block == 0) return numbers;
    const int least = numbers_of_block(p);
    if (numbers % least != 0) {
        throw Error(parameter_name(name), std::to_string(numbers),
                    fmt::format("a multiple of {} for {}", least, value_of(operation, "dtype")));
    }
    return numbers / hw::numbers_in(p.a);
}

/// Reads text such as "128x256x64"; the registry has checked the form.
std::array<int, 3> extents(const std::string& text, std::string_view name) {
    std::array<int, 3> sizes{0, 0, 0};
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (int& size : sizes) {
        const auto [next, error] = std::from_chars(at, end, size);
        if (error != std::errc{} || size <= 0) {
            throw Error(parameter_name(name), text, "positive sizes joined by 'x'");
        }
        at = next;
        if (at == end) {
            break;
        }
        ++at;
    }
    return sizes;
}

mk::ScheduleKind schedule_of(const std::string& text) {
    if (text == "persistent" || text.starts_with("stream_k")) {
        return mk::ScheduleKind::static_stride;
    }
    if (text == "cluster_launch_control") {
        return mk::ScheduleKind::cluster_launch_control;
    }
    return mk::ScheduleKind::one_per_cta;
}

}  // namespace

Problem read_problem(const Operation& operation) {
    Problem p;
    p.m = size_of(operation, "m");
    p.n = size_of(operation, "n");
    p.k = size_of(operation, "k");
    p.batch = size_of(operation, "batch");
    p.a = dtype_of(operation, "dtype");
    p.packed_b = value_of(operation, "dtype_b") == "int4";
    p.b = p.packed_b ? hw::Dtype::int8 : dtype_of(operation, "dtype_b");
    p.accumulator = dtype_of(operation, "acc_dtype");
    p.out = dtype_of(operation, "out_dtype");
    p.a_major = value_of(operation, "a_major") == "k" ? Major::k : Major::other;
    p.b_major = value_of(operation, "b_major") == "k" ? Major::k : Major::other;
    p.epilogue = parse_epilogue(value_of(operation, "epilogue"));
    p.lda = given_size(operation, "lda");
    p.ldb = given_size(operation, "ldb");
    p.ldc = given_size(operation, "ldc");
    p.scale_block = scale_block_of(value_of(operation, "dtype"));
    check_blocks(operation, p);
    p.k = in_blocks(operation, "k", p.k, p);
    p.lda = in_blocks(operation, "lda", p.lda, p);
    p.ldb = in_blocks(operation, "ldb", p.ldb, p);
    return p;
}

void check_pitches(const Problem& p) {
    const auto check_pitch = [](std::string_view name, std::int64_t pitch, std::int64_t row) {
        if (pitch > 0 && pitch < row) {
            throw Error(parameter_name(name), std::to_string(pitch),
                        fmt::format("at least one row, {}", row));
        }
    };
    check_pitch("lda", p.lda, p.a_major == Major::k ? p.k : p.m);
    check_pitch("ldb", p.ldb, p.b_major == Major::k ? p.k : p.n);
    check_pitch("ldc", p.ldc, p.n);
}

Problem problem_of(const Operation& operation) {
    const Problem problem = read_problem(operation);
    check_pitches(problem);
    return problem;
}

Config config_of(const Operation& operation, const Problem& problem) {
    Config c;
    const auto tile = extents(value_of(operation, "cta_tile"), "cta_tile");
    c.cta_m = tile[0];
    c.cta_n = tile[1];
    c.cta_k = tile[2];
    if (problem.scale_block > 0) {
        const int least = numbers_of_block(problem);
        if (c.cta_k % least != 0) {
            throw Error(parameter_name("cta_tile"), value_of(operation, "cta_tile"),
                        fmt::format("K a multiple of {} for {}", least, problem.name_of_type()));
        }
        c.cta_k /= hw::numbers_in(problem.a);
    }
    const std::string cluster = value_of(operation, "cluster");
    if (!cluster.empty()) {
        const auto shape = extents(cluster, "cluster");
        c.cluster_m = shape[0];
        c.cluster_n = shape[1];
    }
    c.stages = small_of(operation, "stages", 0);
    c.warps = small_of(operation, "warps", 0);
    c.group = small_of(operation, "group_m", 1);
    c.split_k = small_of(operation, "split_k", 1);
    c.slice_k = small_of(operation, "slice_k", 1);
    c.registers = small_of(operation, "registers", 0);
    c.shared_bytes = size_of(operation, "shared_bytes");
    const std::string implementation = value_of(operation, "implementation");
    const bool triton = implementation == "triton" || implementation == "inductor";
    const std::string raster = value_of(operation, "raster");
    c.raster = raster == "along_m" ? mk::Raster::along_m : mk::Raster::along_n;
    const std::string reduction = value_of(operation, "reduction");
    c.reduction = reduction == "atomic" || (reduction.empty() && triton) ? Reduction::atomic
                  : reduction == "serial"                                ? Reduction::serial
                                                                         : Reduction::workspace;
    const std::string schedule = value_of(operation, "schedule");
    c.schedule = schedule_of(schedule);
    c.stream_k = schedule == "stream_k"          ? StreamK::all
                 : schedule == "stream_k_hybrid" ? StreamK::hybrid
                                                 : StreamK::none;
    const std::string pipeline = value_of(operation, "pipeline");
    c.pipeline = pipeline == "sync"       ? Pipeline::sync
                 : pipeline == "cp.async" ? Pipeline::cp_async
                 : pipeline == "tma"      ? Pipeline::tma
                                          : Pipeline::automatic;
    const std::string specialization = value_of(operation, "specialization");
    c.specialization = specialization == "cooperative" ? Specialization::cooperative
                       : specialization == "pingpong"  ? Specialization::pingpong
                                                       : Specialization::none;
    const std::string mma = value_of(operation, "mma");
    c.mma = mma == "simt"       ? MatrixInstruction::simt
            : mma == "mma.sync" ? MatrixInstruction::mma_sync
            : mma == "wgmma"    ? MatrixInstruction::wgmma
            : mma == "tcgen05"  ? MatrixInstruction::tcgen05
                                : MatrixInstruction::automatic;
    if (!triton && raster.empty()) {
        c.raster = heuristic_raster(problem, c);
    }
    if (triton) {
        c.strides_by_16 = true;
        c.strides_known = implementation == "inductor";
        // Triton's own persistent products launch one program per SM (tutorial 9, NUM_SMS).
        c.one_cta_per_sm = c.schedule == mk::ScheduleKind::static_stride;
    }
    return c;
}

}  // namespace warptime::workloads::gemm
