// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/fusion.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/data_flow.hpp"
#include "bindings/advice/transforms/index_edit.hpp"
#include "bindings/advice/transforms/loops.hpp"

#include <algorithm>
#include <array>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using hw::InstructionClass;

bool is_arithmetic(InstructionClass cls) {
    return cls == InstructionClass::fma_f32 || cls == InstructionClass::add_f32 ||
           cls == InstructionClass::mul_f32;
}

/// Instructions that take numbers apart into exponent, mantissa and quadrant, and put them together.
bool is_of_bits(InstructionClass cls) {
    using enum InstructionClass;
    constexpr std::array classes{shift, logic, add_s32, mad_s32, mad_wide_s32, convert};
    return std::find(classes.begin(), classes.end(), cls) != classes.end();
}

/// The exact functions of a kernel, as compilers write them: numbers are taken apart, a series or the special
/// function unit gives a value, and products correct the value.
class Functions {
  public:
    explicit Functions(const Kernel& kernel)
        : kernel_(kernel),
          users_(kernel.ops.size()),
          bits_(kernel.ops.size(), false),
          series_(kernel.ops.size(), false),
          inside_(kernel.ops.size(), false) {
        for (std::size_t i = 0; i < size(); ++i) {
            for (const mk::Dep& dep : kernel.deps_of(kernel.ops[i])) {
                users_[static_cast<std::size_t>(dep.op)].push_back(i);
            }
        }
        find_bits();
        for (std::size_t i = 0; i < size(); ++i) {
            constexpr int series = 3;  // terms, at least
            const Op& op = kernel.ops[i];
            series_[i] = op.cls == InstructionClass::fma_f32 && op.chain >= series &&
                         !depends_on_itself(kernel, i) && reads_bits(i) && !follows_function(i);
        }
        find_loops();
    }

    [[nodiscard]] bool any() const {
        for (std::size_t i = 0; i < size(); ++i) {
            if (is_function(i)) return true;
        }
        return false;
    }
    [[nodiscard]] bool is_series(std::size_t op) const { return series_[op]; }
    /// Whether a branch asks if the unit's result will do: one of the instructions is the check.
    [[nodiscard]] bool is_checked(std::size_t op) const {
        return std::any_of(users_[op].begin(), users_[op].end(), [&](std::size_t user) {
            return kernel_.ops[user].cls == InstructionClass::branch;
        });
    }
    /// Arithmetic next to a function or to what takes numbers apart, and a series of products behind that.
    [[nodiscard]] bool is_correction(std::size_t op) const {
        const Op& it = kernel_.ops[op];
        if (!is_arithmetic(it.cls) || it.count < 2 || depends_on_itself(kernel_, op)) return false;
        return beside(op) > 0 || (it.chain > 1 && any_dep(op, [&](std::size_t d) {
                                      return d < op && kernel_.ops[d].count > 1 && beside(d) > 0 &&
                                             is_arithmetic(kernel_.ops[d].cls);
                                  }));
    }
    /// Instructions of the functions next to an op: as many products stay as there are functions.
    [[nodiscard]] std::int64_t beside(std::size_t op) const {
        std::int64_t count = 0;
        const auto look = [&](std::size_t other) {
            if (bits_[other] || series_[other]) count = std::max<std::int64_t>(count, 1);
            if (kernel_.ops[other].cls != InstructionClass::mufu) return;
            count = std::max(count, kernel_.ops[other].count - (is_checked(other) ? 1 : 0));
        };
        for (const mk::Dep& dep : kernel_.deps_of(kernel_.ops[op])) look(static_cast<std::size_t>(dep.op));
        for (const std::size_t user : users_[op]) look(user);
        return count;
    }
    /// What a fast function does without.
    [[nodiscard]] bool goes(std::size_t op) const {
        const Op& it = kernel_.ops[op];
        if (bits_[op] || inside_[op]) return true;
        const auto of_function = [&](std::size_t other) { return bits_[other] || is_function(other); };
        switch (it.cls) {
            case InstructionClass::compare_select:
                return any_dep(op, of_function);
            case InstructionClass::branch:
                return asks(op) || surrounds(op);
            case InstructionClass::fma_f64:  // between two conversions
                return any_dep(op, [&](std::size_t d) { return bits_[d]; });
            case InstructionClass::move:
            case InstructionClass::fma_f16x2:  // coefficients
                return it.dep_count == 0 && !users_[op].empty() &&
                       std::all_of(users_[op].begin(), users_[op].end(), [&](std::size_t user) {
                           return bits_[user] || inside_[user] || series_[user] || is_correction(user);
                       });
            default:
                return is_arithmetic(it.cls) && is_second_correction(op);
        }
    }

