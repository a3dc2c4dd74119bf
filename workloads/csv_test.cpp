// The CSV reader and writer: the grammar, errors with their lines, and constant memory.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/csv.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <sstream>
#include <streambuf>

using warptime::Error;
using warptime::workloads::append_csv_record;
using warptime::workloads::CsvLimits;
using warptime::workloads::CsvReader;
using warptime::workloads::CsvRecord;
using warptime::workloads::CsvTable;
using warptime::workloads::find_invalid_utf8;

namespace {

std::vector<CsvRecord> read_all(const std::string& text, CsvLimits limits = {}) {
    std::istringstream in(text);
    CsvReader reader(in, "t.csv", limits);
    std::vector<CsvRecord> records;
    CsvRecord record;
    while (reader.next(record)) {
        records.push_back(record);
    }
    return records;
}

std::string owner_of_error(const std::string& text, CsvLimits limits = {}) {
    try {
        static_cast<void>(read_all(text, limits));
    } catch (const Error& error) {
        return error.parameter();
    }
    return "no error";
}

// Produces `rows` equal lines and holds only one line in memory.
class RepeatedLine : public std::streambuf {
  public:
    RepeatedLine(std::string line, long rows) : line_(std::move(line)), rows_(rows) {}

  protected:
    int_type underflow() override {
        if (rows_-- <= 0) {
            return traits_type::eof();
        }
        setg(line_.data(), line_.data(), line_.data() + line_.size());
        return traits_type::to_int_type(*gptr());
    }

  private:
    std::string line_;
    long rows_;
};

}  // namespace

TEST_CASE("records follow RFC 4180") {
    CHECK(read_all("a,b\r\n1,2\r\n") == std::vector<CsvRecord>{{"a", "b"}, {"1", "2"}});
    CHECK(read_all("a,b\n1,2") == std::vector<CsvRecord>{{"a", "b"}, {"1", "2"}});
    CHECK(read_all("a,\n,\n") == std::vector<CsvRecord>{{"a", ""}, {"", ""}});
    CHECK(read_all("\"x,y\",\"say \"\"no\"\"\",\"two\r\nlines\"\n") ==
          std::vector<CsvRecord>{{"x,y", "say \"no\"", "two\r\nlines"}});
    CHECK(read_all("\xEF\xBB\xBF\"a\",b\n") == std::vector<CsvRecord>{{"a", "b"}});
    CHECK(read_all("\n\na\n\r\n\nb\n\n") == std::vector<CsvRecord>{{"a"}, {"b"}});
    CHECK(read_all("\"\"\n") == std::vector<CsvRecord>{{""}});
    CHECK(read_all("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n").size() == 1);
    CHECK(read_all("").empty());
}

TEST_CASE("errors name the line") {
    CHECK(owner_of_error("a\nb\"c\n") == "t.csv line 2");
    CHECK(owner_of_error("a\nb\n\"c\nd\ne\n") == "t.csv line 3");
    CHECK(owner_of_error("a\n\"b\"c\n") == "t.csv line 2");
    CHECK(owner_of_error("a\n\"x\ny\xFF\"\n") == "t.csv line 3");
    CHECK(owner_of_error("a\nb\rc\n") == "t.csv line 2");
    CHECK(owner_of_error(std::string("a\nb\0\n", 5)) == "t.csv line 2");
    CHECK(owner_of_error("\xFF\xFEg\n") == "t.csv line 1");
}

TEST_CASE("fields, records and their number are bounded") {
    const CsvLimits limits{.field_bytes = 8, .record_bytes = 12, .fields = 3};
    CHECK(owner_of_error("12345678\n", limits) == "no error");
    CHECK(owner_of_error("123456789\n", limits) == "t.csv line 1");
    CHECK(owner_of_error("12345678,12345\n", limits) == "t.csv line 1");
    CHECK(owner_of_error("1,2,3,4\n", limits) == "t.csv line 1");
}

TEST_CASE("UTF-8 is checked as the standard defines it") {
    CHECK(find_invalid_utf8("plain") == std::string_view::npos);
    CHECK(find_invalid_utf8("ab\xC0\x80") == 2);        // overlong
    CHECK(find_invalid_utf8("\xE0\x9F\xBF") == 0);      // overlong
    CHECK(find_invalid_utf8("\xED\xA0\x80") == 0);      // surrogate
    CHECK(find_invalid_utf8("\xF4\x90\x80\x80") == 0);  // past U+10FFFF
    CHECK(find_invalid_utf8("\xF0\x8F\xBF\xBF") == 0);  // overlong
    CHECK(find_invalid_utf8("a\xE2\x82") == 1);         // incomplete sequence
    CHECK(find_invalid_utf8("\x80") == 0);              // continuation without a lead byte
    CHECK(find_invalid_utf8("\xF4\x8F\xBF\xBF") == std::string_view::npos);
}

TEST_CASE("a table names its columns") {
    std::istringstream in("op,m\ngemm,1\n");
    CsvTable table(in, "t.csv");
    CHECK(table.find("m") == 1);
    CHECK(table.find("n") == CsvTable::npos);
    CHECK_THROWS_WITH_AS(static_cast<void>(table.require("n")), "t.csv: got 'op,m', expected a column 'n'",
                         Error);
    CsvRecord record;
    CHECK(table.next(record));
    CHECK(record == CsvRecord{"gemm", "1"});
    CHECK(table.reader().where() == "t.csv line 2");
    CHECK_FALSE(table.next(record));

    std::istringstream empty("");
    CHECK_THROWS_AS(CsvTable(empty, "t.csv"), Error);
    std::istringstream twice("a,b,a\n");
    CHECK_THROWS_AS(CsvTable(twice, "t.csv"), Error);
    std::istringstream unnamed("a,,b\n");
    CHECK_THROWS_AS(CsvTable(unnamed, "t.csv"), Error);
}

TEST_CASE("what is written is read back") {
    CHECK(rc::check([] {
        const auto fields = *rc::gen::nonEmpty(rc::gen::container<CsvRecord>(
            rc::gen::container<std::string>(rc::gen::element('a', ' ', ',', '"', '\n', '\r', ';'))));
        std::string text;
        append_csv_record(text, fields);
        append_csv_record(text, fields);
        RC_ASSERT(read_all(text) == (std::vector<CsvRecord>{fields, fields}));
    }));
}

TEST_CASE("a field that begins as a byte-order mark is content when written") {
    const CsvRecord fields{"\xEF\xBB\xBFop", "m"};
    std::string text;
    append_csv_record(text, fields);
    CHECK(text == "\"\xEF\xBB\xBFop\",m\n");
    CHECK(read_all(text) == std::vector<CsvRecord>{fields});
}

TEST_CASE("memory does not grow with the number of rows") {
    constexpr long rows = 200000;
    RepeatedLine lines("gemm,4096,4096,4096,\"a quoted, field\"\n", rows);
    std::istream in(&lines);
    CsvReader reader(in, "t.csv");
    CsvRecord record;
    long count = 0;
    std::size_t largest = 0;
    while (reader.next(record)) {
        ++count;
        std::size_t held = record.capacity() * sizeof(std::string);
        for (const std::string& field : record) {
            held += field.capacity();
        }
        largest = std::max(largest, held);
    }
    CHECK(count == rows);
    CHECK(reader.line() == rows);
    CHECK(largest < 4096);
}
