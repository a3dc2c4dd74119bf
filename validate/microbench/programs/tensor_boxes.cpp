// Bulk tensor copies of boxes that go along the rows of a matrix: tensor_boxes.
// The boxes lie in part beyond the matrix's last row. Ignores: the wait for the first box of all.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t matrix_columns = 32768;  // of two bytes
constexpr std::int64_t apart = 256;             // columns between CTAs that share nothing
// Integer instructions in series from a passed wait to the next copy. These instructions make a stage's place
// and a column that goes round.
constexpr int addressing = 5;

struct Boxes {
    std::int64_t ctas = 1, rows = 16, inside = 0, columns = 32, stages = 1, copies = 1;
    bool shared = true;
};

void add_boxes(mk::Program& program, const Boxes& b) {
    mk::Kernel& k = add_kernel(program, "boxes", b.ctas, 32, b.rows * b.columns * 2 * b.stages);
    // The matrix is one box high. The start of a box does not matter; only the number of its rows does.
    k.schedule.tiles = {b.ctas, 1, 1, 1};
    mk::Builder build(k);
    mk::Buffer matrix;
    matrix.name = "matrix";
    matrix.dtype = mk::Dtype::bf16;
    matrix.contents = mk::Contents::random;
    matrix.rank = 2;
    matrix.extent = {matrix_columns, std::max<std::int64_t>(1, b.inside), 1, 1, 1};
    matrix.stride = {1, matrix_columns, 0, 0, 0};
    const mk::Id data = build.buffer(matrix);
    mk::Token full;
    full.name = "full";
    full.kind = mk::TokenKind::mbarrier;
    full.key = mk::TokenKey::stage;
    full.depth = static_cast<std::int32_t>(b.stages);
    full.arrivals = 1;
    const mk::Id token = build.token(full);
    build.role("copier", 1);
    const auto issue = [&] {
        mk::Op expect;
        expect.cls = mk::InstructionClass::mbarrier_arrive;
        expect.active = 1.0 / 32.0;
        build.op(expect);
        const mk::Id at = add_integer(build, addressing, addressing);
        mk::Op copy;
        copy.cls = mk::InstructionClass::cp_async_bulk_tensor;
        copy.completes = token;
        copy.dep_count = 1;
        copy.deps[0] = {at, 0};
        mk::Access a;
        a.buffer = data;
        a.pattern = mk::PatternKind::collective;
        a.rank = 2;
        a.box = {b.columns, b.rows, 1, 1, 1};
        mk::Index column = build.variable(mk::Variable::loop, b.columns);
        if (!b.shared) column = build.sum(column, build.variable(mk::Variable::tile, apart));
        a.origin[0] = build.modulo(column, matrix_columns);
        a.origin[1] = build.variable(mk::Variable::tile, b.rows, 1);
        a.bounds = mk::Bounds::zero_fill;
        build.op(copy, {a});
    };
    build.loop(b.stages);
    issue();
    build.end();
    build.loop(std::max<std::int64_t>(1, b.copies - b.stages));
    build.wait(token);
    issue();
    build.end();
    build.loop(b.stages);
    build.wait(token);
    add_integer(build, 1, 1);
    build.end();
    build.finish();
}

Probe tensor_box(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Boxes b;
    b.ctas = integer(p, "ctas");
    b.rows = integer(p, "rows");
    b.inside = integer(p, "inside");
    b.columns = integer(p, "row_bytes") / 2;
    b.stages = integer(p, "stages");
    b.shared = text(p, "share") == "all";
    Probe probe;
    const std::int64_t copies = integer(p, "copies");
    b.copies = copies;
    add_boxes(probe.without, b);
    b.copies = 2 * copies;
    add_boxes(probe.program, b);
    probe.units = static_cast<double>(copies);
    return probe;
}

constexpr std::array families{
    Family{"microbench_tensor_boxes", "tensor_box", tensor_box},
};

}  // namespace

std::span<const Family> tensor_box_families() {
    return families;
}

}  // namespace warptime::validate::microbench
