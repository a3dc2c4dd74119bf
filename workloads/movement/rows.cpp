// SPDX-License-Identifier: Apache-2.0
#include "workloads/movement/rows.hpp"

#include "workloads/arrays/flow_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::workloads::movement {

using arrays::Body;
using arrays::ceil_div;
using arrays::Context;
using arrays::Flow;
using arrays::FlowKernel;
using libraries::KernelRule;
namespace mk = model::kernel;
using mk::Direction;
using mk::Dtype;
using mk::Variable;

namespace {

/// Executions that are written out and stand for all.
constexpr std::int64_t listed_warps = 64;

std::int64_t sm_count(const Context& context) {
    return static_cast<std::int64_t>(context.gpu.sm.count.value());
}

/// Some rows are taken several times, others never.
double rows_touched(const RowsTaken& r) {
    const auto all = static_cast<double>(r.rows);
    return all * (1.0 - std::exp(-static_cast<double>(r.taken) / all));
}

/// A warp's lanes side by side in a random row: `lane_elements` each, from the place of one of the `warps`
/// that share a row. Those beyond its end take nothing.
void list_random_rows(mk::Kernel& kernel, mk::Access& access, const RowsTaken& r, std::int64_t lane_elements,
                      std::int64_t warps) {
    const std::int64_t rows = r.rows;
    const std::int64_t cols = r.cols;
    access.pattern = mk::PatternKind::listed;
    access.rank = 1;
    access.origin[0] = mk::Builder::constant(0);
    access.pool_first = static_cast<std::uint32_t>(kernel.address_list.size());
    access.pool_length = static_cast<std::uint32_t>(32 * listed_warps);
    access.distinct = std::clamp<std::int64_t>(std::llround(rows_touched(r) * static_cast<double>(cols)),
                                               cols, rows * cols);
    std::uint64_t state = 1;
    for (std::int64_t warp = 0; warp < listed_warps; ++warp) {
        // Knuth's multiplier (The Art of Computer Programming, volume 2, section 3.3.4).
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto row = static_cast<std::int64_t>((state >> 33U) % static_cast<std::uint64_t>(rows));
        const std::int64_t first = warp % warps * 32 * lane_elements;
        for (std::int64_t lane = 0; lane < 32; ++lane) {
            const std::int64_t col = first + lane * lane_elements;
            kernel.address_list.push_back(col < cols ? row * cols + col : -1);
        }
    }
}

FlowKernel flow_of(const KernelRule& rule, std::int64_t ctas) {
    FlowKernel flow;
    flow.launch.name = rule.name;
    flow.launch.ctas = std::max<std::int64_t>(1, ctas);
    flow.launch.threads = rule.whole("threads");
    flow.launch.registers = rule.whole("registers");
    const auto number = [&](const char* field, std::int64_t usual) {
        return rule.has(field) ? rule.whole(field) : usual;
    };
    flow.launch.static_shared = number("static_shared", 0);
    flow.start = rule.mix("start");
    if (rule.has("each")) flow.each = rule.mix("each");
    if (rule.has("each_loop")) flow.loop = rule.mix("each_loop");
    flow.shared = {
        number("shared_loads", 0),    number("shared_stores", 0),   0, 4, number("shared_chain", 1), 0,
        number("shared_barriers", 0), number("shared_scattered", 0)};
    return flow;
}

void add(const FlowKernel& flow, const Context& context) {
    arrays::lower_flow(flow, context.program.add_kernel());
}

/// A CTA for each taken row, or for parts of it.
void gather_vectors(const RowsTaken& r, const KernelRule& rule, std::int64_t threads,
                    const Context& context) {
    const std::int64_t element = hw::bytes_of(r.dtype);
    const std::int64_t vector = rule.whole("bytes") / element;
    arrays::Launch launch;
    launch.name = r.name;
    launch.ctas = r.taken;
    launch.ctas_y = ceil_div(r.cols, threads * vector);
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    mk::Kernel& kernel = context.program.add_kernel();
    Body body(kernel, launch);
    mk::Builder& b = body.builder();
    const mk::Id indices = body.vector("indices", Dtype::int64, r.taken);
    // CTAs take a part of all rows before the next part of any. Where the L2 holds that part and what is
    // written meanwhile, each row comes from DRAM once, as if those that take it followed one another.
    const double part = static_cast<double>(r.rows * threads * vector * element);
    const bool in_turn = launch.ctas_y > 1 && r.taken > r.rows &&
                         2.0 * part <= context.gpu.l2.capacity.value() * context.gpu.l2.usable.value();
    const auto touched = static_cast<std::int64_t>(std::ceil(rows_touched(r)));
    const mk::Id table = body.matrix("table", r.dtype, r.cols, in_turn ? touched : r.rows);
    const mk::Id out = body.matrix("out", r.dtype, r.cols, r.taken);
    body.begin();
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id);
    mk::Access index = Body::lanes(indices, Direction::read, b.variable(Variable::tile), 8);
    index.pattern = mk::PatternKind::broadcast;
    last = body.load(index, last);
    last = body.add(rule.mix("each"), 1.0, last);
    const mk::Index col =
        body.sum(0, {mk::term(Variable::warp, 32 * vector), mk::term(Variable::tile, threads * vector, 1)});
    // Lanes beyond the row's end do nothing. Of several CTAs a row the last has them, here each its part.
    const std::int64_t vectors = ceil_div(r.cols, vector);
    const auto within_row = [&] {
        if (launch.ctas_y == 1) {
            b.lanes(body.sum(vectors, {mk::term(Variable::warp, -32)}));
        } else {
            kernel.ops.back().active =
                static_cast<double>(vectors) / static_cast<double>(threads * launch.ctas_y);
        }
    };
    const auto of_row = [&](mk::Id buffer, Direction direction, const mk::Index& row) {
        mk::Access access =
            Body::lanes(buffer, direction, b.sum(col, b.scaled(row, r.cols)), vector * element);
        access.bounds = mk::Bounds::wrap;  // the lanes say where the row ends
        return access;
    };
    mk::Access read = Body::lanes(table, Direction::read, mk::Builder::constant(0), vector * element);
    if (in_turn) {
        read = of_row(table, Direction::read, b.floordiv(b.variable(Variable::tile, touched), r.taken));
    } else {
        list_random_rows(kernel, read, r, vector, threads / 32 * launch.ctas_y);
    }
    last = body.load(read, last);
    within_row();
    (void)body.store(of_row(out, Direction::write, b.variable(Variable::tile)), last);
    within_row();
    body.finish();
}

