// Text of HTML and SVG. Colours are those of Okabe and Ito and of Paul Tol, as in the Python package's plots.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace warptime::reports::html {

namespace {

constexpr std::string_view style = R"(
body{font:15px/1.45 system-ui,sans-serif;color:#222;max-width:1000px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.2em}h2{font-size:1.15em;margin:1.6em 0 .5em;border-bottom:1px solid #ddd}
h3{font-size:1em;margin:1.2em 0 .3em}
table{border-collapse:collapse;font-size:.92em}td,th{padding:.15em .7em;text-align:left;border-bottom:1px solid #eee}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
pre{background:#f6f6f6;padding:.8em;overflow-x:auto;font-size:.85em}.big{font-size:1.9em;font-weight:600}
.quiet{color:#666}svg{max-width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:#222}
summary{cursor:pointer;margin:.6em 0}code{background:#f6f6f6}
)";

constexpr std::array<std::pair<std::string_view, std::string_view>, 19> colours = {{
    {"tensor_core", "#D55E00"},
    {"fp32", "#E69F00"},
    {"fp64", "#B45F06"},
    {"int", "#F0C05A"},
    {"sfu", "#DDCC77"},
    {"issue", "#CC79A7"},
    {"shared", "#009E73"},
    {"l1", "#44AA99"},
    {"l2", "#56B4E9"},
    {"crossbar", "#88CCEE"},
    {"dram", "#0072B2"},
    {"tma", "#332288"},
    {"chain_latency", "#AA4499"},
    {"bytes_in_flight", "#882255"},
    {"atomic", "#661100"},
    {"launch", "#999999"},
    {"tail", "#555555"},
    {"prologue", "#BBBBBB"},
    {"epilogue", "#777777"},
}};
constexpr std::array<std::string_view, 12> series_colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                             "#E69F00", "#56B4E9", "#332288", "#999999",
                                                             "#661100", "#44AA99", "#DDCC77", "#222222"};

constexpr double plot_width = 640.0, plot_height = 480.0, margin_left = 70.0, margin_bottom = 46.0,
                 margin_top = 10.0, margin_right = 20.0, legend_line = 15.0;

/// Places of an axis on the picture.
class Scale {
  public:
    Scale(const Axis& axis, double from, double to)
        : axis_(axis), from_(from), to_(to), low_(on(axis.low)), span_(on(axis.high) - on(axis.low)) {}
    [[nodiscard]] double at(double value) const {
        return from_ + (to_ - from_) * std::clamp((on(value) - low_) / span_, 0.0, 1.0);
    }

  private:
    [[nodiscard]] double on(double value) const {
        return axis_.logarithmic ? std::log10(std::max(value, axis_.low)) : value;
    }
    const Axis& axis_;
    double from_, to_, low_, span_;
};

constexpr int linear_ticks = 5;

std::vector<double> ticks_of(const Axis& axis) {
    std::vector<double> ticks;
    if (axis.logarithmic) {
        const int last = static_cast<int>(std::floor(std::log10(axis.high)));
        for (int power = static_cast<int>(std::ceil(std::log10(axis.low))); power <= last; ++power) {
            ticks.push_back(std::pow(10.0, power));
        }
        return ticks;
    }
    for (int i = 0; i < linear_ticks; ++i) {
        ticks.push_back(axis.low + (axis.high - axis.low) * i / (linear_ticks - 1));
    }
    return ticks;
}

std::string axes_svg(const Axis& x, const Axis& y, const Scale& across, const Scale& up) {
    const double right = plot_width - margin_right, bottom = plot_height - margin_bottom;
    std::string svg;
    const auto out = std::back_inserter(svg);
    for (const double tick : ticks_of(x)) {
        fmt::format_to(out,
                       "<path d='M{0:.1f} {1}V{2}' stroke='#ddd'/><text x='{0:.1f}' y='{3}' "
                       "text-anchor='middle'>{4:g}</text>",
                       across.at(tick), margin_top, bottom, bottom + 16, tick);
    }
    for (const double tick : ticks_of(y)) {
        fmt::format_to(out,
                       "<path d='M{0} {1:.1f}H{2}' stroke='#ddd'/><text x='{3}' y='{4:.1f}' "
                       "text-anchor='end'>{5:g}</text>",
                       margin_left, up.at(tick), right, margin_left - 6, up.at(tick) + 4, tick);
    }
    fmt::format_to(out, "<text x='{:.0f}' y='{:.0f}' text-anchor='middle'>{}</text>",
                   (margin_left + right) / 2, plot_height - 8, escaped(x.title));
    fmt::format_to(out, "<text transform='translate(14 {:.0f}) rotate(-90)' text-anchor='middle'>{}</text>",
                   (margin_top + bottom) / 2, escaped(y.title));
    return svg;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string html;
    html.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                html += "&amp;";
                break;
            case '<':
                html += "&lt;";
                break;
            case '>':
                html += "&gt;";
                break;
            case '"':
                html += "&quot;";
                break;
            case '\'':
                html += "&#39;";
                break;
            default:
                html += c;
        }
    }
    return html;
}

std::string page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title>\n<style>{}</style></head>\n"
        "<body>\n{}\n</body></html>\n",
        escaped(title), style, body);
}

