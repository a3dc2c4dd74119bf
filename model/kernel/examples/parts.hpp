// Short ways to write ops and accesses in the example kernels. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "model/kernel/description.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace warptime::model::kernel::examples {

/// Draft of an op, with its accesses.
struct Draft : Op {
    std::vector<Access> accesses;
};

inline Draft make_op(InstructionClass cls, std::int64_t count = 1, std::initializer_list<Dep> deps = {},
                     Id completes = no_id) {
    Draft op;
    op.cls = cls;
    op.count = count;
    op.completes = completes;
    for (const Dep& dep : deps) {
        op.deps[op.dep_count++] = dep;
    }
    return op;
}

inline Draft matrix_op(InstructionClass cls, Dtype dtype, std::array<std::int32_t, 3> shape,
                       std::int64_t count, std::initializer_list<Dep> deps = {}, Id completes = no_id) {
    Draft op = make_op(cls, count, deps, completes);
    op.dtype = dtype;
    op.shape = shape;
    return op;
}

inline void add_access(Draft& op, const Access& access) {
    op.accesses.push_back(access);
}

inline Id add_op(Builder& build, const Draft& draft) {
    const Id id = build.op(draft);
    for (const Access& access : draft.accesses) {
        build.access(access);
    }
    return id;
}

/// Runs only on warp 0 of the role.
inline void elect_first_warp(Builder& build, Draft& op) {
    op.when = {true, build.variable(Variable::warp), 0, 1};
}

inline Access box(Id buffer, Direction direction, std::initializer_list<Index> origin,
                  std::initializer_list<std::int64_t> extent) {
    Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.pattern = PatternKind::collective;
    access.rank = static_cast<std::uint8_t>(origin.size());
    std::size_t d = 0;
    for (const Index& index : origin) {
        access.origin[d++] = index;
    }
    d = 0;
    for (const std::int64_t size : extent) {
        access.box[d++] = size;
    }
    return access;
}

inline Access lanes(Id buffer, Direction direction, const Index& first, std::int32_t bytes,
                    std::int64_t step = 0) {
    Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.origin[0] = first;
    access.bytes = bytes;
    access.step = step;
    return access;
}

inline Buffer matrix(Name name, Dtype dtype, std::int64_t fast, std::int64_t slow) {
    Buffer buffer;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.rank = 2;
    buffer.extent = {fast, slow, 1, 1, 1};
    buffer.stride = {1, fast, 0, 0, 0};
    return buffer;
}

inline Buffer shared_matrix(Name name, Dtype dtype, std::int64_t fast, std::int64_t slow, std::int32_t stages,
                            std::int64_t base, std::int32_t swizzle = 128) {
    Buffer buffer = matrix(name, dtype, fast, slow);
    buffer.space = Space::shared;
    buffer.stages = stages;
    buffer.base = base;
    buffer.base_alignment = 1024;
    buffer.swizzle_bytes = swizzle;
    return buffer;
}

inline Buffer vector_of(Name name, Dtype dtype, std::int64_t size) {
    Buffer buffer;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.extent[0] = size;
    return buffer;
}

inline Token token(Name name, TokenKind kind, Scope scope, std::int32_t arrivals, std::int32_t depth = 1,
                   std::int32_t initial = 0, TokenKey key = TokenKey::none) {
    return {name, kind, scope, key, arrivals, initial, depth};
}

}  // namespace warptime::model::kernel::examples
