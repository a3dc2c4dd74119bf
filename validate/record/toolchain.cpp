// Finds nvcc, CUPTI and the other things that suites need.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/toolchain.hpp"

#include "hw/error.hpp"
#include "validate/split.hpp"
#include "workloads/frontends/process/find_program.hpp"
#include "workloads/frontends/process/watched_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

namespace warptime::validate::record {
namespace {

namespace fs = std::filesystem;
namespace process = workloads::frontends::process;
using process::capture;
using process::find_program;

constexpr std::chrono::seconds longest_compilation(300);

std::string variable(const char* name) {
    const char* found = std::getenv(name);
    return found != nullptr ? found : "";
}

/// Folders that may hold include/cupti.h: first the toolkit's, then those of PyTorch's packages.
std::vector<fs::path> cupti_roots(const std::string& nvcc) {
    std::error_code ignored;
    const fs::path real = fs::canonical(nvcc, ignored);
    const fs::path toolkit = (real.empty() ? fs::path(nvcc) : real).parent_path().parent_path();
    std::vector<fs::path> roots = {toolkit, toolkit / "extras" / "CUPTI", "/usr/local/cuda",
                                   "/usr/local/cuda/extras/CUPTI"};
    if (find_program("python3").empty()) return roots;
    const process::Captured found =
        capture({{"python3", "-c",
                  "import glob, sysconfig\n"
                  "print(*glob.glob(sysconfig.get_paths()['purelib'] + '/nvidia/*/'), "
                  "sep='\\n')"}},
                std::chrono::seconds(20));
    std::istringstream lines(found.output);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty()) roots.emplace_back(line);
    }
    return roots;
}

std::vector<fs::path> cupti_libraries(const fs::path& root) {
    std::set<fs::path> found;
    for (const char* folder : {"lib64", "lib"}) {
        std::error_code missing;
        for (const fs::directory_entry& entry : fs::directory_iterator(root / folder, missing)) {
            if (entry.path().filename().string().compare(0, 11, "libcupti.so") == 0)
                found.insert(entry.path());
        }
    }
    return {found.begin(), found.end()};
}

std::vector<std::string> compile_words(const Toolchain& toolchain, const fs::path& source,
                                       const fs::path& program) {
    std::vector<std::string> words = {toolchain.nvcc};
    words.insert(words.end(), toolchain.flags.begin(), toolchain.flags.end());
    words.insert(words.end(), {source.string(), "-o", program.string()});
    return words;
}

bool try_cupti(const Toolchain& toolchain, const fs::path& scratch) {
    const fs::path source = scratch / "try_cupti.cu";
    std::ofstream(source) << "#include <cupti.h>\n"
                             "int main() {\n"
                             "    CUpti_ActivityKernel10* record = nullptr;\n"
                             "    return record != nullptr || cuptiActivityFlushAll(0) != CUPTI_SUCCESS;\n"
                             "}\n";
    return capture({compile_words(toolchain, source, scratch / "try_cupti")}, longest_compilation)
        .outcome.fine();
}

std::string first_lines(const std::string& text, int count) {
    std::istringstream lines(text);
    std::string found;
    for (std::string line; count > 0 && std::getline(lines, line); --count) found += line + "\n";
    return found;
}

Built build(const Toolchain& toolchain, const Suite& suite, const fs::path& sources, const fs::path& folder,
            const std::function<bool()>& go_on) {
    const std::string key =
        fmt::format("{} {}", fingerprint_of(suite, sources), fmt::join(toolchain.flags, " "));
    Built built;
    built.program = folder / fmt::format("{}-{:016x}", suite.name, fnv1a_64(key));
    if (!find_program(built.program.string()).empty()) return built;
    const fs::path partial = built.program.string() + ".new";
    std::string said;
    process::Listener listener;
    listener.output = [&](std::string_view line) { said.append(line).append("\n"); };
    listener.errors = listener.output;
    listener.go_on = go_on;
    const process::Outcome outcome = process::watch({compile_words(toolchain, suite.probe, partial)},
                                                    listener, process::Clock::now() + longest_compilation);
    std::error_code failure;
    if (outcome.fine()) fs::rename(partial, built.program, failure);
    if (!outcome.fine() || failure) {
        built.failure = first_lines(said, 6);
        if (outcome.stopped) built.failure = "not finished in time\n";
        if (built.failure.empty()) built.failure = fmt::format("nvcc ended with {}\n", outcome.exit_code);
        fs::remove(partial, failure);
    }
    return built;
}

