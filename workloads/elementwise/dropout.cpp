// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/dropout.hpp"

#include "workloads/elementwise/stream.hpp"

#include <algorithm>
#include <array>

namespace warptime::workloads::elementwise {

void lower_dropout(const arrays::Sizes& sizes, const arrays::Context& context) {
    const std::int64_t whole = context.rule("dropout", sizes.dtype).whole("vector");
    const bool scalar = sizes.torch && sizes.n % whole != 0;
    const libraries::KernelRule& rule = context.rule(scalar ? "dropout_scalar" : "dropout", sizes.dtype);
    const std::int64_t vector = rule.whole("vector");
    const std::array<Operand, 3> operands{{{"a", sizes.dtype, mk::Direction::read},
                                           {"out", sizes.dtype, mk::Direction::write},
                                           {"mask", mk::Dtype::int8, mk::Direction::write}}};
    if (!sizes.torch) {
        const StreamRule ideal = ideal_stream(context.rule("ideal stream", sizes.dtype), rule.mix("body"),
                                              static_cast<double>(vector), sizes.element_bytes());
        lower_stream("dropout", sizes.n, operands, ideal, context.program.add_kernel());
        return;
    }
    const std::int64_t threads = rule.whole("threads");
    const std::int64_t resident = static_cast<std::int64_t>(context.gpu.sm.count.value()) *
                                  (static_cast<std::int64_t>(context.gpu.sm.threads_max.value()) / threads);
    const std::int64_t ctas = std::min(resident, arrays::ceil_div(sizes.n, threads));
    mk::Kernel& kernel = context.program.add_kernel();
    arrays::Launch launch;
    launch.name = "dropout";
    launch.ctas = ctas;
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    // CTAs behind the last vector end at once; without vectors all draw their numbers.
    if (!scalar) launch.tiles = std::min(ctas, arrays::ceil_div(sizes.n, threads * vector));
    arrays::Body body(kernel, launch);
    const mk::Id in = body.vector("a", sizes.dtype, sizes.n);
    const mk::Id out = body.vector("out", sizes.dtype, sizes.n);
    const mk::Id mask = body.vector("mask", mk::Dtype::int8, sizes.n);
    body.begin();
    const std::int64_t stride = ctas * threads * vector;
    const mk::Id started = body.add(rule.mix("start"), 1.0, mk::no_id, 2.0);
    // Without vectors all threads go round equally often, since they meet in each turn.
    mk::Bounds bounds = mk::Bounds::clip;
    if (scalar) {
        body.builder().loop(arrays::ceil_div(sizes.n, stride));
    } else {
        bounds = body.strided_loop(sizes.n, stride, 32 * vector);
    }
    const auto each = [&](mk::Id buffer, mk::Direction direction, mk::Dtype dtype, auto&& use) {
        const std::int64_t bytes = vector * hw::bytes_of(dtype);
        const std::int64_t pieces = scalar ? vector : std::max<std::int64_t>(1, bytes / 16);
        // Single elements of a thread stand a grid apart, parts of a vector side by side.
        const std::int64_t apart = scalar ? ctas * threads : vector / pieces;
        const std::int64_t lane = scalar ? 1 : vector;
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            mk::Access access =
                arrays::Body::lanes(buffer, direction,
                                    body.sum(piece * apart, {mk::term(mk::Variable::loop, stride),
                                                             mk::term(mk::Variable::tile, threads * lane),
                                                             mk::term(mk::Variable::warp, 32 * lane)}),
                                    bytes / pieces);
            access.bounds = bounds;
            if (pieces > 1 && !scalar) {
                access.pattern = mk::PatternKind::stride;
                access.inner = vector;
            }
            use(access);
        }
    };
    mk::Id loaded = mk::no_id;
    each(in, mk::Direction::read, sizes.dtype,
         [&](const mk::Access& access) { loaded = body.load(access, started); });
    const mk::Id made = body.add(rule.mix("body"), 1.0, loaded, 4.0);
    each(out, mk::Direction::write, sizes.dtype,
         [&](const mk::Access& access) { (void)body.store(access, made); });
    each(mask, mk::Direction::write, mk::Dtype::int8,
         [&](const mk::Access& access) { (void)body.store(access, made); });
    body.builder().end();
    body.finish();
}

}  // namespace warptime::workloads::elementwise
