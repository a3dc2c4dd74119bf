// Bytes between SMs, L2 and DRAM: compulsory, warm, flushed and cold, and re-reads of what L2 cannot hold.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/traffic.hpp"

#include "model/analytical/item_demand.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/text.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/machine/l2/l2.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model;
using namespace warptime::model::analytical;
using fixture::gpu;
using warptime::model::prediction::Cache;
using warptime::model::prediction::Conditions;

namespace {

Traffic of(const mk::Kernel& kernel, Cache cache, std::int64_t concurrent = 264, const hw::Gpu& on = gpu()) {
    Conditions conditions;
    conditions.cache = cache;
    return traffic(kernel, item_demand(kernel, on, hw::Cycles(600.0)), concurrent, on, conditions);
}

mk::Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {m, n, k});
    return kernel;
}

double bytes(std::int64_t rows, std::int64_t columns) {
    return 2.0 * static_cast<double>(rows * columns);
}

/// CTAs of one warp, whose code is `body`, with a buffer of so many words.
template <class Body>
mk::Kernel one_warp(std::int64_t ctas, std::int64_t elements, const Body& body) {
    mk::Kernel kernel;
    kernel.name = "one warp";
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {32, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::fp32, elements));
    build.role("warp", 1);
    body(kernel, build, x);
    build.finish();
    return kernel;
}

void add_op(mk::Builder& build, hw::InstructionClass cls, std::int64_t count, const mk::Access& access) {
    mk::examples::Draft op = mk::examples::make_op(cls, count);
    mk::examples::add_access(op, access);
    mk::examples::add_op(build, op);
}

/// Each CTA reads `loads` times a word of a line of its own for every lane, somewhere in the first `span`
/// elements. Words lie in the first `sectors` sectors of their lines.
mk::Kernel scattered(std::int64_t ctas, std::int64_t loads, std::int64_t elements, std::int64_t span,
                     std::int64_t sectors = 4) {
    return one_warp(ctas, elements, [&](mk::Kernel& kernel, mk::Builder& build, mk::Id x) {
        mk::Access access = mk::examples::lanes(x, mk::Direction::read, mk::Builder::constant(0), 4);
        access.pattern = mk::PatternKind::listed;
        access.distinct = span;
        access.pool_length = 32;
        for (std::int64_t lane = 0; lane < 32; ++lane)
            kernel.address_list.push_back(lane * 32 + lane % sectors * 8);
        add_op(build, hw::InstructionClass::ld_global, loads, access);
    });
}

/// Each lane reads and, if `stores`, writes a word, `apart` words from the next lane's.
mk::Kernel strided(std::int64_t ctas, std::int64_t apart, bool stores) {
    return one_warp(ctas, ctas * 32 * apart, [&](mk::Kernel&, mk::Builder& build, mk::Id x) {
        mk::Access access =
            mk::examples::lanes(x, mk::Direction::read, build.variable(mk::Variable::tile, 32 * apart), 4);
        access.pattern = mk::PatternKind::stride;
        access.inner = apart;
        access.inner_extent = 32;
        add_op(build, hw::InstructionClass::ld_global, 1, access);
        access.direction = mk::Direction::write;
        if (stores) add_op(build, hw::InstructionClass::st_global, 1, access);
    });
}

/// Bytes of the pieces that so many words bring, each read once while there are any. A piece of k words is
/// left out with C(W - k, n) / C(W, n).
double distinct_pieces(double asked, double span) {
    const double piece = gpu().dram.access_bytes.value();
    const double words = span / 4.0;
    const double drawn = std::min(words, asked / piece);
    double left_out = 1.0;
    for (int word = 0; word < std::lround(piece / 4.0); ++word) {
        left_out *= std::max(0.0, words - drawn - word) / (words - word);
    }
    return std::min(asked, span * (1.0 - left_out));
}

/// Each of `ctas` CTAs reads 20 480 bytes of its own twice, and has read as many in between.
mk::Kernel twice(std::int64_t ctas, bool alike = false) {
    return one_warp(ctas, ctas * 5120, [alike](mk::Kernel& kernel, mk::Builder& build, mk::Id x) {
        mk::Reuse again;  // Half of the loads, at a distance between 16 and 32 KiB.
        for (std::size_t i = 5; i < mk::Reuse::distances; ++i) again.sectors[i] = again.whole[i] = 0.5;
        kernel.reuse.push_back(again);
        mk::Access access = mk::examples::lanes(x, mk::Direction::read,
                                                build.variable(mk::Variable::tile, alike ? 0 : 5120), 4);
        access.cache = mk::CachePolicy::ca;
        access.reuse = 1;
        add_op(build, hw::InstructionClass::ld_global, 320, access);
    });
}

}  // namespace

