// How fast the discrete-event engine runs kernels, in events a second.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"
#include "model/simulation/run.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace {

using namespace warptime::model;

/// CTAs of eight warps that run `body`.
std::string grid_of(int ctas, const std::string& body) {
    return "kernel \"k\"\n  grid " + std::to_string(ctas) +
           " 1 1\n  cta 256 1 1\n  schedule one_per_cta tiles=" + std::to_string(ctas) +
           "\n  buffer \"a\" extent=67108864\n  buffer \"b\" extent=67108864\n  token \"meet\" "
           "kind=named_barrier arrivals=8\n  role \"r\" warps=8\n" +
           body + "  end\nend\n";
}

void run_kernel(benchmark::State& state, const std::string& text) {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const kernel::Kernel kernel = kernel::parse_text(text);
    std::uint64_t events = 0;
    for (auto _ : state) {
        events += simulation::run(kernel, gpu, {}, 1.7e9, nullptr, 1e12).events;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(events));
}

void simulate_arithmetic(benchmark::State& state) {
    run_kernel(state, grid_of(264,
                              "    loop trips={100}\n      op 0 fma_f32 deps=0:1\n      op 1 mad_s32 "
                              "deps=0\n      op 2 mufu deps=1\n      op 3 add_f32 deps=2\n    end\n"));
}

void simulate_stream(benchmark::State& state) {
    run_kernel(state,
               grid_of(2640,
                       "    op 0 mad_wide_s32\n    op 1 ld_global deps=0\n      access read a contiguous "
                       "origin={1024*tile.0 + 128*warp} bytes=16\n    op 2 mul_f32 count=4 deps=1\n    "
                       "op 3 st_global deps=2\n      access write b contiguous origin={1024*tile.0 + "
                       "128*warp} bytes=16\n"));
}

void simulate_barriers(benchmark::State& state) {
    run_kernel(state,
               grid_of(264,
                       "    loop trips={100}\n      op 0 ld_shared\n      op 1 fma_f32 count=4 deps=0\n   "
                       "   op 2 bar_sync\n      signal meet on=issue\n      wait meet\n    end\n"));
}

BENCHMARK(simulate_arithmetic);
BENCHMARK(simulate_stream);
BENCHMARK(simulate_barriers);

}  // namespace
