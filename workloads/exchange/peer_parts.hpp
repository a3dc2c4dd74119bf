// How a message to one peer is parted among a GPU's channels.
// Ignores: that the last part may be shorter, and the smaller parts of messages that cross a network.
// Source: NVIDIA/nccl src/graph/paths.cc (channels for a peer) and src/enqueue.cc (parts and protocol).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/libraries/exchange_rule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace warptime::workloads::exchange {

struct PeerParts {
    double bytes = 0.0;  ///< of one part; a channel carries one part
    bool taken = true;   ///< false: the library does not send this message as words with flags
};

/// Parts of `bytes` to each of the other GPUs. All peers share the channels that a GPU has by its NVLinks,
/// so that more GPUs leave each fewer; only long messages get more than their share.
[[nodiscard]] inline PeerParts peer_parts(double bytes, std::int64_t gpus, double links,
                                          const libraries::PeerRule& rule, bool flags) {
    const double wished = rule.channels_per_link * std::max(links, 1.0);
    const auto power = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(wished))));
    const double most = std::min(power, rule.most_channels);
    double channels = most;
    while (channels > 1.0 && channels * static_cast<double>(gpus) > most) channels /= 2.0;
    PeerParts parts;
    parts.bytes = std::max(std::min(bytes, flags ? rule.flag_part : rule.bulk_part), bytes / channels);
    while (parts.bytes > rule.most_part && channels <= most / 2.0) {
        channels *= 2.0;
        parts.bytes = bytes / channels;
    }
    if (flags) {
        parts.taken = rule.flags_by_part ? parts.bytes <= rule.flag_most : bytes <= rule.flag_most * most;
    }
    return parts;
}

}  // namespace warptime::workloads::exchange
