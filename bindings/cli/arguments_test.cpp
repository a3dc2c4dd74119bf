// The command-line reader: values as text, both spellings, nearest names, help with its example.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/arguments.hpp"

#include "bindings/cli/usage_error.hpp"

#include <doctest/doctest.h>

using warptime::cli::Arguments;
using warptime::cli::CommandSpec;
using warptime::cli::OptionKind;
using warptime::cli::parse_arguments;
using warptime::cli::UsageError;

namespace {

CommandSpec example_spec() {
    const CommandSpec gemm{"gemm",
                           "a product",
                           "warptime predict gemm 1 2 --gpu x",
                           {{"m", "rows", OptionKind::positional},
                            {"n", "columns", OptionKind::positional},
                            {"cta_tile", "tile", OptionKind::value, "TEXT", '\0', "", "tile"}},
                           {},
                           ""};
    const CommandSpec predict{"predict",
                              "predicts",
                              "warptime predict gemm 1 2 --gpu x",
                              {{"gpu", "which"},
                               {"set", "change", OptionKind::repeated},
                               {"json", "as JSON", OptionKind::flag},
                               {"output", "file", OptionKind::value, "FILE", 'o'}},
                              {gemm},
                              "operator"};
    return {"warptime", "predicts kernels", "", {}, {predict}, "command"};
}

Arguments read(const std::vector<std::string>& given) {
    return parse_arguments(example_spec(), "1.2.3", given).arguments;
}

std::string message_of(const std::vector<std::string>& given) {
    try {
        static_cast<void>(read(given));
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("an option that comes twice or without its value is named") {
    CHECK(message_of({"predict", "gemm", "--gpu", "a", "--gpu", "b"}) ==
          "--gpu: got 'several values', expected one value; only repeatable options take several");
    CHECK(message_of({"predict", "gemm", "--gpu"}) == "--gpu: got 'nothing', expected a value");
    CHECK(read({"predict", "gemm", "--set", "a", "--set", "b"}).all("set").size() == 2);
}

TEST_CASE("names count in any case, and an alias is its option") {
    const Arguments a = read({"Predict", "GEMM", "--M", "1", "--N=2", "--Tile", "AxB", "--GPU", "H"});
    CHECK(a.commands == std::vector<std::string>{"predict", "gemm"});
    CHECK(a.get("m") == "1");
    CHECK(a.get("n") == "2");
    CHECK(a.get("cta_tile") == "AxB");
    CHECK(a.get("gpu") == "H");
    CHECK_FALSE(a.has("tile"));
}

TEST_CASE("values are text, in any order, with either spelling") {
    const Arguments a = read({"predict", "gemm", "99999999999999999999", "-2", "--cta_tile", "1x2x3",
                              "--gpu=h", "--set", "gpu.a=2x", "--set=gpu.b=-10%", "--json", "-o", "-"});
    CHECK(a.commands == std::vector<std::string>{"predict", "gemm"});
    CHECK(a.get("m") == "99999999999999999999");
    CHECK(a.get("n") == "-2");
    CHECK(a.get("cta_tile") == "1x2x3");
    CHECK(a.get("gpu") == "h");
    CHECK(a.get("output") == "-");
    CHECK(a.all("set") == std::vector<std::string>{"gpu.a=2x", "gpu.b=-10%"});
    CHECK(a.has("json"));
    CHECK_FALSE(read({"predict", "gemm"}).get("m").has_value());
    CHECK(read({"predict", "--gpu", "h", "gemm", "1", "--n", "5"}).get("n") == "5");
}

TEST_CASE("values keep their underscores") {
    CHECK(read({"predict", "gemm", "--gpu=my_sheet.toml"}).get("gpu") == "my_sheet.toml");
    CHECK(read({"predict", "gemm", "--gpu", "a_b"}).get("gpu") == "a_b");
}

TEST_CASE("unknown names come with the nearest one") {
    CHECK(message_of({"predcit"}).find("'predict'") != std::string::npos);
    CHECK(message_of({"predict", "gem", "1"}).find("operator: got 'gem'") != std::string::npos);
    CHECK(message_of({"predict", "gemm", "--cta-tiel", "1"}).find("'--cta-tile'") != std::string::npos);
    CHECK(message_of({"predict", "gemm", "--gpus=h"}).find("'--gpu'") != std::string::npos);
    CHECK(message_of({"predict", "gemm", "1", "2", "3"}).find("gemm: got '3'") != std::string::npos);
    CHECK(message_of({}).find("command: got ''") != std::string::npos);
    CHECK(message_of({"predict"}).find("operator: got ''") != std::string::npos);
    CHECK(message_of({"predict", "gemm", "--gpu"}) != "no error");
    CHECK(message_of({"predict", "gemm", "--gpu", "a", "--gpu", "b"}) != "no error");
}

TEST_CASE("help shows the example of the command asked about") {
    const auto help = [](const std::vector<std::string>& given) {
        return parse_arguments(example_spec(), "1.2.3", given).text.value_or("");
    };
    CHECK(help({"predict", "--help"}).find("warptime predict gemm 1 2 --gpu x") != std::string::npos);
    CHECK(help({"predict", "gemm", "-h"}).find("--cta-tile") != std::string::npos);
    CHECK(help({"--version"}) == "warptime 1.2.3\n");
}
