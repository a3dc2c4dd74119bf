// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/row_kernel.hpp"

#include <algorithm>

namespace warptime::workloads::reductions {

using arrays::Body;
using arrays::ceil_div;
using mk::Direction;
using mk::Variable;

namespace {

class RowWriter {
  public:
    RowWriter(const RowKernel& row, mk::Kernel& kernel)
        : row_(row),
          body_(kernel, arrays::Launch{row.name, row.rows, 1, row.threads, row.threads_y, row.registers,
                                       row.static_shared, row.dynamic_shared}) {
        for (const RowArray& array : row.arrays) {
            buffers_.push_back(array.kind == RowArray::Kind::matrix || array.kind == RowArray::Kind::again
                                   ? body_.matrix(array.name, array.dtype, row.cols, row.rows)
                               : array.kind == RowArray::Kind::vector
                                   ? body_.vector(array.name, array.dtype, row.cols)
                                   : body_.shared(array.name, array.dtype, row.cols));
        }
        for (const RowArray& array : row.results) {
            results_.push_back(body_.vector(array.name, array.dtype, row.rows));
        }
        // What the arrays leave of the shared memory holds the warps' results.
        std::int64_t used = 0;
        for (const RowArray& array : row.arrays) {
            if (array.kind == RowArray::Kind::shared) used += row.cols * hw::bytes_of(array.dtype);
        }
        const std::int64_t words = (row.static_shared + row.dynamic_shared - used) / 4;
        if (words > 0) scratch_ = body_.shared("scratch", mk::Dtype::fp32, words, used);
    }

    void write() {
        body_.begin();
        last_ = body_.add(row_.start, 1.0, mk::no_id, 2.0);
        for (const RowKernel::Step& step : row_.steps) {
            write_pass(step.pass);
            for (const RowAccess& read : step.pass.reads) seen_[read.array] = true;
            if (step.reduction.kind == Reduction::Kind::by_first_warp) {
                last_ = body_.reduce_by_first_warp(scratch_, step.reduction.step, last_);
            } else if (step.reduction.kind == Reduction::Kind::by_halves) {
                last_ = body_.reduce_warp(step.reduction.shuffles, step.reduction.step, last_);
                last_ = body_.reduce_by_halves(scratch_, 8, step.reduction.step, last_, false);
                body_.meet(last_);
            }
            last_ = body_.add(step.after, 1.0, last_, 2.0);
        }
        for (const mk::Id result : results_) {
            mk::Access access =
                Body::lanes(result, Direction::write, body_.builder().variable(Variable::tile), 4);
            access.pattern = mk::PatternKind::broadcast;
            (void)body_.store(access, last_);
            mk::Builder& b = body_.builder();
            b.lanes(b.index(32, {mk::term(Variable::warp, -32)}));
        }
        body_.finish();
    }

  private:
    /// Bytes of an instruction of a lane, at most 16.
    struct Form {
        std::int64_t bytes;
        std::int64_t pieces;
    };
    static Form form_of(const RowArray& array, const RowAccess& access, std::int64_t vector) {
        const std::int64_t element = hw::bytes_of(array.dtype);
        if (access.by_element) return {element, vector};
        return {std::min<std::int64_t>(16, vector * element), ceil_div(vector * element, 16)};
    }

    mk::Id access(const RowAccess& what, Direction direction, const mk::Index& col, std::int64_t vector,
                  mk::Id after) {
        const RowArray& array = row_.arrays[what.array];
        const mk::Id buffer = buffers_[what.array];
        const Form form = form_of(array, what, vector);
        mk::Access a =
            array.kind == RowArray::Kind::matrix || array.kind == RowArray::Kind::again
                ? body_.in_row(buffer, direction, col, body_.builder().variable(Variable::tile), form.bytes)
                : Body::lanes(buffer, direction, col, form.bytes);
        if (form.pieces > 1) {
            a.pattern = mk::PatternKind::stride;
            a.inner = vector;
            a.step = vector / form.pieces;
        }
        if (direction == Direction::read && array.kind != RowArray::Kind::shared) {
            // What an earlier pass has read; else the elements beside those of the instruction before.
            const auto pieces = static_cast<double>(form.pieces);
            if (seen_[what.array]) {
                a.reuse = body_.touched_before(1.0, row_bytes());
            } else if (what.by_element && form.pieces > 1) {
                a.reuse =
                    body_.touched_before(1.0 - 1.0 / pieces, static_cast<double>(mk::Reuse::least_distance));
            }
        }
        return direction == Direction::write ? body_.store(a, after, form.pieces)
                                             : body_.load(a, after, form.pieces);
    }

