// L1 room of a CTA: equal parts, the carveout's minimum, and kernels with local memory.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1_room.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

kernel::Kernel kernel_of(std::int64_t ctas) {
    kernel::Kernel kernel;
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.registers_per_thread = 32;
    return kernel;
}

}  // namespace

TEST_CASE("CTAs share what the shared memory leaves of the L1") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    kernel::Kernel one = kernel_of(132);
    const double alone = l1_room(one, gpu);
    CHECK(alone > 0.0);
    CHECK(alone <= gpu.l1.capacity.value() - gpu.l1.reserved.value());
    // Two CTAs an SM have half each; shared memory takes its carveout first.
    CHECK(l1_room(kernel_of(264), gpu) == doctest::Approx(alone / 2.0));
    one.dynamic_shared = 100 * 1024;
    CHECK(l1_room(one, gpu) < alone - 100 * 1024);
    // A preference for no shared memory still leaves the reserved bytes of every CTA that the SM can hold.
    one.dynamic_shared = 0;
    one.carveout = 0;
    CHECK(l1_room(one, gpu) <= gpu.l1.capacity.value() - gpu.l1.reserved.value() -
                                   gpu.shared.reserved_per_cta.value() * gpu.sm.ctas_max.value());
    // Local memory gets all L1 that the kernel's own shared memory leaves.
    kernel::Kernel local = kernel_of(132);
    kernel::Buffer words;
    words.space = kernel::Space::local;
    local.buffers.push_back(words);
    CHECK(l1_room(local, gpu) > alone);
    CHECK(l1_room(local, gpu) == l1_of_sm(local, gpu));
    // Where one SM in two has a CTA more, local memory has the room of the mean SM, other kernels the least.
    local.grid = {198, 1, 1};
    CHECK(l1_room(local, gpu) == doctest::Approx(l1_of_sm(local, gpu) / 1.5));
    CHECK(l1_room(kernel_of(198), gpu) == doctest::Approx(alone / 2.0));
}

}  // namespace warptime::model::machine
