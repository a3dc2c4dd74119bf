// When each row of a step runs: streams in order, rows that wait for others, engines that copy, a host that
// launches. Rows side by side share the SMs: as long as their CTAs have places at the same time, neither is
// slower, beyond it all slow down alike. Two rows on one copy engine or one link share it alike. Ignores: the
// depth of launch queues, priorities of streams, caches and DRAM that rows side by side share, SMs that an
// exchange takes, and unequal kernels within a row.
// Source: CUDA C++ Programming Guide 13.0, streams, events and graphs; keys launch.*.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warptime::model::system {

/// What a row occupies.
enum class Server : std::uint8_t { sms, copy_in, copy_out, link };
inline constexpr std::size_t server_count = 4;

/// Who works on an activity: the SMs, or an engine that sets or copies memory.
enum class Worker : std::uint8_t { sms, engine };

/// `launches` activities one after the other, `repeat` times over.
struct Row {
    double seconds = 0.0;  ///< device time of the launches together, without gaps
    std::int64_t launches = 1;
    std::int64_t repeat = 1;
    double share = 1.0;  ///< part of the server that the row can fill, above 0 and at most 1
    Server server = Server::sms;
    Worker first = Worker::sms, last = Worker::sms;  ///< of the first and the last activity
    std::int64_t turns = 0;                          ///< changes of the worker within one repeat
    int stream = 0;
    std::vector<std::size_t> after;  ///< rows that must have ended, beside the one before in its stream
};

/// How work reaches the device. eager: the host launches one activity after the other, in the order of the
/// rows. graph: one launch brings all.
enum class Launching : std::uint8_t { eager, graph };

struct Host {
    Launching launching = Launching::graph;
    double each = 0.0;   ///< seconds of the host for an activity (eager)
    double start = 0.0;  ///< seconds of the host before the first activity can begin (graph)
    double gap = 0.0;  ///< seconds from the end of an activity to the start of the next one that waits for it
    double turn = 0.0;  ///< the same where the SMs work on one of the two and an engine on the other
};

/// The host of a step on the GPU: keys launch.host and launch.stream_gap, or launch.graph_host,
/// launch.graph_host_node and launch.graph_other_gap. Between the SMs and an engine a graph waits as long as
/// a stream. `each`: seconds that the host takes for an activity; negative: launch.host.
[[nodiscard]] Host host_of(Launching launching, std::int64_t activities, const hw::Gpu& gpu,
                           double each = -1.0);

inline constexpr std::size_t no_row = static_cast<std::size_t>(-1);

struct Slot {
    double start = 0.0, end = 0.0;  ///< seconds from the host's first launch
    std::size_t cause = no_row;     ///< the row whose end let this row begin; no_row: the host did
};

struct Timetable {
    std::vector<Slot> slots;            ///< of the rows
    double activity = 0.0;              ///< sum of all rows' device time
    double span = 0.0;                  ///< first start to last end
    double host = 0.0;                  ///< the host's own time
    double wall = 0.0;                  ///< until device and host are done
    double waiting = 0.0;               ///< time in which rows were ready but for the host
    std::vector<std::size_t> critical;  ///< rows that led to the last end, in order
};

/// Rows of a circle of waits, in its order; empty where there is none.
[[nodiscard]] std::vector<std::size_t> circle_of(std::span<const Row> rows);

/// Requires rows without a circle, and `after` within the rows.
[[nodiscard]] Timetable timetable_of(std::span<const Row> rows, const Host& host);

}  // namespace warptime::model::system
