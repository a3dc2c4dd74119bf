// Sectors, lines and passes that each lane pattern touches, worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/lane_touch.hpp"

#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace warptime::model::machine {
namespace {

struct Case {
    kernel::Kernel kernel;
    kernel::Access access;
    Case() {
        kernel::Builder build(kernel);
        const kernel::Id x = build.buffer(kernel::examples::vector_of("x", hw::Dtype::fp32, 1 << 20));
        access = kernel::examples::lanes(x, kernel::Direction::read, kernel::Builder::constant(0), 4);
    }
    MemoryPieces pieces{32.0, 64.0, 128.0, {32, 4}};
    [[nodiscard]] LaneTouch touch(double active = 1.0) const {
        return touch_of(kernel, access, active, pieces);
    }
    /// Lists executions behind others that belong to another access.
    void list(const std::vector<std::array<std::int64_t, 32>>& rows) {
        access.pattern = kernel::PatternKind::listed;
        kernel.address_list.assign(32, 777);
        access.pool_first = 32;
        access.pool_length = static_cast<std::uint32_t>(32 * rows.size());
        for (const auto& row : rows) {
            kernel.address_list.insert(kernel.address_list.end(), row.begin(), row.end());
        }
        kernel.address_list.insert(kernel.address_list.end(), 32, 999);
    }
};

/// Lane l reads element first + l x apart.
std::array<std::int64_t, 32> apart(std::int64_t first, std::int64_t apart) {
    std::array<std::int64_t, 32> row{};
    for (std::size_t lane = 0; lane < row.size(); ++lane) {
        row[lane] = first + static_cast<std::int64_t>(lane) * apart;
    }
    return row;
}

}  // namespace

TEST_CASE("lanes side by side, one address for all, and every lane in a line of its own") {
    Case c;
    CHECK(c.touch().sectors == 4.0);
    CHECK(c.touch().lines == 1.0);
    CHECK(c.touch(0.25).sectors == 1.0);
    c.access.pattern = kernel::PatternKind::broadcast;
    CHECK(c.touch().sectors == 1.0);
    c.access.pattern = kernel::PatternKind::stride;
    c.access.inner_extent = 32;
    c.access.inner = 32;  // 128 bytes apart
    CHECK(c.touch().lines == 32.0);
    CHECK(c.touch().granules == 32.0);
    CHECK(c.touch().passes == 32.0);  // all in one bank
}

TEST_CASE("listed addresses are those of the list; random ones fill a window and no more") {
    Case c;
    c.access.pattern = kernel::PatternKind::listed;
    c.access.pool_length = 32;
    for (std::int64_t lane = 0; lane < 32; ++lane) c.kernel.address_list.push_back(lane / 16 * 32);
    CHECK(c.touch().lines == 2.0);
    c.access.pattern = kernel::PatternKind::random;
    c.access.distinct = 1 << 20;
    const LaneTouch wide = c.touch();
    CHECK(wide.lines > 31.0);
    CHECK(wide.lines <= 32.0);
    c.access.distinct = 64;  // two lines
    CHECK(c.touch().lines <= 2.0);
    CHECK(c.touch().lines > 1.9);
}

TEST_CASE("a listed access touches the mean of all its listed executions, in whatever order they stand") {
    Case c;
    // Side by side: 4 sectors of a line; a line for each lane; one word of one bank for all.
    const auto contiguous = apart(64, 1);
    const auto column = apart(4096, 32);
    const auto one = apart(640, 0);
    for (const auto& rows : {std::vector{contiguous, column, one}, std::vector{one, contiguous, column},
                             std::vector{column, one, contiguous}}) {
        c.list(rows);
        CHECK(c.touch().sectors == doctest::Approx((4.0 + 32.0 + 1.0) / 3.0));
        CHECK(c.touch().granules == doctest::Approx((2.0 + 32.0 + 1.0) / 3.0));
        CHECK(c.touch().lines == doctest::Approx((1.0 + 32.0 + 1.0) / 3.0));
        CHECK(c.touch().passes == doctest::Approx((1.0 + 32.0 + 1.0) / 3.0));
    }
    c.list({column});
    CHECK(c.touch().sectors == 32.0);
}

