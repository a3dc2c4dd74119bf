// Kernels that stream memory through registers.
// These are dram_in_flight, l2_footprint, plain instructions of bandwidth_in_flight, read_write_mix,
// l1_footprint, l2_halves.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/streams.hpp"

#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

/// One kernel with one role whose warps go round a loop of `trips` turns.
struct Stream {
    const char* name = "stream";
    std::int64_t ctas = 1, threads = 32, trips = 1, shared = 0, cluster = 1;
    std::int64_t carveout = -1;
    double mean_trips = 0.0;                    ///< of CTAs that do not all take as many turns; 0: `trips`
    std::int64_t from_bytes = 0, to_bytes = 0;  ///< 0: none
    std::int64_t second_bytes = 0;              ///< of a further input
    int registers = 32;
    bool adds_up = false;  ///< at the end, every warp adds its sum to one word
    Walk walk;
    Turn turn;
};

/// One lane of every warp adds to the same word, as checks of what was loaded do.
void add_to_one_word(mk::Builder& build) {
    mk::Op add;
    add.cls = mk::InstructionClass::red_global;
    add.dtype = mk::Dtype::int32;
    add.returns = false;
    add.active = 1.0 / 32.0;
    mk::Access access;
    access.buffer = build.buffer(words_of("folded", 4));
    access.direction = mk::Direction::atomic;
    access.pattern = mk::PatternKind::broadcast;
    access.bytes = 4;
    build.op(add, {access});
}

void add_stream(mk::Program& program, Stream s) {
    mk::Kernel& k = add_kernel(program, s.name, s.ctas, s.threads, s.shared);
    k.cluster = {s.cluster, 1, 1};
    k.registers_per_thread = s.registers;
    k.carveout = s.carveout;
    mk::Builder build(k);
    if (s.from_bytes > 0) s.turn.from = build.buffer(words_of("from", s.from_bytes));
    const mk::Id second = s.second_bytes > 0 ? build.buffer(words_of("second", s.second_bytes)) : mk::no_id;
    if (s.to_bytes > 0) s.turn.to = build.buffer(words_of("to", s.to_bytes));
    s.turn.warps = static_cast<int>(s.threads / 32);
    build.role("warps", s.turn.warps);
    if (s.mean_trips > 0.0) {
        mk::Trips trips;
        trips.expected = true;
        trips.mean = s.mean_trips;
        trips.max_over_lanes = trips.max_over_warps = s.mean_trips;
        build.loop(trips);
    } else {
        build.loop(s.trips);
    }
    if (second != mk::no_id) {
        Turn other = s.turn;
        other.from = second;
        other.stores = 0;
        for (int i = 0; i < s.turn.loads; ++i) {
            mk::Op load;
            load.cls = mk::InstructionClass::ld_global;
            build.op(load, {access_at(build, s.walk, other, mk::Direction::read, i)});
        }
    }
    add_turn(build, s.walk, s.turn);
    build.end();
    if (s.adds_up) add_to_one_word(build);
    build.finish();
}

/// dram_in_flight: blocks of threads x loads x 16 bytes, taken in turn by the CTAs.
Probe dram_stream(const Parameters& p, const hw::Gpu& gpu, bool reads, bool writes, bool two) {
    Stream s;
    const std::int64_t bytes = integer(p, "bytes");
    s.threads = integer(p, "threads");
    const int loads = static_cast<int>(integer(p, "loads_in_flight"));
    s.ctas = p.find("ctas") != p.end()
                 ? integer(p, "ctas")
                 : integer(p, "ctas_per_sm") * static_cast<std::int64_t>(gpu.sm.count.value());
    const std::int64_t block = s.threads * loads * 4;
    const std::int64_t turns = std::max<std::int64_t>(1, (bytes / 4 + block - 1) / block);
    s.ctas = std::min(s.ctas, turns);
    // Only some CTAs take the last turn.
    s.mean_trips = static_cast<double>(turns) / static_cast<double>(s.ctas);
    s.registers = loads == 8 ? 64 : 32;
    if (reads) s.from_bytes = bytes;
    if (two) s.second_bytes = bytes;
    if (writes) s.to_bytes = bytes;
    s.walk.first = block;
    s.walk.step = block * s.ctas;
    s.turn.loads = reads ? loads : 0;
    s.turn.stores = writes ? loads : 0;
    s.turn.constants = std::min(loads, 3);
    s.turn.folding = writes ? 2 : 3;
    Probe probe;
    add_stream(probe.program, s);
    probe.units = static_cast<double>(bytes) * ((reads ? 1 : 0) + (writes ? 1 : 0) + (two ? 1 : 0));
    return probe;
}

Probe read_probe(const Parameters& p, const hw::Gpu& gpu) {
    return dram_stream(p, gpu, true, false, false);
}
Probe write_probe(const Parameters& p, const hw::Gpu& gpu) {
    return dram_stream(p, gpu, false, true, false);
}
Probe copy_probe(const Parameters& p, const hw::Gpu& gpu) {
    return dram_stream(p, gpu, true, true, false);
}
Probe sum_probe(const Parameters& p, const hw::Gpu& gpu) {
    return dram_stream(p, gpu, true, true, true);
}

