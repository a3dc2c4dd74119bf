// SPDX-License-Identifier: Apache-2.0
#include "model/system/timetable.hpp"

#include "hw/sheet.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using namespace warptime::model::system;

namespace {

Row row(double seconds, int stream = 0, std::vector<std::size_t> after = {}) {
    Row r;
    r.seconds = seconds;
    r.stream = stream;
    r.after = std::move(after);
    return r;
}

Row part_of_chip(Row r, double share) {
    r.share = share;
    return r;
}

doctest::Approx about(double value) {
    return doctest::Approx(value).epsilon(1e-12);
}

constexpr Host none{Launching::graph, 0.0, 0.0, 0.0};

/// A random step without circles: rows wait for earlier ones only. Times are whole, so that sums are exact.
std::vector<Row> random_rows(int streams) {
    const auto count = *rc::gen::inRange<std::size_t>(1, 20);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < count; ++i) {
        Row r = row(*rc::gen::inRange(1, 50), *rc::gen::inRange(0, streams));
        r.launches = *rc::gen::inRange(1, 4);
        r.repeat = *rc::gen::inRange(1, 4);
        if (i > 0 && *rc::gen::inRange(0, 3) == 0) r.after.push_back(*rc::gen::inRange<std::size_t>(0, i));
        rows.push_back(std::move(r));
    }
    return rows;
}

}  // namespace

