// Tests of launches of compiled kernels, as far as no compiler is needed: what is code, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/compiled_kernel.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

namespace warptime::workloads::frontends {
namespace {

CompiledLaunch some_launch() {
    CompiledLaunch launch;
    launch.file = "kernel.cubin";
    launch.grid = "8x4";
    launch.block = "256";
    return launch;
}

/// Parameter and whole message of the error that a call ends with.
struct Refusal {
    std::string parameter, value, message;
};
template <class Call>
Refusal refusal_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return {error.parameter(), error.value(), error.what()};
    }
    return {};
}

TEST_CASE("files of code are told by the end of their names") {
    for (const char* code : {"a.cu", "/x/y.z/a.ptx", "a.cubin", "a.kernel.cu", ".cu"}) {
        CAPTURE(code);
        CHECK(is_compiled(code));
    }
    for (const char* other :
         {"a.kernel", "a.cu.kernel", "a.cuh", "a.CU", "cu", "", "a.cubin.txt", "a.ptx "}) {
        CAPTURE(other);
        CHECK_FALSE(is_compiled(other));
    }
}

TEST_CASE("a launch whose text can be read is taken, with what may be left out") {
    CompiledLaunch launch = some_launch();
    CHECK_NOTHROW(check_launch(launch));
    launch.cluster = "2x1x1";
    launch.dynamic_shared = "49152";
    launch.args = "buffer:4096:random 7 1.5f";
    launch.name = "anything";
    CHECK_NOTHROW(check_launch(launch));
    // The file is not looked at.
    launch.file = "/no/such/file.cu";
    CHECK_NOTHROW(check_launch(launch));
}

TEST_CASE("a launch that cannot be read is refused by the parameter's name and its value") {
    struct Case {
        std::string CompiledLaunch::*field;
        std::string text;
        std::string parameter;
    };
    for (const Case& own :
         {Case{&CompiledLaunch::grid, "", "kernel grid"}, Case{&CompiledLaunch::grid, "8x", "kernel grid"},
          Case{&CompiledLaunch::grid, "0", "kernel grid"},
          Case{&CompiledLaunch::grid, "1x2x3x4", "kernel grid"},
          Case{&CompiledLaunch::block, "", "kernel block"},
          Case{&CompiledLaunch::block, "-32", "kernel block"},
          Case{&CompiledLaunch::cluster, "2y", "kernel cluster"},
          Case{&CompiledLaunch::dynamic_shared, "many", "kernel dynamic_shared"},
          Case{&CompiledLaunch::dynamic_shared, "-1", "kernel dynamic_shared"}}) {
        CompiledLaunch launch = some_launch();
        launch.*own.field = own.text;
        CAPTURE(own.parameter);
        CAPTURE(own.text);
        const Refusal refusal = refusal_of([&launch] { check_launch(launch); });
        CHECK(refusal.parameter == own.parameter);
        CHECK(refusal.value == own.text);
        // Before the file is opened, and before any tool is looked for.
        const Refusal described =
            refusal_of([&launch] { (void)describe_launch(launch, hw::load_gpu("h200-sxm")); });
        CHECK(described.message == refusal.message);
    }
    CompiledLaunch launch = some_launch();
    launch.args = "buffer:";
    CHECK_FALSE(refusal_of([&launch] { check_launch(launch); }).message.empty());
}

TEST_CASE("GPUs whose machine code is not read are refused before the file is opened") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    gpu.compute_major = 7;
    gpu.compute_minor = 5;
    const Refusal refusal = refusal_of([&gpu] { (void)describe_launch(some_launch(), gpu); });
    CHECK(refusal.parameter == "kernel file");
    CHECK(refusal.value == "sm_75");
    CHECK(refusal.message.find("sm_80") != std::string::npos);
}

TEST_CASE("a file that is missing or holds no machine code is refused by its name") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const process::TemporaryFolder folder;
    CompiledLaunch launch = some_launch();
    launch.file = (folder.path() / "missing.cubin").string();
    Refusal refusal = refusal_of([&] { (void)describe_launch(launch, gpu); });
    CHECK(refusal.message.find(launch.file) != std::string::npos);
    launch.file = (folder.path() / "missing.cu").string();
    refusal = refusal_of([&] { (void)describe_launch(launch, gpu); });
    CHECK(refusal.parameter == "file");
    CHECK(refusal.value == launch.file);
    launch.file = (folder.path() / "text.cubin").string();
    std::ofstream(launch.file) << "this is no ELF, but longer than its header would have to be: "
                               << std::string(64, '.');
    refusal = refusal_of([&] { (void)describe_launch(launch, gpu); });
    CHECK(refusal.message.find(launch.file) != std::string::npos);
}

}  // namespace
}  // namespace warptime::workloads::frontends
