// SPDX-License-Identifier: Apache-2.0
#include "model/system/timetable.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace warptime::model::system {

namespace {

using Waits = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/// The row before each in its stream; no_row for the first.
std::vector<std::size_t> before_in_stream(std::span<const Row> rows) {
    std::vector<std::size_t> before(rows.size(), no_row);
    std::map<int, std::size_t> last;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [place, is_first] = last.try_emplace(rows[i].stream, i);
        if (!is_first) before[i] = std::exchange(place->second, i);
    }
    return before;
}

Waits waits_of(std::span<const Row> rows) {
    Waits graph(rows.size());
    const std::vector<std::size_t> before = before_in_stream(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (before[i] != no_row) boost::add_edge(before[i], i, graph);
        for (const std::size_t earlier : rows[i].after) boost::add_edge(earlier, i, graph);
    }
    return graph;
}

/// Keeps the way to the vertex under search. The first edge that leads back to this way closes a circle.
class FindCircle : public boost::default_dfs_visitor {
  public:
    explicit FindCircle(std::vector<std::size_t>& circle) : circle_(&circle) {}
    void discover_vertex(Waits::vertex_descriptor v, const Waits&) { way_.push_back(v); }
    void finish_vertex(Waits::vertex_descriptor, const Waits&) { way_.pop_back(); }
    void back_edge(Waits::edge_descriptor edge, const Waits&) {
        if (!circle_->empty()) return;
        circle_->assign(std::find(way_.begin(), way_.end(), edge.m_target), way_.end());
    }

  private:
    std::vector<std::size_t> way_;
    std::vector<std::size_t>* circle_;
};

std::int64_t activities(const Row& row) {
    return row.launches * row.repeat;
}

/// Time between the activities of a row.
double gaps_within(const Row& row, const Host& host) {
    const std::int64_t turns = row.repeat * row.turns + (row.first == row.last ? 0 : row.repeat - 1);
    const std::int64_t plain = activities(row) - 1 - turns;
    return static_cast<double>(plain) * host.gap + static_cast<double>(turns) * host.turn;
}

double gap_between(const Row& before, const Row& after, const Host& host) {
    return before.last == after.first ? host.gap : host.turn;
}

double device_time(const Row& row) {
    return row.seconds * static_cast<double>(row.repeat);
}

/// A row under way. `left` is the work at full speed; `released`: the host's last launch allows no earlier
/// end.
struct Running {
    std::size_t row;
    double left;
    double released;
};

