// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/norms.hpp"

#include "workloads/arrays/flow_kernel.hpp"
#include "workloads/elementwise/stream.hpp"
#include "workloads/reductions/reduce.hpp"
#include "workloads/reductions/row_kernel.hpp"
#include "workloads/reductions/warp_softmax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace warptime::workloads::reductions {

using arrays::Body;
using arrays::ceil_div;
using libraries::KernelRule;
using mk::Direction;
using mk::Dtype;
using mk::Variable;
using Kind = RowArray::Kind;

namespace {

RowKernel row_kernel(const KernelRule& rule, const Sizes& s, std::int64_t threads) {
    RowKernel row;
    row.name = rule.name;
    row.rows = s.rows;
    row.cols = s.cols;
    row.threads = threads;
    row.registers = rule.whole("registers");
    row.start = rule.mix("start");
    return row;
}

Reduction by_first_warp(const KernelRule& rule) {
    return {Reduction::Kind::by_first_warp, rule.mix("reduce_step"), 5};
}

/// Instructions of a trip that wait for no data.
libraries::Mix loop_of(const KernelRule& rule, std::string_view each) {
    const std::string name = std::string(each) + "_loop";
    return rule.has(name) ? rule.mix(name) : libraries::Mix{};
}

/// CTAs that a GPU has under way at a time.
double ctas_under_way(const RowKernel& row, const hw::Gpu& gpu) {
    const std::int64_t threads = row.threads * row.threads_y;
    const auto per_sm = std::min({gpu.sm.threads_max.value() / static_cast<double>(threads),
                                  gpu.sm.registers.value() / static_cast<double>(row.registers * threads),
                                  gpu.sm.ctas_max.value()});
    return std::min(static_cast<double>(row.rows), std::floor(per_sm) * gpu.sm.count.value());
}

/// Bytes of the matrices that a pass reads and writes for a row.
double touched_by(const Pass& pass, const RowKernel& row) {
    std::vector<bool> touched(row.arrays.size(), false);
    for (const RowAccess& access : pass.reads) touched[access.array] = true;
    for (const RowAccess& access : pass.writes) touched[access.array] = true;
    double bytes = 0.0;
    for (std::size_t i = 0; i < touched.size(); ++i) {
        const RowArray& array = row.arrays[i];
        if (touched[i] && array.kind == Kind::matrix)
            bytes += static_cast<double>(row.cols * hw::bytes_of(array.dtype));
    }
    return bytes;
}

/// The CTAs of a GPU go through their rows together. Between two reads of an element at the share x of the
/// row they touch the rest of the pass before and the share x of this one (least recently used lines go
/// first).
void read_again(RowKernel& row, const hw::Gpu& gpu) {
    const double room = gpu.l2.capacity.value() * gpu.l2.usable.value() / ctas_under_way(row, gpu);
    const Pass* before = nullptr;
    for (RowKernel::Step& step : row.steps) {
        if (step.pass.reads.empty()) continue;
        if (before != nullptr) {
            const double first = touched_by(*before, row);
            const double more = touched_by(step.pass, row) - first;
            step.pass.kept = first > room ? 0.0 : more <= 0.0 ? 1.0 : std::min(1.0, (room - first) / more);
        }
        before = &step.pass;
    }
}

/// Threads of a row: the largest power of two below `vectors`, from a warp to `most`; `over` where it may
/// pass.
std::int64_t softmax_threads(std::int64_t vectors, std::int64_t most) {
    const std::int64_t bound = std::min(vectors, most);
    std::int64_t threads = 1;
    while (threads < bound / 2) threads *= 2;
    return std::max<std::int64_t>(threads, 32);
}

}  // namespace

