// The records of the other elementwise operators: activations, casts, masks, dropout, rotary embedding,
// AdamW. Ignores: what the host does, such as seeds of random numbers. Source of what PyTorch launches:
// aten/src/ATen/native (activation, TensorAdvancedIndexing, Dropout.cu, Copy.cu).
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/arrays/record.hpp"
#include "workloads/elementwise/adamw.hpp"
#include "workloads/elementwise/dropout.hpp"
#include "workloads/elementwise/operator.hpp"
#include "workloads/elementwise/stream.hpp"
#include "workloads/movement/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace warptime::workloads::elementwise {

namespace {

using arrays::ArrayOperator;
using arrays::Context;
using arrays::Sizes;
using mk::Direction;
using mk::Dtype;

constexpr std::int64_t most_arrays = 16;

std::int64_t widest(std::span<const Operand> operands) {
    std::int64_t most = 1;
    for (const Operand& operand : operands) {
        most = std::max<std::int64_t>(most, hw::bytes_of(operand.dtype));
    }
    return most;
}

/// One kernel of PyTorch, or the ideal one with the same arithmetic.
void add_stream(const Sizes& s, const Context& context, std::string_view rule_name, std::string_view name,
                std::span<const Operand> operands, Dtype result) {
    const libraries::KernelRule& rule = context.rule(rule_name, s.dtype);
    const StreamRule torch = stream_rule(rule, hw::bytes_of(result));
    if (s.torch) {
        lower_stream(name, s.elements(), operands, torch, context.program.add_kernel());
        return;
    }
    const StreamRule ideal = ideal_stream(context.rule("ideal stream", s.dtype), torch.body,
                                          static_cast<double>(torch.elements), widest(operands));
    lower_stream(name, s.elements(), operands, ideal, context.program.add_kernel());
}

double vectors(const Sizes& s, double count) {
    return count * static_cast<double>(s.elements()) * static_cast<double>(s.element_bytes());
}

UsefulWork work_of(const Sizes& s, double operations_each, double bytes) {
    return {operations_each * static_cast<double>(s.elements()), bytes, bytes};
}

// ---- elementwise

constexpr std::array<ParameterInfo, 8> elementwise_parameters{{
    required_size("n", "elements of each array"),
    arrays::optional_size("inputs", "1", "arrays that are read"),
    arrays::optional_size("outputs", "1", "arrays that are written"),
    arrays::optional_size("flops", "1", "floating-point operations for each element"),
    arrays::optional_size(
        "row", "",
        "elements of a row where the arrays do not lie alike, so that places are worked out one "
        "by one; default: they lie alike"),
    arrays::optional_size("repeated", "", "with row: of the inputs, those that every row reads alike"),
    arrays::dtype_parameter(arrays::all_dtypes),
    arrays::implementation_parameter(),
}};

void check_elementwise(const Sizes& s) {
    for (const auto& [name, value] : {std::pair{"inputs", s.inputs}, std::pair{"outputs", s.outputs}}) {
        if (value > most_arrays) {
            throw Error(fmt::format("elementwise {}", name), fmt::format("{}", value), "1 to 16 arrays");
        }
    }
    if (s.row != 0 && (s.n % s.row != 0 || s.outputs != 1)) {
        throw Error("elementwise row", fmt::format("{}", s.row),
                    fmt::format("a divisor of n = {}, and one output beside it", s.n));
    }
    if (s.row != 0 && !s.torch) {
        throw Error("elementwise row", fmt::format("{}", s.row),
                    "implementation=torch: an ideal kernel has no gaps");
    }
    if (s.repeated != 0 && (s.row == 0 || s.repeated >= s.inputs)) {
        throw Error("elementwise repeated", fmt::format("{}", s.repeated),
                    "row beside it, and fewer than the inputs");
    }
    if (s.flops > 1000000) {
        throw Error("elementwise flops", fmt::format("{}", s.flops), "at most 1000000 for each element");
    }
}

void lower_elementwise(const Sizes& s, const Context& context) {
    if (s.row != 0 && s.torch) {
        const std::int64_t rows = s.n / s.row;
        // As rows of pairs that come apart, the least that arrays can differ.
        const std::int64_t parts = rows % 2 == 0 ? 2 : 1;
        movement::lower_strided({"elementwise",
                                 s.n,
                                 s.n,
                                 {s.row, rows / parts},
                                 {1, s.row * parts, s.row},
                                 3,
                                 s.inputs,
                                 s.repeated,
                                 s.flops},
                                s.dtype, context);
        return;
    }
    static constexpr std::string_view names[] = {"a0", "a1", "a2",  "a3",  "a4",  "a5",  "a6",  "a7",
                                                 "a8", "a9", "a10", "a11", "a12", "a13", "a14", "a15"};
    static constexpr std::string_view results[] = {"r0", "r1", "r2",  "r3",  "r4",  "r5",  "r6",  "r7",
                                                   "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
    std::vector<Operand> operands;
    for (std::int64_t i = 0; i < s.inputs; ++i) {
        operands.push_back({names[static_cast<std::size_t>(i)], s.dtype, Direction::read});
    }
    for (std::int64_t i = 0; i < s.outputs; ++i) {
        operands.push_back({results[static_cast<std::size_t>(i)], s.dtype, Direction::write});
    }
    const StreamRule torch = stream_rule(context.rule("elementwise", s.dtype), s.element_bytes());
    StreamRule rule = s.torch ? torch
                              : ideal_stream(context.rule("ideal stream", s.dtype), torch.body,
                                             static_cast<double>(torch.elements), s.element_bytes());
    const auto cls = s.dtype == Dtype::fp64 ? mk::InstructionClass::fma_f64 : mk::InstructionClass::add_f32;
    rule.body.push_back({cls, static_cast<double>(s.flops * rule.elements)});
    lower_stream("elementwise", s.n, operands, rule, context.program.add_kernel());
}

constexpr ArrayOperator elementwise_operator{
    "elementwise",
    "any function of arrays, element by element",
    "warptime predict elementwise 16777216 --inputs 3 --outputs 2 --flops 20 --dtype fp32 --gpu h200-sxm",
    elementwise_parameters,
    [](const Sizes& s) {
        return work_of(s, static_cast<double>(s.flops),
                       vectors(s, static_cast<double>(s.inputs - s.repeated + s.outputs)));
    },
    lower_elementwise,
    check_elementwise};

// ---- activations

constexpr std::array<ParameterInfo, 3> vector_parameters{{
    required_size("n", "elements of each array"),
    arrays::dtype_parameter(arrays::real_dtypes),
    arrays::implementation_parameter(),
}};
constexpr std::array<ParameterInfo, 4> matrix_parameters{{
    required_size("rows", "rows of each matrix"),
    required_size("cols", "columns of each matrix"),
    arrays::dtype_parameter(arrays::real_dtypes),
    arrays::implementation_parameter(),
}};

std::array<Operand, 2> in_and_out(Dtype in, Dtype out) {
    return {{{"in", in, Direction::read}, {"out", out, Direction::write}}};
}

constexpr ArrayOperator gelu_operator{
    "gelu",
    "torch.nn.functional.gelu(a), by erf: reads n elements, writes n elements",
    "warptime predict gelu 67108864 --dtype bf16 --gpu h200-sxm",
    vector_parameters,
    [](const Sizes& s) { return work_of(s, 1.0, vectors(s, 2)); },
    [](const Sizes& s, const Context& context) {
        add_stream(s, context, "gelu", "gelu", in_and_out(s.dtype, s.dtype), s.dtype);
    }};

constexpr ArrayOperator silu_operator{"silu",
                                      "torch.nn.functional.silu(a): reads n elements, writes n elements",
                                      "warptime predict silu 67108864 --dtype bf16 --gpu h200-sxm",
                                      vector_parameters,
                                      [](const Sizes& s) { return work_of(s, 1.0, vectors(s, 2)); },
                                      [](const Sizes& s, const Context& context) {
                                          add_stream(s, context, "silu", "silu", in_and_out(s.dtype, s.dtype),
                                                     s.dtype);
                                      }};

constexpr ArrayOperator swiglu_operator{
    "swiglu",
    "torch.nn.functional.silu(a) * b of two matrices",
    "warptime predict swiglu 8192 14336 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work_of(s, 2.0, vectors(s, 3)); },
    [](const Sizes& s, const Context& context) {
        const std::array<Operand, 3> product{{{"silu_a", s.dtype, Direction::read},
                                              {"b", s.dtype, Direction::read},
                                              {"out", s.dtype, Direction::write}}};
        if (!s.torch) {
            add_stream(s, context, "silu", "swiglu", product, s.dtype);
            return;
        }
        add_stream(s, context, "silu", "silu", in_and_out(s.dtype, s.dtype), s.dtype);
        add_stream(s, context, "mul", "mul", product, s.dtype);
    }};

constexpr ArrayOperator masked_fill_operator{
    "masked_fill",
    "a.masked_fill(mask, value): a matrix and a mask of one byte an element",
    "warptime predict masked_fill 8192 8192 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work_of(s, 0.0, vectors(s, 2) + static_cast<double>(s.elements())); },
    [](const Sizes& s, const Context& context) {
        const std::array<Operand, 3> fill{{{"a", s.dtype, Direction::read},
                                           {"mask", Dtype::int8, Direction::read},
                                           {"out", s.dtype, Direction::write}}};
        // PyTorch fills a copy of the matrix.
        if (s.torch) movement::add_copy(context, s.elements() * s.element_bytes());
        add_stream(s, context, "masked_fill", "masked_fill", fill, s.dtype);
    }};

constexpr std::array<ParameterInfo, 4> cast_parameters{{
    required_size("n", "elements of each array"),
    arrays::dtype_parameter(arrays::number_dtypes),
    {"out_dtype", ParameterKind::dtype, false, "", arrays::number_dtypes,
     "element type of the result; default: bf16 of fp32, else fp32", true},
    arrays::implementation_parameter(),
}};

/// The types that PyTorch casts with a kernel of their own.
bool is_narrowing(const Sizes& s) {
    return s.dtype == Dtype::fp32 && (s.out_dtype == Dtype::bf16 || s.out_dtype == Dtype::fp16);
}

void lower_cast(const Sizes& s, const Context& context) {
    const std::array<Operand, 2> operands = in_and_out(s.dtype, s.out_dtype);
    const bool own = is_narrowing(s) || !s.torch;
    add_stream(s, context, own ? "cast" : "cast_dynamic", "cast", operands, s.out_dtype);
}

constexpr ArrayOperator cast_operator{
    "cast",
    "a.to(out_dtype): reads n elements, writes n elements of another type",
    "warptime predict cast 67108864 --dtype fp32 --out-dtype bf16 --gpu h200-sxm",
    cast_parameters,
    [](const Sizes& s) {
        return work_of(s, 0.0, vectors(s, 1) + static_cast<double>(s.n) * hw::bytes_of(s.out_dtype));
    },
    lower_cast,
    [](const Sizes& s) {
        if (s.dtype == s.out_dtype) {
            throw Error("cast out_dtype", std::string(hw::to_string(s.out_dtype)),
                        "another type than dtype; copy copies within a type");
        }
    }};

constexpr ArrayOperator dropout_operator{
    "dropout",
    "torch.nn.functional.dropout(a, p) in training: writes the result and a mask of one byte an element",
    "warptime predict dropout 67108864 --dtype bf16 --gpu h200-sxm",
    vector_parameters,
    [](const Sizes& s) { return work_of(s, 1.0, vectors(s, 2) + static_cast<double>(s.elements())); },
    lower_dropout};

// ---- rotary embedding

void lower_rope(const Sizes& s, const Context& context) {
    const std::array<Operand, 3> product{{{"x", s.dtype, Direction::read},
                                          {"table", s.dtype, Direction::read},
                                          {"product", s.dtype, Direction::write}}};
    if (!s.torch) {
        const std::array<Operand, 4> all{{{"x", s.dtype, Direction::read},
                                          {"cos", s.dtype, Direction::read},
                                          {"sin", s.dtype, Direction::read},
                                          {"out", s.dtype, Direction::write}}};
        add_stream(s, context, "mul", "rope", all, s.dtype);
        return;
    }
    // x * cos + cat(-x2, x1) * sin
    add_stream(s, context, "mul", "mul", product, s.dtype);
    const std::int64_t half = s.cols / 2;
    movement::lower_strided({"neg", s.rows * half, s.rows * s.cols, {half, s.rows}, {1, s.cols, 0}, 2},
                            s.dtype, context);
    movement::lower_cat({s.dtype, s.rows, half, false}, context);
    add_stream(s, context, "mul", "mul", product, s.dtype);
    add_stream(s, context, "plus", "add", product, s.dtype);
}

constexpr ArrayOperator rope_operator{
    "rope",
    "rotary embedding x * cos + rotate_half(x) * sin: x, cos and sin have rows and cols",
    "warptime predict rope 131072 128 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work_of(s, 3.0, vectors(s, 4)); },
    lower_rope,
    [](const Sizes& s) {
        if (s.cols % 2 != 0) {
            throw Error("rope cols", fmt::format("{}", s.cols), "an even number: two halves are rotated");
        }
    }};

// ---- AdamW

constexpr std::array<ParameterInfo, 4> adamw_parameters{{
    required_size("n", "elements of all tensors together"),
    arrays::optional_size("tensors", "1", "tensors of equal length that hold them"),
    {"dtype", ParameterKind::dtype, false, "fp32", arrays::real_dtypes, "element type", true},
    arrays::implementation_parameter(),
}};

constexpr ArrayOperator adamw_operator{
    "adamw",
    "one fused AdamW step: reads parameters, gradients and two moments, writes all but the gradients",
    "warptime predict adamw 134217728 --tensors 32 --dtype fp32 --gpu h200-sxm",
    adamw_parameters,
    [](const Sizes& s) {
        return UsefulWork{12.0 * static_cast<double>(s.n), vectors(s, 7), vectors(s, 4)};
    },
    lower_adamw,
    [](const Sizes& s) {
        if (s.tensors > s.n) {
            throw Error("adamw tensors", fmt::format("{}", s.tensors),
                        fmt::format("at most n = {}: each tensor has elements", s.n));
        }
    }};

}  // namespace

std::vector<OperatorInfo> operators() {
    return {add_operator(),
            copy_operator(),
            arrays::record<adamw_operator>(),
            arrays::record<cast_operator>(),
            arrays::record<dropout_operator>(),
            arrays::record<elementwise_operator>(),
            arrays::record<gelu_operator>(),
            arrays::record<masked_fill_operator>(),
            arrays::record<rope_operator>(),
            arrays::record<silu_operator>(),
            arrays::record<swiglu_operator>()};
}

}  // namespace warptime::workloads::elementwise
