// Tests of where NVIDIA's tools are looked for, and how they are run: shell scripts stand for them.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/tools/cuda_tools.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

namespace fs = std::filesystem;

/// An environment variable with another value as long as this lives.
class Setting {
  public:
    Setting(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* before = std::getenv(name_.c_str())) {
            before_ = before;
        }
        setenv(name_.c_str(), value.c_str(), 1);
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;
    ~Setting() {
        if (before_) {
            setenv(name_.c_str(), before_->c_str(), 1);
        } else {
            unsetenv(name_.c_str());
        }
    }

  private:
    std::string name_;
    std::optional<std::string> before_;
};

/// Folders of its own, and an environment that leads to no tool of this machine.
class Place {
  public:
    [[nodiscard]] fs::path path(const std::string& name) const {
        fs::create_directories(folder_.path() / name);
        return folder_.path() / name;
    }
    /// A script in a folder of this name.
    [[nodiscard]] fs::path script(const std::string& folder, const std::string& name,
                                  const std::string& lines = "exit 0") const {
        fs::path file = path(folder) / name;
        std::ofstream(file) << "#!/bin/sh\n" << lines << "\n";
        fs::permissions(file, fs::perms::owner_all);
        return file;
    }

  private:
    process::TemporaryFolder folder_;
    Setting nvcc_{"WARPTIME_NVCC", ""}, ptxas_{"WARPTIME_PTXAS", ""};
    Setting nvdisasm_{"WARPTIME_NVDISASM", ""}, cuobjdump_{"WARPTIME_CUOBJDUMP", ""};
    Setting path_{"PATH", path("empty").string()}, home_{"CUDA_HOME", ""};
    Setting packages_{"WARPTIME_PYTHON_PACKAGES", path("packages").string()};
    Setting cache_{"XDG_CACHE_HOME", path("cache").string()};
};

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
std::string text_of(const std::vector<std::byte>& bytes) {
    std::string text(bytes.size(), ' ');
    std::ranges::transform(bytes, text.begin(), [](std::byte byte) { return static_cast<char>(byte); });
    return text;
}
std::vector<std::byte> bytes_of(std::string_view text) {
    std::vector<std::byte> bytes(text.size());
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

struct Tool {
    CudaTool tool;
    std::string program;
    std::string variable;
    std::string package;
};
const std::array<Tool, 4> tools{
    Tool{CudaTool::nvcc, "nvcc", "WARPTIME_NVCC", "nvidia-cuda-nvcc"},
    Tool{CudaTool::ptxas, "ptxas", "WARPTIME_PTXAS", "nvidia-cuda-nvcc"},
    Tool{CudaTool::nvdisasm, "nvdisasm", "WARPTIME_NVDISASM", "nvidia-cuda-nvdisasm"},
    Tool{CudaTool::cuobjdump, "cuobjdump", "WARPTIME_CUOBJDUMP", "nvidia-cuda-cuobjdump"}};

TEST_CASE("a tool is the variable's, else that of PATH, of CUDA_HOME, and of Python's packages") {
    for (const Tool& own : tools) {
        CAPTURE(own.program);
        const Place place;
        const fs::path packaged = place.script("packages/nvidia/cu13/bin", own.program);
        const fs::path usual = fs::path("/usr/local/cuda/bin") / own.program;
        CHECK(find_tool(own.tool) == (fs::exists(usual) ? usual : packaged));
        const fs::path of_home = place.script("home/bin", own.program);
        const Setting home("CUDA_HOME", place.path("home").string());
        CHECK(find_tool(own.tool) == of_home);
        const fs::path in_path = place.script("second", own.program);
        const Setting path("PATH", place.path("first").string() + ":" + place.path("second").string());
        CHECK(find_tool(own.tool) == in_path);
        const fs::path in_first = place.script("first", own.program);
        CHECK(find_tool(own.tool) == in_first);
        const fs::path given = place.script("given", "other-name");
        const Setting variable(own.variable, given.string());
        CHECK(find_tool(own.tool) == given);
    }
}

TEST_CASE("every package of Python that may hold a tool is looked into") {
    for (const std::string folder :
         {"nvidia/cu13/bin", "nvidia/cu12/bin", "nvidia/cuda_nvcc/bin", "nvidia/cuda_nvdisasm/bin",
          "nvidia/cuda_cuobjdump/bin", "triton/backends/nvidia/bin"}) {
        CAPTURE(folder);
        const Place place;
        const fs::path packaged = place.script("packages/" + folder, "cuobjdump");
        const fs::path usual("/usr/local/cuda/bin/cuobjdump");
        CHECK(find_tool(CudaTool::cuobjdump) == (fs::exists(usual) ? usual : packaged));
    }
}

TEST_CASE("a tool beside Python's own libraries is found without asking Python, others by asking") {
    for (const bool beside : {true, false}) {
        const Place place;
        const Setting packages("WARPTIME_PYTHON_PACKAGES", "");
        const fs::path asked = place.path("said") / "asked";
        const fs::path elsewhere = place.path("elsewhere");
        const fs::path python =
            place.script("prefix/bin", "python3",
                         "echo yes > '" + asked.string() + "'\necho '" + elsewhere.string() + "'\nexit 0");
        const Setting path("PATH", python.parent_path().string());
        const std::string root = beside ? "prefix/lib/python3.99/site-packages" : "elsewhere";
        const fs::path packaged = place.script(root + "/nvidia/cu13/bin", "cuobjdump");
        const fs::path usual("/usr/local/cuda/bin/cuobjdump");
        if (fs::exists(usual)) continue;
        CHECK(find_tool(CudaTool::cuobjdump) == packaged);
        CHECK(fs::exists(asked) == !beside);
    }
}

TEST_CASE("a variable that names no program is an error, though the tool is elsewhere") {
    for (const Tool& own : tools) {
        CAPTURE(own.program);
        const Place place;
        const fs::path there = place.script("bin", own.program);
        const Setting path("PATH", place.path("bin").string());
        for (const fs::path& wrong : {place.path("bin"), place.path("bin") / "missing"}) {
            const Setting variable(own.variable, wrong.string());
            try {
                (void)find_tool(own.tool);
                FAIL("was taken");
            } catch (const Error& error) {
                CHECK(error.parameter() == own.variable);
                CHECK(error.value() == wrong.string());
                CHECK(error.expected() == "the path of a program");
            }
        }
        CHECK(find_tool(own.tool) == there);
    }
}

TEST_CASE("a tool that is nowhere is an error that says how to get it") {
    for (const Tool& own : tools) {
        if (fs::exists(fs::path("/usr/local/cuda/bin") / own.program)) {
            continue;
        }
        CAPTURE(own.program);
        const Place place;
        try {
            (void)find_tool(own.tool);
            FAIL("was found");
        } catch (const Error& error) {
            CHECK(error.parameter() == own.program);
            CHECK(error.expected().find("pip install " + own.package) != std::string::npos);
            CHECK(error.expected().find(own.variable) != std::string::npos);
        }
    }
}

TEST_CASE("PTX goes to ptxas as a file, with the architecture, and its warnings come back") {
    const Place place;
    const std::string log = (place.path("log") / "words").string();
    const Setting tool("WARPTIME_PTXAS",
                       place
                           .script("bin", "ptxas",
                                   "echo \"$1 $2 $3\" > " + log +
                                       "\n/bin/cp \"$5\" \"$4\"\necho 'ptxas warning : slow'\n"
                                       "echo 'a line of no interest'\n"
                                       "echo 'ptxas info : (C7515) Potential Performance Loss: x' >&2")
                           .string());
    const Compiled compiled = compile_ptx(".version 8.5\n// \xc3\xa4", "sm_90a");
    CHECK(text_of(compiled.cubin) == ".version 8.5\n// \xc3\xa4");
    CHECK(text_of(fs::path(log)) == "-O3 -arch=sm_90a -o\n");
    CHECK(compiled.warnings == std::vector<std::string>{"ptxas info : (C7515) Potential Performance Loss: x",
                                                        "ptxas warning : slow"});
}

TEST_CASE("what does not compile is an error of the compiler's first lines") {
    const Place place;
    const std::string lines = "for i in 1 2 3 4 5 6; do echo \"error $i\" >&2; done\nexit 2";
    const Setting assembler("WARPTIME_PTXAS", place.script("bin", "ptxas", lines).string());
    const Setting compiler("WARPTIME_NVCC", place.script("bin", "nvcc", lines).string());
    const fs::path source = place.path("source") / "kernel.cu";
    std::ofstream(source) << "no kernel";
    for (const bool ptx : {true, false}) {
        CAPTURE(ptx);
        try {
            (void)(ptx ? compile_ptx("x", "sm_90a") : compile_cuda(source, "sm_90a"));
            FAIL("was compiled");
        } catch (const Error& error) {
            CHECK(error.parameter() == (ptx ? "ptx" : source.string()));
            CHECK(error.value() == "error 1; error 2; error 3; error 4");
            CHECK(error.expected() == "code that compiles");
        }
    }
    try {
        (void)compile_cuda(place.path("source") / "missing.cu", "sm_90a");
        FAIL("was compiled");
    } catch (const Error& error) {
        CHECK(error.parameter() == "file");
        CHECK(error.expected() == "a CUDA source that exists");
    }
}

TEST_CASE("a source is compiled with the options given, behind the usual ones") {
    const Place place;
    const fs::path source = place.path("source") / "a kernel.cu";
    std::ofstream(source) << "__global__ void f() {}";
    const std::string log = (place.path("log") / "words").string();
    // The words before -o, one a line; behind it the cubin and the source.
    const Setting tool("WARPTIME_NVCC", place
                                            .script("bin", "nvcc",
                                                    "while [ \"$1\" != -o ]; do echo \"$1\" >> " + log +
                                                        "; shift; done\n/bin/cp \"$3\" \"$2\"")
                                            .string());
    const std::vector<std::string> options{"-DWIDTH=a b", "-I/include"};
    CHECK(text_of(compile_cuda(source, "sm_80", options).cubin) == "__global__ void f() {}");
    CHECK(text_of(fs::path(log)) ==
          "-std=c++17\n-O3\n-lineinfo\n-arch=sm_80\n-cubin\n-DWIDTH=a b\n-I/include\n");
}

TEST_CASE("images of a fat binary are told apart by their names") {
    const Place place;
    const Setting tool("WARPTIME_CUOBJDUMP",
                       place
                           .script("bin", "cuobjdump",
                                   "if [ \"$1 $2\" = '-xelf all' ]; then\n"
                                   "  /bin/cp \"$3\" b.2.sm_90a.cubin\n  printf old > b.1.sm_80.cubin\nfi\n"
                                   "if [ \"$1 $2\" = '-xptx all' ]; then\n"
                                   "  printf text > b.3.sm_120.ptx\n  echo other > notes.txt\nfi")
                           .string());
    const std::vector<FatImage> images = images_of_fat_binary(bytes_of("the whole"));
    REQUIRE(images.size() == 3);
    CHECK(images[0].architecture == 80);
    CHECK_FALSE(images[0].specific);
    CHECK_FALSE(images[0].ptx);
    CHECK(text_of(images[0].bytes) == "old");
    CHECK(images[1].architecture == 90);
    CHECK(images[1].specific);
    CHECK_FALSE(images[1].ptx);
    CHECK(text_of(images[1].bytes) == "the whole");
    CHECK(images[2].architecture == 120);
    CHECK_FALSE(images[2].specific);
    CHECK(images[2].ptx);
    CHECK(text_of(images[2].bytes) == "text");
}

TEST_CASE("a disassembly is kept by the bytes of its cubin, and made once") {
    const Place place;
    const std::string log = (place.path("log") / "runs").string();
    const Setting tool(
        "WARPTIME_NVDISASM",
        place.script("bin", "nvdisasm", "echo \"$1\" >> " + log + "\nprintf '{'\n/bin/cat \"$2\"\nprintf '}'")
            .string());
    const auto runs = [&log] {
        const std::string text = text_of(fs::path(log));
        return std::ranges::count(text, '\n');
    };
    CHECK(disassembly_json(bytes_of("one")) == "{one}");
    CHECK(text_of(fs::path(log)) == "--emit-json\n");
    CHECK(disassembly_json(bytes_of("one")) == "{one}");
    CHECK(runs() == 1);
    CHECK(disassembly_json(bytes_of("two")) == "{two}");
    CHECK(disassembly_json(bytes_of("one ")) == "{one }");
    CHECK(runs() == 3);
    std::size_t kept = 0;
    for (const auto& entry : fs::directory_iterator(place.path("cache/warptime/disassembly"))) {
        kept += entry.path().extension() == ".json" ? 1U : 0U;
    }
    CHECK(kept == 3);
    // Elsewhere it is made again.
    const Setting cache("XDG_CACHE_HOME", place.path("other").string());
    CHECK(disassembly_json(bytes_of("two")) == "{two}");
    CHECK(runs() == 4);
}

TEST_CASE("a cubin that nvdisasm refuses is an error, and nothing is kept of it") {
    const Place place;
    const Setting tool("WARPTIME_NVDISASM",
                       place.script("bin", "nvdisasm", "echo 'not an ELF' >&2\nexit 255").string());
    for (int time = 0; time < 2; ++time) {
        try {
            (void)disassembly_json(bytes_of("broken"));
            FAIL("was taken");
        } catch (const Error& error) {
            CHECK(error.parameter() == "cubin");
            CHECK(error.value() == "not an ELF");
            CHECK(error.expected() == "one that nvdisasm can read");
        }
    }
    CHECK(fs::is_empty(place.path("cache/warptime/disassembly")));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
