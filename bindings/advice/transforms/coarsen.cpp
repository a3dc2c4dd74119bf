// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/coarsen.hpp"

#include "bindings/advice/transforms/data_flow.hpp"
#include "bindings/advice/transforms/index_edit.hpp"
#include "bindings/advice/transforms/loops.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;

/// Trips of a loop that become one wait for one another where an op adds up; elements of other CTAs do not.
void repeat(Kernel& kernel, std::size_t op, std::int64_t times, bool of_loop) {
    Op& repeated = kernel.ops[op];
    const bool serial = of_loop && (repeated.chain > 1 || depends_on_itself(kernel, op));
    repeated.chain = serial ? repeated.chain * times : repeated.chain;
    repeated.count *= times;
}

/// The dimension of the tiles along which neighbouring CTAs touch neighbouring elements; nothing where the
/// grid has no such dimension that can be cut.
std::optional<std::size_t> walked_tile(const Kernel& kernel, std::int64_t times) {
    std::optional<std::size_t> found;
    std::int64_t nearest = 0;
    for (const Access& access : kernel.accesses) {
        if (space_of(kernel, access) != mk::Space::global) continue;
        for (const Term& term : terms_of(kernel, access.origin[0])) {
            if (term.variable != Variable::tile || term.modulus != 0 || term.divisor != 1) continue;
            const std::int64_t apart = std::abs(term.coefficient) * element_bytes(kernel, access);
            if (kernel.schedule.tiles[term.position] >= times && (nearest == 0 || apart < nearest)) {
                nearest = apart;
                found = term.position;
            }
        }
    }
    return found;
}

bool divide_tiles(Kernel& kernel, std::size_t dimension, std::int64_t times) {
    mk::Schedule& schedule = kernel.schedule;
    if (schedule.kind != mk::ScheduleKind::one_per_cta || kernel.cluster.volume() != 1) return false;
    schedule.tiles[dimension] = (schedule.tiles[dimension] + times - 1) / times;
    if (dimension == 0) schedule.group = std::min(schedule.group, schedule.tiles[0]);
    std::int64_t* const grid[] = {&kernel.grid.x, &kernel.grid.y, &kernel.grid.z};
    if (dimension < 3) *grid[dimension] = std::max<std::int64_t>(1, (*grid[dimension] + times - 1) / times);
    for (mk::CtaClass& group : kernel.cta_classes) {
        group.first /= times;
        group.last = std::max(group.first + 1, group.last / times);
    }
    return kernel.grid.volume() >= schedule.item_count() || schedule.item_count() == kernel.grid.volume();
}

bool is_walked(const Term& term, Variable variable, std::size_t position) {
    return term.variable == variable && term.position == position;
}

/// Makes the terms of the walked variable `times` as far apart; with `all`, those of what lies between its
/// steps too. Returns the elements between two steps of the variable before.
std::int64_t spread(Kernel& kernel, Access& access, Variable variable, std::size_t position,
                    std::int64_t times, bool all) {
    std::vector<Term> terms = terms_of(kernel, access.origin[0]);
    std::int64_t step = 0;
    for (const Term& term : terms) {
        if (is_walked(term, variable, position)) step = term.coefficient;
    }
    if (step == 0) return 0;
    for (Term& term : terms) {
        const bool inside = std::abs(term.coefficient) < std::abs(step);
        if (is_walked(term, variable, position) || (all && inside)) term.coefficient *= times;
    }
    std::int64_t constant = access.origin[0].constant;
    if (all) {
        const std::int64_t size = std::abs(step);
        const std::int64_t base = floor_div(constant, size) * size;
        constant = base + (constant - base) * times;
        access.step *= std::abs(access.step) < size ? times : 1;
    }
    access.origin[0] = add_index(kernel, constant, terms);
    return step;
}

/// The narrowest access of global memory; 0 where an access is not contiguous or none is there.
std::int32_t narrowest(const Kernel& kernel) {
    std::int32_t bytes = 0;
    for (const Access& access : kernel.accesses) {
        if (space_of(kernel, access) != mk::Space::global || access.pattern == mk::PatternKind::broadcast)
            continue;
        if (access.pattern != mk::PatternKind::contiguous || access.direction == mk::Direction::atomic ||
            access.rank != 1) {
            return 0;
        }
        bytes = bytes == 0 ? access.bytes : std::min(bytes, access.bytes);
    }
    return bytes;
}

/// Loop that steps over global memory farthest inside; nothing where none has trips to give.
std::optional<std::size_t> walking_loop(const Kernel& kernel, std::int64_t times) {
    const auto around = loops_around(kernel);
    std::optional<std::size_t> found;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        for (const Access& access : kernel.accesses_of(kernel.ops[op])) {
            if (space_of(kernel, access) != mk::Space::global || around[op].empty()) continue;
            const std::size_t loop = around[op].back();
            if (trips_of(kernel.loops[loop]) < static_cast<double>(times)) continue;
            for (const Term& term : terms_of(kernel, access.origin[0])) {
                if (is_walked(term, Variable::loop, around[op].size() - 1)) found = loop;
            }
        }
    }
    return found;
}

/// What is cut into fewer and larger pieces: a loop, or the grid along one dimension.
struct Walk {
    std::optional<std::size_t> loop;
    std::size_t tile = 0;
};

std::optional<Walk> cut(Kernel& kernel, std::int64_t times) {
    if (const auto loop = walking_loop(kernel, times)) {
        if (divide_trips(kernel.loops[*loop], times)) return Walk{loop, 0};
        return std::nullopt;
    }
    const auto tile = walked_tile(kernel, times);
    if (!tile || !divide_tiles(kernel, *tile, times)) return std::nullopt;
    return Walk{std::nullopt, *tile};
}

}  // namespace