  private:
    [[nodiscard]] std::size_t size() const { return kernel_.ops.size(); }
    [[nodiscard]] bool is_function(std::size_t op) const {
        return series_[op] || kernel_.ops[op].cls == InstructionClass::mufu;
    }
    template <class Predicate>
    [[nodiscard]] bool any_dep(std::size_t op, Predicate predicate) const {
        for (const mk::Dep& dep : kernel_.deps_of(kernel_.ops[op])) {
            if (predicate(static_cast<std::size_t>(dep.op))) return true;
        }
        return false;
    }
    /// A branch to exact code, where the unit's result will not do.
    [[nodiscard]] bool asks(std::size_t op) const {
        return kernel_.ops[op].cls == InstructionClass::branch &&
               any_dep(op, [&](std::size_t d) { return kernel_.ops[d].cls == InstructionClass::mufu; });
    }
    /// Where the lanes that took such a branch were parted, or meet again.
    [[nodiscard]] bool surrounds(std::size_t op) const {
        const auto is_branch = [&](std::size_t i) { return kernel_.ops[i].cls == InstructionClass::branch; };
        if (kernel_.ops[op].dep_count > 0) return false;
        std::size_t next = op + 1;
        while (next < size() && !is_branch(next)) ++next;
        if (next < size() && asks(next)) return true;
        std::size_t last = op;
        while (last > 0 && !is_branch(last - 1)) --last;
        return last > 0 && asks(last - 1);
    }
    /// A product that corrects what another one has corrected.
    [[nodiscard]] bool is_second_correction(std::size_t op) const {
        return is_correction(op) && any_dep(op, [&](std::size_t d) {
                   return d < op && is_correction(d) && users_[d].size() == 1;
               });
    }
    /// A series behind the unit's result makes that result exact, and is no function by itself.
    [[nodiscard]] bool follows_function(std::size_t op, int hops = 2) const {
        return any_dep(op, [&](std::size_t d) {
            if (kernel_.ops[d].cls == InstructionClass::mufu) return true;
            return hops > 0 && d < op && is_arithmetic(kernel_.ops[d].cls) && follows_function(d, hops - 1);
        });
    }
    /// A number, and neither an index nor bits: arithmetic makes or takes the value as it is.
    [[nodiscard]] bool is_number(std::size_t op) const {
        if (is_floating(kernel_.ops[op].cls)) return true;
        return kernel_.ops[op].cls == InstructionClass::ld_global && kernel_.ops[op].access_count > 0 &&
               std::any_of(users_[op].begin(), users_[op].end(),
                           [&](std::size_t user) { return is_floating(kernel_.ops[user].cls); });
    }
    [[nodiscard]] bool passes_on(std::size_t op) const {
        using enum InstructionClass;
        constexpr std::array classes{move, compare_select, ld_local, st_local};
        const InstructionClass cls = kernel_.ops[op].cls;
        return is_of_bits(cls) || std::find(classes.begin(), classes.end(), cls) != classes.end() ||
               (cls == ld_global && kernel_.ops[op].access_count == 0);
    }
    /// Bits come from numbers, lead to numbers or to the thread's own scratch, and place no access.
    void find_bits() {
        std::vector<bool> from(size(), false), to(size(), false), places(size(), false);
        for (std::size_t i = 0; i < size(); ++i) {
            from[i] =
                passes_on(i) && any_dep(i, [&](std::size_t d) { return is_number(d) || (d < i && from[d]); });
        }
        for (std::size_t i = size(); i-- > 0;) {
            for (const std::size_t user : users_[i]) {
                const Op& op = kernel_.ops[user];
                to[i] = to[i] || is_floating(op.cls) || op.cls == InstructionClass::st_local ||
                        (user > i && passes_on(user) && to[user]);
                const bool placed = op.access_count > 0 && op.cls != InstructionClass::st_local &&
                                    op.cls != InstructionClass::ld_local;
                places[i] = places[i] || placed || (user > i && passes_on(user) && places[user]);
            }
            const InstructionClass cls = kernel_.ops[i].cls;
            bits_[i] = is_of_bits(cls) && from[i] && to[i] && !places[i];
        }
    }
    [[nodiscard]] bool reads_bits(std::size_t op, int hops = 4) const {
        return any_dep(op, [&](std::size_t d) {
            if (bits_[d]) return true;
            const bool between =
                is_arithmetic(kernel_.ops[d].cls) || kernel_.ops[d].cls == InstructionClass::compare_select;
            return hops > 0 && d < op && between && reads_bits(d, hops - 1);
        });
    }
    /// Tables of constants are read at one place by all lanes.
    [[nodiscard]] bool reads_own_places(const Op& op) const {
        const auto accesses = kernel_.accesses_of(op);
        return std::any_of(accesses.begin(), accesses.end(), [](const Access& access) {
            return access.pattern != mk::PatternKind::broadcast || access.direction != mk::Direction::read;
        });
    }
    /// Loops over bits in local memory, as for the quadrant of a large angle, and what reads their result.
    void find_loops() {
        const auto around = loops_around(kernel_);
        for (std::size_t loop = 0; loop < kernel_.loops.size(); ++loop) {
            bool of_bits = false;
            bool other = false;
            const auto in_loop = [&](std::size_t i) {
                return std::find(around[i].begin(), around[i].end(), loop) != around[i].end();
            };
            for (std::size_t i = 0; i < size(); ++i) {
                if (!in_loop(i)) continue;
                const Op& op = kernel_.ops[i];
                const bool local =
                    op.cls == InstructionClass::st_local || op.cls == InstructionClass::ld_local;
                of_bits = of_bits || (local && any_dep(i, [&](std::size_t d) { return bits_[d]; }));
                other = other || is_floating(op.cls) || (!local && reads_own_places(op));
            }
            if (!of_bits || other) continue;
            for (std::size_t i = 0; i < size(); ++i) {
                const InstructionClass cls = kernel_.ops[i].cls;
                inside_[i] = inside_[i] || in_loop(i) || cls == InstructionClass::st_local ||
                             cls == InstructionClass::ld_local;
            }
        }
        for (std::size_t i = 0; i < size(); ++i) {
            const bool strict = is_of_bits(kernel_.ops[i].cls);
            if (strict && any_dep(i, [&](std::size_t d) {
                    return d < i && inside_[d] && kernel_.ops[d].cls == InstructionClass::ld_local;
                })) {
                inside_[i] = true;
            }
        }
    }

