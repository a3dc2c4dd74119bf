// Tests of constant bank 0: the places of the launch's shape, windows and parameters.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/constant_bank.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

std::uint32_t word_at(const std::vector<std::byte>& bank, std::size_t offset) {
    std::uint32_t word = 0;
    REQUIRE(offset + sizeof word <= bank.size());
    std::memcpy(&word, bank.data() + offset, sizeof word);
    return word;
}
std::uint64_t pair_at(const std::vector<std::byte>& bank, std::size_t offset) {
    return pair_of(word_at(bank, offset), word_at(bank, offset + 4));
}

Launch some_launch(int architecture) {
    Launch launch;
    launch.architecture = architecture;
    launch.shape.grid = {12, 10, 6};
    launch.shape.block = {32, 4, 2};
    launch.shape.cluster = {3, 2, 1};
    launch.shape.dynamic_shared = 4321;
    launch.local_bytes_per_thread = 272;
    launch.sm_count = 132;
    launch.grid_workspace = 0x1122334455667788ULL;
    return launch;
}

Function function_at(std::uint32_t base) {
    Function function;
    function.parameter_base = base;
    return function;
}

TEST_CASE("the launch's shape and windows lie where every architecture has them") {
    for (const int architecture : {80, 86, 89, 90}) {
        CAPTURE(architecture);
        const std::vector<std::byte> bank =
            launch_constants(function_at(architecture < 90 ? 0x160 : 0x210), some_launch(architecture), {});
        const std::array<std::uint32_t, 6> shape{32, 4, 2, 12, 10, 6};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            CHECK(word_at(bank, 4 * i) == shape[i]);
        }
        CHECK(pair_at(bank, 0x20) == local_window);
        CHECK(word_at(bank, 0x28) == 272);
        CHECK(word_at(bank, 0x2c) == 4321);
        CHECK(word_at(bank, 0x44) == 0x11223344);
        CHECK(word_at(bank, 0x48) == 0x55667788);
    }
}

TEST_CASE("clusters and the count of SMs are told from sm_90 on") {
    const std::vector<std::byte> bank = launch_constants(function_at(0x210), some_launch(90), {});
    CHECK(word_at(bank, 0x10c) == 132);
    CHECK(word_at(bank, 0x140) == 1);
    const std::array<std::uint32_t, 3> cluster{3, 2, 1}, clusters{4, 5, 6};
    for (std::size_t d = 0; d < 3; ++d) {
        CHECK(word_at(bank, 0x144 + 4 * d) == cluster[d]);
        CHECK(word_at(bank, 0x15c + 4 * d) == clusters[d]);
    }
    CHECK(word_at(bank, 0x188) == 6);
    CHECK(pair_at(bank, 0x198) == constant_window + 0x210);
    Launch alone = some_launch(90);
    alone.shape.cluster = {1, 1, 1};
    CHECK(word_at(launch_constants(function_at(0x210), alone, {}), 0x140) == 0);
    // Before, nothing lies there.
    const std::vector<std::byte> older = launch_constants(function_at(0x160), some_launch(80), {});
    for (std::size_t offset = 0x100; offset < 0x210; offset += 4) {
        CHECK(word_at(older, offset) == 0);
    }
}

TEST_CASE("a multiple of the cluster's size times its reciprocal, cut off, is the quotient") {
    for (std::uint32_t n = 1; n <= 16; ++n) {
        CAPTURE(n);
        Launch launch = some_launch(90);
        launch.shape.grid = {n, n, n};
        launch.shape.cluster = {n, 1, n};
        const std::vector<std::byte> bank = launch_constants(function_at(0x210), launch, {});
        const auto reciprocal = std::bit_cast<float>(word_at(bank, 0x150));
        CHECK(word_at(bank, 0x158) == word_at(bank, 0x150));
        std::uint32_t wrong = 0;
        for (std::uint32_t quotient = 0; quotient < 65536; ++quotient) {
            const float product = static_cast<float>(quotient * n) * reciprocal;
            wrong += static_cast<std::uint32_t>(product) == quotient ? 0U : 1U;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("parameters lie from their base on, and the bank reaches to their end") {
    CHECK(rc::check("any base and bytes", [] {
        const std::uint32_t base = *rc::gen::element<std::uint32_t>(0x160U, 0x210U, 0x380U);
        const Words words = some_words(any_word(), random_below(300));
        const std::vector<std::byte> bank =
            launch_constants(function_at(base), some_launch(base == 0x160 ? 80 : 90),
                             std::as_bytes(std::span<const std::uint32_t>(words)));
        RC_ASSERT(bank.size() >= base + 4 * words.size());
        RC_ASSERT(bank.size() == std::max<std::size_t>(base + 4 * words.size(), 0x210));
        for (std::size_t i = 0; i < words.size(); ++i) {
            RC_ASSERT(word_at(bank, base + 4 * i) == words[i]);
        }
        RC_ASSERT(word_at(bank, 0) == 32U);
    }));
}

TEST_CASE("a kernel reads its cluster's shape from the bank") {
    const LaneProgram program({"MOV R20, c[0x0][0x140]", "MOV R21, c[0x0][0x144]", "MOV R22, c[0x0][0x188]"},
                              {}, {"R20", "R21", "R22"});
    const std::vector<Words> results = program({}, 32);
    CHECK(results[0] == Words(32, 0));
    CHECK(results[1] == Words(32, 1));
    CHECK(results[2] == Words(32, 1));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
