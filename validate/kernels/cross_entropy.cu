// Cross-entropy of a softmax over vocabularies of 8 to 50 thousand words, a CTA a row with a running maximum
// and sum: loss alone, gradient in place, and both in one kernel; single and wide loads; fp32 and bf16.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Bf16 = __nv_bfloat16;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr float lowest = -3.0e38F;

/// So many elements that lie together, moved by one instruction: one of them, or 16 bytes.
template <class T, int width>
struct alignas(width * sizeof(T)) Piece {
    T values[width];
};

struct Running {
    float maximum = lowest, sum = 0.0F;

    __device__ void add(float value) {
        if (value > maximum) {
            sum *= __expf(maximum - value);
            maximum = value;
        }
        sum += __expf(value - maximum);
    }
    __device__ void merge(float other_maximum, float other_sum) {
        const float larger = fmaxf(maximum, other_maximum);
        sum = sum * __expf(maximum - larger) + other_sum * __expf(other_maximum - larger);
        maximum = larger;
    }
};

/// The logarithm of the sum of a row's exponentials, in all threads.
template <class T, int width>
__device__ float log_of_sum(const T* row, int columns) {
    __shared__ float maxima[32], sums[32];
    const auto* pieces = reinterpret_cast<const Piece<T, width>*>(row);
    Running running;
    for (int i = threadIdx.x; i < columns / width; i += blockDim.x) {
        const Piece<T, width> piece = pieces[i];
#pragma unroll
        for (int k = 0; k < width; ++k) running.add(static_cast<float>(piece.values[k]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        running.merge(__shfl_xor_sync(all_lanes, running.maximum, distance),
                      __shfl_xor_sync(all_lanes, running.sum, distance));
    }
    if (threadIdx.x % 32 == 0) {
        maxima[threadIdx.x / 32] = running.maximum;
        sums[threadIdx.x / 32] = running.sum;
    }
    __syncthreads();
    running = Running();
    for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp) {
        running.merge(maxima[warp], sums[warp]);
    }
    return running.maximum + __logf(running.sum);
}

/// Replaces a row by its gradient.
template <class T, int width>
__device__ void to_gradient(T* row, int columns, int target, float log_sum, float scale) {
    auto* pieces = reinterpret_cast<Piece<T, width>*>(row);
    for (int i = threadIdx.x; i < columns / width; i += blockDim.x) {
        Piece<T, width> piece = pieces[i];
#pragma unroll
        for (int k = 0; k < width; ++k) {
            const float share = __expf(static_cast<float>(piece.values[k]) - log_sum);
            piece.values[k] = static_cast<T>((share - (i * width + k == target ? 1.0F : 0.0F)) * scale);
        }
        pieces[i] = piece;
    }
}

template <class T, int width>
__global__ void forward(const T* logits, const int* targets, float* losses, float* log_sums, int columns) {
    const T* row = logits + static_cast<std::size_t>(blockIdx.x) * columns;
    const float log_sum = log_of_sum<T, width>(row, columns);
    if (threadIdx.x == 0) {
        losses[blockIdx.x] = log_sum - static_cast<float>(row[targets[blockIdx.x]]);
        log_sums[blockIdx.x] = log_sum;
    }
}

template <class T, int width>
__global__ void backward(T* logits, const int* targets, const float* log_sums, float scale, int columns) {
    to_gradient<T, width>(logits + static_cast<std::size_t>(blockIdx.x) * columns, columns,
                          targets[blockIdx.x], log_sums[blockIdx.x], scale);
}

template <class T, int width>
__global__ void both(T* logits, const int* targets, float* losses, float scale, int columns) {
    T* row = logits + static_cast<std::size_t>(blockIdx.x) * columns;
    const int target = targets[blockIdx.x];
    const float log_sum = log_of_sum<T, width>(row, columns);
    if (threadIdx.x == 0) losses[blockIdx.x] = log_sum - static_cast<float>(row[target]);
    __syncthreads();  // The target's logit has been read.
    to_gradient<T, width>(row, columns, target, log_sum, scale);
}

template <class T, int width>
void all_of(int rows, int columns, int threads) {
    const std::size_t count = static_cast<std::size_t>(rows) * columns;
    auto numbers = random_values<T>(count, columns);
    for (T& number : numbers) number = static_cast<T>(static_cast<float>(number) * 8.0F);
    std::vector<int> words(rows);
    for (int row = 0; row < rows; ++row) words[row] = static_cast<int>(random_bits(7, row) % columns);
    Array<T> logits(numbers);
    const Array<int> targets(words);
    Array<float> losses(rows), log_sums(rows);
    const std::string name = (sizeof(T) == 2 ? "bf16_" : "float_") + std::to_string(columns);
    constexpr int step = 16;  // Every 16th row is looked at.
    std::vector<double> sums(rows);
    for (int row = 0; row < rows; row += step) {
        for (int i = 0; i < columns; ++i) {
            sums[row] += std::exp(as_double(numbers[static_cast<std::size_t>(row) * columns + i]));
        }
    }
    const auto look = [&](const char* what, bool gradients) {
        finish(what);
        const auto found = losses.values();
        const auto values = gradients ? logits.values() : std::vector<T>();
        for (int row = 0; row < rows; row += step) {
            const std::size_t begin = static_cast<std::size_t>(row) * columns, place = begin + words[row];
            const double share = std::exp(as_double(numbers[place])) / sums[row];
            check(std::fabs(found[row] + std::log(share)) < 1e-3, what);
            if (!gradients) continue;
            check(std::fabs(as_double(values[place]) - share + 1.0) < 4e-3, what);
            const double other = std::exp(as_double(numbers[begin])) / sums[row];
            if (words[row] > 0) check(std::fabs(as_double(values[begin]) / other - 1.0) < 1e-2, what);
        }
        output((what + ("_" + name)).c_str(), losses);
        if (gradients) output(("gradients_" + name).c_str(), values);
    };
    prepare();
    forward<T, width>
        <<<rows, threads>>>(logits.data(), targets.data(), losses.data(), log_sums.data(), columns);
    look("forward", false);
    prepare();
    backward<T, width><<<rows, threads>>>(logits.data(), targets.data(), log_sums.data(), 1.0F, columns);
    look("backward", true);
    logits.copy_from(numbers);
    losses.zero();
    prepare();
    both<T, width><<<rows, threads>>>(logits.data(), targets.data(), losses.data(), 1.0F, columns);
    look("both", true);
}

void body() {
    all_of<float, 1>(1024, 8192, 256);
    all_of<float, 4>(512, 32000, 512);
    all_of<float, 1>(128, 50257, 1024);
    all_of<float, 4>(256, 50304, 256);
    all_of<Bf16, 1>(512, 8192, 128);
    all_of<Bf16, 8>(1024, 8192, 256);
    all_of<Bf16, 8>(384, 50304, 1024);
}

int main() {
    return run(body);
}
