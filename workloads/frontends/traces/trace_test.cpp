// Traces of torch.profiler: kernels and the calls that launched them, boards, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/frontends/traces/profile.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::workloads::traces;

namespace {

/// A trace of these events.
std::string trace(const std::string& events, const std::string& more = "") {
    return "{" + more + "\"traceEvents\": [" + events + "]}";
}

const std::string call =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 9, "args": {"External id": 7,
        "Input Dims": [[64, 32], [32, 16]], "Input type": ["c10::BFloat16", "float"], "Input Strides": [[32, 1], [1, 32]],
        "Concrete Inputs": ["", ""]}})";
const std::string runtime =
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 1, "args": {"correlation": 3, "External id": 7}})";

std::string kernel(double start, const std::string& arguments) {
    return R"({"ph": "X", "cat": "kernel", "name": "gemm", "ts": )" + std::to_string(start) +
           R"(, "dur": 4.5, "args": {"grid": [8, 4, 1], "block": [128, 1, 1], "stream": 7, )" + arguments +
           "}}";
}

std::string refused(const std::string& text) {
    try {
        (void)read_trace(text, "t.json");
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a kernel finds the call that launched it, by its own id or by the launch's") {
    for (const std::string arguments : {"\"External id\": 7", "\"correlation\": 3"}) {
        CAPTURE(arguments);
        const Profile p = read_trace(trace(call + "," + runtime + "," + kernel(5, arguments)), "t.json");
        REQUIRE(p.kernels.size() == 1);
        CHECK(p.kernels[0].us == 4.5);
        CHECK(p.kernels[0].grid == "8x4x1");
        CHECK(p.kernels[0].stream == 7);
        REQUIRE(p.kernels[0].call == 0);
        const TracedCall& mm = p.calls.at(0);
        CHECK(mm.name == "aten::mm");
        REQUIRE(mm.arguments.size() == 2);
        CHECK(mm.arguments[0].tensors.at(0).shape == std::vector<std::int64_t>{64, 32});
        CHECK(mm.arguments[0].tensors.at(0).dtype == "bf16");
        CHECK(mm.arguments[1].tensors.at(0).stride == std::vector<std::int64_t>{1, 32});
        CHECK(mm.arguments[1].tensors.at(0).dtype == "fp32");
    }
}

TEST_CASE("kernels come in the order of their starts; calls without kernels are left out") {
    const Profile p = read_trace(
        trace(call + "," + kernel(9, "\"correlation\": 1") + "," + kernel(2, "\"correlation\": 2")),
        "t.json");
    REQUIRE(p.kernels.size() == 2);
    CHECK(p.kernels[0].start_us == 2.0);
    CHECK(p.kernels[0].call == no_call);
    CHECK(p.calls.empty());
}

TEST_CASE("a bare list of events is a trace, too, and the board comes from the device") {
    CHECK(read_trace("[" + kernel(1, "\"correlation\": 1") + "]", "t.json").kernels.size() == 1);
    const std::string device = R"("deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], )";
    CHECK(read_trace(trace(kernel(1, "\"correlation\": 1"), device), "t.json").board == "NVIDIA H200");
}

TEST_CASE("copies and sets are told from kernels") {
    const std::string copy =
        R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": 1, "dur": 2, "args": {"bytes": 4096}})";
    const Profile p = read_trace(trace(copy), "t.json");
    CHECK(p.kernels.at(0).kind == TracedKind::memcpy);
    CHECK(p.kernels.at(0).bytes == 4096.0);
}

TEST_CASE("what is no trace of an NVIDIA GPU's kernels is refused with what it is") {
    const auto says = [](const std::string& text, const char* part) {
        CHECK_MESSAGE(refused(text).find(part) != std::string::npos, refused(text));
    };
    says(trace(call), "no kernel");
    says("{}", "without traceEvents");
    says(trace(R"({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "args": {}})"), "AMD ROCm");
    says(trace(kernel(1, "\"correlation\": 1"), R"("deviceProperties": [{"name": "AMD Instinct MI300X"}], )"),
         "AMD ROCm");
    says(trace(R"({"ph": "X", "cat": "xpu_runtime", "name": "x", "args": {}})"), "Intel XPU");
    const std::string whole = trace(kernel(1, "\"correlation\": 1"));
    says(whole.substr(0, whole.size() - 9), "truncated");
    says("{\"traceEvents\": [}", "breaks at byte");
    says(trace(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": -2, "args": {}})"), "at least 0");
}
