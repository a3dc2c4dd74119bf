// Limiters have the names of the JSON contract, and the class that a reader expects.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/limiter.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace warptime::model::prediction;

TEST_CASE("the names are those of the contract, each once, in its order") {
    std::string joined;
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < limiter_count; ++i) {
        const auto name = to_string(static_cast<Limiter>(i));
        names.insert(name);
        joined += std::string(name) + " ";
    }
    CHECK(joined ==
          "tensor_core fp32 fp64 int sfu issue shared l1 l2 crossbar dram tma chain_latency bytes_in_flight "
          "launch tail atomic ");
    CHECK(names.size() == limiter_count);
}

TEST_CASE("classes") {
    CHECK(class_of(Limiter::tensor_core) == KernelClass::compute);
    CHECK(class_of(Limiter::issue) == KernelClass::compute);
    CHECK(class_of(Limiter::dram) == KernelClass::memory);
    CHECK(class_of(Limiter::crossbar) == KernelClass::memory);
    CHECK(class_of(Limiter::bytes_in_flight) == KernelClass::latency);
    CHECK(class_of(Limiter::tail) == KernelClass::occupancy);
    CHECK(class_of(Limiter::launch) == KernelClass::launch);
    CHECK(to_string(KernelClass::occupancy) == "occupancy");
}
