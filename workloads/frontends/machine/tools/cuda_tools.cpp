// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/tools/cuda_tools.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/process/find_program.hpp"
#include "workloads/frontends/process/process.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

namespace fs = std::filesystem;
using process::find_program;
using process::is_program;
using process::TemporaryFolder;

struct ToolName {
    std::string_view program;
    std::string_view variable;
    std::string_view package;  ///< on PyPI
};

ToolName name_of(CudaTool tool) {
    switch (tool) {
        case CudaTool::nvcc:
            return {"nvcc", "WARPTIME_NVCC", "nvidia-cuda-nvcc"};
        case CudaTool::ptxas:
            return {"ptxas", "WARPTIME_PTXAS", "nvidia-cuda-nvcc"};
        case CudaTool::nvdisasm:
            return {"nvdisasm", "WARPTIME_NVDISASM", "nvidia-cuda-nvdisasm"};
        case CudaTool::cuobjdump:
            return {"cuobjdump", "WARPTIME_CUOBJDUMP", "nvidia-cuda-cuobjdump"};
    }
    return {};
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string(value);
}

/// Runs a tool, which a relative path names from this folder even where it runs in another one.
process::Result run_tool(const fs::path& tool, const std::vector<std::string>& arguments,
                         const fs::path& folder = {}) {
    process::Command command{{fs::absolute(tool).string()}};
    command.words.insert(command.words.end(), arguments.begin(), arguments.end());
    command.directory = folder.string();
    return process::run(std::move(command));
}

/// Folders of programs within those of Python's packages.
std::vector<fs::path> programs_of_packages(const std::vector<fs::path>& roots) {
    std::vector<fs::path> folders;
    for (const fs::path& root : roots) {
        for (const char* below :
             {"nvidia/cu13/bin", "nvidia/cu12/bin", "nvidia/cuda_nvcc/bin", "nvidia/cuda_nvdisasm/bin",
              "nvidia/cuda_cuobjdump/bin", "triton/backends/nvidia/bin"}) {
            folders.push_back(root / below);
        }
    }
    return folders;
}

/// Where the first python3 in PATH usually has its packages: PREFIX/bin/python3 in PREFIX/lib/python3.*.
std::vector<fs::path> usual_python_folders() {
    if (const std::string given = environment("WARPTIME_PYTHON_PACKAGES"); !given.empty()) {
        return programs_of_packages({given});
    }
    std::vector<fs::path> roots;
    const fs::path libraries = fs::path(find_program("python3")).parent_path().parent_path() / "lib";
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(libraries, ignored)) {
        if (entry.path().filename().string().starts_with("python3")) {
            roots.push_back(entry.path() / "site-packages");
            roots.push_back(entry.path() / "dist-packages");
        }
    }
    std::ranges::sort(roots);
    return programs_of_packages(roots);
}

/// Folders of programs that packages of the first python3 in PATH bring along, as it says itself.
std::vector<fs::path> python_folders() {
    std::vector<fs::path> roots;
    if (const std::string python = find_program("python3"); !python.empty()) {
        const process::Result said =
            run_tool(python, {"-c",
                              "import site, sysconfig; print(sysconfig.get_paths()['purelib']); "
                              "print(site.getusersitepackages())"});
        std::istringstream lines(said.output);
        for (std::string root; std::getline(lines, root);) {
            roots.emplace_back(root);
        }
    }
    return programs_of_packages(roots);
}

std::vector<std::byte> read_bytes(const fs::path& path) {
    const std::string text = hw::text_of_file(path.string()).value_or("");
    std::vector<std::byte> bytes(text.size());
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

void write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
    std::ofstream file(path, std::ios::binary);
    std::ranges::for_each(bytes, [&file](std::byte byte) { file.put(static_cast<char>(byte)); });
}

std::string first_lines(const std::string& text, int count) {
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; count > 0 && std::getline(lines, line); --count) {
        kept += (kept.empty() ? "" : "; ") + line;
    }
    return kept;
}

std::vector<std::string> warnings_of(const std::string& text) {
    std::istringstream lines(text);
    std::vector<std::string> warnings;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("arning") != std::string::npos || line.find("Performance Loss") != std::string::npos) {
            warnings.push_back(line);
        }
    }
    return warnings;
}

Compiled finish(const process::Result& result, const fs::path& cubin, const std::string& what) {
    if (result.exit_code != 0) {
        throw Error(what, first_lines(result.errors + result.output, 4), "code that compiles");
    }
    return {read_bytes(cubin), warnings_of(result.errors + result.output)};
}

/// FNV-1a: names files of the cache, beside their length.
std::uint64_t name_hash(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    }
    return hash;
}

fs::path cache_folder() {
    const std::string given = environment("XDG_CACHE_HOME");
    if (!given.empty()) {
        return fs::path(given) / "warptime" / "disassembly";
    }
    const std::string home = environment("HOME");
    return home.empty() ? fs::path{} : fs::path(home) / ".cache" / "warptime" / "disassembly";
}

}  // namespace

