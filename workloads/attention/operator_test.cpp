// The records of attention: keys of a case, useful work, and numbers that a sweep sets.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/operator.hpp"

#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads;
using attention::fixture::sizes;

TEST_CASE("keys and their heads are those of the queries unless given") {
    const Operation operation = make_operation("attention", sizes("2", "8", "64", "128"));
    CHECK(value_or_default(operation, "kv_heads") == "8");
    CHECK(value_or_default(operation, "sk") == "64");
    CHECK(key_of(operation) == "attention batch=2 dtype=bf16 head_dim=128 heads=8 sq=64");
    CHECK(key_of(make_operation("attention",
                                sizes("2", "8", "64", "128", {{"kv_heads", "8"}, {"causal", "0"}}))) ==
          key_of(operation));
}

TEST_CASE("useful work is that of the scores that the mask leaves, and every array once") {
    const Operation operation = make_operation(
        "attention", sizes("2", "8", "300", "64", {{"kv_heads", "4"}, {"sk", "500"}, {"causal", "1"}}));
    const UsefulWork work = attention::attention_operator().work(operation);
    double scores = 0.0;
    for (int query = 0; query < 300; ++query) scores += query + 1 + 200;  // the last one sees all 500 keys
    CHECK(work.operations.value() == 2.0 * 8 * scores * 64 * 2 * 2);
    const double q = 2.0 * 8 * 300 * 64 * 2, k = 2.0 * 4 * 500 * 64 * 2;
    CHECK(work.bytes == 2 * q + 2 * k);
    CHECK(work.memory > work.bytes);
    const UsefulWork back = attention::attention_backward_operator().work(
        make_operation("attention_backward",
                       sizes("2", "8", "300", "64", {{"kv_heads", "4"}, {"sk", "500"}, {"causal", "1"}})));
    CHECK(back.operations.value() == 2.5 * work.operations.value());
    CHECK(back.bytes == 4 * q + 4 * k + 2.0 * 8 * 300 * 4);
}

TEST_CASE("a number set on a request is the parameter of the same name") {
    const OperatorInfo& info = attention::attention_operator();
    for (const char* name : {"batch", "heads", "sq", "head_dim", "kv_heads", "sk", "page_size"}) {
        CAPTURE(std::string(name));
        const auto set = info.number(name);
        REQUIRE((set != nullptr));
        auto changed = info.read(make_operation("attention", sizes("3", "12", "96", "128")));
        REQUIRE(set(*changed, 6));
        auto more = sizes("3", "12", "96", "128");
        more[name] = "6";
        const auto written = info.read(make_operation("attention", more));
        const auto same = [](Request& request) {
            const attention::Problem p = static_cast<attention::AttentionRequest&>(request).completed();
            return std::array{p.batch, p.heads, p.kv_heads, p.sq, p.sk, p.head_dim, p.page_size};
        };
        CHECK(same(*changed) == same(*written));
    }
    CHECK((info.number("causal") == nullptr));
}
