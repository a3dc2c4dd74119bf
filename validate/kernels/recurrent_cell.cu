// Recurrent networks: the gates of an LSTM after its products (single, by four, bf16), and whole sequences of
// a GRU by a CTA each with weights from global memory, from shared memory and in registers, step by step.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Bf16 = __nv_bfloat16;

__host__ __device__ inline float sigmoid(float x) {
    return 1.0F / (1.0F + expf(-x));
}

/// Gates lie one after another: input, forget, candidate, output.
template <class T>
__global__ void lstm_gates(const T* gates, const float* bias, float* cells, T* hidden, int batch, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * width) return;
    const int row = i / width, column = i % width;
    const T* from = gates + static_cast<std::size_t>(row) * 4 * width + column;
    const float input = sigmoid(static_cast<float>(from[0]) + bias[column]);
    const float forget = sigmoid(static_cast<float>(from[width]) + bias[width + column]);
    const float candidate = tanhf(static_cast<float>(from[2 * width]) + bias[2 * width + column]);
    const float out = sigmoid(static_cast<float>(from[3 * width]) + bias[3 * width + column]);
    const float cell = forget * cells[i] + input * candidate;
    cells[i] = cell;
    hidden[i] = static_cast<T>(out * tanhf(cell));
}

__device__ float fast_sigmoid(float x) {
    return __fdividef(1.0F, 1.0F + __expf(-x));
}
__device__ float fast_tanh(float x) {
    return 2.0F * fast_sigmoid(2.0F * x) - 1.0F;
}

/// Four columns a thread, and fast functions.
__global__ void lstm_gates_by_four(const float4* gates, const float4* bias, float4* cells, float4* hidden,
                                   int batch, int quads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * quads) return;
    const int row = i / quads, quad = i % quads;
    float a[4][4];
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) {
        const float4 x = gates[(static_cast<std::size_t>(row) * 4 + gate) * quads + quad],
                     b = bias[gate * quads + quad];
        a[gate][0] = x.x + b.x, a[gate][1] = x.y + b.y, a[gate][2] = x.z + b.z, a[gate][3] = x.w + b.w;
    }
    const float4 old = cells[i];
    float cell[4] = {old.x, old.y, old.z, old.w}, out[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        cell[k] = fast_sigmoid(a[1][k]) * cell[k] + fast_sigmoid(a[0][k]) * fast_tanh(a[2][k]);
        out[k] = fast_sigmoid(a[3][k]) * fast_tanh(cell[k]);
    }
    cells[i] = {cell[0], cell[1], cell[2], cell[3]};
    hidden[i] = {out[0], out[1], out[2], out[3]};
}

enum class Weights { global, shared, registers };

/// A sequence a CTA, a thread a unit. `weights[gate][k][unit]`; inputs have been multiplied and lie by steps.
template <int units, Weights where>
__global__ void gru_sequence(const float* weights, const float* inputs, float* hidden, int steps) {
    extern __shared__ float copy[];
    __shared__ float state[2][units];
    const int unit = threadIdx.x;
    float own[where == Weights::registers ? 3 * units : 1];
    if (where == Weights::shared) {
        for (int i = unit; i < 3 * units * units; i += units) copy[i] = weights[i];
    }
    if (where == Weights::registers) {
#pragma unroll
        for (int k = 0; k < 3 * units; ++k) own[k] = weights[k * units + unit];
    }
    float mine = 0.0F;
    state[0][unit] = 0.0F;
    __syncthreads();
    const float* from = inputs + static_cast<std::size_t>(blockIdx.x) * steps * 3 * units + unit;
    for (int step = 0; step < steps; ++step) {
        const float* last = state[step & 1];
        float sums[3] = {};
        const float* table = where == Weights::shared ? copy : weights;
        if (where == Weights::registers) {
#pragma unroll
            for (int k = 0; k < units; ++k) {
#pragma unroll
                for (int gate = 0; gate < 3; ++gate)
                    sums[gate] = fmaf(own[gate * units + k], last[k], sums[gate]);
            }
        } else {
#pragma unroll 4
            for (int k = 0; k < units; ++k) {
#pragma unroll
                for (int gate = 0; gate < 3; ++gate) {
                    sums[gate] = fmaf(table[(gate * units + k) * units + unit], last[k], sums[gate]);
                }
            }
        }
        const float reset = sigmoid(from[0] + sums[0]), update = sigmoid(from[units] + sums[1]);
        const float candidate = tanhf(from[2 * units] + reset * sums[2]);
        mine = update * mine + (1.0F - update) * candidate;
        state[(step + 1) & 1][unit] = mine;
        from += 3 * units;
        __syncthreads();
    }
    hidden[blockIdx.x * units + unit] = mine;
}

