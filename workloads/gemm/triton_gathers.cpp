// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_gathers.hpp"

#include "model/machine/demand/lane_addresses.hpp"
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/triton_resources.hpp"
#include "workloads/gemm/triton_turning.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

using model::machine::lanes_per_warp;
constexpr int narrowest_asynchronous = 4;

const compilers::Triton::Gathers& laws() {
    return compilers::triton().gathers;
}

int accumulators(const Config& c) {
    return c.cta_m * c.cta_n / (lanes_per_warp * c.warps);
}

bool gathers(const Config& c, bool is_a) {
    return copy_bytes_of(c, is_a) < narrowest_asynchronous;
}

int elements_of(const Config& c, bool is_a) {
    return (is_a ? c.cta_m : c.cta_n) * c.cta_k / (lanes_per_warp * c.warps);
}

/// Elements of A's or B's stage that a lane fetches one by one.
int gathered_of(const Config& c, bool is_a) {
    return gathers(c, is_a) ? std::max(1, elements_of(c, is_a)) : 0;
}

/// Copies of a stage that a lane issues.
int copied_of(const Config& c) {
    int copies = 0;
    for (const bool is_a : {true, false}) {
        const int size = copy_bytes_of(c, !is_a);  // both operands have one type
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

/// Whether ptxas keeps A's pointers in uniform registers (there are 63): the lanes of a warp lie in one row.
/// Of 105 compiled loops of wgmma without spills, 17 do so, among these all 14 loops of the kinds below. The
/// reason why the other loops do not is unknown.
bool in_uniform_registers(const Config& c, const Fetched& fetched) {
    const compilers::Triton::Gathers::Uniform& law = laws().uniform;
    if (fetched.a == 0 || fetched.a > law.rows_max) return false;
    if (fetched.copies > 0) {
        return c.cta_k == law.copied_cta_k && c.cta_n <= law.copied_cta_n_max &&
               c.cta_m <= law.copied_cta_m_max;
    }
    const bool narrow =
        c.cta_n == law.narrow_columns && (c.warps == law.narrow_warps || fetched.a <= law.narrow_rows);
    return narrow || (c.cta_m == law.square && c.cta_n == law.square && c.cta_k == law.square_k);
}

int registers_by(const compilers::RegisterLaw& law, const Config& c, const Fetched& f) {
    return (law.a * f.a + law.b * f.b + law.sums * accumulators(c)) / law.over + law.copies * f.copies +
           law.rest;
}

/// Registers for pointers (two each), values, sums and the rest. In loops of mma.sync, elements of A a
/// constant apart along K share a pointer (41 kernels, 10 registers off). Loops of wgmma (105, 17 off) have
/// fewer values in flight where four warps gather B alone.
int registers_wanted_by(const Config& c) {
    const Fetched f = fetched_of(c);
    const auto& law = laws().registers;
    if (c.mma == MatrixInstruction::mma_sync) return registers_by(law.mma_sync, c, f);
    if (in_uniform_registers(c, f)) return registers_by(law.uniform, c, f);
    if (f.a == 0 && c.warps == law.b_alone_warps) return registers_by(law.b_alone, c, f);
    return registers_by(law.wgmma, c, f);
}

/// The same without a limit, for loops that spill (50 kernels of wgmma: 46 off against the words that they
/// store).
int registers_in_all(const Config& c) {
    if (c.mma == MatrixInstruction::mma_sync) return registers_wanted_by(c);
    return registers_by(laws().registers.in_all, c, fetched_of(c));
}

/// Whether pointers alone fill the registers, and fragments of mma.sync need more. ptxas then gives each
/// thread 32 registers and keeps all else in local memory (seven of these kernels, no other).
bool gives_up(const Config& c) {
    return c.mma == MatrixInstruction::mma_sync &&
           laws().given_up.pointer * gathered_by_lane(c) > laws().registers_max;
}

mk::Access spilled_words(Parts& parts, mk::Direction direction) {
    mk::Access words;
    words.buffer = parts.spilled;
    words.direction = direction;
    words.bytes = 4;
    words.origin[0] = parts.builder.variable(mk::Variable::warp, lanes_per_warp);
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
    return gives_up(config) ? laws().given_up.registers
                            : std::min(laws().registers_max, registers_wanted_by(config));
}

int registers_with_room(int wanted, const Config& config, int of_sm) {
    const compilers::Triton::Gathers::Room& law = laws().room;
    const int granule = law.granule;
    const int cta = lanes_per_warp * config.warps;
    const int granted = (wanted + granule - 1) / granule * granule;
    const int fewer = of_sm / (cta * (of_sm / (cta * granted) + 1)) / granule * granule;
    return law.fewer * fewer >= law.wanted * wanted ? fewer : wanted;
}

Spills gather_spills(const Config& config) {
    if (gives_up(config)) {
        const compilers::Triton::Gathers::GivenUp& law = laws().given_up;
        const double words = law.words_of_element * gathered_by_lane(config);
        const double loads = law.loads_of_word * words;
        return {static_cast<int>(words), static_cast<int>(loads),
                static_cast<int>(law.stores_of_word * words), static_cast<int>(loads / law.loads_at_once)};
    }
    const compilers::Triton::Gathers::Spills& law = laws().spills;
    // The compiler finds room for a few registers beyond the limit.
    const int beyond = registers_in_all(config) - laws().registers_max;
    const int words = beyond > law.registers_found ? beyond : 0;
    // A word is stored once. A pointer is loaded for the access and, with some exceptions, again for its
    // increment.
    const double loads = std::max<double>(words, law.loads_of_word * words - law.loads_spared);
    const double loads_at_once =
        gathers_beside_copies(config) ? law.loads_at_once_beside_copies : law.loads_at_once;
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
    local.extent[0] = std::int64_t{spills.words} * lanes_per_warp * c.warps;
    // The first trip stores words before it loads words.
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
        stages += (triton_buffers(config) - 1) * tile_bytes(problem, config, is_a);
    }
    return std::max(stages, std::int64_t{config.cta_m} * config.cta_n * hw::bytes_of(problem.out));
}

TritonInstructions gather_instructions(const Config& config) {
    const int elements = gathered_by_lane(config);
    const int outputs = accumulators(config);
    const int copied = copied_of(config);
    const compilers::Triton::Gathers::Instructions& law = laws().instructions;
    const bool narrow_stores = config.store_bytes < narrowest_asynchronous;
    const int beside_copies = copied > 0 ? law.trip_beside_copies + law.trip_copies * copied : 0;
    const int of_outputs =
        narrow_stores ? law.after_narrow_output * outputs : outputs / law.after_outputs_over;
    return {law.before + law.before_element * elements + outputs + law.before_copies * copied,
            law.stage + law.stage_copies * copied,
            law.trip_element * elements / law.trip_element_over + beside_copies, law.after + of_outputs};
}

}  // namespace warptime::workloads::gemm
