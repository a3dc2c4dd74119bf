// Tests of gunzip: members written by hand from RFC 1951 and 1952, and damaged ones.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/gunzip.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::workloads::traces;

namespace {

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text.push_back(static_cast<char>(value));
    return text;
}

std::string header() {
    return bytes({0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3});
}

/// Checksum and length of "abc": CRC-32 352441C2.
std::string end_of_abc() {
    return bytes({0xC2, 0x41, 0x24, 0x35, 3, 0, 0, 0});
}

/// One stored block: last, type 0, length 3 and its complement.
std::string stored_abc() {
    return header() + bytes({1, 3, 0, 0xFC, 0xFF}) + "abc" + end_of_abc();
}

}  // namespace

TEST_CASE("a stored block") {
    CHECK(is_gzip(stored_abc()));
    CHECK_FALSE(is_gzip("abc"));
    CHECK(gunzip(stored_abc(), "file") == "abc");
    CHECK(gunzip(stored_abc() + stored_abc(), "file") == "abcabc");
}

TEST_CASE("a block of the fixed code") {
    // Literals a, b, c are 0x30 + value in 8 bits, most significant bit first: 10010001 10010010 10010011;
    // then seven zeros. Before them the bits 1 (last) and 01 (fixed, least significant first).
    CHECK(gunzip(header() + bytes({0x4B, 0x4C, 0x4A, 0x06, 0x00}) + end_of_abc(), "file") == "abc");
}

TEST_CASE("a name in the header") {
    std::string named = stored_abc();
    named[3] = 8;
    named.insert(10, std::string("trace.json") + '\0');
    CHECK(gunzip(named, "file") == "abc");
}

TEST_CASE("damaged files are refused") {
    const std::string whole = stored_abc();
    for (std::size_t length = 2; length < whole.size(); ++length) {
        CHECK_THROWS_AS(static_cast<void>(gunzip(whole.substr(0, length), "file")), warptime::Error);
    }
    for (const std::size_t place : {11U, 15U, 16U, 18U, 22U}) {
        std::string wrong = whole;
        wrong[place] = static_cast<char>(wrong[place] ^ 1);
        CHECK_THROWS_AS(static_cast<void>(gunzip(wrong, "file")), warptime::Error);
    }
    CHECK_THROWS_AS(static_cast<void>(gunzip(whole, "file", 2)), warptime::Error);
    // A block of type 3, and a distance before the first byte.
    CHECK_THROWS_AS(static_cast<void>(gunzip(header() + bytes({7, 0, 0}), "file")), warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(gunzip(header() + bytes({0x4B, 0x04, 0x12, 0, 0, 0}), "file")),
                    warptime::Error);
}