bool vectorize(Kernel& kernel, std::int32_t bytes) {
    const std::int32_t narrow = narrowest(kernel);
    if (narrow == 0 || narrow >= bytes || bytes % narrow != 0) return false;
    const std::int64_t times = bytes / narrow;
    const auto around = loops_around(kernel);
    const auto data = works_on_data(kernel);
    const auto walk = cut(kernel, times);
    if (!walk) return false;
    int widened = 0;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        Op& changed = kernel.ops[op];
        std::size_t depth = 0;
        if (walk->loop) {
            const auto at = std::find(around[op].begin(), around[op].end(), *walk->loop);
            if (at == around[op].end()) continue;
            depth = static_cast<std::size_t>(at - around[op].begin());
        }
        bool wide = changed.access_count > 0;
        for (std::size_t a = 0; a < changed.access_count; ++a) {
            Access& access = kernel.accesses[changed.first_access + a];
            const bool side_by_side = access.pattern == mk::PatternKind::contiguous && access.rank == 1;
            wide = wide && side_by_side && access.bytes * times <= bytes;
            if (access.rank != 1) continue;
            const bool global = space_of(kernel, access) == mk::Space::global;
            const std::int64_t before = access.bytes;
            if (global || side_by_side) {
                spread(kernel, access, walk->loop ? Variable::loop : Variable::tile,
                       walk->loop ? depth : walk->tile, times, true);
            }
            if (wide) access.bytes = static_cast<std::int32_t>(before * times);
        }
        widened += wide ? 1 : 0;
        if (data[op] && !wide) repeat(kernel, op, times, walk->loop.has_value());
    }
    return widened > 0;
}

bool unroll(Kernel& kernel, std::int64_t times) {
    const auto around = loops_around(kernel);
    const auto data = works_on_data(kernel);
    const auto walk = cut(kernel, times);
    if (!walk) return false;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        std::size_t depth = 0;
        if (walk->loop) {
            const auto at = std::find(around[op].begin(), around[op].end(), *walk->loop);
            if (at == around[op].end()) continue;
            depth = static_cast<std::size_t>(at - around[op].begin());
        }
        Op& changed = kernel.ops[op];
        for (std::size_t a = 0; a < changed.access_count; ++a) {
            Access& access = kernel.accesses[changed.first_access + a];
            if (access.rank != 1) continue;
            const std::int64_t step = spread(kernel, access, walk->loop ? Variable::loop : Variable::tile,
                                             walk->loop ? depth : walk->tile, times, false);
            // Several instructions of one op stay side by side; others follow at the distance of the trips.
            if (changed.count == 1) access.step = step;
        }
        if (data[op]) repeat(kernel, op, times, walk->loop.has_value());
    }
    return true;
}

bool split_sums(Kernel& kernel, std::int64_t times) {
    mk::Schedule& schedule = kernel.schedule;
    const bool plain = schedule.kind == mk::ScheduleKind::one_per_cta && kernel.cluster.volume() == 1 &&
                       kernel.roles.size() == 1 && schedule.tiles[3] == 1 && schedule.split_k == 1;
    const auto loop = walking_loop(kernel, times);
    if (!plain || !loop) return false;
    const double trips = trips_of(kernel.loops[*loop]);
    const auto around = loops_around(kernel);
    const auto inside = [&](std::size_t op) {
        return std::find(around[op].begin(), around[op].end(), *loop) != around[op].end();
    };
    const auto data = works_on_data(kernel);
    bool adds = false;
    bool stores = false;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        for (const mk::Dep& dep : kernel.deps_of(kernel.ops[op])) {
            const bool carried = dep.distance > 0 && inside(op) && data[static_cast<std::size_t>(dep.op)];
            adds = adds || (carried && data[op] && kernel.ops[op].access_count == 0);
        }
        for (const Access& access : kernel.accesses_of(kernel.ops[op])) {
            if (space_of(kernel, access) != mk::Space::global || access.pattern == mk::PatternKind::broadcast)
                continue;
            if (access.rank != 1 || access.direction == mk::Direction::atomic) return false;
            const bool read = access.direction == mk::Direction::read;
            // A second pass over the data needs the whole sum of the first.
            if (!around[op].empty() && (!inside(op) || !read)) return false;
            stores = stores || !read;
        }
    }
    if (!adds || !stores || !divide_trips(kernel.loops[*loop], times)) return false;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        Op& changed = kernel.ops[op];
        for (std::size_t a = 0; a < changed.access_count; ++a) {
            Access& access = kernel.accesses[changed.first_access + a];
            if (space_of(kernel, access) != mk::Space::global) continue;
            if (access.direction == mk::Direction::write) {
                changed.cls = hw::InstructionClass::red_global;
                changed.dtype = hw::Dtype::fp32;
                changed.returns = false;
                access.direction = mk::Direction::atomic;
                continue;
            }
            if (!inside(op)) continue;
            const auto at = std::find(around[op].begin(), around[op].end(), *loop);
            const auto depth = static_cast<std::size_t>(at - around[op].begin());
            std::vector<Term> terms = terms_of(kernel, access.origin[0]);
            for (std::size_t t = terms.size(); t-- > 0;) {
                if (!is_walked(terms[t], Variable::loop, depth)) continue;
                Term part = terms[t];
                part.variable = Variable::tile;
                part.position = 3;
                part.coefficient *= static_cast<std::int64_t>(trips) / times;
                terms.push_back(part);
            }
            access.origin[0] = add_index(kernel, access.origin[0].constant, terms);
            access.reuse = 0;
        }
    }
    schedule.tiles[3] = times;
    kernel.grid.z *= times;
    kernel.cta_classes.clear();
    return true;
}

}  // namespace warptime::advice
