// Warps that go through words of their own in local memory, round after round: local_memory.
// Ignores: that the stores of a block follow its loads only where it says so.
// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/walks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t lanes = 32;
/// Words that are under way together.
constexpr std::int64_t block = 16;

struct LocalLoop {
    std::int64_t sms = 1, warps = 1, words = block;
    bool loads = true, stores = true;
    bool waits = false;  ///< for each word before the next
};

mk::Access words_of_warp(mk::Builder& build, mk::Id buffer, mk::Direction direction) {
    mk::Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.bytes = 4;
    access.origin[0] = build.variable(mk::Variable::warp, lanes);
    return access;
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
    build.loop(rounds * l.words / block);
    // Places of the words, or of them and what is stored; then the sum, two words at a time, and the
    // loop's counter (counted in the machine code).
    add_integer(build, l.loads ? block : 2 * block - 6, 1);
    mk::Id loaded = mk::no_id;
    if (l.loads) {
        mk::Op load;
        load.cls = mk::InstructionClass::ld_local;
        load.count = block;
        load.chain = l.waits ? block : 1;
        loaded = build.op(load, {words_of_warp(build, local, mk::Direction::read)});
    }
    if (l.stores) {
        mk::Op store;
        store.cls = mk::InstructionClass::st_local;
        store.count = block;
        store.returns = false;
        if (l.loads) {
            store.dep_count = 1;
            store.deps[0] = {loaded, 0};
        }
        build.op(store, {words_of_warp(build, local, mk::Direction::write)});
    }
    if (l.loads) add_integer(build, block / 2, 1, {{loaded, 0}});
    add_integer(build, 3, 1);
    mk::Op jump;
    jump.cls = mk::InstructionClass::branch;
    build.op(jump);
    build.end();
    build.finish();
}

Probe make(const Parameters& parameters, const hw::Gpu<double>& /*gpu*/) {
    const std::string& way = text(parameters, "way");
    LocalLoop loop;
    loop.sms = integer(parameters, "sms");
    loop.warps = integer(parameters, "warps");
    loop.words = integer(parameters, "words");
    loop.loads = way != "store";
    loop.stores = way != "load";
    // The compiler cannot tell that a store is not to the next word.
    loop.waits = way == "alternate";
    const std::int64_t rounds = std::max<std::int64_t>(4, 8192 / loop.words);
    Probe probe;
    add_rounds(probe.program, loop, 2 * rounds);
    add_rounds(probe.without, loop, rounds);
    const int kinds = (loop.loads ? 1 : 0) + (loop.stores ? 1 : 0);
    probe.units = static_cast<double>(kinds * rounds * loop.words * loop.warps);
    return probe;
}

constexpr std::array families{Family{"microbench_local_memory", "local_access", make}};

}  // namespace

std::span<const Family> local_memory_families() {
    return families;
}

}  // namespace warptime::validate::microbench