/// A grid over the elements of the taken rows, each with an index of its own row.
void gather_elements(const RowsTaken& r, const Context& context) {
    const KernelRule& rule = context.rule("gather_elements", r.dtype);
    const std::int64_t element = hw::bytes_of(r.dtype);
    const std::int64_t threads = rule.whole("threads");
    const std::int64_t each = rule.whole("elements");
    const std::int64_t values = r.taken * r.cols;
    arrays::Launch launch;
    launch.name = r.name;
    launch.ctas = ceil_div(values, threads * each);
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    mk::Kernel& kernel = context.program.add_kernel();
    Body body(kernel, launch);
    mk::Builder& b = body.builder();
    const mk::Id indices = body.vector("indices", Dtype::int64, r.taken);
    const mk::Id table = body.matrix("table", r.dtype, r.cols, r.rows);
    const mk::Id out = body.vector("out", r.dtype, values);
    body.begin();
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id);
    mk::Access read = Body::lanes(table, Direction::read, mk::Builder::constant(0), element);
    list_random_rows(kernel, read, r, 1, ceil_div(r.cols, 32));
    b.loop(each);
    const mk::Index linear = body.sum(0, {mk::term(Variable::tile, threads * each),
                                          mk::term(Variable::warp, 32), mk::term(Variable::loop, threads)});
    const mk::Id placed = body.add(rule.mix("each"), 1.0, last, 2.0);
    mk::Access index = Body::lanes(indices, Direction::read, b.floordiv(linear, r.cols), 8);
    index.pattern = mk::PatternKind::broadcast;
    const mk::Id found = body.load(index, placed);
    const mk::Id loaded = body.load(read, found);
    (void)body.store(Body::lanes(out, Direction::write, linear, element), loaded);
    b.end();
    body.finish();
}

