// The period of a loop by its dependences: latency over the stages in flight.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/chain.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/small_kernels.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/stages_ahead.hpp"
#include "model/kernel/text.hpp"
#include "model/machine/dram/loaded_latency.hpp"
#include "model/steady/waits_in_order.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model;
using namespace warptime::model::analytical;
using hw::Cycles;

namespace {

/// An item whose warps multiply and copy for themselves.
ItemDemand copied_by_its_warps() {
    ItemDemand item;
    item.asynchronous = true;
    item.self_fed = true;
    return item;
}

/// Groups of copies by lanes, of which `stages` may be under way.
mk::Kernel copying_with(std::int32_t stages) {
    mk::Kernel kernel;
    mk::Token group;
    group.kind = mk::TokenKind::async_group;
    group.depth = stages;
    kernel.tokens.push_back(group);
    return kernel;
}

}  // namespace

TEST_CASE("operands come from the far side of L2 or from DRAM") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(load_latency(true, gpu).value() == gpu.latency.dram.value());
    CHECK(load_latency(false, gpu).value() == gpu.latency.l2_far.value());
}

TEST_CASE("filling a stage is the latency, the copy engine's extra and the transfer") {
    const auto gpu = hw::load_gpu("h200-sxm");
    ItemDemand item;
    item.loop.demand[machine::Server::crossbar_read] = Cycles(300.0);
    CHECK(fill_latency(item, Cycles(600.0), false, gpu).value() == doctest::Approx(900.0));
    CHECK(fill_latency(item, Cycles(600.0), true, gpu).value() ==
          doctest::Approx(900.0 + gpu.latency.tma_extra.value()));
    item.loop.demand[machine::Server::l1] = Cycles(500.0);
    CHECK(fill_latency(item, Cycles(600.0), false, gpu).value() == doctest::Approx(1100.0));
}

TEST_CASE("the period is the way around over the stages, so that more stages are never slower") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const Cycles load(700.0);
    double last = 1e300;
    for (std::int32_t stages = 1; stages <= 8; ++stages) {
        mk::Kernel kernel;
        mk::examples::WarpSpecializedGemm problem;
        problem.stages = stages;
        mk::examples::warp_specialized_gemm(kernel, problem);
        // The example's groups of asynchronous products are 2 deep, so one group is ahead.
        CHECK(kernel::stages_ahead(kernel) == stages);
        const auto item = item_demand(kernel, gpu, load);
        const double piece =
            gpu.dram.queue.value() *
            machine::beyond_the_mean_of_many(item.loop.received_bytes / gpu.dram.access_bytes.value());
        CHECK(piece > 0.0);
        const double around = (fill_latency(item, load, true, gpu) + item.loop.chain).value() + piece;
        const double period = loop_chain(kernel, item, load, gpu).value();
        CHECK(period == doctest::Approx(around / stages));
        CHECK(period <= last);
        last = period;
    }
}

TEST_CASE(
    "a bulk copy by warps that multiply waits for DRAM's last piece, and for long products of its place") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {});
    ItemDemand item = copied_by_its_warps();
    item.trips = 64.0;
    item.loop.demand[machine::Server::tma] = Cycles(100.0);
    item.loop.received_bytes = 24576.0;
    const int ahead = kernel::stages_ahead(kernel);
    const double near = loop_chain(kernel, item, gpu.latency.l2_far, gpu).value();
    const Cycles near_around =
        fill_latency(item, gpu.latency.l2_far, true, gpu) + steady::waits_in_order(ahead, 0.0, gpu);
    CHECK(near == doctest::Approx(near_around.value() / ahead));
    const double far = loop_chain(kernel, item, gpu.latency.dram, gpu).value();
    CHECK(far * ahead > near * ahead + (gpu.latency.dram - gpu.latency.l2_far).value() + 200.0);
    const double piece =
        gpu.dram.queue.value() * machine::beyond_the_mean_of_many(24576.0 / gpu.dram.access_bytes.value());
    const Cycles far_around =
        fill_latency(item, gpu.latency.dram, true, gpu) + steady::waits_in_order(ahead, 1.0, gpu);
    CHECK(far * ahead == doctest::Approx(far_around.value() + piece));
    item.loop.demand[machine::Server::tensor] = Cycles(5000.0);
    CHECK(loop_chain(kernel, item, gpu.latency.l2_far, gpu).value() * (ahead + 1) > near * ahead + 5000.0);
}

TEST_CASE("copies behind the operands' reads wait for those of all warps") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {});
    ItemDemand item = copied_by_its_warps();
    item.copy_issue = Cycles(50.0);
    const double without = loop_chain(kernel, item, gpu.latency.l2_far, gpu).value();
    item.others_read = Cycles(120.0);
    CHECK(loop_chain(kernel, item, gpu.latency.l2_far, gpu).value() ==
          doctest::Approx(without + 120.0 / kernel::stages_ahead(kernel)));
}

