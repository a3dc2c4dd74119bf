// Counts steps and bytes. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/shape.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace warptime::workloads::exchange {

namespace {

using libraries::ExchangeAlgorithm;

/// Each of the ring's rounds passes a piece on; a turn of the ring leaves every box once. The GPUs of a box
/// share the box's part of the rings, so each one's adapter carries that share.
Shape ring(const Exchanged& e) {
    const auto n = static_cast<double>(e.gpus);
    const auto boxes = static_cast<double>(e.boxes);
    const bool twice = e.op == Op::all_reduce;
    const double rounds = (twice ? 2.0 : 1.0) * (n - 1.0);
    Shape s;
    s.bytes_within = e.op == Op::broadcast ? e.bytes : rounds * e.bytes / n;
    s.hops_across = e.boxes > 1 ? rounds * boxes / n : 0.0;
    s.hops_within = rounds - s.hops_across;
    s.bytes_across = e.boxes > 1 ? s.bytes_within / e.per_box() : 0.0;
    s.own_bytes = e.op == Op::broadcast ? 0.0 : e.bytes / n;
    s.handled_bytes = s.bytes_within + s.own_bytes;
    return s;
}

/// A chain within each box and two binary trees between boxes, up for the sum and down for the result.
Shape tree(const Exchanged& e) {
    const double ways = e.op == Op::all_reduce ? 2.0 : 1.0;
    Shape s;
    s.hops_within = ways * (e.per_box() - 1.0);
    s.hops_across = ways * std::ceil(std::log2(static_cast<double>(e.boxes)));
    // The ends of a chain send one way, the GPUs between them both ways.
    s.bytes_within = e.per_box() > 2.0 ? ways * e.bytes : e.per_box() > 1.0 ? e.bytes : 0.0;
    s.bytes_across = e.boxes > 1 ? ways * e.bytes / e.per_box() : 0.0;
    s.own_bytes = e.op == Op::broadcast ? 0.0 : e.bytes / static_cast<double>(e.gpus);
    s.handled_bytes = std::max(s.bytes_within, s.bytes_across) + s.own_bytes;
    return s;
}

/// The switches fetch every GPU's data and add up, then give the share of results that each GPU passes on to
/// all. Between boxes a tree adds up the shares.
Shape nvls(const Exchanged& e) {
    Shape s;
    s.hops_across = 2.0 * std::ceil(std::log2(static_cast<double>(e.boxes)));
    s.bytes_within = e.bytes * (1.0 + 1.0 / e.per_box());
    s.bytes_across = e.boxes > 1 ? 2.0 * e.bytes / e.per_box() : 0.0;
    return s;
}

Shape direct(const Exchanged& e) {
    const auto n = static_cast<double>(e.gpus);
    Shape s;
    s.hops_within = n - 1.0;
    if (e.op == Op::send_recv) {
        s.hops_within = 1.0;
        (e.boxes > 1 ? s.bytes_across : s.bytes_within) = e.bytes;
        s.handled_bytes = e.bytes;
        return s;
    }
    s.bytes_within = e.bytes / n * (e.per_box() - 1.0);
    s.bytes_across = e.bytes / n * (n - e.per_box());
    s.own_bytes = e.bytes / n;
    s.handled_bytes = e.bytes;
    return s;
}

}  // namespace

Shape shape_of(const Exchanged& exchanged, ExchangeAlgorithm algorithm) {
    const bool peers = exchanged.op == Op::all_to_all || exchanged.op == Op::send_recv;
    const bool sums = exchanged.op == Op::all_reduce;
    switch (algorithm) {
        case ExchangeAlgorithm::ring:
            if (!peers) return ring(exchanged);
            break;
        case ExchangeAlgorithm::tree:
            if (sums || exchanged.op == Op::broadcast) return tree(exchanged);
            break;
        case ExchangeAlgorithm::nvls:
            if (sums) return nvls(exchanged);
            break;
        case ExchangeAlgorithm::direct:
            if (peers) return direct(exchanged);
            break;
    }
    throw Error("exchange algorithm", std::to_string(static_cast<int>(algorithm)),
                "one that the operation has");
}

}  // namespace warptime::workloads::exchange
