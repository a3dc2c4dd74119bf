// Columns of words kept once: codes looked up in a dictionary, words of different lengths copied out by a
// thread, a warp and eight lanes each, lengths scanned before, and codes that appear counted.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void lengths_of(const unsigned short* codes, const int* starts, int* lengths, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const int code = codes[i];
    lengths[i] = starts[code + 1] - starts[code];
}

/// Values of a fixed width: two codes a thread, eight bytes a value.
__global__ void decode_fixed(const ushort2* codes, const double* values, double2* out, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const ushort2 c = codes[i];
    out[i] = {values[c.x], values[c.y]};
}

__global__ void copy_by_thread(const unsigned short* codes, const int* starts, const char* words,
                               const int* places, char* out, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const int from = starts[codes[i]], to = places[i], length = places[i + 1] - to;
    for (int k = 0; k < length; ++k) out[to + k] = words[from + k];
}

template <int lanes>
__global__ void copy_by_lanes(const unsigned short* codes, const int* starts, const char* words,
                              const int* places, char* out, int rows) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (i >= rows) return;
    const int from = starts[codes[i]], to = places[i], length = places[i + 1] - to;
    for (int k = lane; k < length; k += lanes) out[to + k] = words[from + k];
}

/// A CTA a part of the output: each thread finds the row of its byte by search.
__global__ void copy_by_byte(const unsigned short* codes, const int* starts, const char* words,
                             const int* places, char* out, int rows, int bytes) {
    const int byte = blockIdx.x * blockDim.x + threadIdx.x;
    if (byte >= bytes) return;
    int low = 0, high = rows;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (places[middle] <= byte) {
            low = middle;
        } else {
            high = middle;
        }
    }
    out[byte] = words[starts[codes[low]] + byte - places[low]];
}

/// One bit for each code that appears.
__global__ void mark_codes(const uint4* codes, unsigned* marks, int vectors) {
    __shared__ unsigned own[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uint4 v = codes[i];
        for (const unsigned word : {v.x, v.y, v.z, v.w})
            for (const unsigned code : {word & 0xffffU, word >> 16}) {
                const unsigned bit = 1U << code % 32;
                if ((own[code / 32] & bit) == 0) atomicOr(&own[code / 32], bit);
            }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        if (own[i] != 0) atomicOr(&marks[i], own[i]);
}

void all_of(int rows, int kinds, int most) {
    std::vector<int> starts(kinds + 1, 0), places(rows + 1, 0);
    for (int i = 0; i < kinds; ++i)
        starts[i + 1] = starts[i] + 1 + static_cast<int>(random_bits(1, i) % most);
    std::vector<char> words(starts[kinds]);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<char>('a' + random_bits(2, i) % 26);
    std::vector<unsigned short> codes(rows);
    for (int i = 0; i < rows; ++i) {
        codes[i] = static_cast<unsigned short>(random_bits(3, i) % kinds);
        places[i + 1] = places[i] + starts[codes[i] + 1] - starts[codes[i]];
    }
    const int bytes = places[rows];
    const Array<unsigned short> code_array(codes);
    const Array<int> start_array(starts), place_array(places);
    const Array<char> word_array(words);
    const Array<double> numbers(random_values<double>(kinds, 4));
    Array<int> lengths(rows);
    Array<double> fixed(rows);
    Array<char> out(bytes);
    Array<unsigned> marks(2048);
    const std::string name = std::to_string(rows);
    const auto look = [&](const char* what) {
        finish(what);
        output((what + name).c_str(), out);
        out.zero();
    };
    prepare();
    lengths_of<<<(rows + 255) / 256, 256>>>(code_array.data(), start_array.data(), lengths.data(), rows);
    finish("lengths");
    output(("lengths_" + name).c_str(), lengths);
    prepare();
    decode_fixed<<<(rows / 2 + 255) / 256, 256>>>(reinterpret_cast<const ushort2*>(code_array.data()),
                                                  numbers.data(), reinterpret_cast<double2*>(fixed.data()),
                                                  rows / 2);
    finish("fixed");
    output(("fixed_" + name).c_str(), fixed);
    prepare();
    copy_by_thread<<<(rows + 127) / 128, 128>>>(code_array.data(), start_array.data(), word_array.data(),
                                                place_array.data(), out.data(), rows);
    look("thread_");
    prepare();
    copy_by_lanes<8><<<(rows + 15) / 16, 128>>>(code_array.data(), start_array.data(), word_array.data(),
                                                place_array.data(), out.data(), rows);
    look("eight_");
    prepare();
    copy_by_lanes<32><<<(rows + 7) / 8, 256>>>(code_array.data(), start_array.data(), word_array.data(),
                                               place_array.data(), out.data(), rows);
    look("warp_");
    prepare();
    copy_by_byte<<<(bytes + 255) / 256, 256>>>(code_array.data(), start_array.data(), word_array.data(),
                                               place_array.data(), out.data(), rows, bytes);
    look("byte_");
    prepare();
    mark_codes<<<132, 512>>>(reinterpret_cast<const uint4*>(code_array.data()), marks.data(), rows / 8);
    finish("marks");
    output(("marks_" + name).c_str(), marks);
}

void body() {
    all_of(1 << 19, 60000, 20);
    all_of(1 << 17, 300, 100);
    all_of(1 << 20, 5000, 6);
}

int main() {
    return run(body);
}
