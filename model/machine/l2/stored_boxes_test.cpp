// Bytes that stores send and write.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/stored_boxes.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace warptime::model::machine;
namespace hw = warptime::hw;

TEST_CASE("another share inside the matrix is what a store of that share would have been") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto stored = [&gpu](double inside) {
        Part after;
        BufferTraffic traffic;
        add_stores(3.0, inside, inside, 3.0 * inside * 1.25, 1.0, gpu, after, traffic);
        return std::pair(after, traffic);
    };
    auto [after, traffic] = stored(1000.0);
    CHECK(traffic.written_bytes == 3000.0);
    CHECK(traffic.sent_bytes == 3750.0);
    const auto [other, other_traffic] = stored(600.0);
    store_inside(600.0, 3.0, 1.25, gpu, after, traffic);
    CHECK(traffic.written_bytes == other_traffic.written_bytes);
    CHECK(traffic.sent_bytes == other_traffic.sent_bytes);
    CHECK(after.sent_bytes == other.sent_bytes);
    CHECK(after.demand[Server::crossbar_write].value() == other.demand[Server::crossbar_write].value());
}
