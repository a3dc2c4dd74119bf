// Prices every algorithm and protocol that the library may take, and keeps the fastest. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/lower.hpp"

#include "hw/error.hpp"
#include "model/machine/links/exchange.hpp"
#include "workloads/exchange/peer_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warptime::workloads::exchange {

namespace {

namespace mk = model::kernel;
using libraries::ExchangeAlgorithm;
using libraries::ProtocolRule;
using libraries::ProtocolStyle;

constexpr std::array<std::string_view, 6> op_names{"all_reduce", "all_gather", "reduce_scatter",
                                                   "all_to_all", "broadcast",  "send_recv"};
constexpr std::array<std::string_view, 4> algorithm_names{"ring", "tree", "nvls", "direct"};

/// Bytes that a link carries for bytes of data, at the share of its bandwidth that is reached.
mk::ExchangeLink within_box(double hops, double hop, double bytes, double payload, double efficiency,
                            const hw::System& system) {
    return {hops, hop, bytes / payload, system.link_bandwidth() * efficiency};
}

mk::ExchangeLink across_boxes(double hops, double hop, double bytes, double payload,
                              const hw::System& system) {
    return {hops, hop, bytes / payload, system.network.bandwidth * system.network.efficiency};
}

/// Start, hops and bytes of a ring or tree by one protocol, over links within the box and across boxes.
mk::Exchange over_links(const Shape& s, const ProtocolRule& protocol, double start, double hop,
                        double network_hop, const hw::System& system) {
    mk::Exchange e;
    e.start_seconds = start;
    e.links[0] =
        within_box(s.hops_within, hop, s.bytes_within, protocol.payload, system.bulk.efficiency, system);
    e.links[1] = across_boxes(s.hops_across, network_hop, s.bytes_across, protocol.payload, system);
    return e;
}

/// A message takes as many channels as it fills with a step for each GPU. What passes through whole has a
/// step under way on each further hop. The channels or the links set the pace, whichever are slower.
mk::Exchange by_flags(const Exchanged& exchanged, const Shape& s, const libraries::ExchangeRule& rule,
                      const ProtocolRule& protocol, const hw::System& system) {
    mk::Exchange e =
        over_links(s, protocol, system.flag.start, system.flag.hop, system.network.flag_hop, system);
    const double channels = std::clamp(
        exchanged.bytes / (static_cast<double>(exchanged.gpus) * protocol.step), 1.0, rule.channels);
    double handled = s.handled_bytes / channels;
    if (rule.piece > 0.0) {
        handled +=
            (s.hops_within + s.hops_across - 1.0) * std::min(exchanged.bytes / channels, protocol.step);
    }
    mk::ExchangeLink& within = e.links[0];
    if (within.bytes / within.bytes_per_second >= handled / system.flag.rate) return e;
    within.bytes = 0.0;
    e.handled_bytes = handled;
    e.handled_per_second = system.flag.rate;
    return e;
}

mk::Exchange by_lines(const Shape& s, const ProtocolRule& protocol, const hw::System& system) {
    mk::Exchange e =
        over_links(s, protocol, system.line.start, system.line.hop, system.network.line_hop, system);
    e.handled_bytes = s.handled_bytes;
    e.handled_per_second = system.line.rate;
    return e;
}

mk::Exchange by_buffers(const Exchanged& exchanged, const Shape& s, const libraries::ExchangeRule& rule,
                        const ProtocolRule& protocol, const hw::System& system) {
    mk::Exchange e =
        over_links(s, protocol, system.bulk.start, system.bulk.hop, system.network.bulk_hop, system);
    if (rule.piece > 0.0) {
        // Each further hop waits for a piece of every channel, and the last one takes its piece out.
        const double piece = std::min(exchanged.bytes / rule.channels, rule.piece);
        e.links[0].bytes += std::max(s.hops_within - 1.0, 0.0) * rule.channels * piece;
        if (system.peer.drain_rate > 0.0) {
            e.handled_bytes = piece;
            e.handled_per_second = system.peer.drain_rate;
        }
        return e;
    }
    // The hops within a box are also the stages of a pipeline.
    e.handled_bytes = s.own_bytes;
    e.handled_per_second = system.bulk.copy_rate;
    e.fill_seconds = system.bulk.fill * s.hops_within;
    return e;
}

/// Rings and trees by one protocol.
mk::Exchange stepwise(const Exchanged& exchanged, const Shape& s, const libraries::ExchangeRule& rule,
                      const ProtocolRule& protocol, const hw::System& system) {
    switch (protocol.style) {
        case ProtocolStyle::flag:
            return by_flags(exchanged, s, rule, protocol, system);
        case ProtocolStyle::line:
            return by_lines(s, protocol, system);
        case ProtocolStyle::bulk:
            break;
    }
    return by_buffers(exchanged, s, rule, protocol, system);
}

mk::Exchange in_switches(const Shape& s, const hw::System& system) {
    mk::Exchange e;
    e.start_seconds = system.in_switch.start;
    e.links[0] = within_box(0.0, 0.0, s.bytes_within, 1.0, system.in_switch.efficiency, system);
    e.links[1] = across_boxes(s.hops_across, system.network.flag_hop, s.bytes_across, 1.0, system);
    e.fill_seconds = system.in_switch.fill;
    return e;
}

/// Sends to all peers at once, each message in parts through channels of its own.
mk::Exchange to_peers(const Shape& s, double part, const libraries::PeerRule& rule,
                      const ProtocolRule& protocol, const hw::System& system) {
    mk::Exchange e;
    const double peers = s.hops_within;
    const double message = (s.bytes_within + s.bytes_across) / peers;
    const bool flag = protocol.style == ProtocolStyle::flag;
    e.start_seconds = (flag ? system.peer.start : system.peer.bulk_start) + peers * system.peer.each;
    const double network = s.bytes_across > 0.0 ? 1.0 : 0.0;
    e.links[0] = within_box(0.0, 0.0, s.bytes_within, protocol.payload, system.peer.efficiency, system);
    e.links[1] = across_boxes(network, flag ? system.network.flag_hop : system.network.bulk_hop,
                              s.bytes_across, protocol.payload, system);
    if (flag) {
        e.handled_bytes = part;
        e.handled_per_second = system.peer.flag_rate;
    } else {
        // As fast as the links or as all channels, whichever is slower. Then channels take out their last
        // pieces, unless they read from their peers.
        const double channels = peers * message / part;
        e.links[0].bytes_per_second =
            std::min(e.links[0].bytes_per_second, channels * system.peer.channel_rate);
        e.fill_seconds = system.peer.fill;
        const double pieces = (rule.drains_received ? 1.0 : 0.0) + (s.own_bytes > 0.0 ? 1.0 : 0.0);
        const double last = pieces * std::min(part, rule.piece);
        double handling = 0.0;
        if (system.peer.drain_rate > 0.0) handling += last / system.peer.drain_rate;
        if (system.peer.own_rate > 0.0) handling += s.own_bytes / system.peer.own_rate;
        if (handling > 0.0) {
            e.handled_bytes = last + s.own_bytes;
            e.handled_per_second = e.handled_bytes / handling;
        }
    }
    return e;
}

const libraries::ExchangeRule& rule_of(Op op, const libraries::Libraries& libraries) {
    for (const libraries::ExchangeRule& rule : libraries.exchange_rules) {
        if (rule.op == name_of(op)) return rule;
    }
    throw Error("op", std::string(name_of(op)), "an operation of a library of exchanges");
}

const libraries::PeerRule& peer_rule(const Problem& problem, const libraries::Libraries& libraries) {
    std::string known;
    for (const libraries::PeerRule& rule : libraries.peer_rules) {
        if (rule.implementation == problem.implementation) return rule;
        known += (known.empty() ? "" : " or ") + rule.implementation;
    }
    throw Error(fmt::format("{} implementation", name_of(problem.op)), problem.implementation, known);
}

/// Why an algorithm cannot run here; empty where it can.
std::string obstacle(ExchangeAlgorithm algorithm, const Problem& problem, const libraries::ExchangeRule& rule,
                     const hw::System& system) {
    if (std::find(rule.algorithms.begin(), rule.algorithms.end(), algorithm) == rule.algorithms.end()) {
        std::string known;
        for (const ExchangeAlgorithm one : rule.algorithms) {
            known += (known.empty() ? "" : " or ") + std::string(name_of(one));
        }
        return fmt::format("{}, which {} has", known, name_of(problem.op));
    }
    if (algorithm != ExchangeAlgorithm::nvls) return {};
    if (!problem.protocol.empty()) return "ring or tree beside a protocol";
    if (system.nvlink.reduction == 0.0) return "another: the switches of " + system.id + " do not add up";
    if (!problem.summed_in_switches) return "another: the switches do not add elements of this type";
    return {};
}

}  // namespace