bool has_module(const char* name) {
    if (find_program("python3").empty()) return false;
    const std::string question =
        fmt::format("import importlib.util, sys; sys.exit(importlib.util.find_spec('{}') is None)", name);
    return capture({{"python3", "-c", question}}, std::chrono::seconds(60)).outcome.fine();
}

bool has_ncu() {
    if (!find_program("ncu").empty() || !find_program("/usr/local/cuda/bin/ncu").empty()) return true;
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator("/opt/nvidia/nsight-compute", missing)) {
        if (!find_program((entry.path() / "ncu").string()).empty()) return true;
    }
    return false;
}

}  // namespace

std::string find_nvcc() {
    std::string found = find_program("nvcc");
    for (const std::string& root :
         {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
        if (found.empty() && !root.empty()) found = find_program((fs::path(root) / "bin" / "nvcc").string());
    }
    return found;
}

Toolchain find_toolchain(const std::string& nvcc, int capability, const fs::path& scratch) {
    Toolchain toolchain;
    toolchain.nvcc = nvcc;
    // From 9.0 on, features of one architecture (wgmma) need the target with an `a`.
    const std::string target = fmt::format("{}{}", capability, capability >= 90 ? "a" : "");
    toolchain.flags = {"-std=c++20", "-O3", fmt::format("-gencode=arch=compute_{0},code=sm_{0}", target)};
    const std::vector<std::string> plain = toolchain.flags;
    for (const fs::path& root : cupti_roots(nvcc)) {
        if (!fs::is_regular_file(root / "include" / "cupti.h")) continue;
        for (const fs::path& library : cupti_libraries(root)) {
            const std::string folder = library.parent_path().string();
            toolchain.flags = plain;
            toolchain.flags.insert(
                toolchain.flags.end(),
                {"-DWARPTIME_CUPTI", "-I" + (root / "include").string(), "-L" + folder,
                 "-l:" + library.filename().string(), "-Xlinker", "-rpath", "-Xlinker", folder});
            toolchain.cupti = library.string();
            if (try_cupti(toolchain, scratch)) return toolchain;
        }
    }
    toolchain.flags = plain;
    toolchain.cupti.clear();
    return toolchain;
}

std::map<std::string, Built> build_probes(const Toolchain& toolchain, const std::vector<Suite>& suites,
                                          const fs::path& sources, const fs::path& folder,
                                          const std::function<void(const std::string&)>& done,
                                          const std::function<bool()>& go_on) {
    std::vector<const Suite*> probes;
    for (const Suite& suite : suites) {
        if (!suite.probe.empty()) probes.push_back(&suite);
    }
    std::map<std::string, Built> built;
    std::mutex guard;
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < probes.size(); i = next++) {
            Built one;
            try {
                one = build(toolchain, *probes[i], sources, folder, go_on);
            } catch (const Error& error) {
                one.failure = error.what();
            }
            const std::lock_guard<std::mutex> lock(guard);
            built[probes[i]->name] = one;
            done(probes[i]->name);
        }
    };
    const std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(workers, probes.size()); ++i) threads.emplace_back(work);
    threads.clear();  // joins
    return built;
}

bool is_here(const std::string& need) {
    if (need == "nvcc") return !find_nvcc().empty();
    if (need == "ncu") return has_ncu();
    return has_module(need.c_str());
}

std::string how_to_have(const std::string& need) {
    if (need == "nvcc") return "the CUDA toolkit: nvcc on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin";
    if (need == "ncu") return "Nsight Compute: ncu on PATH or in /opt/nvidia/nsight-compute";
    return fmt::format("python3 on PATH with the module {}", need);
}

}  // namespace warptime::validate::record
