// SPDX-License-Identifier: Apache-2.0
#include "validate/prediction_hashes.hpp"

#include "hw/error.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

namespace warptime::validate {

namespace {

constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325U;
constexpr std::uint64_t fnv_prime = 0x100000001b3U;
constexpr std::uint64_t low_byte = 0xffU;

void add(std::uint64_t& hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * fnv_prime;
    // An end mark that no text contains keeps "a", "bc" apart from "ab", "c".
    hash = (hash ^ low_byte) * fnv_prime;
}

void add(std::uint64_t& hash, double value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (std::size_t byte = 0; byte < sizeof bits; ++byte, bits >>= 8U)
        hash = (hash ^ (bits & low_byte)) * fnv_prime;
}

std::string place_of(const SuiteHash& suite) {
    return fmt::format("{} {} {}", suite.engine, suite.gpu, suite.suite);
}

template <class Number>
Number parse(const std::string& text, int base, const std::string& where) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Error(where, text, "a number of rows, or a hash of 16 hexadecimal digits");
    return value;
}

}  // namespace

SuiteHash& HashingPredictor::suite_of(const RecordedRow& row) {
    const auto [place, fresh] =
        suites_.try_emplace({row.gpu, row.suite}, SuiteHash{name(), row.gpu, row.suite, 0, fnv_offset});
    return place->second;
}

RowPrediction HashingPredictor::predict(const RecordedRow& row) {
    RowPrediction answer = asked_->predict(row);
    SuiteHash& suite = suite_of(row);
    ++suite.rows;
    add(suite.hash, row.op);
    add(suite.hash, row.params);
    add(suite.hash, answer.time_us);
    add(suite.hash, answer.low_us);
    add(suite.hash, answer.high_us);
    add(suite.hash, answer.limiter);
    add(suite.hash, answer.error.empty() ? "answered" : "refused");
    return answer;
}

std::vector<std::pair<std::string, double>> HashingPredictor::counters(const RecordedRow& row) {
    auto answer = asked_->counters(row);
    SuiteHash& suite = suite_of(row);
    ++suite.rows;
    for (const auto& [metric, value] : answer) {
        add(suite.hash, metric);
        add(suite.hash, value);
    }
    return answer;
}

std::vector<SuiteHash> HashingPredictor::hashes() const {
    std::vector<SuiteHash> all;
    for (const auto& [place, suite] : suites_) all.push_back(suite);
    return all;
}

std::string write_hashes(const std::vector<SuiteHash>& hashes) {
    std::string text;
    workloads::append_csv_record(text, {"engine", "gpu", "suite", "rows", "hash"});
    for (const SuiteHash& suite : hashes) {
        workloads::append_csv_record(text,
                                     {suite.engine, suite.gpu, suite.suite, fmt::format("{}", suite.rows),
                                      fmt::format("{:016x}", suite.hash)});
    }
    return text;
}

std::vector<SuiteHash> read_hashes(std::istream& in, const std::string& name) {
    std::vector<SuiteHash> hashes;
    workloads::CsvTable table(in, name);
    const std::size_t engine = table.require("engine"), gpu = table.require("gpu");
    const std::size_t suite = table.require("suite"), rows = table.require("rows");
    const std::size_t hash = table.require("hash");
    constexpr int decimal = 10, hexadecimal = 16;
    workloads::CsvRecord cells;
    while (table.next(cells)) {
        const std::string where = table.reader().where();
        if (cells.size() != table.columns().size()) {
            throw Error(where, fmt::format("{} cells", cells.size()),
                        fmt::format("{} cells", table.columns().size()));
        }
        hashes.push_back({cells[engine], cells[gpu], cells[suite],
                          parse<std::size_t>(cells[rows], decimal, where),
                          parse<std::uint64_t>(cells[hash], hexadecimal, where)});
    }
    return hashes;
}

std::string moved_suites(const std::vector<SuiteHash>& hashes, const std::vector<SuiteHash>& expected) {
    std::map<std::string, const SuiteHash*> known;
    for (const SuiteHash& suite : expected) known[place_of(suite)] = &suite;
    std::string text;
    for (const SuiteHash& suite : hashes) {
        const auto found = known.find(place_of(suite));
        if (found == known.end()) {
            text += fmt::format("{}: not expected\n", place_of(suite));
            continue;
        }
        const SuiteHash& before = *found->second;
        if (suite.rows != before.rows) {
            text += fmt::format("{}: {} rows, expected {}\n", place_of(suite), suite.rows, before.rows);
        } else if (suite.hash != before.hash) {
            text += fmt::format("{}: its predictions have moved\n", place_of(suite));
        }
        known.erase(found);
    }
    for (const auto& [place, suite] : known) text += fmt::format("{}: not predicted\n", place);
    return text;
}

}  // namespace warptime::validate