TEST_CASE("bytes read again come from DRAM once more where all CTAs have read more than the L2 holds") {
    // 264 CTAs: 5.4 MB, which the L2 holds. 4224 at work of 8448: 12 kB for each.
    hw::Gpu small_l1 = gpu();
    small_l1.l1.capacity = hw::Bytes(1024.0);
    const auto read = [&small_l1](const mk::Kernel& kernel) {
        Conditions conditions;
        conditions.cache = Cache::cold;
        const auto item = item_demand(kernel, small_l1, hw::Cycles(600.0), 32);
        return traffic(kernel, item, 132 * 32, small_l1, conditions).dram_read.value();
    };
    const double few = read(twice(264));
    CHECK(few == doctest::Approx(264.0 * 20480.0).epsilon(0.01));
    const double many = read(twice(8448));
    CHECK(many == doctest::Approx(2.0 * 8448.0 * 20480.0).epsilon(0.01));
    // What all CTAs read, they keep for one another.
    CHECK(read(twice(8448, true)) < 0.6 * many);
}

TEST_CASE("operands that fit in L2 are read from DRAM once") {
    const auto t = of(gemm(1024, 2048, 512), Cache::cold);
    CHECK(t.dram_read.value() == doctest::Approx(bytes(1024, 512) + bytes(2048, 512)));
    CHECK(t.from_dram);
    CHECK(t.dram_row_read.value() <= t.dram_read.value());
    CHECK(t.dram_scattered_read.value() == 0.0);
}

TEST_CASE("warm operands that fit are not read, those that do not fit are") {
    const auto fits = of(gemm(1024, 1024, 512), Cache::warm);
    CHECK(fits.dram_read.value() == 0.0);
    CHECK_FALSE(fits.from_dram);
    CHECK(fits.l2_read.value() > 0.0);
    const auto large = of(gemm(16384, 16384, 8192), Cache::warm);
    CHECK(large.dram_read.value() >= bytes(16384, 8192));
}

TEST_CASE("what has outgrown the L2 is waited for from DRAM, however warm the caches are") {
    const std::int64_t held = 16;
    const auto near = of(fixture::stream(held, 1), Cache::warm);
    CHECK(near.places.near == 1.0);
    const std::int64_t ctas = std::int64_t{1} << 16;
    REQUIRE(static_cast<double>(ctas) * fixture::stream_bytes_per_cta > gpu().l2.capacity.value());
    const auto streamed = of(fixture::stream(ctas, 1), Cache::warm);
    CHECK(streamed.places.dram == doctest::Approx(1.0));
    CHECK(streamed.places.near + streamed.places.other + streamed.places.dram == doctest::Approx(1.0));
    // Operands that many tiles read again are mostly found in the L2.
    const auto shared = of(gemm(16384, 16384, 8192), Cache::warm);
    CHECK(shared.places.dram < 0.5);
}

TEST_CASE(
    "of a set between what a partition keeps and the whole L2, a part is lost from one run to the next") {
    const double share = 0.7;  // of the L2, read and written together
    const auto ctas =
        static_cast<std::int64_t>(0.5 * share * gpu().l2.capacity.value() / fixture::stream_bytes_per_cta);
    const double one_way = static_cast<double>(ctas) * fixture::stream_bytes_per_cta;
    const double lost = 1.0 - machine::kept_share(2.0 * one_way, gpu());
    REQUIRE(lost > 0.1);
    REQUIRE(lost < 0.9);
    mk::Kernel kernel = fixture::stream(ctas, 1);
    const auto warm = of(kernel, Cache::warm);
    CHECK(warm.dram_read.value() == doctest::Approx(one_way * lost));
    CHECK(warm.dram_written.value() == doctest::Approx(one_way * lost));
    CHECK(warm.places.dram == doctest::Approx(lost));
    CHECK(of(kernel, Cache::cold).dram_read.value() == doctest::Approx(one_way));
    // After what the kernel before has written, less has come.
    kernel.buffers[0].before = mk::Before::warm;
    kernel.buffers[0].contents = mk::Contents::written_by;
    kernel.buffers[0].written_by_step = 0;
    CHECK(of(kernel, Cache::warm).dram_read.value() ==
          doctest::Approx(one_way * (1.0 - machine::kept_share(1.5 * one_way, gpu()))));
    // Earlier steps may have touched more.
    kernel.buffers[0].since_bytes = static_cast<std::int64_t>(0.25 * one_way);
    CHECK(of(kernel, Cache::warm).dram_read.value() ==
          doctest::Approx(one_way * (1.0 - machine::kept_share(1.75 * one_way, gpu()))));
}

TEST_CASE("launches between two runs push a warm set out, but not what another kernel has left") {
    const std::int64_t ctas = 512;
    const double one_way = static_cast<double>(ctas) * fixture::stream_bytes_per_cta;
    REQUIRE(machine::kept_share(2.0 * one_way, gpu()) == 1.0);
    mk::Kernel kernel = fixture::stream(ctas, 1);
    const auto read = [&](double between, const char* in_turn = "") {
        Conditions conditions;
        conditions.cache = Cache::warm;
        conditions.between = between;
        conditions.in_turn.front() = in_turn;
        const auto item = item_demand(kernel, gpu(), hw::Cycles(600.0));
        return traffic(kernel, item, 132, gpu(), conditions).dram_read.value();
    };
    CHECK(read(0.0) == 0.0);
    const double between = 0.7 * gpu().l2.capacity.value() - 2.0 * one_way;
    const double lost = 1.0 - machine::kept_share(between + 2.0 * one_way, gpu());
    REQUIRE(lost > 0.1);
    REQUIRE(lost < 0.9);
    CHECK(read(between) == doctest::Approx(lost * one_way));
    CHECK(read(2.0 * gpu().l2.capacity.value()) == doctest::Approx(one_way));
    CHECK(read(between, "in") == read(between));
    CHECK(read(between, "out") == 0.0);
    kernel.buffers[0].before = mk::Before::warm;
    CHECK(read(between) == 0.0);
}

