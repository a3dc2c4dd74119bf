// Special functions (MUFU) and double precision.
// SPDX-License-Identifier: Apache-2.0
//
// The hardware's approximations are off by one or two units in the last place; here the nearest number is
// given.
#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/reals.hpp"

#include <cfenv>
#include <numbers>

namespace warptime::workloads::frontends::machine {

namespace {

enum class SpecialFunction : std::uint32_t {
    reciprocal,
    root_reciprocal,
    root,
    power,
    logarithm,
    sine,
    cosine,
    tangent
};

/// Functions that cost so much that they are computed for enabled lanes alone.
constexpr bool is_costly(SpecialFunction function) {
    return function > SpecialFunction::root;
}

double special(SpecialFunction function, double x) {
    switch (function) {
        case SpecialFunction::reciprocal:
            return 1.0 / x;
        case SpecialFunction::root_reciprocal:
            return 1.0 / std::sqrt(x);
        case SpecialFunction::root:
            return std::sqrt(x);
        case SpecialFunction::power:
            return std::exp2(x);
        case SpecialFunction::logarithm:
            return std::log2(x);
        // The argument counts whole turns.
        case SpecialFunction::sine:
            return std::sin(2.0 * std::numbers::pi * (x - std::nearbyint(x)));
        case SpecialFunction::cosine:
            return std::cos(2.0 * std::numbers::pi * (x - std::nearbyint(x)));
        case SpecialFunction::tangent:
            return std::tanh(x);
    }
    return x;
}

/// Denormal arguments and results count as zero.
template <SpecialFunction function>
Flow special_function(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto result = [&](int lane) {
        const float x = flushed(lane_real(warp, instruction.sources[0], lane));
        return bits_of_real(flushed(static_cast<float>(special(function, static_cast<double>(x)))));
    };
    Row& destination = warp.rows[instruction.destination];
    if constexpr (is_costly(function)) {
        for_each_lane(enabled,
                      [&](int lane) { destination.lane[static_cast<std::size_t>(lane)] = result(lane); });
    } else {
        write_lanes(destination, enabled, result);
    }
    return Flow::next;
}

Execute special_function_of(SpecialFunction function) {
    switch (function) {
        case SpecialFunction::reciprocal:
            return special_function<SpecialFunction::reciprocal>;
        case SpecialFunction::root_reciprocal:
            return special_function<SpecialFunction::root_reciprocal>;
        case SpecialFunction::root:
            return special_function<SpecialFunction::root>;
        case SpecialFunction::power:
            return special_function<SpecialFunction::power>;
        case SpecialFunction::logarithm:
            return special_function<SpecialFunction::logarithm>;
        case SpecialFunction::sine:
            return special_function<SpecialFunction::sine>;
        case SpecialFunction::cosine:
            return special_function<SpecialFunction::cosine>;
        case SpecialFunction::tangent:
            break;
    }
    return special_function<SpecialFunction::tangent>;
}

/// Upper words of doubles: the estimate from which the compiler's iteration starts.
Flow special_function_double(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto function = static_cast<SpecialFunction>(instruction.variant);
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        const double x =
            std::bit_cast<double>(std::uint64_t{lane_bits(warp, instruction.sources[0], lane)} << 32U);
        return static_cast<std::uint32_t>(bits_of_double(special(function, x)) >> 32U);
    });
    return Flow::next;
}

constexpr std::uint32_t of_upper_half = 0x100U;  ///< bit of Instruction::variant

/// fp16, or bf16.
template <bool brain>
Flow special_function_half(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto function = static_cast<SpecialFunction>(instruction.variant & 0xffU);
    const unsigned shift = (instruction.variant & of_upper_half) != 0 ? 16U : 0U;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) -> std::uint32_t {
        const auto x = static_cast<std::uint16_t>(lane_bits(warp, instruction.sources[0], lane) >> shift);
        const float given = brain ? real_of_brain(x) : real_of_half(x);
        const double result = special(function, static_cast<double>(given));
        return brain ? brain_of_double(result) : half_of_real(result);
    });
    return Flow::next;
}

// ---- double precision

enum class DoubleOperation : std::uint32_t { add, multiply, multiply_add };

/// Every lane's number of a source; unused ones are as good as any.
std::array<double, lanes_per_warp> doubles_of(const Warp& warp, const Source& source) {
    std::array<double, lanes_per_warp> values;  // NOLINT: filled whole below.
    const Row& low = warp.rows[source.row];
    const Row& high = warp.rows[source.row + 1];
    const std::uint32_t keep = source.keep, flip = source.flip;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint32_t upper = (high.lane[lane] & keep) ^ flip;
        values[lane] = std::bit_cast<double>(std::uint64_t{low.lane[lane]} | (std::uint64_t{upper} << 32U));
    }
    return values;
}

