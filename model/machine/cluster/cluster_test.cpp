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
                         kernel::Space space = kernel::Space::cluster_shared) {
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
    build.access(access);
    return made;
}

double cycles(const kernel::Kernel& kernel) {
    return peer_cycles(kernel, kernel.ops.at(0), with_rates()).value();
}

}  // namespace

TEST_CASE("bytes from other CTAs of a cluster take the rate of the way") {
    CHECK(cluster_cycles(512.0, with_rates()).value() == doctest::Approx(32.0));
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
    CHECK(count(1.0, PatternKind::contiguous) == doctest::Approx(128.0 / 16.0));
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
