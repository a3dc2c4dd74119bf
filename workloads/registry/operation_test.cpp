// Operations against the registry: accepted forms, errors with the nearest name, one key per case.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using warptime::Error;
using warptime::workloads::find_operator;
using warptime::workloads::key_of;
using warptime::workloads::make_operation;
using warptime::workloads::parse_size;

namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

Parameters with(Parameters parameters, const std::string& name, const std::string& value) {
    parameters[name] = value;
    return parameters;
}

const Parameters square{{"m", "4096"}, {"n", "4096"}, {"k", "4096"}};

Error error_of(std::string_view op, const Parameters& parameters) {
    try {
        static_cast<void>(make_operation(op, parameters));
    } catch (const Error& error) {
        return error;
    }
    return {"none", "none", "none"};
}

}  // namespace

TEST_CASE("sizes are whole numbers from 1 to 2^53") {
    CHECK(parse_size("1", "n") == 1);
    CHECK(parse_size("0128", "n") == 128);
    CHECK(parse_size("9007199254740992", "n") == 9007199254740992);
    for (const char* bad : {"", "0", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "4096x",
                            "9007199254740993", "99999999999999999999", "one"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(static_cast<void>(parse_size(bad, "n")), Error);
    }
}

TEST_CASE("every accepted size survives its text") {
    CHECK(rc::check([] {
        const auto size = *rc::gen::inRange<std::int64_t>(1, (std::int64_t{1} << 53) + 1);
        RC_ASSERT(parse_size(std::to_string(size), "n") == size);
    }));
}

TEST_CASE("names count in any case and under their aliases, and come back in their own spelling") {
    const auto operation = make_operation("GEMM", {{"M", "4096"},
                                                   {"N", "4096"},
                                                   {"k", "4096"},
                                                   {"Tile", "128X256X64"},
                                                   {"DTYPE", "torch.float16"},
                                                   {"out-dtype", "Half"},
                                                   {"Implementation", "CUTLASS"}});
    CHECK(operation.op == "gemm");
    CHECK(operation.parameters == Parameters{{"m", "4096"},
                                             {"n", "4096"},
                                             {"k", "4096"},
                                             {"cta_tile", "128x256x64"},
                                             {"dtype", "fp16"},
                                             {"out_dtype", "fp16"},
                                             {"implementation", "cutlass"}});
    CHECK(make_operation("gemm", with(square, "dtype", "e4m3")).parameters.at("dtype") == "fp8");
}

TEST_CASE("a parameter that is given in two spellings is refused") {
    CHECK(error_of("gemm", with(square, "M", "1")).parameter() == "gemm m");
    CHECK(error_of("gemm", with(with(square, "tile", "64x64x64"), "cta_tile", "128x128x64")).parameter() ==
          "gemm cta_tile");
}

TEST_CASE("an operation is spelled one way") {
    const auto operation =
        make_operation("gemm", with(with(square, "m", "004096"), "cta_tile", "128x0256x64"));
    CHECK(operation.parameters.at("m") == "4096");
    CHECK(operation.parameters.at("cta_tile") == "128x256x64");
}

TEST_CASE("errors name the parameter with its operator, and the nearest name") {
    CHECK(error_of("gem", square).parameter() == "op");
    CHECK(error_of("gem", square).expected().find("gemm") != std::string::npos);
    CHECK(error_of("gemm", with(square, "stage", "3")).expected().find("'stages'") != std::string::npos);
    CHECK(error_of("gemm", with(square, "dtype", "bf61")).parameter() == "gemm dtype");
    CHECK(error_of("gemm", with(square, "dtype", "bf61")).expected().find("bf16") != std::string::npos);
    CHECK(error_of("gemm", with(square, "m", "-3")).parameter() == "gemm m");
    CHECK(error_of("gemm", with(square, "stages", "2147483648")).parameter() == "gemm stages");
    CHECK(error_of("copy", {}).parameter() == "copy n");
    for (const char* bad : {"128x256", "128x256x64x1", "128xx64", "x", "", "128y256y64", "128x256x0"}) {
        CAPTURE(bad);
        CHECK(error_of("gemm", with(square, "cta_tile", bad)).parameter() == "gemm cta_tile");
    }
}

TEST_CASE("the key holds what is asked, not how it is run") {
    const std::string key = "gemm dtype=bf16 k=4096 m=4096 n=4096";
    CHECK(key_of(make_operation("gemm", square)) == key);
    CHECK(key_of(make_operation("gemm", with(square, "dtype", "bf16"))) == key);
    CHECK(key_of(make_operation("gemm", with(square, "stages", "4"))) == key);
    CHECK(key_of(make_operation("gemm", with(square, "implementation", "triton"))) == key);
    CHECK(key_of(make_operation("gemm", with(square, "batch", "1"))) == key);
    CHECK(key_of(make_operation("gemm", with(square, "batch", "8"))) ==
          "gemm batch=8 dtype=bf16 k=4096 m=4096 n=4096");
    CHECK(key_of(make_operation("gemm", with(square, "b_major", "n"))) ==
          "gemm b_major=n dtype=bf16 k=4096 m=4096 n=4096");
    CHECK(key_of(make_operation("copy", {{"n", "1024"}})) == "copy dtype=bf16 n=1024");
}

TEST_CASE("a default that is written out is the same case") {
    const Parameters int8 = with(square, "dtype", "int8");
    CHECK(key_of(make_operation("gemm", with(int8, "out_dtype", "int32"))) ==
          key_of(make_operation("gemm", int8)));
    CHECK(key_of(make_operation("gemm", with(int8, "out_dtype", "int8"))) !=
          key_of(make_operation("gemm", int8)));
    CHECK(key_of(make_operation("gemm", with(square, "lda", "4096"))) ==
          key_of(make_operation("gemm", square)));
}

TEST_CASE("unknown operators are named with the nearest one") {
    CHECK(find_operator("copy").name == "copy");
    CHECK_THROWS_AS(static_cast<void>(find_operator("cpoy")), Error);
}
