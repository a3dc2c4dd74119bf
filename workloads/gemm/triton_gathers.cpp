// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_gathers.hpp"

#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/triton_resources.hpp"
#include "workloads/gemm/triton_turning.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

constexpr int lanes = 32;
constexpr int most_registers = 255;
constexpr int narrowest_asynchronous = 4;

int accumulators(const Config& c) {
    return c.cta_m * c.cta_n / (lanes * c.warps);
}

bool gathers(const Config& c, bool is_a) {
    return copy_bytes_of(c, is_a) < narrowest_asynchronous;
}

int elements_of(const Config& c, bool is_a) {
    return (is_a ? c.cta_m : c.cta_n) * c.cta_k / (lanes * c.warps);
}

/// Elements of A's or B's stage that a lane fetches.
int gathered_of(const Config& c, bool is_a) {
    return gathers(c, is_a) ? std::max(1, elements_of(c, is_a)) : 0;
}

/// Copies of a stage that a lane issues.
int copied_of(const Config& c) {
    int copies = 0;
    for (const bool is_a : {true, false}) {
        const int size = copy_bytes_of(c, !is_a);  // both operands are of one type
        if (!gathers(c, is_a)) copies += std::max(1, elements_of(c, is_a) * size / copy_bytes_of(c, is_a));
    }
    return copies;
}

/// Elements and copies of a stage that a lane fetches.
struct Fetched {
    int a = 0, b = 0, copies = 0;
};
Fetched fetched_of(const Config& c) {
    return {gathered_of(c, true), gathered_of(c, false), copied_of(c)};
}

/// Whether ptxas keeps A's pointers in uniform registers, of which there are 63: lanes of a warp lie in one
/// row. Of 105 compiled loops of wgmma that spill nothing 17 are so, the 14 of these kinds among them, but
/// nobody knows why others are not.
bool in_uniform_registers(const Config& c, const Fetched& fetched) {
    constexpr int most_rows = 32;
    if (fetched.a == 0 || fetched.a > most_rows) return false;
    if (fetched.copies > 0) return c.cta_k == 32 && c.cta_n <= 64 && c.cta_m <= 128;
    const bool sixteen_columns = c.cta_n == 16 && (c.warps == 8 || fetched.a <= most_rows / 2);
    return sixteen_columns || (c.cta_m == 64 && c.cta_n == 64 && c.cta_k == 32);
}

/// Pointers of two registers and values, the sums, and the rest. Loops of mma.sync keep one pointer to
/// elements of A that lie a constant apart along K (41 kernels, 10 registers off). Those of wgmma (105, 17
/// off) have fewer values under way where four warps gather B alone.
int registers_wanted_by(const Config& c) {
    const Fetched f = fetched_of(c);
    const int sums = accumulators(c);
    if (c.mma == MatrixInstruction::mma_sync) return (7 * f.a + 12 * f.b + 6 * sums) / 4 + 5 * f.copies + 24;
    if (in_uniform_registers(c, f)) return 2 * (f.a + f.b) + sums + 4 * f.copies + 8;
    if (f.a == 0 && c.warps == 4) return (9 * f.b + 5 * sums) / 4 + 3 * f.copies + 16;
    return 3 * (f.a + f.b) + 3 * sums / 2 + 2 * f.copies + 20;
}

/// The same where they do not suffice (50 kernels of wgmma: the words that these store, 46 off).
int registers_in_all(const Config& c) {
    const Fetched f = fetched_of(c);
    if (c.mma == MatrixInstruction::mma_sync) return registers_wanted_by(c);
    return 3 * (f.a + f.b) + accumulators(c) + 2 * f.copies + 25;
}

/// Where the pointers alone fill the registers and fragments of mma.sync come on top, ptxas gives each thread
/// 32 of them and keeps all else in local memory (seven of the kernels, and no other).
bool gives_up(const Config& c) {
    return c.mma == MatrixInstruction::mma_sync && 2 * gathered_by_lane(c) > most_registers;
}

mk::Access spilled_words(Parts& parts, mk::Direction direction) {
    mk::Access words;
    words.buffer = parts.spilled;
    words.direction = direction;
    words.bytes = 4;
    words.origin[0] = parts.builder.variable(mk::Variable::warp, lanes);
    return words;
}

}  // namespace

bool gathers_as_triton(const Config& config) {
    return gathers_beside_copies(config) ||
           (config.strides_by_16 && config.pipeline == Pipeline::sync && gathers(config, true));
}

