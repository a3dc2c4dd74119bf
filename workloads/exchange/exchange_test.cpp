// Exchanges between GPUs: bytes and steps against simulated rings, trees and peers, orders that must hold,
// refusals. SPDX-License-Identifier: Apache-2.0
#include "model/machine/links/exchange.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/text.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/exchange/lower.hpp"
#include "workloads/exchange/shape.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using namespace warptime::workloads::exchange;
using libraries::ExchangeAlgorithm;

namespace {

const libraries::Libraries& data() {
    static const libraries::Libraries read = libraries::load_libraries();
    return read;
}

double seconds(Op op, std::int64_t gpus, std::int64_t bytes, std::string_view system = "hgx-h100-8",
               std::optional<ExchangeAlgorithm> algorithm = std::nullopt, std::int64_t boxes = 0) {
    Problem problem;
    problem.op = op;
    problem.gpus = gpus;
    problem.bytes = bytes;
    problem.boxes = boxes;
    problem.algorithm = algorithm;
    const mk::Exchange e = lower(problem, data(), warptime::hw::find_system(system));
    return warptime::model::machine::exchange_time(e).total().value();
}

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

std::string refused(const std::map<std::string, std::string, std::less<>>& given, std::string_view op,
                    const char* gpu) {
    mk::Program program;
    try {
        choice::lower(
            make_operation(op, given), data(), warptime::hw::load_gpu(gpu),
            [](const mk::Program&, double) { return 1.0; }, program);
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "";
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

TEST_CASE("large messages reach the published bus bandwidth") {
    // Bus bandwidth of NVIDIA's tests: bytes x 2 (n - 1) / n / time. Published figures:
    // validate/recorded/README.
    const auto bus = [](std::string_view system, std::optional<ExchangeAlgorithm> algorithm) {
        const double bytes = 8.0 * 1024 * 1024 * 1024;
        return bytes * 1.75 / seconds(Op::all_reduce, 8, static_cast<std::int64_t>(bytes), system, algorithm);
    };
    CHECK(bus("hgx-h200-8", ExchangeAlgorithm::ring) == doctest::Approx(366e9).epsilon(0.08));
    CHECK(bus("hgx-h200-8", ExchangeAlgorithm::nvls) == doctest::Approx(478e9).epsilon(0.08));
    CHECK(bus("hgx-a100-8", std::nullopt) == doctest::Approx(235e9).epsilon(0.08));
    CHECK(bus("dgx-b200", ExchangeAlgorithm::ring) == doctest::Approx(682e9).epsilon(0.08));
    CHECK(bus("dgx-b200", ExchangeAlgorithm::nvls) == doctest::Approx(838e9).epsilon(0.08));
}

TEST_CASE(
    "more bytes and longer rings take no less time; auto is the fastest; parts take less than the whole") {
    CHECK(rc::check("orders of exchanges", [] {
        static const std::vector<std::string_view> systems{"hgx-h100-8", "hgx-a100-8", "dgx-b200"};
        const std::string_view system = *rc::gen::elementOf(systems);
        const std::int64_t gpus = *rc::gen::elementOf(std::vector<std::int64_t>{2, 3, 4, 8, 16, 64, 1024});
        const std::int64_t bytes = std::int64_t{1} << *rc::gen::inRange(4, 34);
        const std::int64_t more = bytes + *rc::gen::inRange<std::int64_t>(1, bytes + 2);
        const Op op = *rc::gen::elementOf(std::vector<Op>{Op::all_reduce, Op::all_gather, Op::reduce_scatter,
                                                          Op::all_to_all, Op::broadcast, Op::send_recv});
        RC_ASSERT(seconds(op, gpus, bytes, system) <= seconds(op, gpus, more, system) * (1.0 + 1e-12));
        const auto ring = ExchangeAlgorithm::ring;
        if (op == Op::all_reduce || op == Op::broadcast) {
            RC_ASSERT(seconds(op, gpus, bytes, system) <=
                      seconds(op, gpus, bytes, system, ring) * (1.0 + 1e-12));
            RC_ASSERT(seconds(op, gpus, bytes, system) <=
                      seconds(op, gpus, bytes, system, ExchangeAlgorithm::tree) * (1.0 + 1e-12));
        }
        // A GPU's own part shrinks as GPUs join, so only the messages' own time is ordered.
        const auto hops_and_bytes = [&](std::int64_t n) {
            const Shape s = shape_of({Op::all_reduce, n, 1, static_cast<double>(bytes)}, ring);
            return std::pair{s.hops_within, s.bytes_within};
        };
        RC_ASSERT(hops_and_bytes(gpus).first < hops_and_bytes(gpus + 1).first);
        RC_ASSERT(hops_and_bytes(gpus).second < hops_and_bytes(gpus + 1).second);
        // All GPUs sending their parts to all is no faster than one of them doing so.
        RC_ASSERT(seconds(Op::broadcast, gpus, bytes, system, ring) <=
                  seconds(Op::all_gather, gpus, bytes * gpus, system) * (1.0 + 1e-12));
        RC_ASSERT(seconds(Op::all_gather, gpus, bytes, system) <=
                  seconds(Op::all_reduce, gpus, bytes, system, ring) * (1.0 + 1e-12));
    }));
}

TEST_CASE("GPUs in different boxes talk over the network") {
    const std::int64_t bytes = 1 << 28;
    const double near = seconds(Op::all_reduce, 8, bytes);
    const double far = seconds(Op::all_reduce, 8, bytes, "hgx-h100-8", std::nullopt, 8);
    CHECK(far > 5.0 * near);
    // One GPU a box: each adapter carries its GPU's whole ring.
    const Shape s = shape_of({Op::all_reduce, 8, 8, 1.0}, ExchangeAlgorithm::ring);
    CHECK(s.bytes_across == doctest::Approx(1.75));
    CHECK(s.hops_within == doctest::Approx(0.0));
}

TEST_CASE("an exchange's text reads back, and every parameter counts or is refused by name") {
    mk::Program program;
    const auto gpu = warptime::hw::load_gpu("h100-sxm");
    const auto first = [](const mk::Program&, double) { return 1.0; };
    choice::lower(make_operation("all_reduce", {{"gpus", "8"}, {"bytes", "12345678"}}), data(), gpu, first,
                  program);
    mk::check(program);
    const mk::Program again = mk::parse_program_text(mk::to_text(program));
    REQUIRE(again.exchanges.size() == 1);
    CHECK(again.exchanges.front() == program.exchanges.front());
    CHECK(again.steps == program.steps);

    const auto says = [](const std::string& message, std::string_view part) {
        CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    };
    says(refused({{"gpus", "1"}, {"bytes", "8"}}, "all_reduce", "h100-sxm"), "all_reduce gpus");
    says(refused({{"gpus", "12"}, {"bytes", "8"}}, "all_reduce", "h100-sxm"), "full boxes of 8");
    says(refused({{"gpus", "32768"}, {"bytes", "8"}}, "all_gather", "h100-sxm"), "16384");
    says(refused({{"gpus", "8"}, {"bytes", "8"}}, "all_reduce", "t4"), "all_reduce system");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"system", "dgx-b200"}}, "all_reduce", "h100-sxm"),
         "a box of h100-sxm");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "tree"}}, "reduce_scatter", "h100-sxm"),
         "algorithm");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "nvls"}}, "all_reduce", "a100-sxm-80gb"),
         "do not add up");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "nvls"}, {"dtype", "int8"}}, "all_reduce",
                 "h100-sxm"),
         "elements of this type");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "nvls"}, {"protocol", "LL"}}, "all_reduce",
                 "h100-sxm"),
         "ring or tree beside a protocol");
    for (const char* protocol : {"LL", "LL128", "Simple"}) {
        CHECK(refused({{"gpus", "8"}, {"bytes", "8"}, {"protocol", protocol}}, "all_gather", "h100-sxm")
                  .empty());
    }
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"boxes", "3"}}, "all_reduce", "h100-sxm"), "evenly");
    says(refused({{"gpus", "4"}, {"bytes", "8"}, {"boxes", "2"}}, "all_reduce", "l40s"), "no network");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "ring"}}, "all_to_all", "h100-sxm"),
         "algorithm");
    says(refused({{"bytes", "900000000000"}, {"kind", "pinned"}}, "h2d", "h100-sxm"), "h2d");
    CHECK(refused({{"bytes", "9"}, {"kind", "pageable"}}, "d2h", "h100-sxm").empty());
}
