// Text is escaped, lengths and places are in proportion, and every point is drawn.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/html.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace warptime::reports;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// The number behind the n-th `name='`.
double number_after(const std::string& text, const std::string& name, std::size_t from = 0) {
    const std::size_t at = text.find(name + "='", from);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + name.size() + 2));
}

}  // namespace

TEST_CASE("what HTML gives a meaning becomes an entity") {
    CHECK(html::escaped("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    CHECK(html::page("<t>", "<p>body</p>").find("<title>&lt;t&gt;</title>") != std::string::npos);
    CHECK(html::details("a&b", "<pre>x</pre>") ==
          "<details><summary>a&amp;b</summary><pre>x</pre></details>\n");
}

TEST_CASE("a table aligns its numbers") {
    CHECK(html::table({"name", "value"}, {{"a", "1"}}) ==
          "<table><tr><th>name</th><th class='n'>value</th></tr>\n<tr><td>a</td><td class='n'>1</td></tr>\n"
          "</table>\n");
    CHECK(html::table({}, {{"a", "b"}}, 2) == "<table><tr><td>a</td><td>b</td></tr>\n</table>\n");
}

TEST_CASE("bars are as long as their values, with the line at the mark") {
    const std::array<html::Bar, 2> two = {
        {{"dram", 4.0, "4 us", "<hint>"}, {"main_loop:l2", 2.0, "2 us", ""}}};
    const std::string svg = html::bars(two, 8.0, 6.0);
    const std::size_t first = svg.find("<rect"), second = svg.find("<rect", first + 1);
    CHECK(number_after(svg, "width", first) == doctest::Approx(2.0 * number_after(svg, "width", second)));
    CHECK(svg.find("&lt;hint&gt;") != std::string::npos);
    // The mark lies as far from the left edge of the bars as a bar of its value would reach.
    const double left = number_after(svg, "x", first);
    const std::size_t mark = svg.find("<path d='M");
    REQUIRE(mark != std::string::npos);
    CHECK(std::stod(svg.substr(mark + 10)) - left ==
          doctest::Approx(1.5 * number_after(svg, "width", first)));
    CHECK(html::cause_colour("main_loop:l2") == html::cause_colour("l2"));
    CHECK(html::cause_colour("l2") != html::cause_colour("dram"));
}

TEST_CASE("a scatter plot draws each point where its logarithm is") {
    const std::vector<html::Series> series = {{"one", {1.0, 10.0, 100.0}, {1.0, 1.0, 1.0}},
                                              {"two", {5.0}, {5.0}}};
    const std::string svg = html::scatter(series, {"x", 1.0, 100.0}, {"y", 0.5, 10.0}, {});
    CHECK(count_of(svg, "h0") == 4);
    CHECK(count_of(svg, "<circle") == 2);
    CHECK(svg.find("one (3)") != std::string::npos);
    // Equal factors are equal distances.
    std::array<double, 3> x = {};
    std::size_t at = svg.rfind("<path d='M", svg.find("h0"));
    for (double& place : x) {
        at = svg.find('M', at + 1);
        place = std::stod(svg.substr(at + 1));
    }
    CHECK(x[2] - x[1] == doctest::Approx(x[1] - x[0]).epsilon(0.001));
    CHECK(x[1] > x[0]);
}
