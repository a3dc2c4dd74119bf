// SPDX-License-Identifier: Apache-2.0
#include "validate/prediction_hashes.hpp"

#include "hw/error.hpp"
#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

namespace warptime::validate {
namespace {

SuiteHash hash_of(const std::function<double(const RecordedRow&)>& times,
                  const std::vector<RecordedRow>& rows) {
    fixture::FakePredictor fake(times);
    HashingPredictor hashing(fake);
    for (const RecordedRow& row : rows) (void)hashing.predict(row);
    return hashing.hashes().at(0);
}

const std::vector<RecordedRow> two_rows{fixture::row("a", "copy", "dtype=bf16 n=1", 1.0),
                                        fixture::row("a", "copy", "dtype=bf16 n=2", 2.0)};

TEST_CASE("the last bit of one prediction changes the hash of its suite") {
    const auto same = [](const RecordedRow& row) { return row.value; };
    const auto moved = [](const RecordedRow& row) {
        return row.value == 2.0 ? std::nextafter(2.0, 3.0) : row.value;
    };
    CHECK(hash_of(same, two_rows) == hash_of(same, two_rows));
    CHECK(hash_of(same, two_rows).hash != hash_of(moved, two_rows).hash);
    CHECK(hash_of(same, two_rows).rows == 2);
}

TEST_CASE("a refusal and a prediction of nothing hash apart, reasons of a refusal alike") {
    const auto refused = [](const RecordedRow&) { return -1.0; };
    const auto nothing = [](const RecordedRow&) { return 0.0; };
    CHECK(hash_of(refused, two_rows).hash != hash_of(nothing, two_rows).hash);
}

TEST_CASE("answers pass through, and counters count") {
    fixture::FakePredictor fake([](const RecordedRow& row) { return row.value; });
    HashingPredictor hashing(fake);
    CHECK(hashing.predict(two_rows[1]).time_us == 2.0);
    const std::uint64_t before = hashing.hashes().at(0).hash;
    CHECK(hashing.counters(two_rows[1]).size() == 1);
    CHECK(hashing.hashes().at(0).hash != before);
    CHECK(hashing.hashes().at(0).rows == 2);
    CHECK(hashing.name() == "fake");
    CHECK(hashing.constants("h200-sxm", {}).fitted == 12);
}

TEST_CASE("what is written is read again") {
    const std::vector<SuiteHash> hashes{{"analytical", "h200-sxm", "a", 3, 0x0123456789abcdefU},
                                        {"simulation", "h200-sxm", "b", 1, 7}};
    std::istringstream in(write_hashes(hashes));
    CHECK(read_hashes(in, "hashes.csv") == hashes);
}

TEST_CASE("a broken file is refused by line") {
    std::istringstream in("engine,gpu,suite,rows,hash\na,b,c,1,xyz\n");
    try {
        (void)read_hashes(in, "hashes.csv");
        FAIL("read");
    } catch (const Error& error) {
        CHECK(error.parameter() == "hashes.csv line 2");
        CHECK(error.value() == "xyz");
    }
}

TEST_CASE("suites that moved, appeared and disappeared are named, others are not") {
    const std::vector<SuiteHash> before{{"e", "g", "same", 1, 1},
                                        {"e", "g", "moved", 1, 2},
                                        {"e", "g", "fewer", 2, 3},
                                        {"e", "g", "gone", 1, 4}};
    const std::vector<SuiteHash> after{{"e", "g", "same", 1, 1},
                                       {"e", "g", "moved", 1, 5},
                                       {"e", "g", "fewer", 1, 3},
                                       {"e", "g", "new", 1, 4}};
    CHECK(moved_suites(before, before).empty());
    CHECK(moved_suites(after, before) ==
          "e g moved: its predictions have moved\ne g fewer: 1 rows, expected 2\ne g new: not expected\n"
          "e g gone: not predicted\n");
}

}  // namespace
}  // namespace warptime::validate
