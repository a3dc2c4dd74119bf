// Conditions set from text.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/condition_values.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <string>

using warptime::Error;
using warptime::model::prediction::Cache;
using warptime::model::prediction::Conditions;
using warptime::model::prediction::Duty;
using warptime::model::prediction::Ecc;
using warptime::model::prediction::OperandData;
using warptime::workloads::check_conditions;
using warptime::workloads::condition_infos;
using warptime::workloads::set_condition;

TEST_CASE("each condition is set by its name") {
    Conditions conditions;
    set_condition(conditions, "cache", "warm");
    set_condition(conditions, "duty", "sustained");
    set_condition(conditions, "data", "zeros");
    set_condition(conditions, "available_sms", "64");
    set_condition(conditions, "clock_mhz", "1755.5");
    set_condition(conditions, "ecc", "off");
    set_condition(conditions, "between", "80MB");
    set_condition(conditions, "in_turn", "k+v");
    CHECK(conditions ==
          Conditions{
              Cache::warm, Duty::sustained, OperandData::zeros, 64, 1755.5e6, Ecc::off, 80e6, {"k", "v"}});
}

TEST_CASE("the documented defaults are the defaults") {
    Conditions conditions;
    for (const auto& info : condition_infos()) {
        if (!info.default_text.empty()) {
            set_condition(conditions, info.name, info.default_text);
        }
    }
    CHECK(conditions == Conditions{});
}

TEST_CASE("wrong values and names are refused") {
    Conditions conditions;
    const auto refused = [&conditions](const char* name, const char* text) {
        CAPTURE(name);
        CAPTURE(text);
        CHECK_THROWS_AS(set_condition(conditions, name, text), Error);
    };
    refused("cache", "hot");
    refused("duty", "");
    refused("data", "ones");
    refused("available_sms", "0");
    refused("available_sms", "4294967297");
    for (const char* clock : {"0", "-5", "nan", "inf", "1e9", "1.7GHz", "", " 1"}) {
        refused("clock_mhz", clock);
    }
    for (const char* bytes : {"", "-1", "nan", "inf", "1e16", "8 s", "80MX", "many"}) {
        refused("between", bytes);
    }
    CHECK_THROWS_WITH_AS(set_condition(conditions, "between", "8 s"), doctest::Contains("between: got '8 s'"),
                         Error);
    CHECK_THROWS_WITH_AS(set_condition(conditions, "cahce", "warm"), doctest::Contains("nearest: 'cache'"),
                         Error);
    CHECK(conditions == Conditions{});
    conditions.available_sms = 133;
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    CHECK_THROWS_AS(check_conditions(conditions, gpu), Error);
    conditions.available_sms = 132;
    CHECK_NOTHROW(check_conditions(conditions, gpu));
}

TEST_CASE("no clock beyond what the chip can do") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Conditions conditions;
    set_condition(conditions, "clock_mhz", "1980");
    CHECK_NOTHROW(check_conditions(conditions, gpu));
    set_condition(conditions, "clock_mhz", "19000");
    CHECK_THROWS_WITH_AS(check_conditions(conditions, gpu),
                         doctest::Contains("clock_mhz: got '19000', expected at most 1980"), Error);
}

TEST_CASE(
    "bytes between two launches are read with a unit and without, and need caches that hold something") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Conditions conditions;
    conditions.cache = Cache::warm;
    for (const char* text : {"83886080", "80MiB", "80 MiB", "8.388608e7"}) {
        set_condition(conditions, "between", text);
        CHECK(conditions.between == 83886080.0);
        CHECK_NOTHROW(check_conditions(conditions, gpu));
    }
    for (const Cache cache : {Cache::cold, Cache::flushed}) {
        conditions.cache = cache;
        conditions.between = 83886080.0;
        CHECK_THROWS_WITH_AS(check_conditions(conditions, gpu),
                             doctest::Contains("between: got '83886080', expected cache warm"), Error);
        conditions.between = 0.0;
        CHECK_NOTHROW(check_conditions(conditions, gpu));
    }
}

TEST_CASE("operands in turn are names, and need something that comes between") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Conditions conditions;
    conditions.cache = Cache::warm;
    for (const char* text :
         {"", "+", "b+", "+b", "b++c", "b+B", "a+b+c+d+e", "b c", "a_name_of_24_characters_", "b,c"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(set_condition(conditions, "in_turn", text),
                             doctest::Contains("expected one to 4 different names of operands"), Error);
    }
    set_condition(conditions, "in_turn", "a+b+c+d");
    CHECK_THROWS_WITH_AS(check_conditions(conditions, gpu),
                         doctest::Contains("in_turn: got 'a+b+c+d', expected between above 0"), Error);
    set_condition(conditions, "between", "80MB");
    CHECK_NOTHROW(check_conditions(conditions, gpu));
    set_condition(conditions, "in_turn", "b");
    CHECK(conditions.in_turn == decltype(conditions.in_turn){"b"});
}

TEST_CASE("error correction is a condition where it costs bandwidth, and is refused elsewhere") {
    for (const char* id : {"l40s", "l4", "a10", "t4", "rtx-4090"}) {
        for (const Ecc ecc : {Ecc::on, Ecc::off}) {
            Conditions conditions;
            conditions.ecc = ecc;
            CHECK_NOTHROW(check_conditions(conditions, warptime::hw::load_gpu(id)));
        }
    }
    for (const char* id : {"h200-sxm", "v100-sxm", "b200", "rtx-3090", "rtx-5090", "rtx-pro-6000"}) {
        Conditions conditions;
        CHECK_NOTHROW(check_conditions(conditions, warptime::hw::load_gpu(id)));
        conditions.ecc = Ecc::off;
        CHECK_THROWS_WITH_AS(check_conditions(conditions, warptime::hw::load_gpu(id)),
                             doctest::Contains("ecc: got 'off', expected no value on"), Error);
    }
}
