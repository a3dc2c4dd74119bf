// Groups rows by their words, and predicts each row of a group by its numbers.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/batch.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "model/prediction/status.hpp"
#include "workloads/condition_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace warptime::workloads {

namespace {

// Groups take memory. Beyond this many, all are dropped, and later rows read their words again.
constexpr std::size_t most_groups = std::size_t{1} << 14;

/// The registry's spelling of a parameter or a condition.
std::string canonical_name(const OperatorInfo& info, std::string_view name) {
    if (const ParameterInfo* parameter = find_parameter(info, name)) {
        return std::string(parameter->name);
    }
    if (const ConditionInfo* condition = find_condition(name)) {
        return std::string(condition->name);
    }
    std::vector<std::string_view> names;
    for (const ParameterInfo& parameter : info.parameters) {
        names.push_back(parameter.name);
    }
    for (const ConditionInfo& condition : condition_infos()) {
        names.push_back(condition.name);
    }
    throw Error(fmt::format("{} parameter", info.name), std::string(name), hw::expected_names(name, names));
}

bool takes_numbers(const ParameterInfo& parameter, const BatchColumn& column) {
    const bool number = parameter.kind == ParameterKind::size || parameter.kind == ParameterKind::integer;
    return number && !std::holds_alternative<WordValues>(column.values);
}

}  // namespace

Batch::Batch(std::string_view op, std::vector<BatchColumn> columns, Predictor& predictor)
    : info_(&find_operator(op)), predictor_(&predictor) {
    std::vector<std::string_view> seen;
    for (BatchColumn& column : columns) {
        column.name = canonical_name(*info_, column.name);
        if (std::find(seen.begin(), seen.end(), column.name) != seen.end()) {
            throw Error(fmt::format("{} {}", info_->name, column.name), "two columns", "one");
        }
        seen.push_back(column.name);
        check_rows(column);
    }
    for (BatchColumn& column : columns) {
        take(std::move(column));
    }
    check_required();
    static_cast<void>(conditions_of({constants_, constant_conditions_}));
}

void Batch::check_rows(const BatchColumn& column) {
    const std::size_t rows = rows_of(column);
    if (rows == 1 || rows == rows_) {
        return;
    }
    if (!longest_.empty()) {
        throw Error(fmt::format("{} {}", info_->name, column.name), fmt::format("{} rows", rows),
                    fmt::format("1 or {}, the rows of {}", rows_, longest_));
    }
    rows_ = rows;
    longest_ = column.name;
}

void Batch::take(BatchColumn column) {
    const bool is_condition = find_condition(column.name) != nullptr;
    const ParameterInfo* parameter = is_condition ? nullptr : find_parameter(*info_, column.name);
    if (rows_of(column) == 1) {
        const WordValues values = words_of(column);
        const std::string& text = values.words[static_cast<std::size_t>(values.codes.front())];
        if (text.empty()) {
            return;
        }
        if (is_condition) {
            constant_conditions_.emplace(column.name, text);
        } else {
            constants_.emplace(column.name, canonical_value(*info_, *parameter, text));
        }
    } else if (!is_condition && takes_numbers(*parameter, column)) {
        const SetNumber set = info_->number(column.name);
        numbers_.push_back({std::move(column), parameter, set});
    } else {
        words_.push_back({column.name, is_condition, words_of(column), {}});
    }
}

void Batch::check_required() const {
    for (const ParameterInfo& parameter : info_->parameters) {
        const auto given = [&](std::string_view name) {
            return constants_.find(name) != constants_.end() ||
                   std::any_of(numbers_.begin(), numbers_.end(),
                               [&](const NumberColumn& c) { return c.parameter->name == name; }) ||
                   std::any_of(words_.begin(), words_.end(),
                               [&](const WordColumn& c) { return c.name == name; });
        };
        if (parameter.required && !given(parameter.name) && !given(parameter.instead)) {
            throw Error(fmt::format("{} {}", info_->name, parameter.name), "",
                        fmt::format("a value: {}", parameter.meaning));
        }
    }
}

