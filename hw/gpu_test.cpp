// Tests of Gpu over doubles and dual numbers.
// SPDX-License-Identifier: Apache-2.0
#include "hw/gpu.hpp"

#include "hw/math.hpp"

#include <doctest/doctest.h>

namespace warptime::hw {
namespace {

template <class S>
Seconds<S> read_time(const Gpu<S>& gpu, Bytes<S> bytes) {
    return bytes / (gpu.dram.bandwidth * gpu.dram.read_efficiency.value());
}

TEST_CASE("a formula over a dual GPU gives the derivative by the bandwidth") {
    Gpu<double> plain;
    plain.dram.bandwidth = BytesPerSecond<double>(4e12);
    plain.dram.read_efficiency = Number<double>(0.5);
    Gpu<Dual<4>> gpu = convert<Dual<4>>(plain);
    const std::size_t key = key_index("dram.bandwidth");
    set_key_value(gpu, key, Dual<4>::variable(4e12, 2));

    const Dual<4> time = read_time(gpu, Bytes<Dual<4>>(8e12)).value();
    CHECK(time.value() == doctest::Approx(4.0));
    CHECK(time.value() == read_time(plain, Bytes<double>(8e12)).value());
    // d/dB (bytes / (B e)) = -bytes / (B^2 e)
    CHECK(time.derivative(2) == doctest::Approx(-1e-12));
    CHECK(time.derivative(0) == 0.0);
}

TEST_CASE("every key is reached by its index, and only that key") {
    for (std::size_t key = 0; key < key_count; ++key) {
        Gpu<double> gpu;
        set_key_value(gpu, key, 7.0);
        for (std::size_t other = 0; other < key_count; ++other) {
            CHECK(key_value(gpu, other) == (other == key ? 7.0 : 0.0));
        }
    }
}

TEST_CASE("conversion keeps every field") {
    Gpu<double> plain;
    visit_keys(static_cast<GpuKeys<double>&>(plain), [](std::size_t index, auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        if constexpr (is_key_list<Field>) {
            field.assign(3, typename Field::value_type(static_cast<double>(index)));
        } else {
            field = Field(static_cast<double>(index));
        }
    });
    plain.id = std::string("x");
    plain.compute_major = 9;
    plain.instructions[InstructionClass::mufu].latency = Cycles<double>(23);
    plain.instructions[InstructionClass::mufu].unit = Unit::sfu;
    const Gpu<Dual<1>> dual = convert<Dual<1>>(plain);
    for (std::size_t key = 0; key < key_count; ++key) {
        CHECK(key_value(dual, key).value() == static_cast<double>(key));
    }
    CHECK(dual.shared.carveouts.size() == 3);
    CHECK(dual.id == "x");
    CHECK(dual.compute_major == 9);
    CHECK(dual.instructions[InstructionClass::mufu].latency.value().value() == 23);
    CHECK(dual.instructions[InstructionClass::mufu].unit == Unit::sfu);
}

TEST_CASE("an interval follows the lane count") {
    Gpu<double> gpu;
    gpu.sm.sub_partitions = Number<double>(4);
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