void lower_softmax(const Sizes& s, const Context& context, bool log) {
    const std::string prefix = log ? "log_softmax" : "softmax";
    const KernelRule& choice = context.rule("softmax_choice", s.dtype);
    const std::int64_t element = s.element_bytes();
    if (s.cols <= choice.whole("warp_up_to")) {
        lower_warp_softmax(s, log ? WarpSoftmax::log_forward : WarpSoftmax::forward, context);
        return;
    }
    const std::int64_t threads = choice.whole("threads");
    const std::int64_t width = 16 / element;
    const std::int64_t warps_bytes = threads / 32 * 4;
    const std::int64_t in_registers = ceil_div(s.cols, threads);
    const bool fits_shared =
        s.cols < (choice.whole("shared_bytes") - warps_bytes) / element && s.cols % width == 0;
    const std::vector<RowArray> both{{"in", s.dtype, Kind::matrix}, {"out", s.dtype, Kind::matrix}};
    if (in_registers <= choice.whole("registers_up_to")) {
        const KernelRule& rule = context.rule(prefix + "_registers", s.dtype);
        RowKernel row = row_kernel(rule, s, threads);
        row.registers = rule.whole(fmt::format("registers_{}", in_registers));
        row.dynamic_shared = warps_bytes;
        row.arrays = both;
        Pass load{
            {{0, false}}, rule.mix("each_first"), loop_of(rule, "each_first"), {}, 1, in_registers, 4.0, true,
            false};
        Pass sum{{},  rule.mix("each_second"), loop_of(rule, "each_second"), {}, 1, in_registers, 4.0, true,
                 true};
        Pass store{{},
                   rule.mix("each_third"),
                   loop_of(rule, "each_third"),
                   {{1, false}},
                   1,
                   in_registers,
                   1.0,
                   true,
                   true};
        row.steps.push_back({load, by_first_warp(rule), {}});
        row.steps.push_back({sum, by_first_warp(rule), {}});
        row.steps.push_back({store, {}, {}});
        read_again(row, context.gpu);
        lower_row_kernel(row, context.program.add_kernel());
        return;
    }
    const KernelRule& rule = context.rule(prefix + (fits_shared ? "_shared" : "_passes"), s.dtype);
    RowKernel row = row_kernel(rule, s, threads);
    row.arrays = both;
    row.dynamic_shared = warps_bytes + (fits_shared ? s.cols * element : 0);
    const double streams = static_cast<double>(width);
    if (fits_shared) row.arrays.push_back({"row", s.dtype, Kind::shared});
    const std::size_t again = fits_shared ? 2 : 0;
    Pass first{
        {{0, false}}, rule.mix("each_first"), loop_of(rule, "each_first"), {}, width, 1, streams, false,
        false};
    if (fits_shared) first.writes = {{2, false}};
    Pass second{{{again, false}},
                rule.mix("each_second"),
                loop_of(rule, "each_second"),
                {},
                width,
                1,
                streams,
                false,
                false};
    Pass third{{{again, false}},
               rule.mix("each_third"),
               loop_of(rule, "each_third"),
               {{1, false}},
               width,
               1,
               1.0,
               false,
               false};
    if (!fits_shared) {
        for (Pass* pass : {&first, &second, &third}) pass->peeled = true;
    }
    row.steps.push_back({first, by_first_warp(rule), {}});
    row.steps.push_back({second, by_first_warp(rule), {}});
    row.steps.push_back({third, {}, {}});
    read_again(row, context.gpu);
    lower_row_kernel(row, context.program.add_kernel());
}

