// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/problem_file.hpp"

#include "hw/nearest_name.hpp"
#include "hw/text_file.hpp"
#include "workloads/gemm/parameters.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace warptime::workloads::choice::tiles {

namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string, std::less<>>;

/// Names of a type in CUTLASS and in the model (DataTypeNames of cutlass_library; both fp8 formats have one
/// rate).
struct TypeName {
    std::string_view cutlass;
    std::string_view warptime;
};
constexpr std::array<TypeName, 10> type_names{{{"f16", "fp16"},
                                               {"bf16", "bf16"},
                                               {"f32", "fp32"},
                                               {"tf32", "tf32"},
                                               {"f64", "fp64"},
                                               {"e4m3", "fp8"},
                                               {"e5m2", "fp8"},
                                               {"s8", "int8"},
                                               {"u8", "int8"},
                                               {"s32", "int32"}}};

constexpr std::array<std::string_view, 17> known_names{
    "m",       "n",         "k",           "batch_count", "layout", "dtype_a", "dtype_b",      "dtype_c",
    "dtype_d", "dtype_acc", "alignment_a", "alignment_b", "alpha",  "beta",    "use_fast_acc", "operation",
    "configs"};

const Json& required(const Json& problem, const char* name) {
    const auto found = problem.find(name);
    if (found == problem.end()) {
        throw Error(name, "", "a value: m, n, k, layout, dtype_a, dtype_b and dtype_d are required");
    }
    return *found;
}

std::string size_of(const Json& value, const char* name) {
    if (!value.is_number_integer()) {
        throw Error(name, value.dump(), "a whole number from 1");
    }
    return value.dump();
}

std::string word_of(const Json& value, const char* name) {
    if (!value.is_string()) {
        throw Error(name, value.dump(), "a word in quotes");
    }
    std::string word = value.get<std::string>();
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word;
}

std::string type_of(const Json& value, const char* name) {
    const std::string word = word_of(value, name);
    for (const TypeName& known : type_names) {
        if (known.cutlass == word) {
            return std::string(known.warptime);
        }
    }
    std::vector<std::string_view> names;
    for (const TypeName& known : type_names) {
        names.push_back(known.cutlass);
    }
    throw Error(name, word, hw::expected_names(word, names));
}

/// The type of an operand: float means tf32 to a tensor kernel (sm90_gmma_builder.inl of CUTLASS).
std::string operand_type(const Json& problem, const char* name) {
    std::string type = type_of(required(problem, name), name);
    return type == "fp32" ? "tf32" : type;
}

void check_names(const Json& problem) {
    for (const auto& [name, value] : problem.items()) {
        if (std::find(known_names.begin(), known_names.end(), name) == known_names.end()) {
            throw Error("name", name, hw::expected_names(name, known_names));
        }
    }
}

/// Reads the layout. Only its first two letters count; the third is the order of C.
void take_layout(const Json& problem, Texts& parameters) {
    const std::string layout = word_of(required(problem, "layout"), "layout");
    if (layout.size() != 3 || layout.find_first_not_of("nt") != std::string::npos) {
        throw Error("layout", layout, "three of t (row-major) and n (column-major), for A, B and D, as tnn");
    }
    parameters["a_major"] = layout[0] == 't' ? "k" : "m";
    parameters["b_major"] = layout[1] == 't' ? "n" : "k";
}

Operation operation_of(const Json& problem) {
    if (!problem.is_object()) {
        throw Error("problem", problem.dump(), "an object with m, n, k, layout and dtypes");
    }
    check_names(problem);
    if (const std::string kind = problem.value("operation", "gemm"); kind != gemm::operator_name) {
        throw Error("operation", kind, std::string(gemm::operator_name));
    }
    if (const auto beta = problem.find("beta");
        beta != problem.end() && !(beta->is_number() && *beta == 0.0)) {
        throw Error("beta", beta->dump(), "0: C is not read by what the model lowers");
    }
    Texts parameters{{"dtype", operand_type(problem, "dtype_a")},
                     {"dtype_b", operand_type(problem, "dtype_b")},
                     {"out_dtype", type_of(required(problem, "dtype_d"), "dtype_d")}};
    for (const char* size : {"m", "n", "k"}) {
        parameters[size] = size_of(required(problem, size), size);
    }
    if (const auto batch = problem.find("batch_count"); batch != problem.end()) {
        parameters["batch"] = size_of(*batch, "batch_count");
    }
    if (const auto sums = problem.find("dtype_acc"); sums != problem.end()) {
        parameters["acc_dtype"] = type_of(*sums, "dtype_acc");
    }
    take_layout(problem, parameters);
    return make_operation(gemm::operator_name, parameters);
}

}  // namespace

std::vector<ListedProblem> parse_problem_list(std::string_view text, const std::string& name) {
    constexpr bool no_exceptions = false;
    const Json list = Json::parse(text, nullptr, no_exceptions);
    if (!list.is_array() || list.empty()) {
        throw Error(
            fmt::format("problems {}", name), list.is_discarded() ? "no JSON" : list.type_name(),
            "a JSON list of problems, as [{\"m\": 4096, \"n\": 4096, \"k\": 4096, \"layout\": \"tnn\", "
            "\"dtype_a\": \"f16\", \"dtype_b\": \"f16\", \"dtype_d\": \"f16\"}]");
    }
    std::vector<ListedProblem> problems;
    for (const Json& item : list) {
        ListedProblem problem;
        try {
            problem.operation = operation_of(item);
        } catch (const Error& error) {
            problem.refusal.emplace(fmt::format("problem {} {}", problems.size(), error.parameter()),
                                    error.value(), error.expected());
        }
        problems.push_back(std::move(problem));
    }
    return problems;
}

std::vector<ListedProblem> read_problem_file(const std::string& path) {
    return parse_problem_list(hw::read_text_file(path, "problems", "a JSON file that can be read"), path);
}

}  // namespace warptime::workloads::choice::tiles
