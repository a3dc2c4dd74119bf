// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/selection.hpp"

#include "workloads/arrays/flow_kernel.hpp"
#include "workloads/movement/lower.hpp"
#include "workloads/reductions/norms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace warptime::workloads::reductions {

using arrays::ceil_div;
using arrays::Context;
using arrays::Flow;
using arrays::FlowKernel;
using arrays::Sizes;
using libraries::KernelRule;
namespace mk = model::kernel;
using mk::Direction;
using mk::Dtype;

namespace {

std::int64_t sm_count(const Context& context) {
    return static_cast<std::int64_t>(context.gpu.sm.count.value());
}

FlowKernel flow_of(const KernelRule& rule, std::int64_t ctas) {
    FlowKernel flow;
    flow.launch.name = rule.name;
    flow.launch.ctas = ctas;
    flow.launch.threads = rule.whole("threads");
    flow.launch.registers = rule.whole("registers");
    if (rule.has("static_shared")) flow.launch.static_shared = rule.whole("static_shared");
    flow.start = rule.mix("start");
    if (rule.has("each")) flow.each = rule.mix("each");
    if (rule.has("each_loop")) flow.loop = rule.mix("each_loop");
    if (rule.has("finish")) flow.finish = rule.mix("finish");
    const auto number = [&](const char* field, std::int64_t usual) {
        return rule.has(field) ? rule.whole(field) : usual;
    };
    flow.streams = static_cast<double>(number("streams", 1));
    flow.shared = {number("shared_loads", 0),    number("shared_stores", 0),   number("shared_atomics", 0),
                   number("shared_bytes", 4),    number("shared_chain", 1),    number("shared_random", 0),
                   number("shared_barriers", 0), number("shared_scattered", 0)};
    flow.shared.exchanged = number("shared_exchanged", 0);
    flow.shared.apart = number("shared_apart", 1);
    return flow;
}

void add(const FlowKernel& flow, const Context& context) {
    arrays::lower_flow(flow, context.program.add_kernel());
}

/// The largest number of CTAs along x that PyTorch launches where the others go along y.
constexpr std::int64_t most_along_x = 65535;

void spread(arrays::Launch& launch) {
    if (launch.ctas <= most_along_x) return;
    launch.tiles = launch.ctas;
    launch.ctas_y = ceil_div(launch.ctas, most_along_x);
    launch.ctas = most_along_x;
}

/// PyTorch numbers the elements of each row before it sorts them.
void number_elements(const Sizes& s, const Context& context) {
    const KernelRule& rule = context.rule("arange", s.dtype);
    FlowKernel arange = flow_of(rule, ceil_div(s.cols, rule.whole("threads")));
    arange.flows = {{"numbers", Dtype::int64, Direction::write, s.cols, 1}};
    add(arange, context);
    movement::lower_strided({"expand", s.rows * s.cols, s.cols, {s.cols, s.rows}, {1, 0, 0}, 2}, Dtype::int64,
                            context);
}

/// Sorts keys and their numbers in place, a CTA a row.
void add_sort_in_cta(const Sizes& s, const Context& context) {
    const std::int64_t values = s.rows * s.cols;
    const char* name = s.cols <= 128    ? "sort_128"
                       : s.cols <= 1024 ? "sort_1024"
                       : s.cols <= 2048 ? "sort_2048"
                                        : "sort_4096";
    const KernelRule& rule = context.rule(name, s.dtype);
    FlowKernel sort = flow_of(rule, s.rows);
    spread(sort.launch);
    sort.piece = s.cols;
    const std::int64_t each = ceil_div(s.cols, sort.launch.threads);
    // Keys and numbers stay in registers for all passes over digits.
    const std::int64_t passes = s.element_bytes() * 8 / rule.whole("digit_bits");
    sort.trips = passes;
    const std::int64_t apart = sort.launch.threads;
    sort.sources = {{"keys", s.dtype, Direction::read, values, each, true, apart},
                    {"numbers", Dtype::int64, Direction::read, values, each, true, apart}};
    sort.results = {{"sorted", s.dtype, Direction::write, values, each, true, apart},
                    {"places", Dtype::int64, Direction::write, values, each, true, apart}};
    sort.launch.name = "sort";
    if (s.element_bytes() == 2) sort.launch.registers = rule.whole("registers_narrow");
    add(sort, context);
}

void sort_in_cta(const Sizes& s, const Context& context) {
    const std::int64_t values = s.rows * s.cols;
    movement::add_copy(context, values * s.element_bytes());
    number_elements(s, context);
    movement::add_copy(context, values * s.element_bytes());
    add_sort_in_cta(s, context);
}

void sort_in_segments(const Sizes& s, const Context& context) {
    const std::int64_t values = s.rows * s.cols;
    movement::add_copy(context, values * s.element_bytes());
    const KernelRule& number = context.rule("sort_numbers", s.dtype);
    FlowKernel numbers = flow_of(number, ceil_div(values, number.whole("threads")));
    numbers.flows = {{"places", Dtype::int64, Direction::write, values, 1}};
    add(numbers, context);
    const std::int64_t bits = s.element_bytes() * 8;
    const KernelRule& wide = context.rule("sort_pass_6_bits", s.dtype);
    const KernelRule& narrow = context.rule("sort_pass_4_bits", s.dtype);
    // Passes of six bits; as many take four as six does not divide.
    const std::int64_t passes = ceil_div(bits, 6);
    const std::int64_t narrow_passes = ceil_div(passes * 6 - bits, 2);
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        const bool is_wide = pass < passes - std::min(narrow_passes, passes);
        const KernelRule& rule = is_wide ? wide : narrow;
        FlowKernel sort = flow_of(rule, s.rows);
        const std::int64_t vector = rule.whole("elements");
        sort.piece = s.cols;
        sort.trips = ceil_div(s.cols, sort.launch.threads * vector);
        // Lanes of a warp stand side by side, the elements of one a CTA apart.
        const std::int64_t apart = sort.launch.threads;
        sort.flows = {{"keys", s.dtype, Direction::read, values, vector, true, apart},
                      {"again", s.dtype, Direction::read, values, vector, true, apart, 0, false, true},
                      {"numbers", Dtype::int64, Direction::read, values, vector, true, apart, 0, false, true},
                      {"new_keys", s.dtype, Direction::write, values, vector, true, apart},
                      {"new_numbers", Dtype::int64, Direction::write, values, vector, true, apart}};
        sort.launch.name = "sort_pass";
        add(sort, context);
    }
}

}  // namespace

