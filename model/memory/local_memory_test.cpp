// SPDX-License-Identifier: Apache-2.0
#include "model/memory/local_memory.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;

namespace {

kernel::Buffer buffer_of(kernel::Space space, std::int64_t words) {
    kernel::Buffer buffer;
    buffer.space = space;
    buffer.dtype = kernel::Dtype::int32;
    buffer.extent[0] = words;
    return buffer;
}

}  // namespace

TEST_CASE("every resident CTA has local memory of its own, and shares what is global") {
    CHECK(memory::bytes_in_use(buffer_of(kernel::Space::local, 1000), 3.0) == 12000.0);
    CHECK(memory::bytes_in_use(buffer_of(kernel::Space::global, 1000), 3.0) == 4000.0);
}

TEST_CASE("local memory that fits is found in the L1, and the less the more of it there is") {
    const auto hits = [](std::int64_t words) {
        return memory::local_hits(buffer_of(kernel::Space::local, words), 0.0, 64e3);
    };
    CHECK(hits(16000) == 1.0);
    CHECK(hits(17000) < 1.0);
    CHECK(hits(17000) > hits(18000));
    CHECK(hits(64000) == 0.25);
    // What goes through in between pushes it out.
    CHECK(memory::local_hits(buffer_of(kernel::Space::local, 16000), 64e3, 64e3) == 0.5);
}
