// Small edits of index expressions: a changed expression is appended to the pools, since others may share its
// terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::advice {

using model::kernel::Access;
using model::kernel::Index;
using model::kernel::Kernel;
using model::kernel::Op;
using model::kernel::Term;
using model::kernel::Variable;

inline constexpr std::int64_t lanes_per_warp = 32;

/// Rounds towards minus infinity, as index expressions do.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t value, std::int64_t divisor) {
    return value / divisor - (value % divisor != 0 && (value < 0) != (divisor < 0) ? 1 : 0);
}

[[nodiscard]] inline std::vector<Term> terms_of(const Kernel& kernel, const Index& index) {
    const auto first = kernel.terms.begin() + static_cast<std::ptrdiff_t>(index.first);
    return {first, first + static_cast<std::ptrdiff_t>(index.count)};
}

/// The expression constant + terms, at the end of the pool.
[[nodiscard]] inline Index add_index(Kernel& kernel, std::int64_t constant, const std::vector<Term>& terms) {
    const Index index{constant, static_cast<std::uint32_t>(kernel.terms.size()),
                      static_cast<std::uint32_t>(terms.size())};
    kernel.terms.insert(kernel.terms.end(), terms.begin(), terms.end());
    return terms.empty() ? Index{constant, 0, 0} : index;
}

/// A term that is floor(expression / divisor) mod modulus, times the coefficient.
[[nodiscard]] inline Term nested_term(Kernel& kernel, const Index& expression, std::int64_t coefficient,
                                      std::int64_t divisor, std::int64_t modulus) {
    kernel.nested.push_back(expression);
    Term term;
    term.coefficient = coefficient;
    term.variable = Variable::nested;
    term.position = static_cast<std::uint32_t>(kernel.nested.size() - 1);
    term.divisor = divisor;
    term.modulus = modulus;
    return term;
}

/// Bytes of an element of the access's buffer.
[[nodiscard]] inline std::int64_t element_bytes(const Kernel& kernel, const Access& access) {
    return hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
}

[[nodiscard]] inline model::kernel::Space space_of(const Kernel& kernel, const Access& access) {
    return kernel.buffers[static_cast<std::size_t>(access.buffer)].space;
}

}  // namespace warptime::advice
