// A reader with one character of look-ahead over a fixed buffer, and a writer with minimal quoting.
// Source of the grammar: RFC 4180, section 2. Source of well-formed UTF-8: Unicode 15, table 3-7.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/csv.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warptime::workloads {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Number of bytes after a lead byte, and the range of the first such byte; -1: not a lead byte.
struct Utf8Lead {
    int continuation;
    unsigned low;
    unsigned high;
};

Utf8Lead lead_of(unsigned byte) {
    if (byte >= 0xC2 && byte <= 0xDF) {
        return {1, 0x80, 0xBF};
    }
    if (byte >= 0xE0 && byte <= 0xEF) {
        // After E0, bytes below A0 would be overlong. After ED, bytes from A0 on would be surrogates.
        return {2, byte == 0xE0 ? 0xA0U : 0x80U, byte == 0xED ? 0x9FU : 0xBFU};
    }
    if (byte >= 0xF0 && byte <= 0xF4) {
        return {3, byte == 0xF0 ? 0x90U : 0x80U, byte == 0xF4 ? 0x8FU : 0xBFU};
    }
    return {-1, 0, 0};
}

unsigned byte_at(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        const unsigned byte = byte_at(text, i);
        if (byte == 0) {
            return i;
        }
        if (byte < 0x80) {
            ++i;
            continue;
        }
        const Utf8Lead lead = lead_of(byte);
        if (lead.continuation < 0 || i + static_cast<std::size_t>(lead.continuation) >= text.size()) {
            return i;
        }
        for (int k = 1; k <= lead.continuation; ++k) {
            const unsigned next = byte_at(text, i + static_cast<std::size_t>(k));
            const unsigned low = k == 1 ? lead.low : 0x80U;
            const unsigned high = k == 1 ? lead.high : 0xBFU;
            if (next < low || next > high) {
                return i;
            }
        }
        i += static_cast<std::size_t>(lead.continuation) + 1;
    }
    return std::string_view::npos;
}

CsvReader::CsvReader(std::istream& in, std::string name, CsvLimits limits)
    : in_(&in), name_(std::move(name)), limits_(limits), buffer_(buffer_bytes) {
    if (peek() != end_of_text && std::string_view(buffer_.data(), filled_).starts_with(byte_order_mark)) {
        position_ = byte_order_mark.size();
    }
}

std::string CsvReader::where() const {
    return fmt::format("{} line {}", name_, record_line_);
}

void CsvReader::fail(std::int64_t line, std::string value, std::string expected) const {
    throw Error(fmt::format("{} line {}", name_, line), std::move(value), std::move(expected));
}

int CsvReader::peek() {
    if (position_ == filled_) {
        in_->read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        filled_ = static_cast<std::size_t>(in_->gcount());
        position_ = 0;
        if (in_->bad()) {
            fail(line_, "a failed read", "a readable file");
        }
        if (filled_ == 0) {
            return end_of_text;
        }
    }
    return static_cast<unsigned char>(buffer_[position_]);
}

int CsvReader::take() {
    const int c = peek();
    if (c != end_of_text) {
        ++position_;
        line_ += c == '\n' ? 1 : 0;
    }
    return c;
}

void CsvReader::append(std::string& field, char c) {
    if (field.size() >= limits_.field_bytes) {
        fail(record_line_, fmt::format("{}...", field.substr(0, 24)),
             fmt::format("a field of at most {} bytes (is a quote left open?)", limits_.field_bytes));
    }
    if (++record_bytes_ > limits_.record_bytes) {
        fail(record_line_, "a longer record",
             fmt::format("a record of at most {} bytes", limits_.record_bytes));
    }
    field.push_back(c);
}

void CsvReader::read_quoted(std::string& field) {
    const std::int64_t opened = line_;
    take();
    for (;;) {
        const int c = take();
        if (c == end_of_text) {
            fail(opened, fmt::format("\"{}", field.substr(0, 24)), "a closing quote");
        }
        if (c != '"') {
            append(field, static_cast<char>(c));
            continue;
        }
        if (peek() != '"') {
            break;
        }
        append(field, static_cast<char>(take()));
    }
    const int after = peek();
    if (after != ',' && after != '\n' && after != '\r' && after != end_of_text) {
        fail(line_, fmt::format("\"{}\"{}", field.substr(0, 24), static_cast<char>(after)),
             "a comma or the end of the line after a closing quote");
    }
}

