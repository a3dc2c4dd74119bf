// What a profiler saw: kernels with their launches and times, and the calls of PyTorch that launched each.
// Ignores: the host's own time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::traces {

inline constexpr std::size_t no_call = static_cast<std::size_t>(-1);

struct TracedTensor {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> stride;  ///< empty where the profiler did not record strides
    std::string dtype;                 ///< Warptime's name, empty for a type that it does not know
};

/// One argument of a call: a tensor, a list of tensors, or the text of a number, list or flag.
struct TracedArgument {
    std::vector<TracedTensor> tensors;
    bool is_list = false;
    std::string text;
};

/// A call of an operator, as `aten::mm`, with the arguments that the profiler recorded.
struct TracedCall {
    std::string name;
    std::vector<TracedArgument> arguments;
};

enum class TracedKind : std::uint8_t { kernel, memcpy, memset };
[[nodiscard]] std::string_view to_string(TracedKind kind);

/// One device activity.
struct TracedKernel {
    TracedKind kind = TracedKind::kernel;
    std::string name;
    std::string grid, block;  ///< "64x1x1"
    std::int64_t stream = 0;
    double start_us = 0.0;
    double us = 0.0;
    double bytes = 0.0;                      ///< of a copy or set
    std::size_t call = no_call;              ///< index into Profile::calls
    std::map<std::string, double> counters;  ///< of Nsight Compute, in base units
};

struct Profile {
    std::string board;                  ///< product name of the GPU, empty where the file does not say
    std::vector<TracedKernel> kernels;  ///< in the order of their starts
    std::vector<TracedCall> calls;
    bool has_times = true;  ///< whether starts are known, as in a trace
};

/// Reads a profile by its form: a Kineto or Chrome trace (JSON), or a table of Nsight Compute (CSV); either
/// may be gzipped. Throws Error naming `name`.
[[nodiscard]] Profile read_profile(std::string bytes, const std::string& name);

/// A trace as torch.profiler writes it. Throws Error for text that ends early (with the offset), a trace of
/// another vendor's GPU, and one without kernels.
[[nodiscard]] Profile read_trace(std::string_view text, const std::string& name);

/// A table as `ncu --csv` prints it, by page `raw` or `details`. Throws Error for missing columns.
[[nodiscard]] Profile read_nsight_csv(const std::string& text, const std::string& name);

}  // namespace warptime::workloads::traces
