// Parts of pages that show a report in a browser: a frame, tables, bars and scatter plots as inline SVG.
// A page is one file. It loads nothing, so that it can be sent and kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::reports::html {

/// The text with the characters that HTML gives a meaning as entities.
[[nodiscard]] std::string escaped(std::string_view text);

/// The whole page. `title` is text, `body` is HTML.
[[nodiscard]] std::string page(std::string_view title, std::string_view body);

/// A section that opens on a click. `content` is HTML.
[[nodiscard]] std::string details(std::string_view summary, std::string_view content);

using Cells = std::vector<std::string>;

/// A table; cells are HTML. Columns from `numbers_from` on are aligned to the right.
[[nodiscard]] std::string table(const Cells& header, const std::vector<Cells>& rows,
                                std::size_t numbers_from = 1);

/// One bar: a name, its length, the text behind it, and the text that the mouse shows.
struct Bar {
    std::string name;
    double value = 0.0;
    std::string label, hint;
};

/// Bars from zero, longest possible `most`; `mark` > 0 draws a line there, `low` to `high` a band.
[[nodiscard]] std::string bars(std::span<const Bar> bars, double most, double mark = 0.0, double low = 0.0,
                               double high = 0.0);

/// The colour of a cause of time or of a limiter, as "#0072B2"; grey for an unknown one.
[[nodiscard]] std::string cause_colour(std::string_view cause);

/// Points of one series.
struct Series {
    std::string name;
    std::vector<double> x, y;
};

/// An axis of a scatter plot; logarithmic axes show powers of ten.
struct Axis {
    std::string title;
    double low = 0.0, high = 1.0;
    bool logarithmic = true;
};

/// Points of several series, each in its colour, with a legend. `lines` are drawn from (x1, y1) to (x2, y2).
struct Line {
    double x1 = 0.0, y1 = 0.0, x2 = 0.0, y2 = 0.0;
    bool dashed = false;
};
[[nodiscard]] std::string scatter(std::span<const Series> series, const Axis& x, const Axis& y,
                                  std::span<const Line> lines);

}  // namespace warptime::reports::html