void lower_sort(const Sizes& s, const Context& context) {
    if (!s.torch) {
        lower_ideal_rows(s, context, "sort", 1, 1, 0, 2.0 * static_cast<double>(arrays::ceil_log2(s.cols)),
                         true);
        return;
    }
    if (s.cols <= context.rule("sort_choice", s.dtype).whole("in_cta_up_to")) {
        sort_in_cta(s, context);
    } else {
        sort_in_segments(s, context);
    }
}

bool several_ctas_select(std::int64_t rows, std::int64_t cols) {
    // The table of TensorTopK.cu: rows up to, and columns from.
    static constexpr std::int64_t least_cols[][2] = {{20, 20000}, {40, 10000}, {79, 8000},
                                                     {199, 5000}, {799, 3000}, {4000, 800}};
    for (const auto& [up_to, from] : least_cols) {
        if (rows <= up_to) return cols >= from;
    }
    return cols >= 400;
}

std::int64_t ctas_of_row(std::int64_t rows, std::int64_t cols, std::int64_t sms) {
    // Six CTAs of 256 threads with 40 registers fit an SM; a thread takes 4 to 64 elements.
    const std::int64_t resident = sms * (65536 / (40 * 256)) * 256;
    const std::int64_t each = std::clamp<std::int64_t>(ceil_div(rows * cols, resident), 4, 64);
    return ceil_div(cols, each * 256);
}

