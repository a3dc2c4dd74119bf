// Warps that go through words of their own in local memory, round after round: local_memory.
// Ignores: uniform registers, whose additions fill the gaps between loads.
// Source: machine code of local_memory.cu (sm_90a).
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t lanes = 32;
/// Words of a turn of the loop.
constexpr std::int64_t block = 16;

enum class Way { load, store, alternate, batch };

struct LocalLoop {
    std::int64_t sms = 1, warps = 1, words = block;
    Way way = Way::load;
};

mk::Access words_of_warp(mk::Builder& build, mk::Id buffer, mk::Direction direction) {
    mk::Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.bytes = 4;
    access.origin[0] = build.variable(mk::Variable::warp, lanes);
    return access;
}

mk::Id add_loads(mk::Builder& build, mk::Id local, std::int64_t count, mk::Id after = mk::no_id) {
    mk::Op load;
    load.cls = mk::InstructionClass::ld_local;
    load.count = count;
    if (after != mk::no_id) load.deps[load.dep_count++] = {after, 0};
    return build.op(load, {words_of_warp(build, local, mk::Direction::read)});
}

mk::Id add_stores(mk::Builder& build, mk::Id local, std::int64_t count, mk::Id after = mk::no_id) {
    mk::Op store;
    store.cls = mk::InstructionClass::st_local;
    store.count = count;
    store.returns = false;
    if (after != mk::no_id) store.deps[store.dep_count++] = {after, 0};
    return build.op(store, {words_of_warp(build, local, mk::Direction::write)});
}

mk::Id add_one(mk::Builder& build, mk::InstructionClass cls, mk::Id after = mk::no_id) {
    mk::Op op;
    op.cls = cls;
    if (after != mk::no_id) op.deps[op.dep_count++] = {after, 0};
    return build.op(op);
}

/// Sums of two words each, in series. Only the last four sums wait for the last words.
constexpr std::int64_t sums = block / 2;
constexpr std::int64_t last_sums = 4;
/// Places of the words, each in a uniform register.
constexpr std::int64_t places = block;

/// The instructions of a block, in the order of the machine code.
void add_block(mk::Builder& build, mk::Id local, Way way) {
    switch (way) {
        case Way::load: {
            mk::Id loaded = mk::no_id;
            for (std::int64_t i = 0; i < block; ++i) {
                add_one(build, mk::InstructionClass::add_s32);
                loaded = add_loads(build, local, 1);
            }
            add_one(build, mk::InstructionClass::set_predicate);
            add_integer(build, sums - last_sums, 1);
            add_integer(build, last_sums, last_sums, {{loaded, 0}});
            break;
        }
        case Way::store:
            add_stores(build, local, block);
            add_one(build, mk::InstructionClass::set_predicate);
            add_integer(build, sums, 1);
            break;
        case Way::alternate: {
            // The compiler cannot exclude that a store is to the next word.
            mk::Id stored = mk::no_id;
            for (std::int64_t i = 0; i < block; ++i) {
                stored = add_stores(build, local, 1, add_loads(build, local, 1, stored));
            }
            break;
        }
        case Way::batch: {
            constexpr std::int64_t first = 6;
            const mk::Id begun = add_loads(build, local, first);
            const mk::Id loaded = add_loads(build, local, block - first);
            add_integer(build, 1, 1, {{add_one(build, mk::InstructionClass::set_predicate), 0}});
            add_stores(build, local, first, begun);
            add_stores(build, local, block - first, loaded);
            add_integer(build, places - last_sums, 1);
            break;
        }
    }
    add_one(build, mk::InstructionClass::branch);
}

void add_rounds(mk::Program& program, const LocalLoop& l, std::int64_t rounds) {
    mk::Kernel& k = add_kernel(program, "local_access", l.sms, lanes * l.warps);
    k.registers_per_thread = 64;
    mk::Builder build(k);
    mk::Buffer table = words_of("table", l.words * lanes * l.warps * 4);
    table.space = mk::Space::local;
    table.before = mk::Before::warm;
    const mk::Id local = build.buffer(table);
    build.role("warps", static_cast<int>(l.warps));
    build.loop(rounds);
    // The parameters are read again in every round.
    const mk::Id step = add_one(build, mk::InstructionClass::ld_constant);
    add_integer(build, 1, 1, {{step, 0}});
    build.loop(l.words / block);
    add_block(build, local, l.way);
    build.end();
    add_one(build, mk::InstructionClass::branch);
    build.end();
    build.finish();
}

Way way_of(const std::string& name) {
    constexpr std::array<std::string_view, 4> names{"load", "store", "alternate", "batch"};
    const auto* const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw Error("params way", name, "load, store, alternate or batch");
    return static_cast<Way>(found - names.begin());
}

Probe make(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    LocalLoop loop;
    loop.sms = integer(parameters, "sms");
    loop.warps = integer(parameters, "warps");
    loop.words = integer(parameters, "words");
    loop.way = way_of(text(parameters, "way"));
    const std::int64_t rounds = std::max<std::int64_t>(4, 8192 / loop.words);
    Probe probe;
    add_rounds(probe.program, loop, 2 * rounds);
    add_rounds(probe.without, loop, rounds);
    const int kinds = loop.way == Way::load || loop.way == Way::store ? 1 : 2;
    probe.units = static_cast<double>(kinds * rounds * loop.words * loop.warps);
    return probe;
}

constexpr std::array families{Family{"microbench_local_memory", "local_access", make}};

}  // namespace

std::span<const Family> local_memory_families() {
    return families;
}

}  // namespace warptime::validate::microbench