TEST_CASE("rows of one stream take their sum and the gaps between all activities") {
    std::vector<Row> rows{row(3.0), row(4.0), row(5.0)};
    rows[1].launches = 2;
    rows[2].repeat = 3;
    const Timetable t = timetable_of(rows, {Launching::graph, 0.0, 2.0, 0.5});
    CHECK(t.activity == about(3.0 + 4.0 + 15.0));
    CHECK(t.span == about(22.0 + 5 * 0.5));
    CHECK(t.wall == about(2.0 + t.span));
    CHECK(t.critical == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("work passes from the SMs to a copy engine and back in the time of a turn") {
    Row set = row(1.0);
    set.first = set.last = Worker::engine;
    Row product = row(4.0);  // a memset, then a kernel
    product.launches = 2;
    product.first = Worker::engine;
    product.turns = 1;
    const Host host{Launching::graph, 0.0, 0.0, 0.5, 2.0};
    // Plain gap between the two sums; turns around the memset of its own and inside of the product.
    const std::vector<Row> rows{row(3.0), row(3.0), set, row(3.0), product};
    CHECK(timetable_of(rows, host).span == about(3.0 + 3.0 + 1.0 + 3.0 + 4.0 + 0.5 + 4 * 2.0));
    // A repeat begins with its memset again.
    product.repeat = 3;
    CHECK(timetable_of(std::vector<Row>{product}, host).span == about(3 * 4.0 + 5 * 2.0));
    // No turn where an engine follows an engine.
    CHECK(timetable_of(std::vector<Row>{set, set, product}, host).span ==
          about(2.0 + 12.0 + 2 * 0.5 + 5 * 2.0));
}

TEST_CASE("a host that launches slower than the device works sets the pace") {
    const std::vector<Row> rows(10, row(1.0));
    const Timetable slow = timetable_of(rows, {Launching::eager, 4.0, 0.0, 0.5});
    CHECK(slow.wall == about(10 * 4.0 + 1.0));
    CHECK(slow.waiting == about(9 * (4.0 - 1.5)));
    const Timetable fast = timetable_of(rows, {Launching::eager, 0.1, 0.0, 0.5});
    CHECK(fast.wall == about(0.1 + 10 * 1.0 + 9 * 0.5));
    CHECK(fast.waiting == 0.0);
    // The same, folded into one row.
    Row folded = row(1.0);
    folded.repeat = 10;
    CHECK(timetable_of(std::vector<Row>{folded}, {Launching::eager, 4.0, 0.0, 0.5}).wall == about(slow.wall));
    CHECK(timetable_of(std::vector<Row>{folded}, {Launching::eager, 0.1, 0.0, 0.5}).wall == about(fast.wall));
}

TEST_CASE("streams overlap where their CTAs have places, and share the chip where they have none") {
    const std::vector<Row> small{part_of_chip(row(6.0, 0), 0.25), part_of_chip(row(4.0, 1), 0.75)};
    CHECK(timetable_of(small, none).wall == about(6.0));
    // Both fill the chip: until the shorter one is done, each has half.
    const Timetable full = timetable_of(std::vector<Row>{row(6.0, 0), row(4.0, 1)}, none);
    CHECK(full.slots[1].end == about(8.0));
    CHECK(full.slots[0].end == about(10.0));
}

TEST_CASE("copies and exchanges run beside kernels, and each engine does one thing at a time") {
    std::vector<Row> rows{row(10.0, 0), row(3.0, 1), row(4.0, 2), row(5.0, 3)};
    rows[1].server = Server::copy_in;
    rows[2].server = Server::copy_out;
    rows[3].server = Server::link;
    CHECK(timetable_of(rows, none).wall == about(10.0));
    rows[2].server = Server::copy_in;
    CHECK(timetable_of(rows, none).slots[2].end == about(7.0));
}

TEST_CASE("a diamond waits for its longer side") {
    const std::vector<Row> rows{row(1.0, 0), part_of_chip(row(5.0, 1, {0}), 0.5),
                                part_of_chip(row(2.0, 2, {0}), 0.5), row(1.0, 3, {1, 2})};
    const Timetable t = timetable_of(rows, none);
    CHECK(t.wall == about(7.0));
    CHECK(t.critical == std::vector<std::size_t>{0, 1, 3});
}

TEST_CASE("circles of waits are found, through streams too") {
    CHECK(circle_of(std::vector<Row>{row(1.0), row(1.0)}).empty());
    CHECK(circle_of(std::vector<Row>{row(1.0, 0, {1}), row(1.0, 0)}) == std::vector<std::size_t>{0, 1});
    CHECK(circle_of(std::vector<Row>{row(1.0, 0, {0})}) == std::vector<std::size_t>{0});
    const std::vector<Row> three{row(1.0, 0, {2}), row(1.0, 1, {0}), row(1.0, 2, {1})};
    CHECK(circle_of(three).size() == 3);
}

TEST_CASE("properties of random steps") {
    CHECK(rc::check("nothing waits, nothing is lost", [] {
        const std::vector<Row> rows = random_rows(3);
        const Timetable t = timetable_of(rows, {Launching::eager, 2.0, 0.0, 1.0});
        double work = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            work += rows[i].seconds * static_cast<double>(rows[i].repeat);
            for (const std::size_t before : rows[i].after) {
                RC_ASSERT(t.slots[i].start >= t.slots[before].end);
            }
        }
        RC_ASSERT(std::abs(t.activity - work) < 1e-9);
        // Rows that each fill the chip cannot do more than one second of work in a second.
        RC_ASSERT(t.span >= work - 1e-9);
        RC_ASSERT(t.wall >= t.host);
    }));
    CHECK(rc::check("one stream: repeats folded into a row are the same as rows", [] {
        const std::vector<Row> rows = random_rows(1);
        std::vector<Row> unfolded;
        std::vector<std::size_t> last;
        for (const Row& r : rows) {
            for (std::int64_t k = 0; k < r.launches * r.repeat; ++k) {
                unfolded.push_back(row(r.seconds / static_cast<double>(r.launches)));
                if (k > 0) continue;
                for (const std::size_t before : r.after) unfolded.back().after.push_back(last[before]);
            }
            last.push_back(unfolded.size() - 1);
        }
        for (const Host& host :
             {Host{Launching::eager, 7.0, 0.0, 1.0}, Host{Launching::graph, 0.0, 3.0, 0.5}}) {
            RC_ASSERT(std::abs(timetable_of(rows, host).wall - timetable_of(unfolded, host).wall) < 1e-6);
        }
    }));
    CHECK(rc::check("rows on servers without limits: the longest path of Boost", [] {
        std::vector<Row> rows = random_rows(4);
        for (Row& r : rows) r.share = 1.0 / 64;
        using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                            boost::property<boost::edge_weight_t, double>>;
        const auto end = rows.size();
        Graph graph(end + 2);
        const auto length = [&](std::size_t i) {
            return rows[i].seconds * static_cast<double>(rows[i].repeat);
        };
        for (std::size_t i = 0; i < end; ++i) {
            boost::add_edge(end + 1, i, 0.0, graph);
            boost::add_edge(i, end, -length(i), graph);
            for (const std::size_t before : rows[i].after) boost::add_edge(before, i, -length(before), graph);
            for (std::size_t k = 0; k < i; ++k) {
                if (rows[k].stream == rows[i].stream) boost::add_edge(k, i, -length(k), graph);
            }
        }
        std::vector<double> distance(end + 2);
        boost::dag_shortest_paths(graph, end + 1, boost::distance_map(distance.data()));
        RC_ASSERT(std::abs(timetable_of(rows, none).wall + distance[end]) < 1e-6);
    }));
}

TEST_CASE("the host of a step has the keys of the GPU, or what is given") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const Host graph = host_of(Launching::graph, 100, gpu);
    CHECK(graph.each == 0.0);
    CHECK(graph.start == about(gpu.launch.graph_host.value() + 100 * gpu.launch.graph_host_node.value()));
    CHECK(graph.gap == gpu.launch.graph_other_gap.value());
    CHECK(graph.turn == gpu.launch.stream_gap.value());
    REQUIRE(graph.gap != graph.turn);
    // A stream has one gap, whoever works beside it.
    const Host eager = host_of(Launching::eager, 100, gpu);
    CHECK(eager.start == 0.0);
    CHECK(eager.gap == gpu.launch.stream_gap.value());
    CHECK(eager.turn == gpu.launch.stream_gap.value());
    CHECK(eager.each == gpu.launch.host.value());
    CHECK(host_of(Launching::eager, 100, gpu, 2e-5).each == 2e-5);
}
