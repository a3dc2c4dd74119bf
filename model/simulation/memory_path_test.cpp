// Path of single accesses: port, L2, DRAM, and the state they leave behind.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_path.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace warptime::model;
using namespace warptime::model::simulation;
using warptime::hw::InstructionClass;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

/// One warp that loads or stores 512 bytes in a row, with a chip of its own.
class Path {
  public:
    explicit Path(InstructionClass cls, prediction::Cache cache = prediction::Cache::cold)
        : Path(kernel_of(cls, 1), cache) {}
    explicit Path(const kernel::Kernel& kernel, prediction::Cache cache = prediction::Cache::cold)
        : kernel_(kernel),
          conditions_(with(cache)),
          plan_(kernel_, gpu(), conditions_),
          chip_(gpu(), 2, 1.5e9),
          path_(kernel_, gpu(), conditions_, chip_) {}

    MemoryPath::Reply access(int sm, Ticks now, std::int64_t execution = 0) {
        const kernel::Coordinates at{};
        Requester who;
        who.at = &at;
        who.execution = execution;
        return path_.access(chip_.sms[static_cast<std::size_t>(sm)], kernel_.ops[0], plan_.ops[0],
                            plan_.accesses[0], who, now);
    }
    /// A CTA begins in the slot of the warp.
    void begin() { path_.begin(0); }
    [[nodiscard]] const Traffic& traffic() const { return path_.traffic(); }
    [[nodiscard]] const Chip& chip() const { return chip_; }

    /// `found`: share of the loads that the L1 serves. In a loop, a share `together` finds lines under way.
    static kernel::Kernel kernel_of(InstructionClass cls, int warps, double found = 0.0, bool loops = false,
                                    double together = 0.0) {
        const bool stores = cls == InstructionClass::st_global;
        kernel::Kernel k;
        k.cta = {32 * warps, 1, 1};
        kernel::Builder build(k);
        const kernel::Id words =
            build.buffer(kernel::examples::vector_of("words", warptime::hw::Dtype::fp32, 128));
        build.role("warps", warps);
        if (loops) build.loop(8);
        kernel::examples::Draft op = kernel::examples::make_op(cls);
        op.returns = !stores;
        kernel::Access access = kernel::examples::lanes(
            words, stores ? kernel::Direction::write : kernel::Direction::read, {}, 16);
        if (found > 0.0) {
            kernel::Reuse reuse;
            reuse.sectors.fill(found);
            reuse.whole.fill(found);
            reuse.together = together;
            k.reuse.push_back(reuse);
            access.reuse = 1;
        }
        kernel::examples::add_access(op, access);
        kernel::examples::add_op(build, op);
        if (loops) build.end();
        build.finish();
        return k;
    }

  private:
    static prediction::Conditions with(prediction::Cache cache) {
        prediction::Conditions conditions;
        conditions.cache = cache;
        return conditions;
    }

    kernel::Kernel kernel_;
    prediction::Conditions conditions_;
    KernelPlan plan_;
    Chip chip_;
    MemoryPath path_;
};

}  // namespace

TEST_CASE("a first load comes from DRAM, one that follows from the L2") {
    Path path(InstructionClass::ld_global);
    const MemoryPath::Reply first = path.access(0, 0);
    CHECK(cycles_of(first.latency + path.chip().banks.mean_service()) ==
          doctest::Approx(gpu().latency.dram.value()));
    CHECK(first.done > first.latency);
    CHECK(path.traffic().dram_read == 512.0);
    const Ticks later = 2 * first.done;
    const MemoryPath::Reply second = path.access(1, later);
    CHECK(cycles_of(second.latency) == doctest::Approx(gpu().latency.l2_far.value()));
    CHECK(second.done - later < first.done);
    CHECK(path.traffic().dram_read == 512.0);
    CHECK(path.traffic().received == 1024.0);
}

TEST_CASE("a line under way is waited for and not fetched twice") {
    Path path(InstructionClass::ld_global);
    const MemoryPath::Reply first = path.access(0, 0);
    const MemoryPath::Reply other = path.access(1, 1);
    CHECK(other.done >= first.done);
    CHECK(path.traffic().dram_read == 512.0);
}

TEST_CASE("warm caches ask nothing of DRAM") {
    Path path(InstructionClass::ld_global, prediction::Cache::warm);
    path.access(0, 0);
    CHECK(path.traffic().dram_read == 0.0);
    CHECK(path.traffic().l2_read == 512.0);
}

TEST_CASE("a store is done when it has left the SM, and has arrived no sooner") {
    Path path(InstructionClass::st_global);
    const MemoryPath::Reply reply = path.access(0, 0);
    CHECK(reply.done > 0);
    CHECK(reply.latency == 0);
    CHECK(reply.arrived >= reply.done);
    CHECK(path.traffic().l2_written == 512.0);
    CHECK(path.traffic().l2_read == 0.0);
}

TEST_CASE(
    "a load outside of loops that the L1 serves waits for all that its CTA has under way of the buffer") {
    // Every other load finds its lines.
    Path path(Path::kernel_of(InstructionClass::ld_global, 1, 0.5));
    path.begin();
    const Ticks near = ticks_of(gpu().latency.l1.value());
    const Ticks first = path.access(0, 0).done;
    REQUIRE(first > 3 * near);
    CHECK(path.access(0, near).done == first);
    // A load that goes out later does not hold up those that find lines which are there.
    const Ticks later = 2 * first;
    const Ticks second = path.access(0, later).done;
    CHECK(path.access(0, later + 1).done == later + 1 + near);
    // Another CTA has nothing under way but its own.
    path.begin();
    const Ticks other = path.access(0, second).done;
    CHECK(path.access(0, second + 1).done == other);
    path.begin();
    CHECK(path.traffic().received == 3 * 512.0);
}

TEST_CASE(
    "of the loads in a loop that find their lines, a share waits for these in the trip that brings them") {
    // Half of the loads find their lines; half of these while they are under way.
    Path path(Path::kernel_of(InstructionClass::ld_global, 2, 0.5, true, 0.25));
    path.begin();
    const Ticks near = ticks_of(gpu().latency.l1.value());
    Ticks now = 0;
    for (const bool waits : {false, true, false, true}) {
        const Ticks brought = path.access(0, now, 3).done;
        REQUIRE(brought > now + near);
        CHECK(path.access(0, now + 1, 3).done == (waits ? brought : now + 1 + near));
        now = 2 * brought;
    }
    // Loads of another trip wait for nobody.
    for (std::int64_t trip = 4; trip < 12; trip += 2) {
        const Ticks brought = path.access(0, now, trip).done;
        CHECK(path.access(0, now + 1, trip + 1).done == now + 1 + near);
        now = 2 * brought;
    }
}
