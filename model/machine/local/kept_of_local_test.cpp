// What the L2 keeps of local memory: by distances, and of all that is visited in turn.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/local/kept_of_local.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <cstddef>

namespace warptime::model::machine {

TEST_CASE("CTAs at work share what the L2 retains of local memory") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    kernel::Kernel kernel;
    kernel::Buffer words;
    words.space = kernel::Space::local;
    words.dtype = hw::Dtype::int8;
    words.extent[0] = 65536;
    kernel.buffers.push_back(words);
    kernel::Access& access = kernel.accesses.emplace_back();
    access.buffer = 0;
    const double capacity = gpu.l2.capacity.value();
    for (const double ctas : {132.0, 528.0, 1056.0}) {
        CAPTURE(ctas);
        // A description without distances: all of the buffer is visited in turn.
        access.reuse = 0;
        CHECK(kept_of_local(kernel, access, ctas, gpu) ==
              kept_at_random(65536.0 * ctas / (capacity * gpu.l2.usable.value())));
        CHECK(stored_again(kernel, access) == 0.0);
        kernel::Reuse reuse;
        for (std::size_t i = 5; i < kernel::Reuse::distances; ++i) reuse.sectors[i] = 0.9;
        kernel.reuse = {reuse};
        access.reuse = 1;
        // A tenth comes back after more than the largest distance, in turn with all else.
        CHECK(kept_of_local(kernel, access, ctas, gpu) ==
              doctest::Approx(kept_by_random(reuse.sectors, capacity * gpu.l2.retained.value() / ctas) +
                              0.1 * kept_at_random(65536.0 * ctas / (capacity * gpu.l2.usable.value()))));
        CHECK(stored_again(kernel, access) == 0.9);
    }
    // Few CTAs keep all; many lose what comes back late.
    CHECK(kept_of_local(kernel, access, 132.0, gpu) == doctest::Approx(1.0));
    CHECK(kept_of_local(kernel, access, 2112.0, gpu) < 0.5);
}

}  // namespace warptime::model::machine
