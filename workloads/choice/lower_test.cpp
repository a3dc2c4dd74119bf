// Lowering by name: every operator has a lowering, and a refusal names the parameter.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/lower.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "workloads/operations_fixture_test.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

const libraries::Libraries& data() {
    static const auto loaded = libraries::load_libraries();
    return loaded;
}

const hw::Gpu& gpu(const std::string& id = "h200-sxm") {
    static const hw::Gpu h200 = hw::load_gpu("h200-sxm");
    static const hw::Gpu a100 = hw::load_gpu("a100-sxm-80gb");
    static const hw::Gpu l40s = hw::load_gpu("l40s");
    return id == "h200-sxm" ? h200 : (id == "l40s" ? l40s : a100);
}

double by_items(const mk::Program& program, double) {
    return program.kernel_count == 0 ? 0.0 : static_cast<double>(program.kernels[0].schedule.item_count());
}

}  // namespace

TEST_CASE("every operator lowers on every calibrated GPU with the fewest parameters it takes") {
    for (const OperatorInfo& info : operators()) {
        fixture::Parameters parameters;
        const auto required = std::count_if(info.parameters.begin(), info.parameters.end(),
                                            [](const ParameterInfo& p) { return p.required; });
        const char* const size = required > 3 ? "64" : "1024";  // four sizes of 1024 fit no memory
        for (const ParameterInfo& parameter : info.parameters) {
            if (parameter.required) {
                parameters[std::string(parameter.name)] = parameter.name == "file" ? WARPTIME_EXAMPLES
                                                              "/saxpy.kernel"
                                                          : parameter.name == "gpus" ? "4"
                                                          : parameter.name == "kind" ? "pinned"
                                                                                     : size;
            }
        }
        for (const char* id : {"h200-sxm", "a100-sxm-80gb", "l40s"}) {
            CAPTURE(info.name);
            CAPTURE(std::string(id));
            // PyTorch has one kernel for all problems on Hopper only.
            if (info.name == "grouped_gemm" && gpu(id).compute_major != 9) continue;
            mk::Program program;
            CHECK_NOTHROW(
                choice::lower(make_operation(info.name, parameters), data(), gpu(id), by_items, program));
            CHECK_FALSE(program.steps.empty());
            CHECK_NOTHROW(mk::check(program));
            // Bands of the H200 rest on rows of these alone; torch.mv runs kernels of products.
            const bool recorded = info.name == "gemm" || info.name == "gemv" || info.name == "add";
            for (const mk::Kernel& kernel : program.kernels) {
                const mk::Evidence of_operator = recorded ? mk::Evidence::own : mk::Evidence::pooled;
                CHECK(kernel.evidence == (info.name == "kernel" ? mk::Evidence::any : of_operator));
            }
        }
    }
}

TEST_CASE("random operations lower to programs that pass the checks, whatever was there before") {
    mk::Program reused;
    CHECK(rc::check("a refilled program equals a fresh one", [&] {
        const Operation operation = fixture::any_operation();
        const auto& on = gpu(fixture::word({"h200-sxm", "a100-sxm-80gb", "l40s"}));
        mk::Program fresh;
        try {
            choice::lower(operation, data(), on, by_items, fresh);
        } catch (const warptime::Error& error) {
            RC_ASSERT(!error.expected().empty());
            RC_DISCARD("refused");
        }
        mk::check(fresh);
        for (const mk::Kernel& kernel : fresh.kernels) {
            RC_ASSERT(kernel.evidence == mk::Evidence::own);
        }
        choice::lower(operation, data(), on, by_items, reused);
        RC_ASSERT(reused.steps == fresh.steps);
        RC_ASSERT(reused.memsets == fresh.memsets);
        RC_ASSERT(reused.kernel_count == fresh.kernel_count);
        for (std::size_t i = 0; i < fresh.kernel_count; ++i) {
            RC_ASSERT(reused.kernels[i] == fresh.kernels[i]);
        }
    }));
}

TEST_CASE("stages stay within a CTA's shared memory where an operand gathers or products keep sums") {
    const Operation gathers = fixture::gemm(1, 160, 1,
                                            {{"dtype", "bf16"},
                                             {"b_major", "n"},
                                             {"cta_tile", "128x64x64"},
                                             {"stages", "4"},
                                             {"warps", "4"},
                                             {"implementation", "triton"}});
    for (const Operation& operation : {gathers, fixture::gemm(1, 9, 33)}) {
        mk::Program program;
        choice::lower(operation, data(), gpu(), by_items, program);
        CHECK_NOTHROW(mk::check(program));
    }
}

TEST_CASE("a problem larger than the GPU's memory is refused with both sizes") {
    mk::Program program;
    for (const Operation& operation :
         {fixture::gemm(1000000, 1000000, 64), fixture::vector_operation("copy", std::int64_t{1} << 40),
          fixture::vector_operation("add", std::int64_t{1} << 40)}) {
        try {
            choice::lower(operation, data(), gpu("l40s"), by_items, program);
            FAIL("not refused");
        } catch (const warptime::Error& error) {
            CHECK(error.parameter() == operation.op + " size");
            CHECK(error.value().find("GB") != std::string::npos);
            CHECK(error.expected().find("l40s") != std::string::npos);
        }
    }
}

TEST_CASE("an operator without a lowering is refused") {
    Operation operation;
    operation.op = "fft";
    mk::Program program;
    CHECK_THROWS_WITH_AS(choice::lower(operation, data(), gpu(), by_items, program), doctest::Contains("fft"),
                         warptime::Error);
}