TEST_CASE("a stage that is waited for behind a trip's copies goes round by way of the next trip's") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {});
    ItemDemand item = copied_by_its_warps();
    item.waits_behind_copies = true;
    item.loop.chain = Cycles(600.0);
    item.behind_copies = Cycles(150.0);
    item.loop.demand[machine::Server::crossbar_read] = Cycles(200.0);
    item.loop.demand[machine::Server::l1] = Cycles(900.0);  // passes while the copies are issued
    CHECK(loop_chain(kernel, item, Cycles(700.0), gpu).value() ==
          doctest::Approx((700.0 + 200.0 + 450.0) / kernel::stages_ahead(kernel)));
    // Copies issued right before the wait leave the whole trip in between.
    item.behind_copies = {};
    CHECK(loop_chain(kernel, item, Cycles(700.0), gpu).value() ==
          doctest::Approx((700.0 + 200.0 + 600.0) / kernel::stages_ahead(kernel)));
}

TEST_CASE("copies of lanes go out when the last product of their trip has found room") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel;
    mk::examples::cp_async_gemm(kernel, {});
    ItemDemand item = copied_by_its_warps();
    item.copy_issue = Cycles(50.0);
    const double without = loop_chain(kernel, item, gpu.latency.l2_far, gpu).value();
    item.loop.queued = Cycles(384.0);
    CHECK(loop_chain(kernel, item, gpu.latency.l2_far, gpu).value() ==
          doctest::Approx(without + 384.0 / kernel::stages_ahead(kernel)));
    // A thread that issues bulk copies behind products already counts the products in its own issue.
    item.loop.demand[machine::Server::tma] = Cycles(100.0);
    const double bulk = loop_chain(kernel, item, gpu.latency.l2_far, gpu).value();
    item.loop.queued = {};
    CHECK(loop_chain(kernel, item, gpu.latency.l2_far, gpu).value() == doctest::Approx(bulk));
}

TEST_CASE("warps that copy and never meet wait for their own part, those that meet for the stage") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const mk::Kernel kernel = copying_with(3);
    ItemDemand item;
    item.asynchronous = true;
    item.warps = 8;
    item.copy_issue = Cycles(20.0);
    item.loop.chain = Cycles(50.0);
    item.loop.demand[machine::Server::crossbar_read] = Cycles(400.0);
    const Cycles load(300.0);
    CHECK(loop_chain(kernel, item, load, gpu).value() == doctest::Approx((300.0 + 50.0 + 20.0) / 2.0));
    item.loop.demand[machine::Server::barrier] = Cycles(16.0);
    CHECK(loop_chain(kernel, item, load, gpu).value() == doctest::Approx((300.0 + 400.0 + 50.0) / 2.0));
    item.loop.chain = Cycles(900.0);
    CHECK(loop_chain(kernel, item, load, gpu).value() == doctest::Approx(900.0));
}

TEST_CASE("copies of lanes wait for the last piece from DRAM of a warp's part, or of all where warps meet") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const mk::Kernel kernel = copying_with(2);
    ItemDemand item;
    item.asynchronous = true;
    item.warps = 8;
    const double pieces = 64.0;
    item.loop.received_bytes = pieces * gpu.dram.access_bytes.value();
    const auto wait = [&](double of) {
        return gpu.dram.queue.value() * machine::beyond_the_mean_of_many(of);
    };
    const Cycles dram = gpu.latency.dram;
    CHECK(loop_chain(kernel, item, dram, gpu).value() == doctest::Approx(dram.value() + wait(pieces / 8.0)));
    item.loop.demand[machine::Server::barrier] = Cycles(16.0);
    CHECK(loop_chain(kernel, item, dram, gpu).value() == doctest::Approx(dram.value() + wait(pieces)));
    const Cycles near = gpu.latency.l2_far;
    CHECK(loop_chain(kernel, item, near, gpu).value() == doctest::Approx(near.value()));
}

TEST_CASE("a stage ahead travels while its last copies are issued, and queues for the L2") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const mk::Kernel kernel = copying_with(2);
    ItemDemand item;
    item.asynchronous = true;
    item.warps = 4;
    item.copy_issue = Cycles(40.0);
    item.loop.chain = Cycles(700.0);
    item.loop.demand[machine::Server::crossbar_read] = Cycles(400.0);
    item.loop.demand[machine::Server::barrier] = Cycles(16.0);
    const Cycles load(300.0);
    CHECK(loop_chain(kernel, item, load, gpu).value() == doctest::Approx(1000.0));
    item.loop.chain = Cycles(100.0);
    CHECK(loop_chain(kernel, item, load, gpu).value() == doctest::Approx(740.0));
    CHECK(loop_chain(kernel, item, load, gpu, Cycles(500.0)).value() == doctest::Approx(840.0));
}

