// Which bodies keep their items.
// That kept items equal items worked out anew, kept_lowerings_test checks on random tiles.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/body_stage.hpp"

#include "model/analytical/item_demand.hpp"
#include "model/analytical/kernels_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;
using fixture::gpu;
namespace kernel = warptime::model::kernel;

namespace {

ItemDemand kept(BodyStage& items, const kernel::Kernel& kernel, warptime::model::prediction::BodyNumber body,
                std::int64_t resident = 1) {
    ItemDemand item;
    items.add(kernel, body, gpu(), gpu().latency.dram, resident, item);
    return item;
}

}  // namespace

TEST_CASE("plain loads hang on more than their boxes, arithmetic on nothing") {
    CHECK_FALSE(hangs_on_boxes(fixture::stream(264)));
    CHECK(hangs_on_boxes(fixture::arithmetic(264, 10)));
}

TEST_CASE("an item is kept by the number of its body") {
    BodyStage items;
    const kernel::Kernel ten = fixture::arithmetic(264, 10);
    const kernel::Kernel twenty = fixture::arithmetic(264, 20);
    CHECK(kept(items, ten, 1).trips == 10.0);
    // Kept items are used unchecked: the number stands for the body.
    CHECK(kept(items, twenty, 1).trips == 10.0);
    CHECK(kept(items, twenty, 2).trips == 20.0);
    CHECK(kept(items, twenty, warptime::model::prediction::unknown_body).trips == 20.0);
    const double alone = kept(items, ten, 1).loop.demand[machine::Server::fp32].value();
    const ItemDemand anew = item_demand(ten, gpu(), gpu().latency.dram, 1);
    CHECK(alone == anew.loop.demand[machine::Server::fp32].value());
}
