// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/reduce.hpp"

#include "workloads/arrays/body.hpp"
#include "workloads/reductions/reduce_config.hpp"

#include <algorithm>

namespace warptime::workloads::reductions {

using arrays::Body;
using arrays::ceil_div;
namespace mk = model::kernel;
using mk::Direction;
using mk::Variable;

namespace {

class ReduceWriter {
  public:
    ReduceWriter(const Reduce& reduce, const ReduceConfig& config, const libraries::KernelRule& rule,
                 mk::Kernel& kernel)
        : reduce_(reduce),
          config_(config),
          rule_(rule),
          value_bytes_(rule.whole("value_bytes")),
          kernel_(kernel),
          body_(kernel, launch()) {}

    void write() {
        mk::Builder& b = body_.builder();
        in_ = reduce_.along_rows ? body_.matrix("in", reduce_.dtype, reduce_.inputs, reduce_.outputs)
                                 : body_.matrix("in", reduce_.dtype, reduce_.outputs, reduce_.inputs);
        out_ = body_.vector("out", reduce_.result, reduce_.outputs);
        const std::int64_t words = ceil_div(value_bytes_, 4);
        if (shared_bytes() > 0) scratch_ = body_.shared("scratch", mk::Dtype::fp32, shared_bytes() / 4);
        if (config_.ctas_per_output > 1) {
            staging_ = body_.vector("staging", mk::Dtype::fp32,
                                    words * config_.output_vector * config_.ctas * config_.ctas_per_output *
                                        (reduce_.along_rows ? 1 : config_.width));
            counters_ = body_.vector("counters", mk::Dtype::int32, config_.ctas);
        }
        body_.begin();
        last_ = body_.add(rule_.mix("start"), 1.0, mk::no_id, 2.0);
        if (reduce_.along_rows) {
            walk_row();
        } else {
            walk_columns();
        }
        combine_cta();
        if (config_.ctas_per_output > 1) {
            share();
        } else {
            store_result();
        }
        (void)b;
        body_.finish();
    }

  private:
    [[nodiscard]] arrays::Launch launch() const {
        arrays::Launch launch;
        launch.name = rule_.name;
        launch.ctas = config_.ctas;
        launch.ctas_y = config_.ctas_per_output;
        launch.threads = config_.width;
        launch.threads_y = config_.height;
        launch.registers = rule_.whole(reduce_.along_rows || config_.output_vector == 1 ? "registers"
                                       : config_.output_vector == 2 ? "registers_columns_2"
                                                                    : "registers_columns");
        // 16 bytes say whether this is the last CTA of its result.
        launch.static_shared = 16;
        launch.dynamic_shared = shared_bytes();
        return launch;
    }

    [[nodiscard]] std::int64_t shared_bytes() const {
        const bool uses_shared = config_.across_y || (reduce_.along_rows && config_.width > 32);
        return uses_shared ? value_bytes_ * config_.output_vector * config_.width * config_.height : 0;
    }

    [[nodiscard]] std::int64_t warps_of_row() const { return std::max<std::int64_t>(1, config_.width / 32); }

