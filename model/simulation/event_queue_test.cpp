// Random pushes and pops against a sorted list; ties.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/event_queue.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <tuple>
#include <vector>

using namespace warptime::model::simulation;

TEST_CASE("events of one time come out as they went in, late ones last") {
    EventQueue queue;
    queue.push(7, 0, EventClass::late);
    for (std::uint32_t i = 1; i < 50; ++i) {
        queue.push(7, i);
    }
    queue.push(3, 99);
    CHECK(queue.pop().what == 99);
    for (std::uint32_t i = 1; i < 50; ++i) {
        CHECK(queue.pop().what == i);
    }
    queue.push(7, 60);
    CHECK(queue.pop().what == 60);
    CHECK(queue.pop().what == 0);
    CHECK(queue.empty());
}

TEST_CASE("pushes and pops in any mix are those of a stable sort") {
    CHECK(rc::check("against the least of a list", [] {
        EventQueue queue;
        std::vector<std::tuple<Ticks, bool, std::uint32_t>> list;
        std::uint32_t number = 0;
        // Ticks, cycles, or so far apart that most events are beyond the ring.
        const int apart = *rc::gen::element(0, 22, 28, 36);
        for (int i = 0; i < 200; ++i) {
            if (list.empty() || *rc::gen::inRange(0, 3) > 0) {
                const Ticks time = Ticks{*rc::gen::inRange(0, 20)} << apart;
                const bool late = *rc::gen::inRange(0, 4) == 0;
                queue.push(time, number, late ? EventClass::late : EventClass::normal);
                list.emplace_back(time, late, number++);
            } else {
                const auto least = std::min_element(list.begin(), list.end());
                RC_ASSERT(queue.pop().what == std::get<2>(*least));
                list.erase(least);
            }
        }
        RC_ASSERT(queue.empty() == list.empty());
        RC_ASSERT(queue.pushed() == number);
    }));
}

TEST_CASE("a queue whose time goes on comes round its ring, to the far events, too") {
    EventQueue queue;
    for (std::uint32_t i = 0; i < 64; ++i) queue.push(Ticks{i} << 36, i);
    std::uint32_t far = 0;
    Ticks last = 0;
    for (int i = 0; i < 200000; ++i) {
        const Event event = queue.pop();
        CHECK(event.time >= last);
        last = event.time;
        if (event.what < 1000) {
            CHECK(event.what == far++);
            if (event.what < 63) queue.push(event.time + ticks_per_cycle, 1000);
        } else if (event.time < (Ticks{63} << 36)) {
            queue.push(event.time + (Ticks{event.what % 977} << 24), event.what + 1);
        } else {
            break;
        }
    }
    CHECK(far >= 2);
}