TEST_CASE("a buffer that says what was before is believed over the conditions") {
    mk::Kernel kernel = gemm(1024, 1024, 512);
    kernel.buffers[0].before = mk::Before::warm;
    CHECK(of(kernel, Cache::cold).dram_read.value() == doctest::Approx(bytes(1024, 512)));
    kernel.buffers[0].before = mk::Before::cold;
    CHECK(of(kernel, Cache::warm).dram_read.value() == doctest::Approx(bytes(1024, 512)));
}

TEST_CASE(
    "what the step before wrote is in the L2, where a profiler has not emptied that before the kernel") {
    mk::Kernel kernel = gemm(1024, 1024, 512);
    mk::Buffer& sums = kernel.buffers[0];
    sums.before = mk::Before::warm;
    sums.contents = mk::Contents::written_by;
    sums.written_by_step = 0;
    const auto counted = [&kernel] {
        Conditions cold;
        cold.cache = Cache::cold;
        const auto item = item_demand(kernel, gpu(), hw::Cycles(600.0));
        return lookups(kernel, item, 132, gpu(), cold).dram_read.value();
    };
    // Steps follow one another directly; only a profiler empties caches between steps.
    CHECK(of(kernel, Cache::flushed).dram_read.value() == doctest::Approx(bytes(1024, 512)));
    CHECK(of(kernel, Cache::cold).dram_read.value() == doctest::Approx(bytes(1024, 512)));
    CHECK(counted() == doctest::Approx(2.0 * bytes(1024, 512)));
    // Bytes that the kernel's own CTAs write are in the L2 in any case, even under another buffer name.
    sums.extent = kernel.buffers[2].extent;
    sums.dtype = kernel.buffers[2].dtype;
    CHECK(counted() == doctest::Approx(bytes(1024, 512)));
}

TEST_CASE(
    "writes: none for what stays dirty, all but that beyond, and the older lines pushed out after a flush") {
    const auto small = fixture::stream(64, 1);
    CHECK(of(small, Cache::cold).dram_written.value() == 0.0);
    // Reads displace lines that are all dirty. Writes displace lines that are dirty in part.
    const double moved = 64.0 * fixture::stream_bytes_per_cta;
    REQUIRE(moved < gpu().l2.dirty_first.value() * gpu().l2.capacity.value());
    CHECK(of(small, Cache::flushed).dram_written.value() ==
          doctest::Approx(moved * (1.0 + gpu().l2.dirty_fraction.value())));
    const auto large = fixture::stream(65536, 1);
    const double w = 65536.0 * fixture::stream_bytes_per_cta;
    // The last bytes to come in stay, to within the bytes of a wave. Read lines are kept in one and a half
    // partitions, written lines in one.
    const double stays = gpu().l2.capacity.value() / 2.5;
    CHECK(of(large, Cache::cold).dram_written.value() == doctest::Approx(w - stays).epsilon(0.01));
    // In run after run nothing stays for the next one.
    CHECK(of(large, Cache::warm).dram_written.value() == doctest::Approx(w));
    CHECK(of(large, Cache::flushed).dram_written.value() == doctest::Approx(w));
    CHECK(of(large, Cache::flushed).l2_written.value() == doctest::Approx(w));
    CHECK(of(large, Cache::flushed).dram_read.value() == doctest::Approx(w));
}

TEST_CASE("laws of every GEMM") {
    CHECK(rc::check("compulsory <= DRAM, asked <= received, smaller L2 never reads less", [] {
        const std::int64_t m = 128 * *rc::gen::inRange(1, 100);
        const std::int64_t n = 128 * *rc::gen::inRange(1, 100);
        const std::int64_t k = 32 * *rc::gen::inRange(1, 200);
        const mk::Kernel kernel = gemm(m, n, k);
        const auto cold = of(kernel, Cache::cold);
        const double compulsory = bytes(m, k) + bytes(n, k);
        RC_ASSERT(cold.dram_read.value() >= compulsory * (1.0 - 1e-9));
        RC_ASSERT(cold.dram_read.value() <= cold.received.value() * (1.0 + 1e-9));
        RC_ASSERT(cold.l2_read.value() <= cold.received.value() * (1.0 + 1e-9));
        // Bound: all possible requests merge, and none crosses to another partition.
        const double merged = 1.0 / (gpu().l2.merge_requests.value() * machine::slice_visits(gpu()));
        RC_ASSERT(cold.l2_read.value() >= merged * cold.received.value() * (1.0 - 1e-9));
        const auto flushed = of(kernel, Cache::flushed);
        RC_ASSERT(flushed.dram_read.value() == cold.dram_read.value());
        RC_ASSERT(flushed.dram_written.value() >= cold.dram_written.value() * (1.0 - 1e-9));
        RC_ASSERT(of(kernel, Cache::warm).dram_read.value() <= cold.dram_read.value());
        hw::Gpu smaller = gpu();
        smaller.l2.capacity = smaller.l2.capacity * 0.5;
        RC_ASSERT(of(kernel, Cache::cold, 264, smaller).dram_read.value() >=
                  cold.dram_read.value() * (1.0 - 1e-9));
    }));
}

