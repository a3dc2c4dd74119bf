// What a library launched when it was asked for a mass of products, as decision trees: which kernels to look
// for in which products. Ignores: the vendor's own heuristic, which the trees stand in for. Source:
// picks_*.csv.gz of validate/recorded, learned by scripts/learn_picks.py; README there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "workloads/libraries/gemm_family.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::libraries {

/// How K was split; the word of a file is that of the enumerator, with `:number` where one says how often.
enum class SplitOfK : std::uint8_t {
    whole,     ///< not at all
    rule,      ///< as the family's rule says
    fill,      ///< into as many as give each SM `number` CTAs
    each,      ///< into as many as have `number` k-iterations each
    segments,  ///< among the CTAs of a persistent grid
};

/// A kernel as it was launched.
struct KernelPick {
    int family = -1;  ///< of Libraries::gemm_families; -1: none that is known
    Tile tile;
    ClusterShape cluster;
    SplitOfK split = SplitOfK::whole;
    int number = 0;  ///< of `fill` and `each`
};

/// A question (is the feature at most the threshold?) or a leaf.
struct PickNode {
    int feature = -1;  ///< of features_of (workloads/choice/library_picks.hpp); -1: a leaf
    double threshold = 0.0;
    int above = 0;  ///< node where the answer is no; the next one where it is yes. In a leaf: its first pick
    int count = 0;  ///< picks of a leaf
};

/// The tree of some types, for rows of an alignment from `row_alignment` on.
struct PickGroup {
    std::vector<hw::Dtype> dtypes;
    int row_alignment = 0;
    int root = 0;
};

struct PickTable {
    std::vector<std::string> gpus;  ///< ids of the chips that it speaks of
    int sms = 0;                    ///< of those chips
    std::vector<KernelPick> picks;
    std::vector<PickGroup> groups;
    std::vector<PickNode> nodes;
    std::vector<int> leaf_picks;
};

/// Reads a file of picks, which names kernels by `families`. Throws Error naming `origin` and the line.
[[nodiscard]] PickTable read_picks(std::string_view text, std::string_view origin,
                                   const std::vector<GemmFamily>& families);

}  // namespace warptime::workloads::libraries
