// Grids for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/sweeps/grid.hpp"
#include "hw/sheet.hpp"

#include <memory>
#include <string>
#include <vector>

namespace warptime::sweeps::fixture {

inline std::vector<GridGpu> gpus_named(const std::vector<std::string>& names) {
    std::vector<GridGpu> gpus;
    for (const std::string& name : names) {
        gpus.push_back({name, std::make_shared<const hw::Gpu>(hw::load_gpu(name))});
    }
    return gpus;
}

inline Grid gemm_grid(std::vector<GivenAxis> axes, const std::vector<std::string>& gpus = {"h200-sxm"},
                      std::vector<std::string> engines = {}) {
    return {"gemm", gpus_named(gpus), std::move(engines), std::move(axes)};
}

/// 2 GPUs, 2 sizes of L2, 3 conditions of cache, 2 x 3 sizes.
inline Grid small_grid() {
    return gemm_grid({{"n", {"64", "4096", "8192"}},
                      {"M", {"128", "100"}},
                      {"k", {"512"}},
                      {"gpu.l2.capacity", {"1x", "2x"}},
                      {"cache", {"", "warm", "cold"}}},
                     {"h200-sxm", "a100-sxm-80gb"});
}

}  // namespace warptime::sweeps::fixture
