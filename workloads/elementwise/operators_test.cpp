// Elementwise operators: recorded launches, bytes against closed forms, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using fixture::launches;
using fixture::lowered;
using fixture::moved;
using Direction = warptime::model::kernel::Direction;

TEST_CASE("launches are those that an H100 recorded") {
    using Launches = std::vector<std::string>;
    CHECK(launches(lowered("gelu", {{"n", "33554432"}, {"dtype", "bf16"}})) ==
          Launches{"32768x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("gelu", {{"n", "8388608"}, {"dtype", "fp32"}})) ==
          Launches{"8192x1x1 128x1x1 registers=31 shared=0"});
    CHECK(launches(lowered("cast", {{"n", "406377"}, {"dtype", "bf16"}, {"out_dtype", "fp32"}})) ==
          Launches{"794x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("cast", {{"n", "25008"}, {"dtype", "fp32"}, {"out_dtype", "bf16"}})) ==
          Launches{"25x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("dropout", {{"n", "2049"}, {"dtype", "bf16"}})) ==
          Launches{"9x1x1 256x1x1 registers=56 shared=0"});
    CHECK(launches(lowered("dropout", {{"n", "4194304"}, {"dtype", "bf16"}})) ==
          Launches{"1056x1x1 256x1x1 registers=55 shared=0"});
    CHECK(launches(lowered("swiglu", {{"rows", "64"}, {"cols", "131072"}, {"dtype", "bf16"}})) ==
          Launches{"8192x1x1 128x1x1 registers=32 shared=0", "8192x1x1 128x1x1 registers=40 shared=0"});
    CHECK(launches(lowered("masked_fill", {{"rows", "1000"}, {"cols", "4097"}, {"dtype", "fp32"}})) ==
          Launches{"memcpy 16388000", "4001x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("rope", {{"rows", "1000"}, {"cols", "4096"}, {"dtype", "fp32"}})) ==
          Launches{"4000x1x1 128x1x1 registers=32 shared=0", "8000x1x1 128x1x1 registers=18 shared=0",
                   "264x2x1 512x1x1 registers=23 shared=0", "4000x1x1 128x1x1 registers=32 shared=0",
                   "4000x1x1 128x1x1 registers=32 shared=0"});
    CHECK(launches(lowered("adamw", {{"n", "16384"}, {"tensors", "64"}, {"dtype", "bf16"}})) ==
          Launches{"64x1x1 512x1x1 registers=27 shared=0", "36x1x1 512x1x1 registers=61 shared=0",
                   "28x1x1 512x1x1 registers=61 shared=0"});
    CHECK(launches(lowered("adamw", {{"n", "67108864"}, {"dtype", "bf16"}})).size() == 5);
}

TEST_CASE("each kernel moves its arrays once, for any size and type") {
    CHECK(rc::check("bytes in closed form", [] {
        const auto n = *rc::gen::inRange<std::int64_t>(1, 40000);
        const std::string dtype = fixture::word({"bf16", "fp32"});
        const std::string implementation = fixture::word({"torch", "ideal"});
        const double bytes = static_cast<double>(n) * (dtype == "fp32" ? 4.0 : 2.0);
        const auto one = [&](const std::string& op, fixture::Parameters more = {}) {
            more.insert({{"n", std::to_string(n)}, {"dtype", dtype}, {"implementation", implementation}});
            return lowered(op, more);
        };
        for (const char* op : {"gelu", "silu"}) {
            const auto program = one(op);
            RC_ASSERT(moved(program.kernels[0], Direction::read) == bytes);
            RC_ASSERT(moved(program.kernels[0], Direction::write) == bytes);
        }
        const auto dropout = one("dropout");
        RC_ASSERT(moved(dropout.kernels[0], Direction::read) == bytes);
        RC_ASSERT(moved(dropout.kernels[0], Direction::write) == bytes + static_cast<double>(n));
        const auto cast = one("cast", {{"out_dtype", dtype == "fp32" ? "fp16" : "fp32"}});
        RC_ASSERT(moved(cast.kernels[0], Direction::read) == bytes);
        RC_ASSERT(moved(cast.kernels[0], Direction::write) ==
                  static_cast<double>(n) * (dtype == "fp32" ? 2.0 : 4.0));
        const auto any = one("elementwise", {{"inputs", "3"}, {"outputs", "2"}, {"flops", "7"}});
        RC_ASSERT(moved(any.kernels[0], Direction::read) == 3.0 * bytes);
        RC_ASSERT(moved(any.kernels[0], Direction::write) == 2.0 * bytes);
    }));
}

TEST_CASE("an ideal kernel takes no longer than PyTorch's has bytes: fewer steps, the same arrays") {
    const auto torch = lowered("swiglu", {{"rows", "64"}, {"cols", "4096"}});
    const auto ideal = lowered("swiglu", {{"rows", "64"}, {"cols", "4096"}, {"implementation", "ideal"}});
    CHECK(torch.steps.size() == 2);
    CHECK(ideal.steps.size() == 1);
    CHECK(moved(ideal.kernels[0], Direction::read) == 2.0 * 64 * 4096 * 2);
}

TEST_CASE("what has no effect or cannot run is refused by name") {
    CHECK(fixture::refused("cast", {{"n", "64"}, {"dtype", "fp32"}, {"out_dtype", "fp32"}}) ==
          "cast out_dtype");
    CHECK(fixture::refused("rope", {{"rows", "64"}, {"cols", "5"}}) == "rope cols");
    CHECK(fixture::refused("adamw", {{"n", "64"}, {"tensors", "65"}}) == "adamw tensors");
    CHECK(fixture::refused("elementwise", {{"n", "64"}, {"inputs", "17"}}) == "elementwise inputs");
    CHECK(fixture::refused("gelu", {{"n", "9007199254740992"}}) == "gelu size");
    CHECK(fixture::refused("swiglu", {{"rows", "9007199254740992"}, {"cols", "9007199254740992"}}) ==
          "swiglu size");
    CHECK(fixture::refused("gelu", {{"n", "0"}}) == "gelu n");
}