namespace {

/// Up to so many selected values of a row their writes are not described.
constexpr std::int64_t few_selected = 16;
/// Elements that the smallest sorting kernel holds.
constexpr std::int64_t few_sorted = 32;

/// A row's selected values and their places as int64, in the order in which threads find them.
void write_selected(const Sizes& s, FlowKernel& gather) {
    if (s.k <= few_selected) return;
    const std::int64_t selected = s.rows * s.k;
    const std::int64_t threads = gather.launch.ctas * gather.launch.ctas_y * gather.launch.threads;
    const std::int64_t each = ceil_div(selected, threads);
    const std::int64_t apart = gather.launch.threads;
    gather.results = {{"selected", s.dtype, Direction::write, selected, each, true, apart},
                      {"places", Dtype::int64, Direction::write, selected, each, true, apart}};
}

/// The k values of each row are put in order, in registers where they are more than a few.
void order_selected(const Sizes& s, const Context& context) {
    if (s.k > few_sorted) {
        Sizes rows = s;
        rows.cols = s.k;
        add_sort_in_cta(rows, context);
        return;
    }
    const KernelRule& rule = context.rule("topk_sort", s.dtype);
    FlowKernel sort = flow_of(rule, s.rows);
    const std::int64_t together =
        std::clamp<std::int64_t>(s.rows / (sm_count(context) * rule.whole("ctas_per_sm")), 1, 16);
    sort.launch.ctas = ceil_div(s.rows, together);
    sort.launch.threads_y = together;
    // A bitonic sort of 32 elements: 1 + 2 + 3 + 4 steps, and five that merge.
    sort.trips = 15;
    const std::int64_t selected = s.rows * s.k;
    const std::int64_t each = ceil_div(s.k, sort.launch.threads);
    const std::int64_t apart = ceil_div(s.k * together, each);
    sort.sources = {{"keys", s.dtype, Direction::read, selected, each, true, apart},
                    {"numbers", Dtype::int64, Direction::read, selected, each, true, apart}};
    sort.results = {{"sorted", s.dtype, Direction::write, selected, each, true, apart},
                    {"places", Dtype::int64, Direction::write, selected, each, true, apart}};
    for (std::vector<Flow>* flows : {&sort.sources, &sort.results}) {
        for (Flow& flow : *flows) flow.piece = s.k * together;
    }
    for (Flow& source : sort.sources) source.kept = true;
    add(sort, context);
}

void select_by_several(const Sizes& s, const Context& context) {
    const std::int64_t per_row = ctas_of_row(s.rows, s.cols, sm_count(context));
    const std::int64_t ctas = s.rows * per_row;
    const std::int64_t values = s.rows * s.cols;
    const std::int64_t piece = ceil_div(s.cols, per_row);
    const auto simple = [&](const char* name, std::int64_t count, std::vector<Flow> flows) {
        FlowKernel flow = flow_of(context.rule(name, s.dtype), count);
        spread(flow.launch);
        flow.flows = std::move(flows);
        return flow;
    };
    add(simple("topk_fill", ceil_div(s.rows, 512), {{"ks", Dtype::int32, Direction::write, s.rows, 1}}),
        context);
    context.program.add_memset(s.rows * 1024);
    context.program.add_memset(ctas * 4);
    const std::int64_t passes = s.element_bytes();
    // The sums of digits, which are the largest of what these kernels leave for one another.
    const bool kept = static_cast<double>(s.rows * 256 * 4) < context.gpu.l2.capacity.value();
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        FlowKernel count =
            simple("topk_count_digits", ctas, {{"values", s.dtype, Direction::read, values, 1}});
        count.piece = piece;
        count.trips = ceil_div(piece, 256);
        count.results = {{"counts", Dtype::fp16, Direction::write, ctas * 256, 1}};
        add(count, context);
        FlowKernel sum =
            simple("topk_sum_digits", s.rows, {{"counts", Dtype::fp16, Direction::read, ctas * 256, 1}});
        // Rows are spread along x alone.
        sum.launch.ctas = s.rows;
        sum.launch.ctas_y = 1;
        sum.launch.tiles = 0;
        // The compiler asks for 16 rows of counts at once, and for a power of two of fewer.
        constexpr std::int64_t most_at_once = 16;
        const std::int64_t at_once = std::min(
            most_at_once, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(per_row))));
        sum.trips = ceil_div(per_row, at_once);
        sum.piece = per_row * 256;
        sum.flows[0].vector = at_once;
        sum.flows[0].apart = 256;
        for (libraries::ClassCount& part : sum.loop) part.count *= static_cast<double>(at_once);
        sum.flows[0].kept = kept;
        sum.results = {{"sums", Dtype::int32, Direction::write, s.rows * 256, 1}};
        add(sum, context);
        // Sums of digits, then the digit that was found, counts of smaller digits, and the count so far.
        FlowKernel below = simple("topk_count_below", ctas,
                                  {{"sums", Dtype::int32, Direction::read, s.rows * 256, 1},
                                   {"digits", Dtype::int32, Direction::read, 256, 1},
                                   {"counts", Dtype::fp16, Direction::read, ctas * 256, 1},
                                   {"below", Dtype::int32, Direction::read, 256, 1}});
        below.flows[1].common = below.flows[3].common = true;
        below.flows[1].follows = below.flows[2].follows = true;
        below.flows[3].late = true;
        for (Flow& flow : below.flows) flow.kept = kept;
        add(below, context);
    }
    FlowKernel kth = simple("topk_count_kth", ceil_div(s.rows, 256),
                            {{"digits", Dtype::int32, Direction::read, s.rows, 1},
                             {"counts", Dtype::int32, Direction::read, ctas, 1}});
    kth.flows[1].follows = true;
    for (Flow& flow : kth.flows) flow.kept = kept;
    kth.trips = ceil_div(ctas, 256 * ceil_div(s.rows, 256));
    add(kth, context);
    for (int i = 0; i < 2; ++i) {
        add(simple("topk_scan_start", 1, {{"states", Dtype::int32, Direction::write, 128, 1}}), context);
        const KernelRule& rule = context.rule("topk_scan", s.dtype);
        FlowKernel scan = simple("topk_scan", ceil_div(ctas, rule.whole("elements") * rule.whole("threads")),
                                 {{"in", Dtype::int32, Direction::read, ctas, rule.whole("elements")},
                                  {"out", Dtype::int32, Direction::write, ctas, rule.whole("elements")}});
        scan.flows[0].kept = kept;
        scan.streams = 2.0;  // sums, and whether a row begins
        add(scan, context);
    }
    FlowKernel gather =
        simple("topk_gather_several", ctas, {{"values", s.dtype, Direction::read, values, 1}});
    gather.piece = piece;
    gather.trips = ceil_div(piece, 256);
    write_selected(s, gather);
    add(gather, context);
}

}  // namespace

