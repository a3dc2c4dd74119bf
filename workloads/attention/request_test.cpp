// Attention as a request: which library runs it, and what is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/request.hpp"

#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads;
using attention::fixture::lowered;
using attention::fixture::refused;
using attention::fixture::sizes;

TEST_CASE("PyTorch takes cuDNN on Hopper and FlashAttention elsewhere") {
    CHECK(lowered("attention", sizes("1", "32", "512", "64")).kernels[0].name == "cudnn_flash_fprop");
    CHECK(lowered("attention", sizes("1", "32", "512", "64"), "a100-sxm-80gb").kernels[0].name ==
          "flash_fwd");
}

TEST_CASE("what cannot run is refused by the parameter's name") {
    CHECK(refused("attention", sizes("1", "8", "64", "64", {{"kv_heads", "3"}})) == "attention kv_heads");
    CHECK(refused("attention", sizes("1", "8", "64", "264")) == "attention head_dim");
    CHECK(refused("attention", sizes("1", "8", "64", "60")) == "attention head_dim");
    CHECK(refused("attention_backward", sizes("1", "8", "64", "60")) == "attention_backward head_dim");
    CHECK(refused("attention", sizes("65536", "8", "64", "64")) == "attention batch");
    CHECK(refused("attention", sizes("64", "64", "1048576", "256")) == "attention size");
    CHECK(refused("attention", sizes("1", "8", "64", "64", {{"dtype", "fp32"}})) == "attention dtype");
    CHECK(refused("attention", sizes("1", "8", "64", "64", {{"implementation", "flash3"}}),
                  "a100-sxm-80gb") == "attention implementation");
    CHECK(refused("attention", sizes("1", "8", "64", "64"), "t4") == "attention implementation");
    CHECK(refused("attention_backward", sizes("1", "8", "64", "64"), "t4") ==
          "attention_backward implementation");
    CHECK(refused("attention", {{"batch", "1"}, {"heads", "1"}, {"sq", "64"}}) == "attention head_dim");
}

TEST_CASE("pages are taken by the libraries that have them only") {
    const auto paged = [](const char* implementation, const char* page, const char* sq) {
        return refused("attention",
                       sizes("1", "8", sq, "64",
                             {{"sk", "4096"}, {"page_size", page}, {"implementation", implementation}}));
    };
    CHECK(paged("triton", "16", "1") == "accepted");
    CHECK(paged("triton", "48", "1") == "attention page_size");
    CHECK(paged("triton", "8", "1") == "attention page_size");
    CHECK(paged("triton", "16", "2") == "attention sq");
    CHECK(paged("flash2", "256", "2") == "accepted");
    CHECK(paged("flash2", "128", "2") == "attention page_size");
    CHECK(paged("cudnn", "256", "2") == "attention page_size");
    CHECK(refused("attention", sizes("1", "8", "1", "64", {{"implementation", "triton"}})) ==
          "attention implementation");
    CHECK(
        refused("attention", sizes("1", "34", "1", "64",
                                   {{"kv_heads", "2"}, {"page_size", "16"}, {"implementation", "triton"}})) ==
        "attention kv_heads");
}

TEST_CASE("sizes that are not given follow the queries'") {
    attention::AttentionRequest request;
    request.problem.heads = 8;
    request.problem.sq = 77;
    CHECK(request.completed().kv_heads == 8);
    CHECK(request.completed().sk == 77);
    request.own_kv_heads = request.own_sk = true;
    CHECK(request.completed().kv_heads == 1);
    CHECK(request.completed().sk == 1);
}

TEST_CASE("a backward pass needs the arrays of both passes") {
    attention::Problem p;
    p.batch = 2;
    p.heads = 6;
    p.kv_heads = 3;
    p.sq = 100;
    p.sk = 50;
    p.head_dim = 40;
    // Elements of Q, O, dO, dQ; K, V, dK, dV; dQ in fp32; log-sum-exp and products of rows.
    const double q = 2.0 * 6 * 100 * 40, k = 2.0 * 3 * 50 * 40, rows = 2.0 * 6 * 100;
    CHECK(attention::memory_of(p, false) == 2 * (2 * q + 2 * k) + 4 * rows);
    CHECK(attention::memory_of(p, true) == 2 * (4 * q + 4 * k) + 4 * q + 2 * 4 * rows);
}

TEST_CASE("the narrowest tile that holds the head is taken") {
    static const auto data = libraries::load_libraries();
    const auto h200 = warptime::hw::load_gpu("h200-sxm");
    const auto& family = attention::family_of(data, attention::Implementation::flash2, "forward", h200);
    for (int head = 8; head <= 256; head += 8) {
        attention::Problem p;
        p.head_dim = head;
        const auto* tile = attention::find_tile(family, p, h200);
        REQUIRE(tile != nullptr);
        CHECK(tile->head >= head);
        for (const auto& other : family.tiles) CHECK((other.head < head || other.head >= tile->head));
    }
    attention::Problem wide;
    wide.head_dim = 264;
    CHECK(attention::find_tile(family, wide, h200) == nullptr);
    CHECK_THROWS_AS(static_cast<void>(attention::family_of(data, attention::Implementation::cudnn, "forward",
                                                           warptime::hw::load_gpu("t4"))),
                    warptime::Error);
}
