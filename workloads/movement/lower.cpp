// SPDX-License-Identifier: Apache-2.0
#include "workloads/movement/lower.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warptime::workloads::movement {

using arrays::Body;
using arrays::ceil_div;
using mk::Direction;
using mk::Variable;

void add_copy(const arrays::Context& context, std::int64_t bytes) {
    mk::Memcpy copy;
    copy.bytes = bytes;
    const libraries::DeviceCopyRule& rule = context.libraries.device_copy;
    if (copy.bytes > rule.ragged_above && copy.bytes % rule.granule != 0) copy.passes = 2;
    context.program.add_memcpy(copy);
}

namespace {

/// The divisor of `n` nearest to `wanted`, from half of it to twice it; 1 where there is none.
std::int64_t near_divisor(std::int64_t n, std::int64_t wanted) {
    for (std::int64_t apart = 0; 2 * apart <= wanted; ++apart) {
        if (n % (wanted + apart) == 0) return wanted + apart;
        if (wanted > apart && n % (wanted - apart) == 0) return wanted - apart;
    }
    return 1;
}

/// CTAs along a row of the result, row after row, part after part.
struct Tiles {
    std::int64_t of_row = 1, steps = 1, parts = 1;
};

/// Elements of the source between two that stand `elements` apart in rows of `extent`, on average.
std::int64_t scaled(std::int64_t elements, std::int64_t stride, std::int64_t extent) {
    return std::llround(static_cast<double>(elements) * static_cast<double>(stride) /
                        static_cast<double>(extent));
}

/// About `of_row` CTAs of `piece` elements a row and `parts` parts. Where the number of CTAs has no such
/// divisors, rows may be less than one element of the source apart, as if all CTAs read the same. A few CTAs
/// more then make better rows.
Tiles tiles_of(const StridedMap& map, std::int64_t ctas, std::int64_t piece) {
    constexpr std::int64_t most_more = 64;
    const std::int64_t parts = map.s[2] == 0 ? 1 : ceil_div(ceil_div(map.elements, map.n[0]), map.n[1]);
    const std::int64_t of_row =
        map.n[0] < piece ? 1 : std::max<std::int64_t>(1, (map.n[0] + piece / 2) / piece);
    const auto divided = [&](std::int64_t all) {
        const std::int64_t in_parts = near_divisor(all, parts);
        const std::int64_t in_row = near_divisor(all / in_parts, of_row);
        return Tiles{in_row, all / in_parts / in_row, in_parts};
    };
    for (std::int64_t all = ctas; all <= ctas + std::min(most_more, ctas / 100); ++all) {
        const Tiles tiles = divided(all);
        if (map.s[1] == 0 || scaled(tiles.of_row * piece, map.s[1], map.n[0]) != 0) return tiles;
    }
    return divided(ctas);
}

}  // namespace

