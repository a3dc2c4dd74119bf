// Path of single accesses: port, L2, DRAM, and the state they leave behind.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_path.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

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
        : kernel_(kernel_of(cls)),
          conditions_(with(cache)),
          plan_(kernel_, gpu(), conditions_),
          chip_(gpu(), 2, 1.5e9),
          path_(kernel_, gpu(), conditions_, chip_) {}

    MemoryPath::Reply access(int sm, Ticks now) {
        const kernel::Coordinates at{};
        Requester who;
        who.at = &at;
        return path_.access(chip_.sms[static_cast<std::size_t>(sm)], kernel_.ops[0], plan_.ops[0],
                            plan_.accesses[0], who, now);
    }
    [[nodiscard]] const Traffic& traffic() const { return path_.traffic(); }
    [[nodiscard]] const Chip& chip() const { return chip_; }

  private:
    static kernel::Kernel kernel_of(InstructionClass cls) {
        const bool stores = cls == InstructionClass::st_global;
        kernel::Kernel k;
        k.cta = {32, 1, 1};
        kernel::Builder build(k);
        const kernel::Id words =
            build.buffer(kernel::examples::vector_of("words", warptime::hw::Dtype::fp32, 128));
        build.role("warps", 1);
        kernel::examples::Draft op = kernel::examples::make_op(cls);
        op.returns = !stores;
        kernel::examples::add_access(
            op, kernel::examples::lanes(words, stores ? kernel::Direction::write : kernel::Direction::read,
                                        {}, 16));
        kernel::examples::add_op(build, op);
        build.finish();
        return k;
    }
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