TEST_CASE("with the op's share of active lanes, a listed access touches what its active lanes touch") {
    Case c;
    // Eight lanes on one sector, the others off.
    std::array<std::int64_t, 32> row{};
    row.fill(-1);
    for (std::size_t lane = 0; lane < 8; ++lane) row[3 * lane] = 1024 + static_cast<std::int64_t>(lane);
    c.list({row});
    CHECK(c.touch(0.25).sectors == doctest::Approx(1.0));
    CHECK(c.touch(0.25).lines == doctest::Approx(1.0));
    // An execution without lanes counts as one that touches nothing.
    std::array<std::int64_t, 32> none{};
    none.fill(-1);
    c.list({row, none});
    CHECK(c.touch(0.125).sectors == doctest::Approx(0.5));
    c.list({none});
    CHECK(c.touch().sectors == 0.0);
    CHECK(c.touch().passes == 0.0);
    CHECK(rc::check("sectors, granules and lines are those of a count by hand", [] {
        const auto rows = *rc::gen::container<std::vector<std::array<std::int64_t, 32>>>(
            *rc::gen::inRange<std::size_t>(1, 6),
            rc::gen::container<std::array<std::int64_t, 32>>(
                rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(-400, 1200)),
                             [](std::int64_t index) { return index < 0 ? -1 : index; })));
        Case listed;
        listed.list(rows);
        double lanes = 0.0;
        double sectors = 0.0;
        double granules = 0.0;
        double lines = 0.0;
        for (const auto& own : rows) {
            std::set<std::int64_t> of_32;
            std::set<std::int64_t> of_64;
            std::set<std::int64_t> of_128;
            for (const std::int64_t index : own) {
                if (index < 0) continue;
                lanes += 1.0;
                of_32.insert(4 * index / 32);
                of_64.insert(4 * index / 64);
                of_128.insert(4 * index / 128);
            }
            sectors += static_cast<double>(of_32.size());
            granules += static_cast<double>(of_64.size());
            lines += static_cast<double>(of_128.size());
        }
        const auto count = static_cast<double>(rows.size());
        const double share = lanes > 0.0 ? lanes / (32.0 * count) : 1.0;
        const LaneTouch touch = listed.touch(share);
        RC_ASSERT(touch.sectors == doctest::Approx(sectors / count));
        RC_ASSERT(touch.granules == doctest::Approx(granules / count));
        RC_ASSERT(touch.lines == doctest::Approx(lines / count));
    }));
}

TEST_CASE("one address for all lanes takes as many passes as lanes no bytes apart") {
    struct Passes {
        kernel::Direction direction;
        std::int32_t bytes;
        double passes;
    };
    // Lanes that fill 128 bytes form a phase. Two phases of a load join where neighbours agree.
    for (const Passes& of :
         {Passes{kernel::Direction::read, 4, 1.0}, Passes{kernel::Direction::read, 8, 1.0},
          Passes{kernel::Direction::read, 16, 2.0}, Passes{kernel::Direction::write, 4, 1.0},
          Passes{kernel::Direction::write, 8, 2.0}, Passes{kernel::Direction::write, 16, 4.0}}) {
        CAPTURE(of.bytes);
        Case c;
        c.access.direction = of.direction;
        c.access.bytes = of.bytes;
        c.access.pattern = kernel::PatternKind::broadcast;
        CHECK(c.touch().passes == of.passes);
        CHECK(c.touch().sectors == 1.0);
        c.access.pattern = kernel::PatternKind::stride;
        c.access.inner_extent = 32;
        c.access.inner = 0;
        CHECK(c.touch().passes == of.passes);
    }
}

TEST_CASE("rows whose pitch is no multiple of a line begin at each of their places as often") {
    Case c;
    // 128 bytes at multiples of 8 of a line: (128 + 32 - 8) / 32 sectors on average. Two lines pass as one.
    c.kernel.terms.push_back({});
    c.kernel.terms.back().variable = kernel::Variable::warp;
    c.kernel.terms.back().coefficient = 150;
    c.access.origin[0].first = static_cast<std::uint32_t>(c.kernel.terms.size() - 1);
    c.access.origin[0].count = 1;
    CHECK(c.touch().sectors == doctest::Approx(4.75));
    CHECK(c.touch().lines == 1.0);
    // Both ends of a row are parts of sectors, but for one place of four.
    CHECK(c.touch().parted == doctest::Approx(1.5));
    c.kernel.terms.back().coefficient = 32;
    CHECK(c.touch().sectors == 4.0);
    CHECK(c.touch().lines == 1.0);
    CHECK(c.touch().parted == 0.0);
}

TEST_CASE("sectors that lanes cover in part") {
    Case c;
    c.access.pattern = kernel::PatternKind::stride;
    c.access.inner_extent = 32;
    for (const std::int64_t inner : {1, 2, 4, 8, 16}) {
        c.access.inner = inner;
        CHECK(c.touch().parted == (inner == 1 ? 0.0 : c.touch().sectors));
    }
    // All lanes at one word cover a part, however many they are; lanes of 16 bytes side by side cover all.
    c.access.inner = 0;
    CHECK(c.touch().parted == 1.0);
    c.list({apart(0, 4)});
    c.access.bytes = 16;
    CHECK(c.touch().parted == 0.0);
    c.list({apart(0, 8)});
    CHECK(c.touch().parted == 32.0);
}

}  // namespace warptime::model::machine
