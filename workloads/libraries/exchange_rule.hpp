// How a library of exchanges between GPUs works: its protocols, and its algorithms for each operation.
// Ignores: how many SMs its kernels take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::libraries {

/// flag: words whose halves are data and flag. line: lines with a few bytes of flags. bulk: buffers behind
/// one flag.
enum class ProtocolStyle : std::uint8_t { flag, line, bulk };

struct ProtocolRule {
    std::string name;
    ProtocolStyle style = ProtocolStyle::bulk;
    double payload = 1.0;  ///< share of the bytes on a link that are data
    double step = 0.0;     ///< flag: bytes of data that a channel passes on at once
    int numbers = 0;
};

/// ring and tree are those of the textbooks. nvls: the switches add up. direct: sends to each peer.
enum class ExchangeAlgorithm : std::uint8_t { ring, tree, nvls, direct };

/// How sends to a peer are parted among channels. A GPU has channels_per_link for each of its links and at
/// least that many, as a power of two up to most_channels; all peers share them. A part has at least
/// `flag_part` or `bulk_part` bytes, and at most `most_part` while there are channels left. Words with flags
/// carry a message, or by `flags_by_part` a part, of up to `flag_most` bytes for each channel that a peer may
/// have. A channel takes out its last `piece` of what the GPU keeps, and with `drains_received` of what it
/// got from a peer, after all else.
struct PeerRule {
    std::string implementation;
    double channels_per_link = 0.0;
    double most_channels = 0.0;
    double flag_part = 0.0;
    double bulk_part = 0.0;
    double most_part = 0.0;
    double flag_most = 0.0;
    bool flags_by_part = false;
    double piece = 0.0;
    bool drains_received = false;
    int numbers = 0;
};

struct ExchangeRule {
    std::string op;
    std::vector<ExchangeAlgorithm> algorithms;
    double channels = 0.0;    ///< that rings and trees have at most
    double piece = 0.0;       ///< of a channel that each hop has whole before the next one gets it; 0: none
    double line_share = 1.0;  ///< of the most bytes by flags or lines that a ring takes so
    double tree_line_share = 1.0;    ///< the same of a tree
    double line_more_per_hop = 0.0;  ///< growth of the most bytes by flags or lines with each hop
    int numbers = 0;
};

}  // namespace warptime::workloads::libraries
