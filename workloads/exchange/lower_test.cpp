// Exchanges on boxes: published bandwidths, orders that must hold, boxes and the network between them.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/lower.hpp"

#include "hw/error.hpp"
#include "hw/system.hpp"
#include "model/machine/links/exchange.hpp"
#include "workloads/exchange/peer_parts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <optional>
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
               std::optional<ExchangeAlgorithm> algorithm = std::nullopt, std::int64_t boxes = 0,
               std::string protocol = {}) {
    Problem problem;
    problem.op = op;
    problem.gpus = gpus;
    problem.bytes = bytes;
    problem.boxes = boxes;
    problem.algorithm = algorithm;
    problem.protocol = std::move(protocol);
    const mk::Exchange e = lower(problem, data(), warptime::hw::find_system(system));
    return warptime::model::machine::exchange_time(e).total().value();
}

}  // namespace

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
        // A message to a peer whose parts would be too long gets twice the channels of a shorter one.
        const auto part = [&](std::int64_t of) {
            const auto message =
                static_cast<double>(of) / static_cast<double>(op == Op::send_recv ? 1 : gpus);
            const double links = warptime::hw::find_system(system).nvlink.links;
            return peer_parts(message, gpus, links, data().peer_rules.front(), false).bytes;
        };
        const bool direct = op == Op::send_recv || op == Op::all_to_all;
        if (!direct || part(bytes) <= part(more)) {
            RC_ASSERT(seconds(op, gpus, bytes, system) <= seconds(op, gpus, more, system) * (1.0 + 1e-12));
        }
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
        // All GPUs sending their parts to all is no faster than one of them doing so, but for the steps that
        // one message by flags has under way on further hops.
        const double under_way =
            static_cast<double>(gpus - 2) * 4096.0 / warptime::hw::find_system(system).flag.rate;
        RC_ASSERT(seconds(Op::broadcast, gpus, bytes, system, ring) <=
                  (seconds(Op::all_gather, gpus, bytes * gpus, system) + under_way) * (1.0 + 1e-12));
        RC_ASSERT(seconds(Op::broadcast, gpus, bytes, system, ring, 0, "Simple") <=
                  seconds(Op::all_gather, gpus, bytes * gpus, system, ring, 0, "Simple") * (1.0 + 1e-12));
        RC_ASSERT(seconds(Op::all_gather, gpus, bytes, system) <=
                  seconds(Op::all_reduce, gpus, bytes, system, ring) * (1.0 + 1e-12));
    }));
}

TEST_CASE("no exchange within a box is faster than the links carry its bytes") {
    CHECK(rc::check("bytes over links", [] {
        static const std::vector<std::string_view> systems{"hgx-h100-8", "hgx-h200-8", "hgx-a100-8",
                                                           "dgx-b200", "pcie-l40s-4"};
        const std::string_view system = *rc::gen::elementOf(systems);
        const auto& box = warptime::hw::find_system(system);
        const std::int64_t gpus =
            *rc::gen::inRange<std::int64_t>(2, static_cast<std::int64_t>(box.box.gpus) + 1);
        const std::int64_t bytes =
            *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << *rc::gen::inRange(4, 32));
        for (const Op op : {Op::all_reduce, Op::all_gather, Op::reduce_scatter, Op::broadcast}) {
            const Shape s = shape_of({op, gpus, 1, static_cast<double>(bytes)}, ExchangeAlgorithm::ring);
            for (const char* protocol : {"LL", "LL128", "Simple"}) {
                const double time = seconds(op, gpus, bytes, system, ExchangeAlgorithm::ring, 0, protocol);
                RC_ASSERT(time > s.bytes_within / box.link_bandwidth());
            }
        }
    }));
}

TEST_CASE("GPUs in different boxes talk over the network") {
    const std::int64_t bytes = 1 << 28;
    const double near = seconds(Op::all_reduce, 8, bytes);
    const double far = seconds(Op::all_reduce, 8, bytes, "hgx-h100-8", std::nullopt, 8);
    CHECK(far > 5.0 * near);
}

TEST_CASE("GPUs take as few boxes as can be, or as many as are given, evenly") {
    const auto& system = warptime::hw::find_system("hgx-h100-8");
    const auto boxes = [&system](std::int64_t gpus, std::int64_t given) {
        Problem problem;
        problem.gpus = gpus;
        problem.boxes = given;
        try {
            return boxes_of(problem, system);
        } catch (const warptime::Error&) {
            return std::int64_t{0};  // refused
        }
    };
    CHECK(boxes(2, 0) == 1);
    CHECK(boxes(8, 0) == 1);
    CHECK(boxes(16, 0) == 2);
    CHECK(boxes(16384, 0) == 2048);
    CHECK(boxes(8, 4) == 4);
    for (const auto& [gpus, given] :
         {std::pair{1, 0}, std::pair{12, 0}, std::pair{8, 3}, std::pair{16392, 0}}) {
        CAPTURE(gpus);
        CHECK(boxes(gpus, given) == 0);
    }
}

