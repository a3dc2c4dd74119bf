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
    int numbers = 0;
};

/// ring and tree are those of the textbooks. nvls: the switches add up. direct: sends to each peer.
enum class ExchangeAlgorithm : std::uint8_t { ring, tree, nvls, direct };

struct ExchangeRule {
    std::string op;
    std::vector<ExchangeAlgorithm> algorithms;
    double line_more_per_hop = 0.0;  ///< growth of the most bytes by flags or lines with each hop
    int numbers = 0;
};

}  // namespace warptime::workloads::libraries
