// What stores send and write. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/stored_boxes.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace warptime::model::analytical;
namespace hw = warptime::hw;

TEST_CASE("another share inside the matrix is what a store of that share would have been") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto stored = [&gpu](double inside) {
        ItemDemand<double> item;
        BufferTraffic traffic;
        item.boxes_stored = 3.0;
        item.sent_per_stored = 1.25;
        add_stores(3.0, inside, 3.0 * inside * 1.25, 1.0, gpu, item.after, traffic);
        return std::pair(item, traffic);
    };
    auto [item, traffic] = stored(1000.0);
    CHECK(traffic.written_bytes == 3000.0);
    CHECK(traffic.sent_bytes == 3750.0);
    const auto [other, other_traffic] = stored(600.0);
    store_inside(600.0, gpu, item, traffic);
    CHECK(traffic.written_bytes == other_traffic.written_bytes);
    CHECK(traffic.sent_bytes == other_traffic.sent_bytes);
    CHECK(item.after.sent_bytes == other.after.sent_bytes);
    CHECK(item.after.demand[Server::crossbar_write].value() ==
          other.after.demand[Server::crossbar_write].value());
}
