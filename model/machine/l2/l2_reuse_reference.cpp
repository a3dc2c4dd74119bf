// L2 reuse of a tiled kernel simulated slice by slice; it checks the closed form. Ignores and source: see the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_reuse.hpp"

#include <algorithm>
#include <vector>

namespace warptime::model::machine {

namespace {

/// Fully associative LRU store of numbered pieces with a size in bytes each.
class LruStore {
  public:
    LruStore(std::size_t pieces, double capacity) : entries_(pieces + 1), capacity_(capacity) {
        entries_[end()].previous = entries_[end()].next = end();
    }

    /// Uses a piece; true if it was present.
    bool touch(std::size_t piece, double bytes) {
        Entry& entry = entries_[piece];
        const bool hit = entry.present;
        if (hit) {
            unlink(piece);
            held_ -= entry.bytes;
        }
        entry.bytes = bytes;
        entry.present = true;
        held_ += bytes;
        link_newest(piece);
        while (held_ > capacity_ && entries_[end()].previous != end()) {
            const std::size_t oldest = entries_[end()].previous;
            unlink(oldest);
            entries_[oldest].present = false;
            held_ -= entries_[oldest].bytes;
        }
        return hit;
    }

  private:
    struct Entry {
        std::size_t previous = 0, next = 0;
        double bytes = 0.0;
        bool present = false;
    };

    [[nodiscard]] std::size_t end() const { return entries_.size() - 1; }
    void unlink(std::size_t piece) {
        entries_[entries_[piece].previous].next = entries_[piece].next;
        entries_[entries_[piece].next].previous = entries_[piece].previous;
    }
    void link_newest(std::size_t piece) {
        const std::size_t first = entries_[end()].next;
        entries_[piece].previous = end();
        entries_[piece].next = first;
        entries_[first].previous = piece;
        entries_[end()].next = piece;
    }

    std::vector<Entry> entries_;  // the last one is the ring's head
    double capacity_;
    double held_ = 0.0;
};

struct Slice {
    std::size_t operand = 0;  ///< operands.size(): streamed bytes of an item
    std::size_t number = 0;
};

}  // namespace

void reference_l2_reuse(const ReuseCase& reuse, std::span<const Operand> operands, int chunks,
                        std::span<OperandTraffic> traffic) {
    const TileOrder& order = reuse.order;
    const auto key = [&order](const Operand& operand, const TileCoordinate& tile) {
        std::int64_t number = operand.along_split ? tile.split : 0;
        number = operand.along_batch ? number * order.batch + tile.batch : number;
        number = operand.along_m ? number * order.m + tile.m : number;
        number = operand.along_n ? number * order.n + tile.n : number;
        return static_cast<std::size_t>(number);
    };
    const auto items = static_cast<std::size_t>(order.items());
    const auto pieces = static_cast<std::size_t>(chunks);
    // Pieces of operand o start at first[o]; a slice number stays below the number of items.
    std::vector<std::size_t> last_wave((operands.size() + 1) * items, 0);
    std::vector<double> slice_bytes(operands.size() + 1, reuse.streamed_bytes_per_item);
    for (std::size_t o = 0; o < operands.size(); ++o) {
        const Operand& operand = operands[o];
        const double slices = static_cast<double>(
            (operand.along_m ? order.m : 1) * (operand.along_n ? order.n : 1) *
            (operand.along_batch ? order.batch : 1) * (operand.along_split ? order.split : 1));
        slice_bytes[o] = operand.total_bytes > 0.0 ? operand.total_bytes / slices : operand.slice_bytes;
        traffic[o] = {static_cast<double>(items) * slice_bytes[o], 0.0, slices * slice_bytes[o], 0.0};
    }
    LruStore store(last_wave.size() * pieces, reuse.capacity_bytes);
    std::vector<Slice> touched;
    const auto concurrent = static_cast<std::size_t>(reuse.concurrent);
    std::size_t wave = 0;
    for (std::size_t first = 0; first < items; first += concurrent) {
        ++wave;
        touched.clear();
        for (std::size_t item = first; item < std::min(items, first + concurrent); ++item) {
            const auto tile = tile_at(order, static_cast<std::int64_t>(item));
            for (std::size_t o = 0; o <= operands.size(); ++o) {
                const std::size_t number = o < operands.size() ? key(operands[o], tile) : item;
                if (last_wave[o * items + number] != wave && slice_bytes[o] > 0.0) {
                    last_wave[o * items + number] = wave;
                    touched.push_back({o, number});
                }
            }
        }
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            for (const Slice& slice : touched) {
                const double bytes = slice_bytes[slice.operand] / static_cast<double>(chunks);
                const bool hit = store.touch((slice.operand * items + slice.number) * pieces + piece, bytes);
                if (slice.operand < operands.size()) {
                    traffic[slice.operand].wave_bytes += bytes;
                    traffic[slice.operand].dram_bytes += hit ? 0.0 : bytes;
                }
            }
        }
    }
}

}  // namespace warptime::model::machine