void lower_strided(const StridedMap& map, mk::Dtype dtype, const arrays::Context& context) {
    const libraries::KernelRule& rule = context.rule("strided", dtype);
    const std::int64_t threads = rule.whole("threads");
    const std::int64_t each = rule.whole("elements");
    const std::int64_t piece = threads * each;
    arrays::Launch launch;
    launch.name = map.name;
    launch.ctas = ceil_div(map.elements, piece);
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    // Tiles in three dimensions say which CTAs touch the same lines: along a row of the result, row after
    // row, part after part. Where pieces do not divide rows or parts, strides are those of the elements on
    // average.
    const bool long_rows = map.n[0] >= piece;
    const Tiles tiles = tiles_of(map, launch.ctas, piece);
    launch.ctas = tiles.of_row * tiles.steps * tiles.parts;
    const auto& [of_row, steps, parts] = tiles;
    mk::Kernel& kernel = context.program.add_kernel();
    Body body(kernel, launch);
    kernel.schedule.tiles = {of_row, steps, parts, 1};
    kernel.schedule.group = of_row;
    // Elements of the source from one tile to the next, along rows and parts.
    const std::int64_t step = of_row * piece;
    const std::int64_t next_row = scaled(step, map.s[1], map.n[0]);
    const std::int64_t next_part = scaled(step * steps, map.s[2], map.n[0] * map.n[1]);
    const std::int64_t bytes = hw::bytes_of(dtype);
    const mk::Id in = body.vector("in", dtype, map.source);
    // The other arrays that are read; what every row reads alike is one row.
    static constexpr std::array<std::string_view, 16> names{
        "in", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14", "a15"};
    const std::int64_t whole = map.inputs - map.repeated;
    std::vector<mk::Id> others;
    for (std::int64_t i = 1; i < map.inputs; ++i) {
        others.push_back(body.vector(names.at(static_cast<std::size_t>(i)), dtype,
                                     i < whole ? map.source : std::min(map.source, map.n[0])));
    }
    const mk::Id out = body.vector("out", dtype, map.elements);
    body.begin();
    mk::Builder& b = body.builder();
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id);
    for (std::int64_t i = 0; i < each; ++i) {
        const mk::Index within = body.sum(i * threads, {mk::term(Variable::warp, 32)});
        const mk::Index linear =
            b.sum(within, body.sum(0, {mk::term(Variable::tile, piece), mk::term(Variable::tile, step, 1),
                                       mk::term(Variable::tile, step * steps, 2)}));
        last = body.add(rule.mix("element"), 1.0, last, 2.0);
        mk::Id addressed = body.add(rule.mix("dimension"), map.dims, last, 2.0);
        addressed =
            body.add(rule.mix("array"), static_cast<double>(map.dims * (map.inputs - 1)), addressed, 2.0);
        mk::Index source =
            body.sum(0, {mk::term(Variable::tile, long_rows ? piece * map.s[0] : 0),
                         mk::term(Variable::tile, next_row, 1), mk::term(Variable::tile, next_part, 2)});
        if (long_rows) {
            source = b.sum(source, b.scaled(within, map.s[0]));
        } else {
            source = b.sum(source, b.sum(b.scaled(body.remainder(within, map.n[0]), map.s[0]),
                                         b.scaled(b.floordiv(within, map.n[0]), map.s[1])));
        }
        mk::Access read = Body::lanes(in, Direction::read, source, bytes);
        read.pattern = mk::PatternKind::stride;
        read.inner = map.s[0];
        read.bounds = mk::Bounds::wrap;
        // A warp whose rows are shorter than it takes several rows at once.
        if (map.n[0] < 32 && 32 % map.n[0] == 0) {
            read.inner_extent = map.n[0];
            read.outer = map.s[1];
        }
        // Short rows of the result take their sectors again from lines that the CTA has touched.
        const std::int64_t beside = map.s[1] > 0 ? 32 / (map.s[1] * bytes) : 1;
        if (!long_rows && map.s[0] * bytes >= 32 && beside > 1) {
            const auto times = static_cast<double>(std::min(ceil_div(piece, map.n[0]), beside));
            read.reuse = body.touched_before(1.0 - 1.0 / times, static_cast<double>(map.n[0] * 128));
        }
        // A row that is repeated stays in the L1 of an SM from one CTA to the next.
        if (map.s[1] == 0 && map.s[2] == 0) {
            read.reuse = body.touched_before(1.0, static_cast<double>(map.source * bytes));
        }
        const mk::Id loaded = body.load(read, addressed);
        std::vector<mk::Id> waits;
        for (std::size_t j = 0; j < others.size(); ++j) {
            read.buffer = others[j];
            if (static_cast<std::int64_t>(j) + 1 >= whole) {
                read.reuse = body.touched_before(1.0, static_cast<double>(map.n[0] * bytes));
            }
            waits.push_back(body.load(read, addressed));
        }
        mk::Id made = loaded;
        if (map.flops > 0) {
            made = body.op(mk::InstructionClass::add_f32, map.flops, loaded, map.flops);
            for (const mk::Id other : waits) body.also_after(other);
        }
        // The store waits for the loads, and the next element comes after the store.
        last = body.store(Body::lanes(out, Direction::write, linear, bytes), made);
        if (map.flops == 0) {
            for (const mk::Id other : waits) body.also_after(other);
        }
    }
    body.finish();
}

