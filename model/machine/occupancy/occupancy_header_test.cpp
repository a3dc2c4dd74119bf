// Occupancy against NVIDIA's own calculator, cuda_occupancy.h, where the CUDA toolkit is installed.
// The same program writes the recorded table that replaces the calculator elsewhere:
// WARPTIME_WRITE_OCCUPANCY_CASES=model/machine/occupancy/occupancy_cases.csv warptime_machine_tests
// -tc='*recorded table*'
// SPDX-License-Identifier: Apache-2.0
#ifdef WARPTIME_HAS_CUDA_OCCUPANCY

#include "model/machine/occupancy/occupancy_chips_test.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdlib>
#include <cuda_occupancy.h>
#include <fstream>

namespace test = warptime::model::machine::test;
using namespace warptime::model::machine;

namespace {

/// NVIDIA's answer. `cache` is the older cache preference, which the carveout replaces.
cudaOccResult calculator(const test::Chip& chip, const CtaResources& cta, int carveout_percent,
                         cudaOccCacheConfig cache = CACHE_PREFER_NONE) {
    cudaOccDeviceProp device;
    device.computeMajor = chip.major;
    device.computeMinor = chip.minor;
    device.maxThreadsPerBlock = chip.limits.threads_per_cta;
    device.maxThreadsPerMultiprocessor = chip.limits.threads;
    device.regsPerBlock = chip.limits.registers;
    device.regsPerMultiprocessor = chip.limits.registers;
    device.warpSize = 32;
    device.sharedMemPerBlock = static_cast<std::size_t>(chip.limits.shared_default);
    device.sharedMemPerMultiprocessor = static_cast<std::size_t>(chip.limits.shared_capacity());
    device.numSms = chip.limits.sm_count;
    device.sharedMemPerBlockOptin = static_cast<std::size_t>(chip.limits.shared_optin);
    device.reservedSharedMemPerBlock = static_cast<std::size_t>(chip.limits.shared_reserved);
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = INT_MAX;
    function.numRegs = cta.registers_per_thread;
    function.sharedSizeBytes = static_cast<std::size_t>(cta.static_shared);
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(cta.dynamic_shared);
    function.numBlockBarriers = cta.named_barriers;
    cudaOccDeviceState state;
    state.carveoutConfig = carveout_percent;
    state.cacheConfig = cache;
    cudaOccResult result{};
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &device, &function, &state, cta.threads, static_cast<std::size_t>(cta.dynamic_shared));
    CHECK(error == CUDA_OCC_SUCCESS);
    return result;
}

bool agree(const Occupancy& ours, const cudaOccResult& theirs) {
    return ours.ctas_per_sm == theirs.activeBlocksPerMultiprocessor &&
           ours.ctas_by(Limit::threads) == theirs.blockLimitWarps &&
           ours.ctas_by(Limit::ctas) == theirs.blockLimitBlocks &&
           ours.ctas_by(Limit::registers) == theirs.blockLimitRegs &&
           ours.ctas_by(Limit::shared) == theirs.blockLimitSharedMem &&
           ours.ctas_by(Limit::barriers) == theirs.blockLimitBarriers &&
           static_cast<std::size_t>(ours.shared_per_cta) == theirs.allocatedSharedMemPerBlock;
}

}  // namespace

TEST_CASE("400 000 random kernels have the occupancy that cuda_occupancy.h gives, limit by limit") {
    const auto chips = test::chips();
    std::mt19937_64 random(20251121);
    int disagreements = 0;
    for (int i = 0; i < 400000; ++i) {
        const test::Case c = test::random_case(random, chips);
        const test::Chip& chip = chips[c.chip];
        const cudaOccResult theirs = calculator(chip, c.cta, c.carveout_percent);
        if (!agree(occupancy(c.cta, chip.limits), theirs)) {
            ++disagreements;
            MESSAGE(fmt::format("cc {}.{} threads {} registers {} shared {}+{} carveout {} % barriers {}",
                                chip.major, chip.minor, c.cta.threads, c.cta.registers_per_thread,
                                c.cta.static_shared, c.cta.dynamic_shared, c.carveout_percent,
                                c.cta.named_barriers));
        }
    }
    CHECK(disagreements == 0);
}

TEST_CASE("the older cache preferences are carveouts of 0, 50 and 100 percent") {
    const auto chips = test::chips();
    std::mt19937_64 random(7);
    const std::array<std::pair<cudaOccCacheConfig, int>, 4> preferences{{{CACHE_PREFER_NONE, -1},
                                                                         {CACHE_PREFER_L1, 0},
                                                                         {CACHE_PREFER_EQUAL, 50},
                                                                         {CACHE_PREFER_SHARED, 100}}};
    for (int i = 0; i < 20000; ++i) {
        test::Case c = test::random_case(random, chips);
        const test::Chip& chip = chips[c.chip];
        const auto& [cache, percent] = preferences[random() % preferences.size()];
        c.cta.carveout_bytes = carveout_of_percent(percent, chip.limits);
        REQUIRE(agree(occupancy(c.cta, chip.limits), calculator(chip, c.cta, -1, cache)));
    }
}

TEST_CASE("write the recorded table when asked to") {
    const char* path = std::getenv("WARPTIME_WRITE_OCCUPANCY_CASES");
    if (path == nullptr) {
        return;
    }
    const auto chips = test::chips();
    std::mt19937_64 random(13);
    std::ofstream file(path);
    file << "compute_capability,threads,registers,static_shared,dynamic_shared,carveout_percent,"
            "named_barriers,ctas_per_sm,by_threads,by_ctas,by_registers,by_shared,by_barriers,"
            "shared_per_cta\n";
    for (int i = 0; i < 2000; ++i) {
        const test::Case c = test::random_case(random, chips);
        const cudaOccResult r = calculator(chips[c.chip], c.cta, c.carveout_percent);
        file << fmt::format("{}.{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", chips[c.chip].major,
                            chips[c.chip].minor, c.cta.threads, c.cta.registers_per_thread,
                            c.cta.static_shared, c.cta.dynamic_shared, c.carveout_percent,
                            c.cta.named_barriers, r.activeBlocksPerMultiprocessor, r.blockLimitWarps,
                            r.blockLimitBlocks, r.blockLimitRegs, r.blockLimitSharedMem, r.blockLimitBarriers,
                            r.allocatedSharedMemPerBlock);
    }
    CHECK(file.good());
}

#endif  // WARPTIME_HAS_CUDA_OCCUPANCY
