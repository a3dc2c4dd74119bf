// How fast the interpreter of machine code runs kernels made in memory, in warp-instructions a second.
// SPDX-License-Identifier: Apache-2.0
// The fixture reads the header of doctest, whose tests are none here.
#define DOCTEST_CONFIG_DISABLE
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace machine = warptime::workloads::frontends::machine;
namespace fixture = machine::fixture;

constexpr std::uint32_t threads = 256, ctas = 64;

/// A loop of 64 rounds around the body, with the address of the thread's 16 bytes of a buffer in R2 and R3,
/// and its offset in shared memory in R4.
std::vector<std::string> repeated(const std::vector<std::string>& body) {
    std::vector<std::string> lines{"S2R R0, SR_TID.X",
                                   "S2R R1, SR_CTAID.X",
                                   "IMAD R6, R1, c[0x0][0x0], R0",
                                   "IMAD.WIDE.U32 R2, R6, 0x10, c[0x0][0x210]",
                                   "IMAD.SHL.U32 R4, R0, 0x10, RZ",
                                   "MOV R5, RZ",
                                   "loop:"};
    lines.insert(lines.end(), body.begin(), body.end());
    lines.insert(lines.end(),
                 {"VIADD R5, R5, 0x1", "ISETP.NE.U32.AND P0, PT, R5, 0x40, PT", "@P0 BRA `(loop)"});
    return lines;
}

void run_kernel(benchmark::State& state, const std::vector<std::string>& body) {
    fixture::ProgramOptions options;
    options.parameters = 1;
    options.static_shared = std::int64_t{threads} * 16;
    const fixture::Program program(repeated(body), options);
    const fixture::Buffer buffer(std::uint64_t{threads} * ctas * 16);
    machine::LaunchShape shape = fixture::one_cta(threads);
    shape.grid[0] = ctas;
    std::uint64_t executed = 0;
    for (auto _ : state) {
        const machine::LaunchCounts counts = program.run(shape, {buffer.address()});
        if (!counts.error.empty()) {
            state.SkipWithError(counts.error.c_str());
            return;
        }
        executed += counts.executed;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(executed));
}

void interpret_arithmetic(benchmark::State& state) {
    run_kernel(state,
               {"FFMA R8, R8, R9, R10", "FADD R9, R8, -R10", "FMUL R10, R9, R8", "IMAD R11, R11, R0, R5",
                "IADD3 R12, P1, R11, R5, RZ", "LOP3.LUT R13, R12, R11, R0, 0x96, !PT",
                "SHF.R.U32.HI R14, RZ, 0x3, R13", "IMAD.WIDE.U32 R16, R14, 0x4, R8",
                "FSETP.GT.AND P2, PT, R8, R9, PT", "FSEL R15, R8, R9, P2"});
}
BENCHMARK(interpret_arithmetic)->Unit(benchmark::kMillisecond);

void interpret_loads_and_stores(benchmark::State& state) {
    run_kernel(state, {"LDG.E R8, desc[UR4][R2.64]", "LDG.E.128 R12, desc[UR4][R2.64]", "STS.128 [R4], R12",
                       "LDS R9, [R4+0x4]", "LDS R10, [RZ]", "STG.E desc[UR4][R2.64+0x8], R9"});
}
BENCHMARK(interpret_loads_and_stores)->Unit(benchmark::kMillisecond);

}  // namespace
