// The likeliest path through hidden states: a CTA a sequence with a thread a state and barriers, a warp with
// 32 states by shuffles, a convolution code of 64 states with choices in ballots; and the walk back.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;
constexpr unsigned all_lanes = 0xffffffffU;

/// Costs are whole numbers: the least sum wins, of equal ones the lower state. `moves[from][to]`,
/// `emissions[symbol][state]`. Scores go from array to array, a barrier a step.
template <int states, bool in_shared>
__global__ void by_block(const int* moves, const int* emissions, const Byte* symbols, Byte* choices,
                         int* scores, int steps) {
    __shared__ int last[2][states];
    extern __shared__ int copy[];
    const int state = threadIdx.x;
    if (in_shared) {
        for (int i = state; i < states * states; i += states) copy[i] = moves[i];
    }
    const int* table = in_shared ? copy : moves;
    const Byte* sequence = symbols + static_cast<std::size_t>(blockIdx.x) * steps;
    Byte* chosen = choices + static_cast<std::size_t>(blockIdx.x) * steps * states;
    int score = emissions[sequence[0] * states + state];
    last[0][state] = score;
    __syncthreads();
    for (int step = 1; step < steps; ++step) {
        const int* before = last[(step + 1) & 1];
        int least = 0x7fffffff, best = 0;
#pragma unroll 8
        for (int from = 0; from < states; ++from) {
            const int sum = before[from] + table[from * states + state];
            if (sum < least) {
                least = sum;
                best = from;
            }
        }
        score = least + emissions[sequence[step] * states + state];
        chosen[step * states + state] = static_cast<Byte>(best);
        last[step & 1][state] = score;
        __syncthreads();
    }
    scores[blockIdx.x * states + state] = score;
}

/// A warp a sequence, a lane a state: the column of moves stays in registers.
__global__ void by_warp(const int* moves, const int* emissions, const Byte* symbols, Byte* choices,
                        int* scores, int steps, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, state = threadIdx.x % 32;
    if (i >= count) return;
    int column[32];
#pragma unroll
    for (int from = 0; from < 32; ++from) column[from] = moves[from * 32 + state];
    const Byte* sequence = symbols + static_cast<std::size_t>(i) * steps;
    Byte* chosen = choices + static_cast<std::size_t>(i) * steps * 32;
    int score = emissions[sequence[0] * 32 + state];
    for (int step = 1; step < steps; ++step) {
        int least = 0x7fffffff, best = 0;
#pragma unroll
        for (int from = 0; from < 32; ++from) {
            const int sum = __shfl_sync(all_lanes, score, from) + column[from];
            if (sum < least) {
                least = sum;
                best = from;
            }
        }
        score = least + emissions[sequence[step] * 32 + state];
        chosen[step * 32 + state] = static_cast<Byte>(best);
    }
    scores[i * 32 + state] = score;
}

/// A thread a sequence follows its choices back.
__global__ void walk_back(const Byte* choices, const int* scores, Byte* path, int steps, int states,
                          int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int state = 0;
    for (int k = 1; k < states; ++k) {
        if (scores[i * states + k] < scores[i * states + state]) state = k;
    }
    for (int step = steps - 1; step >= 0; --step) {
        path[static_cast<std::size_t>(i) * steps + step] = static_cast<Byte>(state);
        if (step > 0) state = choices[(static_cast<std::size_t>(i) * steps + step) * states + state];
    }
}

/// The two bits that a register of seven bits gives (generators 171 and 133, octal).
__host__ __device__ inline unsigned coded(unsigned bits) {
#ifdef __CUDA_ARCH__
    return (__popc(bits & 0171U) & 1U) << 1 | (__popc(bits & 0133U) & 1U);
#else
    return (__builtin_popcount(bits & 0171U) & 1U) << 1 | (__builtin_popcount(bits & 0133U) & 1U);
#endif
}

/// A warp decodes a frame, two states a lane (lane and lane + 32); a step's choices are two ballots. Soft
/// values of both bits lie together, positive for a one. Then the warp walks back.
__global__ void decode_frames(const char2* soft, uint2* ballots, unsigned* decoded, int steps, int frames) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= frames) return;
    const char2* values = soft + static_cast<std::size_t>(i) * steps;
    uint2* chosen = ballots + static_cast<std::size_t>(i) * steps;
    // State s holds the last six bits, the newest lowest; it comes from s >> 1 and from 32 + (s >> 1).
    int low = lane == 0 ? 0 : 1 << 20, high = 1 << 20;
    const unsigned out[4] = {coded(lane), coded(lane + 64), coded(lane + 32), coded(lane + 96)};
    for (int step = 0; step < steps; ++step) {
        const char2 value = values[step];
        int next[2];
        bool from_high[2];
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const int source = lane / 2 + 16 * part;
            const int first = __shfl_sync(all_lanes, low, source),
                      second = __shfl_sync(all_lanes, high, source);
            const unsigned a = out[2 * part], b = out[2 * part + 1];
            const int cost_a =
                first + ((a & 2U) != 0 ? -value.x : value.x) + ((a & 1U) != 0 ? -value.y : value.y);
            const int cost_b =
                second + ((b & 2U) != 0 ? -value.x : value.x) + ((b & 1U) != 0 ? -value.y : value.y);
            from_high[part] = cost_b < cost_a;
            next[part] = min(cost_a, cost_b);
        }
        low = next[0];
        high = next[1];
        const unsigned first = __ballot_sync(all_lanes, from_high[0]),
                       second = __ballot_sync(all_lanes, from_high[1]);
        if (lane == 0) chosen[step] = {first, second};
    }
    __syncwarp();
    if (lane != 0) return;
    unsigned state = 0, word = 0;  // Frames end with six zeros.
    for (int step = steps - 1; step >= 0; --step) {
        word |= (state & 1U) << step % 32;
        if (step % 32 == 0) {
            decoded[i * ((steps + 31) / 32) + step / 32] = word;
            word = 0;
        }
        const uint2 pair = chosen[step];
        const unsigned bit = (state < 32 ? pair.x : pair.y) >> state % 32 & 1U;
        state = state >> 1 | bit << 5;
    }
}