    void walk_row() {
        mk::Builder& b = body_.builder();
        const std::int64_t vector = config_.input_vector;
        const std::int64_t element = hw::bytes_of(reduce_.dtype);
        const std::int64_t step = config_.step_input * vector;
        const std::int64_t lanes = std::min<std::int64_t>(32, config_.width);
        const std::int64_t rows_of_warp = 32 / lanes;
        // Where the threads along y share the row, warps go along it; else each takes a row of its own.
        mk::Index col;
        mk::Index row;
        if (config_.across_y) {
            col = body_.sum(0, {mk::term(Variable::loop, step), mk::term(Variable::warp, lanes * vector),
                                mk::term(Variable::tile, config_.width * config_.height * vector, 1)});
            row = b.variable(Variable::tile);
        } else {
            mk::Term of_warp = mk::term(Variable::warp, rows_of_warp);
            of_warp.divisor = warps_of_row();
            col = b.sum(b.variable(Variable::loop, step), body_.along_row(warps_of_row(), lanes * vector));
            row = body_.sum(0, {mk::term(Variable::tile, config_.height), of_warp});
        }
        const std::int64_t bytes = std::min<std::int64_t>(16, vector * element);
        if (vector == 1) {
            walk_single(row, lanes);
            return;
        }
        const std::int64_t pieces = ceil_div(vector * element, 16);
        const mk::Bounds bounds = body_.strided_loop(reduce_.inputs, step, lanes * vector);
        mk::Access read = body_.in_row(in_, Direction::read, col, row, bytes);
        read.bounds = bounds;
        if (lanes < 32) {
            read.rank = 1;
            read.origin[0] = b.sum(col, b.scaled(row, reduce_.inputs));
            read.pattern = mk::PatternKind::stride;
            read.inner_extent = lanes;
            read.inner = vector;
            read.outer = reduce_.inputs;
        } else if (pieces > 1) {
            read.pattern = mk::PatternKind::stride;
            read.inner = vector;
            read.step = vector / pieces;
        }
        const mk::Id loaded = body_.load(read, last_, pieces);
        (void)body_.add(rule_.mix("each_loop"), 1.0, mk::no_id);
        const mk::Id used = body_.add(rule_.mix("each"), static_cast<double>(vector), loaded,
                                      static_cast<double>(std::min<std::int64_t>(vector, 4)));
        b.end();
        last_ = used;
        // Rows that are not whole vectors have elements before the first and after the last one.
        if (vector > 1 && reduce_.inputs % vector != 0) {
            const mk::Index edge = b.sum(row, mk::Builder::constant(0));
            mk::Access single =
                body_.in_row(in_, Direction::read,
                             mk::Builder::constant(reduce_.inputs - reduce_.inputs % vector), edge, element);
            for (int i = 0; i < 2; ++i) {
                last_ = body_.load(single, last_);
                last_ = body_.add(rule_.mix("each"), 1.0, last_);
            }
        }
        last_ = body_.add(rule_.mix("combine"), static_cast<double>(vector - 1), last_);
    }

    /// Short rows come element by element, several loads at once.
    void walk_single(const mk::Index& row, std::int64_t lanes) {
        mk::Builder& b = body_.builder();
        const std::int64_t unroll = rule_.whole("rows_at_once");
        const std::int64_t element = hw::bytes_of(reduce_.dtype);
        const std::int64_t step = config_.step_input;
        mk::Index place = body_.along_row(warps_of_row(), lanes);
        if (config_.across_y) {
            place = body_.sum(0, {mk::term(Variable::warp, lanes),
                                  mk::term(Variable::tile, config_.width * config_.height, 1)});
        }
        const std::int64_t trips = ceil_div(reduce_.inputs, step * unroll);
        b.loop(trips);
        mk::Access read =
            body_.in_row(in_, Direction::read, b.sum(place, b.variable(Variable::loop, step * unroll)), row,
                         element, step);
        if (lanes < 32) {
            read.rank = 1;
            read.origin[0] = b.sum(read.origin[0], b.scaled(row, reduce_.inputs));
            read.pattern = mk::PatternKind::stride;
            read.inner_extent = lanes;
            read.inner = 1;
            read.outer = reduce_.inputs;
        }
        read.bounds = mk::Bounds::wrap;  // the share of lanes says where the row ends
        const mk::Id loaded = body_.load(read, last_, unroll);
        kernel_.ops.back().active =
            static_cast<double>(reduce_.inputs) / static_cast<double>(trips * step * unroll);
        (void)body_.add(rule_.mix("each_single_loop"), 1.0, mk::no_id);
        last_ =
            body_.add(rule_.mix("each"), static_cast<double>(unroll), loaded, static_cast<double>(unroll));
        b.end();
        last_ = body_.add(rule_.mix("combine"), static_cast<double>(unroll - 1), last_);
    }

    /// First column of a warp whose threads along y have columns of their own.
    [[nodiscard]] mk::Index own_columns() {
        return body_.sum(0, {mk::term(Variable::tile, config_.step_output * config_.output_vector),
                             mk::term(Variable::warp, 32 * config_.output_vector)});
    }

    /// Share of the lanes' places in all trips that lie in the matrix: the last CTA has columns beyond it,
    /// and the last rows are fewer than the CTA takes at a time.
    [[nodiscard]] double share_there() const {
        const std::int64_t columns = config_.ctas * config_.step_output * config_.output_vector;
        const std::int64_t trip = config_.step_input * rule_.whole("rows_at_once");
        const std::int64_t reached = ceil_div(reduce_.inputs, config_.step_input) * config_.step_input;
        const std::int64_t rows = std::max(trip, reached);
        return static_cast<double>(reduce_.outputs) / static_cast<double>(columns) *
               static_cast<double>(reduce_.inputs) / static_cast<double>(rows);
    }