TEST_CASE("what is lowered says its algorithm, and given ones are taken") {
    const auto lowered = [](std::optional<ExchangeAlgorithm> algorithm, std::string protocol,
                            std::int64_t bytes = 1 << 20, std::int64_t gpus = 8) {
        Problem problem;
        problem.gpus = gpus;
        problem.bytes = bytes;
        problem.algorithm = algorithm;
        problem.protocol = std::move(protocol);
        return lower(problem, data(), warptime::hw::find_system("hgx-h100-8"));
    };
    for (const auto algorithm : {ExchangeAlgorithm::ring, ExchangeAlgorithm::tree, ExchangeAlgorithm::nvls}) {
        const mk::Exchange e = lowered(algorithm, "");
        CHECK(e.bytes == 1 << 20);
        CHECK(e.name.find(name_of(algorithm)) != std::string::npos);
    }
    CHECK(lowered(ExchangeAlgorithm::ring, "LL").name.find("LL") != std::string::npos);
    // Flags beside the data take half of each line, and need no signal of their own: short messages gain,
    // long ones lose.
    const auto time = [&](const char* protocol, std::int64_t bytes) {
        const mk::Exchange e = lowered(ExchangeAlgorithm::ring, protocol, bytes, 2);
        return warptime::model::machine::exchange_time(e).total().value();
    };
    CHECK(time("LL", 1 << 10) < time("Simple", 1 << 10));
    CHECK(time("LL", 1 << 28) > time("Simple", 1 << 28));
    // Without a protocol the faster one runs where the library would take it.
    CHECK(time("", 1 << 10) <= time("Simple", 1 << 10));
}

TEST_CASE("short messages to a peer gain by channels, as recorded between two H100s") {
    const auto send = [](std::int64_t bytes, std::string implementation) {
        Problem problem;
        problem.op = Op::send_recv;
        problem.gpus = 2;
        problem.bytes = bytes;
        problem.implementation = std::move(implementation);
        const mk::Exchange e = lower(problem, data(), warptime::hw::find_system("hgx-h100-8"));
        return warptime::model::machine::exchange_time(e).total().value() * 1e6;
    };
    // Fit and development rows of validate/recorded/h100-sxm/collectives.csv.
    CHECK(send(16 << 10, "nccl") == doctest::Approx(5.50).epsilon(0.15));
    CHECK(send(64 << 10, "nccl") == doctest::Approx(5.54).epsilon(0.15));
    CHECK(send(256 << 10, "nccl") == doctest::Approx(7.10).epsilon(0.15));
    CHECK(send(1 << 20, "nccl") == doctest::Approx(11.26).epsilon(0.15));
    CHECK(send(4 << 20, "nccl") == doctest::Approx(21.0).epsilon(0.15));
    // One channel for 64 kB and more, and a peer that waits for the whole of it.
    CHECK(send(64 << 10, "nccl_by_part") > 1.8 * send(64 << 10, "nccl"));
    try {
        (void)send(8, "mpi");
        FAIL("accepted");
    } catch (const warptime::Error& error) {
        CHECK(error.parameter() == "send_recv implementation");
    }
}

TEST_CASE("a broadcast waits on each further hop for a piece of every channel") {
    const auto& system = warptime::hw::find_system("hgx-h100-8");
    const double link = system.link_bandwidth() * system.bulk.efficiency;
    const auto bulk = [](std::int64_t gpus, std::int64_t bytes) {
        Problem problem;
        problem.op = Op::broadcast;
        problem.gpus = gpus;
        problem.bytes = bytes;
        problem.protocol = "Simple";
        const mk::Exchange e = lower(problem, data(), warptime::hw::find_system("hgx-h100-8"));
        return warptime::model::machine::exchange_time(e).total().value();
    };
    // 24 channels of 512 kB: a message of that size crosses each hop whole, one of twice the size adds only
    // itself.
    const std::int64_t whole = std::int64_t{24} * 524288;
    const auto bytes = static_cast<double>(whole);
    for (const std::int64_t gpus : {2, 4, 8}) {
        CAPTURE(gpus);
        const double hops = static_cast<double>(gpus) - 1.0;
        const double ends = system.bulk.start + hops * system.bulk.hop + 524288.0 / system.peer.drain_rate;
        CHECK(bulk(gpus, whole) == doctest::Approx(ends + hops * bytes / link));
        CHECK(bulk(gpus, 2 * whole) - bulk(gpus, whole) == doctest::Approx(bytes / link));
    }
    // Fit and development rows of validate/recorded/h100-sxm/collectives_dense.csv.
    CHECK(bulk(4, 3145728) == doctest::Approx(48.4e-6).epsilon(0.15));
    CHECK(bulk(4, 12582912) == doctest::Approx(131.7e-6).epsilon(0.05));
    CHECK(bulk(2, 12582912) == doctest::Approx(59.2e-6).epsilon(0.05));
}

TEST_CASE("short messages take a channel for each step, and time grows once all channels are taken") {
    const auto flags = [](std::int64_t bytes) {
        Problem problem;
        problem.op = Op::all_gather;
        problem.gpus = 4;
        problem.bytes = bytes;
        problem.protocol = "LL";
        const mk::Exchange e = lower(problem, data(), warptime::hw::find_system("hgx-h100-8"));
        return warptime::model::machine::exchange_time(e).total().value();
    };
    const double rate = warptime::hw::find_system("hgx-h100-8").flag.rate;
    const std::int64_t filled = 4 * 4096;
    CHECK(flags(filled) == doctest::Approx(flags(24 * filled)));
    CHECK(flags(48 * filled) - flags(24 * filled) == doctest::Approx(static_cast<double>(filled) / rate));
}
