// A launch of a compiled kernel: CUDA source, PTX or cubin becomes machine code, runs without a GPU, and is
// described.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends {

/// What the user gives, as text; empty where not given.
struct CompiledLaunch {
    std::string file;  ///< .cu, .ptx or .cubin
    std::string name;  ///< of the kernel; may be left out where the file has one
    std::string grid;  ///< "64", "64x64" or "64x64x2"
    std::string block;
    std::string cluster;
    std::string dynamic_shared;  ///< bytes
    std::string args;            ///< "buffer:33554432 buffer:4096:random 4096 1.5f"
};

struct DescribedLaunch {
    model::kernel::Kernel kernel;
    std::vector<std::string> warnings;  ///< of the compiler and the assembler
};

/// True for the names of files that hold code instead of a description.
[[nodiscard]] bool is_compiled(std::string_view file);

/// Checks all that can be checked without compiling. Throws Error naming the parameter.
void check_launch(const CompiledLaunch& launch);

/// Compiles for the GPU, runs the launch within `budget` warp-instructions as that GPU would, and describes
/// it. Throws Error for code that does not compile, an unknown kernel, wrong arguments, and what goes wrong
/// while it runs.
[[nodiscard]] DescribedLaunch describe_launch(const CompiledLaunch& launch, const hw::Gpu& gpu,
                                              std::uint64_t budget = 30'000'000);

}  // namespace warptime::workloads::frontends