Batch::Group& Batch::group_of(std::size_t row) {
    if (groups_.size() > most_groups) {
        groups_.clear();
        for (WordColumn& column : words_) {
            column.groups.clear();
        }
    }
    std::uint32_t group = 0;
    for (WordColumn& column : words_) {
        const auto code = static_cast<std::uint32_t>(column.values.codes[row]);
        const std::uint64_t key = (std::uint64_t{group} << 32U) | code;
        group = column.groups.emplace(key, static_cast<std::uint32_t>(column.groups.size())).first->second;
    }
    // Codes of the last column number the groups in the order of their first rows.
    if (group == groups_.size()) {
        fill_group(groups_.emplace_back(), row);
    }
    return groups_[group];
}

void Batch::fill_group(Group& group, std::size_t row) const {
    try {
        Texts texts = texts_of(row);
        for (const NumberColumn& number : numbers_) {
            texts.parameters[number.column.name] = "1";  // stands for each row's number
        }
        group.request = read_request(*info_, make_operation(info_->name, texts.parameters));
        group.conditions = conditions_of(texts);
        group.status = status_of(predictor_->gpu(), group.conditions, model::kernel::Evidence::own);
        group.sound = true;
    } catch (const Error&) {
        group.sound = false;
    }
}

Batch::Texts Batch::texts_of(std::size_t row) const {
    Texts texts{constants_, constant_conditions_};
    for (const WordColumn& column : words_) {
        const std::string& word = column.values.words[static_cast<std::size_t>(column.values.codes[row])];
        if (!word.empty()) {
            (column.is_condition ? texts.conditions : texts.parameters).emplace(column.name, word);
        }
    }
    for (const NumberColumn& number : numbers_) {
        texts.parameters.emplace(number.column.name, number_text(number.column, row));
    }
    return texts;
}

model::prediction::Conditions Batch::conditions_of(const Texts& texts) const {
    model::prediction::Conditions conditions;
    for (const auto& [name, text] : texts.conditions) {
        set_condition(conditions, name, text);
    }
    check_conditions(conditions, predictor_->gpu());
    return conditions;
}

std::pair<model::prediction::Estimate, model::prediction::Status> Batch::predict_text(std::size_t row) const {
    const Texts texts = texts_of(row);
    const Operation operation = make_operation(info_->name, texts.parameters);
    const model::prediction::Conditions conditions = conditions_of(texts);
    return {predictor_->evaluate(operation, conditions),
            status_of(predictor_->gpu(), conditions, model::kernel::Evidence::own)};
}

std::optional<model::prediction::Estimate> Batch::predict_numbers(std::size_t row, Group& group) {
    try {
        for (const NumberColumn& number : numbers_) {
            const std::optional<std::int64_t> value = number_at(number.column, row, *number.parameter);
            if (!value || !number.set(*group.request, *value)) {
                return std::nullopt;
            }
        }
        return predictor_->evaluate(*info_, *group.request, group.conditions);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void Batch::predict(std::size_t begin, std::size_t end, BatchAnswers& answers) {
    for (std::size_t row = begin; row < end; ++row) {
        std::optional<model::prediction::Estimate> answer;
        Group& group = group_of(row);
        model::prediction::Status status = group.status;
        if (group.sound) {
            answer = predict_numbers(row, group);
        }
        if (!answer) {
            // Words the refusal as every other caller gets it, by predicting the row from text.
            try {
                std::tie(answer, status) = predict_text(row);
            } catch (const Error& error) {
                answers.errors.emplace_back(row, error.what());
                const double nan = std::numeric_limits<double>::quiet_NaN();
                answer = model::prediction::Estimate{nan, nan, nan};
            }
        }
        answers.time[row] = answer->time;
        answers.low[row] = answer->low;
        answers.high[row] = answer->high;
        answers.limiter[row] = static_cast<std::uint8_t>(answer->limiter);
        answers.status[row] = static_cast<std::uint8_t>(status_of(status, answer->evidence));
    }
}

}  // namespace warptime::workloads
