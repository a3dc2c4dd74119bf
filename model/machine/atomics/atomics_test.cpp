// Passes of atomics counted lane by lane, and slices that a set of addresses reaches.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/atomics/atomics.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <vector>

namespace hw = warptime::hw;
namespace kernel = warptime::model::kernel;
namespace machine = warptime::model::machine;

namespace {

const machine::MemoryPieces& pieces() {
    static const machine::MemoryPieces of_chip = machine::pieces_of(hw::load_gpu("h200-sxm"));
    return of_chip;
}

/// Lanes of one warp at (l x apart) mod `distinct` words of `bytes`, in a kernel of their own.
struct Case {
    kernel::Kernel k;
    kernel::Role role;

    Case(std::int64_t distinct, std::int64_t apart, int bytes) {
        kernel::Builder build(k);
        kernel::Buffer words;
        words.dtype = hw::Dtype::int32;
        words.extent[0] = distinct * apart / 4;
        const kernel::Id table = build.buffer(words);
        build.role("warps", 1);
        kernel::Op op;
        op.cls = hw::InstructionClass::red_global;
        kernel::Access access;
        access.buffer = table;
        access.direction = kernel::Direction::atomic;
        access.pattern = kernel::PatternKind::stride;
        access.inner = apart / 4;
        access.bytes = bytes;
        access.bounds = kernel::Bounds::wrap;
        build.op(op, {access});
        build.finish();
        role = k.roles[0];
    }
    [[nodiscard]] const kernel::Access& access() const { return k.accesses[0]; }
    [[nodiscard]] machine::AtomicTouch touch() const {
        return machine::atomic_touch(k, access(), 1.0, pieces());
    }
};

using Row = std::array<std::int64_t, 32>;

/// Listed executions on words of 4 bytes. The list begins and ends with rows of other accesses.
struct Listed : Case {
    explicit Listed(const std::vector<Row>& rows) : Case(1 << 20, 4, 4) {
        kernel::Access& access = k.accesses[0];
        access.pattern = kernel::PatternKind::listed;
        k.address_list.assign(32, 3);
        access.pool_first = 32;
        access.pool_length = static_cast<std::uint32_t>(32 * rows.size());
        for (const Row& row : rows) k.address_list.insert(k.address_list.end(), row.begin(), row.end());
        k.address_list.insert(k.address_list.end(), 32, 1 << 19);
    }
    [[nodiscard]] machine::Window window(std::int64_t distinct) {
        k.accesses[0].distinct = distinct;
        return machine::atomic_window(k, role, k.ops[0], access(), 8.0);
    }
};

/// Four warps that go 100 times round a loop around an atomic at `terms` of a buffer of 4 MB, in a grid of
/// eight CTAs.
struct Walk {
    kernel::Kernel k;

    explicit Walk(std::initializer_list<kernel::Term> terms) {
        kernel::Builder build(k);
        kernel::Buffer words;
        words.dtype = hw::Dtype::int32;
        words.extent[0] = 1 << 20;
        k.schedule.tiles = {8, 1, 1, 1};
        const kernel::Id table = build.buffer(words);
        build.role("warps", 4);
        build.loop(100);
        kernel::Op op;
        op.cls = hw::InstructionClass::red_global;
        kernel::Access access;
        access.buffer = table;
        access.direction = kernel::Direction::atomic;
        access.origin[0] = build.index(0, terms);
        build.op(op, {access});
        build.end();
        build.finish();
    }
    [[nodiscard]] machine::Window window(double items) const {
        return machine::atomic_window(k, k.roles[0], k.ops[0], k.accesses[0], items);
    }
    [[nodiscard]] machine::Window in_step(double items) const {
        return machine::window_in_step(k, k.roles[0], k.ops[0], k.accesses[0], items);
    }
};

Row row_of(std::int64_t first, std::int64_t apart) {
    Row row{};
    for (std::size_t lane = 0; lane < row.size(); ++lane) {
        row[lane] = first + static_cast<std::int64_t>(lane) * apart;
    }
    return row;
}

}  // namespace

TEST_CASE("lanes of one word take turns, words of one sector do not") {
    CHECK(Case(1, 4, 4).touch().part == 32.0);
    CHECK(Case(4, 4, 4).touch().part == 8.0);
    CHECK(Case(16, 4, 4).touch().whole == 4.0);
    CHECK(Case(1024, 4, 4).touch().whole == 4.0);
    CHECK(Case(1024, 4, 4).touch().lines == 1.0);
    CHECK(Case(1024, 8, 8).touch().whole == 8.0);
    CHECK(Case(1024, 128, 4).touch().part == 32.0);
    CHECK(Case(1024, 128, 4).touch().lines == 32.0);
}

