// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/request.hpp"

#include "hw/error.hpp"
#include "workloads/attention/flash2.hpp"
#include "workloads/attention/lean_reduction.hpp"
#include "workloads/attention/paged.hpp"
#include "workloads/attention/specialized.hpp"
#include "workloads/attention/specialized_backward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

namespace warptime::workloads::attention {

namespace mk = model::kernel;
using libraries::AttentionFamily;
using libraries::AttentionTile;

namespace {

/// CUDA's limit of a grid along y and z.
constexpr std::int64_t most_of_grid = 65535;
/// The most splits of FlashAttention 2's reduction.
constexpr int most_splits = 128;
constexpr std::int64_t most_of_head = 256, head_step = 8;

std::string owner(bool backward, std::string_view parameter) {
    return fmt::format("{} {}", backward ? "attention_backward" : "attention", parameter);
}

int compute_of(const hw::Gpu& gpu) {
    return 10 * gpu.compute_major + gpu.compute_minor;
}

const AttentionTile& tile_of(const AttentionFamily& family, const Problem& problem, const hw::Gpu& gpu) {
    const AttentionTile* tile = find_tile(family, problem, gpu);
    if (tile == nullptr) {
        throw Error(owner(family.pass == "backward", "head_dim"), std::to_string(problem.head_dim),
                    fmt::format("a size that a {} kernel of {} has on {}", family.pass, family.implementation,
                                gpu.id));
    }
    return *tile;
}

/// In how many pieces cuDNN's kernels for one query take the keys: a power of two with which the heads fill
/// about twice as many CTAs as there are SMs, and none with fewer than eight blocks of keys. Source: grids of
/// recorded rows (torch_attention, fit and development rows: 8 heads and 8 blocks 8, 8 and 64 32, 32 and 128
/// 8; 64 heads and 4 blocks, 32 and 4, 160 and 24 none).
std::int64_t splits_of_single_query(std::int64_t heads, std::int64_t key_blocks, std::int64_t sms) {
    constexpr std::int64_t least_blocks = 8, ctas_of_sm = 2;
    if (heads >= sms || key_blocks < least_blocks) return 1;
    const auto most = std::bit_floor(static_cast<std::uint64_t>(ctas_of_sm * sms / heads));
    return std::min({static_cast<std::int64_t>(most), key_blocks, std::int64_t{most_splits}});
}

void lower_single_query(const libraries::Libraries& libraries, const Problem& problem, const hw::Gpu& gpu,
                        mk::Program& program) {
    const AttentionFamily& family = family_of(libraries, Implementation::cudnn, "split", gpu);
    const AttentionTile& tile = tile_of(family, problem, gpu);
    const auto splits = static_cast<int>(splits_of_single_query(
        problem.q_heads(), ceil_div(problem.sk, tile.n), static_cast<std::int64_t>(gpu.sm.count.value())));
    if (splits > 1) {
        lower_flash2_split(problem, tile, splits, program.add_kernel());
        program.kernels[program.kernel_count - 1].name = "cudnn_flash_fprop_split";
        lower_lean_reduction(problem, splits, program.add_kernel());
        return;
    }
    lower_flash2_forward(problem, tile, program.add_kernel());
    program.kernels[program.kernel_count - 1].name = "cudnn_flash_fprop_single";
}

void lower_forward(const libraries::Libraries& libraries, Implementation implementation, const Problem& given,
                   const hw::Gpu& gpu, mk::Program& program) {
    if (implementation == Implementation::triton) {
        lower_paged(given, gpu, program);
        return;
    }
    const AttentionFamily& whole = family_of(libraries, implementation, "forward", gpu);
    if (implementation == Implementation::cudnn && given.sq == 1) {
        lower_single_query(libraries, as_grouped(given), gpu, program);
        return;
    }
    if (implementation != Implementation::flash2) {
        lower_specialized(given, whole, tile_of(whole, given, gpu), gpu, program);
        return;
    }
    const Problem problem = as_grouped(given);
    const AttentionFamily& split = family_of(libraries, implementation, "split", gpu);
    const AttentionTile& split_tile = tile_of(split, problem, gpu);
    const std::int64_t slots = 2 * static_cast<std::int64_t>(gpu.sm.count.value());
    const std::int64_t blocks = ceil_div(problem.sq, split_tile.m) * problem.q_heads();
    const int splits = splits_of_keys(blocks, slots, ceil_div(problem.sk, split_tile.n), most_splits);
    if (splits > 1) {
        lower_flash2_split(problem, split_tile, splits, program.add_kernel());
        lower_flash2_combine(problem, split_tile, splits, program.add_kernel());
        return;
    }
    lower_flash2_forward(problem, tile_of(whole, problem, gpu), program.add_kernel());
}

void check_pages(const Problem& p, Implementation implementation) {
    constexpr std::int64_t least = 16, most = 65536, step_of_flash2 = 256, most_of_group = 16;
    const bool triton = implementation == Implementation::triton;
    if (p.page_size == 0) {
        if (!triton) return;
        throw Error("attention implementation", "triton",
                    "a page_size beside it: its kernel decodes over pages");
    }
    const std::string given = std::to_string(p.page_size);
    if (!std::has_single_bit(static_cast<std::uint64_t>(p.page_size)) || p.page_size < least ||
        p.page_size > most) {
        throw Error("attention page_size", given, fmt::format("a power of two from {} to {}", least, most));
    }
    if (triton && p.sq != 1) {
        throw Error("attention sq", std::to_string(p.sq), "1 where Triton's kernel decodes over pages");
    }
    if (triton && p.group() > most_of_group) {
        throw Error("attention kv_heads", std::to_string(p.kv_heads),
                    fmt::format("at least a {}th of the {} heads over pages", most_of_group, p.heads));
    }
    if (triton) return;
    if (implementation != Implementation::flash2) {
        throw Error("attention page_size", given,
                    "implementation triton or flash2 beside it: PyTorch and cuDNN take no pages here");
    }
    if (p.page_size % step_of_flash2 != 0) {
        throw Error("attention page_size", given,
                    fmt::format("a multiple of {} for flash2, or implementation triton", step_of_flash2));
    }
}

}  // namespace

std::string_view to_string(Implementation implementation) {
    switch (implementation) {
        case Implementation::torch:
            return "torch";
        case Implementation::flash2:
            return "flash2";
        case Implementation::flash3:
            return "flash3";
        case Implementation::triton:
            return "triton";
        case Implementation::cudnn:
            break;
    }
    return "cudnn";
}

double memory_of(const Problem& p, bool backward) {
    const double forward = 2.0 * p.q_bytes() + 2.0 * p.k_bytes() + p.row_bytes();
    if (!backward) return forward;
    // dO, dQ, dK and dV, the sums of dQ in fp32, and the products of dO and O.
    const double wide = static_cast<double>(hw::bytes_of(Dtype::fp32)) / hw::bytes_of(p.dtype);
    return forward + 2.0 * p.q_bytes() + 2.0 * p.k_bytes() + wide * p.q_bytes() + p.row_bytes();
}

Implementation chosen(Implementation given, const hw::Gpu& gpu) {
    if (given != Implementation::torch) return given;
    constexpr int hopper = 9;
    return gpu.compute_major == hopper ? Implementation::cudnn : Implementation::flash2;
}

const AttentionTile* find_tile(const AttentionFamily& family, const Problem& problem, const hw::Gpu& gpu) {
    const int compute = compute_of(gpu);
    for (const AttentionTile& tile : family.tiles) {
        const bool masked = (!tile.causal || problem.causal) && (!tile.full || !problem.causal);
        const bool of_gpu = (tile.compute_least == 0 || compute >= tile.compute_least) &&
                            (tile.compute_most == 0 || compute <= tile.compute_most);
        const bool fits =
            static_cast<double>(tile.shared_least) <= gpu.shared.per_cta_optin.value() &&
            (tile.shared_of_sm == 0 || gpu.shared.capacity.value() < static_cast<double>(tile.shared_of_sm));
        if (problem.head_dim <= tile.head && masked && of_gpu && fits) return &tile;
    }
    return nullptr;
}

const AttentionFamily& family_of(const libraries::Libraries& libraries, Implementation implementation,
                                 std::string_view pass, const hw::Gpu& gpu) {
    const int compute = compute_of(gpu);
    for (const AttentionFamily& family : libraries.attention_families) {
        if (family.implementation == to_string(implementation) && family.pass == pass &&
            compute >= family.compute_least && compute <= family.compute_most) {
            return family;
        }
    }
    throw Error(owner(pass == "backward", "implementation"), std::string(to_string(implementation)),
                fmt::format("one with a {} kernel for compute capability {}.{} ({})", pass, gpu.compute_major,
                            gpu.compute_minor, gpu.id));
}

Problem AttentionRequest::completed() const {
    Problem p = problem;
    if (!own_kv_heads) p.kv_heads = p.heads;
    if (!own_sk) p.sk = p.sq;
    return p;
}

void AttentionRequest::check(const hw::Gpu& gpu) const {
    const Problem p = completed();
    if (p.kv_heads > p.heads || p.heads % p.kv_heads != 0) {
        throw Error(owner(backward, "kv_heads"), std::to_string(p.kv_heads),
                    fmt::format("a divisor of the {} heads", p.heads));
    }
    if (p.head_dim > most_of_head || p.head_dim % head_step != 0) {
        throw Error(owner(backward, "head_dim"), std::to_string(p.head_dim),
                    fmt::format("a multiple of {} up to {}", head_step, most_of_head));
    }
    if (p.batch > most_of_grid) {
        throw Error(owner(backward, "batch"), std::to_string(p.batch),
                    fmt::format("at most {}", most_of_grid));
    }
    if (p.heads > most_of_grid) {
        throw Error(owner(backward, "heads"), std::to_string(p.heads),
                    fmt::format("at most {}", most_of_grid));
    }
    check_pages(p, implementation);
    const double bytes = memory_of(p, backward);
    if (bytes > gpu.dram.capacity.value()) {
        throw Error(
            owner(backward, "size"), fmt::format("{:.3g} GB", bytes / 1e9),
            fmt::format("a problem that fits the {:.0f} GB of {}", gpu.dram.capacity.value() / 1e9, gpu.id));
    }
}

void AttentionRequest::lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
                             mk::Program& program) const {
    const Problem p = completed();
    const Implementation by = chosen(implementation, gpu);
    if (backward) {
        const AttentionFamily& family = family_of(libraries, by, "backward", gpu);
        if (by == Implementation::cudnn) {
            lower_specialized_backward(p, tile_of(family, p, gpu), gpu, program);
        } else {
            lower_flash2_backward(p, tile_of(family, p, gpu), program);
        }
        return;
    }
    lower_forward(libraries, by, p, gpu, program);
}

}  // namespace warptime::workloads::attention
