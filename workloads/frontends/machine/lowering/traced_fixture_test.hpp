// Kernels of SASS text that run once, with what their warps did kept. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine::fixture {

/// A launch of a program, its counts and its trace. Throws when the launch fails.
class TracedRun {
  public:
    TracedRun(const Program& program, const LaunchShape& shape,
              const std::vector<std::uint64_t>& parameters = {}, int traced_ctas = 4,
              std::size_t most_stretches = 100'000)
        : trace_(most_stretches) {
        RunOptions options;
        options.observer = &trace_;
        options.traced_ctas = traced_ctas;
        counts_ = program.run(shape, parameters, options);
        if (!counts_.error.empty()) {
            throw std::runtime_error(counts_.error);
        }
    }

    [[nodiscard]] const TraceRecorder& trace() const { return trace_; }
    [[nodiscard]] const LaunchCounts& counts() const { return counts_; }
    [[nodiscard]] std::vector<const WarpTrace*> warps() const {
        std::vector<const WarpTrace*> all;
        for (const auto& cta : trace_.ctas()) {
            for (const WarpTrace& warp : cta->warps) {
                all.push_back(&warp);
            }
        }
        return all;
    }

  private:
    TraceRecorder trace_;
    LaunchCounts counts_;
};

/// The lines of all parts, one part behind the other.
inline std::vector<std::string> joined(const std::vector<std::vector<std::string>>& parts) {
    std::vector<std::string> all;
    for (const std::vector<std::string>& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

/// A loop that `rounds` (an operand) says how often to run, 3 instructions a round beside the body, on
/// register `counter` and predicate P5. One more instruction stands before it.
inline std::vector<std::string> counted_loop(const std::string& name, int counter, const std::string& rounds,
                                             const std::vector<std::string>& body) {
    std::vector<std::string> lines{fmt::format("MOV R{}, {}", counter, rounds), name + ":"};
    lines.insert(lines.end(), body.begin(), body.end());
    lines.push_back(fmt::format("IADD3 R{0}, R{0}, -0x1, RZ", counter));
    lines.push_back(fmt::format("ISETP.GT.AND P5, PT, R{}, RZ, PT", counter));
    lines.push_back(fmt::format("@P5 BRA `({})", name));
    return lines;
}

}  // namespace warptime::workloads::frontends::machine::fixture
