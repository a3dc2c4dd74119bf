// Launches of a library for very many products, as decision trees: the likely kernels of a product.
// Ignores: the vendor's own heuristic, which the trees replace.
// Source: picks_*.csv.gz of validate/recorded, learned by scripts/learn_picks.py; README there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "workloads/libraries/gemm_family.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::libraries {

/// How K was split. The word in a file is the enumerator's name, with `:number` for `fill` and `each`.
enum class SplitOfK : std::uint8_t {
    whole,     ///< not at all
    rule,      ///< as the family's rule says
    fill,      ///< so often that each SM has `number` CTAs
    each,      ///< so often that each split has `number` k-iterations
    segments,  ///< into segments that the CTAs of a persistent grid share
};

/// A kernel that was launched.
struct KernelPick {
    int family = -1;  ///< index in Libraries::gemm_families; -1: no known family
    Tile tile;
    ClusterShape cluster;
    SplitOfK split = SplitOfK::whole;
    int number = 0;  ///< for `fill` and `each`
};

/// A question (is the feature at most the threshold?) or a leaf.
struct PickNode {
    int feature = -1;  ///< number in features_of (workloads/choice/library_picks.hpp); -1: a leaf
    double threshold = 0.0;
    int above = 0;            ///< node for the answer no; the next node is for yes. In a leaf: 0
    int count = 0;            ///< picks of all leaves below, or of a leaf
    int first = 0;            ///< place of the first of these picks in leaf_picks
    bool persistent = false;  ///< all of these picks are kernels of persistent families
};

/// The tree of some types, for rows aligned to at least `row_alignment` bytes.
struct PickGroup {
    std::vector<hw::Dtype> dtypes;
    int row_alignment = 0;
    int root = 0;
};

struct PickTable {
    std::vector<std::string> gpus;  ///< ids of the GPUs that the table describes
    int sms = 0;                    ///< of those GPUs
    std::vector<KernelPick> picks;
    std::vector<PickGroup> groups;
    std::vector<PickNode> nodes;
    std::vector<int> leaf_picks;
};

/// Reads a file of picks, whose kernels name `families`. Throws Error naming `origin` and the line.
[[nodiscard]] PickTable read_picks(std::string_view text, std::string_view origin,
                                   const std::vector<GemmFamily>& families);

}  // namespace warptime::workloads::libraries
