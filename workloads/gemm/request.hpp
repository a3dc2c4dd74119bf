// A GEMM as numbers instead of text: the problem, and the configuration where one is given or chosen.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/problem.hpp"
#include "workloads/operator/lowering_keeper.hpp"
#include "workloads/operator/operation.hpp"
#include "workloads/operator/request_interface.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace warptime::workloads::gemm {

class GemmRequest final : public Request {
  public:
    GemmRequest() = default;
    explicit GemmRequest(const Problem& of, const std::optional<Config>& by = std::nullopt)
        : problem(of), config(by) {}
    GemmRequest(const GemmRequest&) = default;
    GemmRequest& operator=(const GemmRequest&) = default;

    Problem problem;
    std::optional<Config> config;   ///< none: the library chooses
    bool heuristic_raster = false;  ///< the order of tiles follows from the problem

    /// The configuration of a request that is not open, including the order of its tiles.
    [[nodiscard]] Config ordered_config() const;

    [[nodiscard]] bool is_open() const override { return !config; }
    void check(const hw::Gpu& gpu) const override;
    void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
               model::kernel::Program& program) const override;
};

/// Throws Error as config_of does; GemmRequest::check checks the leading dimensions.
[[nodiscard]] GemmRequest read_request(const Operation& operation);

/// Null when the parameter holds no number. Parameters of a tile have no effect where the library chooses.
[[nodiscard]] SetNumber find_number(std::string_view parameter);

/// Makes a keeper of lowered tilings; its requests must be of gemm.
[[nodiscard]] std::unique_ptr<LoweringKeeper> make_keeper(const hw::Gpu& gpu);

}  // namespace warptime::workloads::gemm
