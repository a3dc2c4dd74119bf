// Tests of reading one sheet or calibration file, mostly of refused text.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet_file.hpp"

#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::hw {
namespace {

const std::string tail = ", confidence = 'paper', source = 'CPG, table 3' }\n";
const std::string fit = ", interval = '5 cycle', rows = 12, residual = 0.03, date = '2026-11-21'";

SheetFile vendor(const std::string& rows) {
    return parse_sheet_file("[sheet]\nname = 'X'\n[sources]\nCPG = 'The Guide'\n" + rows, "x",
                            SheetKind::vendor);
}

SheetFile calibration(const std::string& rows) {
    return parse_sheet_file("[calibration]\ngpu = 'x'\n" + rows, "x", SheetKind::calibration);
}

TEST_CASE("a sheet's values arrive in base units with their source") {
    const SheetFile file =
        vendor("[dram]\nbandwidth = { value = '4.8 TB/s'" + tail + "[sm]\ncount = { value = 132" + tail +
               "[shared]\ncarveouts = { value = ['0 B', '8 KiB']" + tail);
    REQUIRE(file.values.size() == 3);
    CHECK(file.text.at("name") == "X");
    for (const SheetValue& value : file.values) {
        CHECK(value.provenance.source == "The Guide: table 3");
        CHECK(value.provenance.confidence == Confidence::paper);
        CHECK(value.provenance.sheet == "x");
        if (value.key == key_index("dram.bandwidth")) {
            CHECK(value.values.front() == doctest::Approx(4.8e12));
        } else if (value.key == key_index("shared.carveouts")) {
            CHECK(value.values.back() == 8192);
        } else {
            CHECK(value.values.front() == 132);
        }
    }
}

TEST_CASE("a calibration's values carry their fit") {
    const SheetFile file = calibration("[latency]\ndram = { value = '667 cycle'" + fit + tail);
    REQUIRE(file.values.size() == 1);
    CHECK(file.rows == 12);
    CHECK(file.values[0].provenance.rows == 12);
    CHECK(file.values[0].provenance.interval == 5);
    CHECK(file.values[0].provenance.residual == 0.03);
    CHECK(file.values[0].provenance.date == "2026-11-21");
    CHECK(file.values[0].provenance.origin == Origin::fitted);
}

TEST_CASE("an unknown key names the sheet and the nearest") {
    try {
        (void)vendor("[dram]\nbandwith = { value = '4.8 TB/s'" + tail);
        FAIL("expected an Error");
    } catch (const Error& error) {
        CHECK(error.parameter() == "x key");
        CHECK(error.value() == "dram.bandwith");
        CHECK(error.expected().find("'dram.bandwidth'") != std::string::npos);
    }
}

TEST_CASE("faults of a sheet are refused") {
    for (const std::string& rows : {
             "[dram]\nbandwidth = { value = '4.8 TB'" + tail,                         // dimension
             "[dram]\nbandwidth = { value = 4.8" + tail,                              // no unit
             std::string("[dram]\nbandwidth = '4.8 TB/s'\n"),                         // no source
             std::string("[dram]\nbandwidth = { value = '1 B/s', source = 's' }\n"),  // no confidence
             std::string("[dram]\nbandwidth = { value = '1 B/s', confidence = 'paper' }\n"),
             std::string("[dram]\nbandwidth = { value = '1 B/s', confidence = 'sure', source = 's' }\n"),
             "[dram]\nbandwidth = { valu = '1 B/s'" + tail,              // unknown field
             "[dram]\nbandwidth = { value = true" + tail,                // type
             "[sm]\ncount = { value = 131.5" + tail,                     // not whole
             "[sm]\ncount = { value = -1" + tail,                        // negative
             "[sm]\ncount = { value = 0" + tail,                         // no chip
             "[dram]\nbandwidth = { value = '0 TB/s'" + tail,            // no memory
             "[sm]\ncount = { value = nan" + tail,                       //
             "[shared]\ncarveouts = { value = '8 KiB'" + tail,           // no list
             "[shared]\ncarveouts = { value = []" + tail,                // empty list
             "[shared]\ncarveouts = { value = ['8 KiB', '0 B']" + tail,  // not ascending
             "[latency]\ndram = { value = '667 cycle'" + tail,           // fitted key in a sheet
             std::string("[drma]\nbandwidth = 3\n"),                     // unknown table
             std::string("[dram]\nbandwidth = 3\nbandwidth = 4\n"),      // TOML
         }) {
        CAPTURE(rows);
        CHECK_THROWS_AS((void)vendor(rows), Error);
    }
    CHECK_THROWS_AS((void)parse_sheet_file("", "x", SheetKind::vendor), Error);
    CHECK_THROWS_AS((void)parse_sheet_file("[sheet]\ncolour = 'red'\n", "x", SheetKind::vendor), Error);
}

TEST_CASE("faults of a calibration are refused") {
    for (const std::string& rows : {
             "[latency]\ndram = { value = '667 cycle'" + tail,  // no fit
             "[latency]\ndram = { value = '667 cycle', interval = '5 B', rows = 1, residual = 0.0, date = "
             "'d'" +
                 tail,
             "[latency]\ndram = { value = '667 cycle', interval = '5 cycle', rows = -1, residual = 0.0, date "
             "= 'd'" +
                 tail,
             "[dram]\nbandwidth = { value = '4.8 TB/s'" + tail,  // vendor key
         }) {
        CAPTURE(rows);
        CHECK_THROWS_AS((void)calibration(rows), Error);
    }
    CHECK_THROWS_AS((void)parse_sheet_file("[calibration]\ngpu = 'y'\n", "x", SheetKind::calibration), Error);
}

TEST_CASE("a user's sheet may hold both kinds") {
    const SheetFile file = parse_sheet_file("[sheet]\ninherits = 'b'\n[latency]\ndram = { value = '1 cycle'" +
                                                tail + "[sm]\ncount = { value = 1" + tail,
                                            "x", SheetKind::user);
    CHECK(file.values.size() == 2);
    CHECK(file.inherits == "b");
}

}  // namespace
}  // namespace warptime::hw
