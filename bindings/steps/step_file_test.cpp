// Step files as JSON, CSV and gzip: what is read, and what is refused with its place.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_file.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace warptime;
using steps::read_step;
using steps::StepFile;

namespace {

/// What reading of `text` as "a.step" throws.
std::string refusal(std::string_view text) {
    try {
        const StepFile read = read_step(text, "a.step");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

bool refuses(std::string_view text, std::string_view place, std::string_view expected) {
    const std::string told = refusal(text);
    INFO(told);
    const bool right = told.starts_with(place) && told.find(expected) != std::string::npos;
    CHECK(right);
    return right;
}

}  // namespace

TEST_CASE("JSON and CSV say the same step") {
    const StepFile json = read_step(R"({"schema": "warptime-step-1", "name": "two", "memory_bytes": 12,
        "made_by": "other fields are left alone",
        "rows": [{"op": "copy", "n": 4096, "cache": "warm", "stream": "side", "_note": "x", "dtype": null},
                 {"id": "last", "op": "gemm", "m": 16.0, "n": "32", "k": 1e3, "bias": true, "repeat": 3,
                  "after": [1], "module": "layers.0", "phase": "forward"}]})",
                                    "a.step");
    CHECK(json.name == "two");
    CHECK(json.memory_bytes == 12);
    const StepFile csv = read_step(
        "id,op,n,cache,stream,_note,m,k,bias,repeat,after,module,phase\n"
        ",copy,4096,warm,side,x,,,,,,,\n"
        "last,gemm,32,,,,16,1000,1,3,1,layers.0,forward\n",
        "a.step");
    for (const StepFile& file : {json, csv}) {
        REQUIRE(file.rows.size() == 2);
        const steps::FileRow& first = file.rows[0];
        CHECK(first.id == "1");
        CHECK(first.op == "copy");
        CHECK(first.stream == "side");
        CHECK(first.repeat == 1);
        CHECK(first.parameters == decltype(first.parameters){{"n", "4096"}, {"cache", "warm"}});
        const steps::FileRow& last = file.rows[1];
        CHECK(last.id == "last");
        CHECK(last.repeat == 3);
        CHECK(last.module == "layers.0");
        CHECK(last.phase == "forward");
        CHECK(last.after == std::vector<std::string>{"1"});
        CHECK(last.parameters ==
              decltype(last.parameters){{"m", "16"}, {"n", "32"}, {"k", "1000"}, {"bias", "1"}});
    }
}

TEST_CASE("a bare list of rows is a step without a name, and large numbers keep their digits") {
    const StepFile file = read_step(
        R"([{"op": "unknown", "bytes": 18446744073709551615, "flops": 1e300}, {"op": "unknown", "bytes": 0.5}])",
        "a.step");
    CHECK(file.name.empty());
    REQUIRE(file.rows.size() == 2);
    CHECK(file.rows[0].parameters.at("bytes") == "18446744073709551615");
    CHECK(file.rows[0].parameters.at("flops") == "1e+300");
    CHECK(file.rows[1].parameters.at("bytes") == "0.5");
}

TEST_CASE("a packed file is unpacked, and a damaged one refused") {
    // printf 'op,n\ncopy,8\n' | gzip -n9
    const std::string packed(
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x2f\xd0\xc9\xe3\x4a\xce\x2f\xa8\xd4\xb1\xe0\x02\x00\x0a"
        "\xcc"
        "\x35\xe5\x0c\x00\x00\x00",
        32);
    const StepFile file = read_step(packed, "a.step");
    REQUIRE(file.rows.size() == 1);
    CHECK(file.rows[0].parameters.at("n") == "8");
    refuses(packed.substr(0, 20), "a.step", "truncated");
}

TEST_CASE("what is no step is refused with its place") {
    refuses("", "a.step", "a step of one row or more");
    refuses("op,n\n", "a.step", "a step of one row or more");
    refuses("[]", "a.step", "a step of one row or more");
    refuses("{", "a.step", "a step file in JSON or CSV");
    refuses("n,m\n1,2\n", "a.step line 1", "a column op");
    refuses("op,,n\ncopy,,1\n", "a.step line 1", "a name for each column");
    refuses("op,n,n\ncopy,1,1\n", "a.step line 1", "each column once");
    refuses("op,n\ncopy,1,2\n", "a.step line 2", "2, as the header has");
    refuses("{}", "a.step schema", "warptime-step-1");
    refuses(R"({"schema": 5, "rows": []})", "a.step schema: got '5'", "warptime-step-1");
    refuses(R"({"schema": "warptime-step-1"})", "a.step rows", "the rows of the step");
    refuses(R"({"schema": "warptime-step-1", "rows": {}})", "a.step rows: got 'object'", "a list of rows");
    refuses(R"({"schema": "warptime-step-1", "name": 5, "rows": []})", "a.step name: got '5'", "a text");
    refuses(R"({"schema": "warptime-step-1", "memory_bytes": "x", "rows": []})", "a.step memory_bytes",
            "a whole number");
    refuses("[7]", "a.step row 1: got '7'", "an object");
    refuses(R"([{"op": "copy", "": 1}])", "a.step row 1", "the name of a parameter");
    refuses(R"([{"op": "copy", "n": [1]}])", "a.step row 1 n: got '[1]'", "a text, a number or null");
    refuses(R"([{"n": 1}])", "a.step row 1 op", "an operator, or unknown");
    refuses(R"([{"op": "copy", "id": "x"}, {"op": "copy", "id": "x"}])", "a.step id: got 'x'",
            "each id once");
    refuses(R"([{"op": "copy", "id": "first"}, {"op": "copy", "after": "frist"}])",
            "a.step row 2 after: got 'frist'", "'first'");
    for (const char* repeat : {"0", "-1", "1.5", "1000000001", "two", "99999999999999999999"}) {
        refuses(std::string("op,repeat\ncopy,") + repeat + "\n", "a.step row 1 repeat",
                "a whole number from 1 to 1000000000");
    }
}
