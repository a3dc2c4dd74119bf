// Chains of kernels of fixed work, in a stream, along a graph and with programmatic dependent launch, and
// what the calling thread pays for launching. Ignores: a host that cannot keep up with the stream.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/fixed_work.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {
namespace {

model::system::Between between_of(const Parameters& parameters) {
    const std::string& word = text(parameters, "between");
    if (word == "stream") return model::system::Between::stream;
    if (word == "graph") return model::system::Between::graph;
    if (word == "pdl") return model::system::Between::dependent;
    if (word == "graph_pdl") return model::system::Between::graph_dependent;
    throw Error("params between", word, "stream, graph, pdl or graph_pdl");
}

Probe kernel_chain(const Parameters& parameters, const hw::Gpu<double>& gpu) {
    Probe probe;
    FixedWork work = fixed_work_of(parameters);
    probe.between = between_of(parameters);
    // What a kernel does before it waits for the one before runs beside that one, where both have room, but
    // no faster than the warps of both can issue: 19 instructions a round of 16 FMA, against a chain of 71
    // cycles.
    const std::int64_t early = integer(parameters, "early_fma");
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    const std::int64_t ctas_per_sm = (work.ctas + sms - 1) / sms;
    const bool room =
        2 * ctas_per_sm * work.threads <= static_cast<std::int64_t>(gpu.sm.threads_max.value()) &&
        2 * ctas_per_sm * (work.shared + 1024) <= static_cast<std::int64_t>(gpu.shared.capacity.value());
    if (early > 0 && 2 * work.ctas <= sms) {
        work.fma -= early;
    } else if (early > 0 && room) {
        const double warps =
            static_cast<double>(ctas_per_sm * work.threads) / 32.0 / gpu.sm.sub_partitions.value();
        const double issue = std::min(1.0, warps * 19.0 / 71.0);
        const auto least = static_cast<std::int64_t>(issue * static_cast<double>(work.fma));
        work.fma = std::max(work.fma - early, least) / 16 * 16;
    }
    add_fixed_work(probe.program, work);
    add_fixed_work(probe.program, work);
    add_fixed_work(probe.without, work);
    return probe;
}

Probe host_launch(const Parameters& parameters, const hw::Gpu<double>& /*gpu*/) {
    Probe probe;
    probe.between = between_of(parameters);
    FixedWork work;
    work.ctas = integer(parameters, "ctas");
    work.threads = 128;
    work.fma = 16;
    const std::int64_t kernels = integer(parameters, "kernels");
    if (kernels < 1 || kernels > 4096)
        throw Error("params kernels", text(parameters, "kernels"), "1 to 4096");
    for (std::int64_t i = 0; i < kernels; ++i) add_fixed_work(probe.program, work);
    return probe;
}

constexpr std::array families{
    Family{"microbench_stream_gap", "kernel_chain", kernel_chain},
    Family{"microbench_stream_gap", "host_launch", host_launch},
};

}  // namespace

std::span<const Family> kernel_chain_families() {
    return families;
}

}  // namespace warptime::validate::microbench
