// A convolution as numbers instead of text, and the tiling of its product where one is chosen.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/convolution/problem.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/operator/operation.hpp"
#include "workloads/operator/request_interface.hpp"

#include <optional>

namespace warptime::workloads::convolution {

class ConvolutionRequest final : public Request {
  public:
    ConvolutionRequest() = default;
    explicit ConvolutionRequest(const Problem& of, const std::optional<gemm::Config>& by = std::nullopt)
        : problem(of), config(by) {}

    Problem problem;
    std::optional<gemm::Config> config;

    [[nodiscard]] bool is_open() const override;
    void check(const hw::Gpu& gpu) const override;
    void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
               model::kernel::Program& program) const override;
};

}  // namespace warptime::workloads::convolution
