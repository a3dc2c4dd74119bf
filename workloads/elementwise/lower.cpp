// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/lower.hpp"

#include "model/kernel/builder.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::workloads::elementwise {

namespace mk = model::kernel;
using mk::InstructionClass;

void lower(const Problem& problem, const LaunchRule& rule, mk::Kernel& kernel) {
    const int element_bytes = hw::bytes_of(problem.dtype);
    const int per_access = std::max(1, rule.bytes_per_access / element_bytes);
    const std::int64_t per_cta_access = std::int64_t{rule.threads} * per_access;
    const std::int64_t per_cta = per_cta_access * rule.accesses_per_thread;
    const std::int64_t ctas = (problem.n + per_cta - 1) / per_cta;
    kernel.name = "elementwise";
    kernel.evidence = mk::Evidence::own;
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {rule.threads, 1, 1};
    kernel.registers_per_thread = rule.registers;
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder b(kernel);
    static constexpr const char* input_names[] = {"in0", "in1", "in2"};
    mk::Buffer vector;
    vector.dtype = problem.dtype;
    vector.extent[0] = problem.n;
    vector.contents = mk::Contents::random;
    mk::Id inputs[3] = {mk::no_id, mk::no_id, mk::no_id};
    const int input_count = std::clamp(problem.inputs, 1, 3);
    for (int i = 0; i < input_count; ++i) {
        vector.name = input_names[i];
        inputs[i] = b.buffer(vector);
    }
    vector.name = "out";
    const mk::Id output = b.buffer(vector);

    const auto access = [&](mk::Id buffer, mk::Direction direction, int part) {
        mk::Access a;
        a.buffer = buffer;
        a.direction = direction;
        a.bytes = per_access * element_bytes;
        a.origin[0] =
            b.index(part * per_cta_access,
                    {mk::Term{.coefficient = per_cta},
                     mk::Term{.coefficient = std::int64_t{32} * per_access, .variable = mk::Variable::warp}});
        return a;
    };
    b.role("warps", rule.threads / 32);
    mk::Op address;
    address.cls = InstructionClass::mad_s32;
    address.count = std::max<std::int64_t>(1, std::llround(rule.overhead * rule.accesses_per_thread));
    address.chain = std::min<std::int64_t>(address.count, 8);
    const mk::Id addressed = b.op(address);
    // The compiler hoists all loads above the first use.
    mk::Id first_load = mk::no_id;
    mk::Id last_load = mk::no_id;
    for (int part = 0; part < rule.accesses_per_thread; ++part) {
        for (int i = 0; i < input_count; ++i) {
            mk::Op load;
            load.cls = InstructionClass::ld_global;
            load.dtype = problem.dtype;
            load.dep_count = 1;
            load.deps[0] = {addressed, 0};
            last_load = b.op(load, {access(inputs[i], mk::Direction::read, part)});
            if (first_load == mk::no_id) {
                first_load = last_load;
            }
        }
    }
    mk::Id produced = last_load;
    if (problem.arithmetic > 0) {
        mk::Op arithmetic;
        arithmetic.cls = InstructionClass::add_f32;
        arithmetic.count = std::int64_t{problem.arithmetic} * per_access * rule.accesses_per_thread;
        arithmetic.dep_count = 2;
        arithmetic.deps[0] = {first_load, 0};
        arithmetic.deps[1] = {last_load, 0};
        produced = b.op(arithmetic);
    }
    for (int part = 0; part < rule.accesses_per_thread; ++part) {
        mk::Op store;
        store.cls = InstructionClass::st_global;
        store.dtype = problem.dtype;
        store.returns = false;
        store.dep_count = 1;
        store.deps[0] = {produced, 0};
        b.op(store, {access(output, mk::Direction::write, part)});
    }
    b.finish();
}

}  // namespace warptime::workloads::elementwise
