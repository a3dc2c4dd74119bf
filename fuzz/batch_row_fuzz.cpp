// Any bytes as the file of a batch: columns of an operator's parameters and conditions, rows of values.
// A row is refused with Error, or becomes an operation whose canonical spelling is canonical.
// The operation's lowering is refused or gives a program that passes its checks.
// Ignores: the engine, and the columns gpu and engine.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/csv.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/registry/registry.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace {

using namespace warptime::workloads;
namespace kernel = warptime::model::kernel;

bool is_condition(std::string_view name) {
    const auto infos = condition_infos();
    return std::any_of(infos.begin(), infos.end(),
                       [&](const ConditionInfo& info) { return info.name == name; });
}

Operation operation_of(const CsvRecord& columns, const CsvRecord& row) {
    std::string op;
    std::map<std::string, std::string, std::less<>> parameters;
    warptime::model::prediction::Conditions conditions;
    for (std::size_t i = 0; i < std::min(columns.size(), row.size()); ++i) {
        if (columns[i] == "op") {
            op = row[i];
        } else if (is_condition(columns[i])) {
            set_condition(conditions, columns[i], row[i]);
        } else if (!row[i].empty()) {
            parameters.emplace(columns[i], row[i]);
        }
    }
    return make_operation(op, parameters);
}

void lower_and_check(const Operation& operation) {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    static const auto libraries = libraries::load_libraries();
    static kernel::Program program;
    const auto score = [](const kernel::Program& candidate, double) {
        double ctas = 0;
        for (std::size_t i = 0; i < candidate.kernel_count; ++i) {
            ctas += static_cast<double>(candidate.kernels[i].grid.volume());
        }
        return ctas;
    };
    try {
        choice::lower(operation, libraries, gpu, score, program);
    } catch (const warptime::Error&) {
        return;
    }
    kernel::check(program);  // an Error here is a defect of the lowering, and ends the program
}

void predict_row(const CsvRecord& columns, const CsvRecord& row) {
    Operation operation;
    try {
        operation = operation_of(columns, row);
    } catch (const warptime::Error&) {
        return;
    }
    const Operation again = make_operation(operation.op, operation.parameters);
    warptime::fuzz::require(again.parameters == operation.parameters, "a canonical spelling is canonical");
    warptime::fuzz::require(key_of(again) == key_of(operation), "equal operations have equal keys");
    lower_and_check(operation);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in{std::string(warptime::fuzz::text_of(data, size))};
    try {
        CsvTable table(in, "input");
        CsvRecord row;
        while (table.next(row)) {
            predict_row(table.columns(), row);
        }
    } catch (const warptime::Error&) {
    }
    return 0;
}
