// Steps and bytes of exchanges against rings, trees and peers that are run piece by piece.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/shape.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

using namespace warptime::workloads;
using namespace warptime::workloads::exchange;
using libraries::ExchangeAlgorithm;

namespace {

/// Runs a ring in which each GPU passes its newest piece on, until all have what they need. Returns rounds,
/// pieces that one GPU sends, and rounds in which box borders are crossed by the same piece.
struct RingRun {
    int rounds = 0;
    double sent = 0.0;
};
RingRun run_ring_gather(int gpus) {
    std::vector<std::vector<bool>> has(static_cast<std::size_t>(gpus),
                                       std::vector<bool>(static_cast<std::size_t>(gpus), false));
    std::vector<int> newest(static_cast<std::size_t>(gpus));
    for (int g = 0; g < gpus; ++g) {
        has[static_cast<std::size_t>(g)][static_cast<std::size_t>(g)] = true;
        newest[static_cast<std::size_t>(g)] = g;
    }
    RingRun run;
    const auto complete = [&] {
        return std::all_of(has.begin(), has.end(), [](const std::vector<bool>& one) {
            return std::all_of(one.begin(), one.end(), [](bool piece) { return piece; });
        });
    };
    while (!complete()) {
        std::vector<int> arriving(newest.size());
        for (std::size_t g = 0; g < newest.size(); ++g) arriving[(g + 1) % newest.size()] = newest[g];
        newest = arriving;
        for (std::size_t g = 0; g < newest.size(); ++g) has[g][static_cast<std::size_t>(newest[g])] = true;
        ++run.rounds;
        run.sent += 1.0 / gpus;
    }
    return run;
}

}  // namespace

TEST_CASE("rings send what a ring that is run piece by piece sends") {
    for (const int n : {2, 3, 4, 7, 8}) {
        const RingRun run = run_ring_gather(n);
        const Shape gather = shape_of({Op::all_gather, n, 1, 1.0}, ExchangeAlgorithm::ring);
        CHECK(gather.hops_within == doctest::Approx(run.rounds));
        CHECK(gather.bytes_within == doctest::Approx(run.sent));
        // A scatter of sums is a gather backwards; a sum for all is one after the other.
        const Shape scatter = shape_of({Op::reduce_scatter, n, 1, 1.0}, ExchangeAlgorithm::ring);
        const Shape sum = shape_of({Op::all_reduce, n, 1, 1.0}, ExchangeAlgorithm::ring);
        CHECK(scatter.bytes_within == doctest::Approx(gather.bytes_within));
        CHECK(sum.bytes_within == doctest::Approx(gather.bytes_within + scatter.bytes_within));
        CHECK(sum.hops_within == doctest::Approx(gather.hops_within + scatter.hops_within));
        CHECK(sum.bytes_within == doctest::Approx(2.0 * (n - 1) / n));
    }
}

TEST_CASE("what one GPU sends to peers adds up to what all receive") {
    for (const auto& [gpus, boxes] : {std::pair{8, 1}, std::pair{16, 2}, std::pair{32, 4}}) {
        const Shape s = shape_of({Op::all_to_all, gpus, boxes, 1.0}, ExchangeAlgorithm::direct);
        CHECK(s.bytes_within + s.bytes_across + s.own_bytes == doctest::Approx(1.0));
        int outside = 0;
        for (int peer = 0; peer < gpus; ++peer) outside += peer / (gpus / boxes) != 0 ? 1 : 0;
        CHECK(s.bytes_across == doctest::Approx(static_cast<double>(outside) / gpus));
    }
}

TEST_CASE("across boxes a ring crosses each box's border once a turn, and its adapters share the bytes") {
    const Shape s = shape_of({Op::all_gather, 32, 4, 1.0}, ExchangeAlgorithm::ring);
    CHECK(s.hops_within + s.hops_across == doctest::Approx(31.0));
    CHECK(s.hops_across / s.hops_within == doctest::Approx(4.0 / 28.0));
    CHECK(s.bytes_across * 8.0 == doctest::Approx(s.bytes_within));
    const Shape tree = shape_of({Op::all_reduce, 64, 8, 1.0}, ExchangeAlgorithm::tree);
    CHECK(tree.hops_across == doctest::Approx(2.0 * 3.0));
    CHECK(tree.hops_within == doctest::Approx(2.0 * 7.0));
    // Of two GPUs one sends its part up and the other the sum down: each sends the buffer once.
    CHECK(shape_of({Op::all_reduce, 2, 1, 1.0}, ExchangeAlgorithm::tree).bytes_within ==
          doctest::Approx(1.0));
    CHECK(shape_of({Op::all_reduce, 3, 1, 1.0}, ExchangeAlgorithm::tree).bytes_within ==
          doctest::Approx(2.0));
}

TEST_CASE("with one GPU a box, each adapter carries its GPU's whole ring") {
    const Shape s = shape_of({Op::all_reduce, 8, 8, 1.0}, ExchangeAlgorithm::ring);
    CHECK(s.bytes_across == doctest::Approx(1.75));
    CHECK(s.hops_within == doctest::Approx(0.0));
}

TEST_CASE("longer rings have more steps and more bytes to send, and bytes only scale") {
    CHECK(rc::check("rings", [] {
        const auto gpus = *rc::gen::inRange<std::int64_t>(2, 2000);
        const auto bytes = static_cast<double>(*rc::gen::inRange(1, 1 << 30));
        const Op op =
            *rc::gen::elementOf(std::vector<Op>{Op::all_reduce, Op::all_gather, Op::reduce_scatter});
        const Shape s = shape_of({op, gpus, 1, bytes}, ExchangeAlgorithm::ring);
        const Shape longer = shape_of({op, gpus + 1, 1, bytes}, ExchangeAlgorithm::ring);
        RC_ASSERT(s.hops_within < longer.hops_within);
        RC_ASSERT(s.bytes_within < longer.bytes_within);
        const Shape twice = shape_of({op, gpus, 1, 2.0 * bytes}, ExchangeAlgorithm::ring);
        RC_ASSERT(twice.bytes_within == 2.0 * s.bytes_within);
        RC_ASSERT(twice.hops_within == s.hops_within);
    }));
}

TEST_CASE("switches that add up halve what a GPU sends: its data up once, its share of results once") {
    const Shape s = shape_of({Op::all_reduce, 8, 1, 1.0}, ExchangeAlgorithm::nvls);
    CHECK(s.bytes_within == doctest::Approx(1.0 + 1.0 / 8.0));
    CHECK(s.hops_across == 0.0);
    CHECK(shape_of({Op::all_reduce, 32, 4, 1.0}, ExchangeAlgorithm::nvls).hops_across ==
          doctest::Approx(4.0));
}

TEST_CASE("an algorithm that an operation does not have is refused") {
    const auto has = [](Op op, ExchangeAlgorithm algorithm) {
        try {
            (void)shape_of({op, 8, 1, 1.0}, algorithm);
            return true;
        } catch (const warptime::Error& error) {
            CHECK(error.parameter() == "exchange algorithm");
            return false;
        }
    };
    CHECK(has(Op::broadcast, ExchangeAlgorithm::tree));
    CHECK_FALSE(has(Op::all_gather, ExchangeAlgorithm::tree));
    CHECK_FALSE(has(Op::broadcast, ExchangeAlgorithm::nvls));
    CHECK_FALSE(has(Op::send_recv, ExchangeAlgorithm::ring));
    CHECK_FALSE(has(Op::all_reduce, ExchangeAlgorithm::direct));
}