/// l2_footprint: 1024 threads with four loads go round their own part, or round the whole footprint.
Probe l2_read(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Stream s;
    s.ctas = integer(p, "sms");
    s.threads = 1024;
    s.registers = 64;
    const bool own = text(p, "share") == "own";
    const std::int64_t footprint = integer(p, "footprint") / 4;
    const std::int64_t block = s.threads * 4 * 4;
    s.trips = integer(p, "bytes") / 4 / s.ctas / block;
    s.from_bytes = footprint * 4;
    s.walk.own = own ? footprint / s.ctas : 0;
    s.walk.first = own ? 0 : std::max<std::int64_t>(1, footprint / block / s.ctas) * block;
    s.walk.step = block;
    s.walk.wrap = own ? footprint / s.ctas : footprint;
    s.turn.loads = 4;
    Probe probe;
    add_stream(probe.program, s);
    probe.units = static_cast<double>(integer(p, "bytes"));
    return probe;
}

/// read_write_mix: of eight accesses, `reads` are loads.
Stream mix_stream(const Parameters& p) {
    Stream s;
    s.ctas = integer(p, "ctas");
    s.threads = integer(p, "threads");
    s.registers = 64;
    const int reads = static_cast<int>(integer(p, "reads"));
    const int slots = static_cast<int>(integer(p, "slots"));
    const std::int64_t bytes = integer(p, "bytes");
    const std::int64_t blocks = std::max<std::int64_t>(1, bytes / (s.threads * 16 * slots));
    s.ctas = std::min(s.ctas, blocks);
    s.mean_trips = static_cast<double>(blocks) / static_cast<double>(s.ctas);
    s.from_bytes = bytes * reads / slots;
    s.to_bytes = bytes * (slots - reads) / slots;
    s.walk.first = s.threads * 4 * std::max(reads, slots - reads);
    s.walk.step = s.walk.first * s.ctas;
    s.turn.loads = reads;
    s.turn.stores = slots - reads;
    s.adds_up = reads > 0;
    return s;
}

Probe mix(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Probe probe;
    add_stream(probe.program, mix_stream(p));
    probe.units = static_cast<double>(integer(p, "bytes"));
    return probe;
}

/// l1_footprint: one CTA walks over the set again and again. The value is the cycles between two loads of a
/// warp.
Probe stream_l1(const Parameters& p, const hw::Gpu& gpu) {
    Stream s;
    s.threads = integer(p, "threads");
    s.shared = integer(p, "shared");
    s.registers = 32;
    const std::int64_t percent = integer(p, "carveout");
    if (percent >= 0) s.carveout = percent * static_cast<std::int64_t>(gpu.shared.capacity.value()) / 100;
    const std::int64_t set = integer(p, "working_set") / 4;
    const int unroll = static_cast<int>(integer(p, "unroll"));
    const std::int64_t rounds = integer(p, "rounds");
    s.from_bytes = set * 4;
    s.walk.step = s.threads * 4 * unroll;
    s.walk.wrap = set;
    s.walk.cache = mk::CachePolicy::ca;
    s.turn.loads = unroll;
    s.turn.addressing = 2;
    s.turn.folding = 2;
    Probe probe;
    // Many passes go before, so that the first pass, which misses, is a small part of both programs.
    const std::int64_t before = 512 * (set / s.walk.step + 1);
    s.trips = before;
    add_stream(probe.without, s);
    s.trips = before + rounds;
    add_stream(probe.program, s);
    probe.units = static_cast<double>(rounds * unroll);
    return probe;
}

/// l2_halves: a pass of every CTA over its part, or over the whole set, after an earlier read.
Probe stream_halves(const Parameters& p, const hw::Gpu& /*gpu*/) {
    Stream s;
    s.ctas = integer(p, "ctas");
    s.threads = integer(p, "threads");
    const bool own = text(p, "share") == "own";
    const std::int64_t all = integer(p, "footprint") / 4;
    const std::int64_t part = all / s.ctas;
    const std::int64_t step = s.threads * 4;
    const std::int64_t trips = (own ? part : all) / step;
    s.from_bytes = all * 4;
    s.walk.own = own ? part : 0;
    s.walk.first = own ? 0 : part;
    s.walk.step = step;
    s.walk.wrap = own ? part : all;
    s.turn.loads = 1;
    Probe probe;
    s.trips = trips;
    add_stream(probe.without, s);
    s.trips = 2 * trips;
    add_stream(probe.program, s);
    return probe;
}

constexpr std::array families{
    Family{"microbench_dram_in_flight", "stream_read", read_probe},
    Family{"microbench_dram_in_flight", "stream_write", write_probe},
    Family{"microbench_dram_in_flight", "stream_copy", copy_probe},
    Family{"microbench_dram_in_flight", "stream_add", sum_probe},
    Family{"microbench_l2_footprint", "l2_read", l2_read},
    Family{"microbench_read_write_mix", "mix", mix},
    Family{"microbench_read_write_mix", "write_over", mix},
    Family{"microbench_l1_footprint", "stream_l1", stream_l1},
    Family{"microbench_l2_halves", "stream_halves", stream_halves},
};

}  // namespace

std::span<const Family> stream_families() {
    return families;
}

}  // namespace warptime::validate::microbench
