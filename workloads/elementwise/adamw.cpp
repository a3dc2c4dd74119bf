// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/adamw.hpp"

#include "hw/error.hpp"
#include "workloads/arrays/flow_kernel.hpp"
#include "workloads/elementwise/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warptime::workloads::elementwise {

namespace {

/// Parameters, gradients and both moments; all but the gradients are written.
constexpr std::array<Operand, 7> operands_of(mk::Dtype dtype) {
    return {{{"parameters", dtype, mk::Direction::read},
             {"gradients", dtype, mk::Direction::read},
             {"moment1", dtype, mk::Direction::read},
             {"moment2", dtype, mk::Direction::read},
             {"new_parameters", dtype, mk::Direction::write},
             {"new_moment1", dtype, mk::Direction::write},
             {"new_moment2", dtype, mk::Direction::write}}};
}

/// More launches than this are not written out.
constexpr std::size_t most_launches = 4096;

/// With more trips than this, one more or less of some warps is left out.
constexpr std::int64_t few_trips = 8;

void lower_launch(const arrays::Sizes& sizes, const libraries::KernelRule& rule, std::int64_t first,
                  std::int64_t ctas, std::int64_t per_cta, bool whole, mk::Kernel& kernel) {
    const std::int64_t threads = rule.whole("threads");
    const std::int64_t vector = rule.whole("vector");
    arrays::Launch launch;
    launch.name = "adamw";
    launch.ctas = ctas;
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    arrays::Body body(kernel, launch);
    const std::array<Operand, 7> operands = operands_of(sizes.dtype);
    std::array<mk::Id, 4> buffers{};
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i] = body.vector(operands[i].name, sizes.dtype, sizes.n);
    }
    body.begin();
    const mk::Id started = body.add(rule.mix("start"), 1.0, mk::no_id, 2.0);
    const std::int64_t step = threads * vector;
    const std::int64_t trips = arrays::ceil_div(per_cta, step);
    if (whole && trips <= few_trips) {
        // Warps behind the end of a short tensor make no trip.
        mk::Builder& b = body.builder();
        const mk::Index missing = b.index(per_cta + step - 1, {mk::term(mk::Variable::warp, -32 * vector)});
        b.loop(b.clamp(b.floordiv(missing, step), 0, trips));
    } else {
        body.builder().loop(trips);
    }
    // Tensors that are not whole vectors go element by element, the CTA's threads apart.
    const std::int64_t pieces = whole ? 1 : vector;
    const auto access = [&](std::size_t array, mk::Direction direction) {
        return arrays::Body::lanes(
            buffers[array], direction,
            body.sum(first * per_cta,
                     {mk::term(mk::Variable::tile, per_cta), mk::term(mk::Variable::loop, step),
                      mk::term(mk::Variable::warp, 32 * vector / pieces)}),
            vector / pieces * sizes.element_bytes(), whole ? 0 : threads);
    };
    mk::Id loaded = whole ? started : body.add(rule.mix("single"), 1.0, started, 4.0);
    // One at a time, elements behind the end of a short tensor are left out.
    const bool leaves_out = !whole && trips <= few_trips;
    const auto each_piece = [&](std::size_t array, mk::Direction direction, auto&& move) {
        if (!leaves_out) {
            move(access(array, direction), pieces);
            return;
        }
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            mk::Access one = access(array, direction);
            one.origin[0] = body.builder().sum(one.origin[0], body.sum(piece * threads, {}));
            move(one, 1);
            mk::When& when = kernel.ops.back().when;
            when.active = true;
            when.value = body.sum(piece * threads,
                                  {mk::term(mk::Variable::loop, step), mk::term(mk::Variable::warp, 32)});
            when.low = 0;
            when.high = per_cta;
        }
    };
    for (std::size_t i = 0; i < 4; ++i) {
        each_piece(i, mk::Direction::read, [&](const mk::Access& from, std::int64_t count) {
            loaded = body.load(from, mk::no_id, count);
        });
    }
    // Branches past the slow paths of roots and quotients keep the elements one after another. Zeros of
    // elements that are left out take these paths. The last warp of a CTA has most of such elements.
    const std::int64_t missing = whole ? 0 : trips * vector - per_cta / threads;
    const mk::Id slow = missing > 0
                            ? body.add(rule.mix("left_out"),
                                       static_cast<double>(missing) / static_cast<double>(trips), loaded)
                            : loaded;
    const mk::Id made = body.add(rule.mix("body"), 1.0, slow);
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
        each_piece(i, mk::Direction::write,
                   [&](const mk::Access& to, std::int64_t count) { (void)body.store(to, made, count); });
    }
    body.builder().end();
    body.finish();
}

}  // namespace