TEST_CASE("without copies ahead the period is the chain of one trip") {
    const auto gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel;
    mk::examples::histogram(kernel, 1 << 20, 4096);
    const Cycles load(700.0);
    const auto item = item_demand(kernel, gpu, load);
    CHECK_FALSE(item.asynchronous);
    const double period = loop_chain(kernel, item, load, gpu).value();
    CHECK(period == item.loop.chain.value());
    CHECK(period > 700.0);
    const auto slower = item_demand(kernel, gpu, Cycles(900.0));
    CHECK(loop_chain(kernel, slower, load, gpu).value() == doctest::Approx(period + 200.0));
}

TEST_CASE("a kernel without tokens has one stage") {
    CHECK(kernel::stages_ahead(mk::Kernel{}) == 1);
}

namespace {

/// A product whose producer fills a ring of four stages, with loops unrolled so that each pass handles
/// several stages. `full` and `empty` tokens of a pass's stages have the other stages of the ring as their
/// depth.
mk::Kernel ring_of_four(int consumed, int produced) {
    std::string text =
        "kernel \"ring\"\n  grid 132 1 1\n  cta 160 1 1\n  resources dynamic_shared=131072\n"
        "  schedule one_per_cta tiles=132\n"
        "  buffer \"a\" dtype=int8 extent=8192,4096 stride=1,8192\n";
    const int tokens = std::min(consumed, produced);
    for (int i = 0; i < tokens; ++i) {
        text += fmt::format(
            "  token \"full{0}\" arrivals=2 depth={1}\n"
            "  token \"empty{0}\" arrivals=4 initial={1} depth={1}\n",
            i, 4 / tokens);
    }
    text += fmt::format("  role \"consumers\" warps=4\n    loop trips={{{}}}\n", 64 / consumed);
    int op = 0;
    for (int i = 0; i < consumed; ++i) {
        text += fmt::format(
            "      op {0} mbarrier_try_wait\n      wait full{1}\n"
            "      op {2} wgmma dtype=bf16 shape=64,128,16 count=4\n"
            "      op {3} mbarrier_arrive active=0.03125 deps={2} completes=empty{1}\n",
            op, i % tokens, op + 1, op + 2);
        op += 3;
    }
    text +=
        fmt::format("    end\n  end\n  role \"producer\" warps=1\n    loop trips={{{}}}\n", 64 / produced);
    for (int i = 0; i < produced; ++i) {
        text += fmt::format(
            "      op {0} mbarrier_try_wait active=0.03125\n      wait empty{1}\n"
            "      op {2} mbarrier_arrive active=0.03125 completes=full{1}\n"
            "      op {3} cp_async_bulk_tensor active=0.03125 completes=full{1}\n"
            "        access read a collective origin={{{5} + {4}*loop.0}},{{128*tile.0}} "
            "box=128,128 bytes=1\n",
            op, i % tokens, op + 1, op + 2, 128 * produced, 128 * i);
        op += 3;
    }
    text += "    end\n  end\nend\n";
    return mk::parse_text(text);
}

}  // namespace

TEST_CASE("loops that handle several stages of a ring in a pass take as long as those that handle one") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const Cycles load = gpu.latency.l2_far;
    const auto rolled = ring_of_four(1, 1);
    const ItemDemand one = item_demand(rolled, gpu, load);
    const double chain = loop_chain(rolled, one, load, gpu).value();
    CHECK(mk::copy_ring(rolled).stages == 4.0);
    CHECK(mk::copy_ring(rolled).of_trip == 1.0);
    for (const auto& [consumed, produced] :
         {std::pair{2, 2}, std::pair{2, 4}, std::pair{1, 4}, std::pair{4, 4}}) {
        CAPTURE(consumed);
        CAPTURE(produced);
        const auto unrolled = ring_of_four(consumed, produced);
        const mk::CopyRing ring = mk::copy_ring(unrolled);
        CHECK(ring.stages == 4.0);
        CHECK(ring.of_trip == consumed);
        const ItemDemand several = item_demand(unrolled, gpu, load);
        CHECK(several.trips == 64.0 / consumed);
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            CAPTURE(i);
            CHECK(several.trips * several.loop.demand.cycles[i].value() ==
                  doctest::Approx(one.trips * one.loop.demand.cycles[i].value()));
            CHECK(several.peeled.cycles[i].value() == 0.0);
        }
        // Products of one trip overlap with the next trip's waits, so that the way round is a little shorter.
        CHECK(loop_chain(unrolled, several, load, gpu).value() / consumed ==
              doctest::Approx(chain).epsilon(0.03));
    }
}