namespace {

/// The kernel that goes over both matrices by vectors, or element by element.
void lower_cat_loop(const Concatenation& cat, const arrays::Context& context,
                    const libraries::KernelRule& rule, std::int64_t ctas, std::int64_t vector) {
    const std::int64_t threads = rule.whole("threads");
    const std::int64_t bytes = hw::bytes_of(cat.dtype);
    arrays::Launch launch;
    launch.name = "cat";
    launch.ctas = ctas;
    launch.ctas_y = 2;
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    Body body(context.program.add_kernel(), launch);
    mk::Builder& b = body.builder();
    const std::int64_t each = cat.rows * cat.cols;
    // Both sources as one array: the second one begins where the first one ends.
    const mk::Id in = body.vector("in", cat.dtype, 2 * each);
    const mk::Id out = body.vector("out", cat.dtype, 2 * each);
    body.begin();
    const mk::Id started = body.add(rule.mix("start"), 1.0, mk::no_id);
    const std::int64_t step = ctas * threads * vector;
    const mk::Bounds bounds = body.strided_loop(each, step, 32 * vector);
    const mk::Index place =
        body.sum(0, {mk::term(Variable::loop, step), mk::term(Variable::tile, threads * vector),
                     mk::term(Variable::warp, 32 * vector)});
    const mk::Index source = b.sum(place, body.sum(0, {mk::term(Variable::tile, each, 1)}));
    const std::int64_t narrow = rule.has("stores_by_element") ? 1 : vector;
    mk::Access read = Body::lanes(in, Direction::read, source, vector * bytes);
    read.bounds = bounds;
    const mk::Id loaded = body.load(read, started);
    mk::Id made = body.add(rule.mix("body"), 1.0, loaded);
    // Places in the part and in the result, by a division each for every dimension but the last one left.
    if (!cat.contiguous) made = body.add(rule.mix("dimension"), static_cast<double>(cat.dims - 1), made);
    const mk::Index row = b.floordiv(place, cat.cols);
    const mk::Index target =
        b.sum(b.sum(place, b.scaled(row, cat.cols)), body.sum(0, {mk::term(Variable::tile, cat.cols, 1)}));
    mk::Access write = Body::lanes(out, Direction::write, target, narrow * bytes);
    write.bounds = bounds;
    if (narrow != vector) {
        write.pattern = mk::PatternKind::stride;
        write.inner = vector;
        write.step = 1;
        write.joined = 1.0 - 1.0 / static_cast<double>(vector);
    }
    (void)body.store(write, made, vector / narrow);
    b.end();
    body.finish();
}

}  // namespace

void lower_cat(const Concatenation& cat, const arrays::Context& context) {
    const std::int64_t bytes = hw::bytes_of(cat.dtype);
    const std::int64_t each = cat.rows * cat.cols;
    const std::int64_t sms = static_cast<std::int64_t>(context.gpu.sm.count.value());
    const bool whole_vectors = cat.cols * bytes % 16 == 0;
    const char* name = !cat.contiguous ? "cat_strided" : whole_vectors ? "cat_vectors" : "cat_aligned";
    const libraries::KernelRule& rule = context.rule(name, cat.dtype);
    if (!cat.contiguous) {
        lower_cat_loop(cat, context, rule, rule.whole("ctas_per_sm") * sms, 1);
        return;
    }
    const std::int64_t vector = std::max<std::int64_t>(1, rule.whole("bytes") / bytes);
    const std::int64_t ctas = std::min(sms * rule.whole("most_ctas_per_sm"),
                                       ceil_div(ceil_div(each, vector), rule.whole("threads")));
    lower_cat_loop(cat, context, rule, ctas, vector);
}

}  // namespace warptime::workloads::movement