void lower_softmax_backward(const Sizes& s, const Context& context) {
    // The gradient times the output comes first.
    const std::array<elementwise::Operand, 3> product{{{"gradient", s.dtype, Direction::read},
                                                       {"output", s.dtype, Direction::read},
                                                       {"product", s.dtype, Direction::write}}};
    elementwise::lower_stream("mul", s.rows * s.cols, product,
                              elementwise::stream_rule(context.rule("mul", s.dtype), s.element_bytes()),
                              context.program.add_kernel());
    const KernelRule& choice = context.rule("softmax_choice", s.dtype);
    const std::int64_t element = s.element_bytes();
    if (s.cols <= choice.whole("warp_up_to_backward")) {
        lower_warp_softmax(s, WarpSoftmax::backward, context);
        return;
    }
    const std::int64_t width = 16 / element;
    const std::int64_t threads = softmax_threads(s.cols / width, choice.whole("threads"));
    const std::int64_t warps_bytes = threads / 32 * 4;
    const bool fits_shared =
        s.cols < (choice.whole("shared_bytes") - warps_bytes) / element && s.cols % width == 0;
    const KernelRule& rule =
        context.rule(fits_shared ? "softmax_backward_shared" : "softmax_backward_passes", s.dtype);
    RowKernel row = row_kernel(rule, s, threads);
    row.arrays = {{"product", s.dtype, Kind::matrix},
                  {"output", s.dtype, Kind::matrix},
                  {"out", s.dtype, Kind::matrix}};
    row.dynamic_shared = fits_shared ? s.cols * element + warps_bytes : threads * 4;
    if (fits_shared) row.arrays.push_back({"row", s.dtype, Kind::shared});
    const double streams = static_cast<double>(width);
    Pass first{
        {{0, false}}, rule.mix("each_first"), loop_of(rule, "each_first"), {}, width, 1, streams, false,
        false};
    if (fits_shared) first.writes = {{3, false}};
    Pass second{{{1, false}, {fits_shared ? std::size_t{3} : 0, false}},
                rule.mix("each_second"),
                loop_of(rule, "each_second"),
                {{2, false}},
                width,
                1,
                streams,
                false,
                false};
    Reduction sum = by_first_warp(rule);
    if (!fits_shared) {
        first.peeled = second.peeled = true;
        sum = {Reduction::Kind::by_threads, rule.mix("reduce_step"), 0};
    }
    row.steps.push_back({first, sum, {}});
    row.steps.push_back({second, {}, {}});
    read_again(row, context.gpu);
    lower_row_kernel(row, context.program.add_kernel());
}

void lower_norm(const Sizes& s, const Context& context, bool rms) {
    const std::string prefix = rms ? "rmsnorm" : "layernorm";
    const KernelRule& vectorized = context.rule(prefix, s.dtype);
    const std::int64_t vector = vectorized.whole("vector");
    const std::vector<RowArray> results =
        rms ? std::vector<RowArray>{{"rstd", Dtype::fp32, Kind::vector}}
            : std::vector<RowArray>{{"mean", Dtype::fp32, Kind::vector}, {"rstd", Dtype::fp32, Kind::vector}};
    if (s.cols % vector == 0) {
        RowKernel row = row_kernel(vectorized, s, 32);
        row.threads_y = vectorized.whole("threads") / 32;
        row.dynamic_shared = row.threads_y * 3 / 2 * 4;
        row.arrays = {
            {"in", s.dtype, Kind::matrix}, {"out", s.dtype, Kind::matrix}, {"weight", s.dtype, Kind::vector}};
        if (!rms) row.arrays.push_back({"bias", s.dtype, Kind::vector});
        row.results = results;
        const Pass moments{{{0, false}},
                           vectorized.mix("each_first"),
                           loop_of(vectorized, "each_first"),
                           {},
                           vector,
                           1,
                           rms ? 4.0 : 1.0,
                           false,
                           false};
        // Weight and bias come one element at a time.
        Pass scale{{{0, false}, {2, true}},
                   vectorized.mix("each_second"),
                   loop_of(vectorized, "each_second"),
                   {{1, false}},
                   vector,
                   vectorized.whole("unroll"),
                   4.0,
                   false,
                   false};
        if (!rms) scale.reads.push_back({3, true});
        const Reduction halves{Reduction::Kind::by_halves, vectorized.mix("reduce_step"), 5,
                               vectorized.mix("halving_step")};
        row.steps.push_back({moments, halves, vectorized.mix("between")});
        row.steps.push_back({scale, {}, {}});
        read_again(row, context.gpu);
        lower_row_kernel(row, context.program.add_kernel());
        return;
    }
    const KernelRule& moments_rule = context.rule(prefix + "_moments", s.dtype);
    RowKernel moments = row_kernel(moments_rule, s, moments_rule.whole("threads"));
    moments.static_shared = moments_rule.whole("static_shared");
    moments.arrays = {{"in", s.dtype, Kind::matrix}};
    moments.results = results;
    const Pass walk{
        {{0, false}}, moments_rule.mix("each"), loop_of(moments_rule, "each"), {}, 1, 1, 1.0, false, false};
    moments.steps.push_back({walk, by_first_warp(moments_rule), {}});
    lower_row_kernel(moments, context.program.add_kernel());
    const KernelRule& scale_rule = context.rule(prefix + "_scale", s.dtype);
    RowKernel scale = row_kernel(scale_rule, s, scale_rule.whole("threads"));
    scale.arrays = {
        {"in", s.dtype, Kind::matrix}, {"out", s.dtype, Kind::matrix}, {"weight", s.dtype, Kind::vector}};
    if (!rms) scale.arrays.push_back({"bias", s.dtype, Kind::vector});
    Pass pass{{{0, false}, {2, false}},
              scale_rule.mix("each"),
              loop_of(scale_rule, "each"),
              {{1, false}},
              1,
              1,
              1.0,
              false,
              false};
    if (!rms) pass.reads.push_back({3, false});
    scale.steps.push_back({pass, {}, {}});
    lower_row_kernel(scale, context.program.add_kernel());
}