TEST_CASE("a buffer that fits is written back once, however often it is written") {
    mk::Kernel kernel = fixture::stream(65536, 1);
    for (mk::Buffer& buffer : kernel.buffers) buffer.extent = {1024, 1, 1, 1, 1};
    const auto cold = of(kernel, Cache::cold);
    CHECK(cold.l2_written.value() == doctest::Approx(65536.0 * fixture::stream_bytes_per_cta));
    CHECK(cold.dram_written.value() <= 2.0 * 1024 * 16);
}

TEST_CASE("requests of tiles merge, fewer of CTAs that share SMs, none of streams") {
    Conditions cold;
    cold.cache = Cache::cold;
    const auto asked = [&](const mk::Kernel& kernel, std::int64_t concurrent) {
        return lookups(kernel, item_demand(kernel, gpu(), hw::Cycles(600.0)), concurrent, gpu(), cold);
    };
    const mk::Kernel tiles = gemm(4096, 4096, 512);
    const auto alone = asked(tiles, 132);
    const auto shared = asked(tiles, 528);
    CHECK(alone.merged.value() > 0.2 * alone.looked_up.value());
    CHECK(shared.merged.value() > 0.0);
    CHECK(shared.merged.value() < alone.merged.value());
    const auto stream = asked(fixture::stream(40000, 2), 132);
    CHECK(stream.merged.value() == doctest::Approx(0.0));
    CHECK(stream.looked_up.value() >= 2.0 * 40000.0 * fixture::stream_bytes_per_cta);
}

TEST_CASE("CTAs that stay on their SMs all wait with the first to read a slice, others only in part") {
    mk::Kernel tiles = gemm(4096, 4096, 512);
    CHECK(of(tiles, Cache::cold).wait_with_first == gpu().l2.merged_next.value());
    tiles.schedule.kind = mk::ScheduleKind::static_stride;
    CHECK(of(tiles, Cache::cold).wait_with_first == 1.0);
}

TEST_CASE("the slices' time goes by the requests that counters count where warps copy for themselves") {
    Conditions cold;
    cold.cache = Cache::cold;
    const mk::Kernel tiles = gemm(4096, 4096, 512);
    const auto item = item_demand(tiles, gpu(), hw::Cycles(600.0));
    REQUIRE(item.self_fed);
    for (const std::int64_t concurrent : {132, 264}) {
        const auto counted = lookups(tiles, item, concurrent, gpu(), cold);
        const auto t = traffic(tiles, item, concurrent, gpu(), cold);
        const double visits = machine::slice_visits(gpu());
        CAPTURE(concurrent);
        CHECK(t.l2_read.value() * visits ==
              doctest::Approx(counted.looked_up.value() - counted.merged.value()).epsilon(0.1));
    }
    // CTAs that share SMs are less in step. With more stages under way, even fewer are in step.
    CHECK(traffic(tiles, item, 528, gpu(), cold).l2_read.value() >
          traffic(tiles, item, 132, gpu(), cold).l2_read.value());
    mk::Kernel deeper = tiles;
    for (mk::Token& token : deeper.tokens) token.depth += 2;
    CHECK(traffic(deeper, item, 528, gpu(), cold).l2_read.value() >
          traffic(tiles, item, 528, gpu(), cold).l2_read.value());
}

TEST_CASE("results leave a clean L2 sooner where operands are hit again") {
    auto less = gpu();
    less.l2.usable = hw::Number(0.5 * gpu().l2.usable.value());
    const mk::Kernel tiles = gemm(4096, 4096, 1024);
    CHECK(of(tiles, Cache::cold, 264, less).dram_written.value() >
          of(tiles, Cache::cold, 264).dram_written.value());
    const mk::Kernel stream = fixture::stream(4000, 2);
    CHECK(of(stream, Cache::cold, 264, less).dram_written.value() ==
          of(stream, Cache::cold, 264).dram_written.value());
    CHECK(of(stream, Cache::cold).dram_written.value() > 0.0);
}

TEST_CASE("rows of bulk copies that begin inside of lines do not merge") {
    Conditions cold;
    cold.cache = Cache::cold;
    mk::Kernel kernel;
    mk::examples::warp_specialized_gemm(kernel, {.m = 2048, .n = 2048, .k = 4096});
    const auto merged = [&] {
        const auto item = item_demand(kernel, gpu(), hw::Cycles(600.0));
        return lookups(kernel, item, 128, gpu(), cold).merged.value();
    };
    const double whole = merged();
    REQUIRE(whole > 0.0);
    const std::int64_t pitch = kernel.buffers[0].stride[1];
    kernel.buffers[0].stride[1] = pitch + 64;  // elements of two bytes: a whole line
    CHECK(merged() == doctest::Approx(whole));
    for (const int shifted : {8, 16, 32}) {  // by half a sector, and by one and two
        CAPTURE(shifted);
        kernel.buffers[0].stride[1] = pitch + shifted;
        CHECK(merged() == 0.0);
    }
    // The other operand's readers lie on different GPCs, so that none of its requests merged before.
    kernel.buffers[0].stride[1] = pitch;
    kernel.buffers[1].stride[1] += 8;
    CHECK(merged() == doctest::Approx(whole));
}

