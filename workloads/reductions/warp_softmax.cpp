// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/warp_softmax.hpp"

#include "workloads/arrays/body.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads::reductions {

using arrays::Body;
using arrays::ceil_div;
namespace mk = model::kernel;
using mk::Direction;
using mk::Variable;

void lower_warp_softmax(const arrays::Sizes& sizes, WarpSoftmax kind, const arrays::Context& context) {
    const char* names[] = {"softmax_warp", "log_softmax_warp", "softmax_backward_warp"};
    const char* name = names[static_cast<std::size_t>(kind)];
    const libraries::KernelRule& rule = context.rule(name, sizes.dtype);
    const std::int64_t bits = arrays::ceil_log2(sizes.cols);
    const std::int64_t width = std::int64_t{1} << bits;
    const std::int64_t lanes = std::min<std::int64_t>(width, 32);
    const std::int64_t batch = width <= rule.whole("two_rows_up_to") ? 2 : 1;
    // A lane has room for `each` elements; those beyond the row are neither loaded nor made.
    const std::int64_t each = width / lanes;
    const std::int64_t there = ceil_div(sizes.cols, lanes);
    const std::int64_t threads = rule.whole("threads");
    // Short rows leave lanes of a warp to other rows.
    const std::int64_t rows_of_warp = 32 / lanes * batch;
    const std::int64_t rows_of_cta = threads / 32 * rows_of_warp;
    arrays::Launch launch;
    launch.name = name;
    launch.ctas = ceil_div(sizes.rows, rows_of_cta);
    launch.threads = lanes;
    launch.threads_y = threads / lanes;
    launch.registers = rule.whole(fmt::format("registers_{}", std::max<std::int64_t>(bits, 5)));
    Body body(context.program.add_kernel(), launch);
    mk::Builder& b = body.builder();
    const bool backward = kind == WarpSoftmax::backward;
    const mk::Id in = body.matrix("in", sizes.dtype, sizes.cols, sizes.rows);
    const mk::Id also = backward ? body.matrix("output", sizes.dtype, sizes.cols, sizes.rows) : mk::no_id;
    const mk::Id out = body.matrix("out", sizes.dtype, sizes.cols, sizes.rows);
    body.begin();
    const std::int64_t bytes = sizes.element_bytes();
    const mk::Index row =
        body.sum(0, {mk::term(Variable::tile, rows_of_cta), mk::term(Variable::warp, rows_of_warp)});
    const auto of_row = [&](mk::Id buffer, Direction direction, std::int64_t which, const mk::Index& col) {
        const mk::Index at = b.sum(row, mk::Builder::constant(which));
        mk::Access access = body.in_row(buffer, direction, col, at, bytes, lanes);
        if (lanes < 32) {
            // Lanes of several rows: addresses in memory, with the columns between row's end and width.
            access.rank = 1;
            access.origin[0] = b.sum(col, b.scaled(at, sizes.cols));
            access.pattern = mk::PatternKind::stride;
            access.inner_extent = lanes;
            access.inner = 1;
            access.outer = sizes.cols * batch;
        }
        return access;
    };
    const auto elements = static_cast<double>(each * batch);
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id, 2.0);
    last = body.add(rule.mix("each_load"), elements, last, elements);
    mk::Id loaded = last;
    const mk::Index first = mk::Builder::constant(0);
    for (std::int64_t i = 0; i < batch; ++i) {
        loaded = body.load(of_row(in, Direction::read, i, first), last, there);
        if (backward) loaded = body.load(of_row(also, Direction::read, i, first), last, there);
    }
    const std::int64_t steps = arrays::floor_log2(lanes);
    const auto rows = static_cast<double>(batch);
    last = body.add(rule.mix("first"), elements, loaded, rows);
    for (std::int64_t i = 0; i < steps; ++i) last = body.add(rule.mix("step"), rows, last, rows);
    if (!backward) {
        // Few registers are left, so that the exponentials of few elements are under way at a time.
        last = body.add(rule.mix("second"), elements, last, std::min(elements, rule.number("streams")));
        for (std::int64_t i = 0; i < steps; ++i) last = body.add(rule.mix("step"), rows, last, rows);
    }
    // Each element is divided and stored before the next one.
    for (std::int64_t i = 0; i < batch; ++i) {
        b.loop(there);
        const mk::Id made = body.add(rule.mix("each_store"), 1.0, last);
        (void)body.store(of_row(out, Direction::write, i, b.variable(Variable::loop, lanes)), made);
        b.end();
    }
    body.finish();
}

}  // namespace warptime::workloads::reductions
