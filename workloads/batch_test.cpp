// A batch equals its rows predicted one by one, bit for bit, and words refusals in the same way.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/batch.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace workloads = warptime::workloads;
using workloads::Batch;
using workloads::BatchAnswers;
using workloads::BatchColumn;
using workloads::WordValues;

namespace {

struct Answers {
    std::vector<double> time, low, high;
    std::vector<std::uint8_t> limiter, status;
    std::vector<std::pair<std::size_t, std::string>> errors;
};

struct Fixture {
    warptime::hw::Gpu gpu = warptime::hw::load_gpu("h200-sxm");
    std::unique_ptr<warptime::model::prediction::Engine> engine = warptime::model::analytical::make_engine();
    workloads::Predictor predictor{*engine, gpu};

    Answers answer(std::string_view op, std::vector<BatchColumn> columns) {
        Batch batch(op, std::move(columns), predictor);
        Answers a;
        a.time.resize(batch.rows());
        a.low.resize(batch.rows());
        a.high.resize(batch.rows());
        a.limiter.resize(batch.rows());
        a.status.resize(batch.rows());
        BatchAnswers answers{a.time, a.low, a.high, a.limiter, a.status, {}};
        const std::size_t middle = batch.rows() / 2;
        batch.predict(0, middle, answers);
        batch.predict(middle, batch.rows(), answers);
        a.errors = answers.errors;
        return a;
    }
};

/// A column of words with one parameter of each operation. A missing parameter is an empty word.
BatchColumn column_of(std::string_view name, const std::vector<workloads::Operation>& operations) {
    WordValues values;
    for (const workloads::Operation& operation : operations) {
        const auto given = operation.parameters.find(name);
        values.words.push_back(given == operation.parameters.end() ? "" : given->second);
        values.codes.push_back(static_cast<std::int32_t>(values.codes.size()));
    }
    return {std::string(name), std::move(values)};
}

}  // namespace

TEST_CASE("rows are predictions, with numbers and with words") {
    Fixture f;
    const bool holds = rc::check("batch of gemm", [&f] {
        std::vector<workloads::Operation> operations;
        const auto rows = static_cast<std::size_t>(*rc::gen::inRange(2, 6));
        while (operations.size() < rows) {
            workloads::Operation operation = workloads::fixture::any_operation();
            operations.push_back(operation.op == "gemm" ? std::move(operation)
                                                        : workloads::fixture::gemm(64, 65, 66));
        }
        std::vector<std::int64_t> m;
        std::vector<double> n;
        for (const workloads::Operation& operation : operations) {
            m.push_back(std::stoll(operation.parameters.find("m")->second));
            n.push_back(std::stod(operation.parameters.find("n")->second));
        }
        std::vector<BatchColumn> columns{{"m", std::span<const std::int64_t>(m)},
                                         {"n", std::span<const double>(n)}};
        for (const workloads::ParameterInfo& parameter : workloads::find_operator("gemm").parameters) {
            if (parameter.name != "m" && parameter.name != "n") {
                columns.push_back(column_of(parameter.name, operations));
            }
        }
        const Answers answers = f.answer("gemm", std::move(columns));
        std::size_t errors = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            try {
                const auto one = f.predictor.evaluate(operations[row], {});
                RC_ASSERT(answers.time[row] == one.time);
                RC_ASSERT(answers.low[row] == one.low);
                RC_ASSERT(answers.high[row] == one.high);
                RC_ASSERT(answers.limiter[row] == static_cast<std::uint8_t>(one.limiter));
            } catch (const warptime::Error& error) {
                RC_ASSERT(std::isnan(answers.time[row]));
                RC_ASSERT(answers.errors.at(errors) == std::pair(row, std::string(error.what())));
                ++errors;
            }
        }
        RC_ASSERT(errors == answers.errors.size());
    });
    CHECK(holds);
}

TEST_CASE("an operator without a way through numbers goes through text") {
    Fixture f;
    const std::vector<std::int64_t> n{1 << 20, -1, 1 << 22};
    const Answers answers = f.answer("copy", {{"n", std::span<const std::int64_t>(n)}, {"dtype", "fp32"}});
    CHECK(answers.time[2] ==
          f.predictor.evaluate(workloads::fixture::vector_operation("copy", 1 << 22, {{"dtype", "fp32"}}), {})
              .time);
    REQUIRE(answers.errors.size() == 1);
    CHECK(answers.errors[0].first == 1);
    CHECK(answers.errors[0].second == "copy n: got '-1', expected a whole number from 1 to 9007199254740992");
}

TEST_CASE("conditions differ by row") {
    Fixture f;
    const Answers answers =
        f.answer("copy", {{"n", "1048576"}, {"cache", WordValues{{"warm", "flushed", "hot"}, {0, 1, 2}}}});
    CHECK(answers.time[0] < answers.time[1]);
    REQUIRE(answers.errors.size() == 1);
    CHECK(answers.errors[0].first == 2);
}

TEST_CASE("the status of a row is that of its conditions") {
    using warptime::model::prediction::Status;
    Fixture f;
    const std::vector<std::int64_t> sizes{1 << 20, 1 << 20};
    const Answers answers =
        f.answer("copy", {{"n", sizes}, {"available_sms", WordValues{{"66", ""}, {0, 1}}}});
    CHECK(answers.errors.empty());
    CHECK(static_cast<Status>(answers.status[0]) == Status::extrapolated);
    CHECK(static_cast<Status>(answers.status[1]) == Status::calibrated);
}

TEST_CASE("a described kernel has the status that predict gives it") {
    using warptime::model::prediction::Status;
    Fixture f;
    const std::string file = std::string(WARPTIME_EXAMPLES) + "/saxpy.kernel";
    const Answers answers = f.answer("kernel", {{"file", file}, {"cache", WordValues{{"warm", ""}, {0, 1}}}});
    CHECK(answers.errors.empty());
    const auto alone = f.predictor.explain({"kernel", {{"file", file}}}, {});
    CHECK(alone.status == Status::extrapolated);
    CHECK(answers.low[1] == alone.low);
    CHECK(answers.high[1] == alone.high);
    for (const std::uint8_t status : answers.status) {
        CHECK(static_cast<Status>(status) == alone.status);
    }
}

TEST_CASE("what is wrong for every row throws") {
    Fixture f;
    const std::vector<std::int64_t> two{1, 2};
    const std::vector<double> three{1, 2, 3};
    const auto refused = [&f](std::vector<BatchColumn> columns, const char* part) {
        CHECK_THROWS_WITH_AS(static_cast<void>(f.answer("copy", std::move(columns))), doctest::Contains(part),
                             warptime::Error);
    };
    refused({{"n", std::span<const std::int64_t>(two)}, {"cache", std::span<const double>(three)}},
            "copy cache: got '3 rows', expected 1 or 2, the rows of n");
    refused({{"m", "1"}}, "copy parameter: got 'm'");
    refused({{"n", "1"}, {"n", "2"}}, "two columns");
    refused({{"dtype", "fp32"}}, "copy n: got ''");
    refused({{"n", "0"}}, "copy n: got '0'");
    refused({{"n", "1"}, {"available_sms", "1000"}}, "at most 132");
    CHECK_THROWS_AS(static_cast<void>(f.answer("copi", {})), warptime::Error);
}