std::vector<std::int64_t> chunk_launches(std::int64_t tensors, std::int64_t length, std::int64_t chunk,
                                         std::int64_t most_ctas, std::int64_t most_tensors) {
    std::vector<std::int64_t> launches;
    const std::int64_t chunks = arrays::ceil_div(length, chunk);
    std::int64_t ctas = 0;
    std::int64_t listed = 0;
    for (std::int64_t tensor = 0; tensor < tensors; ++tensor) {
        ++listed;
        std::int64_t left = chunks;
        while (left > 0) {
            const std::int64_t taken = std::min(left, most_ctas - ctas);
            ctas += taken;
            left -= taken;
            const bool full = ctas == most_ctas || (listed == most_tensors && left == 0);
            if (!full) continue;
            launches.push_back(ctas);
            ctas = 0;
            listed = left == 0 ? 0 : 1;
        }
    }
    if (ctas > 0) launches.push_back(ctas);
    return launches;
}

void lower_adamw(const arrays::Sizes& sizes, const arrays::Context& context) {
    const libraries::KernelRule& rule = context.rule("adamw", sizes.dtype);
    if (!sizes.torch) {
        const std::array<Operand, 7> operands = operands_of(sizes.dtype);
        const StreamRule ideal =
            ideal_stream(context.rule("ideal stream", sizes.dtype), rule.mix("body"),
                         static_cast<double>(rule.whole("vector")), sizes.element_bytes());
        lower_stream("adamw", sizes.n, operands, ideal, context.program.add_kernel());
        return;
    }
    const std::int64_t length = arrays::ceil_div(sizes.n, sizes.tensors);
    const std::int64_t chunk = rule.whole("chunk");
    const std::int64_t chunks = arrays::ceil_div(length, chunk) * sizes.tensors;
    if (chunks / rule.whole("most_ctas") > static_cast<std::int64_t>(most_launches) ||
        sizes.tensors / rule.whole("most_tensors") > static_cast<std::int64_t>(most_launches)) {
        throw Error("adamw tensors", fmt::format("{} with n={}", sizes.tensors, sizes.n),
                    fmt::format("at most {} launches of the fused optimizer", most_launches));
    }
    // The steps of the tensors are counted first.
    const libraries::KernelRule& steps = context.rule("adamw_steps", sizes.dtype);
    for (std::int64_t first = 0; first < sizes.tensors; first += steps.whole("most_tensors")) {
        arrays::FlowKernel count;
        count.launch.name = steps.name;
        count.launch.ctas = std::min(sizes.tensors - first, steps.whole("most_tensors"));
        count.launch.threads = steps.whole("threads");
        count.launch.registers = steps.whole("registers");
        count.start = steps.mix("start");
        count.piece = 1;
        count.flows = {{"steps", mk::Dtype::fp32, mk::Direction::read, count.launch.ctas, 1},
                       {"new_steps", mk::Dtype::fp32, mk::Direction::write, count.launch.ctas, 1}};
        arrays::lower_flow(count, context.program.add_kernel());
    }
    const std::vector<std::int64_t> launches =
        chunk_launches(sizes.tensors, length, chunk, rule.whole("most_ctas"), rule.whole("most_tensors"));
    std::int64_t first = 0;
    for (const std::int64_t ctas : launches) {
        lower_launch(sizes, rule, first, ctas, arrays::ceil_div(sizes.n, chunks),
                     length % rule.whole("vector") == 0, context.program.add_kernel());
        first += ctas;
    }
}

}  // namespace warptime::workloads::elementwise
