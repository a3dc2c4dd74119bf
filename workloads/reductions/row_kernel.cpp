// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/row_kernel.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

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
            buffers_.push_back(array.kind == RowArray::Kind::matrix
                                   ? body_.matrix(array.name, array.dtype, row.cols, row.rows)
                               : array.kind == RowArray::Kind::vector
                                   ? body_.vector(array.name, array.dtype, row.cols)
                                   : body_.shared(array.name, array.dtype, row.cols));
        }
        for (const RowArray& array : row.results) {
            results_.push_back(body_.vector(array.name, array.dtype, row.rows));
        }
        add_lost_arrays();
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
            if (!step.pass.reads.empty()) before_ = &step.pass;
            if (step.reduction.kind == Reduction::Kind::by_first_warp) {
                last_ = body_.reduce_by_first_warp(scratch_, step.reduction.step, last_);
            } else if (step.reduction.kind == Reduction::Kind::by_halves) {
                last_ = body_.reduce_warp(step.reduction.shuffles, step.reduction.step, last_);
                last_ = body_.reduce_by_halves(scratch_, 8, step.reduction.halving, last_, false, 2);
                body_.meet(last_);
            } else if (step.reduction.kind == Reduction::Kind::by_threads) {
                last_ = reduce_by_threads(step.reduction.step, last_);
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
    /// What the L2 has lost of a matrix is read as another one, which no earlier pass has brought.
    void add_lost_arrays() {
        static constexpr std::array<std::string_view, 6> names{"again0", "again1", "again2",
                                                               "again3", "again4", "again5"};
        lost_.resize(row_.arrays.size(), mk::no_id);
        std::vector<bool> seen(row_.arrays.size(), false);
        std::size_t count = 0;
        for (const RowKernel::Step& step : row_.steps) {
            for (const RowAccess& read : step.pass.reads) {
                const RowArray& array = row_.arrays[read.array];
                if (array.kind != RowArray::Kind::matrix || count == names.size()) continue;
                if (step.pass.kept < 1.0 && seen[read.array] && lost_[read.array] == mk::no_id)
                    lost_[read.array] = body_.matrix(names[count++], array.dtype, row_.cols, row_.rows);
            }
            for (const RowAccess& read : step.pass.reads) seen[read.array] = true;
        }
    }

    mk::Id reduce_by_threads(const libraries::Mix& step, mk::Id after) {
        const auto word = [&](Direction direction, const mk::Index& origin) {
            return Body::lanes(scratch_, direction, origin, 4);
        };
        const mk::Index start = mk::Builder::constant(0);
        body_.meet(after);
        body_.meet(body_.store(word(Direction::write, body_.builder().variable(Variable::warp, 32)), after));
        mk::Branch first;
        first.slowest = {1.0, 1.0};
        body_.builder().branch(first);
        const std::int64_t lanes = body_.warps();
        body_.builder().lanes(body_.builder().index(lanes, {mk::term(Variable::warp, -32)}));
        // A lane's 32 words lie side by side, so that all lanes ask the same bank.
        mk::Access own = word(Direction::read, start);
        own.pattern = mk::PatternKind::stride;
        own.inner_extent = lanes;
        own.inner = 32;
        own.step = 1;
        mk::Id sum = body_.load(own, after, 32);
        sum = body_.add(step, 32.0, sum);
        sum = body_.store(word(Direction::write, start), sum);
        body_.builder().end();
        body_.meet(sum);
        body_.builder().branch(first);
        body_.builder().lanes(body_.builder().index(1, {mk::term(Variable::warp, -1)}));
        mk::Access all = word(Direction::read, start);
        all.pattern = mk::PatternKind::broadcast;
        sum = body_.add(step, static_cast<double>(lanes), body_.load(all, mk::no_id, lanes));
        mk::Access result = word(Direction::write, start);
        result.pattern = mk::PatternKind::broadcast;
        (void)body_.store(result, sum);
        body_.builder().end();
        body_.meet(mk::no_id);
        return body_.load(all, mk::no_id);
    }

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

    /// Which elements of a lane's vector a load by elements takes. The first one brings the sectors of all.
    enum class Elements { all, first, behind_first };

    mk::Id access(const RowAccess& what, Direction direction, const mk::Index& col, std::int64_t vector,
                  mk::Id after, Elements elements = Elements::all) {
        const RowArray& array = row_.arrays[what.array];
        const bool lost =
            lost_now_ && direction == Direction::read && seen_[what.array] && lost_[what.array] != mk::no_id;
        const mk::Id buffer = lost ? lost_[what.array] : buffers_[what.array];
        const Form form = form_of(array, what, vector);
        mk::Access a =
            array.kind == RowArray::Kind::matrix
                ? body_.in_row(buffer, direction, col, body_.builder().variable(Variable::tile), form.bytes)
                : Body::lanes(buffer, direction, col, form.bytes);
        if (form.pieces > 1) {
            a.pattern = mk::PatternKind::stride;
            a.inner = vector;
            a.step = vector / form.pieces;
        }
        if (direction == Direction::read && array.kind != RowArray::Kind::shared) {
            // What an earlier pass has read; else the elements beside those of the instruction before.
            if (seen_[what.array] && !lost) {
                a.reuse = body_.touched_before(1.0, bytes_since_);
            } else if (elements == Elements::behind_first) {
                a.reuse = body_.touched_before(1.0, static_cast<double>(mk::Reuse::least_distance));
            }
        }
        const std::int64_t count = elements == Elements::first          ? 1
                                   : elements == Elements::behind_first ? form.pieces - 1
                                                                        : form.pieces;
        return direction == Direction::write ? body_.store(a, after, count) : body_.load(a, after, count);
    }

    void read(const RowAccess& what, const mk::Index& col, std::int64_t vector, mk::Id after,
              std::vector<mk::Id>& reads) {
        if (!what.by_element || vector == 1) {
            reads.push_back(access(what, Direction::read, col, vector, after));
            return;
        }
        mk::Builder& b = body_.builder();
        reads.push_back(access(what, Direction::read, col, vector, after, Elements::first));
        reads.push_back(access(what, Direction::read, b.sum(col, mk::Builder::constant(1)), vector, after,
                               Elements::behind_first));
    }

    /// `count` trips whose loads go first, from trip `first` (an index) on.
    mk::Id trips(const Pass& pass, const mk::Index& first_col, std::int64_t count, mk::Id after) {
        const std::int64_t step = row_.threads * row_.threads_y * pass.vector;
        std::vector<std::vector<mk::Id>> loaded;
        mk::Builder& b = body_.builder();
        for (std::int64_t i = 0; i < count; ++i) {
            const mk::Index col = b.sum(first_col, mk::Builder::constant(i * step));
            std::vector<mk::Id>& reads = loaded.emplace_back();
            // Without a loop, each load has an address and a comparison of its own before it.
            const bool placed = pass.unrolled_all && !pass.held;
            if (placed) (void)body_.add(pass.loop, 1.0, mk::no_id);
            if (pass.held) continue;
            for (const RowAccess& what : pass.reads) read(what, col, pass.vector, after, reads);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            const mk::Index col = b.sum(first_col, mk::Builder::constant(i * step));
            const std::vector<mk::Id>& reads = loaded[static_cast<std::size_t>(i)];
            if (!pass.unrolled_all || pass.held) (void)body_.add(pass.loop, 1.0, mk::no_id);
            after = reads.empty()
                        ? body_.add(pass.each, 1.0, after, pass.streams)
                        : body_.add(pass.each, 1.0, reads.front(), std::span(reads).subspan(1), pass.streams);
            for (const RowAccess& write : pass.writes) {
                (void)access(write, Direction::write, col, pass.vector, after);
            }
        }
        return after;
    }

    /// Bytes that a CTA touches between two reads of an element, half of those that only the later pass
    /// reads.
    [[nodiscard]] double bytes_since(const Pass& pass) const {
        if (before_ == nullptr) return 0.0;
        std::vector<double> share(row_.arrays.size(), 0.0);
        for (const RowAccess& read : pass.reads) share[read.array] = 0.5;
        for (const RowAccess& read : before_->reads) share[read.array] += 0.5;
        double bytes = 0.0;
        for (std::size_t i = 0; i < row_.arrays.size(); ++i) {
            if (row_.arrays[i].kind == RowArray::Kind::shared) continue;
            bytes += share[i] * static_cast<double>(row_.cols * hw::bytes_of(row_.arrays[i].dtype));
        }
        return bytes;
    }

    [[nodiscard]] std::int64_t all_threads() const { return row_.threads * row_.threads_y; }

    /// The pass one element a thread at a time.
    [[nodiscard]] static Pass single(const Pass& pass) {
        Pass one = pass;
        for (libraries::ClassCount& part : one.each) part.count /= static_cast<double>(pass.vector);
        one.vector = 1;
        one.unroll = 1;
        one.streams = 1.0;
        return one;
    }

    void write_pass(const Pass& pass) {
        if (pass.reads.empty() && pass.writes.empty() && pass.each.empty()) return;
        bytes_since_ = bytes_since(pass);
        if (pass.unrolled_all) {
            const std::int64_t all = ceil_div(row_.cols, all_threads() * pass.vector);
            last_ = trips(pass, body_.builder().variable(Variable::warp, 32 * pass.vector), all, last_);
            return;
        }
        if (!pass.peeled) {
            walk(pass, 0, row_.cols);
            return;
        }
        const Peeled peeled = peel(row_.cols, all_threads(), pass.vector);
        const Pass one = single(pass);
        if (peeled.before > 0) walk(one, -peeled.shift, peeled.before);
        const std::int64_t end = peeled.before + peeled.rounds * all_threads() * pass.vector;
        walk(pass, peeled.before, end);
        walk(one, end, row_.cols);
    }

    /// Elements `from` to `to` of the row, where the L2 has kept some in the first trips.
    void walk(const Pass& pass, std::int64_t from, std::int64_t to) {
        const std::int64_t step = all_threads() * pass.vector;
        const auto kept = static_cast<std::int64_t>(pass.kept * static_cast<double>(row_.cols));
        const std::int64_t middle =
            pass.kept >= 1.0 ? to : from + std::clamp<std::int64_t>(kept - from, 0, to - from) / step * step;
        walk_trips(pass, from, middle);
        lost_now_ = true;
        walk_trips(pass, middle, to);
        lost_now_ = false;
    }

    void walk_trips(const Pass& pass, std::int64_t from, std::int64_t to) {
        if (to <= from) return;
        mk::Builder& b = body_.builder();
        const std::int64_t step = all_threads() * pass.vector;
        const mk::Index first = body_.sum(from, {mk::term(Variable::warp, 32 * pass.vector)});
        const std::int64_t all = ceil_div(to - from, step);
        const std::int64_t grouped = all / pass.unroll;
        if (grouped > 0 && pass.unroll > 1) {
            b.loop(grouped);
            const mk::Index col = b.sum(first, b.variable(Variable::loop, step * pass.unroll));
            const mk::Id inside = trips(pass, col, pass.unroll, last_);
            b.end();
            last_ = inside;
        }
        const std::int64_t rest = all - (pass.unroll > 1 ? grouped * pass.unroll : 0);
        if (rest == 0) return;
        // Warps beyond the end make no trip of the last round.
        const std::int64_t done = (all - rest) * step;
        const std::int64_t left = to - from - done;
        if (left % step == 0 || rest > few_trips) {
            b.loop(rest);
        } else {
            const mk::Index missing = b.index(left + step - 1, {mk::term(Variable::warp, -32 * pass.vector)});
            b.loop(b.clamp(b.floordiv(missing, step), 0, rest));
        }
        const mk::Index col =
            b.sum(b.sum(first, mk::Builder::constant(done)), b.variable(Variable::loop, step));
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
    std::vector<mk::Id> lost_;      ///< the array that stands for what the L2 has lost of one
    const Pass* before_ = nullptr;  ///< the last pass that has read
    double bytes_since_ = 0.0;
    bool lost_now_ = false;
    std::vector<bool> seen_ = std::vector<bool>(row_.arrays.size(), false);  ///< read by an earlier pass
    mk::Id scratch_ = mk::no_id;
    mk::Id last_ = mk::no_id;
};

}  // namespace

Peeled peel(std::int64_t cols, std::int64_t threads, std::int64_t vector) {
    Peeled result;
    // Rows whose length is no whole number of vectors mostly begin inside one.
    if (vector > 1 && cols % vector != 0) result.shift = vector / 2;
    if (result.shift > 0) result.before = std::min(cols, threads - result.shift);
    result.rounds = (cols - result.before) / (threads * vector);
    result.behind = cols - result.before - result.rounds * threads * vector;
    return result;
}

void lower_row_kernel(const RowKernel& row, mk::Kernel& kernel) {
    RowWriter(row, kernel).write();
}

}  // namespace warptime::workloads::reductions
