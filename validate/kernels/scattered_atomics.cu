// Updates places of a table at random: stores, additions without and with the old value, exchanges that
// compare, additions of 64 bits, and exchanges followed by a store elsewhere. Tables of 2, 16 and 128 MB, SMs
// full of warps and nearly empty, lanes at lines of their own or four to a line.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

enum class Kind { store, add, fetch_add, exchange, add_wide, exchange_and_store };

/// Threads that go through the table together have neighbouring sectors of a line.
template <Kind kind, int together>
__global__ void update(unsigned* table, unsigned* beside, unsigned* results, unsigned line_mask, int items) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned place = (i / together) * 2654435761U + 12345U, sum = 0;
    for (int k = 0; k < items; ++k) {
        const std::size_t at = (place >> 5 & line_mask) * 32U + i % together * 8U;
        if constexpr (kind == Kind::store) table[at] = static_cast<unsigned>(at);
        if constexpr (kind == Kind::add) atomicAdd(&table[at], 1U);
        if constexpr (kind == Kind::fetch_add) sum += atomicAdd(&table[at], 0U);
        if constexpr (kind == Kind::exchange) sum += atomicCAS(&table[at], 1U, 2U);
        if constexpr (kind == Kind::add_wide)
            atomicAdd(reinterpret_cast<unsigned long long*>(&table[at]), 1ULL);
        if constexpr (kind == Kind::exchange_and_store) {
            sum += atomicCAS(&table[at], 1U, 2U);
            beside[at] = static_cast<unsigned>(at);
        }
        place = place * 1664525U + 1013904223U;
    }
    if (kind != Kind::store && kind != Kind::add && kind != Kind::add_wide) results[i] = sum;
}

struct Rung {
    int threads, blocks_an_sm;
};

template <Kind kind, int together>
void climb(std::size_t bytes, const Rung& rung, const char* what) {
    const int blocks = 132 * rung.blocks_an_sm, threads = blocks * rung.threads;
    const int items = 16384 / (rung.threads * rung.blocks_an_sm);
    const auto line_mask = static_cast<unsigned>(bytes / 128 - 1);
    Array<unsigned> table(bytes / 4), beside(bytes / 4), results(threads);
    prepare();
    update<kind, together>
        <<<blocks, rung.threads>>>(table.data(), beside.data(), results.data(), line_mask, items);
    finish(what);
    unsigned long long sum = 0;
    for (const unsigned value : table.values()) sum += kind == Kind::store ? value != 0 : value;
    const unsigned long long all = static_cast<unsigned long long>(threads) * items;
    const bool adds = kind == Kind::add || kind == Kind::add_wide;
    check(kind == Kind::store ? 0 < sum && sum <= all : sum == (adds ? all : 0), what);
}

void body() {
    const Rung full = {256, 8}, few = {64, 1};
    for (const std::size_t megabytes : {2, 16, 128}) {
        const std::size_t bytes = megabytes << 20;
        for (const Rung& rung : {full, few}) {
            climb<Kind::store, 1>(bytes, rung, "store");
            climb<Kind::add, 1>(bytes, rung, "add");
            climb<Kind::fetch_add, 1>(bytes, rung, "fetch and add");
            climb<Kind::exchange, 1>(bytes, rung, "exchange");
            climb<Kind::add_wide, 1>(bytes, rung, "wide");
        }
        climb<Kind::add, 4>(bytes, full, "four");
        climb<Kind::exchange, 4>(bytes, full, "four exchanges");
        climb<Kind::exchange_and_store, 1>(bytes, full, "both");
    }
}

int main() {
    return run(body);
}