TEST_CASE("passes are those of a count by hand, whatever the stride and the number of words") {
    rc::check([] {
        const auto distinct = *rc::gen::inRange<std::int64_t>(1, 64);
        const auto apart = 4 * *rc::gen::inRange<std::int64_t>(1, 40);
        const machine::AtomicTouch touch = Case(distinct, apart, 4).touch();
        std::map<std::int64_t, std::map<std::int64_t, int>> sectors;
        std::set<std::int64_t> lines;
        for (std::int64_t lane = 0; lane < 32; ++lane) {
            const std::int64_t at = lane % distinct * apart;
            ++sectors[at / 32][at];
            lines.insert(at / 128);
        }
        double passes = 0.0;
        for (const auto& [sector, words] : sectors) {
            int deepest = 0;
            for (const auto& [word, lanes] : words) deepest = std::max(deepest, lanes);
            passes += deepest;
        }
        RC_ASSERT(touch.passes() == passes);
        RC_ASSERT(touch.lines == static_cast<double>(lines.size()));
    });
}

TEST_CASE("banks serve every lane where the old value returns, every word where it does not") {
    Case one_word(1, 4, 4);
    Case one_bank(64, 128, 4);
    kernel::Op op;
    CHECK(machine::bank_passes(one_word.k, op, one_word.access(), pieces()) == 32.0);
    CHECK(machine::bank_passes(one_bank.k, op, one_bank.access(), pieces()) == 32.0);
    op.returns = false;
    CHECK(machine::bank_passes(one_word.k, op, one_word.access(), pieces()) == 1.0);
    CHECK(machine::bank_passes(one_bank.k, op, one_bank.access(), pieces()) == 32.0);
}

TEST_CASE("a line keeps one slice busy, many lines all of them") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(machine::slices_reached({0.0, 4.0}, gpu) == 1.0);
    CHECK(machine::slices_reached({0.0, 128.0}, gpu) == 1.0);
    double last = 1.0;
    for (int power = 8; power < 30; ++power) {
        const double slices = machine::slices_reached({0.0, std::ldexp(1.0, power)}, gpu);
        CHECK(slices >= last);
        last = slices;
    }
    CHECK(last == doctest::Approx(machine::slices_of(gpu)).epsilon(0.001));
}

TEST_CASE("sets that stay lie in the slices that some bits of a line's number choose") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto reached = [&](double lines) {
        return machine::slices_reached({0.0, 128.0 * lines, true}, gpu);
    };
    CHECK(reached(1.0) == 1.0);
    CHECK(reached(2.0) == 1.0);
    CHECK(reached(3.0) == 1.5);
    CHECK(reached(8.0) == 2.0);
    CHECK(reached(32.0) == 8.0);
    CHECK(reached(512.0) == doctest::Approx(64.0 * gpu.l2.slice_share.value()));
    CHECK(reached(1024.0) == reached(512.0));
    // Beyond the slice bits a fixed set fills the slices like a moving one.
    CHECK(reached(8192.0) == machine::slices_reached({0.0, 128.0 * 8192.0, false}, gpu));
}

TEST_CASE("the window is what two turns touch, and never more than the buffer") {
    Walk walk({kernel::term(kernel::Variable::tile, 128), kernel::term(kernel::Variable::warp, 32),
               kernel::term(kernel::Variable::loop, 1024)});
    CHECK(walk.window(8.0).bytes() == 2.0 * 4096.0);
    CHECK(walk.window(1.0).bytes() == 4096.0 + 512.0);
    walk.k.buffers[0].extent[0] = 64;
    CHECK(walk.window(8.0).bytes() == 256.0);
}

TEST_CASE("the window of a buffer spans those of all its atomics") {
    const Case one(1024, 4, 4);
    const machine::Window own =
        machine::atomic_window(one.k, one.k.roles[0], one.k.ops[0], one.k.accesses[0], 4.0);
    const machine::Window all = machine::atomic_window_of(one.k, one.k.accesses[0].buffer, 4.0);
    CHECK(all.first == own.first);
    CHECK(all.last == own.last);
    CHECK(all.still == own.still);
    // A second atomic farther on, by the same op.
    Case two(1024, 4, 4);
    kernel::Access far = two.k.accesses[0];
    far.origin[0].constant += 512;
    two.k.accesses.push_back(far);
    two.k.ops[0].access_count = 2;
    const machine::Window both = machine::atomic_window_of(two.k, far.buffer, 4.0);
    const machine::Window second = machine::atomic_window(two.k, two.k.roles[0], two.k.ops[0], far, 4.0);
    CHECK(both.first == std::min(own.first, second.first));
    CHECK(both.last == std::max(own.last, second.last));
    CHECK(machine::atomic_window_of(one.k, kernel::no_id, 4.0).bytes() == 0.0);
}

