// Tests of the counts under Nsight Compute's names: which instructions add to which, and samples.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/profiler_counters.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

std::map<std::string, double> named(const Code& code, const LaunchCounts& counts) {
    const auto all = profiler_counters(code, counts);
    std::map<std::string, double> by_name(all.begin(), all.end());
    CHECK(by_name.size() == all.size());  // No name twice.
    return by_name;
}

std::string requests_of(const std::string& kind) {
    return "l1tex__t_requests_pipe_lsu_mem_" + kind + ".sum";
}
std::string sectors_of(const std::string& kind) {
    return "l1tex__t_sectors_pipe_lsu_mem_" + kind + ".sum";
}
std::string passes_of(const std::string& kind) {
    return "l1tex__data_pipe_lsu_wavefronts_mem_shared_" + kind + ".sum";
}

const std::vector<std::string> memory_lines{"LDG.E R8, desc[UR4][R2.64]",
                                            "LD.E R8, desc[UR4][R2.64]",
                                            "LDGSTS.E [R6], desc[UR4][R2.64]",
                                            "STG.E desc[UR4][R2.64], R8",
                                            "ST.E desc[UR4][R2.64], R8",
                                            "ATOMG.E.ADD PT, R8, desc[UR4][R2.64], R9",
                                            "REDG.E.ADD desc[UR4][R2.64], R9",
                                            "LDL R8, [R2]",
                                            "STL [R2], R8",
                                            "LDS R8, [R2]",
                                            "LDSM.16.M88 R8, [R2]",
                                            "STS [R2], R8",
                                            "STSM.16.M88 [R2], R8",
                                            "ATOMS.ADD R8, [R2], R9",
                                            "FADD R8, R9, R10"};

/// Instruction i made powers of two by its place, so that every sum tells who is in it.
LaunchCounts counts_of(const Code& code) {
    LaunchCounts counts;
    counts.ctas = 1;
    counts.ctas_run = 1;
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        counts.instructions.push_back({bit, 3 * bit, 2 * bit});
        counts.accesses.push_back({5 * bit, 7 * bit, 11 * bit, 13 * bit, 17 * bit, {}, {}});
    }
    return counts;
}

double bits(const std::vector<std::string>& opcodes) {
    double sum = 0.0;
    for (std::size_t i = 0; i < memory_lines.size(); ++i) {
        for (const std::string& opcode : opcodes) {
            sum += memory_lines[i].starts_with(opcode + ".") || memory_lines[i].starts_with(opcode + " ")
                       ? static_cast<double>(std::uint64_t{1} << i)
                       : 0.0;
        }
    }
    return sum;
}

TEST_CASE("every memory instruction adds to the counters of its space and kind, and to no other") {
    const Program program(memory_lines);
    const auto counters = named(program.code(), counts_of(program.code()));
    struct Kind {
        std::string name;
        std::vector<std::string> opcodes;
    };
    for (const Kind& kind :
         {Kind{"global_op_ld", {"LDG", "LD", "LDGSTS"}}, Kind{"global_op_st", {"STG", "ST"}},
          Kind{"global_op_atom", {"ATOMG"}}, Kind{"global_op_red", {"REDG"}}, Kind{"local_op_ld", {"LDL"}},
          Kind{"local_op_st", {"STL"}}}) {
        CAPTURE(kind.name);
        CHECK(counters.at(requests_of(kind.name)) == 5 * bits(kind.opcodes));
        CHECK(counters.at(sectors_of(kind.name)) == 7 * bits(kind.opcodes));
    }
    for (const Kind& kind :
         {Kind{"op_ld", {"LDS", "LDSM"}}, Kind{"op_st", {"STS", "STSM"}}, Kind{"op_atom", {"ATOMS"}}}) {
        CAPTURE(kind.name);
        CHECK(counters.at(passes_of(kind.name)) == 13 * bits(kind.opcodes));
    }
}

TEST_CASE("instructions, threads and threads whose guard holds are sums over all instructions") {
    const Program program(memory_lines);
    const auto counters = named(program.code(), counts_of(program.code()));
    const double all = static_cast<double>((std::uint64_t{1} << program.code().instructions.size()) - 1);
    CHECK(counters.at("smsp__inst_executed.sum") == all);
    CHECK(counters.at("smsp__thread_inst_executed.sum") == 3 * all);
    CHECK(counters.at("smsp__thread_inst_executed_pred_on.sum") == 2 * all);
}

TEST_CASE("counts of a sample are scaled to the whole launch") {
    const Program program(memory_lines);
    LaunchCounts counts = counts_of(program.code());
    const auto whole = profiler_counters(program.code(), counts);
    counts.ctas = 700;
    counts.ctas_run = 40;
    const auto scaled = profiler_counters(program.code(), counts);
    REQUIRE(scaled.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
        CHECK(scaled[i].first == whole[i].first);
        CHECK(scaled[i].second == doctest::Approx(whole[i].second * 17.5));
    }
    counts.ctas_run = 0;
    for (const auto& [name, value] : profiler_counters(program.code(), counts)) {
        CAPTURE(name);
        CHECK(value == 0.0);
    }
}

TEST_CASE("a copy of one word a thread makes four sectors a request and one pass a warp") {
    ProgramOptions options;
    options.parameters = 1;
    options.static_shared = 4096;
    const Program program(
        {"S2R R0, SR_TID.X", "IMAD.SHL.U32 R4, R0, 0x4, RZ", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]",
         "LDG.E R8, desc[UR4][R2.64]", "STS [R4], R8", "LDS R9, [R4]", "STG.E desc[UR4][R2.64], R9"},
        options);
    CHECK(rc::check("warps", [&program] {
        const std::uint32_t warps = 1 + random_below(32);
        const Buffer buffer(Words(std::size_t{32} * warps));
        const LaunchCounts counts = program.run(one_cta(32 * warps), {buffer.address()});
        RC_ASSERT(counts.error.empty());
        auto counters = named(program.code(), counts);
        RC_ASSERT(counters.at("smsp__inst_executed.sum") == 8.0 * warps);
        RC_ASSERT(counters.at("smsp__thread_inst_executed.sum") == 256.0 * warps);
        for (const std::string kind : {"global_op_ld", "global_op_st"}) {
            RC_ASSERT(counters.at(requests_of(kind)) == 1.0 * warps);
            RC_ASSERT(counters.at(sectors_of(kind)) == 4.0 * warps);
        }
        RC_ASSERT(counters.at(passes_of("op_ld")) == 1.0 * warps);
        RC_ASSERT(counters.at(passes_of("op_st")) == 1.0 * warps);
        RC_ASSERT(counters.at(requests_of("local_op_ld")) == 0.0);
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
