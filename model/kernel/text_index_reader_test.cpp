// Index expressions read from text: each piece of a term, the place of its terms, and refusals.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text_index_reader.hpp"

#include "hw/error.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::model::kernel;
using detail::read_index;
using detail::read_term;
using detail::TextCursor;

namespace {

std::string message(const std::string& text) {
    TextCursor cursor(text);
    Kernel kernel;
    try {
        (void)read_index(cursor, kernel);
    } catch (const warptime::Error& error) {
        return error.expected();
    }
    return "read";
}

}  // namespace

TEST_CASE("a term has a coefficient, a position, a divisor, a modulus and limits") {
    TextCursor cursor("-3*tile.1/2%5[-1,7]");
    Kernel kernel;
    const Term term = read_term(cursor, kernel);
    CHECK(term.coefficient == -3);
    CHECK(term.variable == Variable::tile);
    CHECK(term.position == 1);
    CHECK(term.divisor == 2);
    CHECK(term.modulus == 5);
    CHECK(term.low == -1);
    CHECK(term.high == 7);
    TextCursor bare("warp[,4]");
    const Term plain = read_term(bare, kernel);
    CHECK(plain.coefficient == 1);
    CHECK(plain.low == Term{}.low);
    CHECK(plain.high == 4);
    CHECK(kernel.terms.empty());  // a single term is the caller's
}

TEST_CASE("terms of an expression go to the pool, in their order, and the constant stands first") {
    Kernel kernel;
    TextCursor first("{7 + 2*tile.0 + warp}");
    const Index a = read_index(first, kernel);
    CHECK(a.constant == 7);
    CHECK(a.first == 0);
    CHECK(a.count == 2);
    TextCursor second("{loop}");
    CHECK(read_index(second, kernel).first == 2);
    REQUIRE(kernel.terms.size() == 3);
    CHECK(kernel.terms[1].variable == Variable::warp);
    CHECK(message("{warp + 7}").find("the constant stands first") != std::string::npos);
    CHECK(message("{7 + 8}").find("the constant stands first") != std::string::npos);
}

TEST_CASE("equal terms can be named by their place instead of standing twice") {
    Kernel kernel;
    TextCursor first("{tile.0 + warp}");
    (void)read_index(first, kernel);
    TextCursor again("{4 + warp @1}");
    const Index index = read_index(again, kernel);
    CHECK(index.first == 1);
    CHECK(kernel.terms.size() == 2);
    TextCursor other("{lane @1}");
    CHECK_THROWS_AS((void)read_index(other, kernel), warptime::Error);
    TextCursor beyond("{warp @2}");
    CHECK_THROWS_AS((void)read_index(beyond, kernel), warptime::Error);
}

TEST_CASE("nested expressions lie in a pool of their own, sixteen deep at most") {
    Kernel kernel;
    TextCursor cursor("{2*(3 + warp)/4}");
    const Index index = read_index(cursor, kernel);
    REQUIRE(kernel.nested.size() == 1);
    CHECK(kernel.nested[0].constant == 3);
    CHECK(kernel.terms[index.first].variable == Variable::nested);
    CHECK(kernel.terms[index.first].divisor == 4);
    const auto nested = [](int depth) {
        return "{" + std::string(static_cast<std::size_t>(depth), '(') + "1" +
               std::string(static_cast<std::size_t>(depth), ')') + "}";
    };
    CHECK(message(nested(16)) == "read");
    CHECK(message(nested(17)) == "at most 16 nested expressions");
}

TEST_CASE("two factors and an exponent are expressions of the pool, the factors side by side") {
    Kernel kernel;
    TextCursor cursor("{3 + 4*tile.0*(1 + loop.0/2)%9 + 2^warp + 5*2^(loop.1 + warp)}");
    const Index index = read_index(cursor, kernel);
    REQUIRE(index.count == 3);
    const Term& product = kernel.terms[index.first];
    CHECK(product.coefficient == 4);
    CHECK(product.variable == Variable::product);
    CHECK(product.modulus == 9);
    const Coordinates at{.tile = {7}, .warp = 3, .loop = {6, 2}};
    CHECK(evaluate(kernel, kernel.nested[product.position], at) == 7);
    CHECK(evaluate(kernel, kernel.nested[product.position + 1], at) == 4);
    CHECK(evaluate(kernel, index, at) == 3 + 4 * ((7 * 4) % 9) + 8 + 5 * 32);
    CHECK(message("{2^3}") != "read");
    CHECK(message("{3^warp}") != "read");
    CHECK(message("{tile.0*warp*loop.0}") != "read");
}

TEST_CASE("what cannot divide, open or close is refused") {
    CHECK(message("{warp/0}") != "read");
    CHECK(message("{warp%-1}") != "read");
    CHECK(message("{warp[1}") == "','");
    CHECK(message("{warp").find("'}'") != std::string::npos);
    CHECK(message("{nobody}").find("one of") != std::string::npos);
}