void CsvReader::read_plain(std::string& field) {
    for (int c = peek(); c != ',' && c != '\n' && c != '\r' && c != end_of_text; c = peek()) {
        if (c == '"') {
            fail(line_, field.substr(0, 24) + "\"", "quotes around the whole field, doubled inside it");
        }
        append(field, static_cast<char>(take()));
    }
}

void CsvReader::check_utf8(std::string_view field, std::int64_t first_line) const {
    const std::size_t offset = find_invalid_utf8(field);
    if (offset == std::string_view::npos) {
        return;
    }
    const auto breaks = std::count(field.begin(), field.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    fail(first_line + breaks, fmt::format("byte 0x{:02X}", byte_at(field, offset)), "text in UTF-8");
}

bool CsvReader::next(CsvRecord& record) {
    while (peek() == '\n' || peek() == '\r') {  // skips empty lines
        if (take() == '\r' && peek() != '\n') {
            fail(line_, "a carriage return alone", "lines that end in LF or CRLF");
        }
    }
    if (peek() == end_of_text) {
        record.clear();
        return false;
    }
    record_line_ = line_;
    record_bytes_ = 0;
    std::size_t count = 0;
    for (;;) {
        if (count == limits_.fields) {
            fail(record_line_, "more fields", fmt::format("at most {} fields", limits_.fields));
        }
        if (record.size() == count) {
            record.emplace_back();
        }
        std::string& field = record[count++];
        field.clear();
        const std::int64_t first_line = line_;
        if (peek() == '"') {
            read_quoted(field);
        } else {
            read_plain(field);
        }
        check_utf8(field, first_line);
        const int separator = take();
        if (separator == ',') {
            continue;
        }
        if (separator == '\r' && take() != '\n') {
            fail(first_line, "a carriage return alone", "lines that end in LF or CRLF");
        }
        break;
    }
    record.resize(count);
    return true;
}

CsvTable::CsvTable(std::istream& in, std::string name, CsvLimits limits)
    : reader_(in, std::move(name), limits) {
    if (!reader_.next(columns_)) {
        throw Error(reader_.name(), "", "a first line with the names of the columns");
    }
    for (auto column = columns_.begin(); column != columns_.end(); ++column) {
        if (column->empty()) {
            throw Error(reader_.where(), "", "a name for every column");
        }
        if (std::find(columns_.begin(), column, *column) != column) {
            throw Error(reader_.where(), *column, "each column once");
        }
    }
}

std::size_t CsvTable::find(std::string_view column) const {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    return found == columns_.end() ? npos : static_cast<std::size_t>(found - columns_.begin());
}

std::size_t CsvTable::require(std::string_view column) const {
    const std::size_t index = find(column);
    if (index == npos) {
        throw Error(reader_.name(), fmt::format("{}", fmt::join(columns_, ",")),
                    fmt::format("a column '{}'", column));
    }
    return index;
}

void append_csv_field(std::string& out, std::string_view field) {
    const bool edge_blank = !field.empty() && (field.front() == ' ' || field.back() == ' ');
    // At the start of a text readers would take these bytes for a byte-order mark.
    const bool marked = field.starts_with(byte_order_mark);
    if (!edge_blank && !marked && field.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += field;
        return;
    }
    out += '"';
    for (const char c : field) {
        if (c == '"') {
            out += '"';
        }
        out += c;
    }
    out += '"';
}

void append_csv_record(std::string& out, const CsvRecord& record) {
    if (record.size() == 1 && record.front().empty()) {
        out += "\"\"\n";  // readers would skip an empty line
        return;
    }
    for (std::size_t i = 0; i < record.size(); ++i) {
        if (i > 0) {
            out += ',';
        }
        append_csv_field(out, record[i]);
    }
    out += '\n';
}

}  // namespace warptime::workloads