    void walk_columns() {
        mk::Builder& b = body_.builder();
        const std::int64_t vector = config_.output_vector;
        const std::int64_t unroll = rule_.whole("rows_at_once");
        const std::int64_t bytes = vector * hw::bytes_of(reduce_.dtype);
        const std::int64_t lanes = std::min<std::int64_t>(32, config_.width);
        const std::int64_t rows_of_warp = 32 / lanes;
        mk::Term of_warp = mk::term(Variable::warp, rows_of_warp);
        of_warp.divisor = warps_of_row();
        const std::int64_t step = config_.step_input;
        const bool shares = config_.across_y;
        const mk::Index col = shares ? b.sum(b.variable(Variable::tile, config_.width * vector),
                                             body_.along_row(warps_of_row(), lanes * vector))
                                     : own_columns();
        if (!shares) of_warp.coefficient = 0;
        const double there = share_there();
        // Rows behind the last whole trip are loaded one by one.
        static_cast<void>(body_.strided_loop(reduce_.inputs, step * unroll, step));
        mk::Id loaded = mk::no_id;
        for (std::int64_t i = 0; i < unroll; ++i) {
            const mk::Index row =
                body_.sum(i * step, {mk::term(Variable::loop, step * unroll), of_warp,
                                     mk::term(Variable::tile, config_.across_y ? config_.height : 0, 1)});
            mk::Access read = body_.in_row(in_, Direction::read, col, row, bytes);
            if (lanes < 32 && shares) {
                read.rank = 1;
                read.origin[0] = b.sum(col, b.scaled(row, reduce_.outputs));
                read.pattern = mk::PatternKind::stride;
                read.inner_extent = lanes;
                read.inner = vector;
                read.outer = reduce_.outputs;
            }
            read.bounds = mk::Bounds::wrap;  // the share of lanes says where the matrix ends
            loaded = body_.load(read, last_);
            kernel_.ops.back().active = there;
        }
        (void)body_.add(rule_.mix("each_columns_loop"), 1.0, mk::no_id);
        const mk::Id used = body_.add(rule_.mix("each_columns"), static_cast<double>(unroll * vector), loaded,
                                      static_cast<double>(unroll * vector));
        b.end();
        last_ = body_.add(rule_.mix("combine"), static_cast<double>((unroll - 1) * vector), used,
                          static_cast<double>(vector));
    }

    /// Over the threads that share a result: halves of the CTA through shared memory, then lanes by shuffles.
    void combine_cta() {
        if (body_.warps() > 1 && (config_.across_y || (reduce_.along_rows && config_.width > 32))) {
            const std::int64_t bytes = std::clamp<std::int64_t>(value_bytes_ * config_.output_vector, 4, 16);
            last_ = body_.reduce_by_halves(scratch_, bytes, rule_.mix("halving"), last_, true);
        }
        if (!reduce_.along_rows) return;
        const std::int64_t lanes = std::min<std::int64_t>(32, config_.width);
        last_ = body_.reduce_warp(arrays::floor_log2(lanes), rule_.mix("shuffle"), last_);
    }

    void store_result() {
        mk::Builder& b = body_.builder();
        const std::int64_t bytes = hw::bytes_of(reduce_.result);
        last_ = body_.add(rule_.mix(reduce_.along_rows ? "finish" : "finish_columns"), 1.0, last_, 2.0);
        if (!reduce_.along_rows) {
            const std::int64_t vector = config_.output_vector;
            mk::Access write = Body::lanes(
                out_, Direction::write,
                config_.across_y ? b.variable(Variable::tile, config_.width * vector) : own_columns(), bytes,
                1);
            if (vector > 1) {
                write.pattern = mk::PatternKind::stride;
                write.inner = vector;
                write.joined = 1.0 - 1.0 / static_cast<double>(vector);
            }
            (void)body_.store(write, last_, vector);
            if (config_.across_y) b.lanes(b.index(32, {mk::term(Variable::warp, -32)}));
            return;
        }
        const std::int64_t lanes = std::min<std::int64_t>(32, config_.width);
        mk::Term of_warp = mk::term(Variable::warp, 32 / lanes);
        of_warp.divisor = warps_of_row();
        const mk::Index row = config_.across_y
                                  ? b.variable(Variable::tile)
                                  : body_.sum(0, {mk::term(Variable::tile, config_.height), of_warp});
        mk::Access write = Body::lanes(out_, Direction::write, row, bytes);
        if (lanes == 32) write.pattern = mk::PatternKind::broadcast;
        (void)body_.store(write, last_);
        if (config_.across_y) {
            b.lanes(b.index(32, {mk::term(Variable::warp, -32)}));
        } else if (lanes < 32) {
            b.lanes(mk::Builder::constant(32 / lanes));
        }
    }