void lower_topk(const Sizes& s, const Context& context) {
    if (!s.torch) {
        lower_ideal_rows(s, context, "topk", 1, 0, 0, 2.0);
        return;
    }
    if (several_ctas_select(s.rows, s.cols)) {
        select_by_several(s, context);
    } else {
        const KernelRule& rule = context.rule("topk_gather", s.dtype);
        FlowKernel gather = flow_of(rule, s.rows);
        gather.launch.threads = std::min<std::int64_t>(1024, ceil_div(s.cols, 32) * 32);
        // Two bits of the k-th value a pass over the whole row, until one value is left, and two passes that
        // gather. Sign and exponent of random values take four passes, their fractions share them evenly.
        const std::int64_t passes =
            std::min(s.element_bytes() * 8 / 2, 4 + ceil_div(arrays::ceil_log2(s.cols), 2)) + 2;
        gather.trips = ceil_div(s.cols, gather.launch.threads);
        gather.rounds = passes;
        gather.round = rule.mix("each_pass");
        gather.piece = s.cols;
        gather.flows = {{"values", s.dtype, Direction::read, s.rows * s.cols, 1}};
        write_selected(s, gather);
        add(gather, context);
    }
    order_selected(s, context);
}

namespace {

/// Shared memory that a CTA has without asking for more, and what PyTorch adds to the bins.
constexpr std::int64_t most_of_cta = 49152, guard_bytes = 8;

/// Normal numbers, counted from -4 to 4, meet in a bin as often as even numbers do in so many bins: one over
/// the sum of the squares of the bins' shares, 8 / (2 sqrt(pi)) for each.
double busy_bins(std::int64_t bins) {
    return std::max(1.0, 2.0 * std::sqrt(std::numbers::pi) / 8.0 * static_cast<double>(bins));
}

/// Larger arrays give each thread more elements. Many bins make CTAs few, since each adds its own up.
std::int64_t ctas_of_bins(const Sizes& s, const KernelRule& rule) {
    const std::int64_t threads = rule.whole("threads");
    if (s.bins > rule.whole("bins_of_steps")) {
        const double n = static_cast<double>(s.n), bins = static_cast<double>(s.bins);
        const auto most_of_thread = static_cast<std::int64_t>(std::ceil(rule.number("steps_of_bin") * bins));
        const double balanced = std::ceil(std::sqrt(rule.number("balance") * n / bins));
        return std::max(static_cast<std::int64_t>(balanced), ceil_div(s.n, threads * most_of_thread));
    }
    std::int64_t each = rule.whole("steps");
    for (const char* steps : {"1", "2", "3", "6"}) {
        if (s.n < rule.whole(fmt::format("steps_{}_below", steps))) {
            each = std::stoll(steps);
            break;
        }
    }
    return ceil_div(s.n, each * threads);
}

/// Bins that fit no shared memory are counted in memory, one atomic addition for each element.
void count_in_memory(const Sizes& s, const KernelRule& rule, const Context& context) {
    FlowKernel count = flow_of(rule, ceil_div(s.n, rule.whole("threads")));
    spread(count.launch);
    count.launch.static_shared = 0;
    count.start = context.rule("histogram_fill", s.dtype).mix("start");
    count.shared = {};
    count.finish = {};
    count.flows = {
        {"values", s.dtype, Direction::read, s.n, 1},
        {"bins", s.dtype, Direction::atomic, s.bins, 1, false, 0, std::llround(busy_bins(s.bins)), true}};
    add(count, context);
}

}  // namespace

