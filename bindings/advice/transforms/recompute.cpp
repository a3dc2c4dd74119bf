// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/recompute.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/data_flow.hpp"
#include "bindings/advice/transforms/index_edit.hpp"
#include "bindings/advice/transforms/loops.hpp"

#include <algorithm>
#include <optional>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using hw::InstructionClass;

/// An index expression without its place in the pool.
bool same_index(const Kernel& kernel, const Index& a, const Index& b) {
    return a.constant == b.constant && terms_of(kernel, a) == terms_of(kernel, b);
}

bool same_place(const Kernel& kernel, const Access& a, const Access& b) {
    const bool plain = a.rank == 1 && b.rank == 1 &&
                       (a.pattern == mk::PatternKind::contiguous || a.pattern == mk::PatternKind::stride);
    return plain && a.buffer == b.buffer && a.pattern == b.pattern && a.bytes == b.bytes &&
           a.step == b.step &&
           (a.pattern == mk::PatternKind::contiguous ||
            (a.inner == b.inner && a.outer == b.outer && a.inner_extent == b.inner_extent)) &&
           same_index(kernel, a.origin[0], b.origin[0]);
}

const Access* only_global(const Kernel& kernel, const Op& op, InstructionClass cls) {
    if (op.cls != cls || op.access_count != 1) return nullptr;
    const Access& access = kernel.accesses[op.first_access];
    return space_of(kernel, access) == mk::Space::global ? &access : nullptr;
}

/// What made the value of a store, as far back as its loop's body goes, in order; the store's own addresses
/// and sums over trips are no part of it. Nothing where loads of the value have no plain place.
std::optional<std::vector<std::size_t>> makers_of(const Kernel& kernel, std::size_t store) {
    const auto around = loops_around(kernel);
    const auto data = works_on_data(kernel);
    std::vector<bool> needed(kernel.ops.size(), false);
    needed[store] = true;
    std::vector<std::size_t> makers;
    for (std::size_t op = store + 1; op-- > 0;) {
        if (!needed[op]) continue;
        for (const mk::Dep& dep : kernel.deps_of(kernel.ops[op])) {
            const auto from = static_cast<std::size_t>(dep.op);
            if (dep.distance == 0 && from < op && data[from] && around[from] == around[store])
                needed[from] = true;
        }
        if (op == store) continue;
        const Op& it = kernel.ops[op];
        const bool loads = it.cls == InstructionClass::ld_global;
        const bool computes = it.access_count == 0 && it.completes == mk::no_id &&
                              it.cls != InstructionClass::branch && it.cls != InstructionClass::bar_sync &&
                              it.cls != InstructionClass::shfl && it.cls != InstructionClass::exit;
        if (!loads && !computes) return std::nullopt;
        if (depends_on_itself(kernel, op)) return std::nullopt;
        makers.push_back(op);
    }
    std::reverse(makers.begin(), makers.end());
    return makers;
}

struct ReadBack {
    std::size_t store, load;
    bool covered;  ///< the place is written again, so that the store is not needed
};

std::optional<ReadBack> find(const Kernel& kernel) {
    const auto around = loops_around(kernel);
    for (std::size_t store = 0; store < kernel.ops.size(); ++store) {
        const Access* const put = only_global(kernel, kernel.ops[store], InstructionClass::st_global);
        if (put == nullptr) continue;
        for (std::size_t load = store + 1; load < kernel.ops.size(); ++load) {
            const Access* const got = only_global(kernel, kernel.ops[load], InstructionClass::ld_global);
            if (got == nullptr || !same_place(kernel, *put, *got)) continue;
            if (around[load].size() != around[store].size()) continue;
            bool covered = false;
            for (std::size_t later = load + 1; later < kernel.ops.size(); ++later) {
                const Access* const again =
                    only_global(kernel, kernel.ops[later], InstructionClass::st_global);
                covered = covered || (again != nullptr && same_place(kernel, *put, *again));
            }
            return ReadBack{store, load, covered};
        }
    }
    return std::nullopt;
}

/// Puts copies of the makers before the load, and takes the load away.
void replace(Kernel& kernel, const ReadBack& back, const std::vector<std::size_t>& makers) {
    std::vector<Op> copies;
    for (const std::size_t maker : makers) {
        Op copy = kernel.ops[maker];
        copy.access_count = 0;
        copy.dep_count = 0;
        copy.deps = {};
        copies.push_back(copy);
    }
    insert_ops(kernel, back.load, copies);
    const std::size_t load = back.load + copies.size();
    for (std::size_t c = 0; c < copies.size(); ++c) {
        const std::size_t at = back.load + c;
        const Op& maker = kernel.ops[makers[c]];
        const auto its = kernel.accesses_of(maker);
        const std::vector<Access> own(its.begin(), its.end());
        Op& copy = kernel.ops[at];
        kernel.accesses.insert(kernel.accesses.begin() + copy.first_access, own.begin(), own.end());
        copy.access_count = static_cast<std::uint16_t>(own.size());
        for (std::size_t i = at + 1; i < kernel.ops.size(); ++i) {
            kernel.ops[i].first_access += static_cast<std::uint32_t>(own.size());
        }
        // Copies depend on copies; four deps say enough of the order.
        for (const mk::Dep& dep : kernel.deps_of(maker)) {
            const auto found = std::find(makers.begin(), makers.end(), static_cast<std::size_t>(dep.op));
            if (found == makers.end() || copy.dep_count == copy.deps.size()) continue;
            copy.deps[copy.dep_count++] = {
                static_cast<mk::Id>(back.load + static_cast<std::size_t>(found - makers.begin())), 0};
        }
        for (std::size_t d = copy.dep_count; d < copy.deps.size(); ++d) copy.deps[d] = {};
    }
    // What waited for the load waits for the value that was made again: the load hands its users on to it.
    Op& gone = kernel.ops[load];
    gone.deps = {};
    gone.dep_count = 1;
    gone.deps[0] = {static_cast<mk::Id>(load - 1), 0};
    const Op* const begin = kernel.ops.data();
    remove_ops(kernel, [&](const Op& op) {
        const auto number = static_cast<std::size_t>(&op - begin);
        return number == load || (back.covered && number == back.store);
    });
}

}  // namespace

int recompute(Kernel& kernel) {
    int changed = 0;
    constexpr int most = 64;
    while (changed < most) {
        const auto back = find(kernel);
        if (!back) break;
        const auto makers = makers_of(kernel, back->store);
        if (!makers || makers->empty()) break;
        replace(kernel, *back, *makers);
        ++changed;
    }
    return changed;
}

}  // namespace warptime::advice