TEST_CASE("scattered reads bring each piece once while all fits, and no more than they ask for") {
    const double piece = gpu().dram.access_bytes.value();
    CHECK(rc::check("any number of reads of a set that fits", [&] {
        const std::int64_t elements = std::int64_t{1024} * *rc::gen::inRange(8, 4096);
        const double span = 4.0 * static_cast<double>(elements);
        const std::int64_t ctas = *rc::gen::inRange<std::int64_t>(1, 3000);
        // Reads of at least as many bytes as the set has.
        const auto least =
            static_cast<std::int64_t>(std::ceil(span / (32.0 * piece * static_cast<double>(ctas))));
        const std::int64_t loads = least * *rc::gen::inRange<std::int64_t>(1, 20);
        const double asked = static_cast<double>(ctas * loads) * 32.0 * piece;
        RC_PRE(span < 0.2 * gpu().l2.capacity.value());
        const auto t = of(scattered(ctas, loads, elements, elements), Cache::cold);
        RC_ASSERT(t.dram_read.value() <= asked * (1.0 + 1e-9));
        RC_ASSERT(t.dram_read.value() <= span * (1.0 + 1e-9));
        RC_ASSERT(std::abs(t.dram_read.value() - distinct_pieces(asked, span)) <= 2e-3 * span);
    }));
    // Only the part of a buffer that is read counts.
    const auto part = of(scattered(2000, 500, 1 << 22, 1 << 18), Cache::cold);
    CHECK(part.dram_read.value() == doctest::Approx(4.0 * (1 << 18)));
    const auto whole = of(scattered(2000, 500, 1 << 22, 0), Cache::cold);
    CHECK(whole.dram_read.value() == doctest::Approx(4.0 * (1 << 22)));
    CHECK(of(scattered(2000, 500, 1 << 22, 0), Cache::warm).dram_read.value() == 0.0);
}

TEST_CASE("lines of which one sector alone is in use take whole lines of the L2, and bring one piece each") {
    // Lines of 16 MB, of which the kernel asks for sectors of 4 MB, each again and again.
    const double lines = 1 << 17;
    const std::int64_t span = (std::int64_t{1} << 17) * 32;
    const auto first = of(scattered(1 << 14, 128, span, span, 1), Cache::cold);
    CHECK(first.dram_read.value() == doctest::Approx(lines * gpu().dram.access_bytes.value()).epsilon(1e-3));
    // Four times as many lines do not fit, though their sectors would.
    const auto many = of(scattered(1 << 14, 512, 4 * span, 4 * span, 1), Cache::cold);
    CHECK(many.dram_read.value() > 6.0 * lines * gpu().dram.access_bytes.value());
}

TEST_CASE("lines that strided lanes pass over push out others, and leave as DRAM's least pieces") {
    const std::int64_t ctas = 1 << 14;
    const double lanes = 32.0 * (1 << 14);
    const double line = gpu().l1.line.value();
    const double piece = gpu().dram.access_bytes.value();
    const double room = gpu().l2.capacity.value() * gpu().l2.dirty_capacity.value();
    // Lanes 64 and 128 bytes apart bring as many bytes, in half as many lines and in as many.
    const auto near = of(strided(ctas, 16, false), Cache::flushed);
    const auto far = of(strided(ctas, 32, false), Cache::flushed);
    CHECK(far.dram_read.value() == doctest::Approx(near.dram_read.value()).epsilon(1e-3));
    REQUIRE(far.dram_written.value() < room * 1.001);
    CHECK(far.dram_written.value() > 1.2 * near.dram_written.value());
    CHECK(of(strided(ctas, 64, false), Cache::flushed).dram_written.value() ==
          doctest::Approx(far.dram_written.value()));
    // What the L2 has no room for leaves, a piece of each line; the other dirty lines have left whole.
    const auto scaled = of(strided(ctas, 32, true), Cache::flushed);
    CHECK(scaled.dram_written.value() == doctest::Approx(room + (lanes * line - room) * piece / line));
}

TEST_CASE("additions to lines of their own read a piece and write a piece for each line that the L2 loses") {
    // A gigabyte of lines, to each of which two lanes add a word.
    const std::int64_t lines = 1 << 23;
    mk::Kernel kernel = scattered(lines / 2048, 128, lines * 32, lines * 32);
    kernel.accesses[0].direction = mk::Direction::atomic;
    kernel.ops[0].cls = hw::InstructionClass::red_global;
    // Lanes of a warp lie anywhere.
    for (std::int64_t& index : kernel.address_list) index += index / 32 * (lines - 32);
    const double piece = gpu().dram.access_bytes.value();
    const auto adds = of(kernel, Cache::flushed);
    const double all = 2.0 * static_cast<double>(lines);
    CHECK(adds.dram_read.value() > 0.9 * all * piece);
    CHECK(adds.dram_read.value() <= all * piece);
    CHECK(adds.dram_scattered_read.value() == doctest::Approx(adds.dram_read.value()));
    CHECK(adds.dram_scattered_written.value() > 0.85 * all * piece);
    CHECK(adds.dram_scattered_written.value() < adds.dram_written.value());
    // Additions to few lines stay in the L2.
    mk::Kernel few = scattered(lines / 2048, 128, 1 << 18, 1 << 18);
    few.accesses[0].direction = mk::Direction::atomic;
    few.ops[0].cls = hw::InstructionClass::red_global;
    CHECK(of(few, Cache::flushed).dram_scattered_written.value() == 0.0);
}

