// Transforms the blocks of a picture: the cosine transform of 8x8 pixels through shared memory and in
// registers with shuffles, from floats and from bytes, and the Walsh-Hadamard transform of 16x16.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

/// cosines[k][n] of the orthonormal transform of eight values.
__device__ float cosines[8][8];

/// One thread a pixel and `blocks` blocks of 8x8 a CTA, side by side: first along rows, then along columns.
template <int blocks>
__global__ void cosine_shared(const float* picture, float* results, int width) {
    __shared__ float table[8][9], pixels[blocks][8][9], rows[blocks][8][9];
    const int column = threadIdx.x, row = threadIdx.y, block = threadIdx.z;
    const int place = (blockIdx.y * 8 + row) * width + (blockIdx.x * blocks + block) * 8 + column;
    if (block == 0) table[row][column] = cosines[row][column];
    pixels[block][row][column] = picture[place];
    __syncthreads();
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += pixels[block][row][k] * table[column][k];
    rows[block][row][column] = sum;
    __syncthreads();
    sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += table[row][k] * rows[block][k][column];
    results[place] = sum;
}

/// Eight values in registers, by sums for the even and differences for the odd frequencies.
__device__ inline void cosine_of_eight(float (&v)[8]) {
    constexpr float c1 = 0.49039264F, c2 = 0.46193977F, c3 = 0.41573481F, c4 = 0.35355339F, c5 = 0.27778512F,
                    c6 = 0.19134172F, c7 = 0.09754516F;
    const float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    const float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    v[0] = c4 * (s0 + s1 + s2 + s3);
    v[4] = c4 * (s0 - s1 - s2 + s3);
    v[2] = c2 * (s0 - s3) + c6 * (s1 - s2);
    v[6] = c6 * (s0 - s3) - c2 * (s1 - s2);
    v[1] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
    v[3] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
    v[5] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
    v[7] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}

/// Eight lanes exchange an 8x8 block: lane r has row r before and column r after.
__device__ inline void turn(float (&v)[8], int lane) {
#pragma unroll
    for (int bit = 1; bit < 8; bit *= 2) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            if (k & bit) continue;
            const bool high = lane & bit;
            const float taken = __shfl_xor_sync(0xffffffffU, high ? v[k] : v[k + bit], bit);
            if (high) {
                v[k] = taken;
            } else {
                v[k + bit] = taken;
            }
        }
    }
}

/// One thread a row of a block; eight lanes have a block, and blocks go along the picture.
template <class T>
__global__ void cosine_registers(const T* picture, float* results, int width, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, block = i / 8, lane = i % 8;
    if (block >= blocks) return;
    const int across = width / 8;
    const std::size_t place = (block / across * 8 + lane) * width + block % across * 8;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = static_cast<float>(picture[place + k]);
    cosine_of_eight(v);
    turn(v, lane);
    cosine_of_eight(v);
    turn(v, lane);
    auto* const to = reinterpret_cast<float4*>(results + place);
    to[0] = {v[0], v[1], v[2], v[3]};
    to[1] = {v[4], v[5], v[6], v[7]};
}

/// A half warp a block of 16x16: a column in each lane's registers, rows by exchanges between lanes.
__global__ void walsh_blocks(const float* picture, float* results, int width, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, block = i / 16, lane = i % 16;
    if (block >= blocks) return;
    const int across = width / 16;
    const std::size_t place = block / across * 16 * width + block % across * 16 + lane;
    float v[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) v[k] = picture[place + k * width];
#pragma unroll
    for (int bit = 1; bit < 16; bit *= 2) {
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            if (k & bit) continue;
            const float sum = v[k] + v[k + bit];
            v[k + bit] = v[k] - v[k + bit];
            v[k] = sum;
        }
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float other = __shfl_xor_sync(0xffffffffU, v[k], bit);
            v[k] = lane & bit ? other - v[k] : other + v[k];
        }
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) results[place + k * width] = v[k] * 0.0625F;
}

float table[8][8];

/// Coefficients of some places by the definition.
template <class T>
void check_cosines(const std::vector<T>& picture, Array<float>& results, int width, const std::string& what) {
    finish(what.c_str());
    const auto found = results.values();
    for (int i = 0; i < 500; ++i) {
        const std::size_t place = random_bits(3, i) % found.size(), row = place / width,
                          column = place % width;
        double sum = 0.0;
        for (int y = 0; y < 8; ++y) {
            for (int x = 0; x < 8; ++x) {
                sum += table[row % 8][y] * table[column % 8][x] *
                       as_double(picture[(row / 8 * 8 + y) * width + column / 8 * 8 + x]);
            }
        }
        check(std::fabs(found[place] - sum) < (sizeof(T) == 1 ? 1e-2 : 1e-4), what.c_str());
    }
    output(what.c_str(), found);
    results.zero();
}

void body() {
    for (int k = 0; k < 8; ++k) {
        for (int n = 0; n < 8; ++n) {
            table[k][n] =
                static_cast<float>((k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * n + 1) * k * M_PI / 16));
        }
    }
    require(cudaMemcpyToSymbol(cosines, table, sizeof(table)), "table");
    for (const auto& [width, height] : {std::pair{1024, 768}, std::pair{1920, 1088}, std::pair{3072, 2048}}) {
        const int pixels = width * height, blocks = pixels / 64;
        const auto real = random_values<float>(pixels, 1);
        const auto bytes = random_values<Byte>(pixels, 2);
        const Array<float> picture(real);
        const Array<Byte> byte_picture(bytes);
        Array<float> results(pixels);
        const std::string size = "_" + std::to_string(width);
        prepare();
        cosine_shared<1><<<dim3(width / 8, height / 8), dim3(8, 8)>>>(picture.data(), results.data(), width);
        check_cosines(real, results, width, "shared" + size);
        prepare();
        cosine_shared<4>
            <<<dim3(width / 32, height / 8), dim3(8, 8, 4)>>>(picture.data(), results.data(), width);
        check_cosines(real, results, width, "shared_four" + size);
        prepare();
        cosine_registers<<<(blocks + 15) / 16, 128>>>(picture.data(), results.data(), width, blocks);
        check_cosines(real, results, width, "registers" + size);
        prepare();
        cosine_registers<<<(blocks + 31) / 32, 256>>>(byte_picture.data(), results.data(), width, blocks);
        check_cosines(bytes, results, width, "registers_bytes" + size);
        prepare();
        walsh_blocks<<<(blocks / 4 + 15) / 16, 256>>>(picture.data(), results.data(), width, blocks / 4);
        finish("walsh");
        output(("walsh" + size).c_str(), results);
        Array<float> back(pixels);
        prepare();
        walsh_blocks<<<(blocks / 4 + 7) / 8, 128>>>(results.data(), back.data(), width, blocks / 4);
        finish("back");
        const auto again = back.values();
        for (int i = 0; i < pixels; ++i) check(std::fabs(again[i] - real[i]) < 1e-5F, "back");
    }
}

int main() {
    return run(body);
}
