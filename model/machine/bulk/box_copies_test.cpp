// Demand of boxes on the engine, on the port, and outside their matrix.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/bulk/box_copies.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::machine;

namespace {

/// Matrix of `rows` rows; boxes of 128 rows lie below one another, one a tile.
kernel::Kernel matrix(std::int64_t rows) {
    kernel::Kernel kernel;
    kernel.terms.push_back(kernel::Term{.coefficient = 128, .variable = kernel::Variable::tile});
    kernel::Buffer buffer;
    buffer.rank = 2;
    buffer.extent = {4096, rows, 1, 1, 1};
    kernel.buffers.push_back(buffer);
    return kernel;
}

kernel::Access box_of_rows(std::int64_t multicast_ctas) {
    kernel::Access access;
    access.buffer = 0;
    access.rank = 2;
    access.box = {64, 128, 1, 1, 1};
    access.origin[1].count = 1;
    access.multicast_ctas = static_cast<decltype(access.multicast_ctas)>(multicast_ctas);
    return access;
}

struct Taken {
    double engine, port, outside;
};

Taken taken(std::int64_t rows, const AccessBytes& box, std::int64_t multicast_ctas = 1) {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Part part;
    BufferTraffic traffic;
    add_box_copies(matrix(rows), box_of_rows(multicast_ctas), box, 3.0, 10.0, gpu, part, traffic);
    return {part.demand[Server::tma].value(), part.demand[Server::crossbar_read].value(),
            traffic.outside_bytes};
}

AccessBytes bytes(double row_bytes, std::int64_t pitch_bytes = 8192) {
    return {.full = 128.0 * row_bytes,
            .inside = 0.0,
            .rows = 128.0,
            .row_bytes = row_bytes,
            .pitch_bytes = pitch_bytes};
}

}  // namespace

TEST_CASE("rows of a line take the engine once each, and rows that cross lines nearly twice") {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    CHECK(taken(1024, bytes(128.0)).engine == doctest::Approx(3.0 * 128.0 * gpu.tma.row_interval.value()));
    CHECK(taken(1024, bytes(128.0, 8176)).engine > 1.5 * taken(1024, bytes(128.0)).engine);
    CHECK(taken(1024, bytes(128.0), 2).engine == doctest::Approx(2.0 * taken(1024, bytes(128.0)).engine));
}

TEST_CASE("rows that are shorter than a line take the port for what is missing") {
    CHECK(taken(1024, bytes(128.0)).port == 0.0);
    CHECK(taken(1024, bytes(64.0)).port > 0.0);
    CHECK(taken(1024, bytes(32.0)).port > taken(1024, bytes(64.0)).port);
}

TEST_CASE("what lies outside of the matrix is counted over all trips") {
    CHECK(taken(1024, bytes(128.0)).outside == 0.0);
    // 192 of 256 rows are inside.
    CHECK(taken(192, bytes(128.0)).outside == doctest::Approx(10.0 * 3.0 * 128.0 * 128.0 * 0.25));
}