template <DoubleOperation operation>
Flow double_arithmetic(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto a = doubles_of(warp, instruction.sources[0]);
    const auto b = doubles_of(warp, instruction.sources[1]);
    const auto c = operation == DoubleOperation::multiply_add ? doubles_of(warp, instruction.sources[2]) : a;
    write_lanes64(warp.rows[instruction.destination], warp.rows[instruction.destination + 1], enabled,
                  [&](int lane) {
                      const auto l = static_cast<std::size_t>(lane);
                      if constexpr (operation == DoubleOperation::add) {
                          return bits_of_double(a[l] + b[l]);
                      } else if constexpr (operation == DoubleOperation::multiply) {
                          return bits_of_double(a[l] * b[l]);
                      } else {
                          return bits_of_double(std::fma(a[l], b[l], c[l]));
                      }
                  });
    return Flow::next;
}

/// Rounded in a direction. `volatile` keeps the compiler from computing outside of the rounding mode.
template <DoubleOperation operation>
[[gnu::noinline]] std::array<std::uint64_t, lanes_per_warp> directed_doubles(
    const std::array<double, lanes_per_warp>& a, const std::array<double, lanes_per_warp>& b,
    const std::array<double, lanes_per_warp>& c, Rounding rounding) {
    std::array<std::uint64_t, lanes_per_warp> results{};
    std::fesetround(rounding == Rounding::down ? FE_DOWNWARD
                    : rounding == Rounding::up ? FE_UPWARD
                                               : FE_TOWARDZERO);
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const volatile double x = a[lane], y = b[lane], z = c[lane];
        volatile double result = 0.0;
        if constexpr (operation == DoubleOperation::add) {
            result = x + y;
        } else if constexpr (operation == DoubleOperation::multiply) {
            result = x * y;
        } else {
            result = std::fma(x, y, z);
        }
        results[lane] = bits_of_double(result);
    }
    std::fesetround(FE_TONEAREST);
    return results;
}

/// variant: the rounding.
template <DoubleOperation operation>
Flow directed_double_arithmetic(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto a = doubles_of(warp, instruction.sources[0]);
    const auto b = doubles_of(warp, instruction.sources[1]);
    const auto c = operation == DoubleOperation::multiply_add ? doubles_of(warp, instruction.sources[2]) : a;
    const auto results = directed_doubles<operation>(a, b, c, static_cast<Rounding>(instruction.variant));
    write_lanes64(warp.rows[instruction.destination], warp.rows[instruction.destination + 1], enabled,
                  [&results](int lane) { return results[static_cast<std::size_t>(lane)]; });
    return Flow::next;
}

template <DoubleOperation operation>
Execute double_arithmetic_of(Rounding rounding) {
    return rounding == Rounding::nearest ? double_arithmetic<operation>
                                         : directed_double_arithmetic<operation>;
}

Flow set_double_predicate(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t how = (instruction.variant >> 9U) & 3U;
    const Mask result = lanes_related(instruction.variant & 0xfU, [&](std::size_t source, int lane) {
        return lane_double(warp, instruction.sources[source], lane);
    });
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    const auto combined = [how, other](Mask mask) {
        return how == 0 ? mask & other : how == 1 ? mask | other : mask ^ other;
    };
    write_predicate(warp, instruction.predicates_out[0], enabled, combined(result));
    write_predicate(warp, instruction.predicates_out[1], enabled, combined(~result));
    return Flow::next;
}

/// DSETP.MIN and .MAX: the first predicate says that the first number is the one, the second one that neither
/// is a number. Code selects the words by them and makes the second operand a quiet NaN. variant bit 0:
/// minimum.
Flow choose_double(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t how = (instruction.variant >> 9U) & 3U;
    const bool least = (instruction.variant & 1U) != 0;
    Mask first = 0, none = 0;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const double a = lane_double(warp, instruction.sources[0], lane);
        const double b = lane_double(warp, instruction.sources[1], lane);
        // -0 is less than +0.
        const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
        const bool chosen = a == a && (b != b || less == least);
        first |= static_cast<Mask>(chosen) << static_cast<unsigned>(lane);
        none |= static_cast<Mask>(a != a && b != b) << static_cast<unsigned>(lane);
    }
    const Mask other = read_predicate(warp, instruction.predicates_in[0]);
    const auto combined = [how, other](Mask mask) {
        return how == 0 ? mask & other : how == 1 ? mask | other : mask ^ other;
    };
    write_predicate(warp, instruction.predicates_out[0], enabled, combined(first));
    write_predicate(warp, instruction.predicates_out[1], enabled, combined(none));
    return Flow::next;
}