void lower_histogram(const Sizes& s, const Context& context) {
    const KernelRule& rule = context.rule("histogram", s.dtype);
    constexpr std::int64_t filled_by_cta = 1024;
    FlowKernel fill = flow_of(context.rule("histogram_fill", s.dtype), ceil_div(s.bins, filled_by_cta));
    fill.flows = {{"bins", s.dtype, Direction::write, s.bins, 8}};
    if (s.torch) add(fill, context);
    if (s.bins * s.element_bytes() + guard_bytes >= most_of_cta) {
        count_in_memory(s, rule, context);
        return;
    }
    const std::int64_t ctas = ctas_of_bins(s, rule);
    FlowKernel count = flow_of(rule, s.torch ? ctas : std::min<std::int64_t>(ctas, 8 * sm_count(context)));
    count.launch.dynamic_shared = s.bins * s.element_bytes();
    count.shared.random = s.bins;
    count.shared.tries = arrays::most_at_one_place(busy_bins(s.bins));
    count.trips = ceil_div(s.n, count.launch.ctas * count.launch.threads);
    count.flows = {{"values", s.dtype, Direction::read, s.n, 1}};
    // Each CTA adds its bins to those of all.
    const std::int64_t bins_of_thread = ceil_div(s.bins, count.launch.threads);
    for (libraries::ClassCount part : rule.mix("each_more_bin")) {
        part.count *= static_cast<double>(bins_of_thread - 1);
        if (bins_of_thread > 1) count.finish.push_back(part);
    }
    count.results = {{"bins", s.dtype, Direction::atomic, s.bins, bins_of_thread, bins_of_thread > 1,
                      bins_of_thread > 1 ? count.launch.threads : 0, 0, true}};
    add(count, context);
}

void lower_cross_entropy(const Sizes& s, const Context& context) {
    if (!s.torch) {
        lower_ideal_rows(s, context, "cross_entropy", 1, 0, 0, 4.0);
        return;
    }
    lower_softmax(s, context, true);
    const KernelRule& rule = context.rule("nll_loss", s.dtype);
    FlowKernel loss = flow_of(rule, 1);
    // Threads for a sixteenth of the rows, to the nearest power of two.
    const double sixteenth = std::log2(static_cast<double>(s.rows) / 16.0);
    loss.launch.threads = std::int64_t{1} << std::clamp<long>(std::lround(sixteenth), 5, 10);
    loss.launch.dynamic_shared = loss.launch.threads * 8;
    loss.trips = ceil_div(s.rows, loss.launch.threads);
    loss.flows = {{"targets", Dtype::int64, Direction::read, s.rows, 1},
                  {"log_softmax", s.dtype, Direction::read, s.rows * s.cols, 1, false, 0, s.rows * s.cols,
                   false, true}};
    loss.results = {{"loss", s.dtype, Direction::write, 1, 1}};
    add(loss, context);
}

}  // namespace warptime::workloads::reductions