namespace {

/// Gradients of weight and bias: a CTA sums 32 columns over all rows.
void lower_weight_gradients(const Sizes& s, const Context& context, bool rms) {
    const KernelRule& choice = context.rule("norm_weights_choice", s.dtype);
    const auto sms = static_cast<std::int64_t>(context.gpu.sm.count.value());
    const std::int64_t columns = ceil_div(s.cols, 32);
    const bool in_parts = s.rows > choice.whole("parts_above_rows") && columns < sms / 2;
    std::int64_t warps = 32;
    if (in_parts || s.rows < 64) {
        warps = 1;
    } else if (s.rows < 128) {
        warps = 8;
    } else if (s.rows < 256) {
        warps = 16;
    }
    const std::int64_t parts = in_parts ? ceil_div(s.rows, choice.whole("rows_of_part")) : 1;
    const std::int64_t rows_each = 8;
    const bool aligned = s.rows % (warps * rows_each) == 0 && s.cols % 32 == 0;
    const KernelRule& rule = context.rule(rms ? "rmsnorm_weights" : "layernorm_weights", s.dtype);
    mk::Kernel& kernel = context.program.add_kernel();
    arrays::Launch launch;
    launch.name = rule.name;
    launch.ctas = columns;
    launch.ctas_y = parts;
    launch.threads = 32;
    launch.threads_y = warps;
    const char* field = in_parts                ? "registers_parts"
                        : aligned && warps == 1 ? "registers_narrow"
                        : aligned               ? "registers"
                        : warps == 1            ? "registers_narrow_ragged"
                                                : "registers_ragged";
    launch.registers = rule.whole(field);
    launch.dynamic_shared = in_parts ? 0 : 33 * warps * 2 * 4;
    Body body(kernel, launch);
    mk::Builder& b = body.builder();
    const mk::Id gradient = body.matrix("gradient", s.dtype, s.cols, s.rows);
    const mk::Id in = body.matrix("in", s.dtype, s.cols, s.rows);
    const mk::Id mean = rms ? mk::no_id : body.vector("mean", Dtype::fp32, s.rows);
    const mk::Id rstd = body.vector("rstd", Dtype::fp32, s.rows);
    const mk::Id weights = body.vector("weights", s.dtype, s.cols * parts);
    const mk::Id biases = rms ? mk::no_id : body.vector("biases", s.dtype, s.cols * parts);
    const mk::Id scratch = warps > 1 ? body.shared("scratch", Dtype::fp32, 33 * warps * 2) : mk::no_id;
    body.begin();
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id);
    const std::int64_t step = warps * rows_each;
    const std::int64_t rows_of_part = in_parts ? choice.whole("rows_of_part") : s.rows;
    b.loop(ceil_div(rows_of_part, step));
    const mk::Index row = body.sum(0, {mk::term(Variable::loop, step), mk::term(Variable::warp, rows_each),
                                       mk::term(Variable::tile, rows_of_part, 1)});
    const auto statistic = [&](mk::Id buffer) {
        mk::Access access = Body::lanes(buffer, Direction::read, row, 4);
        const mk::Id id = body.load(access, last);
        b.lanes(mk::Builder::constant(rows_each));
        return id;
    };
    (void)body.add(rule.mix("each_loop"), 1.0, mk::no_id);
    mk::Id loaded = statistic(rstd);
    if (!rms) loaded = statistic(mean);
    const mk::Index col = b.variable(Variable::tile, 32);
    for (const mk::Id buffer : {gradient, in}) {
        for (std::int64_t i = 0; i < rows_each; ++i) {
            loaded = body.load(body.in_row(buffer, Direction::read, col, b.sum(row, mk::Builder::constant(i)),
                                           s.element_bytes()),
                               last);
        }
    }
    const mk::Id summed = body.add(rule.mix(aligned ? "each" : "each_ragged"), 1.0, loaded, 2.0);
    b.end();
    last = summed;
    if (warps > 1) {
        // The sums of the warps cross shared memory, so that a warp has those of a column in its lanes.
        const mk::Access put =
            Body::lanes(scratch, Direction::write, b.variable(Variable::warp, 33), 4, 33 * warps);
        (void)body.store(put, last, rms ? 1 : 2);
        body.meet(mk::no_id);
        b.loop(ceil_div(32, warps));
        last = body.load(Body::lanes(scratch, Direction::read, b.variable(Variable::warp), 4), mk::no_id,
                         rms ? 1 : 2);
        last = body.add(rule.mix("across"), 1.0, last);
        b.end();
    }
    for (const mk::Id buffer : {weights, biases}) {
        if (buffer == mk::no_id) continue;
        (void)body.store(
            Body::lanes(buffer, Direction::write,
                        body.sum(0, {mk::term(Variable::tile, 32), mk::term(Variable::tile, s.cols, 1)}),
                        s.element_bytes()),
            last);
        b.lanes(b.index(32, {mk::term(Variable::warp, -32)}));
    }
    body.finish();
    if (!in_parts) return;
    for (int i = 0; i < (rms ? 1 : 2); ++i)
        lower_reduce({"sum", s.dtype, s.dtype, s.cols, parts, false}, context);
}

}  // namespace