/// Indices that are added one by one, and in groups of four.
constexpr double group = 4.0;

/// How the indices of a row fall into parts, where each index is any row with the same probability.
struct PartShape {
    double of_segment = 1.0;  ///< parts of a row that has any index
    double singles = 0.0;     ///< indices of a part that are left over by groups
    double groups = 0.0;
};

PartShape part_shape(double mean, std::int64_t of_part) {
    // The counts of rows are nearly Poisson's; beyond eight deviations nothing is left.
    const auto most = static_cast<std::int64_t>(mean + 8.0 * std::sqrt(mean) + 8.0);
    double with_any = 0.0;
    double parts = 0.0;
    PartShape shape;
    for (std::int64_t count = 1; count <= most; ++count) {
        const auto c = static_cast<double>(count);
        const double share = std::exp(c * std::log(mean) - mean - std::lgamma(c + 1.0));
        with_any += share;
        for (std::int64_t left = count; left > 0; left -= of_part) {
            const std::int64_t length = std::min(left, of_part);
            parts += share;
            shape.singles += share * static_cast<double>(length % 4);
            const std::int64_t groups = length / 4;
            shape.groups += share * static_cast<double>(groups);
        }
    }
    shape.of_segment = parts / with_any;
    shape.singles /= parts;
    shape.groups /= parts;
    return shape;
}

/// CTAs of which each adds up rows of one part, a thread a column. All load the number of parts first.
struct PartsAdded {
    const KernelRule* rule = nullptr;
    std::int64_t threads = 1024;
    std::int64_t ctas = 1;
    double busy = 1.0;  ///< share of the CTAs that have a part
    double singles = 0.0;
    double groups = 0.0;
    Dtype dtype = Dtype::fp32;
    bool by_index = false;  ///< a row's place is loaded before the row
    std::int64_t results = 1;
    Dtype result_dtype = Dtype::fp32;
    bool atomic = false;
    bool finds_row = false;  ///< the place of the result is loaded behind the sums
    bool kept = false;       ///< the kernel before has left what is added in the L2
};

