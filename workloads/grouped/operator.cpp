// SPDX-License-Identifier: Apache-2.0
#include "workloads/grouped/operator.hpp"

#include "hw/error.hpp"
#include "workloads/grouped/lower.hpp"
#include "workloads/grouped/problem.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace warptime::workloads::grouped {

namespace {

using Kind = ParameterKind;

constexpr std::array<std::string_view, 1> dtypes{"bf16"};
/// One thread of the preparing kernel for each expert.
constexpr std::int64_t most_experts = 1023;
/// Rows have whole 16-byte words.
constexpr std::int64_t row_bytes = 16;

constexpr std::array<ParameterInfo, 5> parameters{{
    required_size("experts", "products, at most 1023"),
    required_size("tokens", "rows of A, which the experts share evenly"),
    required_size("n", "columns of each expert's weights"),
    required_size("k", "columns of A, rows of each expert's weights"),
    {"dtype", Kind::dtype, false, "bf16", dtypes, "element type", true},
}};

class GroupedRequest final : public Request {
  public:
    explicit GroupedRequest(const Problem& of) : problem(of) {}
    Problem problem;

    void check(const hw::Gpu& gpu) const override {
        if (problem.experts > most_experts) {
            throw Error("grouped_gemm experts", std::to_string(problem.experts),
                        fmt::format("at most {}", most_experts));
        }
        const auto refuse_row = [&](std::string_view name, std::int64_t size) {
            if (size * hw::bytes_of(problem.dtype) % row_bytes != 0) {
                throw Error(fmt::format("grouped_gemm {}", name), std::to_string(size),
                            fmt::format("rows of whole {}-byte words", row_bytes));
            }
        };
        refuse_row("n", problem.n);
        refuse_row("k", problem.k);
        const double bytes = problem.bytes(problem.experts);
        if (bytes > gpu.dram.capacity.value()) {
            throw Error("grouped_gemm size", fmt::format("{:.3g} GB", bytes / 1e9),
                        fmt::format("a problem that fits the {:.0f} GB of {}",
                                    gpu.dram.capacity.value() / 1e9, gpu.id));
        }
    }
    void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
               model::kernel::Program& program) const override {
        grouped::lower(problem, rule_of(libraries, problem, gpu), gpu, program);
    }
};

Problem problem_of(const Operation& operation) {
    const auto size = [&](std::string_view name) {
        return parse_size(operation.parameters.find(name)->second, fmt::format("grouped_gemm {}", name));
    };
    Problem p;
    p.experts = size("experts");
    p.tokens = size("tokens");
    p.n = size("n");
    p.k = size("k");
    const auto dtype = operation.parameters.find("dtype");
    p.dtype =
        hw::parse_dtype(dtype == operation.parameters.end() ? "bf16" : dtype->second, "grouped_gemm dtype");
    return p;
}

std::unique_ptr<Request> read(const Operation& operation) {
    return std::make_unique<GroupedRequest>(problem_of(operation));
}

UsefulWork work_of(const Operation& operation) {
    const Problem p = problem_of(operation);
    return {p.flop(), p.bytes(p.busy_experts()), p.bytes(p.experts)};
}

DataCount data_of(const Operation&, const libraries::Libraries& libraries, const hw::Gpu& gpu) {
    DataCount count;
    for (const libraries::GroupedRule& rule : libraries.grouped_rules) {
        if (rule.compute_major == gpu.compute_major) count.library += rule.numbers;
    }
    return count;
}

template <std::int64_t Problem::*Field>
bool set_size(Request& request, std::int64_t value) {
    static_cast<GroupedRequest&>(request).problem.*Field = value;
    return true;
}

SetNumber find_number(std::string_view parameter) {
    constexpr std::array<NamedSetNumber, 4> numbers{{
        {"experts", set_size<&Problem::experts>},
        {"tokens", set_size<&Problem::tokens>},
        {"n", set_size<&Problem::n>},
        {"k", set_size<&Problem::k>},
    }};
    return number_named(parameter, numbers);
}

}  // namespace

const OperatorInfo& grouped_gemm_operator() {
    static const OperatorInfo info{
        "grouped_gemm",
        "a matrix product for each expert, whose rows of A follow one another (torch._grouped_mm)",
        "warptime predict grouped_gemm 64 16384 1408 2048 --gpu h200-sxm",
        parameters,
        nullptr,
        nullptr,
        work_of,
        data_of,
        read,
        find_number,
        nullptr,
        false};
    return info;
}

}  // namespace warptime::workloads::grouped