    /// `count` trips whose loads go first, from trip `first` (an index) on.
    mk::Id trips(const Pass& pass, const mk::Index& first_col, std::int64_t count, mk::Id after) {
        const std::int64_t step = row_.threads * row_.threads_y * pass.vector;
        std::vector<mk::Id> loaded;
        mk::Builder& b = body_.builder();
        for (std::int64_t i = 0; i < count; ++i) {
            const mk::Index col = b.sum(first_col, mk::Builder::constant(i * step));
            mk::Id last = mk::no_id;
            // Without a loop, each load has an address and a comparison of its own before it.
            const bool placed = pass.unrolled_all && !pass.held;
            if (placed) (void)body_.add(pass.loop, 1.0, mk::no_id);
            for (const RowAccess& read : pass.reads) {
                if (!pass.held) last = access(read, Direction::read, col, pass.vector, after);
            }
            loaded.push_back(last);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            const mk::Index col = b.sum(first_col, mk::Builder::constant(i * step));
            const mk::Id ready = loaded[static_cast<std::size_t>(i)];
            if (!pass.unrolled_all || pass.held) (void)body_.add(pass.loop, 1.0, mk::no_id);
            after = body_.add(pass.each, 1.0, ready == mk::no_id ? after : ready, pass.streams);
            for (const RowAccess& write : pass.writes) {
                (void)access(write, Direction::write, col, pass.vector, after);
            }
        }
        return after;
    }

    /// Bytes that a pass over all arrays in global memory touches.
    [[nodiscard]] double row_bytes() const {
        double bytes = 0.0;
        for (const RowArray& array : row_.arrays) {
            if (array.kind != RowArray::Kind::shared && array.kind != RowArray::Kind::again)
                bytes += static_cast<double>(row_.cols * hw::bytes_of(array.dtype));
        }
        return bytes;
    }

    mk::Index origin(const Pass& pass) { return body_.builder().variable(Variable::warp, 32 * pass.vector); }

    void write_pass(const Pass& pass) {
        if (pass.reads.empty() && pass.writes.empty() && pass.each.empty()) return;
        mk::Builder& b = body_.builder();
        const std::int64_t step = row_.threads * row_.threads_y * pass.vector;
        const std::int64_t all = ceil_div(row_.cols, step);
        if (pass.unrolled_all) {
            last_ = trips(pass, origin(pass), all, last_);
            return;
        }
        const std::int64_t grouped = all / pass.unroll;
        if (grouped > 0 && pass.unroll > 1) {
            b.loop(grouped);
            const mk::Index col = b.sum(origin(pass), b.variable(Variable::loop, step * pass.unroll));
            const mk::Id inside = trips(pass, col, pass.unroll, last_);
            b.end();
            last_ = inside;
        }
        const std::int64_t rest = all - (pass.unroll > 1 ? grouped * pass.unroll : 0);
        if (rest == 0) return;
        // Warps beyond the row's end make no trip of the last round.
        const std::int64_t done = (all - rest) * step;
        const std::int64_t left = row_.cols - done;
        if (left % step == 0 || rest > few_trips) {
            b.loop(rest);
        } else {
            const mk::Index missing = b.index(left + step - 1, {mk::term(Variable::warp, -32 * pass.vector)});
            b.loop(b.clamp(b.floordiv(missing, step), 0, rest));
        }
        const mk::Index col =
            b.sum(b.sum(origin(pass), mk::Builder::constant(done)), b.variable(Variable::loop, step));
        const mk::Id inside = trips(pass, col, 1, last_);
        b.end();
        last_ = inside;
    }

    /// With more trips than this, one more or less of some warps is left out.
    static constexpr std::int64_t few_trips = 8;

    const RowKernel& row_;
    Body body_;
    std::vector<mk::Id> buffers_;
    std::vector<mk::Id> results_;
    std::vector<bool> seen_ = std::vector<bool>(row_.arrays.size(), false);  ///< read by an earlier pass
    mk::Id scratch_ = mk::no_id;
    mk::Id last_ = mk::no_id;
};

}  // namespace

void lower_row_kernel(const RowKernel& row, mk::Kernel& kernel) {
    RowWriter(row, kernel).write();
}

}  // namespace warptime::workloads::reductions