std::string_view name_of(Op op) {
    return op_names[static_cast<std::size_t>(op)];
}

std::string_view name_of(ExchangeAlgorithm algorithm) {
    return algorithm_names[static_cast<std::size_t>(algorithm)];
}

bool switches_add(hw::Dtype dtype) {
    return dtype == hw::Dtype::fp16 || dtype == hw::Dtype::bf16 || dtype == hw::Dtype::fp32 ||
           dtype == hw::Dtype::int32;
}

std::int64_t boxes_of(const Problem& problem, const hw::System& system) {
    const auto box = static_cast<std::int64_t>(system.box.gpus);
    const auto most = static_cast<std::int64_t>(system.box.most_gpus);
    const std::string owner = fmt::format("{} gpus", name_of(problem.op));
    if (problem.gpus < 2 || problem.gpus > most) {
        throw Error(owner, std::to_string(problem.gpus), fmt::format("2 to {} GPUs of {}", most, system.id));
    }
    if (problem.boxes > 0) {
        if (problem.gpus % problem.boxes != 0 || problem.gpus / problem.boxes > box) {
            throw Error(
                fmt::format("{} boxes", name_of(problem.op)), std::to_string(problem.boxes),
                fmt::format("boxes that share {} GPUs evenly, at most {} in each", problem.gpus, box));
        }
        if (problem.boxes > 1 && !(system.network.bandwidth > 0.0)) {
            throw Error(fmt::format("{} boxes", name_of(problem.op)), std::to_string(problem.boxes),
                        fmt::format("1: no network joins boxes of {}", system.id));
        }
        return problem.boxes;
    }
    if (problem.gpus <= box) return 1;
    if (problem.gpus % box != 0) {
        throw Error(owner, std::to_string(problem.gpus),
                    fmt::format("at most {}, or full boxes of {} GPUs ({})", box, box, system.id));
    }
    return problem.gpus / box;
}