void lower_parts(const PartsAdded& a, mk::Kernel& kernel) {
    const KernelRule& rule = *a.rule;
    arrays::Launch launch;
    launch.name = rule.name;
    launch.ctas = a.ctas;
    launch.threads = a.threads;
    launch.registers = rule.whole("registers");
    Body body(kernel, launch);
    mk::Builder& b = body.builder();
    const auto each = static_cast<std::int64_t>(std::ceil(a.singles) + group * std::ceil(a.groups));
    const mk::Id count = body.vector("count", Dtype::int64, 1);
    const mk::Id offsets = body.vector("offsets", Dtype::int64, a.ctas + 1);
    const mk::Id places = body.vector("places", Dtype::int64, a.ctas * (each + 1));
    const mk::Id rows = body.vector("rows", a.dtype, a.ctas * a.threads * each);
    if (a.kept) kernel.buffers[static_cast<std::size_t>(rows)].before = mk::Before::warm;
    const mk::Id sums = body.vector("sums", a.result_dtype, std::max(a.results, a.threads));
    const auto common = [&](mk::Id buffer, const mk::Index& origin) {
        mk::Access access = Body::lanes(buffer, Direction::read, origin, 8);
        access.pattern = mk::PatternKind::broadcast;
        return access;
    };
    const mk::Index tile = b.variable(Variable::tile);
    body.begin();
    const mk::Id counted = body.load(common(count, mk::Builder::constant(0)), mk::no_id);
    const mk::Id placed = body.add(rule.mix("start"), 1.0, mk::no_id);
    (void)body.op(mk::InstructionClass::set_predicate, 1, counted);
    body.also_after(placed);
    mk::Branch working;
    working.warps_taking = a.busy;
    b.branch(working);
    const mk::Id begin = body.load(common(offsets, tile), placed, 2);
    mk::Id last = body.add(rule.mix("between"), 1.0, begin);
    const auto add_rows = [&](double trips, std::int64_t at_once) {
        if (!(trips > 0.0)) return;
        mk::Trips mean;
        mean.expected = true;
        mean.mean = mean.max_over_lanes = mean.max_over_warps = trips;
        b.loop(mean);
        const mk::Index loop = b.variable(Variable::loop, a.threads * at_once);
        mk::Id place = last;
        if (a.by_index) {
            place =
                body.load(common(places, b.sum(b.scaled(tile, each), b.variable(Variable::loop, at_once))),
                          last, at_once);
            place =
                body.add(rule.mix("each"), static_cast<double>(at_once), place, static_cast<double>(at_once));
        }
        (void)body.add(rule.mix("each_loop"), static_cast<double>(at_once), mk::no_id);
        mk::Access row =
            Body::lanes(rows, Direction::read,
                        b.sum(b.sum(b.scaled(tile, a.threads * each), b.variable(Variable::warp, 32)), loop),
                        hw::bytes_of(a.dtype), a.threads);
        const mk::Id loaded = body.load(row, place, at_once);
        (void)body.op(mk::InstructionClass::add_f32, at_once, loaded, at_once);
        b.end();
    };
    add_rows(a.singles, 1);
    add_rows(a.groups, 4);
    if (a.finds_row) last = body.load(common(places, tile), mk::no_id);
    last = body.add(rule.mix("finish"), 1.0, last);
    const mk::Index result = b.sum(b.scaled(tile, a.threads), b.variable(Variable::warp, 32));
    const mk::Access store = Body::lanes(sums, a.atomic ? Direction::atomic : Direction::write, result,
                                         hw::bytes_of(a.result_dtype));
    if (a.atomic) {
        (void)body.access_op(mk::InstructionClass::red_global, store, last);
    } else {
        (void)body.store(store, last);
    }
    b.end();
    body.finish();
}

}  // namespace

void lower_gather(const RowsTaken& r, const Context& context) {
    const std::int64_t row_bytes = r.cols * hw::bytes_of(r.dtype);
    const KernelRule& rule = context.rule("gather_vectors", r.dtype);
    if (row_bytes % rule.whole("bytes") != 0) {
        gather_elements(r, context);
        return;
    }
    const std::int64_t wanted = ceil_div(row_bytes / rule.whole("bytes"), 32) * 32;
    gather_vectors(r, rule, std::min(wanted, rule.whole("threads")), context);
}

void lower_ideal_gather(const RowsTaken& r, bool adds, const Context& context) {
    const KernelRule& rule = context.rule("ideal gather", r.dtype);
    const std::int64_t element = hw::bytes_of(r.dtype);
    const std::int64_t width = rule.whole("bytes") / element;
    // A warp for each row: its lanes take whole vectors where rows have them.
    const std::int64_t vector = r.cols % width == 0 && !adds ? width : 1;
    const std::int64_t warps = rule.whole("threads") / 32;
    arrays::Launch launch;
    launch.name = r.name;
    launch.ctas = ceil_div(r.taken, warps);
    launch.threads = rule.whole("threads");
    launch.registers = rule.whole("registers");
    mk::Kernel& kernel = context.program.add_kernel();
    Body body(kernel, launch);
    mk::Builder& b = body.builder();
    const mk::Id indices = body.vector("indices", Dtype::int64, r.taken);
    const mk::Id table = body.matrix("table", r.dtype, r.cols, r.rows);
    const mk::Id rows = body.matrix("rows", r.dtype, r.cols, r.taken);
    body.begin();
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id);
    const mk::Index row = body.sum(0, {mk::term(Variable::tile, warps), mk::term(Variable::warp)});
    mk::Access index = Body::lanes(indices, Direction::read, row, 8);
    index.pattern = mk::PatternKind::broadcast;
    last = body.load(index, last);
    mk::Access at = Body::lanes(table, adds ? Direction::atomic : Direction::read, mk::Builder::constant(0),
                                vector * element);
    list_random_rows(kernel, at, r, vector, ceil_div(r.cols, 32 * vector));
    b.loop(ceil_div(r.cols, 32 * vector));
    mk::Access straight = body.in_row(rows, adds ? Direction::read : Direction::write,
                                      b.variable(Variable::loop, 32 * vector), row, vector * element);
    if (adds) {
        const mk::Id loaded = body.load(straight, last);
        (void)body.access_op(mk::InstructionClass::red_global, at, loaded);
    } else {
        (void)body.store(straight, body.load(at, last));
    }
    b.end();
    body.finish();
}