fs::path find_tool(CudaTool tool) {
    const ToolName name = name_of(tool);
    const std::string given = environment(std::string(name.variable).c_str());
    if (!given.empty()) {
        if (!is_program(given)) {
            throw Error(std::string(name.variable), given, "the path of a program");
        }
        return given;
    }
    if (const std::string found = find_program(std::string(name.program)); !found.empty()) {
        return found;
    }
    std::vector<fs::path> folders;
    if (const std::string home = environment("CUDA_HOME"); !home.empty()) {
        folders.push_back(fs::path(home) / "bin");
    }
    folders.emplace_back("/usr/local/cuda/bin");
    const auto in_folders = [&name](const std::vector<fs::path>& places) {
        const auto found = std::ranges::find_if(
            places, [&name](const fs::path& folder) { return is_program(folder / name.program); });
        return found == places.end() ? fs::path{} : *found / name.program;
    };
    if (fs::path found = in_folders(folders); !found.empty()) {
        return found;
    }
    if (fs::path found = in_folders(usual_python_folders()); !found.empty()) {
        return found;
    }
    // Python is asked last: its start takes longer than the rest.
    if (environment("WARPTIME_PYTHON_PACKAGES").empty()) {
        if (fs::path found = in_folders(python_folders()); !found.empty()) {
            return found;
        }
    }
    throw Error(
        std::string(name.program), "not found in PATH, CUDA_HOME, /usr/local/cuda or Python's packages",
        fmt::format("the CUDA toolkit, or `pip install {}`, or its path in {}", name.package, name.variable));
}

Compiled compile_cuda(const fs::path& source, std::string_view architecture,
                      std::span<const std::string> options) {
    if (!fs::exists(source)) {
        throw Error("file", source.string(), "a CUDA source that exists");
    }
    const TemporaryFolder folder;
    const fs::path cubin = folder.path() / "kernel.cubin";
    std::vector<std::string> arguments{"-std=c++17", "-O3", "-lineinfo", "-arch=" + std::string(architecture),
                                       "-cubin"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"-o", cubin.string(), source.string()});
    return finish(run_tool(find_tool(CudaTool::nvcc), arguments), cubin, source.string());
}

Compiled compile_ptx(std::string_view ptx, std::string_view architecture) {
    const TemporaryFolder folder;
    const fs::path source = folder.path() / "kernel.ptx";
    const fs::path cubin = folder.path() / "kernel.cubin";
    std::ofstream(source) << ptx;
    return finish(run_tool(find_tool(CudaTool::ptxas), {"-O3", "-arch=" + std::string(architecture), "-o",
                                                        cubin.string(), source.string()}),
                  cubin, "ptx");
}

std::vector<FatImage> images_of_fat_binary(std::span<const std::byte> fat_binary) {
    const TemporaryFolder folder;
    write_bytes(folder.path() / "module.fatbin", fat_binary);
    const fs::path tool = find_tool(CudaTool::cuobjdump);
    std::vector<FatImage> images;
    for (const char* kind : {"-xelf", "-xptx"}) {
        // cuobjdump writes into the folder that it runs in.
        (void)run_tool(tool, {kind, "all", "module.fatbin"}, folder.path());
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path())) {
        files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        const std::string name = file.filename().string();
        const std::size_t at = name.find("sm_");
        if (at == std::string::npos) {
            continue;
        }
        FatImage image;
        image.ptx = file.extension() == ".ptx";
        char* end = nullptr;
        image.architecture = static_cast<int>(std::strtol(name.c_str() + at + 3, &end, 10));
        image.specific = end != nullptr && *end == 'a';
        image.bytes = read_bytes(file);
        images.push_back(std::move(image));
    }
    return images;
}

std::string disassembly_json(std::span<const std::byte> cubin) {
    const fs::path tool = find_tool(CudaTool::nvdisasm);
    const std::string_view bytes(reinterpret_cast<const char*>(cubin.data()), cubin.size());
    std::error_code ignored;
    const auto tool_size = fs::file_size(tool, ignored);
    const fs::path cache = cache_folder();
    const fs::path known =
        cache / fmt::format("{:016x}-{}-{}.json", name_hash(bytes), cubin.size(), tool_size);
    if (!cache.empty()) {
        if (std::optional<std::string> text = hw::text_of_file(known.string())) {
            return *std::move(text);
        }
    }
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "kernel.cubin";
    write_bytes(file, cubin);
    process::Result result = run_tool(tool, {"--emit-json", file.string()});
    if (result.exit_code != 0) {
        throw Error("cubin", first_lines(result.errors + result.output, 3), "one that nvdisasm can read");
    }
    if (!cache.empty()) {
        fs::create_directories(cache, ignored);
        const fs::path fresh = known.string() + fmt::format(".{}", getpid());
        std::ofstream(fresh, std::ios::binary) << result.output;
        fs::rename(fresh, known, ignored);  // Readers see a whole file or none.
    }
    return result.output;
}

}  // namespace warptime::workloads::frontends::machine
