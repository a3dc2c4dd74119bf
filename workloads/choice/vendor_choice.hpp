// Imitates a vendor library's choice of kernel: the candidate with the shortest predicted time.
// Candidates are the kernels that the library was seen to launch for similar products (library_picks.hpp).
// Where nothing was seen, all tiles that the library ships are candidates.
// Ignores: the vendor's own heuristic, which is not public.
// Source: names, grids, split-K and memset rules, decoded from recorded kernel names (cuBLAS 13.1 on H200).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "model/prediction/engine.hpp"
#include "workloads/choice/choice_memory.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace warptime::workloads::choice {

/// A kernel that the library might launch. `body`: the number of its first kernel in a ChoiceMemory.
/// `bounded`: the score has bounded its time by sizes, below the limit.
struct Candidate {
    const model::kernel::Program& program;
    model::prediction::BodyNumber body = model::prediction::unknown_body;
    bool bounded = false;
};

/// Predicted seconds of candidates.
struct Score {
    using Time = std::function<double(const Candidate&, double limit)>;
    using Least = std::function<double(model::prediction::BodyNumber, const model::prediction::LaunchSizes&,
                                       double limit)>;

    using Clear = std::function<double(std::int64_t bytes)>;

    Score(Time of_candidate, Least of_body, Clear of_memory = nullptr)
        : time(std::move(of_candidate)), least(std::move(of_body)), clear(std::move(of_memory)) {}
    /// A score that knows programs alone.
    template <class OfProgram>
    requires std::is_invocable_r_v<double, OfProgram, const model::kernel::Program&, double> Score(
        OfProgram of_program)
        : time([of_program](const Candidate& candidate, double limit) {
              return of_program(candidate.program, limit);
          }) {}

    /// For a candidate that takes at least `limit`, the time may be infinity.
    Time time;
    /// Seconds that `time` does not fall below, or at least `limit` if `time` does not either. For candidates
    /// whose body `time` has seen; null: nothing is known before.
    Least least;
    /// Seconds of a step that clears so many bytes before the kernel; null: not known.
    Clear clear;
};

/// The number of splits to try after `split` in families whose splits are searched; 0: the search ends.
[[nodiscard]] int next_split(const libraries::GemmFamily& family, const gemm::Config& config,
                             std::int64_t k_iterations, int split);

/// The configuration with the best score. Throws Error when no family of the library serves this GPU and
/// dtype. `memory` must be of this GPU.
gemm::Config choose_vendor_kernel(const gemm::Problem& problem,
                                  const std::vector<libraries::GemmFamily>& families, const hw::Gpu& gpu,
                                  const Score& score, ChoiceMemory& memory);

/// Does the same among the kernels that the library was seen to launch for such products, where launches are
/// recorded.
gemm::Config choose_vendor_kernel(const gemm::Problem& problem, const libraries::Libraries& libraries,
                                  const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory);

/// What a user should know of the choice for a problem: that kernels were read off public names only, and
/// that predicted times alone chose among them. Empty where launches were recorded.
[[nodiscard]] std::string caution_of_choice(const gemm::Problem& problem,
                                            const std::vector<libraries::GemmFamily>& families,
                                            const hw::Gpu& gpu);

}  // namespace warptime::workloads::choice
