// Attention as numbers instead of text: the problem, the library that runs it, and the pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/attention/problem.hpp"
#include "workloads/operator/operation.hpp"
#include "workloads/operator/request_interface.hpp"

#include <cstdint>
#include <string_view>

namespace warptime::workloads::attention {

enum class Implementation : std::uint8_t { torch, flash2, flash3, cudnn, triton };
[[nodiscard]] std::string_view to_string(Implementation implementation);

class AttentionRequest final : public Request {
  public:
    AttentionRequest() = default;

    Problem problem;
    Implementation implementation = Implementation::torch;
    bool backward = false;
    bool own_kv_heads = false, own_sk = false;  ///< given, and not those of the queries

    /// The problem with the defaults that follow from other sizes.
    [[nodiscard]] Problem completed() const;

    void check(const hw::Gpu& gpu) const override;
    void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
               model::kernel::Program& program) const override;
};

/// Bytes that must fit the memory of the GPU.
[[nodiscard]] double memory_of(const Problem& problem, bool backward);

/// The library that runs the problem on a GPU: PyTorch's choice, or the one that is given. PyTorch 2.11 tries
/// cuDNN first on compute capability 9.x, and FlashAttention first on others
/// (aten/src/ATen/native/transformers/cuda/ sdp_utils.cpp, check_prefer_cudnn_attention).
[[nodiscard]] Implementation chosen(Implementation given, const hw::Gpu& gpu);

/// The tile of a library's kernel; null where it has none for the GPU.
[[nodiscard]] const libraries::AttentionTile* find_tile(const libraries::AttentionFamily& family,
                                                        const Problem& problem, const hw::Gpu& gpu);
/// Throws Error naming the implementation where the library has no kernel for the GPU.
[[nodiscard]] const libraries::AttentionFamily& family_of(const libraries::Libraries& libraries,
                                                          Implementation implementation,
                                                          std::string_view pass, const hw::Gpu& gpu);

}  // namespace warptime::workloads::attention