void lower_index_add(const RowsTaken& r, const Context& context) {
    const KernelRule& rule = context.rule("index_add", r.dtype);
    const std::int64_t element = hw::bytes_of(r.dtype);
    const std::int64_t values = r.taken * r.cols;
    const std::int64_t threads = rule.whole("threads");
    arrays::Launch launch;
    launch.name = r.name;
    launch.threads = threads;
    launch.ctas = std::min(ceil_div(values, threads), sm_count(context) * rule.whole("ctas_per_sm"));
    launch.registers = rule.whole("registers");
    mk::Kernel& kernel = context.program.add_kernel();
    Body body(kernel, launch);
    mk::Builder& b = body.builder();
    const mk::Id indices = body.vector("indices", Dtype::int64, r.taken);
    const mk::Id source = body.vector("source", r.dtype, values);
    const mk::Id table = body.matrix("table", r.dtype, r.cols, r.rows);
    body.begin();
    const mk::Id started = body.add(rule.mix("start"), 1.0, mk::no_id);
    mk::Access sum = Body::lanes(table, Direction::atomic, mk::Builder::constant(0), element);
    list_random_rows(kernel, sum, r, 1, ceil_div(r.cols, 32));
    const mk::Bounds bounds = body.strided_loop(values, launch.ctas * threads, 32);
    const mk::Index linear = body.sum(0, {mk::term(Variable::loop, launch.ctas * threads),
                                          mk::term(Variable::tile, threads), mk::term(Variable::warp, 32)});
    // Instructions of the divisions that do not wait for each other.
    const double of_place = rule.number("streams_of_place");
    const double of_each = rule.number("streams_of_each");
    mk::Id last = body.add(rule.mix("place"), 1.0, started, of_place);
    mk::Access index = Body::lanes(indices, Direction::read, b.floordiv(linear, r.cols), 8);
    index.pattern = mk::PatternKind::broadcast;
    index.bounds = bounds;
    last = body.load(index, last);
    last = body.add(rule.mix("each"), 1.0, last, of_each);
    mk::Access value = Body::lanes(source, Direction::read, linear, element);
    value.bounds = bounds;
    const mk::Id loaded = body.load(value, last);
    // A further division does not wait for the value.
    const mk::Id found = body.add(rule.mix("behind"), 1.0, last, of_place);
    last = body.add(rule.mix("value"), 1.0, loaded);
    if (element < 4) {
        // Lanes at even and at odd places add one after the other, and the old values come back: counted are
        // 119 MB that SMs receive for 16384 rows of 1000, whose values are 33 MB. In a loop other warps
        // compute meanwhile; a single trip waits for them.
        const bool waits = values <= launch.ctas * threads;
        for (int half = 0; half < 2; ++half) {
            const mk::Id added = body.access_op(
                waits ? mk::InstructionClass::atom_global : mk::InstructionClass::red_global, sum, last);
            kernel.ops.back().active = 0.5;
            kernel.ops.back().returns = true;
            body.also_after(found);
            const mk::Id after = body.add(rule.mix("added"), 1.0, waits ? added : mk::no_id);
            if (waits) last = after;
        }
    } else {
        (void)body.access_op(mk::InstructionClass::red_global, sum, last);
        body.also_after(found);
    }
    b.end();
    body.finish();
}

