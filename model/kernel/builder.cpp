// Appends records to a kernel, and checks the limits of its index types.
// Ignores: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/builder.hpp"

#include "hw/error.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace warptime::model::kernel {

namespace {

[[noreturn]] void fail(const Kernel& kernel, const char* what, std::string value, std::string expected) {
    throw Error("kernel '" + kernel.name + "' " + what, std::move(value), std::move(expected));
}

// Checks for frequent calls: messages are built apart from the path that does not fail.
[[noreturn]] void fail(const Kernel& kernel, const char* what, const char* value, const char* expected) {
    fail(kernel, what, std::string(value), std::string(expected));
}
[[noreturn]] void fail(const Kernel& kernel, const char* what, std::size_t value, const char* expected) {
    fail(kernel, what, std::to_string(value), std::string(expected));
}

/// Ids are signed, 32 bits wide.
constexpr auto most_records = static_cast<std::size_t>(std::numeric_limits<Id>::max());

Id next_id(const Kernel& kernel, const char* what, std::size_t size) {
    if (size >= most_records) fail(kernel, what, size, "fewer than 2^31 records");
    return static_cast<Id>(size);
}

[[noreturn]] void refuse_node(const Kernel& kernel, bool in_role, std::size_t payload) {
    if (!in_role) fail(kernel, "body", "a node outside of a role", "a role begun before");
    if (kernel.nodes.size() >= most_records) {
        fail(kernel, "nodes", kernel.nodes.size(), "fewer than 2^31 nodes");
    }
    fail(kernel, "body", payload, "fewer than 2^31 records");
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

Id Builder::buffer(const Buffer& buffer) {
    const Id id = next_id(kernel_, "buffers", kernel_.buffers.size());
    kernel_.buffers.push_back(buffer);
    return id;
}

Buffer& Builder::buffer() {
    next_id(kernel_, "buffers", kernel_.buffers.size());
    return kernel_.buffers.emplace_back();
}

Id Builder::token(const Token& token) {
    const Id id = next_id(kernel_, "tokens", kernel_.tokens.size());
    kernel_.tokens.push_back(token);
    return id;
}

Token& Builder::token() {
    next_id(kernel_, "tokens", kernel_.tokens.size());
    return kernel_.tokens.emplace_back();
}

Index Builder::variable(Variable variable, std::int64_t coefficient, std::uint32_t position) {
    return index(0, {term(variable, coefficient, position)});
}

Index Builder::sum(const Index& a, const Index& b) {
    const std::int64_t constant = a.constant + b.constant;
    if (b.count == 0) {
        return {constant, a.first, a.count};
    }
    if (a.count == 0) {
        return {constant, b.first, b.count};
    }
    const Index result{constant, static_cast<std::uint32_t>(kernel_.terms.size()),
                       static_cast<std::uint32_t>(a.count + b.count)};
    for (const Index& part : {a, b}) {
        for (std::uint32_t i = 0; i < part.count; ++i) {
            const Term copy = kernel_.terms[part.first + i];
            kernel_.terms.push_back(copy);
        }
    }
    return result;
}

Index Builder::scaled(const Index& a, std::int64_t factor) {
    if (a.count == 0) {
        return constant(a.constant * factor);
    }
    const Index result{a.constant * factor, static_cast<std::uint32_t>(kernel_.terms.size()), a.count};
    for (std::uint32_t i = 0; i < a.count; ++i) {
        Term copy = kernel_.terms[a.first + i];
        copy.coefficient *= factor;
        kernel_.terms.push_back(copy);
    }
    return result;
}

Index Builder::nested(const Index& inner, const Term& outer) {
    const Id id = next_id(kernel_, "nested", kernel_.nested.size());
    kernel_.nested.push_back(inner);
    Term whole = outer;
    whole.variable = Variable::nested;
    whole.position = static_cast<std::uint32_t>(id);
    return index(0, {whole});
}

Index Builder::product(const Index& a, const Index& b) {
    if (a.count == 0) return scaled(b, a.constant);
    if (b.count == 0) return scaled(a, b.constant);
    const Id id = next_id(kernel_, "nested", kernel_.nested.size());
    kernel_.nested.push_back(a);
    kernel_.nested.push_back(b);
    return variable(Variable::product, 1, static_cast<std::uint32_t>(id));
}

Index Builder::power(const Index& exponent) {
    if (exponent.count == 0) return constant(detail::power_of_two(exponent.constant));
    const Id id = next_id(kernel_, "nested", kernel_.nested.size());
    kernel_.nested.push_back(exponent);
    return variable(Variable::power, 1, static_cast<std::uint32_t>(id));
}

Index Builder::floordiv(const Index& a, std::int64_t divisor) {
    if (divisor <= 0) {
        fail(kernel_, "floordiv", std::to_string(divisor), "a positive divisor");
    }
    if (a.count == 0) {
        return constant(floor_quotient(a.constant, divisor));
    }
    Term outer;
    outer.divisor = divisor;
    return nested(a, outer);
}

Index Builder::modulo(const Index& a, std::int64_t modulus) {
    if (modulus <= 0) {
        fail(kernel_, "modulo", std::to_string(modulus), "a positive modulus");
    }
    if (a.count == 0) {
        return constant(a.constant - modulus * floor_quotient(a.constant, modulus));
    }
    Term outer;
    outer.modulus = modulus;
    return nested(a, outer);
}

Index Builder::clamp(const Index& a, std::int64_t low, std::int64_t high) {
    if (low > high) {
        fail(kernel_, "clamp", std::to_string(low) + " > " + std::to_string(high), "low <= high");
    }
    if (a.count == 0) {
        return constant(std::clamp(a.constant, low, high));
    }
    Term outer;
    outer.low = low;
    outer.high = high;
    return nested(a, outer);
}

void Builder::role(const Name& name, int warps, int instances, int registers_per_thread) {
    end_role();
    Role& role = kernel_.roles.emplace_back();
    role.name = name;
    role.warps = warps;
    role.instances = instances;
    role.registers_per_thread = registers_per_thread;
    role.first_node = role.last_node = static_cast<std::uint32_t>(kernel_.nodes.size());
    in_role_ = true;
}

void Builder::alternate() {
    if (!in_role_) {
        fail(kernel_, "alternate", "no role", "a role begun before");
    }
    kernel_.roles.back().alternate = true;
}

void Builder::add_node(NodeKind kind, std::size_t payload) {
    const std::size_t position = kernel_.nodes.size();
    if (!in_role_ || position >= most_records || payload >= most_records) {
        refuse_node(kernel_, in_role_, payload);
    }
    Node& node = kernel_.nodes.emplace_back();
    node.kind = kind;
    node.payload = static_cast<std::uint32_t>(payload);
    node.end = static_cast<std::uint32_t>(position + 1);
}

void Builder::open(NodeKind kind, std::size_t payload) {
    if (depth_ == max_nesting) {
        fail(kernel_, "levels of a body", static_cast<std::size_t>(depth_) + 1,
             "at most 16 loops and branches nested");
    }
    add_node(kind, payload);
    open_[static_cast<std::size_t>(depth_++)] = static_cast<std::uint32_t>(kernel_.nodes.size() - 1);
}

Id Builder::op(const Op& given, std::initializer_list<Access> accesses) {
    Op& added = op(given.cls);
    const std::uint32_t first_access = added.first_access;
    added = given;
    added.first_access = first_access;
    added.access_count = 0;
    for (const Access& one : accesses) {
        access(one);
    }
    return last_op();
}

Op& Builder::op(InstructionClass cls) {
    add_node(NodeKind::op, kernel_.ops.size());
    Op& added = kernel_.ops.emplace_back();
    added.cls = cls;
    added.first_access = static_cast<std::uint32_t>(kernel_.accesses.size());
    return added;
}

Access& Builder::access() {
    if (kernel_.nodes.empty() || kernel_.nodes.back().kind != NodeKind::op) {
        fail(kernel_, "access", "no op", "an op written just before");
    }
    Op& op = kernel_.ops.back();
    next_id(kernel_, "accesses", kernel_.accesses.size());
    if (op.access_count == std::numeric_limits<std::uint16_t>::max()) {
        fail(kernel_, "op accesses", std::size_t{op.access_count} + 1, "at most 65535 accesses for one op");
    }
    ++op.access_count;
    return kernel_.accesses.emplace_back();
}

void Builder::dep(const Dep& dep) {
    if (kernel_.nodes.empty() || kernel_.nodes.back().kind != NodeKind::op) {
        fail(kernel_, "dep", "no op", "an op written just before");
    }
    Op& op = kernel_.ops.back();
    if (op.dep_count < op.deps.size()) {
        op.deps[op.dep_count] = dep;
    } else {
        if (op.dep_count == op.deps.size())
            op.more_deps = static_cast<std::uint32_t>(kernel_.more_deps.size());
        kernel_.more_deps.push_back(dep);
    }
    ++op.dep_count;
}

void Builder::lanes(const Index& lanes) {
    const bool none = kernel_.nodes.empty();
    const Node node = none ? Node{} : kernel_.nodes.back();
    if (none || (node.kind != NodeKind::op && node.kind != NodeKind::branch)) {
        fail(kernel_, "lanes", "no op or branch", "an op or a branch written just before");
    }
    const Id id = next_id(kernel_, "lanes", kernel_.lane_counts.size());
    kernel_.lane_counts.push_back(lanes);
    (node.kind == NodeKind::op ? kernel_.ops[node.payload].lanes : kernel_.branches[node.payload].lanes) = id;
}

void Builder::loop(const Index& trips, int unroll) {
    open(NodeKind::loop, kernel_.loops.size());
    Loop& added = kernel_.loops.emplace_back();
    added.trips.index = trips;
    added.unroll = unroll;
}

void Builder::loop(const Trips& trips, int unroll, int machine_unroll) {
    open(NodeKind::loop, kernel_.loops.size());
    kernel_.loops.push_back({trips, unroll, machine_unroll});
}

void Builder::branch(const Branch& branch) {
    open(NodeKind::branch, kernel_.branches.size());
    kernel_.branches.push_back(branch);
}

void Builder::end() {
    if (depth_ == 0) {
        fail(kernel_, "body", "end", "an open loop or branch");
    }
    kernel_.nodes[open_[static_cast<std::size_t>(--depth_)]].end =
        static_cast<std::uint32_t>(kernel_.nodes.size());
}

void Builder::wait(Id token, int lag) {
    add_node(NodeKind::wait, kernel_.waits.size());
    kernel_.waits.push_back({token, lag});
}

void Builder::signal(Id token, SignalOn on) {
    add_node(NodeKind::signal, kernel_.signals.size());
    kernel_.signals.push_back({token, on});
}

void Builder::mark(Name name) {
    add_node(NodeKind::mark, kernel_.marks.size());
    kernel_.marks.push_back({name});
}

void Builder::end_role() {
    if (depth_ != 0) {
        fail(kernel_, "body", std::to_string(depth_) + " loops or branches still open", "end() for each");
    }
    if (in_role_) {
        kernel_.roles.back().last_node = static_cast<std::uint32_t>(kernel_.nodes.size());
    }
    in_role_ = false;
}

void Builder::finish() {
    end_role();
}

}  // namespace warptime::model::kernel
