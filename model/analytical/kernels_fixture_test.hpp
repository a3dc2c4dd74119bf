// Small kernels with known demand, for the tests of the engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "model/kernel/examples/parts.hpp"

#include <cstdint>

namespace warptime::model::analytical::fixture {

inline const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

/// `ctas` CTAs of `warps` warps, each warp with `trips` times 64 independent fused multiply-adds: no memory.
inline kernel::Kernel arithmetic(std::int64_t ctas, std::int64_t trips, int warps = 8) {
    kernel::Kernel kernel;
    kernel.name = "arithmetic";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {32 * warps, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    kernel::Builder build(kernel);
    build.role("warps", warps);
    build.loop(trips);
    kernel::examples::add_op(build, kernel::examples::make_op(hw::InstructionClass::fma_f32, 64));
    build.end();
    build.finish();
    return kernel;
}

/// A vector copy or sum: each CTA of 256 threads reads 16 KiB of each of `inputs` vectors and writes 16 KiB.
inline kernel::Kernel stream(std::int64_t ctas, int inputs = 1, bool writes = true) {
    constexpr std::int64_t per_cta = 4096;
    kernel::Kernel kernel;
    kernel.name = "stream";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    kernel::Builder build(kernel);
    kernel::Id value = kernel::no_id;
    build.role("warps", 8);
    const auto access = [&](kernel::Id buffer, kernel::Direction direction) {
        return kernel::examples::lanes(buffer, direction,
                                       build.index(0, {kernel::term(kernel::Variable::tile, per_cta),
                                                       kernel::term(kernel::Variable::warp, 128)}),
                                       16, 1024);
    };
    for (int i = 0; i < inputs; ++i) {
        const kernel::Id in =
            build.buffer(kernel::examples::vector_of("in", hw::Dtype::fp32, ctas * per_cta));
        kernel::examples::Draft load = kernel::examples::make_op(hw::InstructionClass::ld_global, 4);
        kernel::examples::add_access(load, access(in, kernel::Direction::read));
        value = kernel::examples::add_op(build, load);
    }
    if (writes) {
        const kernel::Id out =
            build.buffer(kernel::examples::vector_of("out", hw::Dtype::fp32, ctas * per_cta));
        kernel::examples::Draft store = kernel::examples::make_op(hw::InstructionClass::st_global, 4);
        if (value != kernel::no_id) {
            store.dep_count = 1;
            store.deps[0] = {value, 0};
        }
        store.returns = false;
        kernel::examples::add_access(store, access(out, kernel::Direction::write));
        kernel::examples::add_op(build, store);
    }
    build.finish();
    return kernel;
}
inline constexpr double stream_bytes_per_cta = 16384.0;

}  // namespace warptime::model::analytical::fixture