void lower_norm_backward(const Sizes& s, const Context& context, bool rms) {
    const std::string prefix = rms ? "rmsnorm" : "layernorm";
    const KernelRule& vectorized = context.rule(prefix + "_input_gradient", s.dtype);
    const std::int64_t vector = vectorized.whole("vector");
    const bool whole = s.cols % vector == 0;
    const KernelRule& rule = whole ? vectorized : context.rule(prefix + "_input_gradient_scalar", s.dtype);
    RowKernel row = row_kernel(rule, s, rule.whole("threads"));
    row.dynamic_shared = row.threads / 32 * 4;
    row.arrays = {{"gradient", s.dtype, Kind::matrix},
                  {"in", s.dtype, Kind::matrix},
                  {"weight", s.dtype, Kind::vector},
                  {"out", s.dtype, Kind::matrix}};
    const std::vector<RowAccess> reads{{0, false}, {1, false}, {2, false}};
    const std::int64_t width = whole ? vector : 1;
    const std::int64_t unroll = rule.whole("unroll");
    Pass sums{reads, rule.mix("each_first"), loop_of(rule, "each_first"), {}, width, unroll, 4.0, false,
              false};
    if (!whole) {
        // A thread sums `unroll` elements side by side, each loaded by itself; the mixes are of all of them.
        for (RowAccess& read : sums.reads) read.by_element = true;
        sums.vector = unroll;
        sums.unroll = 1;
    }
    const Pass scale{
        reads, rule.mix("each_second"), loop_of(rule, "each_second"), {{3, false}}, width, 1, 4.0, false,
        false};
    // The sum over the CTA, another one of the mean's gradient, and the scaling.
    RowKernel::Step between;
    if (!rms) between.reduction = by_first_warp(rule);
    between.after = rule.mix("between");
    row.steps.push_back({sums, by_first_warp(rule), {}});
    row.steps.push_back(between);
    row.steps.push_back({scale, {}, {}});
    read_again(row, context.gpu);
    lower_row_kernel(row, context.program.add_kernel());
    lower_weight_gradients(s, context, rms);
}

