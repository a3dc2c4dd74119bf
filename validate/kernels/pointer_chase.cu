// Follows chains of dependent loads with one warp: one chain, four chains in one thread, and a chain in each
// lane, in arrays that fit the L1, the L2 and neither.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int steps = 256;

__global__ void one_chain(const unsigned* next, const unsigned* starts, unsigned* ends) {
    unsigned place = starts[0];
#pragma unroll 8
    for (int step = 0; step < steps; ++step) {
        place = next[place];
    }
    ends[0] = place;
}

/// Four loads are in flight at a time.
__global__ void four_chains(const unsigned* next, const unsigned* starts, unsigned* ends) {
    unsigned places[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        places[k] = starts[k];
    }
#pragma unroll 4
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            places[k] = next[places[k]];
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        ends[k] = places[k];
    }
}

/// Each load of the warp touches 32 sectors.
__global__ void chain_a_lane(const unsigned* next, const unsigned* starts, unsigned* ends) {
    unsigned place = starts[threadIdx.x];
#pragma unroll 8
    for (int step = 0; step < steps; ++step) {
        place = next[place];
    }
    ends[threadIdx.x] = place;
}

/// With these factors the sequence meets every number below a count of primes 2, 3 and 5 before it repeats.
unsigned next_place(unsigned place, unsigned count) {
    return static_cast<unsigned>((std::uint64_t{place} * 1200661 + 7654321) % count);
}

void body() {
    for (const unsigned count : {3000U, 3000000U, 30000000U}) {
        std::vector<unsigned> order(count);
        for (unsigned i = 0; i < count; ++i) {
            order[i] = next_place(i, count);
        }
        std::vector<unsigned> first(32), expected(32);
        for (unsigned chain = 0; chain < 32; ++chain) {
            first[chain] = expected[chain] = random_bits(1, chain) % count;
            for (int step = 0; step < steps; ++step) {
                expected[chain] = next_place(expected[chain], count);
            }
        }
        const Array<unsigned> next(order), starts(first);
        Array<unsigned> ends(32);
        const auto verify = [&](const char* what, int chains) {
            finish(what);
            const auto result = ends.values();
            check(std::equal(expected.begin(), expected.begin() + chains, result.begin()), what);
            output(what, result);
            ends.zero();
        };
        prepare();
        one_chain<<<1, 1>>>(next.data(), starts.data(), ends.data());
        verify("one_chain", 1);
        prepare();
        four_chains<<<1, 1>>>(next.data(), starts.data(), ends.data());
        verify("four_chains", 4);
        prepare();
        chain_a_lane<<<1, 32>>>(next.data(), starts.data(), ends.data());
        verify("chain_a_lane", 32);
    }
}

int main() {
    return run(body);
}
