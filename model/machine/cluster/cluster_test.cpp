// Paths to other SMs of a cluster: bytes over their rates, and one CTA that serves all of its cluster.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/cluster/cluster.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace warptime::model::machine {
namespace {

hw::Gpu with_rates() {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.shared.cluster_bandwidth = hw::BytesPerCycle(16.0);
    gpu.shared.cluster_ingest = hw::BytesPerCycle(32.0);
    gpu.shared.cluster_atomic = hw::Cycles(3.0);
    return gpu;
}

/// One warp's instruction by 32 lanes side by side, or all at one word, in a cluster of eight.
kernel::Kernel of_one_op(hw::InstructionClass cls, kernel::Direction direction, double skew,
                         kernel::PatternKind pattern = kernel::PatternKind::contiguous,
                         kernel::Space space = kernel::Space::cluster_shared, std::int64_t words_apart = 1) {
    kernel::Kernel made;
    made.cluster = {8, 1, 1};
    kernel::Builder build(made);
    kernel::Buffer words;
    words.space = space;
    words.dtype = hw::Dtype::fp32;
    words.extent[0] = 1024;
    const kernel::Id buffer = build.buffer(words);
    build.role("warps", 1);
    kernel::Op op;
    op.cls = cls;
    op.returns = false;
    build.op(op);
    kernel::Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.pattern = pattern;
    access.skew = skew;
    access.inner = words_apart;
    build.access(access);
    return made;
}

double cycles(const kernel::Kernel& kernel) {
    return peer_cycles(kernel, kernel.ops.at(0), with_rates()).value();
}

}  // namespace

TEST_CASE("a load asks for lines, and is answered by sectors, on one way out of each SM") {
    using hw::InstructionClass;
    using kernel::Direction;
    // Five packets for a line take 128 / 16 cycles.
    const double packet = 128.0 / 16.0 / 5.0;
    const auto load = [](std::int64_t words_apart, double skew) {
        return cycles(of_one_op(InstructionClass::ld_shared_cluster, Direction::read, skew,
                                kernel::PatternKind::stride, kernel::Space::cluster_shared, words_apart));
    };
    for (const double share : {0.5, 1.0}) {
        CHECK(load(1, share) == doctest::Approx((1 + 4) * packet * share));
        CHECK(load(2, share) == doctest::Approx((2 + 8) * packet * share));
        CHECK(load(8, share) == doctest::Approx((8 + 32) * packet * share));
        CHECK(load(33, share) == doctest::Approx((32 + 32) * packet * share));
    }
    // The first one of eight CTAs, from which the others read: it asks for nothing.
    CHECK(load(1, 7.0) == doctest::Approx(7 * 4 * packet));
}

TEST_CASE("stores leave by packets and come in faster") {
    using hw::InstructionClass;
    using kernel::Direction;
    const auto store = [](double skew) {
        return cycles(of_one_op(InstructionClass::st_shared_cluster, Direction::write, skew));
    };
    const double packet = 128.0 / 16.0 / 5.0;
    CHECK(store(0.5) == doctest::Approx(0.5 * 4 * packet));
    CHECK(store(1.0) == doctest::Approx(4 * packet));
    CHECK(store(8.0) == doctest::Approx(8 * 128.0 / 32.0));
}

TEST_CASE("atomics are sent and answered by sectors, and a bank takes its lanes one by one") {
    using hw::InstructionClass;
    using kernel::Direction;
    using kernel::PatternKind;
    const auto count = [](double skew, PatternKind pattern) {
        return cycles(of_one_op(InstructionClass::atom_shared, Direction::atomic, skew, pattern));
    };
    const double packet = 128.0 / 16.0 / 5.0;
    CHECK(count(0.5, PatternKind::contiguous) == doctest::Approx(0.5 * 8 * packet));
    CHECK(count(1.0, PatternKind::contiguous) == doctest::Approx(8 * packet));
    CHECK(count(8.0, PatternKind::contiguous) == doctest::Approx((128.0 / 32.0 + 3.0) * 8.0));
    CHECK(count(8.0, PatternKind::broadcast) == doctest::Approx((32.0 / 32.0 + 32.0 * 3.0) * 8.0));
}

TEST_CASE("recorded lanes apart take what these laws say, within an eighth") {
    // validate/recorded/h100-sxm/ladders/cluster_lanes.csv: clusters of four, 16 warps, 32 lanes. Additions
    // to sectors that share a line take a quarter more (the last row).
    using hw::InstructionClass;
    using kernel::Direction;
    const auto gpu = hw::load_gpu("h100-sxm");
    struct Row {
        InstructionClass cls;
        Direction direction;
        std::int64_t words_apart;
        double all_ask, one_asks, within;
    };
    const auto load = InstructionClass::ld_shared_cluster, store = InstructionClass::st_shared_cluster,
               add = InstructionClass::atom_shared;
    for (const Row& row : {Row{load, Direction::read, 1, 7.88, 6.41, 0.125},
                           Row{load, Direction::read, 9, 61.89, 48.46, 0.125},
                           Row{load, Direction::read, 33, 96.40, 48.47, 0.125},
                           Row{store, Direction::write, 1, 6.60, 6.39, 0.125},
                           Row{store, Direction::write, 33, 50.78, 48.48, 0.125},
                           Row{add, Direction::atomic, 33, 96.40, 48.53, 0.125},
                           Row{add, Direction::atomic, 9, 109.89, 62.01, 0.25}}) {
        CAPTURE(row.words_apart);
        const kernel::Kernel kernel = of_one_op(row.cls, row.direction, 1.0, kernel::PatternKind::stride,
                                                kernel::Space::cluster_shared, row.words_apart);
        const kernel::Op& op = kernel.ops.at(0);
        CHECK(peer_cycles(kernel, op, gpu).value() == doctest::Approx(row.all_ask).epsilon(row.within));
        const double packets = peer_touch(kernel, op, gpu).sectors;
        CHECK(peer_packet(gpu).value() * packets == doctest::Approx(row.one_asks).epsilon(row.within));
        if (row.direction == Direction::read) {
            CHECK(peer_load_interval(kernel, op, gpu).value() ==
                  doctest::Approx(row.all_ask).epsilon(row.within));
        }
    }
}

TEST_CASE("own shared memory is not that of others") {
    const auto own = of_one_op(hw::InstructionClass::ld_shared, kernel::Direction::read, 1.0,
                               kernel::PatternKind::contiguous, kernel::Space::shared);
    CHECK_FALSE(goes_to_peers(own, own.ops.at(0)));
    kernel::Kernel none;
    CHECK_FALSE(goes_to_peers(none, kernel::Op{}));
}

}  // namespace warptime::model::machine
