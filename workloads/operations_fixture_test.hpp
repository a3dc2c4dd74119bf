// Random operations as a user writes them. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "workloads/registry/registry.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace warptime::workloads::fixture {

using Parameters = std::map<std::string, std::string, std::less<>>;

inline Operation gemm(int m, int n, int k, Parameters more = {}) {
    more["m"] = std::to_string(m);
    more["n"] = std::to_string(n);
    more["k"] = std::to_string(k);
    return make_operation("gemm", more);
}

inline Operation vector_operation(const std::string& op, std::int64_t n, Parameters more = {}) {
    more["n"] = std::to_string(n);
    return make_operation(op, more);
}

inline std::string word(std::vector<std::string> words) {
    return *rc::gen::elementOf(std::move(words));
}

/// An operation of any operator, with sizes from tiny to large. Most operations can run on every GPU.
inline Operation any_operation() {
    const auto size = [] { return *rc::gen::inRange(1, 3 << *rc::gen::inRange(0, 12)); };
    if (*rc::gen::inRange(0, 3) == 0) {
        return vector_operation(word({"copy", "add"}), std::int64_t{1} << *rc::gen::inRange(0, 28),
                                {{"dtype", word({"bf16", "fp32", "fp64", "int8"})},
                                 {"implementation", word({"torch", "ideal"})}});
    }
    Parameters more{
        {"dtype", word({"bf16", "fp16"})}, {"b_major", word({"k", "n"})}, {"a_major", word({"k", "m"})}};
    if (*rc::gen::inRange(0, 2) == 0) {
        more["cta_tile"] = word({"64x64x32", "128x128x64", "128x64x64", "64x128x32", "16x16x64"});
        more["stages"] = word({"1", "2", "3", "4"});
        more["warps"] = word({"4", "8"});
        more["implementation"] = word({"triton", "cutlass"});
        more["split_k"] = word({"1", "1", "2", "5"});
        more["schedule"] = word({"data_parallel", "persistent"});
        more["group_m"] = word({"1", "8"});
    }
    return gemm(size(), size(), size(), more);
}

}  // namespace warptime::workloads::fixture