TEST_CASE("pieces that leave alone are among what leaves, whatever the caches held before") {
    mk::Kernel kernel = scattered(4096, 128, 1 << 28, 1 << 28);
    for (std::int64_t& index : kernel.address_list) index += index / 32 * ((1 << 23) - 32);
    for (const auto& [cls, direction] :
         {std::pair{hw::InstructionClass::st_global, mk::Direction::write},
          std::pair{hw::InstructionClass::red_global, mk::Direction::atomic}}) {
        kernel.accesses[0].direction = direction;
        kernel.ops[0].cls = cls;
        for (const double piece : {32.0, 64.0}) {
            hw::Gpu gpu = fixture::gpu();
            gpu.dram.access_bytes = hw::Bytes(piece);
            for (const Cache cache : {Cache::cold, Cache::warm, Cache::flushed}) {
                const Traffic t = of(kernel, cache, 264, gpu);
                CHECK(t.dram_scattered_written.value() > 0.0);
                CHECK(t.dram_scattered_written <= t.dram_written);
                CHECK(t.dram_written_padding <= t.dram_written);
                CHECK(t.dram_written_padding.value() >= 0.0);
            }
        }
    }
}

TEST_CASE("loads in order bring the whole buffer, whatever share of its reads is scattered") {
    mk::Kernel kernel = scattered(1 << 14, 64, 1 << 20, 1 << 20);
    const double whole = 4.0 * (1 << 20);
    mk::Builder build(kernel);
    const mk::Id x = 0;
    build.role("orderly", 1);
    mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_global);
    mk::examples::add_access(
        load, mk::examples::lanes(x, mk::Direction::read, build.variable(mk::Variable::tile, 64), 8));
    mk::examples::add_op(build, load);
    build.finish();
    CHECK(of(kernel, Cache::cold).dram_read.value() == doctest::Approx(whole).epsilon(0.01));
}

TEST_CASE("the slice that is asked most holds all back, whichever accesses ask it") {
    const auto hot = [](double skew, hw::InstructionClass cls, mk::Direction direction) {
        mk::Kernel kernel = scattered(1000, 4, 1 << 20, 1 << 20);
        kernel.ops.front().cls = cls;
        kernel.accesses.front().skew = skew;
        kernel.accesses.front().direction = direction;
        return of(kernel, Cache::warm);
    };
    using hw::InstructionClass;
    for (const auto& [cls, direction] : {std::pair{InstructionClass::ld_global, mk::Direction::read},
                                         std::pair{InstructionClass::st_global, mk::Direction::write}}) {
        CAPTURE(static_cast<int>(cls));
        CHECK(hot(1.0, cls, direction).fullest.value() == 0.0);
        const double some = hot(16.0, cls, direction).fullest.value();
        CHECK(some > 0.0);
        CHECK(hot(48.0, cls, direction).fullest.value() == doctest::Approx(3.0 * some));
    }
    // A sector each of 32 lanes, at the slices' rate for lone sectors, which lie in either of two halves. The
    // L1 has hardly any of them.
    const double sectors = 1000.0 * 4.0 * 32.0;
    const hw::Bytes asked(sectors * gpu().l2.access_bytes.value() * 1.5);
    CHECK(hot(10.0, InstructionClass::ld_global, mk::Direction::read).fullest.value() ==
          doctest::Approx(10.0 * machine::l2_cycles(asked, gpu()).value()).epsilon(0.01));
    // The slice with 16 times its part of the passes takes 15 times the mean longer.
    const auto adds = [&](double skew) {
        return hot(skew, InstructionClass::red_global, mk::Direction::atomic).atomics;
    };
    CHECK(adds(16.0).beyond.value() == doctest::Approx(15.0 * adds(16.0).mean.value()));
    CHECK(adds(16.0).mean.value() == doctest::Approx(adds(1.0).mean.value()));
    CHECK(adds(1.0).beyond.value() < 0.2 * adds(1.0).mean.value());
}

TEST_CASE("first visits to a set that warps go anywhere in are noted with the visits to a place") {
    const auto first = [](std::int64_t loads) {
        return of(scattered(1000, loads, 1 << 20, 1024), Cache::cold).first_visits;
    };
    const machine::FirstVisits few = first(4);
    const machine::FirstVisits many = first(64);
    // All that DRAM brings is first visits, but for the end of the set, which the list of places leaves out:
    // its last one lies 1016 of 1024 words behind its first.
    for (const machine::FirstVisits& visited : {few, many})
        CHECK(visited.share == doctest::Approx(1016.0 / 1024.0));
    const double pieces = 4.0 * 1024.0 / gpu().dram.access_bytes.value();
    CHECK(few.visits == doctest::Approx(1000.0 * 4.0 * 32.0 / pieces));
    CHECK(many.visits == doctest::Approx(1000.0 * 64.0 * 32.0 / pieces));
    // Warps that keep to a small part of it come to new places all the time.
    CHECK(of(scattered(1000, 4, 1 << 20, 1 << 20), Cache::cold).first_visits.share < 0.01);
}

