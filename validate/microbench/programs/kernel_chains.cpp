// Chains of kernels of fixed work, in a stream, along a graph and with programmatic dependent launch.
// Also the cost of launches to the calling thread. Ignores: a host that cannot keep up with the stream.
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

/// Instructions of a round of 16 multiply-adds, and the cycles of the round's chain.
constexpr double round_instructions = 19.0;
constexpr double round_chain = 71.0;

/// How kernels of a chain share the SMs when their early work does not wait for the kernel before.
enum class Sharing {
    none,     ///< the chain of dependent work sets the pace, whatever runs beside it
    issue,    ///< kernels run beside each other, and the warps of two kernels fill the issue slots
    in_turn,  ///< no room beside: CTAs take the slots of earlier CTAs, as in one grid
};

Sharing sharing_of(const FixedWork& work, std::int64_t early, model::system::Between between,
                   const hw::Gpu& gpu) {
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    if (early == 0 || 2 * work.ctas <= sms) return Sharing::none;
    const std::int64_t ctas_per_sm = (work.ctas + sms - 1) / sms;
    const std::int64_t threads = ctas_per_sm * work.threads;
    const bool room =
        2 * threads <= static_cast<std::int64_t>(gpu.sm.threads_max.value()) &&
        2 * ctas_per_sm * (work.shared + 1024) <= static_cast<std::int64_t>(gpu.shared.capacity.value());
    if (!room) return Sharing::in_turn;
    const double warps = static_cast<double>(threads) / 32.0 / gpu.sm.sub_partitions.value();
    const auto round = [&](double of) { return std::max(round_chain, of * round_instructions); };
    const double slower = (round(2.0 * warps) - round(warps)) * static_cast<double>(work.fma - early) / 16.0;
    // With shared issue slots, no kernel waits for the launch between two kernels.
    const double gap = gpu.launch.floor.value() + model::system::launch_gap(between, gpu);
    return slower > gap * gpu.clock.boost.value() ? Sharing::issue : Sharing::none;
}

Probe kernel_chain(const Parameters& parameters, const hw::Gpu& gpu) {
    Probe probe;
    FixedWork work = fixed_work_of(parameters);
    probe.between = between_of(parameters);
    const std::int64_t early = integer(parameters, "early_fma");
    const Sharing sharing = sharing_of(work, early, probe.between, gpu);
    if (sharing == Sharing::none) {
        work.fma -= early;
        add_fixed_work(probe.program, work);
        add_fixed_work(probe.program, work);
        add_fixed_work(probe.without, work);
        return probe;
    }
    FixedWork without = work;
    work.ctas *= 2;
    if (sharing == Sharing::issue) {
        // No kernel waits for the launch and the first instructions. So the difference is twice the rounds
        // less the rounds.
        without.ctas = work.ctas;
        without.fma -= early;
        work.fma = 2 * without.fma;
    }
    add_fixed_work(probe.program, work);
    add_fixed_work(probe.without, without);
    return probe;
}

Probe host_launch(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
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
