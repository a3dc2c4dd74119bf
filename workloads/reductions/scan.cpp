// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/scan.hpp"

#include "workloads/arrays/body.hpp"

#include <algorithm>

namespace warptime::workloads::reductions {

using arrays::Body;
using arrays::ceil_div;
namespace mk = model::kernel;
using mk::Direction;
using mk::Variable;

void lower_cumsum(const arrays::Sizes& s, const arrays::Context& context) {
    const libraries::KernelRule& rule = context.rule("cumsum", s.dtype);
    const std::int64_t log_threads = rule.whole("log_threads");
    // Threads along x and y in the ratio of columns and rows.
    const std::int64_t difference = log_threads + arrays::ceil_log2(s.cols) - arrays::ceil_log2(s.rows);
    const std::int64_t log_x =
        std::clamp(difference >= 0 ? difference / 2 : -1, rule.whole("log_x_least"), log_threads);
    const std::int64_t x = std::int64_t{1} << log_x;
    const std::int64_t y = std::int64_t{1} << (log_threads - log_x);
    arrays::Launch launch;
    launch.name = "cumsum";
    launch.ctas = ceil_div(s.rows, y);
    launch.threads = x;
    launch.threads_y = y;
    launch.registers = rule.whole("registers");
    launch.dynamic_shared = 2 * x * y * s.element_bytes();
    Body body(context.program.add_kernel(), launch);
    mk::Builder& b = body.builder();
    const mk::Id in = body.matrix("in", s.dtype, s.cols, s.rows);
    const mk::Id out = body.matrix("out", s.dtype, s.cols, s.rows);
    const mk::Id scratch = body.shared("scratch", s.dtype, 2 * x * y);
    body.begin();
    const std::int64_t bytes = s.element_bytes();
    const std::int64_t lanes = std::min<std::int64_t>(32, x);
    const std::int64_t warps_of_row = std::max<std::int64_t>(1, x / 32);
    mk::Term of_warp = mk::term(Variable::warp, 32 / lanes);
    of_warp.divisor = warps_of_row;
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id, 2.0);
    b.loop(ceil_div(s.cols, 2 * x));
    const auto of_row = [&](mk::Id buffer, Direction direction, std::int64_t half) {
        const mk::Index col =
            b.sum(body.sum(half * x, {mk::term(Variable::loop, 2 * x)}), body.along_row(warps_of_row, lanes));
        const mk::Index row = body.sum(0, {mk::term(Variable::tile, y), of_warp});
        mk::Access access = body.in_row(buffer, direction, col, row, bytes);
        if (lanes < 32) {
            access.rank = 1;
            access.origin[0] = b.sum(col, b.scaled(row, s.cols));
            access.pattern = mk::PatternKind::stride;
            access.inner_extent = lanes;
            access.outer = s.cols;
        }
        return access;
    };
    const auto in_shared = [&](Direction direction) {
        return Body::lanes(scratch, direction, b.variable(Variable::warp, 32), bytes);
    };
    (void)body.load(of_row(in, Direction::read, 0), last);
    last = body.load(of_row(in, Direction::read, 1), last);
    last = body.add(rule.mix("each"), 1.0, last, 2.0);
    last = body.store(in_shared(Direction::write), last, 2);
    body.meet(last);
    // The tree: up with halves of the threads, and down again.
    for (std::int64_t level = 0; level < 2 * log_x + 1; ++level) {
        last = body.load(in_shared(Direction::read), mk::no_id, 2);
        last = body.add(rule.mix("level"), 1.0, last);
        last = body.store(in_shared(Direction::write), last);
        body.meet(last);
    }
    last = body.load(in_shared(Direction::read), mk::no_id, 2);
    (void)body.store(of_row(out, Direction::write, 0), last);
    last = body.store(of_row(out, Direction::write, 1), last);
    body.meet(last);
    b.end();
    body.finish();
}

}  // namespace warptime::workloads::reductions
