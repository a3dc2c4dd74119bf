// Integer expression in the coordinates of a running thread: sum of coefficient * term, with floordiv, mod,
// min, max. Terms live in the kernel's pool, so that an expression is three words and refilling a kernel does
// not allocate.
// Ignores: overflow beyond 64 bits (sizes are checked at entry).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace warptime::model::kernel {

/// Variables of an index. `tile` and `loop` take a position: tile[position], and loop[position] where 0 is
/// the outermost loop around the op. `nested` is another expression of the same pool; its id is the position.
/// Through it floordiv and mod also apply to sums. `product` is that expression times the next one of the
/// pool, and `power` is two to the power of it (0 below 2^0, 2^62 beyond). `problem` numbers the problems of
/// a grouped launch.
enum class Variable : std::uint8_t {
    tile,
    item_begin,
    item_end,
    problem,
    cta_rank,
    warp,
    thread_x,
    thread_y,
    thread_z,
    instance,
    loop,
    nested,
    product,
    power
};

/// Expressions of the pool that a variable refers to, from its position on; none before `nested`.
[[nodiscard]] constexpr std::uint32_t nested_count(Variable variable) {
    return variable == Variable::product                                 ? 2
           : variable == Variable::nested || variable == Variable::power ? 1
                                                                         : 0;
}

/// coefficient * min(max(mod(floordiv(variable, divisor), modulus), low), high); modulus 0 means none.
struct Term {
    std::int64_t coefficient = 1;
    Variable variable = Variable::tile;
    std::uint32_t position = 0;
    std::int64_t divisor = 1;
    std::int64_t modulus = 0;
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();

    friend bool operator==(const Term&, const Term&) = default;
};

/// constant + terms[first, first + count).
struct Index {
    std::int64_t constant = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] bool is_constant() const { return count == 0; }
    friend bool operator==(const Index&, const Index&) = default;
};

/// Values at which an index is evaluated.
struct Coordinates {
    std::int64_t tile[4] = {};
    std::int64_t item_begin = 0;
    std::int64_t item_end = 0;
    std::int64_t problem = 0;
    std::int64_t cta_rank = 0;
    std::int64_t warp = 0;  ///< within the role
    std::int64_t thread[3] = {};
    std::int64_t instance = 0;  ///< of the role
    std::int64_t loop[8] = {};
};

}  // namespace warptime::model::kernel
