// NVIDIA's compiler and disassembler as programs: where they are, and how they are run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

enum class CudaTool { nvcc, ptxas, nvdisasm, cuobjdump };

/// Path of the program. Looked for in: the environment variable WARPTIME_NVCC (_PTXAS, _NVDISASM,
/// _CUOBJDUMP), PATH, $CUDA_HOME/bin and /usr/local/cuda/bin, NVIDIA's Python packages (nvidia/cu13/bin,
/// nvidia/cuda_nvcc/bin, ...) and the triton package beside the `python3` of PATH or under
/// WARPTIME_PYTHON_PACKAGES. Throws Error that says where it looked and how to install it.
[[nodiscard]] std::filesystem::path find_tool(CudaTool tool);

struct Compiled {
    std::vector<std::byte> cubin;
    std::vector<std::string> warnings;  ///< of ptxas and nvcc: "C7515: Potential Performance Loss: ..."
};

/// Compiles a .cu file for the architecture ("sm_90a") by nvcc -O3 -lineinfo and `options`. Throws Error with
/// the compiler's first errors.
[[nodiscard]] Compiled compile_cuda(const std::filesystem::path& source, std::string_view architecture,
                                    std::span<const std::string> options = {});

/// Compiles PTX text by ptxas.
[[nodiscard]] Compiled compile_ptx(std::string_view ptx, std::string_view architecture);

/// Images inside a fat binary: cubins and PTX by architecture, by cuobjdump.
struct FatImage {
    bool ptx = false;
    int architecture = 0;
    bool specific = false;  ///< sm_90a
    std::vector<std::byte> bytes;
};
[[nodiscard]] std::vector<FatImage> images_of_fat_binary(std::span<const std::byte> fat_binary);

/// JSON disassembly of a cubin by nvdisasm --emit-json. Results are kept in the user's cache folder
/// (XDG_CACHE_HOME/warptime/disassembly, named by a hash of cubin and tool), since the tool takes half a
/// second to start.
[[nodiscard]] std::string disassembly_json(std::span<const std::byte> cubin);

}  // namespace warptime::workloads::frontends::machine
