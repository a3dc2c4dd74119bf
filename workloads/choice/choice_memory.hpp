// What the choices of a library's kernel on one GPU leave for later choices: numbers of candidates' bodies.
// Candidates of one kernel have one body for all problems of the same types. So a number and the sizes are
// enough to pass over a candidate without its description.
// Ignores: candidates that split K, and those whose lanes copy or store less than 16 bytes. Their bodies hang
// on the problem's sizes.
// Source: the members of Problem that the lowering of such a configuration reads (kept_lowerings.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "model/prediction/engine.hpp"
#include "workloads/gemm/kept_lowerings.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/picks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::workloads::choice {

/// The body of a pick for problems of some types.
struct KnownBody {
    model::prediction::BodyNumber body = model::prediction::unknown_body;  ///< until it has been lowered
    std::int64_t most_ctas = 0;                                            ///< as gemm::most_ctas
};

/// A pick for a problem, and the seconds that it takes at least.
struct BoundedPick {
    double least = 0.0;
    KnownBody* known = nullptr;  ///< null: see ChoiceMemory::body_of
    gemm::Config config;
};

class ChoiceMemory {
  public:
    /// `gpu` must outlive this object and must not change.
    explicit ChoiceMemory(const hw::Gpu& gpu) : gpu_(&gpu) {}

    /// Begins another list of picks of `table`. Bodies of another table are forgotten. The tables must
    /// outlive this object.
    void begin_picks(const libraries::PickTable& table);
    /// Adds a pick to the list. False if it was there.
    bool add_pick(int number);

    std::vector<BoundedPick> bounded_picks;  ///< room for the picks of a list
    std::vector<std::size_t> order;          ///< room for their order

    /// The body of a pick of the list under this configuration, or null if the problem's sizes change it.
    /// Stays until the next list.
    [[nodiscard]] KnownBody* body_of(int pick, const gemm::Problem& problem, const gemm::Config& config);
    /// Sizes of the launch, once the body has been lowered.
    [[nodiscard]] static model::prediction::LaunchSizes sizes_of(const KnownBody& known,
                                                                 const gemm::Problem& problem,
                                                                 const gemm::Config& config);
    /// Lowers a candidate. The program stays until the next call. `known` may be null.
    [[nodiscard]] const model::kernel::Program& lower(const gemm::Problem& problem,
                                                      const gemm::Config& config, KnownBody* known);

    /// Counts the calls of a score's time in one choice, and which of them was for the kernel chosen last.
    void begin_choice() { calls_ = chosen_call_ = 0; }
    void count_call() { ++calls_; }
    [[nodiscard]] std::size_t calls() const { return calls_; }
    void choose_call(std::size_t call) { chosen_call_ = call; }
    [[nodiscard]] std::size_t chosen_call() const { return chosen_call_; }

  private:
    std::size_t calls_ = 0, chosen_call_ = 0;
    const hw::Gpu* gpu_;
    const libraries::PickTable* table_ = nullptr;
    std::vector<std::uint64_t> seen_;  ///< by pick, the latest list that had it
    std::uint64_t list_ = 0;
    /// Bodies for problems of some types, by pick and schedule.
    struct BodiesOfTypes {
        gemm::OperandTypes types;
        std::vector<KnownBody> bodies;
    };
    std::vector<BodiesOfTypes> known_;  ///< the latest types are the last
    model::prediction::BodyNumber last_body_ = model::prediction::unknown_body;
    model::kernel::Program program_;
};

}  // namespace warptime::workloads::choice
