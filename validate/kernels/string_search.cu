// Counts occurrences of strings in a text: letter by letter from global memory, from a tile in shared
// memory, and of four strings at once by an automaton whose table lies in global or in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, positions_per_thread = 4, tile_size = threads * positions_per_thread;
constexpr int longest = 16, letters = 4, chunk = 64, most_states = 64;
constexpr unsigned all_lanes = 0xffffffffU;

__global__ void naive(const char* text, int size, const char* word, int length, int* occurrences) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length <= size) {
        int matched = 0;
        while (matched < length && text[i + matched] == word[matched]) {
            ++matched;
        }
        if (matched == length) {
            atomicAdd(occurrences, 1);
        }
    }
}

__global__ void shared_tile(const char* text, int size, const char* word, int length, int* occurrences) {
    __shared__ char tile[tile_size + longest];
    __shared__ char own_word[longest];
    const int first = blockIdx.x * tile_size;
    for (int i = threadIdx.x; i < tile_size + longest; i += threads) {
        tile[i] = first + i < size ? text[first + i] : '\0';
    }
    if (threadIdx.x < length) {
        own_word[threadIdx.x] = word[threadIdx.x];
    }
    __syncthreads();
    int found = 0;
    for (int i = threadIdx.x; i < tile_size; i += threads) {
        int matched = 0;
        while (matched < length && tile[i + matched] == own_word[matched]) {
            ++matched;
        }
        found += matched == length ? 1 : 0;
    }
    found = __reduce_add_sync(all_lanes, found);
    if (threadIdx.x % 32 == 0 && found > 0) {
        atomicAdd(occurrences, found);
    }
}

/// Counts the occurrences that end in the thread's chunk; the automaton starts so far ahead that it knows
/// their letters.
__device__ int count_in_chunk(const char* text, int size, const unsigned char (*next)[letters],
                              const unsigned char* endings, int warm_up) {
    const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk, end = min(begin + chunk, size);
    int state = 0, found = 0;
    for (int i = max(begin - warm_up, 0); i < end; ++i) {
        state = next[state][text[i] - 'a'];
        found += i >= begin ? endings[state] : 0;
    }
    return found;
}

__global__ void automaton(const char* text, int size, const unsigned char (*next)[letters],
                          const unsigned char* endings, int warm_up, int* occurrences) {
    int found = count_in_chunk(text, size, next, endings, warm_up);
    found = __reduce_add_sync(all_lanes, found);
    if (threadIdx.x % 32 == 0 && found > 0) {
        atomicAdd(occurrences, found);
    }
}

__global__ void automaton_in_shared(const char* text, int size, const unsigned char (*next)[letters],
                                    const unsigned char* endings, int warm_up, int* occurrences) {
    __shared__ unsigned char own_next[most_states][letters];
    __shared__ unsigned char own_endings[most_states];
    for (int i = threadIdx.x; i < most_states; i += blockDim.x) {
        for (int letter = 0; letter < letters; ++letter) {
            own_next[i][letter] = next[i][letter];
        }
        own_endings[i] = endings[i];
    }
    __syncthreads();
    int found = count_in_chunk(text, size, own_next, own_endings, warm_up);
    found = __reduce_add_sync(all_lanes, found);
    if (threadIdx.x % 32 == 0 && found > 0) {
        atomicAdd(occurrences, found);
    }
}

/// For each state and letter the next state, and how many words end in each state (Aho and Corasick).
struct Automaton {
    std::vector<unsigned char> next, endings;
};

Automaton automaton_of(const std::vector<std::string>& words) {
    // A state is a prefix of a word; the next one is the longest suffix that is a prefix of a word.
    std::vector<std::string> prefixes{""};
    for (const std::string& word : words) {
        for (std::size_t length = 1; length <= word.size(); ++length) {
            const std::string prefix = word.substr(0, length);
            if (std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end()) {
                prefixes.push_back(prefix);
            }
        }
    }
    check(prefixes.size() <= most_states, "number of states");
    Automaton result{std::vector<unsigned char>(most_states * letters),
                     std::vector<unsigned char>(most_states)};
    for (std::size_t state = 0; state < prefixes.size(); ++state) {
        for (const std::string& word : words) {
            const std::string& prefix = prefixes[state];
            if (prefix.size() >= word.size() && prefix.substr(prefix.size() - word.size()) == word) {
                ++result.endings[state];
            }
        }
        for (int letter = 0; letter < letters; ++letter) {
            std::string suffix = prefixes[state] + static_cast<char>('a' + letter);
            auto found = std::find(prefixes.begin(), prefixes.end(), suffix);
            while (found == prefixes.end()) {
                suffix.erase(0, 1);
                found = std::find(prefixes.begin(), prefixes.end(), suffix);
            }
            result.next[state * letters + letter] = static_cast<unsigned char>(found - prefixes.begin());
        }
    }
    return result;
}

int occurrences_of(const std::string& word, const std::vector<char>& text) {
    int found = 0;
    for (std::size_t i = 0; i + word.size() <= text.size(); ++i) {
        found += std::memcmp(&text[i], word.data(), word.size()) == 0 ? 1 : 0;
    }
    return found;
}

void body() {
    const std::vector<std::string> words{"abacabad", "bacab", "ddddcc", "abcabcabdabc"};
    const Automaton machine = automaton_of(words);
    const Array<unsigned char> next(machine.next), endings(machine.endings);
    const auto* next_states = reinterpret_cast<const unsigned char(*)[letters]>(next.data());
    const Array<char> word({words[0].begin(), words[0].end()});
    const int length = static_cast<int>(words[0].size());
    constexpr int warm_up = 11;  // one less than the longest word
    for (const int size : {100003, (1 << 22) + 11}) {
        std::vector<char> letters_of_text(size);
        for (int i = 0; i < size; ++i) {
            letters_of_text[i] = static_cast<char>('a' + random_bits(1, i) % letters);
        }
        for (int i = 100; i + 12 < size; i += 5000) {
            const std::string& planted = words[i / 5000 % words.size()];
            std::copy(planted.begin(), planted.end(), letters_of_text.begin() + i);
        }
        const Array<char> text(letters_of_text);
        int of_first = 0, of_all = 0;
        for (const std::string& each : words) {
            const int found = occurrences_of(each, letters_of_text);
            of_first = of_all == 0 ? found : of_first;
            of_all += found;
        }
        Array<int> occurrences(1);
        const auto verify = [&](const char* what, int expected) {
            finish(what);
            check(occurrences.values()[0] == expected, what);
            output(what, occurrences);
            occurrences.zero();
        };
        prepare();
        naive<<<(size + threads - 1) / threads, threads>>>(text.data(), size, word.data(), length,
                                                           occurrences.data());
        verify("naive", of_first);
        prepare();
        shared_tile<<<(size + tile_size - 1) / tile_size, threads>>>(text.data(), size, word.data(), length,
                                                                     occurrences.data());
        verify("shared_tile", of_first);
        const int chunks = (size + chunk - 1) / chunk, blocks = (chunks + 127) / 128;
        prepare();
        automaton<<<blocks, 128>>>(text.data(), size, next_states, endings.data(), warm_up,
                                   occurrences.data());
        verify("automaton", of_all);
        prepare();
        automaton_in_shared<<<blocks, 128>>>(text.data(), size, next_states, endings.data(), warm_up,
                                             occurrences.data());
        verify("automaton_in_shared", of_all);
    }
}

int main() {
    return run(body);
}
