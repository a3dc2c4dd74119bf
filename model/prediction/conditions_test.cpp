// Words of the conditions are read as they are written.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/conditions.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::prediction;

TEST_CASE("words round trip") {
    for (const Cache cache : {Cache::cold, Cache::flushed, Cache::warm}) {
        CHECK(parse_cache(to_string(cache)) == cache);
    }
    for (const Duty duty : {Duty::isolated, Duty::sustained}) {
        CHECK(parse_duty(to_string(duty)) == duty);
    }
    for (const OperandData data : {OperandData::random, OperandData::zeros}) {
        CHECK(parse_operand_data(to_string(data)) == data);
    }
    for (const Ecc ecc : {Ecc::on, Ecc::off}) {
        CHECK(parse_ecc(to_string(ecc)) == ecc);
    }
    CHECK_THROWS_AS(static_cast<void>(parse_ecc("as shipped")), warptime::Error);
    CHECK(to_string(Cache::flushed) == "flushed");
}

TEST_CASE("words count in any case") {
    CHECK(parse_duty("Isolated") == Duty::isolated);
    CHECK(parse_cache("COLD") == Cache::cold);
}

TEST_CASE("another word is refused with the nearest") {
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_cache("flush")), doctest::Contains("'flushed'"),
                         warptime::Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_duty("isolate")), doctest::Contains("duty: got 'isolate'"),
                         warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(parse_operand_data("")), warptime::Error);
}

TEST_CASE("what other launches touch counts for the operands that take turns") {
    Conditions conditions;
    conditions.in_turn = {"b"};
    CHECK(touched_between(conditions, "b") == 0.0);
    conditions.between = 64.0;
    CHECK(touched_between(conditions, "B") == 64.0);
    CHECK(touched_between(conditions, "a") == 0.0);
    CHECK(touched_between(conditions, "") == 0.0);
    CHECK(in_turn_text(conditions) == "b");
    conditions.in_turn = {"k", "v", "out", "q"};
    CHECK(touched_between(conditions, "q") == 64.0);
    CHECK(touched_between(conditions, "a") == 0.0);
    CHECK(in_turn_text(conditions) == "k+v+out+q");
    conditions.in_turn = {};
    CHECK(touched_between(conditions, "a") == 64.0);
    CHECK(in_turn_text(conditions).empty());
}