std::string details(std::string_view summary, std::string_view content) {
    return fmt::format("<details><summary>{}</summary>{}</details>\n", escaped(summary), content);
}

std::string table(const Cells& header, const std::vector<Cells>& rows, std::size_t numbers_from) {
    std::string html = "<table>";
    const auto add = [&](const Cells& cells, std::string_view tag) {
        html += "<tr>";
        for (std::size_t i = 0; i < cells.size(); ++i) {
            html += fmt::format("<{0}{1}>{2}</{0}>", tag, i >= numbers_from ? " class='n'" : "", cells[i]);
        }
        html += "</tr>\n";
    };
    if (!header.empty()) add(header, "th");
    for (const Cells& row : rows) add(row, "td");
    return html + "</table>\n";
}

std::string bars(std::span<const Bar> bars, double most, double mark, double low, double high) {
    constexpr double line = 22.0, left = 200.0, length = 530.0, width = 900.0;
    const double height = line * static_cast<double>(bars.size()) + 6.0;
    const double scale = length / std::max(most, 1e-300);
    std::string svg = fmt::format("<svg viewBox='0 0 {} {}' width='{}'>", width, height, width);
    const auto out = std::back_inserter(svg);
    if (high > low) {
        fmt::format_to(out, "<rect x='{:.1f}' y='0' width='{:.1f}' height='{}' fill='#999' opacity='.2'/>",
                       left + scale * low, scale * (high - low), height);
    }
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const Bar& bar = bars[i];
        const double y = line * static_cast<double>(i) + 3.0;
        fmt::format_to(out,
                       "<g><title>{}</title><text x='{}' y='{:.0f}' text-anchor='end'>{}</text>"
                       "<rect x='{}' y='{:.0f}' width='{:.1f}' height='16' fill='{}'/>"
                       "<text x='{:.1f}' y='{:.0f}'>{}</text></g>",
                       escaped(bar.hint), left - 8, y + 12, escaped(bar.name), left, y, scale * bar.value,
                       cause_colour(bar.name), left + scale * bar.value + 6, y + 12, escaped(bar.label));
    }
    if (mark > 0.0) {
        fmt::format_to(out, "<path d='M{:.1f} 0V{}' stroke='#222'/>", left + scale * mark, height);
    }
    return svg + "</svg>\n";
}

std::string cause_colour(std::string_view cause) {
    const std::string_view name = cause.substr(cause.rfind(':') + 1);
    const auto* const found = std::find_if(colours.begin(), colours.end(),
                                           [name](const auto& colour) { return colour.first == name; });
    return std::string(found == colours.end() ? "#999999" : found->second);
}

std::string scatter(std::span<const Series> series, const Axis& x, const Axis& y,
                    std::span<const Line> lines) {
    const Scale across(x, margin_left, plot_width - margin_right);
    const Scale up(y, plot_height - margin_bottom, margin_top);
    const double height =
        std::max(plot_height, margin_top + legend_line * static_cast<double>(series.size()) + 4.0);
    std::string svg =
        fmt::format("<svg viewBox='0 0 {} {}' width='{}'>", plot_width + 260, height, plot_width + 260);
    const auto out = std::back_inserter(svg);
    svg += axes_svg(x, y, across, up);
    for (const Line& line : lines) {
        fmt::format_to(out, "<path d='M{:.1f} {:.1f}L{:.1f} {:.1f}' stroke='#777'{}/>", across.at(line.x1),
                       up.at(line.y1), across.at(line.x2), up.at(line.y2),
                       line.dashed ? " stroke-dasharray='4 4'" : "");
    }
    for (std::size_t s = 0; s < series.size(); ++s) {
        const std::string_view colour = series_colours[s % series_colours.size()];
        // A path of points without length draws a dot each, which is a tenth of a circle's text.
        svg += "<path d='";
        for (std::size_t i = 0; i < series[s].x.size(); ++i) {
            fmt::format_to(out, "M{:.1f} {:.1f}h0", across.at(series[s].x[i]), up.at(series[s].y[i]));
        }
        fmt::format_to(out,
                       "' stroke='{}' stroke-width='4' stroke-linecap='round' opacity='.55'>"
                       "<title>{}</title></path>",
                       colour, escaped(series[s].name));
        const double at = margin_top + 10.0 + legend_line * static_cast<double>(s);
        fmt::format_to(
            out, "<circle cx='{}' cy='{:.0f}' r='4' fill='{}'/><text x='{}' y='{:.0f}'>{} ({})</text>",
            plot_width + 4, at, colour, plot_width + 14, at + 4, escaped(series[s].name), series[s].x.size());
    }
    return svg + "</svg>\n";
}

}  // namespace warptime::reports::html
