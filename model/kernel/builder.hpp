// Builder that writes a kernel record by record: buffers, tokens, index expressions and bodies of roles.
// Ignores: whether the result makes sense (checks.hpp says so). Only the kernel's own vectors grow, so that
// clearing and refilling a kernel does not allocate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace warptime::model::kernel {

/// Most nested loops (the size of Coordinates::loop), and most nested loops and branches together.
inline constexpr int max_loop_depth = 8;
inline constexpr int max_nesting = 16;

/// coefficient * variable, for the terms of Builder::index.
[[nodiscard]] constexpr Term term(Variable variable, std::int64_t coefficient = 1,
                                  std::uint32_t position = 0) {
    Term result;
    result.coefficient = coefficient;
    result.variable = variable;
    result.position = position;
    return result;
}

/// Appends to a kernel that the caller has cleared. Records get ids in the order of the calls. A full pool,
/// or a body left or entered out of turn, throws Error naming kernel and record.
class Builder {
  public:
    explicit Builder(Kernel& kernel) : kernel_(kernel) {}

    Id buffer(const Buffer& buffer);
    /// A new buffer to fill in place, before the next one; spares a copy.
    Buffer& buffer();
    [[nodiscard]] Id last_buffer() const { return static_cast<Id>(kernel_.buffers.size() - 1); }
    Id token(const Token& token);
    /// A new token to fill in place, before the next one; spares a copy.
    Token& token();
    [[nodiscard]] Id last_token() const { return static_cast<Id>(kernel_.tokens.size() - 1); }

    /// Index expressions. floordiv and modulo take any expression, which becomes a nested one, and a positive
    /// number. Both round towards minus infinity.
    [[nodiscard]] static Index constant(std::int64_t value) { return Index{value, 0, 0}; }
    Index index(std::int64_t constant, std::initializer_list<Term> terms) {
        const Index result{constant, terms.size() == 0 ? 0 : static_cast<std::uint32_t>(kernel_.terms.size()),
                           static_cast<std::uint32_t>(terms.size())};
        for (const Term& term : terms) kernel_.terms.emplace_back() = term;
        return result;
    }
    /// Begins an expression that `add` completes before the next one begins. Unlike `index` it copies no
    /// terms.
    [[nodiscard]] Index begin(std::int64_t constant = 0) const {
        return {constant, static_cast<std::uint32_t>(kernel_.terms.size()), 0};
    }
    Term& add(Index& index, Variable variable, std::int64_t coefficient = 1, std::uint32_t position = 0) {
        Term& added = kernel_.terms.emplace_back();
        added.coefficient = coefficient;
        added.variable = variable;
        added.position = position;
        ++index.count;
        return added;
    }
    Index variable(Variable variable, std::int64_t coefficient = 1, std::uint32_t position = 0);
    Index sum(const Index& a, const Index& b);
    Index scaled(const Index& a, std::int64_t factor);
    Index floordiv(const Index& a, std::int64_t divisor);
    Index modulo(const Index& a, std::int64_t modulus);
    /// min(max(a, low), high).
    Index clamp(const Index& a, std::int64_t low, std::int64_t high);
    Index product(const Index& a, const Index& b);
    /// Two to the power of an expression; 0 where it is negative.
    Index power(const Index& exponent);

    /// Begins a role and ends the previous one.
    void role(const Name& name, int warps, int instances = 1, int registers_per_thread = 0);
    /// Makes the instances of the current role take the work items in turn (ping-pong).
    void alternate();

    Id op(const Op& op, std::initializer_list<Access> accesses = {});
    /// A new op to fill in place, before the next one; spares a copy. Accesses are added as for any other op.
    Op& op(InstructionClass cls);
    [[nodiscard]] Id last_op() const { return static_cast<Id>(kernel_.ops.size() - 1); }
    /// Adds an access to the last op; to be filled in before the next one.
    Access& access();
    void access(const Access& access) { this->access() = access; }
    /// Adds a dep to the last op, which may have any number of them.
    void dep(const Dep& dep);
    /// Number of the warp's lanes that the last op is active in, or that take the last branch.
    void lanes(const Index& lanes);
    void loop(const Index& trips, int unroll = 1);
    void loop(std::int64_t trips, int unroll = 1) { loop(constant(trips), unroll); }
    void loop(const Trips& trips, int unroll = 1, int machine_unroll = 1);
    void branch(const Branch& branch);
    /// Ends the innermost loop or branch.
    void end();
    void wait(Id token, int lag = 0);
    void signal(Id token, SignalOn on = SignalOn::issue);
    void mark(Name name);

    /// Ends the last role; throws when a loop or branch is still open.
    void finish();

  private:
    void add_node(NodeKind kind, std::size_t payload);
    void open(NodeKind kind, std::size_t payload);
    void end_role();
    Index nested(const Index& inner, const Term& outer);

    Kernel& kernel_;
    std::array<std::uint32_t, max_nesting> open_{};
    int depth_ = 0;
    bool in_role_ = false;
};

}  // namespace warptime::model::kernel
