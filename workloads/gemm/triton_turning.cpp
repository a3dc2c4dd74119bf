// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_turning.hpp"

#include "model/machine/demand/lane_addresses.hpp"
#include "workloads/compilers/triton.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

using model::machine::lanes_per_warp;
constexpr std::int64_t swizzle_span = 128;  ///< bytes of a row of a stage that wgmma reads (PTX ISA 8.7)

/// Bytes of neighbours along M or N that one lane brings.
int lane_bytes() {
    return compilers::triton().turning.lane_bytes;
}

}  // namespace

void note_turned_operands(const Problem& problem, Config& config) {
    const bool by_triton =
        config.strides_by_16 && !config.strides_known && config.pipeline == Pipeline::cp_async;
    if (!by_triton || config.mma != MatrixInstruction::wgmma) return;
    constexpr int both_ways = 2;  // bytes of the types that wgmma reads along both sides
    const int bytes = hw::bytes_of(problem.multiplied());
    if (bytes == both_ways) return;
    const auto turned = [&](bool is_a) {
        return (is_a ? problem.a_major : problem.b_major) != Major::k &&
               copy_bytes_of(config, is_a) == lane_bytes();
    };
    config.turned_a = turned(true);
    config.turned_b = turned(false);
    if (bytes < both_ways) return;
    const int of_a = config.turned_a ? bytes : config.copy_bytes;
    const int of_b = config.turned_b ? bytes : copy_bytes_of(config, false);
    config.copy_bytes = of_a;
    config.copy_bytes_b = of_b;
}

bool turned_in_its_trip(const Config& config) {
    return turned_in_its_trip(config, true) || turned_in_its_trip(config, false);
}

bool turned_in_its_trip(const Config& config, bool is_a) {
    return (is_a ? config.turned_a : config.turned_b) && copy_bytes_of(config, is_a) == lane_bytes();
}

bool loaded_in_its_trip(const Config& config, bool is_a) {
    constexpr int narrowest_in_ring = 4;
    return config.strides_by_16 && config.pipeline == Pipeline::cp_async &&
           (copy_bytes_of(config, is_a) < narrowest_in_ring || turned_in_its_trip(config, is_a));
}

void add_turned_stores(Parts& parts, bool is_a, std::int64_t elements, mk::Id behind) {
    const Config& c = parts.config;
    const int bytes = hw::bytes_of(is_a ? parts.problem.a : parts.problem.b);
    mk::Op store;
    store.cls = mk::InstructionClass::st_shared;
    store.count = elements;
    if (behind != mk::no_id) {
        store.dep_count = 1;
        store.deps[0] = {behind, 0};
    }
    // Neighbouring lanes along M or N lie 16 bytes apart, and their rows of the stage begin in one bank. The
    // other lanes, along K, have neighbouring elements.
    mk::Access access;
    access.buffer = parts.stages;
    access.direction = mk::Direction::write;
    access.pattern = mk::PatternKind::stride;
    access.bytes = bytes;
    const int across = std::clamp((is_a ? c.cta_m : c.cta_n) * bytes / lane_bytes(), 1, lanes_per_warp);
    // Swizzled rows of four-byte elements share two banks.
    const int banks = bytes > 1 ? std::min(2, across) : 1;
    access.inner = 1;
    access.inner_extent = std::max(1, lanes_per_warp * banks / across);
    access.outer = swizzle_span / hw::bytes_of(parts.problem.a);
    parts.builder.op(store, {access});
}

std::int64_t bytes_read_singly(const Problem& problem, const Config& config, std::int64_t warp_n) {
    const bool turned = config.strides_by_16 && hw::bytes_of(problem.b) == 1 && problem.b_major != Major::k;
    return turned ? std::max<std::int64_t>(1, warp_n * config.cta_k / lanes_per_warp) : 0;
}

}  // namespace warptime::workloads::gemm
