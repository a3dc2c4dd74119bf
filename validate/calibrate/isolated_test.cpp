// Constants from rows made up from a known law.
// Rows outside the fit split are poisoned, so that a look at them shows.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/isolated.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "validate/recorded_case.hpp"
#include "validate/split.hpp"
#include "validate/statistics.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

namespace warptime::validate::calibrate {
namespace {

struct Rows {
    std::vector<RecordedRow> all;
    std::vector<double> fit;  ///< values of the fit rows

    [[nodiscard]] std::vector<const RecordedRow*> pointers() const {
        std::vector<const RecordedRow*> found;
        for (const RecordedRow& row : all) found.push_back(&row);
        return found;
    }
};

RecordedRow row_of(const std::string& params, const std::string& quantity, double value) {
    RecordedRow row;
    row.suite = "microbench_made_up";
    row.op = "chase";
    row.params = params;
    row.cache = "warm";
    row.quantity = quantity;
    row.value = value;
    return row;
}

Rows rows_by(int count, const std::function<double(int)>& law,
             const std::string& quantity = "region_cycles") {
    Rows rows;
    for (int n = 1; n <= count; ++n) {
        const std::string params = fmt::format("n={} path={}", n, n % 2 == 0 ? "ca" : "cg");
        const bool is_fit = split_of(case_key("chase", params)) == Split::fit;
        rows.all.push_back(row_of(params, quantity, is_fit ? law(n) : 1e12));
        if (is_fit) rows.fit.push_back(law(n));
    }
    return rows;
}

Finding find(const std::string& fields, const Rows& rows) {
    const Plan plan = parse_plan(
        "[[constant]]\nkey = \"latency.dram\"\nsuite = \"microbench_made_up\"\nquantity = "
        "\"region_cycles\"\n" +
            fields,
        "plan");
    return find_constant(plan.constants.front(), rows.pointers(), hw::load_gpu("h200-sxm"));
}

TEST_CASE("the median of the fit rows, and of no others") {
    const Rows rows = rows_by(100, [](int n) { return 600.0 + n; });
    REQUIRE(rows.fit.size() > 30);
    REQUIRE(rows.fit.size() < 70);
    const Finding found = find("op = \"chase\"\nnote = \"made up\"\n", rows);
    CHECK(found.determined);
    CHECK(found.value == median(rows.fit));
    CHECK(found.rows == static_cast<int>(rows.fit.size()));
    CHECK(found.half_width > 20.0);
    CHECK(found.half_width < 60.0);
    CHECK(found.source == "ROWS microbench_made_up chase, made up");
    CHECK_FALSE(find("op = \"other\"\n", rows).determined);
}

TEST_CASE("conditions, values and units") {
    const Rows rows = rows_by(200, [](int n) { return 3.0 * n; });
    const Finding third = find("if = \"n > 50 and n <= 150\"\nvalue = \"100 * value / n\"\n", rows);
    CHECK(third.value == doctest::Approx(300.0));
    CHECK(third.half_width == doctest::Approx(0.0));
    CHECK(third.residual == doctest::Approx(0.0));
    // Only even n, selected by a word; 2 a kcycle.
    const Finding kilo =
        find("where = { path = \"ca\" }\nvalue = \"2 * value / n / 3\"\nunit = \"kcycle\"\n", rows);
    CHECK(kilo.value == doctest::Approx(2000.0));
    CHECK(kilo.rows < third.rows + 60);
    CHECK(find("value = \"gpu.sm.count + 0 * n\"\n", rows).value == 132.0);
    CHECK(find("where = { cache = \"cold\" }\n", rows).why == "no rows");
    CHECK(find("where = { date = \"1999-12-31\" }\n", rows).why == "no rows");
}

TEST_CASE("a reference is the median of other rows, and further rows join") {
    Rows rows = rows_by(80, [](int n) { return n % 2 == 0 ? 900.0 : 250.0; });
    const Finding difference = find(
        "where = { path = \"ca\" }\nvalue = \"value - reference\"\nreference = { where = { path = \"cg\" } "
        "}\n",
        rows);
    CHECK(difference.value == doctest::Approx(650.0));
    const Finding both = find(
        "where = { path = \"ca\" }\nalso = [{ where = { path = \"cg\" }, value = \"value + 650\" }]\n", rows);
    CHECK(both.value == doctest::Approx(900.0));
    CHECK(both.rows == static_cast<int>(rows.fit.size()));
    CHECK(find("reference = { where = { path = \"no\" } }\n", rows).why == "no rows for its reference");
}

TEST_CASE("a straight line gives its start and its fall") {
    const Rows rows = rows_by(200, [](int n) { return 800.0 - 1.5 * n; });
    const Finding start = find("statistic = \"line_start\"\nx = \"n\"\n", rows);
    CHECK(start.value == doctest::Approx(800.0));
    const Finding fall = find("statistic = \"line_fall\"\nx = \"n\"\nline_if = \"x > 150\"\n", rows);
    CHECK(fall.value == doctest::Approx(1.5));
    CHECK(fall.rows < start.rows);
}

TEST_CASE("quantities of a case together, and numbers from its steps") {
    Rows rows;
    for (int n = 1; n <= 60; ++n) {
        const std::string params = fmt::format("n={}", n);
        rows.all.push_back(row_of(params, "region_cycles", 1000.0 * n));
        if (n % 3 != 0) rows.all.push_back(row_of(params, "ns", 2.0 * n));
        rows.all.back().steps = rows.all[rows.all.size() - 2].steps =
            fmt::format("a grid={} | b grid={}", n, 7);
    }
    const Finding rate =
        find("quantities = { cycles = \"region_cycles\", ns = \"ns\" }\nvalue = \"cycles / ns\"\n", rows);
    CHECK(rate.value == doctest::Approx(500.0));
    CHECK(rate.half_width == doctest::Approx(0.0));
    const Finding grids = find("steps = 'b grid=(\\d+)'\nvalue = \"s1\"\n", rows);
    CHECK(grids.value == 7.0);
}

TEST_CASE("what rows do not determine says why") {
    const Rows wide = rows_by(100, [](int n) { return n % 2 == 0 ? 1.0 : 1000.0 * n; });
    const Finding found = find("", wide);
    CHECK_FALSE(found.determined);
    CHECK(found.why.find("wider than the value") != std::string::npos);
    const Rows fast = rows_by(100, [](int) { return 10.0; });
    CHECK(find("value = \"value - 20\"\n", fast).why.find("which is none") != std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(find("value = \"volume\"\n", fast)), Error);
}

TEST_CASE("a faulty plan is refused, naming the entry") {
    const std::string good = "[[constant]]\nkey = \"latency.dram\"\nsuite = \"s\"\nquantity = \"q\"\n";
    CHECK(parse_plan(good, "plan").constants.size() == 1);
    for (const std::string& bad :
         {good + good, std::string("[[constant]]\nkey = \"latency.drum\"\nsuite = \"s\"\nquantity = \"q\"\n"),
          std::string("[[constant]]\nkey = \"dram.bandwidth\"\nsuite = \"s\"\nquantity = \"q\"\n"),
          std::string("[[constant]]\nkey = \"latency.dram\"\nquantity = \"q\"\n"),
          good + "statistik = \"median\"\n", good + "statistic = \"mode\"\n",
          good + "statistic = \"line_start\"\n", good + "x = \"n\"\n", good + "steps = \"(\"\n",
          good + "where = \"path\"\n", good + "defaults = { n = \"one\" }\n", good + "also = [1]\n",
          std::string("[[fit]]\nkeys = [\"latency.dram\"]\n"),
          std::string("[[fit]]\nsuites = [\"s\"]\nkeys = [\"dram.bandwidth\"]\n"), std::string("[fits]\n")}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(static_cast<void>(parse_plan(bad, "plan")), Error);
    }
}

}  // namespace
}  // namespace warptime::validate::calibrate
