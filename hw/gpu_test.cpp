// Keys of a GPU by index, and intervals that follow from them.
// SPDX-License-Identifier: Apache-2.0
#include "hw/gpu.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace warptime::hw {
namespace {

TEST_CASE("every key is reached by its index, and only that key") {
    for (std::size_t key = 0; key < key_count; ++key) {
        Gpu gpu;
        set_key_value(gpu, key, 7.0);
        for (std::size_t other = 0; other < key_count; ++other) {
            CHECK(key_value(gpu, other) == (other == key ? 7.0 : 0.0));
        }
    }
}

TEST_CASE("the value of a list is its largest element, and a value set becomes the only one") {
    Gpu gpu;
    gpu.shared.carveouts = {Bytes(0.0), Bytes(8192.0), Bytes(233472.0)};
    const std::size_t key = key_index("shared.carveouts");
    CHECK(key_value(gpu, key) == 233472.0);
    set_key_value(gpu, key, 4096.0);
    CHECK(gpu.shared.carveouts == std::vector<Bytes>{Bytes(4096.0)});
}

TEST_CASE("an interval follows the lane count") {
    Gpu gpu;
    gpu.sm.sub_partitions = Number(4);
    auto& cost = gpu.instructions[InstructionClass::fma_f16x2];
    cost.lanes = Lanes::fp16;
    cost.results_per_thread = 2;
    set_key_value(gpu, key_index("fp16.lanes"), 256.0);
    CHECK(cost.interval.value() == 1.0);
    set_key_value(gpu, key_index("fp16.lanes"), 128.0);
    CHECK(cost.interval.value() == 2.0);
}

}  // namespace
}  // namespace warptime::hw