Flow double_minimum(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask smaller = read_predicate(warp, instruction.predicates_in[0]);
    write_lanes64(warp.rows[instruction.destination], warp.rows[instruction.destination + 1], enabled,
                  [&](int lane) {
                      const double a = lane_double(warp, instruction.sources[0], lane);
                      const double b = lane_double(warp, instruction.sources[1], lane);
                      const bool less = ((smaller >> static_cast<unsigned>(lane)) & 1U) != 0;
                      const double chosen = a != a ? b : b != b ? a : (a < b) == less ? a : b;
                      return bits_of_double(chosen);
                  });
    return Flow::next;
}

}  // namespace

/// MUFU.RCP Rd, Rs
void decode_special_function(Decoder& decoder, Instruction& instruction) {
    struct Named {
        std::string_view name;
        SpecialFunction function;
    };
    constexpr std::array names{
        Named{"RCP", SpecialFunction::reciprocal},      Named{"RCP64H", SpecialFunction::reciprocal},
        Named{"RSQ", SpecialFunction::root_reciprocal}, Named{"RSQ64H", SpecialFunction::root_reciprocal},
        Named{"SQRT", SpecialFunction::root},           Named{"EX2", SpecialFunction::power},
        Named{"LG2", SpecialFunction::logarithm},       Named{"SIN", SpecialFunction::sine},
        Named{"COS", SpecialFunction::cosine},          Named{"TANH", SpecialFunction::tangent}};
    const std::string& name =
        decoder.line().modifiers.empty() ? decoder.line().opcode : decoder.line().modifiers.front();
    const Named* found = nullptr;
    for (const Named& named : names) {
        found = named.name == name ? &named : found;
    }
    if (found == nullptr || decoder.line().modifiers.size() > 2) {
        decoder.refuse("another special function");
    }
    const bool wide = name.ends_with("64H");
    const bool brain = decoder.has("BF16");
    const bool half = decoder.has("F16") || brain;
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, half ? SourceType::half2 : SourceType::real32);
    instruction.variant = static_cast<std::uint32_t>(found->function);
    for (const std::string& modifier : decoder.operand(1).modifiers) {
        if (!half) {
            decoder.refuse("a half of a number that has none");
        }
        instruction.variant |= modifier == "H1" ? of_upper_half : 0U;
    }
    instruction.execute = wide    ? special_function_double
                          : brain ? special_function_half<true>
                          : half  ? special_function_half<false>
                                  : special_function_of(found->function);
}

/// DADD Rd, Ra, Rb; DMUL; DFMA Rd, Ra, Rb, Rc
void decode_double(Decoder& decoder, Instruction& instruction) {
    const std::string& opcode = decoder.line().opcode;
    instruction.destination = decoder.destination(0);
    const std::size_t count = decoder.operands() - 1;
    // The sum of DADD is printed with a zero register between its operands on some architectures.
    for (std::size_t i = 0; i < count && i < 3; ++i) {
        instruction.sources[i] = decoder.source(i + 1, SourceType::real64);
    }
    if (opcode == "DADD" && count == 3) {
        instruction.sources[1] = instruction.sources[2];
    }
    const Rounding rounding = rounding_of(decoder);
    instruction.variant = static_cast<std::uint32_t>(rounding);
    instruction.execute = opcode == "DADD"   ? double_arithmetic_of<DoubleOperation::add>(rounding)
                          : opcode == "DMUL" ? double_arithmetic_of<DoubleOperation::multiply>(rounding)
                                             : double_arithmetic_of<DoubleOperation::multiply_add>(rounding);
}

void decode_double_compare(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.predicates_out[1] = decoder.predicate_out(1);
    instruction.sources[0] = decoder.source(2, SourceType::real64);
    instruction.sources[1] = decoder.source(3, SourceType::real64);
    instruction.predicates_in[0] = decoder.predicate_in(4);
    const std::uint32_t how = decoder.has("AND") ? 0U : decoder.has("OR") ? 1U : 2U;
    if (decoder.has("MIN") || decoder.has("MAX")) {
        instruction.variant = (decoder.has("MIN") ? 1U : 0U) | (how << 9U);
        instruction.execute = choose_double;
        return;
    }
    instruction.variant = relations_of(decoder) | (how << 9U);
    instruction.execute = set_double_predicate;
}

void decode_double_minimum(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1, SourceType::real64);
    instruction.sources[1] = decoder.source(2, SourceType::real64);
    instruction.predicates_in[0] = decoder.predicate_in(3);
    instruction.execute = double_minimum;
}

}  // namespace warptime::workloads::frontends::machine