void lower_ideal_rows(const Sizes& s, const Context& context, std::string_view name, int inputs, int outputs,
                      int vectors, double operations, bool places) {
    const KernelRule& rule = context.rule("ideal row", s.dtype);
    RowKernel row = row_kernel(rule, s, rule.whole("threads"));
    row.name = name;
    row.static_shared = 128;
    const std::int64_t width = std::max<std::int64_t>(1, rule.whole("bytes") / s.element_bytes());
    // Short rows take fewer threads, and rows without whole vectors single elements.
    const std::int64_t vector = s.cols % width == 0 ? width : 1;
    while (row.threads > 32 && row.threads * vector >= 2 * s.cols) row.threads /= 2;
    static constexpr std::string_view in_names[] = {"in0", "in1", "in2"};
    static constexpr std::string_view vector_names[] = {"weight", "bias"};
    Pass first;
    Pass second;
    first.vector = second.vector = vector;
    first.unrolled_all = second.unrolled_all = ceil_div(s.cols, row.threads * vector) <= 16;
    second.held = first.unrolled_all;
    for (int i = 0; i < inputs; ++i) {
        first.reads.push_back({row.arrays.size(), false});
        row.arrays.push_back({in_names[i], s.dtype, Kind::matrix});
    }
    if (!first.unrolled_all) second.reads = first.reads;
    for (int i = 0; i < vectors; ++i) {
        first.reads.push_back({row.arrays.size(), false});
        row.arrays.push_back({vector_names[i], s.dtype, Kind::vector});
    }
    if (outputs > 0) {
        second.writes.push_back({row.arrays.size(), false});
        row.arrays.push_back({"out", s.dtype, Kind::matrix});
    }
    if (places) {
        second.writes.push_back({row.arrays.size(), false});
        row.arrays.push_back({"places", Dtype::int64, Kind::matrix});
    }
    const libraries::Mix work{
        {mk::InstructionClass::fma_f32, std::max(0.5, operations / 2.0) * static_cast<double>(vector)}};
    first.each = second.each = work;
    first.streams = second.streams = static_cast<double>(vector);
    const Reduction reduction{Reduction::Kind::by_first_warp,
                              {{mk::InstructionClass::shfl, 1.0}, {mk::InstructionClass::add_f32, 1.0}},
                              5};
    row.steps.push_back({first, reduction, {}});
    if (outputs > 0) {
        row.steps.push_back({second, {}, {}});
    } else {
        row.results = {{"result", s.dtype == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32, Kind::vector}};
    }
    read_again(row, context.gpu);
    lower_row_kernel(row, context.program.add_kernel());
}

}  // namespace warptime::workloads::reductions