bool gathers_beside_copies(const Config& config) {
    return config.strides_by_16 && !config.strides_known && config.pipeline == Pipeline::cp_async &&
           (gathers(config, true) || gathers(config, false));
}

int gathered_by_lane(const Config& c) {
    return gathered_of(c, true) + gathered_of(c, false);
}

int gather_registers(const Config& config) {
    constexpr int when_given_up = 32;
    return gives_up(config) ? when_given_up : std::min(most_registers, registers_wanted_by(config));
}

int registers_with_room(int wanted, const Config& config, int of_sm) {
    constexpr int granule = 8;
    const int cta = lanes * config.warps;
    const int granted = (wanted + granule - 1) / granule * granule;
    const int fewer = of_sm / (cta * (of_sm / (cta * granted) + 1)) / granule * granule;
    return 11 * fewer >= 10 * wanted ? fewer : wanted;
}

Spills gather_spills(const Config& config) {
    if (gives_up(config)) {
        // 5.4 to 7.6 words an element.
        constexpr double words_of_element = 6.5, loads_of_word = 1.37, stores_of_word = 1.07;
        constexpr double loads_at_once = 3.1;
        const double words = words_of_element * gathered_by_lane(config);
        const double loads = loads_of_word * words;
        return {static_cast<int>(words), static_cast<int>(loads), static_cast<int>(stores_of_word * words),
                static_cast<int>(loads / loads_at_once)};
    }
    // The compiler finds some room: 15 to 26 registers too many cost nothing, 40 as many words.
    constexpr int found = 26;
    const int beyond = registers_in_all(config) - most_registers;
    const int words = beyond > found ? beyond : 0;
    // A word is stored once; a pointer is loaded for the access and to be moved on, but for some. Where both
    // operands are gathered the warp waits for three in ten (35 kernels).
    const double loads = std::max<double>(words, 1.75 * words - 40.0);
    const double loads_at_once = gathers_beside_copies(config) ? 6.5 : 3.6;
    return {words, static_cast<int>(loads), words, static_cast<int>(loads / loads_at_once)};
}

void add_spill_buffer(Parts& parts) {
    const Config& c = parts.config;
    const Spills spills = gathers_as_triton(c) ? gather_spills(c) : Spills{};
    if (spills.words == 0) return;
    mk::Buffer local;
    local.name = "spilled";
    local.space = mk::Space::local;
    local.dtype = Dtype::int32;
    local.extent[0] = std::int64_t{spills.words} * lanes * c.warps;
    // The first trip stores before it loads.
    local.before = mk::Before::warm;
    parts.spilled = parts.builder.buffer(local);
}

void add_spill_loads(Parts& parts) {
    if (parts.spilled == mk::no_id) return;
    mk::Op load;
    load.cls = mk::InstructionClass::ld_local;
    load.dtype = Dtype::int32;
    const Spills spills = gather_spills(parts.config);
    load.count = spills.loads;
    load.chain = std::max(1, spills.rounds);
    parts.builder.op(load, {spilled_words(parts, mk::Direction::read)});
}

void add_spill_stores(Parts& parts) {
    if (parts.spilled == mk::no_id) return;
    mk::Op store;
    store.cls = mk::InstructionClass::st_local;
    store.dtype = Dtype::int32;
    store.count = gather_spills(parts.config).stores;
    store.returns = false;
    parts.builder.op(store, {spilled_words(parts, mk::Direction::write)});
}

std::int64_t gather_shared_bytes(const Problem& problem, const Config& config) {
    std::int64_t stages = stage_bytes(problem, config);
    for (const bool is_a : {true, false}) {
        if (gathers(config, is_a) || turned_in_its_trip(config, is_a)) continue;
        const std::int64_t extent = is_a ? config.cta_m : config.cta_n;
        stages +=
            (triton_buffers(config) - 1) * extent * config.cta_k * hw::bytes_of(is_a ? problem.a : problem.b);
    }
    return std::max(stages, std::int64_t{config.cta_m} * config.cta_n * hw::bytes_of(problem.out));
}

TritonInstructions gather_instructions(const Config& config) {
    const int elements = gathered_by_lane(config);
    const int outputs = accumulators(config);
    // 8 % off, 11 % in loops without spills, 15 % behind the loop.
    const int copied = copied_of(config);
    const bool narrow_stores = config.store_bytes < narrowest_asynchronous;
    return {119 + 16 * elements + outputs + 22 * copied, 14 + 3 * copied,
            58 * elements / 10 + (copied > 0 ? 18 + 6 * copied : 0),
            37 + (narrow_stores ? 6 * outputs : outputs / 2)};
}

}  // namespace warptime::workloads::gemm