/// Steps from event to event: a row becomes ready, ends its work, or is let go by the host.
class Course {
  public:
    Course(std::span<const Row> rows, const Host& host)
        : rows_(rows), host_(host), waits_(waits_of(rows)), open_(rows.size(), 0) {
        table_.slots.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [edge, last] = boost::out_edges(i, waits_);
            for (auto e = edge; e != last; ++e) ++open_[boost::target(*e, waits_)];
            table_.activity += device_time(rows[i]);
            launched_.push_back(table_.host + host.each);
            table_.host += host.each * static_cast<double>(activities(rows[i]));
        }
        table_.host += host.start;
        for (double& at : launched_) at += host.start;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (open_[i] == 0) become_ready(i, 0.0, no_row);
        }
    }

    Timetable run() {
        while (!waiting_.empty() || !running_.empty()) {
            begin_ready_rows();
            advance();
        }
        finish();
        return std::move(table_);
    }

  private:
    void become_ready(std::size_t i, double at, std::size_t cause) {
        const double start = std::max(at, launched_[i]);
        table_.waiting += cause == no_row ? 0.0 : std::max(0.0, launched_[i] - at);
        table_.slots[i].cause = launched_[i] > at ? no_row : cause;
        waiting_.emplace(start, i);
    }

    void begin_ready_rows() {
        if (running_.empty()) now_ = std::max(now_, waiting_.begin()->first);
        while (!waiting_.empty() && waiting_.begin()->first <= now_) {
            const std::size_t i = waiting_.begin()->second;
            waiting_.erase(waiting_.begin());
            const Row& row = rows_[i];
            const auto others = static_cast<double>(activities(row) - 1);
            table_.slots[i].start = now_;
            running_.push_back(
                {i, device_time(row) + gaps_within(row, host_),
                 launched_[i] + others * host_.each + row.seconds / static_cast<double>(row.launches)});
        }
    }

    /// Speed of rows by what they occupy.
    [[nodiscard]] std::array<double, server_count> speeds() const {
        std::array<double, server_count> asked{}, speed{};
        for (const Running& r : running_) {
            if (r.left > 0.0) asked[static_cast<std::size_t>(rows_[r.row].server)] += rows_[r.row].share;
        }
        std::transform(asked.begin(), asked.end(), speed.begin(),
                       [](double share) { return 1.0 / std::max(1.0, share); });
        return speed;
    }

    void advance() {
        const auto speed = speeds();
        const auto speed_of = [&](const Running& r) {
            return speed[static_cast<std::size_t>(rows_[r.row].server)];
        };
        double next = waiting_.empty() ? std::numeric_limits<double>::infinity() : waiting_.begin()->first;
        for (const Running& r : running_) {
            next = std::min(next, r.left > 0.0 ? now_ + r.left / speed_of(r) : r.released);
        }
        const double step = next - now_;
        const bool idle =
            std::all_of(running_.begin(), running_.end(), [](const Running& r) { return r.left <= 0.0; });
        if (idle && !running_.empty()) table_.waiting += step;
        for (Running& r : running_) {
            // What is left of the row that ends now is 0 and not a rounding error.
            r.left = now_ + r.left / speed_of(r) <= next ? 0.0 : r.left - step * speed_of(r);
        }
        now_ = next;
        end_finished_rows();
    }

    void end_finished_rows() {
        std::vector<std::size_t> ended;
        std::erase_if(running_, [&](const Running& r) {
            const bool done = r.left <= 0.0 && r.released <= now_;
            if (done) ended.push_back(r.row);
            return done;
        });
        for (const std::size_t i : ended) {
            table_.slots[i].end = now_;
            const auto [edge, last] = boost::out_edges(i, waits_);
            for (auto e = edge; e != last; ++e) {
                const std::size_t next = boost::target(*e, waits_);
                if (--open_[next] == 0)
                    become_ready(next, now_ + gap_between(rows_[i], rows_[next], host_), i);
            }
        }
    }

    void finish() {
        double first = std::numeric_limits<double>::infinity(), last = 0.0;
        std::size_t ends = no_row;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            first = std::min(first, table_.slots[i].start);
            if (table_.slots[i].end >= last) {
                last = table_.slots[i].end;
                ends = i;
            }
        }
        table_.span = rows_.empty() ? 0.0 : last - first;
        table_.wall = std::max(last, table_.host);
        for (std::size_t i = ends; i != no_row; i = table_.slots[i].cause) table_.critical.push_back(i);
        std::reverse(table_.critical.begin(), table_.critical.end());
    }

    std::span<const Row> rows_;
    Host host_;
    Waits waits_;
    std::vector<int> open_;         ///< waits of a row that have not ended
    std::vector<double> launched_;  ///< when the host has launched a row's first activity
    std::multimap<double, std::size_t> waiting_;
    std::vector<Running> running_;
    double now_ = 0.0;
    Timetable table_;
};

}  // namespace

Host host_of(Launching launching, std::int64_t activities, const hw::Gpu& gpu, double each) {
    const double gap = gpu.launch.stream_gap.value();
    if (launching == Launching::eager) {
        return {launching, each < 0.0 ? gpu.launch.host.value() : each, 0.0, gap, gap};
    }
    const double start =
        gpu.launch.graph_host.value() + gpu.launch.graph_host_node.value() * static_cast<double>(activities);
    return {launching, 0.0, start, gpu.launch.graph_other_gap.value(), gap};
}

std::vector<std::size_t> circle_of(std::span<const Row> rows) {
    std::vector<std::size_t> circle;
    const Waits graph = waits_of(rows);
    std::vector<boost::default_color_type> colors(rows.size());
    boost::depth_first_search(
        graph, FindCircle(circle),
        boost::make_iterator_property_map(colors.begin(), boost::get(boost::vertex_index, graph)));
    return circle;
}

Timetable timetable_of(std::span<const Row> rows, const Host& host) {
    return Course(rows, host).run();
}

}  // namespace warptime::model::system