TEST_CASE("scattered reads of far more than the L2 holds come from DRAM again and again") {
    const double piece = gpu().dram.access_bytes.value();
    const double held = gpu().l2.capacity.value();
    double last = 0.0;
    for (const double times : {4.0, 16.0, 64.0}) {
        CAPTURE(times);
        const auto elements = static_cast<std::int64_t>(times * held / 4.0);
        const double span = 4.0 * static_cast<double>(elements);
        const std::int64_t ctas = 40000;
        // About three reads of each piece.
        const auto loads = static_cast<std::int64_t>(3.0 * span / (32.0 * piece * static_cast<double>(ctas)));
        const double asked = static_cast<double>(ctas * loads) * 32.0 * piece;
        REQUIRE(asked > 2.0 * span);
        const auto cold = of(scattered(ctas, loads, elements, elements), Cache::cold);
        const double read = cold.dram_read.value();
        // Of each line one piece is asked for.
        CHECK(cold.dram_scattered_read.value() == doctest::Approx(read));
        CHECK(read <= asked * (1.0 + 1e-9));
        CHECK(read > 1.5 * distinct_pieces(asked, span));
        // A read finds its piece in the L2 as seldom as the L2 is smaller than the set.
        CHECK(read >= asked * (1.0 - 1.0 / times));
        CHECK(read / asked > last);
        last = read / asked;
        // The caches cannot have been warm with so much.
        CHECK(of(scattered(ctas, loads, elements, elements), Cache::warm).dram_read.value() > 0.5 * asked);
    }
}

namespace {

/// A grid of m x n tiles, one by one along n, whose CTAs each read 4 KiB of each buffer, from the place that
/// the terms say.
mk::Kernel reading(std::int64_t m, std::int64_t n, const std::vector<std::vector<mk::Term>>& places) {
    mk::Kernel kernel;
    kernel.name = "reading";
    kernel.grid = {m * n, 1, 1};
    kernel.cta = {256, 1, 1};
    kernel.schedule.tiles = {m, n, 1, 1};
    mk::Builder build(kernel);
    build.role("warps", 8);
    for (const std::vector<mk::Term>& place : places) {
        const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::fp32, m * n * 1024));
        mk::Index first = build.begin();
        build.add(first, mk::Variable::warp, 128);
        for (const mk::Term& term : place) {
            build.add(first, term.variable, term.coefficient, term.position);
        }
        mk::examples::Draft load = mk::examples::make_op(hw::InstructionClass::ld_global);
        mk::examples::add_access(load, mk::examples::lanes(x, mk::Direction::read, first, 16));
        mk::examples::add_op(build, load);
    }
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("loads of bytes that no other CTA reads are all first, in every wave") {
    for (const std::int64_t ctas : {100, 264, 2640}) {
        CAPTURE(ctas);
        const auto t = of(fixture::stream(ctas, 2), Cache::cold);
        REQUIRE(t.waits.size() == 3);
        for (std::size_t b = 0; b < 2; ++b) {
            CHECK(t.waits[b].first == doctest::Approx(1.0));
            CHECK(t.waits[b].fresh == doctest::Approx(1.0));
        }
    }
}

TEST_CASE("sectors that a kernel has read and then changes in part are read for the first change alone") {
    // Each lane changes eight bytes of its own 64 in every trip: 32 sectors in 16 lines a store.
    const auto stored = [](int trips) {
        const mk::Kernel kernel = mk::parse_text(fmt::format(
            "kernel \"state\"\n  grid 100 1 1\n  cta 32 1 1\n  resources registers=32\n"
            "  schedule one_per_cta tiles=100 group=100\n  buffer \"states\" dtype=int8 extent=204800\n"
            "  role \"warp\" warps=1\n    loop trips={{{}}}\n"
            "      op 0 ld_global\n        access read states stride origin={{2048*tile.0}} bytes=8 "
            "inner=64\n"
            "      op 1 st_global deps=0\n"
            "        access write states stride origin={{2048*tile.0}} bytes=8 inner=64\n    end\n  "
            "end\nend\n",
            trips));
        return of(kernel, Cache::flushed).l2_stored.value();
    };
    constexpr double sector = 32.0, warps = 100.0;
    CHECK(stored(1) == doctest::Approx(warps * (32.0 + 32.0) * sector));
    // By lines, which have a mask, beyond the bytes of the buffer.
    const double bytes = 204800.0;
    for (const int trips : {10, 100}) {
        CHECK(stored(trips) == doctest::Approx(trips * warps * (32.0 + 16.0) * sector + bytes).epsilon(1e-3));
    }
}

