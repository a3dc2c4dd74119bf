// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/operator.hpp"

#include "hw/error.hpp"
#include "workloads/attention/request.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace warptime::workloads::attention {

namespace {

using Kind = ParameterKind;

constexpr std::array<std::string_view, 2> dtypes{"bf16", "fp16"};
constexpr std::array<std::string_view, 5> implementations{"torch", "flash2", "flash3", "cudnn", "triton"};
constexpr std::array<std::string_view, 3> backward_implementations{"torch", "flash2", "cudnn"};

constexpr ParameterInfo implementation_of(std::span<const std::string_view> words) {
    return {"implementation",
            Kind::choice,
            false,
            words.front(),
            words,
            "library whose kernel runs; torch: what PyTorch's scaled_dot_product_attention takes",
            false};
}

constexpr std::array<ParameterInfo, 9> parameters_with(std::span<const std::string_view> words) {
    return {{
        required_size("batch", "sequences"),
        required_size("heads", "heads of queries"),
        required_size("sq", "queries of a sequence"),
        required_size("head_dim", "elements of a head, a multiple of 8 up to 256"),
        {"kv_heads", Kind::size, false, "", {}, "heads of keys and values; default: heads", true},
        {"sk", Kind::size, false, "", {}, "keys of a sequence; default: sq", true},
        {"causal",
         Kind::boolean,
         false,
         "0",
         {},
         "1: a query sees the keys up to its own; the last one all",
         true},
        {"dtype", Kind::dtype, false, "bf16", dtypes, "element type", true},
        implementation_of(words),
    }};
}

constexpr std::array<ParameterInfo, 10> forward_parameters = [] {
    std::array<ParameterInfo, 10> all{};
    const std::array<ParameterInfo, 9> common = parameters_with(implementations);
    std::copy(common.begin(), common.end(), all.begin());
    all.back() = {"page_size", Kind::size,
                  false,       "",
                  {},          "keys of a page, a power of two; default: keys of a sequence lie together",
                  true};
    return all;
}();
constexpr std::array<ParameterInfo, 9> backward_parameters = parameters_with(backward_implementations);

std::string default_of(const Operation& operation, std::string_view parameter) {
    const std::string_view from = parameter == "kv_heads" ? "heads" : parameter == "sk" ? "sq" : "";
    const auto given = operation.parameters.find(from);
    return given == operation.parameters.end() ? "" : given->second;
}

AttentionRequest request_of(const Operation& operation) {
    AttentionRequest request;
    request.backward = operation.op == "attention_backward";
    const auto value = [&](std::string_view name) {
        const auto given = operation.parameters.find(name);
        return given != operation.parameters.end()
                   ? given->second
                   : default_value_of(operation, name,
                                      request.backward ? std::span<const ParameterInfo>(backward_parameters)
                                                       : std::span<const ParameterInfo>(forward_parameters),
                                      default_of);
    };
    const auto size = [&](std::string_view name) {
        return parse_size(value(name), std::string(operation.op).append(" ").append(name));
    };
    Problem& p = request.problem;
    p.batch = size("batch");
    p.heads = size("heads");
    p.kv_heads = size("kv_heads");
    p.sq = size("sq");
    p.sk = size("sk");
    p.head_dim = size("head_dim");
    p.causal = value("causal") == "1";
    p.dtype = hw::parse_dtype(value("dtype"), std::string(operation.op).append(" dtype"));
    if (operation.parameters.contains("page_size")) p.page_size = size("page_size");
    request.own_kv_heads = operation.parameters.contains("kv_heads");
    request.own_sk = operation.parameters.contains("sk");
    const std::string word = value("implementation");
    for (const Implementation one : {Implementation::torch, Implementation::flash2, Implementation::flash3,
                                     Implementation::cudnn, Implementation::triton}) {
        if (word == to_string(one)) request.implementation = one;
    }
    return request;
}

std::unique_ptr<Request> read(const Operation& operation) {
    return std::make_unique<AttentionRequest>(request_of(operation));
}

UsefulWork work_of(const Operation& operation) {
    const AttentionRequest request = request_of(operation);
    const Problem p = request.completed();
    const double memory = memory_of(p, request.backward);
    if (request.backward) {
        // Reads Q, K, V, O, dO and the log-sum-exp; writes dQ, dK and dV.
        return {p.backward_flop(), 4.0 * p.q_bytes() + 4.0 * p.k_bytes() + p.row_bytes(), memory};
    }
    return {p.forward_flop(), 2.0 * p.q_bytes() + 2.0 * p.k_bytes(), memory};
}

DataCount data_of(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu) {
    const AttentionRequest request = request_of(operation);
    const Implementation by = chosen(request.implementation, gpu);
    DataCount count;
    for (const libraries::AttentionFamily& family : libraries.attention_families) {
        const bool used = request.backward ? family.pass == "backward" : family.pass != "backward";
        if (used && family.implementation == to_string(by)) count.library += family.numbers;
    }
    return count;
}

AttentionRequest& own(Request& request) {
    return static_cast<AttentionRequest&>(request);
}

template <std::int64_t Problem::*Field>
bool set_size(Request& request, std::int64_t value) {
    own(request).problem.*Field = value;
    return true;
}

bool set_kv_heads(Request& request, std::int64_t value) {
    own(request).problem.kv_heads = value;
    own(request).own_kv_heads = true;
    return true;
}

bool set_sk(Request& request, std::int64_t value) {
    own(request).problem.sk = value;
    own(request).own_sk = true;
    return true;
}

SetNumber find_number(std::string_view parameter) {
    constexpr std::array<NamedSetNumber, 7> numbers{{
        {"batch", set_size<&Problem::batch>},
        {"heads", set_size<&Problem::heads>},
        {"sq", set_size<&Problem::sq>},
        {"head_dim", set_size<&Problem::head_dim>},
        {"kv_heads", set_kv_heads},
        {"sk", set_sk},
        {"page_size", set_size<&Problem::page_size>},
    }};
    return number_named(parameter, numbers);
}

}  // namespace

const OperatorInfo& attention_operator() {
    static const OperatorInfo info{"attention",
                                   "softmax(Q K^T / sqrt(head_dim)) V for each head",
                                   "warptime predict attention 4 32 4096 128 --causal 1 --gpu h200-sxm",
                                   forward_parameters,
                                   default_of,
                                   nullptr,
                                   work_of,
                                   data_of,
                                   read,
                                   find_number,
                                   nullptr,
                                   false};
    return info;
}

const OperatorInfo& attention_backward_operator() {
    static const OperatorInfo info{
        "attention_backward",
        "gradients dQ, dK and dV of attention",
        "warptime predict attention_backward 4 32 4096 128 --causal 1 --gpu h200-sxm",
        backward_parameters,
        default_of,
        nullptr,
        work_of,
        data_of,
        read,
        find_number,
        nullptr,
        false};
    return info;
}

}  // namespace warptime::workloads::attention