TEST_CASE("listed atomics touch the mean of all their listed executions") {
    // One word for all lanes, whole sectors side by side, and a line for each of two lanes.
    const Row one = row_of(640, 0);
    const Row side_by_side = row_of(1024, 1);
    Row two{};
    two.fill(-1);
    two[5] = 4096;
    two[30] = 8192;
    for (const auto& rows : {std::vector{one, side_by_side, two}, std::vector{two, one, side_by_side}}) {
        const machine::AtomicTouch touch = Listed(rows).touch();
        CHECK(touch.part == doctest::Approx((32.0 + 0.0 + 2.0) / 3.0));
        CHECK(touch.whole == doctest::Approx((0.0 + 4.0 + 0.0) / 3.0));
        CHECK(touch.sectors == doctest::Approx((1.0 + 4.0 + 2.0) / 3.0));
        CHECK(touch.lines == doctest::Approx((1.0 + 1.0 + 2.0) / 3.0));
    }
    Row none{};
    none.fill(-1);
    CHECK(Listed({none}).touch().passes() == 0.0);
    CHECK(Listed({none, one}).touch().part == 16.0);
}

TEST_CASE("passes of listed atomics are those of a count by hand, inactive lanes left out") {
    CHECK(rc::check([] {
        const auto rows = *rc::gen::container<std::vector<Row>>(
            *rc::gen::inRange<std::size_t>(1, 5),
            rc::gen::container<Row>(
                rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(-20, 100)),
                             [](std::int64_t i) { return i < 0 ? -1 : i; })));
        double passes = 0.0;
        double sectors = 0.0;
        double lines = 0.0;
        for (const Row& row : rows) {
            std::map<std::int64_t, std::map<std::int64_t, int>> words_of;
            std::set<std::int64_t> touched;
            for (const std::int64_t index : row) {
                if (index < 0) continue;
                ++words_of[index / 8][index];
                touched.insert(index / 32);
            }
            for (const auto& [sector, words] : words_of) {
                int deepest = 0;
                for (const auto& [word, lanes] : words) deepest = std::max(deepest, lanes);
                passes += deepest;
            }
            sectors += static_cast<double>(words_of.size());
            lines += static_cast<double>(touched.size());
        }
        const auto count = static_cast<double>(rows.size());
        const machine::AtomicTouch touch = Listed(rows).touch();
        RC_ASSERT(touch.passes() == doctest::Approx(passes / count));
        RC_ASSERT(touch.sectors == doctest::Approx(sectors / count));
        RC_ASSERT(touch.lines == doctest::Approx(lines / count));
    }));
}

TEST_CASE("the window of listed atomics begins at their least address and spans what they can reach") {
    Row some{};
    some.fill(-1);
    some[7] = 5000;
    some[8] = 900;
    Listed listed({row_of(2000, 1), some, row_of(1500, 3)});
    CHECK(listed.window(0).first == 900.0 * 4.0);
    CHECK(listed.window(0).last == 5000.0 * 4.0 + 4.0);
    CHECK(listed.window(0).still);
    CHECK(listed.window(7000).first == 900.0 * 4.0);
    CHECK(listed.window(7000).bytes() == 7000.0 * 4.0);
    CHECK(listed.window(100).bytes() == 100.0 * 4.0);
    // A word alone is no window of nothing, and the word at the front of the buffer counts.
    CHECK(Listed({row_of(64, 0)}).window(0).bytes() == 4.0);
    CHECK(Listed({row_of(0, 2)}).window(0).first == 0.0);
    CHECK(Listed({row_of(0, 2)}).window(0).last == 62.0 * 4.0 + 4.0);
}

TEST_CASE("CTAs that walk the same way are anywhere on it, others side by side") {
    const Walk walk({kernel::term(kernel::Variable::warp, 32), kernel::term(kernel::Variable::loop, 128)});
    const machine::Window own = walk.window(8.0);
    CHECK(own.bytes() == 100.0 * 512.0);
    CHECK(own.still);
    // Stores are taken to be in step, and so is a CTA that is alone.
    CHECK(walk.in_step(8.0).bytes() == 2.0 * 512.0);
    const machine::Window alone = walk.window(1.0);
    CHECK(alone.bytes() == 2.0 * 512.0);
    CHECK_FALSE(alone.still);
}

TEST_CASE("slices at work are those of the set, or fewer where one gets more than its part") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const double all = machine::slices_of(gpu);
    const machine::Window large{0.0, 1e9, true};
    CHECK(machine::slices_at_work(large, 1.0, gpu) == doctest::Approx(all).epsilon(0.001));
    CHECK(machine::slices_at_work(large, 4.0, gpu) == doctest::Approx(all / 4.0));
    CHECK(machine::slices_at_work(large, 1e6, gpu) == 1.0);
    const machine::Window small{0.0, 8.0 * 128.0, true};
    CHECK(machine::slices_at_work(small, 1.0, gpu) == machine::slices_reached(small, gpu));
}