mk::Exchange lower(const Problem& problem, const libraries::Libraries& libraries, const hw::System& system) {
    const std::int64_t boxes = boxes_of(problem, system);
    const libraries::ExchangeRule& rule = rule_of(problem.op, libraries);
    if (problem.algorithm) {
        std::string expected = obstacle(*problem.algorithm, problem, rule, system);
        if (!expected.empty()) {
            throw Error(fmt::format("{} algorithm", name_of(problem.op)),
                        std::string(name_of(*problem.algorithm)), std::move(expected));
        }
    }
    const Exchanged exchanged{problem.op, problem.gpus, boxes, static_cast<double>(problem.bytes)};
    std::optional<mk::Exchange> best;
    double best_time = 0.0;
    const auto offer = [&](mk::Exchange&& e, ExchangeAlgorithm algorithm, std::string_view protocol) {
        const double time = model::machine::exchange_time(e).total().value();
        if (best && !(time < best_time)) return;
        best_time = time;
        e.name = fmt::format("{} {}{}{}", name_of(problem.op), name_of(algorithm),
                             protocol.empty() ? "" : " ", protocol);
        best = std::move(e);
    };
    for (const ExchangeAlgorithm algorithm : rule.algorithms) {
        if (problem.algorithm && *problem.algorithm != algorithm) continue;
        if (!obstacle(algorithm, problem, rule, system).empty()) continue;
        const Shape s = shape_of(exchanged, algorithm);
        if (algorithm == ExchangeAlgorithm::nvls) {
            offer(in_switches(s, system), algorithm, {});
            continue;
        }
        const double hops = s.hops_within + s.hops_across;
        const double share = algorithm == ExchangeAlgorithm::tree ? rule.tree_line_share : rule.line_share;
        const double most = share * system.line.most * (1.0 + rule.line_more_per_hop * hops);
        for (const ProtocolRule& protocol : libraries.protocol_rules) {
            if (algorithm == ExchangeAlgorithm::direct) {
                if (protocol.style == ProtocolStyle::line) continue;
                const libraries::PeerRule& peers = peer_rule(problem, libraries);
                const double message = (s.bytes_within + s.bytes_across) / s.hops_within;
                const PeerParts parts = peer_parts(message, problem.gpus, system.nvlink.links, peers,
                                                   protocol.style == ProtocolStyle::flag);
                if (!parts.taken) continue;
                offer(to_peers(s, parts.bytes, peers, protocol, system), algorithm, protocol.name);
            } else if (!problem.protocol.empty()
                           ? protocol.name == problem.protocol
                           : protocol.style == ProtocolStyle::bulk || s.handled_bytes <= most) {
                offer(stepwise(exchanged, s, rule, protocol, system), algorithm, protocol.name);
            }
        }
    }
    best->bytes = problem.bytes;
    best->band = system.band.exchange;
    best->evidence = system.calibrated && boxes == 1 ? mk::Evidence::own : mk::Evidence::any;
    return *best;
}

}  // namespace warptime::workloads::exchange
