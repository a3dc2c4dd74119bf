// Writes a kernel record by record: buffers, tokens, index expressions and the bodies of its roles.
// Ignores: whether the result makes sense (checks.hpp says so). Grows only the kernel's own vectors, so that
// a kernel that is cleared and refilled does not allocate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace warptime::model::kernel {

/// Loops inside one another (the size of Coordinates::loop), and loops and branches together.
inline constexpr int max_loop_depth = 8;
inline constexpr int max_nesting = 16;

/// coefficient * variable, for the terms of Builder::index.
[[nodiscard]] constexpr Term term(Variable variable, std::int64_t coefficient = 1,
                                  std::uint16_t position = 0) {
    Term result;
    result.coefficient = coefficient;
    result.variable = variable;
    result.position = position;
    return result;
}

/// Appends to a kernel that the caller has cleared. Records get ids in the order of the calls. Every call
/// throws Error, naming kernel and record, when a pool is full or a body is left or entered out of turn.
class Builder {
  public:
    explicit Builder(Kernel& kernel) : kernel_(kernel) {}

    Id buffer(const Buffer& buffer);
    /// A buffer to be filled in where it stands, before the next one; spares copying it.
    Buffer& buffer();
    [[nodiscard]] Id last_buffer() const { return static_cast<Id>(kernel_.buffers.size() - 1); }
    Id token(const Token& token);
    /// A token to be filled in where it stands, likewise.
    Token& token();
    [[nodiscard]] Id last_token() const { return static_cast<Id>(kernel_.tokens.size() - 1); }

    /// Index expressions. floordiv and modulo take any expression (it becomes a nested one) and a positive
    /// number; both round towards minus infinity.
    [[nodiscard]] static Index constant(std::int64_t value) { return Index{value, 0, 0}; }
    Index index(std::int64_t constant, std::initializer_list<Term> terms) {
        const Index result{constant, terms.size() == 0 ? 0 : static_cast<std::uint32_t>(kernel_.terms.size()),
                           static_cast<std::uint16_t>(terms.size())};
        for (const Term& term : terms) kernel_.terms.emplace_back() = term;
        return result;
    }
    /// Begins an expression that `add` completes before the next one is begun: as `index`, without copying
    /// its terms.
    [[nodiscard]] Index begin(std::int64_t constant = 0) const {
        return {constant, static_cast<std::uint32_t>(kernel_.terms.size()), 0};
    }
    Term& add(Index& index, Variable variable, std::int64_t coefficient = 1, std::uint16_t position = 0) {
        Term& added = kernel_.terms.emplace_back();
        added.coefficient = coefficient;
        added.variable = variable;
        added.position = position;
        ++index.count;
        return added;
    }
    Index variable(Variable variable, std::int64_t coefficient = 1, std::uint16_t position = 0);
    Index sum(const Index& a, const Index& b);
    Index scaled(const Index& a, std::int64_t factor);
    Index floordiv(const Index& a, std::int64_t divisor);
    Index modulo(const Index& a, std::int64_t modulus);
    /// min(max(a, low), high).
    Index clamp(const Index& a, std::int64_t low, std::int64_t high);

    /// Begins a role and ends the one before.
    void role(const Name& name, int warps, int instances = 1, int registers_per_thread = 0);
    /// Says that the instances of the role being written take the work items in turn (ping-pong).
    void alternate();

    Id op(const Op& op, std::initializer_list<Access> accesses = {});
    /// An op to be filled in where it stands, before the next one; spares copying it. Its accesses are added
    /// as those of any other.
    Op& op(InstructionClass cls);
    [[nodiscard]] Id last_op() const { return static_cast<Id>(kernel_.ops.size() - 1); }
    /// Adds an access to the op written last; to be filled in before the next one.
    Access& access();
    void access(const Access& access) { this->access() = access; }
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
    std::array<std::uint16_t, max_nesting> open_{};
    int depth_ = 0;
    bool in_role_ = false;
};

}  // namespace warptime::model::kernel
