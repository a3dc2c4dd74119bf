// Losses over paths of labels: log-softmax of frames, forward sums of CTC with a block a sequence and a
// barrier a frame, backward sums with the gradient by atomics, and the forward sums of a transducer by
// anti-diagonals.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline float add_logs(float a, float b) {
    const float high = fmaxf(a, b), low = fminf(a, b);
    return low < -1e29F ? high : high + log1pf(expf(low - high));
}

/// A warp a frame.
__global__ void log_softmax(const float* in, float* out, int classes, int frames) {
    const int frame = blockIdx.x * blockDim.y + threadIdx.y;
    if (frame >= frames) return;
    const float* row = in + static_cast<std::size_t>(frame) * classes;
    float largest = -1e30F, sum = 0.0F;
    for (int c = threadIdx.x; c < classes; c += 32) largest = fmaxf(largest, row[c]);
    for (int step = 16; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, step));
    for (int c = threadIdx.x; c < classes; c += 32) sum += __expf(row[c] - largest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    const float shift = largest + __logf(sum);
    for (int c = threadIdx.x; c < classes; c += 32)
        out[static_cast<std::size_t>(frame) * classes + c] = row[c] - shift;
}

/// alpha[t][s] over 2 labels + 1 states; a thread a state, two rows in shared memory.
__global__ void ctc_forward(const float* logs, const int* labels, float* alphas, float* losses, int frames,
                            int classes, int length) {
    extern __shared__ float rows[];
    const int states = 2 * length + 1, s = threadIdx.x, sequence = blockIdx.x;
    const int own = s % 2 == 0 || s >= states ? 0 : labels[sequence * length + s / 2];
    const bool skips = s % 2 == 1 && s > 2 && s < states && own != labels[sequence * length + s / 2 - 1];
    const float* log_row = logs + static_cast<std::size_t>(sequence) * frames * classes;
    float* alpha_row = alphas + static_cast<std::size_t>(sequence) * frames * states;
    float *before = rows, *now = rows + states;
    if (s < states) {
        before[s] = s < 2 ? log_row[own] : -1e30F;
        alpha_row[s] = before[s];
    }
    __syncthreads();
    for (int t = 1; t < frames; ++t) {
        if (s < states) {
            float sum = before[s];
            if (s > 0) sum = add_logs(sum, before[s - 1]);
            if (skips) sum = add_logs(sum, before[s - 2]);
            now[s] = sum + log_row[static_cast<std::size_t>(t) * classes + own];
            alpha_row[static_cast<std::size_t>(t) * states + s] = now[s];
        }
        __syncthreads();
        float* other = before;
        before = now;
        now = other;
    }
    if (s == 0) losses[sequence] = -add_logs(before[states - 1], before[states - 2]);
}

/// The other way, with the gradient of each frame's classes.
__global__ void ctc_backward(const float* logs, const int* labels, const float* alphas, const float* losses,
                             float* gradient, int frames, int classes, int length) {
    extern __shared__ float rows[];
    const int states = 2 * length + 1, s = threadIdx.x, sequence = blockIdx.x;
    const int own = s % 2 == 0 || s >= states ? 0 : labels[sequence * length + s / 2];
    const bool skips = s % 2 == 1 && s + 2 < states && own != labels[sequence * length + s / 2 + 1];
    const float* log_row = logs + static_cast<std::size_t>(sequence) * frames * classes;
    const float* alpha_row = alphas + static_cast<std::size_t>(sequence) * frames * states;
    float* gradient_row = gradient + static_cast<std::size_t>(sequence) * frames * classes;
    float *after = rows, *now = rows + states + 2;
    if (s < states + 2) after[s] = s == states - 1 || s == states - 2 ? 0.0F : -1e30F;
    if (s < 2) now[states + s] = -1e30F;
    __syncthreads();
    for (int t = frames - 1; t >= 0; --t) {
        if (s < states) {
            const float log = log_row[static_cast<std::size_t>(t) * classes + own];
            float sum = after[s];
            if (t < frames - 1) {
                sum = add_logs(sum, after[s + 1]);
                if (skips) sum = add_logs(sum, after[s + 2]);
            }
            now[s] = sum + log;
            const float path = alpha_row[static_cast<std::size_t>(t) * states + s] + sum + losses[sequence];
            if (path > -30.0F)
                atomicAdd(gradient_row + static_cast<std::size_t>(t) * classes + own, -expf(path));
        }
        __syncthreads();
        float* other = after;
        after = now;
        now = other;
    }
}

/// Transducer: cells (t, u) by anti-diagonals, a block a sequence, the lattice in global memory.
__global__ void transducer(const float* blank, const float* emit, float* alpha, int frames, int labels) {
    const std::size_t base = static_cast<std::size_t>(blockIdx.x) * frames * labels;
    const float *b = blank + base, *e = emit + base;
    float* a = alpha + base;
    const int u = threadIdx.x;
    for (int d = 0; d < frames + labels - 1; ++d) {
        const int t = d - u;
        if (u < labels && t >= 0 && t < frames) {
            float sum = t == 0 && u == 0 ? 0.0F : -1e30F;
            if (t > 0) sum = a[(t - 1) * labels + u] + b[(t - 1) * labels + u];
            if (u > 0) sum = add_logs(sum, a[t * labels + u - 1] + e[t * labels + u - 1]);
            a[t * labels + u] = sum;
        }
        __syncthreads();
    }
}

void ctc(int sequences, int frames, int classes, int length) {
    const int states = 2 * length + 1;
    const std::size_t total = static_cast<std::size_t>(sequences) * frames;
    const Array<float> in(random_values<float>(total * classes, 1));
    Array<float> logs(total * classes), alphas(total * states), losses(sequences), gradient(total * classes);
    std::vector<int> letters(sequences * length);
    for (std::size_t i = 0; i < letters.size(); ++i) letters[i] = 1 + random_bits(2, i) % (classes - 1);
    const Array<int> labels(letters);
    const int threads = (states + 2 + 31) / 32 * 32;
    const std::string name = std::to_string(length);
    prepare();
    log_softmax<<<static_cast<int>((total + 3) / 4), dim3(32, 4)>>>(in.data(), logs.data(), classes,
                                                                    static_cast<int>(total));
    finish("softmax");
    prepare();
    ctc_forward<<<sequences, threads, 2 * states * sizeof(float)>>>(logs.data(), labels.data(), alphas.data(),
                                                                    losses.data(), frames, classes, length);
    finish("forward");
    output(("losses_" + name).c_str(), losses);
    prepare();
    ctc_backward<<<sequences, threads, 2 * (states + 2) * sizeof(float)>>>(
        logs.data(), labels.data(), alphas.data(), losses.data(), gradient.data(), frames, classes, length);
    finish("backward");
    output(("gradient_" + name).c_str(), gradient);
}

void body() {
    ctc(64, 500, 32, 60);
    ctc(256, 200, 1024, 24);
    const int sequences = 64, frames = 300, labels = 80;
    const std::size_t cells = static_cast<std::size_t>(sequences) * frames * labels;
    std::vector<float> blank(cells), emit(cells);
    for (std::size_t i = 0; i < cells; ++i) {
        blank[i] = random_float(3, i) - 1.5F;
        emit[i] = random_float(4, i) - 1.5F;
    }
    const Array<float> blanks(blank), emits(emit);
    Array<float> alpha(cells);
    prepare();
    transducer<<<sequences, 96>>>(blanks.data(), emits.data(), alpha.data(), frames, labels);
    finish("transducer");
    output("alpha", alpha);
}

int main() {
    return run(body);
}