template <class T>
void lstm(int batch, int width, int threads, bool four) {
    const std::size_t count = static_cast<std::size_t>(batch) * width;
    auto numbers = random_values<T>(count * 4, 1);
    const auto bias = random_values<float>(static_cast<std::size_t>(width) * 4, 2),
               start = random_values<float>(count, 3);
    const Array<T> gates(numbers);
    const Array<float> biases(bias);
    Array<float> cells(start);
    Array<T> hidden(count);
    std::vector<double> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = i / width, column = i % width;
        double a[4];
        for (int gate = 0; gate < 4; ++gate) {
            a[gate] = as_double(numbers[(row * 4 + gate) * width + column]) + bias[gate * width + column];
        }
        const auto squash = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
        expected[i] = squash(a[3]) * std::tanh(squash(a[1]) * start[i] + squash(a[0]) * std::tanh(a[2]));
    }
    const int blocks = static_cast<int>((count / (four ? 4 : 1) + threads - 1) / threads);
    prepare();
    if constexpr (std::is_same_v<T, float>) {
        if (four) {
            lstm_gates_by_four<<<blocks, threads>>>(
                reinterpret_cast<const float4*>(gates.data()), reinterpret_cast<const float4*>(biases.data()),
                reinterpret_cast<float4*>(cells.data()), reinterpret_cast<float4*>(hidden.data()), batch,
                width / 4);
        }
    }
    if (!four)
        lstm_gates<<<blocks, threads>>>(gates.data(), biases.data(), cells.data(), hidden.data(), batch,
                                        width);
    finish("lstm");
    check_close(hidden.values(), expected, sizeof(T) == 2 ? 4e-3 : 1e-5, "lstm");
    output(
        ("lstm_" + std::to_string(sizeof(T)) + "_" + std::to_string(count) + (four ? "_four" : "")).c_str(),
        cells);
}

template <int units, Weights where>
void gru(int batch, int steps) {
    auto weights = random_values<float>(std::size_t{3} * units * units, 4);
    for (float& weight : weights) weight *= 2.0F / std::sqrt(static_cast<float>(units));
    const std::size_t per_batch = static_cast<std::size_t>(steps) * 3 * units;
    const auto inputs = random_values<float>(batch * per_batch, 5);
    const Array<float> weight_array(weights), input_array(inputs);
    Array<float> hidden(static_cast<std::size_t>(batch) * units);
    const int dynamic = where == Weights::shared ? 3 * units * units * 4 : 0;
    require(cudaFuncSetAttribute(gru_sequence<units, where>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 dynamic),
            "size");
    prepare();
    gru_sequence<units, where>
        <<<batch, units, dynamic>>>(weight_array.data(), input_array.data(), hidden.data(), steps);
    finish("gru");
    const auto found = hidden.values();
    for (int b = 0; b < batch; b += 16) {
        std::vector<double> state(units), next(units);
        for (int step = 0; step < steps; ++step) {
            const float* from = &inputs[b * per_batch + static_cast<std::size_t>(step) * 3 * units];
            for (int unit = 0; unit < units; ++unit) {
                double sums[3] = {};
                for (int k = 0; k < units; ++k) {
                    for (int gate = 0; gate < 3; ++gate)
                        sums[gate] += weights[(gate * units + k) * units + unit] * state[k];
                }
                const double reset = 1.0 / (1.0 + std::exp(-from[unit] - sums[0]));
                const double update = 1.0 / (1.0 + std::exp(-from[units + unit] - sums[1]));
                next[unit] = update * state[unit] +
                             (1.0 - update) * std::tanh(from[2 * units + unit] + reset * sums[2]);
            }
            state = next;
        }
        for (int unit = 0; unit < units; ++unit)
            check(std::fabs(found[b * units + unit] - state[unit]) < 1e-3, "gru");
    }
    output(("gru_" + std::to_string(units) + "_" + std::to_string(static_cast<int>(where)) + "_" +
            std::to_string(batch))
               .c_str(),
           found);
}

void body() {
    lstm<float>(2048, 1024, 256, false);
    lstm<float>(2048, 1024, 256, true);
    lstm<Bf16>(2048, 1024, 256, false);
    lstm<float>(64, 512, 128, false);
    lstm<float>(64, 512, 128, true);
    gru<64, Weights::global>(264, 32);
    gru<64, Weights::shared>(264, 32);
    gru<64, Weights::registers>(264, 32);
    gru<128, Weights::global>(132, 24);
    gru<128, Weights::shared>(132, 24);
    gru<32, Weights::global>(512, 40);
    gru<32, Weights::registers>(512, 40);
    gru<64, Weights::registers>(16, 64);
}

int main() {
    return run(body);
}