void lower_embedding_backward(const RowsTaken& r, const Context& context) {
    const KernelRule& choice = context.rule("embedding_backward_choice", r.dtype);
    const std::int64_t element = hw::bytes_of(r.dtype);
    const std::int64_t table = r.rows * r.cols;
    const std::int64_t width = 16 / element;
    const auto zero = [&] {
        const KernelRule& rule = context.rule("fill", r.dtype);
        const std::int64_t each = rule.whole("elements");
        FlowKernel fill = flow_of(rule, ceil_div(table, rule.whole("threads") * each));
        fill.flows = {{"gradient", r.dtype, Direction::write, table, width}};
        fill.trips = each / width;
        add(fill, context);
    };
    if (r.taken <= choice.whole("few_indices")) {
        zero();
        // Each CTA has 32 columns and goes over all indices, 32 at a time.
        const KernelRule& rule = context.rule("embedding_backward_few", r.dtype);
        FlowKernel few = flow_of(rule, ceil_div(r.cols, 32));
        few.launch.threads = 32;
        few.launch.threads_y = rule.whole("threads") / 32;
        few.trips = ceil_div(r.taken, 32);
        // Indices are kept in shared memory, as many as threads at a time. A trip adds the 32 columns of 32
        // indices to their rows, whose sums are read when it is known which warps share a row.
        const std::int64_t all = r.taken * r.cols;
        few.sources = {{"numbers", Dtype::int64, Direction::read, r.taken,
                        ceil_div(r.taken, rule.whole("threads")), true, rule.whole("threads"), 0, true}};
        few.flows = {{"rows_gradient", r.dtype, Direction::read, all, 1},
                     {"gradient", r.dtype, Direction::read, table, 1},
                     {"new_gradient", r.dtype, Direction::write, table, 1}};
        few.flows[1].late = true;
        add(few, context);
        return;
    }
    const auto simple = [&](const char* name, std::int64_t ctas, std::vector<Flow> flows,
                            std::int64_t trips = 1) {
        FlowKernel flow = flow_of(context.rule(name, r.dtype), ctas);
        flow.flows = std::move(flows);
        flow.trips = trips;
        add(flow, context);
    };
    const std::int64_t n = r.taken;
    const std::int64_t sms = sm_count(context);
    simple("index_numbers", ceil_div(n, 64), {{"numbers", Dtype::int64, Direction::write, n, 1}});
    // CUB's radix sort of 64-bit indices: eight bits a pass.
    context.program.add_memset(32);
    context.program.add_memset(16384);
    const std::int64_t histogram_ctas = sms * choice.whole("histogram_ctas_per_sm");
    simple("radix_histogram", histogram_ctas, {{"indices", Dtype::int64, Direction::read, n, 1}},
           ceil_div(n, histogram_ctas * 128));
    simple("radix_sum", 8, {{"bins", Dtype::int64, Direction::read, 2048, 1}});
    const std::int64_t sort_ctas = ceil_div(n, choice.whole("sort_elements_of_cta"));
    const std::int64_t passes = 8;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        context.program.add_memset(sort_ctas * 1024);
        const KernelRule& rule = context.rule("radix_pass", r.dtype);
        const std::int64_t each = ceil_div(choice.whole("sort_elements_of_cta"), rule.whole("threads"));
        FlowKernel sort = flow_of(rule, sort_ctas);
        sort.flows = {
            {"keys", Dtype::int64, Direction::read, n, each, true, rule.whole("threads")},
            // The sums of CTAs before, then what goes with the keys.
            {"states", Dtype::int32, Direction::read, sort_ctas * 256, 1, false, 0, 0, true, false, 1, true},
            {"numbers", Dtype::int64, Direction::read, n, each, true, rule.whole("threads"), 0, false, false,
             1, true},
            {"new_keys", Dtype::int64, Direction::write, n, each, true, rule.whole("threads")},
            {"new_numbers", Dtype::int64, Direction::write, n, each, true, rule.whole("threads")}};
        add(sort, context);
    }
    zero();
    simple("scan_start", 1, {{"states", Dtype::int32, Direction::write, 128, 1}});
    simple("unique_keys", ceil_div(n, choice.whole("unique_elements_of_cta")),
           {{"keys", Dtype::int64, Direction::read, n, 11, true, 640},
            {"segments", Dtype::int64, Direction::write, n, 11, true, 640}});
    // The host counts on a segment for each row or index, and on parts of ten indices; fewer have work.
    const auto rows = static_cast<double>(r.rows);
    const auto taken = static_cast<double>(n);
    const double segments = std::clamp(rows * (1.0 - std::exp(-taken / rows)), 1.0, taken);
    const std::int64_t most_segments = std::min(n, r.rows);
    const std::int64_t of_part = choice.whole("indices_of_part");
    const std::int64_t most_parts = n / of_part + most_segments;
    const PartShape shape = part_shape(taken / rows, of_part);
    const double parts = std::min(static_cast<double>(most_parts), segments * shape.of_segment);
    const auto parts_written = static_cast<std::int64_t>(std::ceil(parts)) * ceil_div(r.cols, 32) * 32;
    const std::int64_t segment_ctas = ceil_div(most_segments, 32);
    simple("segment_parts", segment_ctas, {{"segments", Dtype::int64, Direction::read, most_segments, 1}});
    simple("scan_start", 1, {{"states", Dtype::int32, Direction::write, 128, 1}});
    const KernelRule& scan = context.rule("segment_scan", r.dtype);
    simple("segment_scan", ceil_div(most_segments, scan.whole("threads") * scan.whole("elements")),
           {{"parts", Dtype::int64, Direction::read, most_segments, scan.whole("elements"), true,
             scan.whole("threads")}});
    simple("segment_count", 1, {});
    simple("segment_offsets", segment_ctas, {{"parts", Dtype::int64, Direction::write, most_parts, 1}});
    const std::int64_t stride = ceil_div(r.cols, 32) * 32;
    const std::int64_t threads = std::min<std::int64_t>(stride, 1024);
    const bool atomic = ceil_div(most_segments * stride, threads) <= sms;
    if (atomic) {
        simple("segment_parts", segment_ctas, {{"parts", Dtype::int64, Direction::write, most_parts, 1}});
        // Sums of halves are kept in fp32.
        if (element < 4) zero();
    }
    PartsAdded sum;
    sum.rule = &context.rule("embedding_backward_sum", r.dtype);
    sum.threads = threads;
    sum.ctas = ceil_div(most_parts * stride, threads);
    sum.busy = parts / static_cast<double>(most_parts);
    sum.singles = shape.singles;
    sum.groups = shape.groups;
    sum.dtype = r.dtype;
    sum.by_index = true;
    sum.results = atomic ? table : parts_written;
    sum.atomic = atomic;
    lower_parts(sum, context.program.add_kernel());
    if (atomic) {
        if (element < 4) {
            const KernelRule& rule = context.rule("fill", r.dtype);
            FlowKernel cast = flow_of(rule, ceil_div(table, rule.whole("threads") * rule.whole("elements")));
            cast.launch.registers = 32;
            cast.flows = {{"sums", Dtype::fp32, Direction::read, table, 8},
                          {"gradient", r.dtype, Direction::write, table, 8}};
            add(cast, context);
        }
        return;
    }
    // A segment's parts are added as indices are added to parts: singles first, then groups of four.
    const double of_segment = parts / segments;
    PartsAdded scatter;
    scatter.rule = &context.rule("embedding_backward_scatter", r.dtype);
    scatter.threads = threads;
    scatter.ctas = ceil_div(most_segments * stride, threads);
    scatter.busy = segments / static_cast<double>(most_segments);
    scatter.groups = std::floor(of_segment / group);
    scatter.singles = of_segment - group * scatter.groups;
    scatter.dtype = Dtype::fp32;
    scatter.results = table;
    scatter.result_dtype = r.dtype;
    scatter.finds_row = true;
    // Sums of parts are still dirty in the L2 as far as it holds written lines.
    scatter.kept = static_cast<double>(parts_written) * 4.0 <=
                   context.gpu.l2.dirty_capacity.value() * context.gpu.l2.capacity.value();
    lower_parts(scatter, context.program.add_kernel());
}

}  // namespace warptime::workloads::movement