TEST_CASE("of bytes that all CTAs read, one load of a wave is first, and only the first wave's is fresh") {
    CHECK(rc::check("whole waves over a set that fits", [] {
        const auto concurrent = *rc::gen::inRange<std::int64_t>(1, 400);
        const auto waves = *rc::gen::inRange<std::int64_t>(1, 10);
        const auto t = of(reading(concurrent * waves, 1, {{}}), Cache::cold, concurrent);
        RC_ASSERT(t.from_dram);
        RC_ASSERT(t.waves == static_cast<double>(waves));
        RC_ASSERT(std::abs(t.waits[0].first - 1.0 / static_cast<double>(concurrent)) < 1e-9);
        RC_ASSERT(std::abs(t.waits[0].fresh - 1.0 / static_cast<double>(waves)) < 1e-9);
    }));
}

TEST_CASE("waves of a row of tiles each share the row's bytes, and find the columns' in the L2") {
    CHECK(rc::check("rows, columns, and waves of some rows", [] {
        const auto columns = *rc::gen::inRange<std::int64_t>(2, 40);
        const auto in_wave = *rc::gen::inRange<std::int64_t>(1, 4);
        const auto waves = *rc::gen::inRange<std::int64_t>(1, 8);
        const auto t =
            of(reading(in_wave * waves, columns,
                       {{mk::term(mk::Variable::tile, 1024, 0)}, {mk::term(mk::Variable::tile, 1024, 1)}}),
               Cache::cold, in_wave * columns);
        RC_ASSERT(t.waves == static_cast<double>(waves));
        // Of the row: one CTA in each; every wave has rows of its own.
        RC_ASSERT(std::abs(t.waits[0].first - 1.0 / static_cast<double>(columns)) < 1e-9);
        RC_ASSERT(std::abs(t.waits[0].fresh - 1.0) < 1e-9);
        // Of the column: one CTA of each row in the wave, and the columns come again in every wave.
        RC_ASSERT(std::abs(t.waits[1].first - 1.0 / static_cast<double>(in_wave)) < 1e-9);
        RC_ASSERT(std::abs(t.waits[1].fresh - 1.0 / static_cast<double>(waves)) < 1e-9);
    }));
}

TEST_CASE("scattered loads are first as often as their bytes come from DRAM") {
    for (const std::int64_t span : {std::int64_t{1} << 16, std::int64_t{1} << 22, std::int64_t{1} << 28}) {
        CAPTURE(span);
        constexpr std::int64_t ctas = 2640;
        const mk::Kernel kernel = scattered(ctas, 64, span, span);
        const auto item = item_demand(kernel, gpu(), hw::Cycles(600.0));
        const auto t = of(kernel, Cache::cold);
        const double share = t.dram_read.value() / (item.buffers[0].read_bytes * static_cast<double>(ctas));
        REQUIRE(share <= 1.0);
        CHECK(t.waits[0].first == doctest::Approx(share));
        // Later waves draw from the same pieces.
        CHECK(t.waits[0].fresh == doctest::Approx((1.0 + (t.waves - 1.0) * share) / t.waves));
    }
}

TEST_CASE("all loads wait for DRAM where nothing is known of the buffer, and shares are shares") {
    const auto warm = of(reading(300, 1, {{}}), Cache::warm);
    REQUIRE_FALSE(warm.from_dram);
    REQUIRE(warm.waits.size() == 1);
    CHECK(warm.waits[0].first == 1.0);
    CHECK(warm.waits[0].fresh == 1.0);
    CHECK(rc::check("any tiles", [] {
        const auto m = *rc::gen::inRange<std::int64_t>(1, 300);
        const auto n = *rc::gen::inRange<std::int64_t>(1, 300);
        const auto t =
            of(reading(m, n,
                       {{mk::term(mk::Variable::tile, 1024, 0)},
                        {mk::term(mk::Variable::tile, 1024, 1)},
                        {mk::term(mk::Variable::tile, 1024, 0), mk::term(mk::Variable::tile, m * 1024, 1)},
                        {}}),
               Cache::cold, *rc::gen::inRange<std::int64_t>(1, 2000));
        for (std::size_t b = 0; b < 4; ++b) {
            RC_ASSERT(t.waits[b].first > 0.0);
            RC_ASSERT(t.waits[b].first <= 1.0);
            RC_ASSERT(t.waits[b].fresh >= (1.0 - 1e-9) / t.waves);
            RC_ASSERT(t.waits[b].fresh <= 1.0 + 1e-9);
        }
    }));
}

TEST_CASE("every buffer that is read comes from DRAM, however many there are") {
    for (const int inputs : {1, 4, 5, 16, 17, 40}) {
        mk::Kernel kernel;
        kernel.name = "inputs";
        kernel.grid = {1024, 1, 1};
        kernel.cta = {32, 1, 1};
        kernel.schedule.tiles = {1024, 1, 1, 1};
        mk::Builder build(kernel);
        build.role("warp", 1);
        for (int b = 0; b < inputs; ++b) {
            const mk::Id x = build.buffer(mk::examples::vector_of("x", hw::Dtype::fp32, 1024 * 32));
            build.op(mk::examples::make_op(hw::InstructionClass::ld_global),
                     {mk::examples::lanes(x, mk::Direction::read,
                                          build.index(0, {mk::term(mk::Variable::tile, 32)}), 4)});
        }
        build.finish();
        CHECK(of(kernel, Cache::cold).dram_read.value() == doctest::Approx(inputs * 1024.0 * 128.0));
    }
}
