// The library's families of GEMM kernels, and one of them by its instruction. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace warptime::workloads::gemm::fixture {

inline const std::vector<libraries::GemmFamily>& families() {
    static const libraries::Libraries loaded = libraries::load_libraries();
    return loaded.gemm_families;
}

/// The first family whose kernels multiply by wgmma.
inline const libraries::GemmFamily& nvjet() {
    const auto found = std::find_if(families().begin(), families().end(),
                                    [](const auto& family) { return family.instruction == "wgmma"; });
    REQUIRE(found != families().end());
    return *found;
}

}  // namespace warptime::workloads::gemm::fixture
