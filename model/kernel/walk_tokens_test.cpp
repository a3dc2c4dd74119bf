// Phases that arrivals fill and waits need, counted by hand for rings, credits and turns.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/walk_tokens.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace warptime::model::kernel;
using detail::TokenUser;
using detail::WalkTokens;

Kernel with_token(std::int32_t arrivals, std::int32_t initial, std::int32_t depth = 1) {
    Kernel kernel;
    Builder build(kernel);
    Token token;
    token.name = "slot";
    token.arrivals = arrivals;
    token.initial = initial;
    token.depth = depth;
    build.token(token);
    return kernel;
}

}  // namespace

TEST_CASE("a phase is complete when all of its arrivals have come") {
    const Kernel kernel = with_token(2, 0);
    const std::vector<TokenUser> users{{0}, {1}};
    WalkTokens tokens(kernel, 2);
    for (const TokenUser& user : users) {
        tokens.count_arrival(user, 0, true);
        tokens.count_arrival(user, 0, true);
    }
    tokens.end_of_counting(users);
    CHECK(tokens.need(0) == 2);
    CHECK(tokens.share(users[0], 0) == 1);
    CHECK(tokens.exact(0));
    CHECK(tokens.needed_phase(users[0], 0, 0) == 0);
    CHECK_FALSE(tokens.complete(users[0], 0, 0));
    CHECK(tokens.arrive(users[0], 0, true) == 0);
    CHECK_FALSE(tokens.complete(users[0], 0, 0));
    CHECK(tokens.arrive(users[1], 0, true) == 0);
    CHECK(tokens.complete(users[0], 0, 0));
    CHECK(tokens.arrive(users[0], 0, true) == 1);
    CHECK_FALSE(tokens.complete(users[0], 0, 1));
    tokens.pass_wait(users[0], 0);
    CHECK(tokens.needed_phase(users[0], 0, 0) == 1);
}

TEST_CASE("initial credits let the first waits pass") {
    const Kernel kernel = with_token(1, 3, 3);
    const std::vector<TokenUser> users{{0}};
    WalkTokens tokens(kernel, 1);
    tokens.end_of_counting(users);
    for (int wait = 0; wait < 3; ++wait) {
        CHECK(tokens.complete(users[0], 0, tokens.needed_phase(users[0], 0, 0)));
        tokens.pass_wait(users[0], 0);
    }
    CHECK_FALSE(tokens.complete(users[0], 0, tokens.needed_phase(users[0], 0, 0)));
}
