// Value of an index expression at a place of the running kernel.
// Ignores: overflow, which wraps; sizes are bounded where they enter. Needs expressions that checks.hpp
// accepts: ids in range, positive divisors, nested expressions that refer to earlier ones only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warptime::model::kernel {

[[nodiscard]] inline std::int64_t evaluate(const Kernel& kernel, const Index& index, const Coordinates& at);

namespace detail {

/// Two to a power; 0 for a negative one, as a shift to the right gives, and at most 2^62.
[[nodiscard]] constexpr std::int64_t power_of_two(std::int64_t exponent) {
    return exponent < 0 ? 0 : std::int64_t{1} << std::min<std::int64_t>(exponent, 62);
}

[[nodiscard]] inline std::int64_t product(const Kernel& kernel, std::size_t first, const Coordinates& at) {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(evaluate(kernel, kernel.nested[first], at)) *
        static_cast<std::uint64_t>(evaluate(kernel, kernel.nested[first + 1], at)));
}

[[nodiscard]] inline std::int64_t value_of_variable(const Kernel& kernel, const Term& term,
                                                    const Coordinates& at) {
    switch (term.variable) {
        case Variable::tile:
            return at.tile[term.position];
        case Variable::item_begin:
            return at.item_begin;
        case Variable::item_end:
            return at.item_end;
        case Variable::problem:
            return at.problem;
        case Variable::cta_rank:
            return at.cta_rank;
        case Variable::warp:
            return at.warp;
        case Variable::thread_x:
            return at.thread[0];
        case Variable::thread_y:
            return at.thread[1];
        case Variable::thread_z:
            return at.thread[2];
        case Variable::instance:
            return at.instance;
        case Variable::loop:
            return at.loop[term.position];
        case Variable::nested:
            return evaluate(kernel, kernel.nested[term.position], at);
        case Variable::product:
            return product(kernel, term.position, at);
        case Variable::power:
            return power_of_two(evaluate(kernel, kernel.nested[term.position], at));
    }
    return 0;
}

/// Quotient rounded towards minus infinity, as Python does; b > 0.
[[nodiscard]] inline std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return quotient - (quotient * b > a ? 1 : 0);
}
/// Remainder in [0, b); b > 0.
[[nodiscard]] inline std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
    const std::int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

[[nodiscard]] inline std::int64_t wrapping_multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b) +
                                     static_cast<std::uint64_t>(c));
}

}  // namespace detail

/// constant + sum of coefficient * clamp(mod(floordiv(variable, divisor), modulus), low, high).
inline std::int64_t evaluate(const Kernel& kernel, const Index& index, const Coordinates& at) {
    std::int64_t sum = index.constant;
    for (std::size_t i = index.first, last = i + index.count; i < last; ++i) {
        const Term& term = kernel.terms[i];
        std::int64_t value = detail::value_of_variable(kernel, term, at);
        if (term.divisor != 1) {
            value = detail::floor_divide(value, term.divisor);
        }
        if (term.modulus != 0) {
            value = detail::floor_modulo(value, term.modulus);
        }
        value = std::min(std::max(value, term.low), term.high);
        sum = detail::wrapping_multiply_add(term.coefficient, value, sum);
    }
    return sum;
}

/// Coordinates of a work item; all others are zero.
[[nodiscard]] inline Coordinates coordinates_of(const WorkItem& item) {
    Coordinates at;
    std::copy(item.tile.begin(), item.tile.end(), at.tile);
    at.item_begin = item.begin;
    at.item_end = item.end;
    at.problem = item.problem;
    return at;
}

}  // namespace warptime::model::kernel