    const Kernel& kernel_;
    std::vector<std::vector<std::size_t>> users_;
    std::vector<bool> bits_, series_, inside_;
};

}  // namespace

bool fuse_with_producer(Kernel& kernel) {
    mk::Id first = mk::no_id;
    std::vector<bool> written(kernel.buffers.size(), false);
    constexpr auto few = 4;  // loads, so that the elements of a thread are still in registers
    const auto loads = std::count_if(kernel.ops.begin(), kernel.ops.end(),
                                     [](const Op& op) { return op.cls == InstructionClass::ld_global; });
    bool plain = kernel.loops.empty() && kernel.tokens.empty() && loads <= few;
    for (const Access& access : kernel.accesses) {
        plain = plain && space_of(kernel, access) != mk::Space::shared;
        if (space_of(kernel, access) != mk::Space::global) continue;
        plain = plain && (access.pattern == mk::PatternKind::contiguous ||
                          access.pattern == mk::PatternKind::broadcast ||
                          access.pattern == mk::PatternKind::collective);
        if (access.direction != mk::Direction::read) {
            written[static_cast<std::size_t>(access.buffer)] = true;
            continue;
        }
        if (first == mk::no_id && access.pattern != mk::PatternKind::broadcast) first = access.buffer;
    }
    if (!plain || first == mk::no_id || written[static_cast<std::size_t>(first)]) return false;
    const Kernel before = kernel;
    remove_ops(kernel, [&before, first](const Op& op) {
        const auto accesses = before.accesses_of(op);
        return op.cls == InstructionClass::ld_global &&
               std::any_of(accesses.begin(), accesses.end(),
                           [first](const Access& access) { return access.buffer == first; });
    });
    return true;
}

