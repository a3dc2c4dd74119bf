// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/request.hpp"

#include "hw/error.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/kept_lowerings.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/parameters.hpp"

#include <array>
#include <utility>

namespace warptime::workloads::gemm {

namespace {

GemmRequest& own(Request& request) {
    return static_cast<GemmRequest&>(request);
}

template <std::int64_t Problem::*Field>
bool set_size(Request& request, std::int64_t value) {
    own(request).problem.*Field = value;
    return true;
}

/// Sizes along K are given in numbers, of which 4-bit types store two in an element.
template <std::int64_t Problem::*Field>
bool set_along_k(Request& request, std::int64_t value) {
    Problem& problem = own(request).problem;
    problem.*Field = value / hw::numbers_in(problem.a);
    return value % numbers_of_block(problem) == 0;
}

template <auto Field>
bool set_tile_number(Request& request, std::int64_t value) {
    std::optional<Config>& config = own(request).config;
    if (config) {
        using Number = std::remove_reference_t<decltype((*config).*Field)>;
        (*config).*Field = static_cast<Number>(value);
    }
    return !config || value <= most_of_a_tile;
}

bool set_shared_bytes(Request& request, std::int64_t value) {
    std::optional<Config>& config = own(request).config;
    if (config) {
        config->shared_bytes = value;
    }
    return true;
}

constexpr std::array<NamedSetNumber, 14> numbers{{
    {"m", set_size<&Problem::m>},
    {"n", set_size<&Problem::n>},
    {"k", set_along_k<&Problem::k>},
    {"batch", set_size<&Problem::batch>},
    {"lda", set_along_k<&Problem::lda>},
    {"ldb", set_along_k<&Problem::ldb>},
    {"ldc", set_size<&Problem::ldc>},
    {"stages", set_tile_number<&Config::stages>},
    {"warps", set_tile_number<&Config::warps>},
    {"group_m", set_tile_number<&Config::group>},
    {"split_k", set_tile_number<&Config::split_k>},
    {"slice_k", set_tile_number<&Config::slice_k>},
    {"registers", set_tile_number<&Config::registers>},
    {"shared_bytes", set_shared_bytes},
}};

class Keeper final : public LoweringKeeper {
  public:
    explicit Keeper(const hw::Gpu& gpu) : lowerings_(gpu) {}

    [[nodiscard]] Lowered lower(const Request& request) override {
        const auto& asked = static_cast<const GemmRequest&>(request);
        const auto [program, body] = lowerings_.lower(asked.problem, asked.ordered_config());
        return {program, body};
    }

  private:
    KeptLowerings lowerings_;
};

}  // namespace

Config GemmRequest::ordered_config() const {
    Config ordered = *config;
    if (heuristic_raster) {
        ordered.raster = gemm::heuristic_raster(problem, ordered);
    }
    return ordered;
}

void GemmRequest::check(const hw::Gpu& gpu) const {
    check_pitches(problem);
    if (problem.bytes() > gpu.dram.capacity.value()) {
        throw Error("gemm size", "more than the memory of the GPU", "a problem that fits");
    }
}

void GemmRequest::lower(const libraries::Libraries& /*libraries*/, const hw::Gpu& gpu,
                        model::kernel::Program& program) const {
    if (!config) {
        throw Error("gemm cta_tile", "none", "a tile, which workloads/choice finds for a library");
    }
    gemm::lower(problem, ordered_config(), gpu, program);
}

GemmRequest read_request(const Operation& operation) {
    GemmRequest request(read_problem(operation));
    if (!value_of(operation, "cta_tile").empty()) {
        request.config = config_of(operation, request.problem);
        request.heuristic_raster = !request.config->strides_by_16 && value_of(operation, "raster").empty();
    }
    return request;
}

SetNumber find_number(std::string_view parameter) {
    return number_named(parameter, numbers);
}

std::unique_ptr<LoweringKeeper> make_keeper(const hw::Gpu& gpu) {
    return std::make_unique<Keeper>(gpu);
}

}  // namespace warptime::workloads::gemm