/// The cost of a path, and the least cost of any.
template <int states>
void look(const std::vector<int>& moves, const std::vector<int>& emissions, const std::vector<Byte>& symbols,
          const std::vector<Byte>& path, int steps, int count) {
    for (int i = 0; i < count; i += 37) {
        const std::size_t begin = static_cast<std::size_t>(i) * steps;
        std::vector<int> score(states), next(states);
        for (int state = 0; state < states; ++state)
            score[state] = emissions[symbols[begin] * states + state];
        int cost = score[path[begin]];
        for (int step = 1; step < steps; ++step) {
            for (int state = 0; state < states; ++state) {
                int least = 0x7fffffff;
                for (int from = 0; from < states; ++from)
                    least = std::min(least, score[from] + moves[from * states + state]);
                next[state] = least + emissions[symbols[begin + step] * states + state];
            }
            score = next;
            cost += moves[path[begin + step - 1] * states + path[begin + step]] +
                    emissions[symbols[begin + step] * states + path[begin + step]];
        }
        check(cost == *std::min_element(score.begin(), score.end()), "path");
    }
}

enum class Way { global, shared, warp };

template <int states, Way way>
void hidden_states(int count, int steps) {
    std::vector<int> moves(states * states), emissions(16 * states);
    for (std::size_t i = 0; i < moves.size(); ++i) moves[i] = static_cast<int>(random_bits(1, i) % 1000);
    for (std::size_t i = 0; i < emissions.size(); ++i)
        emissions[i] = static_cast<int>(random_bits(2, i) % 1000);
    std::vector<Byte> symbols(static_cast<std::size_t>(count) * steps);
    for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i] = static_cast<Byte>(random_bits(3, i) % 16);
    const Array<int> move_array(moves), emission_array(emissions);
    const Array<Byte> symbol_array(symbols);
    Array<Byte> choices(symbols.size() * states), path(symbols.size());
    Array<int> scores(static_cast<std::size_t>(count) * states);
    prepare();
    if constexpr (way == Way::warp) {
        by_warp<<<(count + 3) / 4, 128>>>(move_array.data(), emission_array.data(), symbol_array.data(),
                                          choices.data(), scores.data(), steps, count);
    } else {
        constexpr bool in_shared = way == Way::shared;
        require(cudaFuncSetAttribute(by_block<states, in_shared>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     states * states * 4),
                "shared");
        by_block<states, in_shared><<<count, states, in_shared ? states * states * 4 : 0>>>(
            move_array.data(), emission_array.data(), symbol_array.data(), choices.data(), scores.data(),
            steps);
    }
    finish("forward");
    prepare();
    walk_back<<<(count + 31) / 32, 32>>>(choices.data(), scores.data(), path.data(), steps, states, count);
    finish("back");
    const auto found = path.values();
    look<states>(moves, emissions, symbols, found, steps, count);
    output(("path_" + std::to_string(states) + "_" + std::to_string(static_cast<int>(way)) + "_" +
            std::to_string(count))
               .c_str(),
           found);
}

void frames(int count, int steps) {
    std::vector<char2> soft(static_cast<std::size_t>(count) * steps);
    const int words = (steps + 31) / 32;
    std::vector<unsigned> bits(static_cast<std::size_t>(count) * words);
    for (int i = 0; i < count; ++i) {
        unsigned state = 0;
        for (int step = 0; step < steps; ++step) {
            const unsigned bit = step < steps - 6 ? random_bits(5, i * steps + step) & 1U : 0U;
            bits[i * words + step / 32] |= bit << step % 32;
            const unsigned out = coded((state << 1 | bit) & 127U);
            state = (state << 1 | bit) & 63U;
            const auto noisy = [&](unsigned one, int k) {
                return static_cast<signed char>(
                    (one != 0 ? 24 : -24) + static_cast<int>(random_bits(6 + k, i * steps + step) % 51) - 25);
            };
            soft[static_cast<std::size_t>(i) * steps + step] = {noisy(out & 2U, 0), noisy(out & 1U, 1)};
        }
    }
    const Array<char2> soft_array(soft);
    Array<uint2> ballots(soft.size());
    Array<unsigned> decoded(bits.size());
    prepare();
    decode_frames<<<(count + 3) / 4, 128>>>(soft_array.data(), ballots.data(), decoded.data(), steps, count);
    finish("frames");
    check(decoded.values() == bits, "frames");
    output(("frames_" + std::to_string(count)).c_str(), decoded);
}

void body() {
    hidden_states<64, Way::global>(528, 64);
    hidden_states<64, Way::shared>(528, 64);
    hidden_states<128, Way::shared>(132, 48);
    hidden_states<32, Way::warp>(2048, 128);
    hidden_states<32, Way::global>(1024, 64);
    frames(2048, 256);
    frames(64, 1024);
}

int main() {
    return run(body);
}