bool use_fast_functions(Kernel& kernel) {
    const Kernel before_all = kernel;
    const Functions functions(before_all);
    if (!functions.any()) return false;
    std::vector<bool> drop(kernel.ops.size(), false);
    bool changed = false;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        const Op before = op;
        drop[i] = functions.goes(i);
        if (functions.is_series(i)) {
            // As many functions as series; each is an instruction of the special function unit.
            op.cls = InstructionClass::mufu;
            op.count = std::max<std::int64_t>(1, op.count / op.chain);
            op.chain = 1;
        } else if (op.cls == InstructionClass::mufu && functions.is_checked(i)) {
            op.count = std::max<std::int64_t>(1, op.count - 1);
        } else if (functions.is_correction(i)) {
            op.count = std::min(op.count, std::max<std::int64_t>(1, functions.beside(i)));
            op.chain = std::min(op.chain, op.count);
        }
        changed = changed || drop[i] || !(op == before);
    }
    if (!changed) return false;
    const Op* const begin = kernel.ops.data();
    remove_ops(kernel, [&](const Op& op) { return drop[static_cast<std::size_t>(&op - begin)]; });
    return true;
}

bool multiply_by_matrices(Kernel& kernel) {
    constexpr std::int64_t rows = 8, columns = 4;  // a warp's products become 32 times as many
    const mk::Schedule& schedule = kernel.schedule;
    if (schedule.kind != mk::ScheduleKind::one_per_cta || kernel.cluster.volume() != 1 ||
        schedule.tiles[0] < rows || schedule.tiles[1] < columns) {
        return false;
    }
    bool changed = false;
    std::vector<bool> loads(kernel.ops.size(), false);
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
        Op& op = kernel.ops[i];
        loads[i] = op.cls == InstructionClass::ld_shared || op.cls == InstructionClass::ld_global;
        std::size_t operands = 0;
        for (const mk::Dep& dep : kernel.deps_of(op)) {
            const auto from = static_cast<std::size_t>(dep.op);
            operands += from < i && loads[from] ? std::size_t{1} : std::size_t{0};
        }
        const bool single = op.cls == InstructionClass::fma_f32;
        const bool words = op.cls == InstructionClass::mad_s32;  // four products of bytes
        if (operands < 2 || !(single || words)) continue;
        op.cls = InstructionClass::mma_sync;
        op.dtype = single ? hw::Dtype::tf32 : hw::Dtype::int8;
        op.shape = single ? std::array<std::int32_t, 3>{16, 8, 8} : std::array<std::int32_t, 3>{16, 8, 32};
        changed = true;
    }
    if (!changed) return false;
    // The same stream of instructions computes a tile that is so much larger: fragments take the place of
    // values.
    for (Access& access : kernel.accesses) {
        if (space_of(kernel, access) != mk::Space::global) continue;
        std::vector<Term> terms = terms_of(kernel, access.origin[0]);
        for (Term& term : terms) {
            if (term.variable == Variable::tile && term.position == 0) term.coefficient *= rows;
            if (term.variable == Variable::tile && term.position == 1) term.coefficient *= columns;
        }
        access.origin[0] = add_index(kernel, access.origin[0].constant, terms);
    }
    kernel.schedule.tiles[0] = (schedule.tiles[0] + rows - 1) / rows;
    kernel.schedule.tiles[1] = (schedule.tiles[1] + columns - 1) / columns;
    kernel.schedule.group = std::min(kernel.schedule.group, kernel.schedule.tiles[0]);
    kernel.grid.x = kernel.schedule.tiles[0];
    kernel.grid.y = kernel.schedule.tiles[1];
    kernel.cta_classes.clear();
    return true;
}

}  // namespace warptime::advice