    /// Each CTA leaves its value; the last one of a result takes all of them.
    void share() {
        mk::Builder& b = body_.builder();
        const std::int64_t parts = config_.ctas_per_output;
        const std::int64_t bytes = std::clamp<std::int64_t>(value_bytes_ * config_.output_vector, 4, 16);
        const std::int64_t words = bytes / 4;
        const std::int64_t lanes = reduce_.along_rows ? 1 : config_.width;
        const mk::Index place = body_.sum(
            0, {mk::term(Variable::tile, parts * lanes * words), mk::term(Variable::tile, lanes * words, 1)});
        last_ = body_.add(rule_.mix("share"), 1.0, last_, 2.0);
        mk::Access put = Body::lanes(staging_, Direction::write, place, bytes);
        if (reduce_.along_rows) put.pattern = mk::PatternKind::broadcast;
        last_ = body_.store(put, last_);
        b.lanes(b.index(32, {mk::term(Variable::warp, -32)}));
        last_ = body_.op(mk::InstructionClass::fence, 1, last_);
        body_.meet(last_);
        mk::Access count = Body::lanes(counters_, Direction::atomic, b.variable(Variable::tile), 4);
        count.pattern = mk::PatternKind::broadcast;
        last_ = body_.access_op(mk::InstructionClass::atom_global, count, last_);
        b.lanes(b.index(1, {mk::term(Variable::warp, -1)}));
        body_.meet(last_);
        mk::Branch finisher;
        finisher.warps_taking = 1.0 / static_cast<double>(parts);
        // All CTAs run at a time, so that the last one adds when the others have ended.
        finisher.slowest = {1.0, 1.0};
        b.branch(finisher);
        const std::int64_t together = reduce_.along_rows ? config_.width * config_.height : config_.height;
        b.loop(ceil_div(parts, together));
        mk::Access get = Body::lanes(
            staging_, Direction::read,
            b.sum(body_.sum(0, {mk::term(Variable::tile, parts * lanes * words)}),
                  body_.sum(0, {mk::term(Variable::loop, together * lanes * words),
                                mk::term(Variable::warp, (reduce_.along_rows ? 32 : lanes) * words)})),
            bytes);
        get.bounds = mk::Bounds::wrap;
        last_ = body_.load(get, last_);
        last_ = body_.add(rule_.mix("each_part"), 1.0, last_);
        b.end();
        // The values of the CTA's threads meet again; barriers among them are left out.
        if (shared_bytes() > 0) {
            for (std::int64_t half = body_.warps() / 2; half > 0; half /= 2) {
                const mk::Index own = b.variable(Variable::warp, 32 * words);
                last_ = body_.store(Body::lanes(scratch_, Direction::write, own, bytes), last_);
                last_ = body_.load(Body::lanes(scratch_, Direction::read, own, bytes), last_);
                last_ = body_.add(rule_.mix("halving"), 1.0, last_);
            }
        }
        if (reduce_.along_rows) last_ = body_.reduce_warp(5, rule_.mix("shuffle"), last_);
        store_result();
        b.end();
    }

    const Reduce& reduce_;
    const ReduceConfig& config_;
    const libraries::KernelRule& rule_;
    std::int64_t value_bytes_;
    mk::Kernel& kernel_;
    Body body_;
    mk::Id in_ = mk::no_id, out_ = mk::no_id, scratch_ = mk::no_id, staging_ = mk::no_id,
           counters_ = mk::no_id;
    mk::Id last_ = mk::no_id;
};

}  // namespace

void lower_reduce(const Reduce& reduce, const arrays::Context& context) {
    const libraries::KernelRule& rule = context.rule(reduce.rule, reduce.dtype);
    ReduceProblem problem;
    problem.outputs = reduce.outputs;
    problem.inputs = reduce.inputs;
    problem.along_rows = reduce.along_rows;
    problem.element_bytes = hw::bytes_of(reduce.dtype);
    problem.sms = static_cast<std::int64_t>(context.gpu.sm.count.value());
    problem.threads_per_sm = static_cast<std::int64_t>(context.gpu.sm.threads_max.value());
    const ReduceConfig config = reduce_config(problem, rule);
    // The counters of the CTAs that share a result.
    if (config.ctas_per_output > 1) context.program.add_memset(4 * config.ctas);
    ReduceWriter(reduce, config, rule, context.program.add_kernel()).write();
}

}  // namespace warptime::workloads::reductions
