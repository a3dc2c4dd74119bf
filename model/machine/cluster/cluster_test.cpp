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

TEST_CASE("a load asks for each 64 bytes, and gets back the sectors that its lanes touch") {
    using hw::InstructionClass;
    using kernel::Direction;
    // 64 bytes take 64 / 16 cycles, of which 64 / 32 bring them.
    const auto load = [](std::int64_t words_apart) {
        return cycles(of_one_op(InstructionClass::ld_shared_cluster, Direction::read, 1.0,
                                kernel::PatternKind::stride, kernel::Space::cluster_shared, words_apart));
    };
    CHECK(load(1) == doctest::Approx(128.0 / 16.0));
    CHECK(load(2) == doctest::Approx(256.0 / 16.0));
    CHECK(load(8) == doctest::Approx(16 * (64.0 / 16.0)));
    CHECK(load(16) == doctest::Approx(32 * (2.0 + 1.0)));
    CHECK(load(33) == doctest::Approx(32 * (2.0 + 1.0)));
}

TEST_CASE("recorded lanes apart take what the laws of loads, stores and additions say, within a quarter") {
    // validate/recorded/h100-sxm/ladders/cluster_lanes.csv: clusters of four, 16 warps, 32 lanes.
    using hw::InstructionClass;
    using kernel::Direction;
    const auto gpu = hw::load_gpu("h100-sxm");
    const auto of = [&gpu](InstructionClass cls, Direction direction, std::int64_t stride) {
        const kernel::Kernel kernel = of_one_op(cls, direction, 1.0, kernel::PatternKind::stride,
                                                kernel::Space::cluster_shared, stride);
        return peer_cycles(kernel, kernel.ops.at(0), gpu).value();
    };
    const auto near = [](double cycles) { return doctest::Approx(cycles).epsilon(0.25); };
    CHECK(of(InstructionClass::ld_shared_cluster, Direction::read, 1) == near(7.88));
    CHECK(of(InstructionClass::ld_shared_cluster, Direction::read, 4) == near(30.40));
    CHECK(of(InstructionClass::ld_shared_cluster, Direction::read, 9) == near(61.89));
    CHECK(of(InstructionClass::ld_shared_cluster, Direction::read, 33) == near(96.40));
    CHECK(of(InstructionClass::st_shared_cluster, Direction::write, 1) == near(6.60));
    CHECK(of(InstructionClass::st_shared_cluster, Direction::write, 33) == near(50.78));
    CHECK(of(InstructionClass::atom_shared, Direction::atomic, 1) == near(13.79));
    CHECK(of(InstructionClass::atom_shared, Direction::atomic, 33) == near(96.40));
}

TEST_CASE("who reads from one CTA waits for all of its cluster") {
    using hw::InstructionClass;
    using kernel::Direction;
    for (const double skew : {0.5, 1.0, 7.0}) {
        const auto read = of_one_op(InstructionClass::ld_shared_cluster, Direction::read, skew);
        CHECK(goes_to_peers(read, read.ops.at(0)));
        CHECK(cycles(read) == doctest::Approx(128.0 / 16.0 * skew));
    }
}

TEST_CASE("stores leave at one rate and come in at twice the rate") {
    using hw::InstructionClass;
    using kernel::Direction;
    const auto store = [](double skew) {
        return cycles(of_one_op(InstructionClass::st_shared_cluster, Direction::write, skew));
    };
    CHECK(store(0.5) == doctest::Approx(4.0));
    CHECK(store(1.0) == doctest::Approx(8.0));
    CHECK(store(2.0) == doctest::Approx(8.0));
    CHECK(store(8.0) == doctest::Approx(32.0));
}

TEST_CASE("atomics come in by sectors, and a bank takes its lanes one by one") {
    using hw::InstructionClass;
    using kernel::Direction;
    using kernel::PatternKind;
    const auto count = [](double skew, PatternKind pattern) {
        return cycles(of_one_op(InstructionClass::atom_shared, Direction::atomic, skew, pattern));
    };
    // Each of four sectors is asked for and answered by itself.
    CHECK(count(1.0, PatternKind::contiguous) == doctest::Approx(4 * (1.0 + 3.0)));
    CHECK(count(8.0, PatternKind::contiguous) == doctest::Approx((128.0 / 32.0 + 3.0) * 8.0));
    CHECK(count(8.0, PatternKind::broadcast) == doctest::Approx((32.0 / 32.0 + 32.0 * 3.0) * 8.0));
}

TEST_CASE("own shared memory is not that of others") {
    const auto own = of_one_op(hw::InstructionClass::ld_shared, kernel::Direction::read, 1.0,
                               kernel::PatternKind::contiguous, kernel::Space::shared);
    CHECK_FALSE(goes_to_peers(own, own.ops.at(0)));
    kernel::Kernel none;
    CHECK_FALSE(goes_to_peers(none, kernel::Op{}));
}

}  // namespace warptime::model::machine
