// The body stage keeps the demand of a numbered body's item for problems of other sizes, order or conditions.
// Kept are bodies that copy whole boxes asynchronously. Sizes change three things: the trips, the part of a
// box inside its matrix, and where rows begin in their lines. Other bodies are worked out each time.
// Source: what add_item_demand reads of a kernel; kept_lowerings_test compares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::analytical {

/// Whether the sizes of a problem change an item's demand through ItemCase alone.
[[nodiscard]] bool hangs_on_boxes(const kernel::Kernel& kernel);

/// All inputs of an item's demand, beside the numbered body and the GPU.
struct ItemCase {
    /// Inputs of one access to global memory.
    struct Box {
        double inside = 0.0;          ///< bytes of a box that is stored within its matrix
        double outside_share = 0.0;   ///< share of boxes that go on beyond the matrix
        std::int64_t begins = 0;      ///< bytes of a line at which rows may begin: a power of two
        bool short_of_pitch = false;  ///< other bytes lie between its rows
        friend bool operator==(const Box&, const Box&) = default;
    };
    static constexpr std::size_t most_boxes = 8;

    prediction::BodyNumber body = prediction::unknown_body;
    std::int64_t trips_end = 0;  ///< of the typical item
    double slowdown = 0.0;       ///< of stores that a warp waits for
    std::int64_t resident = 0;
    double load_latency = 0.0;
    std::size_t count = 0;  ///< of boxes
    std::array<Box, most_boxes> boxes{};

    [[nodiscard]] bool equals(const ItemCase& other) const;
};

class BodyStage {
  public:
    /// Gives bit for bit what add_item_demand makes of an empty item, for a kernel whose body has a number.
    void add(const kernel::Kernel& kernel, prediction::BodyNumber body, const hw::Gpu& gpu,
             const hw::Cycles& load_latency, std::int64_t resident, ItemDemand& empty);

  private:
    struct Place {
        ItemCase of;
        ItemDemand item;
    };
    struct Body {
        prediction::BodyNumber number = prediction::unknown_body;
        bool by_boxes = false;          ///< hangs_on_boxes
        std::uint8_t count = 0;         ///< of its boxes
        bool waits_for_stores = false;  ///< the body waits for stores before it goes on
        /// Access of the one store behind the loop, if no instruction waits for the store; otherwise -1.
        std::int32_t stores_once = -1;
        std::array<std::uint32_t, ItemCase::most_boxes> accesses{};
        std::array<bool, ItemCase::most_boxes> bulk{};
    };
    [[nodiscard]] const Body& body_of(const kernel::Kernel& kernel, prediction::BodyNumber number);

    [[nodiscard]] Place& place_of(const ItemCase& of);

    // All three are allocated with the first body.
    std::vector<Body> bodies_;
    std::vector<Place> items_;         ///< room for all; pages are touched as items come
    std::vector<std::uint32_t> used_;  ///< by hash, 1 + index of the item; 0: none yet
};

}  // namespace warptime::model::analytical
